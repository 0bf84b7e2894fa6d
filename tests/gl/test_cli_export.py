import json
import re
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from sinew import resources
from sinew.app.cli.main import main
from sinew.app.project.project_file import save_project
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.influences import joint_boxes, reach_of
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Interpolation
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import ModelSettings, MotionFile, SkinningMethod
from sinew.sim.export.formats import SCENE_FORMATS
from sinew.sim.export.scene import points_file, writing
from sinew.sim.export.scene.glb import GlbFrames
from sinew.sim.export.scene.recording import FoundNode
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.hair.settings import HairSettings, HairSource
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.maths.srgb import light_of
from sinew.sim.scene.curves import Curve, Key
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import ViewState
from tests.conftest import slow
from tests.gltf_rules import Checked
from tests.motion_samples import write_bvh

TINY = resources.path("models") / "tiny" / "tiny.ezm"
FRAMES = 24
PLACE = (0.5, 0.0, -0.25)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sheet = ClothSettings(columns=8, rows=6, substeps=8)
    sparks = EmitterSettings(capacity=40, rate=90.0, lifetime=0.3, lifetime_variance=0.2, size=0.02)
    tiny = ModelSettings(path=str(TINY), skinning=SkinningMethod.DQS)
    nodes = (
        Node(id="s", name="Sheet", transform=Transform(position=(0.0, 2.0, 0.0)), settings=sheet),
        Node(id="e", name="Sparks / hot", settings=sparks),
        Node(id="t", name="Tiny", transform=Transform(position=PLACE), settings=tiny),
    )
    path = tmp_path_factory.mktemp("export") / "scene.sinew"
    save_project(path, Scene(nodes=nodes), ViewState())
    return path


@pytest.fixture(scope="module")
def steps(project: Path) -> dict[str, np.ndarray]:
    output = project.with_suffix(".npz")
    command = ["simulate", str(project), "--allow-outside", "--steps", str(FRAMES), "--output", str(output)]
    assert main(command) == 0
    with np.load(output) as arrays:
        return dict(arrays)


def exported(project: Path, path: Path, *options: str) -> Path:
    frames = [] if "--frames" in options else ["--frames", f"0:{FRAMES}"]
    assert main(["export", str(project), "--allow-outside", "--output", str(path), *frames, *options]) == 0
    return path


def character(frame: int, rate: float = 60.0) -> np.ndarray:
    model = load_model(TINY)
    clip = model.clips[0]
    pose = evaluate_pose(model, clip, frame / rate % clip.duration, interpolation=Interpolation.LINEAR)
    assert model.skin is not None
    positions = skin(model.mesh, model.skin, pose.palette, SkinningMethod.DQS, pose.centres).positions
    return positions + PLACE


def test_point_caches_have_the_steps(project: Path, steps: dict[str, np.ndarray], tmp_path: Path) -> None:
    wanted = steps["Sheet.positions"]
    data = exported(project, tmp_path / "a.pc2", "--node", "Sheet").read_bytes()
    mark, version, points, start, step, frames = struct.unpack_from("<12siiffi", data)
    assert (mark, version, points, start, step, frames) == (b"POINTCACHE2\0", 1, 48, 0.0, 1.0, FRAMES + 1)
    assert len(data) == 32 + frames * points * 12
    np.testing.assert_array_equal(np.frombuffer(data, "<f4", offset=32).reshape(frames, points, 3), wanted)
    data = exported(project, tmp_path / "b.mdd", "--node", "Sheet", "--rate", "30", "--frames", "2:6").read_bytes()
    frames, points = struct.unpack_from(">ii", data)
    assert len(data) == 8 + 4 * frames + 12 * frames * points
    np.testing.assert_allclose(np.frombuffer(data, ">f4", frames, 8), np.arange(2, 7) / 30.0)
    found = np.frombuffer(data, ">f4", offset=8 + 4 * frames).reshape(frames, points, 3)
    np.testing.assert_array_equal(found, wanted[4:13:2])
    obj = [line.split() for line in (tmp_path / "a.obj").read_text().splitlines()]
    np.testing.assert_array_equal(np.array([line[1:] for line in obj if line[0] == "v"], np.float32), wanted[0])
    faces = [[int(corner.split("/")[0]) - 1 for corner in line[1:]] for line in obj if line[0] == "f"]
    np.testing.assert_array_equal(faces, steps["Sheet.triangles"])


@pytest.mark.parametrize("rate", [slow(24.0), slow(25.0), 29.97, slow(50.0), 100.0])
def test_any_rate_has_the_steps_and_what_lies_between(
    project: Path, steps: dict[str, np.ndarray], tmp_path: Path, rate: float
) -> None:
    last = int(rate * FRAMES / 60.0)
    options = ["--node", "Sheet", "--rate", str(rate), "--frames", f"0:{last}"]
    data = exported(project, tmp_path / "a.pc2", *options).read_bytes()
    found = np.frombuffer(data, "<f4", offset=32).reshape(last + 1, -1, 3)
    places = np.arange(last + 1) * 60.0 / rate
    first = np.floor(places + 1e-6).astype(int)
    share = (places - first)[:, None, None]
    wanted = steps["Sheet.positions"]
    after = wanted[np.minimum(first + 1, FRAMES)]
    np.testing.assert_allclose(found, (1.0 - share) * wanted[first] + share * after, atol=2e-6)
    on_step = np.abs(share[:, 0, 0]) < 1e-6
    assert on_step.sum() >= 1 + last // 60
    np.testing.assert_array_equal(found[on_step], wanted[first[on_step]])  # the simulation goes on unchanged
    data = exported(project, tmp_path / "b.mdd", "--node", "Tiny", "--rate", str(rate), "--frames", "0:7").read_bytes()
    frames, points = struct.unpack_from(">ii", data)
    moved = np.frombuffer(data, ">f4", offset=8 + 4 * frames).reshape(frames, points, 3)
    for frame in range(frames):
        np.testing.assert_allclose(moved[frame], character(frame, rate), atol=2e-5)


@pytest.mark.parametrize("suffix", [".glb", ".usda"])
def test_cloth_is_written_as_bones_with_its_error(
    project: Path, steps: dict[str, np.ndarray], tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    if suffix == ".usda":
        pytest.importorskip("pxr")
    path = tmp_path / f"a{suffix}"
    nodes, bones = ("--node", "Sheet", "--node", "Tiny"), ("--option", "bones=6", "--option", "bone_quality=draft")
    exported(project, path, *nodes, *bones, "--frames", "0:12")
    lines, errors = capsys.readouterr()
    file, lost = lines.splitlines()
    assert file.startswith(f"{path}: 13 frames, ")
    found = re.fullmatch(
        rf"{re.escape(str(path))}: Sheet: 6 bones, ([\d.]+) mm rms, 99 % below .* at frame \d+, .*", lost
    )
    assert found is not None
    assert 0.0 < float(found[1]) < 20.0
    assert ("Tiny: written as a skin, a linear approximation of dual quaternions" in errors) is (suffix == ".glb")
    if suffix == ".glb":
        frames = GlbFrames(path)
        apart = np.array(frames.frames_of(frames.shown[0])) - steps["Sheet.positions"][:13]
        wanted = 1e3 * np.sqrt(np.square(apart).sum(axis=2).mean())
        assert float(found[1]) == pytest.approx(wanted, abs=0.06)
    for bad in (
        ("bones=-1",),
        ("bones=6", "loop_blend=9"),
        ("bones=6", "bone_parent=tail"),
        ("bones=2", "influences=0"),
    ):
        chosen = [word for text in bad for word in ("--option", text)]
        assert main(["export", str(project), "--allow-outside", "--output", str(tmp_path / f"b{suffix}"), *nodes,
                     *chosen, "--frames", "0:12"]) in (1, 2)  # fmt: skip
        (line,) = [line for line in capsys.readouterr().err.splitlines() if "warning" not in line]
        assert bad[-1].split("=")[0] in line
    assert sorted(one.name for one in tmp_path.iterdir()) == [path.name]


@pytest.mark.campaign
def test_twenty_bones_are_enough_for_the_cape(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample, path, frames = resources.path("projects") / "cape.sinew", tmp_path / "cape.glb", tmp_path / "cape.npz"
    assert main(["simulate", str(sample), "--seconds", "4", "--every", "2", "--output", str(frames)]) == 0
    command = ["export", str(sample), "--option", "bones=20", "--frames", "0:120", "--rate", "30"]
    assert main([*command, "--output", str(path)]) == 0
    (found,) = re.findall(r"Cape: 20 bones, ([\d.]+) mm rms", capsys.readouterr().out)
    assert float(found) <= 4.0
    read = GlbFrames(path)
    with np.load(frames) as arrays:
        apart = np.linalg.norm(np.array(read.frames_of(read.shown[-1])) - arrays["Cape.positions"], axis=2)
    assert 1e3 * np.sqrt(np.square(apart).mean()) == pytest.approx(float(found), abs=0.06)
    assert apart[1:, :23].max() < 1e-6, "pins"


def test_formats_of_one_object(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported(project, tmp_path / "all.mdd", "--frames", "0:1")
    names = ["all-Sheet.mdd", "all-Sheet.obj", "all-Tiny.mdd", "all-Tiny.obj"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    out = capsys.readouterr()
    assert out.out.count("2 frames") == 2
    assert "left out: Sparks / hot" in out.err


def test_gltf_has_a_morph_target_for_every_frame(project: Path, steps: dict[str, np.ndarray], tmp_path: Path) -> None:
    data = exported(project, tmp_path / "a.glb").read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    document, start = json.loads(data[20 : 20 + length]), 28 + length

    def rows(number: int) -> np.ndarray:
        accessor = document["accessors"][number]
        view = document["bufferViews"][accessor["bufferView"]]
        kinds = {5126: "<f4", 5125: "<u4", 5123: "<u2"}
        found = np.frombuffer(data, np.uint8, view["byteLength"], start + view["byteOffset"])
        return found.view(kinds[accessor["componentType"]]).reshape(accessor["count"], -1)

    nodes = {node["name"]: node for node in document["nodes"]}
    (sheet,) = document["meshes"][nodes["Sheet"]["mesh"]]["primitives"]
    base = rows(sheet["attributes"]["POSITION"])
    frames = [base, *(base + rows(target["POSITION"]) for target in sheet["targets"])]
    np.testing.assert_allclose(frames, steps["Sheet.positions"], atol=1e-6)
    np.testing.assert_array_equal(rows(sheet["indices"]).reshape(-1, 3), steps["Sheet.triangles"])
    (animation,) = document["animations"]
    number = document["nodes"].index(nodes["Sheet"])
    (channel,) = (one for one in animation["channels"] if one["target"] == {"node": number, "path": "weights"})
    sampler = animation["samplers"][channel["sampler"]]
    assert sampler["interpolation"] == "LINEAR"
    np.testing.assert_allclose(rows(sampler["input"])[:, 0], np.arange(FRAMES + 1) / 60.0, rtol=1e-6)
    keys = rows(sampler["output"]).reshape(FRAMES + 1, FRAMES)
    np.testing.assert_array_equal(keys, np.eye(FRAMES + 1)[:, 1:])
    # By dual quaternions no skin gives what is drawn; blended linearly one does.
    assert "skins" not in document
    (tiny,) = document["meshes"][nodes["Tiny"]["mesh"]]["primitives"]
    model = load_model(TINY)
    assert model.skin is not None
    for frame in (1, 7, FRAMES):
        pose = evaluate_pose(model, model.clips[0], frame / 60.0 % model.clips[0].duration)
        normals = skin(model.mesh, model.skin, pose.palette, SkinningMethod.DQS, pose.centres).normals
        found = rows(tiny["attributes"]["NORMAL"]) + rows(tiny["targets"][frame - 1]["NORMAL"])
        np.testing.assert_allclose(found, normals, atol=2e-6)
        corners = steps["Sheet.positions"][frame].astype(float)[steps["Sheet.triangles"]]
        faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals = np.zeros((48, 3))
        for corner in range(3):
            np.add.at(normals, steps["Sheet.triangles"][:, corner], faces)
        found = rows(sheet["attributes"]["NORMAL"]) + rows(sheet["targets"][frame - 1]["NORMAL"])
        cosines = (found * normals).sum(axis=1) / np.linalg.norm(found, axis=1) / np.linalg.norm(normals, axis=1)
        assert cosines.mean() > 0.9999
    small = exported(project, tmp_path / "small.glb", "--node", "Sheet", "--option", "normals=false")
    (part,) = Checked(small.read_bytes()).document["meshes"][0]["primitives"]
    assert "NORMAL" in part["attributes"]
    assert all(set(target) == {"POSITION"} for target in part["targets"])
    blended = tmp_path / "b.glb"
    assert main(["export", str(TINY), "--output", str(blended), "--frames", "0:4"]) == 0
    assert "skins" in Checked(blended.read_bytes()).document
    Checked(data)


def test_cameras_of_the_scene_are_written_to_gltf(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    across = Curve(part="transform", field="position", component=0, keys=(Key(0.0, 0.0), Key(0.1, 3.0)))
    zoom = Curve(part="camera", field="field_of_view", keys=(Key(0.0, 30.0), Key(0.1, 60.0)))
    place = Transform(position=(0.0, 1.0, 4.0))
    follows = CameraSettings(tracks=True, target=(0.0, 1.0, 0.0))
    nodes = (
        Node(id="t", name="Tiny", settings=ModelSettings(path=str(TINY))),
        Node(id="c", name="Front", transform=place, settings=follows, curves=(across, zoom)),
        Node(id="d", name="Bone", attachment=Attachment(node="t", bone="tip"), settings=CameraSettings(near=0.5)),
    )
    path = tmp_path / "cameras.sinew"
    save_project(path, Scene(nodes=nodes), ViewState())
    model = load_model(exported(path, tmp_path / "a.glb", "--frames", "0:6"))
    assert "Front: the keys of field_of_view are left out" in capsys.readouterr().err
    front, bone = model.cameras
    assert front.field_of_view == pytest.approx(30.0)
    assert bone.near == 0.5
    last = evaluate_pose(model, model.clips[0], 0.1).model_from_joint[front.joint]
    np.testing.assert_allclose(last[:3, 3], [3.0, 1.0, 4.0], atol=1e-6)
    np.testing.assert_allclose(last[:3, 2], [0.6, 0.0, 0.8], atol=1e-6)


def test_lights_of_the_scene_are_written_to_usd(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pxr")
    across = Curve(part="transform", field="position", component=0, keys=(Key(0.0, 0.0), Key(0.1, 3.0)))
    brighter = Curve(part="light", field="intensity", keys=(Key(0.0, 1.0), Key(0.1, 2.0)))
    place = Transform(position=(0.0, 2.0, 0.0))
    red = LightSettings(colour=(1.0, 0.5, 0.0), intensity=3.0, reach=2.0)
    nodes = (
        Node(id="t", name="Tiny", settings=ModelSettings(path=str(TINY))),
        Node(id="k", name="Key", transform=place, settings=LightSettings(reach=1.0), curves=(across, brighter)),
        Node(id="r", name="Red", attachment=Attachment(node="t", bone="tip"), settings=red),
        Node(id="h", name="Hidden", visible=False, settings=red),
    )
    path = tmp_path / "lights.sinew"
    save_project(path, Scene(nodes=nodes), ViewState())
    written = exported(path, tmp_path / "a.usda", "--frames", "0:6")
    assert capsys.readouterr().err == ""
    model = load_model(written)
    key, tip = model.lights
    assert key.strength == pytest.approx(np.pi * 1.0)
    assert tip.strength == pytest.approx(np.pi * 3.0 * 2.0**2)
    text = written.read_text()
    assert text.count("def SphereLight") == 2
    stored = re.findall(r"color3f inputs:color = \(([^)]*)\)", text)
    np.testing.assert_allclose([float(part) for part in stored[-1].split(",")], light_of(red.colour), atol=1e-6)
    assert text.count("inputs:intensity.timeSamples") == 1, "only the keyed light changes"
    exported(path, tmp_path / "a.glb", "--frames", "0:1")
    assert "glTF scene cannot store lights; skipped for Key, Red" in capsys.readouterr().err


def test_dual_quaternions_as_points_or_skin(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = load_model(TINY)
    assert model.skin is not None
    apart, frames = 0.0, []
    for frame in range(FRAMES + 1):
        pose = evaluate_pose(model, model.clips[0], frame / 60.0 % model.clips[0].duration)
        frames.append(skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres).positions + PLACE)
        apart = max(apart, float(np.linalg.norm(frames[-1] - character(frame), axis=1).max()))
    assert apart > 0.01
    exported(project, tmp_path / "points.glb", "--node", "Tiny")
    reported = capsys.readouterr().err
    assert "Tiny: written as points for every frame: dual quaternions; as a skin (characters=skin)" in reported
    assert f"up to {apart:.2g} m away; Preserve Volume of Blender's armature modifier shows it as here" in reported
    skinned = exported(project, tmp_path / "skin.glb", "--node", "Tiny", "--characters", "skin")
    reported = capsys.readouterr().err
    assert f"written as a skin, a linear approximation of dual quaternions, up to {apart:.2g} m away" in reported
    assert "skins" in Checked(skinned.read_bytes()).document
    shown = GlbFrames(skinned)
    np.testing.assert_allclose(shown.frames_of(shown.shown[0]), frames, atol=2e-6)
    exported(project, tmp_path / "plain.glb", "--node", "Tiny", "--characters", "points")
    assert not capsys.readouterr().err
    assert main(["export", str(project), "--output", str(tmp_path / "a.pc2"), "--characters", "skin"]) == 1
    pulse = resources.path("projects") / "pulse.sinew"
    capsys.readouterr()
    exported(pulse, tmp_path / "a.glb", "--frames", "0:1", "--characters", "skin")
    assert "written as points for every frame: deformers are no part of a skin" in capsys.readouterr().err


def test_a_usd_scene_opens_again_with_the_same_points(project, steps, tmp_path, capsys):
    pytest.importorskip("pxr.Usd")
    for character in ("points", "skin"):
        model = load_model(exported(project, tmp_path / f"{character}.usdc", "--characters", character))
        (clip,) = model.clips
        assert "Points prim of the file is left out." in " ".join(model.warnings)
        for frame in range(0, FRAMES + 1, 8) if character == "points" else (0,):
            pose = evaluate_pose(model, clip, frame / 60.0, interpolation=Interpolation.LINEAR)
            shown = skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres, pose.local.weights)
            for name in ("Sheet",):
                wanted = steps[f"{name}.positions"][frame].astype(float)
                apart = np.linalg.norm(wanted[:, None] - shown.positions[None].astype(float), axis=2).min(axis=1)
                assert apart.max() < 1e-5
    capsys.readouterr()


def test_an_alembic_scene_opens_again_with_the_same_points(project, steps, tmp_path, capsys):
    pytest.importorskip("alembic3d")
    model = load_model(exported(project, tmp_path / "a.abc"))
    (clip,) = model.clips
    assert clip.duration == pytest.approx(FRAMES / 60.0)
    assert "1 particle set of the file is left out." in model.warnings
    for frame in range(0, FRAMES + 1, 8):
        pose = evaluate_pose(model, clip, frame / 60.0, interpolation=Interpolation.LINEAR)
        shown = skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres, pose.local.weights)
        wanted = steps["Sheet.positions"][frame].astype(float)
        apart = np.linalg.norm(wanted[:, None] - shown.positions[None].astype(float), axis=2).min(axis=1)
        assert apart.max() < 1e-5
    capsys.readouterr()


def test_usd_has_meshes_particles_and_characters(project, steps, tmp_path, capsys):
    usd, geom = pytest.importorskip("pxr.Usd"), pytest.importorskip("pxr.UsdGeom")
    skel = pytest.importorskip("pxr.UsdSkel")
    stage = usd.Stage.Open(str(exported(project, tmp_path / "a.usda")))
    said = capsys.readouterr()
    assert "25 frames" in said.out
    assert "Tiny: its skin uses dual quaternions; programs that blend linearly are up to 0.1" in said.err
    assert "Preserve Volume of Blender's armature modifier shows it as here" in said.err
    assert (geom.GetStageUpAxis(stage), geom.GetStageMetersPerUnit(stage)) == ("Y", 1.0)
    assert (stage.GetTimeCodesPerSecond(), stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (60.0, 0.0, FRAMES)
    prims = {prim.GetDisplayName(): prim for prim in stage.GetDefaultPrim().GetChildren()}
    assert list(prims) == ["Sheet", "Sparks / hot", "Tiny"]
    sheet, sparks = geom.Mesh(prims["Sheet"]), geom.Points(prims["Sparks / hot"])
    assert sheet.GetSubdivisionSchemeAttr().Get() == "none"
    np.testing.assert_array_equal(
        np.array(sheet.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3), steps["Sheet.triangles"]
    )
    for frame in range(0, FRAMES + 1, 4):
        positions = np.array(sheet.GetPointsAttr().Get(frame))
        np.testing.assert_array_equal(positions, steps["Sheet.positions"][frame])
        np.testing.assert_array_equal(sheet.GetExtentAttr().Get(frame)[0], positions.min(axis=0))
        alive = np.isfinite(steps["Sparks / hot.positions"][frame, :, 0])
        for values, name in ((sparks.GetPointsAttr(), "positions"), (sparks.GetVelocitiesAttr(), "velocities"),
                             (sparks.GetIdsAttr(), "ids"), (sparks.GetWidthsAttr(), "widths")):  # fmt: skip
            wanted = steps[f"Sparks / hot.{name}"][frame][alive]
            np.testing.assert_array_equal(np.array(values.Get(frame)).reshape(wanted.shape), wanted)
        # From birth to death along the gradient, and as opaque as the curve says.
        colours = np.array(sparks.GetDisplayColorAttr().Get(frame)).reshape(-1, 3).astype(float)
        share = (0.9 - colours[:, 1]) / 0.65
        np.testing.assert_allclose(colours, np.array([1.0, 0.9, 0.6]) - share[:, None] * [0.0, 0.65, 0.55], atol=1e-6)
        opacity = np.interp(share, [0.0, 0.7, 1.0], [1.0, 0.8, 0.0])
        np.testing.assert_allclose(sparks.GetDisplayOpacityAttr().Get(frame), opacity, atol=2e-6)
        assert ((share > -1e-6) & (share <= 1.0 + 1e-6)).all()
    np.testing.assert_allclose(sheet.GetDisplayColorAttr().Get(), [light_of(ClothSettings().colour)], atol=1e-6)
    ids = np.concatenate([np.array(sparks.GetIdsAttr().Get(frame)) for frame in range(FRAMES + 1)])
    assert set(ids.tolist()) == set(range(36)), "90 a second are born, and none twice"
    root = skel.Root(prims["Tiny"])
    assert skel.BakeSkinning(root, usd.TimeCode(0) and __import__("pxr.Gf").Gf.Interval(0, FRAMES))
    baked = geom.Mesh(stage.GetPrimAtPath(prims["Tiny"].GetPath().AppendChild("Tiny_mesh")))
    for frame in (0, 7, FRAMES):
        world = np.array(geom.Xformable(baked).ComputeLocalToWorldTransform(frame))
        points = np.array(baked.GetPointsAttr().Get(frame)) @ world[:3, :3] + world[3, :3]
        np.testing.assert_allclose(points, character(frame), atol=2e-6)


@pytest.mark.parametrize("value", ["on", "off", "true", "OFF"])
def test_switches_have_the_words_of_the_help(value: str, project: Path, tmp_path: Path) -> None:
    geom = pytest.importorskip("pxr.UsdGeom")
    options = ("--node", "Sheet", "--frames", "0:1", "--option", f"normals={value}")
    stage = pytest.importorskip("pxr.Usd").Stage.Open(str(exported(project, tmp_path / "a.usda", *options)))
    has_normals = geom.Mesh(stage.GetPrimAtPath("/World/Sheet")).GetNormalsAttr().HasAuthoredValue()
    assert has_normals is (value.lower() in ("on", "true"))


def test_objects_and_materials_have_the_names_of_the_scene(tmp_path: Path) -> None:
    usd, shade = pytest.importorskip("pxr.Usd"), pytest.importorskip("pxr.UsdShade")
    sheet = ClothSettings(columns=4, rows=4, substeps=8)
    settings = {"Cape": sheet, "Red flag": sheet, "Tiny": ModelSettings(path=str(TINY))}
    nodes = tuple(Node(id=f"n{n}", name=name, settings=own) for n, (name, own) in enumerate(settings.items()))
    path = tmp_path / "two.sinew"
    save_project(path, Scene(nodes=nodes), ViewState())
    names = list(settings)[:2]
    model = load_model(exported(path, tmp_path / "a.glb", "--frames", "0:1"))
    assert [material.name for material in model.materials][:2] == names
    assert [section.name for section in model.mesh.sections][:2] == names
    stage = usd.Stage.Open(str(exported(path, tmp_path / "a.usda", "--frames", "0:1")))
    prims = [prim for prim in stage.Traverse() if prim.IsA(shade.Material)]
    assert [prim.GetName() for prim in prims][:2] == ["Cape", "Red_flag"]
    assert stage.GetPrimAtPath("/World/Tiny/Tiny_mesh")
    joints = stage.GetPrimAtPath("/World/Tiny/Tiny_skeleton").GetAttribute("joints").Get()
    assert {joint.rpartition("/")[2] for joint in joints} == set(load_model(TINY).skeleton.names)
    geom = pytest.importorskip("alembic3d.AbcGeom")
    archive = pytest.importorskip("alembic3d.Abc").IArchive(str(exported(path, tmp_path / "a.abc", "--frames", "0:1")))
    for name in names:
        assert list(geom.IPolyMesh(archive.getTop(), name).getSchema().getFaceSetNames()) == [name]


def test_written_files_open_again_within_their_box(project: Path, tmp_path: Path) -> None:
    scene = exported(project, tmp_path / "scene.glb", "--frames", "0:24")
    model = load_model(scene)
    assert model.skeleton.names == ("Sheet", "Tiny")
    assert model.warnings == ("Points and lines are left out: Sparks / hot.",)
    assert (model.mesh.targets.are_frames, model.mesh.targets.settable) == (True, ())
    shown = GlbFrames(scene)
    for mesh, joint in (("Sheet", 0), ("Tiny", 1)):
        node = next(node for node in shown.shown if shown._nodes[node].name == mesh)
        frames = np.stack(shown.frames_of(node))
        entries, corners = joint_boxes(model.mesh, model.skin)
        found = corners[entries == joint].reshape(-1, 3)
        np.testing.assert_allclose([found.min(0), found.max(0)], [frames.min((0, 1)), frames.max((0, 1))], atol=1e-5)
    only = load_model(exported(project, tmp_path / "sparks.glb", "--frames", "0:2", "--node", "Sparks / hot"))
    assert (only.mesh.vertex_count, only.skeleton, only.clips) == (0, None, ())
    assert only.warnings == ("Points and lines are left out: Sparks / hot.",)
    again = tmp_path / "again.glb"
    assert main(["export", str(scene), "--output", str(again)]) == 0
    assert load_model(again).mesh.targets.are_frames, "converted"
    cache = exported(project, tmp_path / "sheet.pc2", "--node", "Sheet", "--frames", "0:24")
    for path in (cache, cache.with_suffix(".obj")):
        lowest, highest = reach_of(load_model(path).mesh)
        assert np.linalg.norm(highest.max(0) - lowest.min(0)) < 3.0
    for name in ("tiny.ezm", "tiny.glb"):
        assert main(["export", str(TINY), "--output", str(tmp_path / name)]) == 0
        assert load_model(tmp_path / name).mesh.triangle_count == load_model(TINY).mesh.triangle_count
    assert main(["pose", str(TINY), "--output", str(tmp_path / "posed.obj")]) == 0
    assert load_model(tmp_path / "posed.obj").mesh.triangle_count == load_model(TINY).mesh.triangle_count


@pytest.fixture(scope="module")
def fur_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    look = {
        "root_radius": 1e-3,
        "tip_radius": 5e-4,
        "colour_spread": 0.25,
        "noise": 0.0,
        "clump": 0.0,
        "curl_radius": 0.0,
    }
    hair = HairSettings(source=HairSource.FACES, guides=12, children=40, knots=6, length=0.1, **look)
    body = ModelSettings(path=str(resources.path("models") / "humanoid" / "humanoid.ezm"))
    nodes = (
        Node(id="b", name="Body", settings=body),
        Node(id="h", name="Hair", attachment=Attachment(node="b"), settings=hair),
    )
    path = tmp_path_factory.mktemp("fur_project") / "fur_project.sinew"
    save_project(path, Scene(nodes=nodes), ViewState())
    return path


def test_guides_or_drawn_strands(fur_project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options, count in (((), 12), (("--children",), 40)):
        path = exported(fur_project, tmp_path / "a.glb", "--frames", "0:2", "--node", "Hair", *options)
        line = "Hair: writes 12 guides; --children writes the 40 drawn strands"
        assert (line in capsys.readouterr().err) is (count == 12)
        checked = Checked(path.read_bytes())
        (part,) = checked.document["meshes"][0]["primitives"]
        points = checked.values(part["attributes"]["POSITION"]).reshape(count, 6, 3)
        assert len(np.unique(points[:, 0], axis=0)) == count, "different roots"
        lengths = np.linalg.norm(np.diff(points, axis=1), axis=2).sum(axis=1)
        assert ((lengths > 0.03) & (lengths < 0.13)).all()


def test_strands_of_a_groom_name_their_nearest_guides(fur_project: Path, tmp_path: Path, capsys) -> None:
    pytest.importorskip("alembic3d")
    from tests.unit.export.test_groom import opened, value

    path = exported(fur_project, tmp_path / "a.abc", "--frames", "0", "--option", "purpose=groom")
    assert "left out: Body; Unreal groom holds strands only" in capsys.readouterr().err
    _, curves = opened(path)
    guides, drawn = (
        np.array(memoryview(curves[f"Hair_{name}"].getValue().getPositions())).reshape(count, -1, 3)
        for name, count in (("guides", 12), ("strands", 40))
    )
    closest = value(curves["Hair_strands"], "V3i", "groom_closest_guides")
    weights = value(curves["Hair_strands"], "V3f", "groom_guide_weights")
    apart = np.linalg.norm(drawn[:, None, 0] - guides[None, :, 0], axis=2)
    # The pose moves roots a little from where guides were chosen.
    nearest = np.argsort(apart, axis=1)[:, :3]
    assert np.mean([set(a) == set(b) for a, b in zip(closest.tolist(), nearest.tolist(), strict=True)]) > 0.6
    of_closest = np.take_along_axis(apart, closest, axis=1)
    assert (np.take_along_axis(weights, of_closest.argmin(axis=1)[:, None], axis=1)[:, 0] > 0.25).all()


def test_wrong_options_are_reported(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options, expected in (
        (["--node", "Nobody"], "there is no node 'Nobody'; there are: Sheet, Sparks / hot, Tiny"),
        (["--rate", "0"], "'0' is not a number from 0.001 to 1000"),
        (["--clip", "fly"], "clip 'fly': no such clip; there are: "),
        (["--option", "colour=red"], "PC2 point cache has no option 'colour'; there are: none"),
        (["--node", "Sparks / hot"], "holds surface, of which there is none"),
    ):
        command = ["export", str(project), "--allow-outside", "--frames", "0:1", "--output", str(tmp_path / "a.pc2")]
        assert main([*command, *options]) == (2 if options == ["--rate", "0"] else 1)
        err = capsys.readouterr().err
        assert expected in err
        assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_reported_with_its_install_command(project, tmp_path, capsys, monkeypatch):
    for format in SCENE_FORMATS:
        if format.module:
            monkeypatch.setitem(sys.modules, format.module, None)
            path = tmp_path / f"a{format.suffixes[0]}"
            assert main(["export", str(project), "--allow-outside", "--output", str(path)]) == 1
            expected = f"sinew: {path}: needs the package {format.package}: pip install sinew[{format.extra}]\n"
            assert capsys.readouterr().err == expected
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_reads_back_differently_is_not_written(project, tmp_path, capsys, monkeypatch):
    def moved(files: tuple[Path, ...]) -> list[FoundNode]:
        return [FoundNode(points_file.read_pc2(files)[0].positions + np.float32(0.01))]

    monkeypatch.setattr(writing, "resolved", lambda name: moved if "read" in name else points_file.write_pc2)
    output = tmp_path / "a.pc2"
    output.write_bytes(b"older")
    command = ["export", str(project), "--allow-outside", "--node", "Sheet", "--frames", "0:2", "--output", str(output)]
    assert main(command) == 1
    assert "the read-back differs by 0.01 m; no file was written" in capsys.readouterr().err
    assert output.read_bytes() == b"older"
    assert [path.name for path in tmp_path.iterdir()] == ["a.pc2"]


@pytest.mark.slow
def test_a_motion_of_another_file_is_exported_and_swept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = resources.path("models") / "humanoid" / "humanoid.ezm"
    model = load_model(path)
    motion = write_bvh(model, tmp_path / "swing.bvh")
    command = ["export", str(path), "--motion", str(motion), "--output"]
    assert main([*command, str(tmp_path / "converted.glb")]) == 0
    names = [clip.name for clip in load_model(tmp_path / "converted.glb").clips]
    assert names == [*(clip.name for clip in model.clips), "swing"]
    assert main([*command, str(tmp_path / "frames.glb"), "--rate", "30"]) == 0
    converted, frames = load_model(tmp_path / "converted.glb"), load_model(tmp_path / "frames.glb")
    (recorded,) = frames.clips
    assert recorded.duration == pytest.approx(converted.clip("swing").duration), "the motion plays, not the first clip"
    arm = resources.path("models") / "arm" / "arm.ezm"
    capsys.readouterr()
    assert main(["export", str(path), "--motion", str(arm), "--output", str(tmp_path / "a.glb")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "--motion arm.ezm: arm.ezm is no human body" in line
    assert not (tmp_path / "a.glb").exists()
    man = Node(id="m", name="Man", settings=ModelSettings(path=str(path), motions=(MotionFile(path=str(motion)),)))
    cape = Node(
        id="c", name="Cape", settings=ClothSettings(columns=4, rows=4), attachment=Attachment(node="m", bone="chest")
    )
    save_project(tmp_path / "a.sinew", Scene(nodes=(man, cape)), ViewState())
    assert (
        main(["export", str(tmp_path / "a.sinew"), "--motion", str(motion), "--output", str(tmp_path / "b.glb")]) == 1
    )
    table = tmp_path / "table.csv"
    sweep = ["sweep", str(tmp_path / "a.sinew"), "--set", "Man.clip=walk,swing", "--steps", "4", "--allow-outside"]
    assert main([*sweep, "--measure", "strain", "--output", str(table)]) == 0
    _, one, other = table.read_text().splitlines()
    assert one.split(",")[1:] != other.split(",")[1:]
