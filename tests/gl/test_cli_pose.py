"""`sinew pose` on the sample models: what the viewport draws is what the double-precision skinning says."""

from pathlib import Path

import numpy as np
import pytest

from sinew.app.cli.main import main
from sinew.sim.assets.load import load_model
from tests.gltf_samples import Sample

ANIMATED = ["dude/dude.ezm", "clothsim_zup/ClothSim.ezm", "export/export.ezm"]
STATIC = ["beshon/beshon.ezm", "woodchunk/woodChunkmesh.ezm", "crater/crater.ezb"]
TOLERANCE = 1e-5


def posed(model: Path, output: Path, *options: str) -> dict[str, np.ndarray]:
    """Arrays of one pose."""
    assert main(["pose", str(model), *options, "--output", str(output)]) == 0
    with np.load(output) as arrays:
        return dict(arrays)


def extent_of(positions: np.ndarray) -> float:
    """Longest edge of the box."""
    return float(np.ptp(positions, axis=0).max())


@pytest.mark.parametrize("method", ["lbs", "dqs"])
@pytest.mark.parametrize("name", ANIMATED)
def test_gpu_and_reference_agree_at_random_times(name: str, method: str, assets: Path, tmp_path: Path) -> None:
    path = assets / "ezm" / name
    model = load_model(path)
    extent = model.mesh.bounds.extent
    for time in np.random.default_rng(11).uniform(0.0, model.clips[0].duration, 10):
        options = ["--time", repr(float(time)), "--method", method]
        gpu = posed(path, tmp_path / "gpu.npz", *options)
        reference = posed(path, tmp_path / "reference.npz", *options, "--backend", "reference")
        assert np.abs(gpu["positions"] - reference["positions"]).max() <= TOLERANCE * extent
        assert np.abs(gpu["normals"] - reference["normals"]).max() <= 1e-4
        for key in ("triangles", "palette", "bone_names", "time"):
            np.testing.assert_array_equal(gpu[key], reference[key])


@pytest.mark.parametrize("backend", ["gpu", "reference"])
@pytest.mark.parametrize("name", [*ANIMATED, *STATIC, "character/character.ezm"])
def test_the_bind_pose_returns_the_stored_positions(name: str, backend: str, assets: Path, tmp_path: Path) -> None:
    path = assets / "ezm" / name
    model = load_model(path)
    arrays = posed(path, tmp_path / "bind.npz", "--backend", backend)
    np.testing.assert_allclose(arrays["positions"], model.mesh.positions, atol=1e-6 * model.mesh.bounds.extent, rtol=0)
    np.testing.assert_array_equal(arrays["triangles"], model.mesh.triangles)
    assert arrays["time"] == 0.0


@pytest.mark.parametrize("name", ANIMATED)
def test_arrays_have_the_promised_shape(name: str, assets: Path, tmp_path: Path) -> None:
    model = load_model(assets / "ezm" / name)
    arrays = posed(assets / "ezm" / name, tmp_path / "a.npz", "--frame", "0.5")
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


def test_a_model_without_bones_has_empty_bone_arrays(assets: Path, tmp_path: Path) -> None:
    arrays = posed(assets / "ezm" / "beshon" / "beshon.ezm", tmp_path / "a.npz")
    assert arrays["palette"].shape == (0, 4, 4)
    assert arrays["bone_names"].shape == (0,)
    assert arrays["bone_names"].dtype.kind == "U"


def test_the_palette_moves_single_influence_vertices(assets: Path, tmp_path: Path) -> None:
    """`p' = M @ [p, 1]` with the written matrices, for vertices that follow one bone alone."""
    path = assets / "ezm" / "dude" / "dude.ezm"
    model = load_model(path)
    assert model.skin is not None
    arrays = posed(path, tmp_path / "a.npz", "--frame", "30")
    single = model.skin.weights[:, 0] == 1.0
    assert single.sum() == 3710
    matrices = arrays["palette"][model.skin.joints[single, 0]].astype(np.float64)
    rest = np.column_stack((model.mesh.positions[single], np.ones(3710)))
    expected = np.einsum("vij,vj->vi", matrices, rest)[:, :3]
    assert np.abs(expected - arrays["positions"][single]).max() <= TOLERANCE * model.mesh.bounds.extent


@pytest.mark.parametrize(
    ("name", "frame", "size"),
    [
        ("dude/dude.ezm", 0, (28.2, 72.8, 43.2)),
        ("dude/dude.ezm", 30, (28.2, 72.8, 42.3)),
        ("clothsim_zup/ClothSim.ezm", 0, (0.875, 1.543, 1.584)),
    ],
)
def test_posed_boxes_are_as_the_notes_say(
    name: str, frame: int, size: tuple[float, ...], assets: Path, tmp_path: Path
) -> None:
    positions = posed(assets / "ezm" / name, tmp_path / "a.npz", "--frame", str(frame))["positions"]
    np.testing.assert_allclose(np.ptp(positions, axis=0), size, rtol=2e-3)


def test_a_frame_is_a_key_of_the_clip(assets: Path, tmp_path: Path) -> None:
    path = assets / "ezm" / "dude" / "dude.ezm"
    by_frame = posed(path, tmp_path / "a.npz", "--frame", "60")
    by_time = posed(path, tmp_path / "b.npz", "--time", "1.2")
    between = posed(path, tmp_path / "c.npz", "--frame", "10.25", "--clip", "Take 001")
    assert by_frame["time"] == pytest.approx(1.2, abs=1e-6)
    assert between["time"] == pytest.approx(0.205, abs=1e-6)
    np.testing.assert_allclose(by_frame["positions"], by_time["positions"], atol=1e-4)
    assert np.abs(by_frame["positions"] - between["positions"]).max() > 1.0


def test_equal_commands_give_equal_bytes(assets: Path, tmp_path: Path) -> None:
    path = assets / "ezm" / "clothsim_zup" / "ClothSim.ezm"
    for suffix in (".npz", ".obj", ".ply"):
        first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
        for output in (first, second):
            assert main(["pose", str(path), "--time", "3", "--output", str(output)]) == 0
        assert len(first.read_bytes()) > 100_000
        assert first.read_bytes().replace(b"first", b"second") == second.read_bytes()


def test_mesh_files_hold_the_posed_mesh(assets: Path, tmp_path: Path) -> None:
    path = assets / "ezm" / "export" / "export.ezm"
    arrays = posed(path, tmp_path / "a.npz", "--frame", "1")
    assert main(["pose", str(path), "--frame", "1", "--output", str(tmp_path / "a.obj")]) == 0
    lines = [line.split() for line in (tmp_path / "a.obj").read_text(encoding="utf-8").splitlines()]
    positions = np.array([line[1:] for line in lines if line[0] == "v"], dtype=np.float32)
    np.testing.assert_array_equal(positions, arrays["positions"])
    assert [line[1].split("/")[0] for line in lines if line[0] == "f"] == ["1"]


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("dude/dude.ezm", ["--time", "1.3"], "--time 1.3: clip 'Take 001' goes from 0 to 1.2 s"),
        ("dude/dude.ezm", ["--time", "-0.1"], "--time -0.1: clip 'Take 001' goes from 0 to 1.2 s"),
        ("dude/dude.ezm", ["--frame", "60.5"], "--frame 60.5: clip 'Take 001' goes from 0 to 60"),
        ("dude/dude.ezm", ["--clip", "run"], "clip 'run': no such clip; there are: 0 'Take 001'"),
        ("dude/dude.ezm", ["--clip", "1"], "clip '1': no such clip; there are: 0 'Take 001'"),
        ("crater/crater.ezm", ["--time", "0"], "--time: the model has no clips"),
        ("crater/crater.ezm", ["--clip", "0"], "clip '0': has no clips"),
    ],
)
def test_a_moment_that_does_not_exist_is_an_error(
    name: str, options: list[str], expected: str, assets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
