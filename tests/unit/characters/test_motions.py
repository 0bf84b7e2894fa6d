"""Clips of other files beside those of a character, by file and name; edited bones; layers of strips."""

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from sinew import resources
from sinew.app.headless.scene import opened
from sinew.app.project.permitted import Permitted
from sinew.app.project.project_file import load_project, save_project
from sinew.sim.animation.evaluate import bind_pose, evaluate_pose
from sinew.sim.assets.clip import UniformClip
from sinew.sim.assets.humanoid import bones_of
from sinew.sim.assets.load import load_model, read_raw
from sinew.sim.assets.model import CharacterModel, Interpolation, LocalPose
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.characters.layers import GROUPS, Layer, added, layered, mask_joints, mixed
from sinew.sim.characters.motions import add_clips, animated_model, motion_titles
from sinew.sim.characters.playing import pose_of, poses_of
from sinew.sim.characters.settings import ModelSettings, MotionFile
from sinew.sim.maths import quaternion
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.strips import GROUP, Strip, StripMode, is_cut, parts_at
from sinew.sim.scene.view_state import ViewState
from tests.conftest import slow
from tests.motion_samples import write_bvh
from tests.vrm_samples import vrm, vrm_animation

RUN_UP = (0.0, 0.0)


@pytest.fixture(scope="module")
def humanoid() -> CharacterModel:
    return load_model(resources.path("models") / "humanoid" / "humanoid.ezm")


@pytest.fixture(scope="module")
def wave(humanoid: CharacterModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bvh(humanoid, tmp_path_factory.mktemp("motion") / "swing.bvh")


def with_motions(model: CharacterModel, *paths: Path, **settings: object) -> tuple[CharacterModel, ModelSettings]:
    own = ModelSettings(motions=tuple(MotionFile(path=str(path)) for path in paths), **settings)
    animated, faults = animated_model(model, own, {path: load_model(path) for path in paths})
    assert faults == []
    return animated, own


# --- clips ----------------------------------------------------------------------------------------------------------


def test_clips_of_motions_follow_the_own_ones_under_names_of_their_files(
    humanoid: CharacterModel, wave: Path, tmp_path: Path
) -> None:
    names = [clip.name for clip in humanoid.clips]
    animated, _ = with_motions(humanoid, wave)
    assert [clip.name for clip in animated.clips] == [*names, "swing"]
    assert animated.mesh is humanoid.mesh
    walk = tmp_path / f"{names[0]}.bvh"
    walk.write_bytes(wave.read_bytes())
    motions = [MotionFile(path=str(path)) for path in (walk, wave, Path("/elsewhere/swing.bvh"), humanoid.path)]
    sources = {path: load_model(path) for path in (walk, wave, humanoid.path)}
    titles = motion_titles(humanoid, motions, {**sources, Path("/elsewhere/swing.bvh"): sources[wave]})
    assert titles[:3] == [[f"{names[0]} 2"], ["swing"], ["swing 2"]]
    assert titles[3] == [f"humanoid: {name}" for name in names]
    without = motion_titles(humanoid, motions, {Path("/elsewhere/swing.bvh"): sources[wave]})
    assert without[2] == ["swing 2"], "whether other files can be read does not matter"


def test_clips_of_the_same_skeleton_are_copied_as_they_are(humanoid: CharacterModel) -> None:
    again = load_model(humanoid.path)
    animated, _ = with_motions(humanoid, again.path)
    for clip, copied in zip(humanoid.clips, animated.clips[len(humanoid.clips) :], strict=True):
        for time in np.linspace(0.0, clip.duration, 7):
            one, other = (some.sample(float(time), Interpolation.LINEAR) for some in (clip, copied))
            np.testing.assert_array_equal(one.orientations, other.orientations)
            np.testing.assert_array_equal(one.positions, other.positions)
    fox = load_model(resources.path("models") / "fox" / "fox.ezm")
    copied, _ = with_motions(fox, fox.path)
    assert len(copied.clips) == 2 * len(fox.clips), "a body that is not human"


def test_morph_targets_keep_their_weights_at_rest(humanoid: CharacterModel, wave: Path) -> None:
    head = load_model(resources.path("models") / "head" / "head.glb")
    model = dataclasses.replace(humanoid, mesh=dataclasses.replace(humanoid.mesh, targets=head.mesh.targets))
    animated, settings = with_motions(model, wave, clip="swing")
    assert model.mesh.targets is not None
    for pose in poses_of(animated, settings, [0.0, 0.1, 0.2], RUN_UP):
        np.testing.assert_array_equal(pose.local.weights, model.mesh.targets.rest_weights)


@pytest.mark.parametrize(
    "name",
    ["bvh/cmu_12_01_walk.bvh", slow("bvh/01_01.bvh"), "gltf/CesiumMan/glTF-Binary/CesiumMan.glb",
     slow("fbx/ozz/pab_walk.fbx"), "ezm/dude/dude.ezm"],
)  # fmt: skip
def test_motions_of_other_programs_move_the_humanoid(humanoid: CharacterModel, assets: Path, name: str) -> None:
    path = assets / name
    if not path.is_file():
        pytest.skip("no motion")
    animated, settings = with_motions(humanoid, path)
    clip = animated.clips[len(humanoid.clips)]
    assert clip.duration == pytest.approx(load_model(path).clips[0].duration, abs=1e-3)
    settings = structs.replace(settings, clip=clip.name)
    poses = poses_of(animated, settings, np.linspace(0.0, clip.duration, 9).tolist(), RUN_UP)
    heads = np.array([pose.model_from_joint[bones_of(humanoid)["head"], :3, 3] for pose in poses])
    assert (heads[:, 1] > 0.8).all(), "it stands"
    assert (heads[:, 1] < 2.0).all()
    hands = np.array([pose.model_from_joint[bones_of(humanoid)["leftHand"], :3, 3] for pose in poses])
    assert np.ptp(hands - heads, axis=0).max() > 0.01, "it moves"


@pytest.mark.parametrize("frames", [1, 2])
def test_short_motions(humanoid: CharacterModel, tmp_path: Path, frames: int) -> None:
    animated, settings = with_motions(humanoid, write_bvh(humanoid, tmp_path / "a.bvh", frames=frames), clip="a")
    assert animated.clips[-1].duration == pytest.approx((frames - 1) / 30.0)
    assert np.isfinite(pose_of(animated, settings, 0.3, RUN_UP).palette).all()


def test_a_file_that_is_no_motion_says_so_in_one_line(humanoid: CharacterModel, tmp_path: Path, wave: Path) -> None:
    arm = load_model(resources.path("models") / "arm" / "arm.ezm")
    cape = load_model(resources.path("models") / "cape" / "cape.ezm")
    still = tmp_path / "still.bvh"
    still.write_text(wave.read_text().partition("MOTION")[0])
    sources = {arm.path: arm, cape.path: cape, still: load_model(still)}
    settings = ModelSettings(motions=tuple(MotionFile(path=str(path)) for path in sources))
    animated, faults = animated_model(humanoid, settings, sources)
    assert animated.clips == humanoid.clips
    assert [path for path, _ in faults] == [str(path) for path in sources]
    assert "is no human body: hips, head" in faults[0][1]
    assert faults[2][1] == "still.bvh has no clips"
    assert all("\n" not in line for _, line in faults)


def test_exported_clips_are_read_back(humanoid: CharacterModel, wave: Path, tmp_path: Path) -> None:
    from sinew.sim.export.formats import MODEL_WRITERS

    animated, _ = with_motions(humanoid, wave)
    for suffix in (".glb", ".ezm"):
        raw, target = read_raw(humanoid.path), tmp_path / f"out{suffix}"
        add_clips(raw, animated.clips[len(humanoid.clips) :])
        MODEL_WRITERS.of(target).save(raw, target)
        again = load_model(target)
        for time in (0.0, 0.1, 0.27):
            expected = evaluate_pose(animated, animated.clip("swing"), time).model_from_joint[:, :3, 3]
            found = evaluate_pose(again, again.clip("swing"), time).model_from_joint
            assert again.skeleton is not None
            joints = [again.skeleton.index(name) for name in animated.skeleton.names]  # type: ignore[union-attr]
            np.testing.assert_allclose(found[joints, :3, 3], expected, atol=2e-5)


def test_expressions_of_a_vrm_animation_are_exported(tmp_path: Path) -> None:
    from sinew.sim.export.formats import MODEL_WRITERS

    girl, motion, target = tmp_path / "girl.vrm", tmp_path / "nod.vrma", tmp_path / "out.glb"
    girl.write_bytes(vrm().data())
    motion.write_bytes(vrm_animation().data())
    model = load_model(girl)
    animated, _ = with_motions(model, motion)
    clip = animated.clips[-1]
    assert clip.name == "nod"
    raw = read_raw(girl)
    add_clips(raw, [clip])
    MODEL_WRITERS.of(target).save(raw, target)
    again = load_model(target).clip("nod")
    expected = clip.sample_many(clip.frame_times.tolist(), Interpolation.LINEAR)
    assert np.ptp(expected.weights, axis=0).max() > 0.1
    found = again.sample_many(clip.frame_times.tolist(), Interpolation.LINEAR)
    names = (load_model(target).mesh.targets.names, model.mesh.targets.names)  # type: ignore[union-attr]
    columns = [names[0].index(name) for name in names[1]]
    np.testing.assert_allclose(found.weights[:, columns], expected.weights, atol=1e-6)


# --- bones ----------------------------------------------------------------------------------------------------------


def test_edited_bones_come_first_and_a_joint_is_one_bone(humanoid: CharacterModel) -> None:
    names = humanoid.skeleton.names  # type: ignore[union-attr]
    found = bones_of(humanoid)
    assert names[found["chest"]] == "spine_3"
    edited = bones_of(humanoid, [("chest", "spine_2"), ("jaw", ""), ("tail", "head"), ("neck", "no such joint")])
    assert edited == {**found, "chest": names.index("spine_2")}
    moved = bones_of(humanoid, [("chest", "neck")])
    assert "neck" not in moved
    assert "leftToes" not in bones_of(humanoid, [("leftToes", "")])
    rig = dataclasses.replace(humanoid.rig, humanoid={"hips": 3})
    assert bones_of(dataclasses.replace(humanoid, rig=rig)) == {"hips": 3}, "the file comes before names"


def test_edited_bones_change_the_retargeted_clip(humanoid: CharacterModel, wave: Path) -> None:
    renamed = dataclasses.replace(
        load_model(wave),
        skeleton=dataclasses.replace(
            load_model(wave).skeleton,  # type: ignore[type-var]
            names=tuple(f"x{n}" for n in range(load_model(wave).skeleton.joint_count)),  # type: ignore[union-attr]
        ),
    )
    settings = ModelSettings(motions=(MotionFile(path=str(wave)),))
    _, faults = animated_model(humanoid, settings, {wave: renamed})
    assert faults == [], "found by the shape"
    source = load_model(wave)
    edits = tuple((bone, f"x{joint}") for bone, joint in bones_of(source).items())
    settings = ModelSettings(motions=(MotionFile(path=str(wave), humanoid=edits),))
    animated, faults = animated_model(humanoid, settings, {wave: renamed})
    assert (len(animated.clips), faults) == (len(humanoid.clips) + 1, [])
    off = ModelSettings(motions=settings.motions, humanoid=(("leftHand", ""),))
    _, faults = animated_model(humanoid, off, {wave: renamed})
    assert "leftHand not found" in faults[0][1]


# --- projects -------------------------------------------------------------------------------------------------------


def project_with(path: Path, *motions: Path, **settings: object) -> Path:
    model = resources.path("models") / "humanoid" / "humanoid.ezm"
    files = tuple(MotionFile(path=str(motion)) for motion in motions)
    node = Node(id="m", name="Man", settings=ModelSettings(path=str(model), motions=files, **settings))
    save_project(path, Scene(nodes=(node,)), ViewState())
    return path


def test_paths_of_motions_are_stored_relative_and_rebased(wave: Path, tmp_path: Path) -> None:
    path = project_with(tmp_path / "a.sinew", wave, humanoid=(("jaw", "head"),))
    assert str(wave) not in path.read_text()
    project = load_project(path)
    (tmp_path / "deep").mkdir()
    save_project(tmp_path / "deep" / "b.sinew", project.scene, project.view_state, project.unknown)
    for file in (path, tmp_path / "deep" / "b.sinew"):
        (node,) = load_project(file).scene.nodes
        assert node.settings.motions == (MotionFile(path=str(wave)),)  # type: ignore[attr-defined]
        assert node.settings.humanoid == (("jaw", "head"),)  # type: ignore[attr-defined]


def test_a_project_opens_without_a_motion_that_is_missing_or_damaged(
    wave: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.bvh"
    broken.write_text(wave.read_text().replace("OFFSET", "OFSET"))
    path = project_with(tmp_path / "a.sinew", tmp_path / "missing.bvh", broken, wave, clip="swing")
    scene = opened(path, Permitted(outside=True, kernels=True))
    lines = [line for line in capsys.readouterr().err.splitlines() if "motion " in line]
    assert len(lines) == 2
    assert all("Man plays without it" in line for line in lines)
    clip = scene.clip()
    assert clip is not None
    assert clip.name == "swing"


def test_the_key_of_a_bake_contains_the_motions(wave: Path, humanoid: CharacterModel) -> None:
    from types import SimpleNamespace

    from sinew.sim.cache.keys import node_keys
    from sinew.sim.kinds.cloth.settings import ClothSettings
    from sinew.sim.kinds.contract import World
    from sinew.sim.scene.applied import Applied
    from sinew.sim.scene.scene import Attachment
    from sinew.sim.scene.world_transforms import WorldTransforms

    def key(source: CharacterModel | None, **changes: object) -> str:
        settings = ModelSettings(path=str(humanoid.path), motions=(MotionFile(path=str(wave)),), **changes)
        cloth = Node(id="c", settings=ClothSettings(), attachment=Attachment(node="m"))
        scene = Scene(nodes=(Node(id="m", settings=settings), cloth))
        animated = animated_model(humanoid, settings, {wave: source} if source is not None else {})[0]
        characters = {"m": SimpleNamespace(model=humanoid, pose=None)}
        assets = SceneAssets(animated={"m": animated})
        world = World(Applied(scene, scene, scene, assets=assets), scene, characters, WorldTransforms(scene, {}), None)  # type: ignore[arg-type]
        return node_keys(world)["c"]

    source = load_model(wave)
    assert key(source) == key(load_model(wave))
    (clip,) = source.clips
    poses = clip.sample_many(clip.key_times.tolist(), Interpolation.LINEAR)
    turned = poses.orientations.copy()
    elbow = bones_of(source)["leftLowerArm"]
    turned[5, elbow] = quaternion.multiply(turned[5, elbow], np.array([0.0, 0.0, 0.1, 0.995]))
    other = UniformClip("swing", float(clip.key_times[1]), poses.positions, turned, poses.scales)
    changed = dataclasses.replace(source, clips=(other,))
    assert len({key(source), key(changed), key(None), key(source, humanoid=(("leftToes", ""),))}) == 4


# --- layers ---------------------------------------------------------------------------------------------------------


def local(humanoid: CharacterModel, clip: str, time: float) -> LocalPose:
    return evaluate_pose(humanoid, humanoid.clip(clip), time).local


def close(one: LocalPose, other: LocalPose) -> None:
    np.testing.assert_allclose(one.positions, other.positions, atol=1e-12)
    np.testing.assert_allclose(quaternion.aligned(one.orientations, other.orientations), other.orientations, atol=1e-12)
    np.testing.assert_allclose(one.scales, other.scales, atol=1e-12)


def test_additive_poses_as_ozz_defines_them(humanoid: CharacterModel) -> None:
    names = [clip.name for clip in humanoid.clips]
    base, pose, reference = local(humanoid, names[0], 0.3), local(humanoid, names[1], 0.2), local(humanoid, names[1], 0)
    close(added(base, pose, reference, 0.0), base)
    close(added(reference, pose, reference, 1.0), pose)
    random = np.random.default_rng(3)
    count = len(base.positions)
    scaled = structs.replace(pose, scales=random.uniform(0.5, 2.0, (count, 3)))
    weight = 0.37
    found = added(base, scaled, reference, weight)
    for joint in range(count):  # one joint at a time, written out
        x, y, z, w = quaternion.multiply(
            quaternion.conjugate(reference.orientations[joint]), scaled.orientations[joint]
        ).tolist()
        sign = -1.0 if w < 0.0 else 1.0
        part = np.array([sign * weight * x, sign * weight * y, sign * weight * z, 1.0 + weight * (sign * w - 1.0)])
        part /= np.sqrt(np.dot(part, part))
        np.testing.assert_allclose(
            found.orientations[joint], quaternion.multiply(base.orientations[joint], part), atol=1e-12
        )
        expected = base.positions[joint] + weight * (scaled.positions[joint] - reference.positions[joint])
        np.testing.assert_allclose(found.positions[joint], expected, atol=1e-12)
        grown = base.scales[joint] * (1.0 + weight * (scaled.scales[joint] / reference.scales[joint] - 1.0))
        np.testing.assert_allclose(found.scales[joint], grown, atol=1e-12)
    one_way = added(added(base, pose, reference, 1.0), scaled, base, 1.0)
    other_way = added(added(base, scaled, base, 1.0), pose, reference, 1.0)
    assert np.abs(one_way.orientations - other_way.orientations).max() > 1e-3, "they do not commute"
    flat = structs.replace(reference, scales=np.zeros((count, 3)))
    np.testing.assert_array_equal(added(base, pose, flat, 1.0).scales, base.scales)


def test_joints_outside_of_a_mask_keep_their_bits(humanoid: CharacterModel) -> None:
    names = [clip.name for clip in humanoid.clips]
    base, other = (evaluate_pose(humanoid, humanoid.clip(name), 0.3) for name in names[:2])
    mask = mask_joints(humanoid, f"{GROUP}upper body")
    assert mask is not None
    for reference in (None, local(humanoid, names[1], 0.0)):
        for weight in (0.3, 1.0):
            result = layered(base.local, Layer(other, weight, mask, reference))
            for own, below in zip(
                (result.positions, result.orientations, result.scales),
                (base.local.positions, base.local.orientations, base.local.scales),
                strict=True,
            ):
                assert own[~mask].tobytes() == below[~mask].tobytes()
            full = added(base.local, other.local, reference, weight) if reference else mixed(
                base.local, other.local, weight
            )  # fmt: skip
            assert result.orientations[mask].tobytes() == full.orientations[mask].tobytes()
    assert layered(base.local, Layer(other, 0.0, mask)) is base.local


def test_masks_are_joints_with_everything_below_or_groups(humanoid: CharacterModel, assets: Path) -> None:
    skeleton = humanoid.skeleton
    assert skeleton is not None
    masks = {group: mask_joints(humanoid, f"{GROUP}{group}") for group in GROUPS}
    named = {group: {skeleton.names[j] for j in np.flatnonzero(mask)} for group, mask in masks.items()}
    assert {"spine_1", "head", "hand_l"} <= named["upper body"]
    assert {"hips", "thigh_l", "toes_r"} <= named["lower body"]
    assert not named["upper body"] & named["lower body"]
    assert named["arms"] == named["left arm"] | named["right arm"]
    assert "hand_l" in named["left arm"]
    assert "hand_l" not in named["right arm"]
    hand = mask_joints(humanoid, "hand_l")
    assert {skeleton.names[j] for j in np.flatnonzero(hand)} == {n for n in named["hands"] if n.endswith("_l")}
    assert mask_joints(humanoid, "") is None
    for unknown in ("no such joint", f"{GROUP}wings"):
        assert not mask_joints(humanoid, unknown).any()  # type: ignore[union-attr]
    arm = load_model(resources.path("models") / "arm" / "arm.ezm")
    assert not mask_joints(arm, f"{GROUP}lower body").any()  # type: ignore[union-attr]
    if (assets / "ezm/dude/dude.ezm").is_file():
        dude = load_model(assets / "ezm/dude/dude.ezm")
        upper, legs = (mask_joints(dude, f"{GROUP}{group}") for group in ("upper body", "legs"))
        assert not (upper & legs).any(), "whose thighs hang from the spine"  # type: ignore[operator]


def test_strips_with_layers_are_the_blend_of_their_poses(humanoid: CharacterModel) -> None:
    walk, other = (clip.name for clip in humanoid.clips[:2])
    group = f"{GROUP}arms"
    strips = (
        Strip(clip=walk),
        Strip(clip=other, start=0.2, mode=StripMode.ADD, weight=0.6, clip_in=0.1),
        Strip(clip=other, start=0.1, mask=group, fade_in=0.4),
    )
    settings = ModelSettings(strips=strips)
    times = [0.0, 0.15, 0.3, 0.7, 1.4]
    for time, pose in zip(times, poses_of(humanoid, settings, times, RUN_UP), strict=True):
        assert pose.palette.tobytes() == pose_of(humanoid, settings, time, RUN_UP).palette.tobytes()
        parts = parts_at(strips, lambda name: humanoid.clip(name).duration, time)
        expected = local(humanoid, walk, parts[0].time)
        if time > 0.1:
            share = min((time - 0.1) / 0.4, 1.0)
            weight = share * share * (3.0 - 2.0 * share)
            own = evaluate_pose(humanoid, humanoid.clip(other), parts[1].time)
            expected = layered(expected, Layer(own, weight, mask_joints(humanoid, group)))
        if time > 0.2:
            expected = added(expected, local(humanoid, other, parts[-1].time), local(humanoid, other, 0.1), 0.6)
        close(pose.local, expected)


def test_a_lowest_strip_that_fades_lies_over_the_bind_pose(humanoid: CharacterModel) -> None:
    walk = humanoid.clips[0].name
    rest = bind_pose(humanoid).local
    faded = ModelSettings(strips=(Strip(clip=walk, start=1.0, repeats=1.0, fade_in=0.2, fade_out=0.2),))
    length = humanoid.clips[0].duration
    for time in (0.0, 1.0, 1.0 + length, 9.0):
        close(pose_of(humanoid, faded, time, RUN_UP).local, rest)
    half = ModelSettings(strips=(Strip(clip=walk, weight=0.5),))
    close(pose_of(humanoid, half, 0.3, RUN_UP).local, mixed(rest, local(humanoid, walk, 0.3), 0.5))
    alone = ModelSettings(strips=(Strip(clip=walk, mode=StripMode.ADD),))
    close(
        pose_of(humanoid, alone, 0.3, RUN_UP).local,
        added(rest, local(humanoid, walk, 0.3), local(humanoid, walk, 0), 1),
    )
    pose = ModelSettings(strips=(Strip(clip=walk, mode=StripMode.ADD, clip_in=0.3, clip_out=0.3),))
    close(pose_of(humanoid, pose, 0.8, RUN_UP).local, local(humanoid, walk, 0.3))  # a pose is added to the bind pose


def test_layers_leave_the_crossfades_and_cuts_of_the_strips_below_alone() -> None:
    lengths = {"walk": 1.0, "turn": 2.0}
    base = (Strip(clip="walk", repeats=2.0), Strip(clip="turn", start=1.0, repeats=1.0))
    layers = (
        Strip(clip="turn", start=0.5, repeats=1.0, mode=StripMode.ADD),
        Strip(clip="turn", start=0.7, repeats=1.0, mask="spine"),
    )
    for time in np.linspace(-0.5, 4.0, 91):
        plain = parts_at(base, lengths.__getitem__, float(time))
        both = parts_at((*layers, *base), lengths.__getitem__, float(time))
        assert [(p.clip, p.time, p.weight) for p in both if not p.is_layer] == [
            (p.clip, p.time, p.weight) for p in plain
        ]
        modes = [p.mode for p in both]
        assert modes == sorted(modes, key=lambda mode: mode is StripMode.ADD)
    walk = (Strip(clip="walk"), Strip(clip="turn", mode=StripMode.ADD))
    before, after = (parts_at(walk, lengths.__getitem__, time) for time in (0.99, 1.01))
    assert is_cut(before, after), "a layer that goes on does not hide it"
    alone = [parts_at(layers, lengths.__getitem__, time) for time in (0.0, 0.6, 0.8)]
    assert not any(is_cut(one, other) for one, other in itertools.pairwise(alone))
