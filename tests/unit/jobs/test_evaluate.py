"""Evaluating a pose: bind pose, agreement of its parts, and taking root motion away."""

import gc
import weakref
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sinew.sim.animation.evaluate import bind_pose, evaluate_pose, root_motion
from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.clip import UniformClip
from sinew.sim.assets.model import CharacterModel, Interpolation
from sinew.sim.bench.pose import synthetic_character
from sinew.sim.maths import quaternion as Q
from sinew.sim.maths.hierarchy import model_from_local
from sinew.sim.maths.transform import compose

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


def test_without_a_skeleton_a_pose_has_no_joints():
    model = replace(synthetic_character(3), skeleton=None)
    assert evaluate_pose(model, None, 0.0).palette.shape == (0, 4, 4)


def test_a_clip_of_another_skeleton_is_refused():
    model, other = synthetic_character(5), synthetic_character(6)
    with pytest.raises(ValueError, match="has 6 joints, not 5"):
        evaluate_pose(model, other.clips[0], 0.0)


def test_no_clip_is_the_bind_pose_with_an_identity_palette():
    model = synthetic_character(40)
    pose = evaluate_pose(model, None, 3.0)
    np.testing.assert_allclose(pose.palette, np.tile(np.eye(4), (40, 1, 1)), atol=1e-9)
    np.testing.assert_array_equal(pose.model_from_joint, model.skeleton.model_from_bind)
    np.testing.assert_array_equal(pose.centres, model.skeleton.model_from_bind[:, :3, 3])


@pytest.mark.parametrize("interpolation", Interpolation)
def test_local_model_and_palette_agree(interpolation):
    model = synthetic_character(40)
    pose = evaluate_pose(model, model.clips[0], 0.333, interpolation=interpolation)
    local = compose(pose.local.positions, pose.local.orientations, pose.local.scales)
    expected = model_from_local(local, model.skeleton.hierarchy)
    np.testing.assert_allclose(pose.model_from_joint, expected, atol=1e-12)
    np.testing.assert_allclose(pose.palette @ model.skeleton.model_from_bind, pose.model_from_joint, atol=1e-9)


def test_the_pose_is_a_function_of_time_alone():
    model = synthetic_character(20)
    times = (0.9, 0.1, 0.5, 0.1)
    palettes = [evaluate_pose(model, model.clips[0], time).palette for time in times]
    np.testing.assert_array_equal(palettes[1], palettes[3])


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
    pose = evaluate_pose(model, clip, 0.55, lock_root=True)
    local = compose(pose.local.positions, pose.local.orientations, pose.local.scales)
    np.testing.assert_allclose(model_from_local(local, model.skeleton.hierarchy), pose.model_from_joint, atol=1e-12)
    expected = pose.model_from_joint @ model.skeleton.bind_from_model
    np.testing.assert_allclose(pose.palette, expected, atol=1e-12)


def test_a_travelling_root_is_found_through_a_turned_parent():
    # In the parent's frame the hips move along z, which its turn makes the x axis of the model.
    model, clip = walker(line((0.0, 0.0, 0.5)), frame_turn=Q.from_axis_angle([0.0, 1.0, 0.0], np.pi / 2))
    motion = root_motion(model.skeleton, clip, "y")
    assert motion is not None
    assert motion.joint == NAMES.index("hips")
    assert motion.travellers.tolist() == [1]
    assert motion.carried.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("travel", "joint"),
    [
        (line((0.0, 0.5, 0.0)), 1),  # a jump
        (0.05 * np.sin(line((1.0, 0.0, 0.0))), 1),  # sway of a walk in place
        (line((0.5, 0.0, 0.0)), 4),  # a hand that reaches out
        (line((0.5, 0.0, 0.0)), 5),  # a prop that slides by
    ],
)
def test_clips_that_stay_in_place_are_left_alone(travel, joint):
    model, clip = walker(travel, joint)
    assert root_motion(model.skeleton, clip, "y") is None
    for time, lock in product((0.0, 0.45), (False, True)):
        pose = evaluate_pose(model, clip, time, lock_root=lock)
        np.testing.assert_array_equal(pose.palette, evaluate_pose(model, clip, time).palette)


def test_of_two_that_travel_the_one_that_carries_the_body_is_followed():
    model, clip = walker(line((0.5, 0.0, 0.0)))
    positions = np.stack([clip.key(frame).positions for frame in range(FRAMES)])
    turns = np.stack([clip.key(frame).orientations for frame in range(FRAMES)])
    positions[:, 5] += line((0.0, 0.0, 3.0))
    both = UniformClip("both", STEP, positions, turns, np.ones((FRAMES, 6, 3)))
    motion = root_motion(model.skeleton, both, "y")
    assert motion is not None
    assert motion.joint == 1
    assert motion.travellers.tolist() == [1, 5]


def test_the_remembered_answer_does_not_keep_a_clip_alive():
    model, clip = walker(line((0.5, 0.0, 0.0)))
    assert root_motion(model.skeleton, clip, "y") is root_motion(model.skeleton, clip, "Y")
    gone = weakref.ref(clip)
    del model, clip
    gc.collect()
    assert gone() is None


def test_bind_pose_of_the_walker_stands_where_its_joints_rest():
    model, _ = walker(line((0.0, 0.0, 0.0)))
    pose = bind_pose(model)
    np.testing.assert_allclose(pose.model_from_joint[3, :3, 3], [0.0, 2.0, 0.0])
