import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.sim.assets.load import load_model
from sinew.sim.export.formats import SCENE_FORMATS, BoneQuality, Characters, ExportError, GlbOptions, UsdOptions
from sinew.sim.export.scene import bones
from sinew.sim.export.scene.bones import _Rig, with_bones
from sinew.sim.export.scene.glb import GlbFrames
from sinew.sim.export.scene.recording import JointMotion, SceneRecording, Track, linear_positions
from sinew.sim.export.scene.writing import write_scene
from sinew.sim.maths import quaternion
from sinew.sim.scene.transform import Transform, node_matrix
from tests.conftest import slow
from tests.gltf_rules import Checked

NPM_PACKAGES = "gltf-validator", "three"
READER = Path(__file__).parents[2] / "gltf_reader.mjs"
FRAMES, COLUMNS, ROWS = 12, 8, 7
DRAFT = GlbOptions(bones=5, bone_quality=BoneQuality.DRAFT)


def character(*, scale: float = 1.0, name: str = "Tiny") -> Track:
    """A character all of whose joints turn, at a place that moves."""
    model = load_model(resources.path("models") / "tiny" / "tiny.ezm")
    skeleton, times = model.skeleton, np.arange(FRAMES) / 10.0
    assert skeleton is not None
    positions, orientations, scales = (
        np.stack([one] * FRAMES) for one in (skeleton.bind_positions, skeleton.bind_orientations, skeleton.bind_scales)
    )
    for joint in range(skeleton.joint_count):
        turn = quaternion.from_axis_angle(np.tile([0.6, 0.0, 0.8], (FRAMES, 1)), 0.4 * np.sin(times * (1.0 + joint)))
        orientations[:, joint] = quaternion.multiply(orientations[:, joint], turn)
    places = [
        node_matrix(Transform(position=(t, 0.5, 0.0), rotation=(0.0, 40.0 * t, 0.0), scale=(scale,) * 3)) for t in times
    ]
    rig = JointMotion(model, positions, orientations, scales, np.zeros((FRAMES, 0)), np.stack(places), is_dual=False)
    drawn = np.stack(list(linear_positions(rig)))
    return Track(name=name, positions=drawn, triangles=model.mesh.triangles, rig=rig)


def sheet(of: Track | None, *joints: int, name: str = "Cape") -> Track:
    """A sheet that waves; joints hold parts of its first row."""
    u, v = (one.ravel() for one in np.meshgrid(np.linspace(-0.2, 0.2, COLUMNS), np.linspace(0.0, 0.4, ROWS)))
    times = np.arange(FRAMES)[:, None] / 10.0
    waves = 0.15 * v * np.sin(7.0 * u - 5.0 * times) + 0.3 * v * v * np.sin(4.0 * v - 3.0 * times)
    local = np.stack(np.broadcast_arrays(u + 0.0 * times, -v + 0.0 * times, waves), axis=2)
    local = np.concatenate((local, np.ones((*local.shape[:2], 1))), axis=2)
    held = np.minimum(np.arange(COLUMNS) * max(len(joints), 1) // COLUMNS, max(len(joints) - 1, 0))
    positions = local[..., :3].copy()
    if of is not None and of.rig is not None:
        rig = _Rig(of.rig)
        matrices = [rig.world(joint) @ np.linalg.inv(rig.world(joint)[0]) for joint in joints]
        positions = np.einsum("fij,fvj->fvi", matrices[0][:, :3], local)
        for column, number in enumerate(held.tolist()):
            positions[:, column] = matrices[number][:, :3] @ local[0, column]
    corner = np.arange(COLUMNS * (ROWS - 1)).reshape(ROWS - 1, COLUMNS)[:, :-1].ravel()
    one, other = (corner, corner + 1, corner + COLUMNS), (corner + 1, corner + COLUMNS + 1, corner + COLUMNS)
    triangles = np.concatenate([np.stack(each, axis=1) for each in (one, other)]).astype(np.uint32)
    return Track(name=name, positions=positions.astype(np.float32), triangles=triangles)


def hair(of: Track) -> Track:
    whole = sheet(of, 1, name="Hair")
    order = np.arange(COLUMNS * ROWS).reshape(ROWS, COLUMNS).T.ravel()  # strand by strand, roots first
    counts, widths = np.full(COLUMNS, ROWS, np.int32), np.full((1, COLUMNS * ROWS), 1e-3, np.float32)
    return replace(whole, positions=whole.positions[:, order], triangles=None, counts=counts, widths=widths)


def written(path: Path, *tracks: Track, options: msgspec.Struct) -> tuple[list[str], list[str]]:
    reported, warned = list[str](), list[str]()
    recording = SceneRecording(tracks, 30.0, 4)
    write_scene(recording, path, SCENE_FORMATS.of(path), options, reported.append, warned.append)
    return reported, warned


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_bones_are_below_the_joint_that_holds_and_held_points_have_no_error(scale: float) -> None:
    tiny = character(scale=scale)
    cape, dust = sheet(tiny, 1), Track(name="Dust", positions=np.full((FRAMES, 3, 3), np.nan, np.float32))
    recording, (result,) = with_bones(SceneRecording((cape, dust, tiny), 30.0), DRAFT)
    assert [track.name for track in recording.tracks] == ["Dust", "Tiny", "Cape"]
    assert recording.tracks[0].bones is None
    motion = recording.tracks[2].bones
    assert motion is not None
    assert (motion.owner, motion.parent, motion.joints.tolist()) == ("Tiny", 1, [1])
    assert motion.names == tuple(f"Cape_0{number}" for number in range(5))
    assert result.distances[:, :COLUMNS].max() < 1e-6
    assert 1e-5 < result.mean < 8e-3
    np.testing.assert_allclose(np.linalg.norm(recording.tracks[2].positions - cape.positions, axis=2), result.distances)
    largest = np.unravel_index(result.distances.argmax(), result.distances.shape)
    assert f"Cape: 5 bones, {result.mean * 1e3:.1f} mm rms, 99 % below " in result.text()
    assert f" at frame {largest[0]}, " in result.text()
    assert 0.0 < result.between < 2.0 * result.mean


def test_pins_of_two_joints_are_exact_below_the_joint_above_both() -> None:
    tiny = character()
    assert tiny.rig is not None
    rig = _Rig(tiny.rig)
    parents = rig.skeleton.parents.tolist()
    low = len(parents) - 1
    cape = sheet(tiny, low, parents[low])
    recording, (result,) = with_bones(SceneRecording((tiny, cape), 30.0), DRAFT)
    motion = recording.tracks[1].bones
    assert motion is not None
    assert motion.parent == parents[low]
    assert {*motion.joints.tolist()} == {low, parents[low]}
    assert result.distances[:, :COLUMNS].max() < 1e-6
    chosen = msgspec.structs.replace(DRAFT, bone_parent=rig.skeleton.names[low])
    recording, (result,) = with_bones(SceneRecording((tiny, cape), 30.0), chosen)
    motion = recording.tracks[1].bones
    assert motion is not None
    assert motion.parent == low
    assert result.distances[:, :COLUMNS].max() < 1e-6


def test_without_character_bones_are_below_the_world_and_still_points_stay() -> None:
    flag = sheet(None)
    recording, (result,) = with_bones(SceneRecording((flag,), 30.0), DRAFT)
    motion = recording.tracks[0].bones
    assert motion is not None
    assert (motion.owner, motion.parent, motion.names[-1]) == ("", -1, "Cape_root")
    assert result.bones == 5
    assert result.distances[:, :COLUMNS].max() < 1e-6
    still = replace(flag, positions=np.repeat(flag.positions[:1], FRAMES, axis=0))
    recording, (result,) = with_bones(SceneRecording((still,), 30.0), DRAFT)
    assert (result.bones, result.distances.max() < 1e-6) == (0, True)


def test_the_last_frame_of_a_loop_is_the_first() -> None:
    tiny = character()
    rig = tiny.rig
    assert rig is not None
    around = [np.concatenate((one[:-1], one[:1])) for one in (rig.positions, rig.orientations, rig.world_from_model)]
    rig = replace(rig, positions=around[0], orientations=around[1], world_from_model=around[2])
    tiny = replace(tiny, rig=rig, positions=np.stack(list(linear_positions(rig))))
    cape = sheet(tiny, 1)
    apart = []
    for blend in (0, 5):
        options = msgspec.structs.replace(DRAFT, loop_blend=blend)
        recording, (result,) = with_bones(SceneRecording((tiny, cape), 30.0), options)
        positions = recording.tracks[1].positions
        apart.append(float(np.abs(positions[-1] - positions[0]).max()))
        assert ("the last 5 frames close a gap of" in result.text()) is bool(blend)
        np.testing.assert_allclose(np.linalg.norm(positions - cape.positions, axis=2)[:7], result.distances[:7])
    assert apart[0] > 1e-2
    assert apart[1] < 1e-6


@pytest.mark.parametrize("suffix", [".glb", slow(".usdc")])
def test_files_have_one_skin_that_moves_surfaces_and_strands_as_fitted(suffix: str, tmp_path: Path) -> None:
    tiny, path = character(), tmp_path / f"a{suffix}"
    flag = replace(sheet(None, name="Flag"), positions=sheet(None).positions + np.float32(2.0))
    tracks = sheet(tiny, 1), hair(tiny), tiny, flag
    options: GlbOptions | UsdOptions = DRAFT
    if suffix != ".glb":
        pytest.importorskip("pxr")
        options = UsdOptions(bones=5, bone_quality=BoneQuality.DRAFT)
    reported, warned = written(path, *tracks, options=options)
    assert [line for line in warned if "cannot store widths" not in line] == []
    assert "12 frames" in reported[0]
    assert [line.split(": ")[1] for line in reported[1:]] == ["Cape", "Hair", "Flag"]
    again = tmp_path / f"b{suffix}"
    assert written(again, *tracks, options=options)[0][1:] == [line.replace("a.", "b.", 1) for line in reported[1:]]
    if suffix != ".glb":
        from pxr import Usd, UsdSkel

        stage = Usd.Stage.Open(str(path))
        roots = stage.GetDefaultPrim().GetChildren()
        assert [UsdSkel.Root(one).GetPrim().GetName() for one in roots] == ["Tiny", "Flag"]
        (skeleton,) = (UsdSkel.Skeleton(one) for one in roots[0].GetChildren() if one.IsA(UsdSkel.Skeleton))
        assert [*skeleton.GetJointsAttr().Get()][-1].endswith("/Hair_04")
        return
    assert path.read_bytes() == again.read_bytes()
    checked = Checked(path.read_bytes())
    document = checked.document
    assert (len(document["skins"]), len(document["animations"])) == (1, 1)
    assert "targets" not in json_of(document["meshes"])
    parts = [mesh["primitives"][0]["attributes"] for mesh in document["meshes"]]
    for attributes in parts:
        assert document["accessors"][attributes["JOINTS_0"]]["componentType"] == 5123
        np.testing.assert_allclose(checked.values(attributes["WEIGHTS_0"]).sum(axis=1), 1.0, atol=1e-6)
    frames = GlbFrames(path)
    recording, _ = with_bones(SceneRecording(tracks, 30.0, 4), DRAFT)
    for node, track in zip(frames.shown, recording.tracks, strict=True):
        assert np.abs(np.array(frames.frames_of(node)) - track.positions).max() < 1e-6


@pytest.mark.campaign
@pytest.mark.timeout(1800)
def test_other_readers_of_gltf_find_no_error_and_the_same_points(tmp_path: Path) -> None:
    """Needs node; packages come from the folder that SINEW_NODE_MODULES names, else from npm."""
    if shutil.which("node") is None:
        pytest.skip("needs node")
    known, path = os.environ.get("SINEW_NODE_MODULES"), tmp_path / "a.glb"
    if known:
        (tmp_path / "node_modules").symlink_to(known)
    elif subprocess.run(["npm", "install", *NPM_PACKAGES], cwd=tmp_path, capture_output=True).returncode:
        pytest.skip(f"needs {' and '.join(NPM_PACKAGES)} of npm")
    reader = shutil.copy(READER, tmp_path)
    tiny = character()
    flag = replace(sheet(None, name="Flag"), positions=sheet(None).positions + np.float32(2.0))
    tracks = tiny, sheet(tiny, 1), hair(tiny), flag
    recording, _ = with_bones(SceneRecording(tracks, 30.0), DRAFT)
    write_scene(SceneRecording(tracks, 30.0), path, SCENE_FORMATS.of(path), DRAFT, print, print)
    command = ["node", reader, str(path), str(FRAMES), "30"]
    found = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout)
    assert (found["issues"]["numErrors"], found["issues"]["numWarnings"], found["animations"]) == (0, 0, 1)
    meshes = found["meshes"]
    assert (meshes["Cape"]["type"], meshes["Hair"]["type"]) == ("SkinnedMesh", "LineSegments")
    for track in recording.tracks:
        if track.name in ("Cape", "Flag"):
            assert np.abs(np.array(meshes[track.name]["frames"]) - track.positions).max() < 1e-6


def json_of(part: object) -> str:
    return msgspec.json.encode(part).decode()


def test_two_characters_share_the_skin_and_have_their_own_bones(tmp_path: Path) -> None:
    one, other = character(), character(name="Other", scale=0.5)
    tracks = sheet(one, 1), one, other, sheet(other, 1, name="Other cape")
    for suffix, options in ((".glb", DRAFT), (".usda", UsdOptions(bones=5, bone_quality=BoneQuality.DRAFT))):
        if suffix == ".usda":
            pytest.importorskip("pxr")
        _, warned = written(tmp_path / f"a{suffix}", *tracks, options=options)
        assert not warned
    document = Checked((tmp_path / "a.glb").read_bytes()).document
    (skin,) = document["skins"]
    (root,) = (number for number, node in enumerate(document["nodes"]) if node["name"] == "Skeleton")
    assert skin["skeleton"] == root
    assert [document["nodes"][child]["name"] for child in document["nodes"][root]["children"]] == ["Tiny", "Other"]


def test_a_target_more_influences_and_their_warnings(tmp_path: Path) -> None:
    tiny = character()
    options = msgspec.structs.replace(DRAFT, bones=0, bone_error=1e-4, influences=6)
    reported, warned = written(tmp_path / "a.glb", tiny, sheet(tiny, 1), options=options)
    assert "bones leave" in warned[0]
    assert "more than bone_error=0.0001" in warned[0]
    assert "Cape: up to 6 bones move a point; many programs read 4 only" in warned[1]
    assert "JOINTS_1" in json_of(Checked((tmp_path / "a.glb").read_bytes()).document["meshes"])
    easy = msgspec.structs.replace(options, bone_error=20.0, influences=4)
    reported, warned = written(tmp_path / "b.glb", tiny, sheet(tiny, 1), options=easy)
    assert not warned
    assert int(reported[1].split("Cape: ")[1].split(" ")[0]) <= 8


def test_bad_input_is_refused_in_one_line_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = character()
    cape = sheet(tiny, 1)
    broken = replace(cape, positions=cape.positions.copy())
    broken.positions[3, 9, 1] = np.nan
    for tracks, changes, reason in (
        ((tiny, broken), {}, "Cape: frame 7: its positions are not finite, so no bones can be fitted"),
        ((tiny, cape), {"bone_parent": "tail"}, "bone_parent=tail: no such bone is exported as a skin; there are: "),
        ((cape,), {"bone_parent": "tail"}, "bone_parent=tail: no such bone is exported as a skin; there are: none"),
        ((tiny, cape), {"characters": Characters.POINTS}, "characters=points: bones need characters as skins"),
        ((tiny, cape), {"loop_blend": 7}, "loop_blend=7: 12 frames allow up to 6"),
    ):
        with pytest.raises(ExportError) as caught:
            written(tmp_path / "a.glb", *tracks, options=msgspec.structs.replace(DRAFT, **changes))
        assert str(caught.value).startswith(f"{tmp_path / 'a.glb'}: {reason}")
        assert "\n" not in str(caught.value)
    monkeypatch.setattr(bones, "MEMORY", 1 << 18)
    with pytest.raises(ExportError, match=r"Cape: fitting bones needs .* at most 256.0 KiB; fewer frames or bones"):
        written(tmp_path / "a.glb", tiny, cape, options=DRAFT)
    assert not [*tmp_path.iterdir()]
    for text in ({"bones": 257}, {"influences": 9}, {"bone_error": -1.0}, {"bone_quality": "best"}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(text, GlbOptions)
