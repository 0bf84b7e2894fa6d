import gc
import weakref
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
import pytest

from sinew.resources import path
from sinew.sim.animation.evaluate import bind_pose, evaluate_pose, root_motion
from sinew.sim.animation.palette import dual_quaternions, lbs_rows, rigid_and_scale
from sinew.sim.animation.pose import frame_below
from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.clip import UniformClip
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Interpolation, Mesh, Skin
from sinew.sim.characters.playing import pose_of, poses_of
from sinew.sim.characters.reference import enclosed_volume, method_difference, skin
from sinew.sim.characters.settings import BONE_PART, BonePose, ModelSettings, SkinningMethod, bone_pose, with_bone_pose
from sinew.sim.maths import dual_quaternion as DQ
from sinew.sim.maths import quaternion
from sinew.sim.maths import quaternion as Q
from sinew.sim.maths.hierarchy import model_from_local
from sinew.sim.maths.quaternion import to_matrix
from sinew.sim.maths.transform import compose
from sinew.sim.scene.params import ParamError, check
from sinew.sim.scene.scene import Node, ParamRef, Scene, value_at, with_value
from sinew.sim.scene.strips import Strip
from tests.model_samples import mesh_of
from tests.synthetic_models import synthetic_character

FRAMES = 11
STEP = 0.1

# A walker: scene root (still), hips (travel), spine, head, arm, and a still marker beside them.
NAMES = ("scene", "hips", "spine", "head", "hand", "marker")
PARENTS = np.array([-1, 0, 1, 2, 2, 0])
REST = np.array([[0.0, 0, 0], [0, 1, 0], [0, 0.5, 0], [0, 0.5, 0], [0.7, 0.2, 0], [2, 0, 0]])


def walker(
    travel: np.ndarray, joint: int = 1, frame_turn: np.ndarray = Q.IDENTITY
) -> tuple[CharacterModel, UniformClip]:
    """Character whose `joint` is moved by `travel` (F, 3) in its parent's frame, which is turned by `frame_turn`."""
    turns = np.tile(Q.IDENTITY, (FRAMES, 6, 1))
    turns[:, 0] = frame_turn
    turns[:, 2] = Q.from_axis_angle([1.0, 0.0, 0.0], np.linspace(0.0, 1.5, FRAMES))
    positions = np.tile(REST, (FRAMES, 1, 1))
    positions[:, joint] += travel
    scales = np.ones((FRAMES, 6, 3))
    clip = UniformClip("walk", STEP, positions, turns, scales)
    bind = np.tile(Q.IDENTITY, (6, 1))
    bind[0] = frame_turn
    skeleton = build_skeleton(NAMES, PARENTS, REST, bind, np.ones((6, 3)))
    return replace(synthetic_character(1), skeleton=skeleton, clips=(clip,)), clip


def line(step: tuple[float, float, float]) -> np.ndarray:
    return np.arange(FRAMES)[:, None] * np.array(step)


def test_a_clip_of_another_skeleton_is_refused():
    model, other = synthetic_character(5), synthetic_character(6)
    with pytest.raises(ValueError, match="has 6 joints, not 5"):
        evaluate_pose(model, other.clips[0], 0.0)
    assert evaluate_pose(replace(model, skeleton=None), None, 0.0).palette.shape == (0, 4, 4)


def test_local_model_and_palette_agree():
    model = synthetic_character(40)
    pose = evaluate_pose(model, model.clips[0], 0.333)
    again = [evaluate_pose(model, model.clips[0], time).palette for time in (0.9, 0.333)]
    np.testing.assert_array_equal(again[1], pose.palette)
    local = compose(pose.local.positions, pose.local.orientations, pose.local.scales)
    expected = model_from_local(local, model.skeleton.hierarchy)
    np.testing.assert_allclose(pose.model_from_joint, expected, atol=1e-12)
    np.testing.assert_allclose(pose.palette @ model.skeleton.model_from_bind, pose.model_from_joint, atol=1e-9)


@pytest.mark.parametrize(("up", "axis"), [("y", 1), ("Z", 2)])
def test_lock_root_takes_the_horizontal_travel_of_the_hips_and_keeps_the_height(up, axis):
    model, clip = walker(line((0.5, 0.3, -0.4)))
    for time in (0.0, 0.35, 1.0):
        free = evaluate_pose(model, clip, time)
        held = evaluate_pose(model, clip, time, lock_root=True, up_axis=up)
        moved = free.model_from_joint[:, :3, 3] - held.model_from_joint[:, :3, 3]
        expected = np.array([0.5, 0.3, -0.4]) * time / STEP
        expected[axis] = 0.0
        np.testing.assert_allclose(moved[1:5], np.tile(expected, (4, 1)), atol=1e-12)
        np.testing.assert_allclose(moved[[0, 5]], 0.0, atol=1e-15)
        np.testing.assert_array_equal(free.model_from_joint[:, :3, :3], held.model_from_joint[:, :3, :3])


@pytest.mark.parametrize("turned", [False, True])
def test_locked_local_and_model_transforms_still_agree(turned):
    turn = Q.from_euler_degrees((-90.0, 30.0, 10.0)) if turned else Q.IDENTITY
    model, clip = walker(line((0.5, 0.3, -0.4)), frame_turn=turn)
    motion = root_motion(model.skeleton, clip, "y")
    assert (motion.joint, motion.travellers.tolist(), motion.carried.tolist()) == (1, [1], [1, 2, 3, 4])
    pose = evaluate_pose(model, clip, 0.55, lock_root=True)
    local = compose(pose.local.positions, pose.local.orientations, pose.local.scales)
    np.testing.assert_allclose(model_from_local(local, model.skeleton.hierarchy), pose.model_from_joint, atol=1e-12)
    expected = pose.model_from_joint @ model.skeleton.bind_from_model
    np.testing.assert_allclose(pose.palette, expected, atol=1e-12)


def test_clips_that_stay_in_place_are_left_alone():
    for travel, joint in (
        (line((0.0, 0.5, 0.0)), 1),  # a jump
        (0.05 * np.sin(line((1.0, 0.0, 0.0))), 1),  # sway of a walk in place
        (line((0.5, 0.0, 0.0)), 4),  # a hand that reaches out
        (line((0.5, 0.0, 0.0)), 5),  # a prop that slides by
    ):
        model, clip = walker(travel, joint)
        assert root_motion(model.skeleton, clip, "y") is None
        for time, lock in product((0.0, 0.45), (False, True)):
            pose = evaluate_pose(model, clip, time, lock_root=lock)
            np.testing.assert_array_equal(pose.palette, evaluate_pose(model, clip, time).palette)


def test_the_remembered_answer_does_not_keep_a_clip_alive():
    model, clip = walker(line((0.5, 0.0, 0.0)))
    assert root_motion(model.skeleton, clip, "y") is root_motion(model.skeleton, clip, "Y")
    gone = weakref.ref(clip)
    del model, clip
    gc.collect()
    assert gone() is None


def reference(humanoid, one, other, weight):
    placed = []
    for joint, parent in enumerate(humanoid.skeleton.parents):
        a, b = one.local.orientations[joint], other.local.orientations[joint]
        turn = (1.0 - weight) * a + weight * (b if a @ b >= 0.0 else -b)
        matrix = np.eye(4)
        scale = (1.0 - weight) * one.local.scales[joint] + weight * other.local.scales[joint]
        matrix[:3, :3] = to_matrix(turn / np.linalg.norm(turn)) * scale
        matrix[:3, 3] = (1.0 - weight) * one.local.positions[joint] + weight * other.local.positions[joint]
        placed.append(matrix if parent < 0 else placed[parent] @ matrix)
    return np.array(placed)


def test_an_overlap_blends_translation_rotation_and_scale(humanoid):
    walk, wave = humanoid.clip("walk"), humanoid.clips[-1]
    strips = Strip(clip="walk", repeats=1.0), Strip(clip=wave.name, start=walk.duration - 0.4, repeats=1.0)
    settings = ModelSettings(strips=strips, interpolation=Interpolation.LINEAR)
    time = walk.duration - 0.3
    pose = pose_of(humanoid, settings, time, (0.0, 0.0))
    share = 0.25
    expected = reference(
        humanoid,
        evaluate_pose(humanoid, walk, time),
        evaluate_pose(humanoid, wave, 0.1),
        share * share * (3.0 - 2.0 * share),
    )
    np.testing.assert_allclose(pose.model_from_joint, expected, atol=1e-12)


def test_no_strips_are_the_clip_over_and_over_to_the_bit(humanoid):
    walk = humanoid.clip("walk")
    for time in (0.0, 0.4, walk.duration, 3.7):
        pose = pose_of(humanoid, ModelSettings(clip="walk"), time, (0.0, 0.0))
        within = time if time <= walk.duration else time % walk.duration
        assert pose.palette.tobytes() == evaluate_pose(humanoid, walk, within).palette.tobytes()


@pytest.mark.parametrize(
    ("interpolation", "lock_root"),
    [
        (Interpolation.LINEAR, True),
        (Interpolation.NEAREST, False),
        (Interpolation.SMOOTH, False),
        (Interpolation.SMOOTH, True),
    ],
)
def test_poses_of_many_moments_are_those_of_each_to_the_bit(humanoid, interpolation, lock_root):
    walk, wave = humanoid.clip("walk"), humanoid.clips[-1]
    strips = Strip(clip="walk", repeats=2.0), Strip(clip=wave.name, start=walk.duration, repeats=1.0, speed=-0.7)
    settings = ModelSettings(strips=strips, interpolation=interpolation, lock_root=lock_root)
    times = [-0.5, 0.0, *np.linspace(0.3, 3.0 * walk.duration, 70).tolist(), walk.duration, walk.duration / 2.0]
    found = poses_of(humanoid, settings, times, (0.0, 1.0))
    for time, pose in zip(times, found, strict=True):
        alone = pose_of(humanoid, settings, time, (0.0, 1.0))
        for name in ("palette", "model_from_joint", "centres"):
            assert getattr(pose, name).tobytes() == getattr(alone, name).tobytes(), f"{name} at {time}"
        assert pose.local.orientations.tobytes() == alone.local.orientations.tobytes()


def test_the_run_up_begins_in_the_bind_pose_and_rests_in_the_first(humanoid):
    settings, run_up = ModelSettings(clip="walk"), (1.0, 2.0)
    first = pose_of(humanoid, settings, 1.0, run_up)
    assert pose_of(humanoid, settings, -1.0, run_up).palette.tobytes() == bind_pose(humanoid).palette.tobytes()
    for time in (0.0, 0.5, 0.99):
        assert pose_of(humanoid, settings, time, run_up).palette.tobytes() == first.palette.tobytes()
    between = pose_of(humanoid, settings, -0.5, run_up)
    np.testing.assert_allclose(
        between.model_from_joint, reference(humanoid, bind_pose(humanoid), first, 0.5), atol=1e-12
    )


OFFSETS = (
    BonePose(bone="shin_l", rotation=(0.0, 0.0, 90.0), position=(0.1, 0.2, -0.1)),
    BonePose(bone="thigh_l", rotation=(30.0, -20.0, 10.0), scale=(1.5, 1.0, 0.5)),
    BonePose(bone="a bone of another file", rotation=(9.0, 9.0, 9.0)),
)


@pytest.fixture(scope="module")
def character():
    return load_model(path("models") / "humanoid" / "humanoid.ezm")


def by_hand(character, pose, offsets):
    skeleton, matrices = character.skeleton, []
    by_name = {offset.bone: offset for offset in offsets}
    for joint, name in enumerate(skeleton.names):
        offset = by_name.get(name, BonePose())
        p, q, s = pose.local.positions[joint], pose.local.orientations[joint], pose.local.scales[joint]
        turn = quaternion.from_euler_degrees(offset.rotation)
        move = compose(p, q, np.ones(3)) @ compose(np.array(offset.position), turn, np.ones(3))
        own = move @ compose(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), s * offset.scale)
        parent = int(skeleton.parents[joint])
        matrices.append(own if parent < 0 else matrices[parent] @ own)
    return np.array(matrices)


def offsets_of(character):
    child = next(j for j, parent in enumerate(character.skeleton.parents) if parent > 0)
    names = character.skeleton.names[child], character.skeleton.names[character.skeleton.parents[child]]
    return (*(msgspec.structs.replace(o, bone=b) for o, b in zip(OFFSETS[:2], names, strict=True)), OFFSETS[2])


@pytest.mark.parametrize("lock_root", [False, True])
def test_offsets_act_in_the_frame_that_the_clip_gives(character, lock_root):
    clip, offsets = character.clips[0], offsets_of(character)
    plain = evaluate_pose(character, clip, 0.3, lock_root=lock_root)
    posed = evaluate_pose(character, clip, 0.3, lock_root=lock_root, offsets=offsets)
    np.testing.assert_allclose(posed.model_from_joint, by_hand(character, plain, offsets), atol=1e-9)
    assert np.abs(posed.model_from_joint - plain.model_from_joint).max() > 0.1
    np.testing.assert_allclose(posed.palette, posed.model_from_joint @ character.skeleton.bind_from_model, atol=1e-9)
    unchanged = evaluate_pose(character, clip, 0.3, lock_root=lock_root, offsets=OFFSETS[2:])
    np.testing.assert_array_equal(unchanged.palette, plain.palette)
    bound = evaluate_pose(character, None, 0.0, offsets=offsets)
    np.testing.assert_allclose(bound.model_from_joint, by_hand(character, bind_pose(character), offsets), atol=1e-9)
    for offset in offsets[:2]:
        joint = character.skeleton.index(offset.bone)
        below = frame_below(character.skeleton, posed, offset)
        turn = quaternion.from_euler_degrees(offset.rotation)
        at = below @ compose(np.array(offset.position), turn, posed.local.scales[joint])
        np.testing.assert_allclose(at, posed.model_from_joint[joint], atol=1e-9)


def test_a_pose_is_a_value_of_the_scene_with_an_address():
    scene = Scene(nodes=(Node(id="m", settings=ModelSettings()),))
    turn, move = (ParamRef("m", f"{BONE_PART}hips", name) for name in ("rotation", "position"))
    assert value_at(scene, turn) == (0.0, 0.0, 0.0)
    posed = with_value(with_value(scene, turn, (1, 2, 3)), move, (0.5, 0, 0))
    assert posed.node("m").settings.pose == (BonePose(bone="hips", position=(0.5, 0, 0), rotation=(1, 2, 3)),)
    back = with_value(with_value(posed, turn, (0, 0, 0)), move, (0, 0, 0))
    assert back == scene, "a pose that does nothing is not stored"
    with pytest.raises(KeyError):
        value_at(scene, ParamRef("m", "bones", "rotation"))


def test_poses_keep_their_order_and_hard_ranges():
    bones = (BonePose(bone="a", scale=(2.0, 1.0, 1.0)), BonePose(bone="b", scale=(3.0, 1.0, 1.0)))
    assert [b.bone for b in with_bone_pose(bones, BonePose(bone="a", scale=(4.0, 1.0, 1.0)))] == ["a", "b"]
    assert bone_pose(bones, "c") == BonePose(bone="c")
    raw = [{"bone": "a", "scale": [1, 2, 3]}]
    assert check(ModelSettings, "pose", raw) == (BonePose(bone="a", scale=(1.0, 2.0, 3.0)),)
    assert check(ModelSettings, "pose", bones) == bones
    for wrong in ([{"bone": 3}], [{"scale": [1e9, 1, 1]}], [{"position": [float("inf"), 0, 0]}], "hips"):
        with pytest.raises(ParamError):
            check(ModelSettings, "pose", wrong)


SKINNED = ("dude/dude.ezm", "clothsim_zup/ClothSim.ezm", "character/character.ezm", "export/export.ezm")

loaded = cache(load_model)


def sample_model(assets: Path, name: str) -> CharacterModel:
    path = assets / "ezm" / name
    if not path.is_file():
        pytest.skip(f"no sample_model model {name}")
    return loaded(path)


def skinned_at(model: CharacterModel, frame: int, **options) -> np.ndarray:
    clip = model.clips[0]
    pose = evaluate_pose(model, clip, float(clip.key_times[frame]), up_axis=model.default_up_axis, **options)
    return skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres).positions


@pytest.mark.parametrize("method", SkinningMethod)
@pytest.mark.parametrize("name", SKINNED)
def test_the_bind_pose_returns_the_stored_vertices(assets, name, method):
    model = sample_model(assets, name)
    pose = evaluate_pose(model, None, 0.0)
    vertices = skin(model.mesh, model.skin, pose.palette, method, pose.centres)
    tolerance = 1e-5 * max(1.0, float(np.abs(model.mesh.positions).max()))
    np.testing.assert_allclose(vertices.positions, model.mesh.positions, atol=tolerance)
    lengths = np.linalg.norm(model.mesh.normals, axis=1)
    cached = np.abs(lengths - 1.0) < 1e-3
    np.testing.assert_allclose(vertices.normals[cached], model.mesh.normals[cached], atol=2e-3)


def test_skinned_boxes_have_the_published_sizes(assets):
    for name, frame, size, tolerance in (
        ("dude/dude.ezm", 0, (28.2, 72.8, 43.2), 0.06),
        ("dude/dude.ezm", 30, (28.2, 72.8, 42.3), 0.06),
        ("clothsim_zup/ClothSim.ezm", 0, (0.875, 1.543, 1.584), 0.0006),
    ):
        positions = skinned_at(sample_model(assets, name), frame)
        np.testing.assert_allclose(np.ptp(positions, axis=0), size, atol=tolerance)


LBS, DQS, DQS_SCALE = SkinningMethod.LBS, SkinningMethod.DQS, SkinningMethod.DQS_SCALE
RING = 24


def ring(x: float = 0.0) -> Mesh:
    """A circle of radius 1 about the x axis with outward normals; tangents run along the axis."""
    angle = np.arange(RING) * (2.0 * np.pi / RING)
    outward = np.stack([np.zeros(RING), np.cos(angle), np.sin(angle)], axis=1)
    return mesh_of(
        outward + np.array([x, 0.0, 0.0]), normals=outward, tangents=np.tile([1.0, 0.0, 0.0, -1.0], (RING, 1))
    )


def cloud(count: int, seed: int) -> Mesh:
    random = np.random.default_rng(seed)
    normals = random.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    across = np.cross(normals, random.normal(size=(count, 3)))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    signs = random.choice([-1.0, 1.0], size=(count, 1))
    return mesh_of(random.normal(size=(count, 3)), normals=normals, tangents=np.concatenate([across, signs], axis=1))


def weighted(weights: list[float], count: int) -> Skin:
    slots = [joint if weight > 0.0 else 0 for joint, weight in enumerate(weights)]
    joints = np.tile(np.array(slots, dtype=np.uint16), (count, 1))
    return Skin(joints, np.tile(np.array(weights, dtype=np.float32), (count, 1)), sum(w > 0 for w in weights))


def random_skin(count: int, joints: int, influences: int, seed: int) -> Skin:
    random = np.random.default_rng(seed)
    weights = -np.sort(-random.dirichlet(np.ones(influences), size=count), axis=1)
    chosen = np.stack([random.permutation(joints)[:influences] for _ in range(count)])
    return Skin(chosen.astype(np.uint16), weights.astype(np.float32), influences)


def turning(*turns: np.ndarray) -> np.ndarray:
    return compose(np.zeros((len(turns), 3)), np.stack(turns), np.ones((len(turns), 3)))


def near_palette(count: int, seed: int, spread: float = 0.0) -> np.ndarray:
    random = np.random.default_rng(seed)
    turns = Q.normalised(random.normal(scale=0.4, size=(count, 4)) + Q.IDENTITY)
    return compose(random.normal(size=(count, 3)), turns, random.uniform(1 - spread, 1 + spread, (count, 3)))


@pytest.mark.parametrize("degrees", [90.0, 179.0])
def test_twist_collapses_the_linear_blend_and_not_the_dual_quaternions(degrees):
    palette = turning(Q.IDENTITY, Q.from_axis_angle([1.0, 0.0, 0.0], np.radians(degrees)))
    half = weighted([0.5, 0.5, 0.0, 0.0], RING)
    linear, dual = (skin(ring(), half, palette, method).positions for method in (LBS, DQS))
    radius = np.cos(np.radians(degrees) / 2.0)
    np.testing.assert_allclose(np.linalg.norm(linear[:, 1:], axis=1), radius, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(dual[:, 1:], axis=1), 1.0, atol=1e-6)
    middle = Q.from_axis_angle([1.0, 0.0, 0.0], np.radians(degrees) / 2.0)
    np.testing.assert_allclose(dual, Q.rotate(middle, ring().positions.astype(float)), atol=1e-6)


@pytest.mark.parametrize("influences", [1, 8])
def test_single_rigid_influence_is_that_transform_in_every_method(influences):
    mesh, palette = cloud(40, 1), near_palette(12, 2)
    joints = np.random.default_rng(3).integers(0, 12, size=(40, influences)).astype(np.uint16)
    weights = np.zeros((40, influences), np.float32)
    weights[:, 0] = 1.0
    own = palette[joints[:, 0]]
    expected = (own[:, :3, :3] @ mesh.positions.astype(float)[..., None])[..., 0] + own[:, :3, 3]
    for method in SkinningMethod:
        vertices = skin(mesh, Skin(joints, weights, 1), palette, method)
        np.testing.assert_allclose(vertices.positions, expected, atol=1e-12)
        turned = (own[:, :3, :3] @ mesh.normals.astype(float)[..., None])[..., 0]
        np.testing.assert_allclose(vertices.normals, turned, atol=1e-6)


@pytest.mark.parametrize("method", SkinningMethod)
@pytest.mark.parametrize("influences", [4, 8])
def test_a_rigid_motion_of_the_skeleton_moves_the_skin_alike(method, influences):
    mesh, palette = cloud(50, 4), near_palette(9, 5, spread=0.2 if method is not DQS else 0.0)
    influence = random_skin(50, 9, influences, 6)
    centres = np.random.default_rng(8).normal(size=(9, 3))
    whole = compose(np.array([3.0, -2.0, 7.0]), Q.from_euler_degrees((40.0, 170.0, -20.0)), np.ones(3))
    before = skin(mesh, influence, palette, method, centres)
    after = skin(mesh, influence, whole @ palette, method, centres)
    np.testing.assert_allclose(after.positions, before.positions @ whole[:3, :3].T + whole[:3, 3], atol=2e-6)
    np.testing.assert_allclose(after.normals, before.normals @ whole[:3, :3].T, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(before.normals, axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(before.tangents[:, :3], axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(before.tangents[:, 3], mesh.tangents[:, 3])
    np.testing.assert_allclose(after.tangents[:, :3], before.tangents[:, :3] @ whole[:3, :3].T, atol=1e-9)


def test_turns_more_than_half_a_turn_apart_meet_on_the_shorter_way():
    # More than half a turn apart: the palette's quaternions lie in opposite half spaces.
    turns = [Q.from_axis_angle([1.0, 0.0, 0.0], np.radians(a)) for a in (170.0, -170.0)]
    vertices = skin(ring(), weighted([0.5, 0.5, 0.0, 0.0], RING), turning(*turns), DQS).positions
    expected = Q.rotate(Q.from_axis_angle([1.0, 0.0, 0.0], np.pi), ring().positions.astype(float))
    np.testing.assert_allclose(vertices, expected, atol=1e-6)
    collapsed = turning(Q.IDENTITY, Q.from_axis_angle([1.0, 0.0, 0.0], np.pi))
    assert np.isfinite(skin(ring(), weighted([0.5, 0.5, 0.0, 0.0], RING), collapsed, LBS).normals).all()
    still = skin(ring(), None, np.zeros((0, 4, 4)), LBS)
    np.testing.assert_array_equal(still.positions, ring().positions)


@pytest.mark.parametrize("method", [LBS, DQS_SCALE])
def test_one_influence_with_uneven_scale_is_the_whole_affine_map(method):
    mesh = cloud(40, 10)
    palette = compose(np.array([1.0, 2.0, 3.0]), Q.from_euler_degrees((20, 30, 40)), np.array([2.0, 0.5, 1.5]))[None]
    centre = np.array([[5.0, -3.0, 1.0]])
    vertices = skin(mesh, weighted([1.0], 40), palette, method, centre)
    linear = palette[0, :3, :3]
    np.testing.assert_allclose(vertices.positions, mesh.positions @ linear.T + palette[0, :3, 3], atol=1e-5)
    normals = mesh.normals @ np.linalg.inv(linear)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    np.testing.assert_allclose(vertices.normals, normals, atol=1e-6)
    tangents = mesh.tangents[:, :3] @ linear.T
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    np.testing.assert_allclose(vertices.tangents[:, :3], tangents, atol=1e-6)


def test_pure_scales_about_their_joints_blend_like_matrices():
    mesh, influence = cloud(50, 11), random_skin(50, 5, 4, 12)
    random = np.random.default_rng(13)
    centres, factors = random.normal(size=(5, 3)) * 4.0, random.uniform(0.5, 2.0, size=5)
    palette = np.tile(np.eye(4), (5, 1, 1))
    palette[:, :3, :3] *= factors[:, None, None]
    palette[:, :3, 3] = centres * (1.0 - factors[:, None])
    for given in (centres, None):
        linear, scaled = (skin(mesh, influence, palette, method, given).positions for method in (LBS, DQS_SCALE))
        np.testing.assert_allclose(scaled, linear, atol=1e-5)


CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
CUBE_TRIANGLES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
     [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


def test_volume_of_a_cube_wherever_it_lies():
    assert enclosed_volume(CUBE, CUBE_TRIANGLES) == pytest.approx(1.0)
    assert enclosed_volume(CUBE * [2.0, 3.0, 4.0] + 1e4, CUBE_TRIANGLES) == pytest.approx(24.0)
    assert enclosed_volume(CUBE, CUBE_TRIANGLES[:, ::-1]) == pytest.approx(-1.0)
    assert enclosed_volume(CUBE, CUBE_TRIANGLES[:0]) == 0.0


def test_difference_of_two_deformations():
    first = np.zeros((4, 3))
    second = np.array([[0.0, 0, 0], [3.0, 4.0, 0], [0, 1.0, 0], [0, 0, 2.0]])
    found = method_difference(first, second)
    assert (found.maximum, found.mean, found.vertex) == (5.0, 2.0, 1)
    assert method_difference(np.zeros((0, 3)), np.zeros((0, 3))).maximum == 0.0


def random_palette(count: int, spread: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Palette (count, 4, 4) with scales 1 - spread to 1 + spread and shear by the order of factors, and centres."""
    random = np.random.default_rng(seed)
    turns = Q.normalised(random.normal(size=(2, count, 4)))
    scales = random.uniform(1.0 - spread, 1.0 + spread, size=(count, 3))
    first = compose(random.normal(size=(count, 3)) * 9.0, turns[0], scales)
    return first @ compose(np.zeros((count, 3)), turns[1], np.ones((count, 3))), random.normal(size=(count, 3)) * 9.0


def homogeneous(points: np.ndarray) -> np.ndarray:
    return np.concatenate([points, np.ones((len(points), 1))], axis=1)[..., None]


@pytest.mark.parametrize("with_centres", [False, True])
def test_motion_after_scale_is_the_palette(with_centres):
    palette, centres = random_palette(12, 0.5)
    motions, scales = rigid_and_scale(palette, centres if with_centres else None)
    if with_centres:
        np.testing.assert_allclose((scales @ homogeneous(centres))[..., 0], centres, atol=1e-12)
        expected = (palette @ homogeneous(centres))[:, :3, 0]
        np.testing.assert_allclose(DQ.transform_points(motions, centres), expected, atol=1e-11)
    rows = lbs_rows(palette)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, palette[:, :3].astype(np.float32))
    full = np.tile(np.eye(4), (12, 1, 1))
    full[:, :3] = scales
    np.testing.assert_allclose(DQ.to_matrix(motions) @ full, palette, atol=1e-11)


def test_rigid_palettes_have_no_scale_and_one_sign():
    palette, centres = random_palette(12, 0.0)
    np.testing.assert_array_equal(rigid_and_scale(palette, centres)[1], np.tile(np.eye(3, 4), (12, 1, 1)))
    packed = dual_quaternions(palette)
    assert packed.dtype == np.float32
    assert packed.shape == (12, 2, 4)
    assert (packed[:, 0, 3] >= 0.0).all()
    np.testing.assert_allclose(DQ.to_matrix(packed.astype(float)), palette, atol=2e-5)
