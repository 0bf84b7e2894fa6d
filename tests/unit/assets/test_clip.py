"""Clips of equally spaced keys."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.clip import CurveClip, UniformClip
from sinew.sim.assets.content import content_sum
from sinew.sim.assets.model import Interpolation
from sinew.sim.assets.raw import RawChannel
from sinew.sim.maths import quaternion as Q

STEP = 0.02
FRAMES, JOINTS = 7, 5
LINEAR, NEAREST = Interpolation.LINEAR, Interpolation.NEAREST


def random_keys(frames: int = FRAMES, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    turns = Q.normalised(random.normal(size=(frames, JOINTS, 4)))
    return random.normal(size=(frames, JOINTS, 3)), turns, random.uniform(0.5, 2.0, (frames, JOINTS, 3))


POSITIONS, TURNS, SCALES = random_keys()
CLIP = UniformClip("walk", STEP, POSITIONS, TURNS, SCALES)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((STEP, POSITIONS[:0], TURNS[:0], SCALES[:0]), "no keys"),
        ((STEP, POSITIONS[:, :0], TURNS[:, :0], SCALES[:, :0]), "no keys"),
        ((STEP, POSITIONS, TURNS[:3], SCALES), "orientations have shape"),
        ((STEP, POSITIONS, TURNS, SCALES[..., :2]), "scales have shape"),
        ((0.0, POSITIONS, TURNS, SCALES), "frame step 0.0 s is not positive"),
        ((float("nan"), POSITIONS, TURNS, SCALES), "not positive"),
        ((STEP, np.where(POSITIONS[2, 3, 1] == POSITIONS, np.inf, POSITIONS), TURNS, SCALES), "key 2, joint 3"),
    ],
)
def test_what_makes_no_clip_is_refused_in_one_line(arguments, text):
    with pytest.raises(ValueError, match=text):
        UniformClip("walk", *arguments)


def test_duration_and_key_times():
    assert CLIP.duration == pytest.approx((FRAMES - 1) * STEP)
    np.testing.assert_allclose(CLIP.key_times, np.arange(FRAMES) * STEP)


@pytest.mark.parametrize("interpolation", Interpolation)
@pytest.mark.parametrize("frame", range(FRAMES))
def test_a_key_is_met_at_its_time(frame, interpolation):
    pose = CLIP.sample(frame * STEP, interpolation)
    np.testing.assert_allclose(pose.positions, POSITIONS[frame], atol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(pose.orientations * TURNS[frame], axis=1)), 1.0, atol=1e-12)
    np.testing.assert_allclose(pose.scales, SCALES[frame], atol=1e-12)


@given(st.integers(0, FRAMES - 2), st.integers(1, 99).map(lambda value: value / 100.0))
def test_between_keys_lines_and_shortest_arcs(frame, share):
    pose = CLIP.sample((frame + share) * STEP, LINEAR)
    expected = POSITIONS[frame] + share * (POSITIONS[frame + 1] - POSITIONS[frame])
    np.testing.assert_allclose(pose.positions, expected, atol=1e-12)
    turns = Q.slerp(TURNS[frame], TURNS[frame + 1], share)
    np.testing.assert_allclose(np.abs(np.sum(pose.orientations * turns, axis=1)), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(pose.orientations, axis=1), 1.0, atol=1e-12)


@given(st.integers(0, FRAMES - 2), st.integers(1, 99).filter(lambda value: value != 50))
def test_nearest_key(frame, percent):
    pose = CLIP.sample((frame + percent / 100.0) * STEP, NEAREST)
    np.testing.assert_array_equal(pose.positions, POSITIONS[frame + (percent > 50)])


@pytest.mark.parametrize("interpolation", Interpolation)
@pytest.mark.parametrize(("time", "frame"), [(-5.0, 0), (1e9, -1), (-np.inf, 0), (np.inf, -1)])
def test_time_is_clamped(time, frame, interpolation):
    np.testing.assert_array_equal(CLIP.sample(time, interpolation).positions, POSITIONS[frame])


@pytest.mark.parametrize("interpolation", Interpolation)
def test_a_single_key_is_a_pose_without_duration(interpolation):
    clip = UniformClip("pose", 0.0, *(keys[:1] for keys in random_keys()))
    assert clip.duration == 0.0
    np.testing.assert_array_equal(clip.key_times, [0.0])
    for time in (-1.0, 0.0, 3.0):
        np.testing.assert_array_equal(clip.sample(time, interpolation).positions, POSITIONS[0])


def test_neighbouring_keys_lie_on_one_side_whatever_signs_the_file_has():
    signs = np.random.default_rng(5).choice([-1.0, 1.0], size=(FRAMES, JOINTS, 1))
    flipped = UniformClip("walk", STEP, POSITIONS, TURNS * signs, SCALES)
    for frame in range(FRAMES - 1):
        dots = np.sum(flipped.key(frame).orientations * flipped.key(frame + 1).orientations, axis=1)
        assert (dots >= 0.0).all()
    for time in np.linspace(0.0, CLIP.duration, 23):
        dots = np.sum(flipped.sample(time, LINEAR).orientations * CLIP.sample(time, LINEAR).orientations, axis=1)
        np.testing.assert_allclose(np.abs(dots), 1.0, atol=1e-12)


def test_zero_and_long_quaternions_are_normalised():
    turns = TURNS.copy()
    turns[2, 1] = 0.0
    turns[3] *= 1.01
    clip = UniformClip("walk", STEP, POSITIONS, turns, SCALES)
    np.testing.assert_allclose(np.abs(clip.key(2).orientations[1]), Q.IDENTITY)
    np.testing.assert_allclose(np.linalg.norm(clip.key(3).orientations, axis=1), 1.0, atol=1e-14)


def test_equal_keys_interpolate_to_themselves():
    still = UniformClip("still", STEP, *(np.repeat(keys[:1], 3, axis=0) for keys in random_keys()))
    np.testing.assert_allclose(still.sample(0.7 * STEP, LINEAR).orientations, TURNS[0], atol=1e-14)


def test_a_pose_cannot_change_the_clip():
    with pytest.raises(ValueError, match="read-only"):
        CLIP.sample(0.0, LINEAR).positions[0, 0] = 1.0


def test_key_index_is_checked():
    with pytest.raises(IndexError, match="keys 0 to 6, not 7"):
        CLIP.key(FRAMES)


def test_checksums_of_curves_are_those_of_existing_bakes():
    skeleton = build_skeleton(["a"], [-1], np.zeros((1, 3)), np.array([[0.0, 0.0, 0.0, 1.0]]), np.ones((1, 3)))
    times = np.array([0.0, 1.0])
    turns, moves = np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    channels = [RawChannel(0, "rotation", "LINEAR", times, turns), RawChannel(0, "translation", "STEP", times, moves)]
    known = "b331a98c18264228c5012478e910393d61831b3984e661e72fc9e0c989572ea0"
    assert content_sum(CurveClip("c", channels, skeleton)) == known
