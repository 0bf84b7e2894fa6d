"""Samplers of glTF textures: read, drawn as each wrap mode says, written and read again."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from sinew.app.cli.main import main
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Sampler
from tests.gltf_rules import Checked
from tests.gltf_samples import QUAD, Sample

REPEAT, CLAMP, MIRROR = 10497, 33071, 33648
NEAREST, LINEAR = 9728, 9729
TEXELS = np.array(
    [[[255, 0, 0], [0, 255, 0], [0, 0, 255]], [[255, 255, 0], [0, 255, 255], [255, 0, 255]]], np.uint8
)  # fmt: skip
"""Two rows of three colours."""

SPAN = 3.0
"""How often the image fits into the quad, from -1 to 2 along both axes."""


def png(pixels: np.ndarray) -> bytes:
    import io

    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def quad(path: Path, pixels: np.ndarray, *samplers: dict[str, int]) -> Path:
    """A shining square with an image that it goes beyond; the last sampler is that of the colour."""
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
    """The square from the front, cut out."""
    output = model.with_suffix(".png")
    assert main(["render", str(model), "--output", str(output), "--size", f"{size}x{size}", "--alpha"]) == 0
    picture = np.asarray(Image.open(output)).astype(int)
    rows, columns = np.nonzero(picture[..., 3] > 250)
    return picture[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1, :3]


def cells(picture: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The colours in the middle of equal cells."""
    middle = [((np.arange(count) + 0.5) * side / count).astype(int) for count, side in
              zip((rows, columns), picture.shape, strict=False)]  # fmt: skip
    return picture[middle[0][:, None], middle[1][None]]


@pytest.mark.parametrize(("wrap_s", "wrap_t"), list(itertools.product((REPEAT, CLAMP, MIRROR), repeat=2)))
def test_every_wrap_mode_is_drawn(wrap_s: int, wrap_t: int, tmp_path: Path) -> None:
    sampler = {"wrapS": wrap_s, "wrapT": wrap_t, "magFilter": NEAREST, "minFilter": NEAREST}
    picture = drawn(quad(tmp_path / "a.glb", TEXELS, sampler))
    wanted = [
        [TEXELS[index(row, 2, wrap_t), index(column, 3, wrap_s)] for column in range(-3, 6)] for row in range(-2, 4)
    ]
    np.testing.assert_allclose(cells(picture, 6, 9), wanted, atol=3)


def test_filters_are_drawn(tmp_path: Path) -> None:
    """Black and white texels: sharp edges, or all greys between; without smaller levels or with these."""
    checks = np.indices((4, 4)).sum(axis=0)[..., None] % 2 * np.full(3, 255, np.uint8)
    sharp = drawn(quad(tmp_path / "a.glb", checks.astype(np.uint8), {"magFilter": NEAREST, "minFilter": NEAREST}))
    soft = drawn(quad(tmp_path / "b.glb", checks.astype(np.uint8), {"magFilter": LINEAR, "minFilter": LINEAR}))
    grey = [np.mean((shown[..., 0] > 40) & (shown[..., 0] < 215)) for shown in (sharp, soft)]
    assert grey[0] < 0.1
    assert grey[1] > 0.5
    fine = (np.indices((256, 256)).sum(axis=0)[..., None] % 2 * np.full(3, 255)).astype(np.uint8)
    levels = drawn(quad(tmp_path / "c.glb", fine, {"minFilter": 9987}), 90)[5:-5, 5:-5, 0]
    none = drawn(quad(tmp_path / "d.glb", fine, {"minFilter": NEAREST}), 90)[5:-5, 5:-5, 0]
    assert np.ptp(levels) < 30, "one grey"
    assert np.ptp(none) > 60, "texels as they come"


def test_one_image_may_be_read_in_several_ways(tmp_path: Path) -> None:
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


def test_usd_has_the_wrap_modes(tmp_path: Path) -> None:
    usd, shade = pytest.importorskip("pxr.Usd"), pytest.importorskip("pxr.UsdShade")
    model = quad(tmp_path / "a.glb", TEXELS, {"wrapS": MIRROR, "wrapT": CLAMP})
    assert main(["export", str(model), "--output", str(tmp_path / "a.usda"), "--frames", "0:1"]) == 0
    stage = usd.Stage.Open(str(tmp_path / "a.usda"))
    (texture,) = (
        shade.Shader(prim) for prim in stage.Traverse() if shade.Shader(prim).GetIdAttr().Get() == "UsdUVTexture"
    )
    assert [texture.GetInput(f"wrap{axis}").Get() for axis in "ST"] == ["mirror", "clamp"]


def test_numbers_that_mean_nothing_are_the_usual_ones(tmp_path: Path) -> None:
    model = load_model(quad(tmp_path / "a.glb", TEXELS, {"wrapS": 7, "minFilter": 12, "wrapT": MIRROR}))
    assert dict(model.materials[0].samplers) == {"texture": Sampler(wrap_t=MIRROR)}
