"""Known answers of exports: the cape over three seconds in every format, to the byte or to the bit, and a character.

What was simulated comes from `sinew simulate`; what the files hold is read by the libraries of their formats, or here.
"""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sinew import resources
from sinew.app.cli.export import as_drawn
from sinew.app.cli.main import main
from sinew.app.cli.run import SceneRun, headless
from sinew.app.cli.scene import opened
from sinew.app.cli.tracks import TrackRecorder
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Interpolation
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.export.formats import SCENE_FORMATS, GlbOptions
from sinew.sim.export.scene.recording import SceneRecording
from sinew.sim.export.scene.writing import write_scene
from tests.gltf_rules import Checked

CAPE = resources.path("projects") / "cape.sinew"
TEXTURE = resources.path("models") / "cape" / "cape.png"
FRAMES, VERTICES, RATE = 181, 828, 60.0


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """Where the cape was after every step, shape (181, 828, 3)."""
    output = tmp_path_factory.mktemp("steps") / "cape.npz"
    assert main(["simulate", str(CAPE), "--steps", "180", "--output", str(output)]) == 0
    with np.load(output) as arrays:
        return arrays["Cape.positions"]


@pytest.fixture(scope="module")
def recording() -> SceneRecording:
    """The same as it is exported."""
    scene = as_drawn(opened(CAPE), None)
    with headless() as context:
        run = SceneRun(context, scene)
        recorder = TrackRecorder(run, scene, RATE, ["Cape"], Path())
        for frame in range(FRAMES):
            recorder.add(frame)
        made = recorder.recording(0)
        recorder.close()
        run.release()
    return made


def exported(recording: SceneRecording, path: Path) -> tuple[Path, str]:
    """The file, and what is told about it."""
    format, reported = SCENE_FORMATS.of(path), list[str]()
    if format.module:
        pytest.importorskip(format.module)
    write_scene(recording, path, format, None, reported.append, lambda _: None)
    (line,) = reported
    assert line.startswith(f"{path}: 181 frames, 828 vertices, max read-back error ")
    return path, line


def test_pc2_of_the_cape_has_1_798_448_bytes(recording: SceneRecording, steps: np.ndarray, tmp_path: Path) -> None:
    path, line = exported(recording, tmp_path / "cape.pc2")
    data = path.read_bytes()
    assert len(data) == 32 + FRAMES * VERTICES * 12 == 1_798_448
    assert struct.unpack_from("<12siiffi", data) == (b"POINTCACHE2\0", 1, VERTICES, 0.0, 1.0, FRAMES)
    np.testing.assert_array_equal(np.frombuffer(data, "<f4", offset=32).reshape(steps.shape), steps)
    assert line.endswith("max read-back error 0")


def test_mdd_of_the_cape_has_1_799_148_bytes(recording: SceneRecording, steps: np.ndarray, tmp_path: Path) -> None:
    path, _ = exported(recording, tmp_path / "cape.mdd")
    data = path.read_bytes()
    assert len(data) == 8 + 4 * FRAMES + 12 * FRAMES * VERTICES == 1_799_148
    assert struct.unpack_from(">ii", data) == (FRAMES, VERTICES)
    np.testing.assert_allclose(np.frombuffer(data, ">f4", FRAMES, 8), np.arange(FRAMES) / RATE, rtol=1e-7)
    np.testing.assert_array_equal(np.frombuffer(data, ">f4", offset=8 + 4 * FRAMES).reshape(steps.shape), steps)


def test_usdc_of_the_cape_has_1_81_mb_and_equal_bits(
    recording: SceneRecording, steps: np.ndarray, tmp_path: Path
) -> None:
    path, _ = exported(recording, tmp_path / "cape.usdc")
    assert path.stat().st_size == pytest.approx(1.81e6, rel=0.02)
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(path))
    points = UsdGeom.Mesh(stage.GetPrimAtPath("/World/Cape")).GetPointsAttr()
    assert points.GetNumTimeSamples() == FRAMES
    np.testing.assert_array_equal([np.array(points.Get(frame)) for frame in range(FRAMES)], steps)


def test_abc_of_the_cape_has_1_85_mb_and_equal_bits(
    recording: SceneRecording, steps: np.ndarray, tmp_path: Path
) -> None:
    path, _ = exported(recording, tmp_path / "cape.abc")
    assert path.stat().st_size == pytest.approx(1.85e6, rel=0.02)
    from alembic3d import Abc, AbcGeom

    archive = Abc.IArchive(str(path))
    schema = AbcGeom.IPolyMesh(archive.getTop(), "Cape").getSchema()
    assert schema.getNumSamples() == FRAMES
    near = Abc.ISampleSelector.TimeIndexType.kNearIndex
    samples = [schema.getValue(Abc.ISampleSelector(frame / RATE, near)) for frame in range(FRAMES)]
    np.testing.assert_array_equal([np.array(memoryview(one.getPositions())) for one in samples], steps)


def test_glb_of_the_cape_has_3_7_mib_and_is_halfway_between_frames_at_1_00833_s(
    recording: SceneRecording, steps: np.ndarray, tmp_path: Path
) -> None:
    path, _ = exported(recording, tmp_path / "cape.glb")
    size = path.stat().st_size - TEXTURE.stat().st_size
    assert size / 2**20 == pytest.approx(3.7, abs=0.1), "half of it are normals"
    checked = Checked(path.read_bytes())  # the rules of the specification
    for frame in (0, 1, 60, 180):
        np.testing.assert_allclose(shown(checked, frame / RATE), steps[frame], atol=6e-8)
    np.testing.assert_allclose(shown(checked, 1.00833), (steps[60] + steps[61].astype(float)) / 2.0, atol=3e-6)
    np.testing.assert_allclose(shown(checked, 60.5 / RATE), (steps[60] + steps[61].astype(float)) / 2.0, atol=6e-8)


def test_light_moves_with_the_cape_in_gltf(recording: SceneRecording, steps: np.ndarray, tmp_path: Path) -> None:
    path, _ = exported(recording, tmp_path / "cape.glb")
    checked, triangles = Checked(path.read_bytes()), recording.tracks[0].triangles
    assert triangles is not None
    for frame in (0, 30, 90, 180):
        corners = steps[frame].astype(float)[triangles]
        faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        wanted = np.zeros((VERTICES, 3))
        for corner in range(3):
            np.add.at(wanted, triangles[:, corner], faces)
        found = shown(checked, frame / RATE, "NORMAL")
        assert angles(found, wanted).mean() < 0.01
    assert angles(shown(checked, 0.0, "NORMAL"), wanted).mean() > 10.0, "otherwise nothing is tested"


def test_without_normals_of_every_frame_files_are_half_as_large(recording: SceneRecording, tmp_path: Path) -> None:
    format, path = SCENE_FORMATS.of(Path("a.glb")), tmp_path / "cape.glb"
    write_scene(recording, path, format, GlbOptions(normals=False), lambda _: None, lambda _: None)
    assert (path.stat().st_size - TEXTURE.stat().st_size) / 2**20 == pytest.approx(1.9, abs=0.05)
    (part,) = Checked(path.read_bytes()).document["meshes"][0]["primitives"]
    assert "NORMAL" in part["attributes"]
    assert all(set(target) == {"POSITION"} for target in part["targets"])


def angles(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Between vectors of any length [degrees]."""
    product = np.linalg.norm(found, axis=1) * np.linalg.norm(wanted, axis=1)
    return np.degrees(np.arccos(np.clip((found * wanted).sum(axis=1) / product, -1.0, 1.0)))


def shown(checked: Checked, time: float, what: str = "POSITION") -> np.ndarray:
    """Places of the vertices at a moment as the specification has it, shape (828, 3): linear keys of weights."""
    (animation,) = checked.document["animations"]
    (channel,) = animation["channels"]
    assert channel["target"]["path"] == "weights"
    sampler: dict[str, Any] = animation["samplers"][channel["sampler"]]
    assert sampler["interpolation"] == "LINEAR"
    times = checked.values(sampler["input"])[:, 0].astype(float)
    keys = checked.values(sampler["output"]).reshape(len(times), -1)
    (part,) = checked.document["meshes"][0]["primitives"]
    found = checked.values(part["attributes"][what]).astype(float)
    for target, key in zip(part["targets"], keys.T, strict=True):
        if weight := np.interp(time, times, key):
            found = found + weight * checked.values(target[what])
    return found


def test_a_character_skinned_by_usd_equals_ours_to_4e_7(assets: Path, tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    from pxr import Gf, Usd, UsdGeom, UsdSkel

    source, path = assets / "gltf/CesiumMan/glTF-Binary/CesiumMan.glb", tmp_path / "man.usdc"
    assert main(["export", str(source), "--output", str(path), "--rate", "24", "--frames", "0:47"]) == 0
    stage = Usd.Stage.Open(str(path))
    (prim,) = stage.GetDefaultPrim().GetChildren()
    assert UsdSkel.BakeSkinning(UsdSkel.Root(prim), Gf.Interval(0, 47))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath(prim.GetPath().AppendChild("Mesh")))
    model = load_model(source)
    assert model.skin is not None
    for frame in range(0, 48, 6):
        pose = evaluate_pose(model, model.clips[0], frame / 24.0, interpolation=Interpolation.LINEAR)
        ours = skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres).positions
        world = np.array(UsdGeom.Xformable(mesh).ComputeLocalToWorldTransform(frame))
        baked = np.array(mesh.GetPointsAttr().Get(frame), float) @ world[:3, :3] + world[3, :3]
        assert np.abs(baked - ours).max() < 4.5e-7
