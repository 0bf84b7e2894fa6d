import importlib.util
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from sinew.app.cli.main import main
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Sampler
from tests.gltf_answers import ANSWERS, Answer
from tests.gltf_rules import Checked
from tests.gltf_samples import QUAD, Sample
from tests.vrm_samples import vrm, vrm_animation

ANIMATED = ["dude/dude.ezm", "clothsim_zup/ClothSim.ezm", "export/export.ezm"]
TOLERANCE = 1e-5


def posed(model: Path, output: Path, *options: str) -> dict[str, np.ndarray]:
    assert main(["pose", str(model), *options, "--output", str(output)]) == 0
    with np.load(output) as arrays:
        return dict(arrays)


def test_gpu_and_reference_agree(assets: Path, tmp_path: Path) -> None:
    for name, method, frame in zip(ANIMATED, ("lbs", "dqs", "dqs"), ("11.3", "100.7", "0.5"), strict=True):
        path = assets / "ezm" / name
        options = ["--frame", frame, "--method", method]
        gpu = posed(path, tmp_path / "gpu.npz", *options)
        reference = posed(path, tmp_path / "reference.npz", *options, "--backend", "reference")
        extent = load_model(path).mesh.bounds.extent
        assert np.abs(gpu["positions"] - reference["positions"]).max() <= TOLERANCE * extent
        assert np.abs(gpu["normals"] - reference["normals"]).max() <= 1e-4
        for key in ("triangles", "palette", "bone_names", "time"):
            np.testing.assert_array_equal(gpu[key], reference[key])


def test_arrays_have_the_documented_shape(assets: Path, tmp_path: Path) -> None:
    model = load_model(assets / "ezm" / ANIMATED[1])
    arrays = posed(assets / "ezm" / ANIMATED[1], tmp_path / "a.npz", "--frame", "0.5")
    assert model.skeleton is not None
    vertices, triangles, bones = model.mesh.vertex_count, model.mesh.triangle_count, model.skeleton.joint_count
    promised = {
        "positions": (np.float32, (vertices, 3)),
        "normals": (np.float32, (vertices, 3)),
        "triangles": (np.uint32, (triangles, 3)),
        "palette": (np.float32, (bones, 4, 4)),
        "time": (np.float64, ()),
    }
    for key, (dtype, shape) in promised.items():
        assert (arrays[key].dtype, arrays[key].shape) == (dtype, shape)
    assert arrays["bone_names"].tolist() == list(model.skeleton.names)
    np.testing.assert_allclose(np.linalg.norm(arrays["normals"], axis=1), 1.0, atol=1e-5)
    np.testing.assert_array_equal(arrays["palette"][:, 3], np.tile([0.0, 0.0, 0.0, 1.0], (bones, 1)))
    static = load_model(assets / "ezm" / "beshon" / "beshon.ezm")
    arrays = posed(static.path, tmp_path / "a.npz")
    np.testing.assert_array_equal(arrays["positions"], static.mesh.positions)
    assert (arrays["palette"].shape, arrays["bone_names"].shape) == ((0, 4, 4), (0,))
    assert arrays["bone_names"].dtype.kind == "U"


def test_wrong_options_are_reported(assets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, options, expected in (
        ("dude/dude.ezm", ["--time", "1.3"], "--time 1.3: clip 'Take 001' goes from 0 to 1.2 s"),
        ("dude/dude.ezm", ["--time", "-0.1"], "--time -0.1: clip 'Take 001' goes from 0 to 1.2 s"),
        ("dude/dude.ezm", ["--frame", "60.5"], "--frame 60.5: clip 'Take 001' goes from 0 to 60"),
        ("dude/dude.ezm", ["--clip", "1"], "clip '1': no such clip; there are: 0 'Take 001'"),
        ("crater/crater.ezm", ["--time", "0"], "--time: the model has no clips"),
        ("crater/crater.ezm", ["--clip", "0"], "clip '0': has no clips"),
    ):
        path = assets / "ezm" / name
        assert main(["pose", str(path), *options, "--output", str(tmp_path / "a.npz")]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(f"sinew: {path}: {expected}")
        assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_skin_without_vertices_is_posed(tmp_path: Path) -> None:
    sample = Sample()
    sample.put("nodes", {"name": "hips", "mesh": sample.put("meshes", {"primitives": []})})
    path = sample.write(tmp_path)
    for backend in ("gpu", "reference"):
        arrays = posed(path, tmp_path / "a.npz", "--backend", backend)
        assert arrays["positions"].shape == (0, 3)


REPEAT, CLAMP, MIRROR = 10497, 33071, 33648
NEAREST = 9728
TEXELS = np.array(
    [[[255, 0, 0], [0, 255, 0], [0, 0, 255]], [[255, 255, 0], [0, 255, 255], [255, 0, 255]]], np.uint8
)  # fmt: skip
"""Two rows of three colours."""

SPAN = 3.0  # how often the image fits into the quad, from -1 to 2 along both axes


def png(pixels: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def quad(path: Path, pixels: np.ndarray, *samplers: dict[str, int]) -> Path:
    sample = Sample()
    sample.put("images", {"bufferView": sample.chunk.view(png(pixels)), "mimeType": "image/png", "name": "colours"})
    for number, sampler in enumerate(samplers):
        sample.put("samplers", sampler)
        sample.put("textures", {"source": 0, "sampler": number})
    pbr: dict[str, Any] = {"baseColorTexture": {"index": len(samplers) - 1}}
    material: dict[str, Any] = {"pbrMetallicRoughness": pbr, "extensions": {"KHR_materials_unlit": {}}}
    if len(samplers) > 1:
        material |= {"emissiveTexture": {"index": 0}, "emissiveFactor": [1.0, 1.0, 1.0]}
    sample.put("materials", material)
    sample.document["extensionsUsed"] = ["KHR_materials_unlit"]
    uv = np.array([[-1, 2], [2, 2], [-1, -1], [2, -1]], np.float32)
    corners = sample.add([0, 1, 2, 2, 1, 3], np.uint16)
    sample.mesh(QUAD, attributes={"TEXCOORD_0": sample.add(uv)}, indices=corners, material=0)
    sample.document |= {"scene": 0, "scenes": [{"nodes": [0]}]}
    path.write_bytes(sample.data())
    return path


def index(texel: int, count: int, wrap: int) -> int:
    """Which of some texels is seen at one beyond them, as the specification of OpenGL has it."""
    if wrap == CLAMP:
        return min(max(texel, 0), count - 1)
    turn, rest = divmod(texel, count)
    return count - 1 - rest if wrap == MIRROR and turn % 2 else rest


def drawn(model: Path, size: int = 180) -> np.ndarray:
    output = model.with_suffix(".png")
    assert main(["render", str(model), "--output", str(output), "--size", f"{size}x{size}", "--alpha"]) == 0
    picture = np.asarray(Image.open(output)).astype(int)
    rows, columns = np.nonzero(picture[..., 3] > 250)
    return picture[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1, :3]


def cells(picture: np.ndarray, rows: int, columns: int) -> np.ndarray:
    middle = [((np.arange(count) + 0.5) * side / count).astype(int) for count, side in
              zip((rows, columns), picture.shape, strict=False)]  # fmt: skip
    return picture[middle[0][:, None], middle[1][None]]


def test_every_wrap_mode_is_drawn(tmp_path: Path) -> None:
    for wrap_s, wrap_t in ((REPEAT, CLAMP), (CLAMP, MIRROR), (MIRROR, REPEAT)):
        sampler = {"wrapS": wrap_s, "wrapT": wrap_t, "magFilter": NEAREST, "minFilter": NEAREST}
        picture = drawn(quad(tmp_path / "a.glb", TEXELS, sampler))
        wanted = [
            [TEXELS[index(row, 2, wrap_t), index(column, 3, wrap_s)] for column in range(-3, 6)] for row in range(-2, 4)
        ]
        np.testing.assert_allclose(cells(picture, 6, 9), wanted, atol=3)


def test_one_image_with_two_samplers_is_written_once(tmp_path: Path) -> None:
    clamp, mirror = {"wrapS": CLAMP, "wrapT": CLAMP, "minFilter": NEAREST}, {"wrapS": MIRROR, "magFilter": NEAREST}
    material = load_model(quad(tmp_path / "a.glb", TEXELS, clamp, mirror)).materials[0]
    assert material.sampled("texture") == (material.image, Sampler(wrap_s=MIRROR, mag_filter=NEAREST))
    wanted = Sampler(wrap_s=CLAMP, wrap_t=CLAMP, min_filter=NEAREST)
    assert material.sampled("emission_image") == (material.image, wanted)
    written = tmp_path / "b.glb"
    assert main(["export", str(tmp_path / "a.glb"), "--output", str(written)]) == 0
    checked = Checked(written.read_bytes())
    assert (len(checked.document["images"]), len(checked.document["textures"])) == (1, 2)
    assert load_model(written).materials[0].samplers == material.samplers
    scene = tmp_path / "c.glb"
    assert main(["export", str(tmp_path / "a.glb"), "--output", str(scene), "--frames", "0:1"]) == 0
    assert load_model(scene).materials[0].samplers == material.samplers


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
def test_poses_have_the_positions_of_other_programs(answer: Answer, assets: Path, tmp_path: Path) -> None:
    if answer.package is not None and importlib.util.find_spec(answer.package) is None:
        pytest.skip(f"needs the package {answer.package}")
    output, file = tmp_path / "pose.npz", assets / "gltf" / answer.file
    assert main(["pose", str(file), *answer.options(), "--output", str(output)]) == 0
    with np.load(output) as arrays:
        answer.check(arrays["positions"])
        bones, palette = arrays["palette_bones"], arrays["palette"]
        assert bones.dtype == np.int32
        assert len(bones) == len(palette)
        assert bones.max() < len(arrays["bone_names"])
        joints = arrays["joint_positions"]
        assert joints.shape == (len(arrays["bone_names"]), 3)
        model = load_model(file)
        if model.skin is not None and model.skin.palette is not None:  # the joint of an entry, where its matrix puts it
            centres = np.concatenate([model.skin.palette.centres, np.ones((len(palette), 1))], axis=1)
            moved = np.einsum("pij,pj->pi", palette.astype(float), centres)[:, :3]
            span = max(float(np.abs(joints).max()), 1e-6)
            np.testing.assert_allclose(moved, joints[bones], atol=2e-5 * span)


def test_a_vrm_animation_plays_on_a_vrm_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, motion = tmp_path / "girl.vrm", tmp_path / "motion.vrma"
    model.write_bytes(vrm().data())
    motion.write_bytes(vrm_animation().data())
    options = ["--motion", str(motion), "--time", "0.5"]
    gpu = posed(model, tmp_path / "gpu.npz", *options)
    reference = posed(model, tmp_path / "reference.npz", *options, "--backend", "reference")
    np.testing.assert_allclose(gpu["positions"], reference["positions"], atol=1e-5)
    still = posed(model, tmp_path / "still.npz", "--backend", "reference")
    assert np.abs(reference["positions"] - still["positions"]).max() > 0.1
    capsys.readouterr()
    assert main(["info", str(model), "--json"]) == 0
    info = json.loads(capsys.readouterr().out)
    assert (info["format"], info["humanoid"]["head"], info["springs"][0]["name"]) == ("gltf", "head", "hair")
    assert [part["name"] for part in info["expressions"]] == ["happy", "aa", "blink", "wink"]
    assert main(["info", str(model)]) == 0
    text = capsys.readouterr().out
    assert "Springs (1)" in text
    assert "Expressions (4)" in text
