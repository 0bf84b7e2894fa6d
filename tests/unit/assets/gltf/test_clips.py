"""Curves: every mode goes through its keys, holds at its ends, and is between them what the specification says."""

import numpy as np
import pytest

from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.clip import CurveClip
from sinew.sim.assets.model import Interpolation, Targets
from sinew.sim.assets.raw import RawChannel
from sinew.sim.maths import quaternion

WIDTHS = {"translation": 3, "rotation": 4, "scale": 3, "weights": 2}
MODES = ["STEP", "LINEAR", "CUBICSPLINE"]


def skeleton(count=4):
    return build_skeleton([f"j{i}" for i in range(count)], [-1] * count, np.zeros((count, 3)),
                          np.tile(quaternion.IDENTITY, (count, 1)), np.ones((count, 3)))  # fmt: skip


def targets(count):
    empty = np.zeros(0, np.int32)
    names = tuple(str(number) for number in range(count))
    return Targets(empty, empty, empty, empty, np.zeros((0, 2, 4), np.float32), names, np.full(count, 0.125))


def channel(joint, path, mode, times, source):
    shape = (len(times), 3, WIDTHS[path]) if mode == "CUBICSPLINE" else (len(times), WIDTHS[path])
    return RawChannel(joint, path, mode, np.asarray(times, float), source.normal(size=shape))


def property_of(pose, path, joint):
    values = {"translation": pose.positions, "rotation": pose.orientations, "scale": pose.scales}
    return pose.weights if path == "weights" else values[path][joint]


def keys_of(part):
    keys = part.values[:, 1] if part.mode == "CUBICSPLINE" else part.values
    return quaternion.normalised(keys) if part.path == "rotation" else keys


def same(path, actual, expected):
    sign = np.sign(actual @ expected) if path == "rotation" else 1.0
    np.testing.assert_allclose(actual * sign, expected, atol=1e-12)


def direct(part, time):
    """One channel on its own, straight from the specification."""
    times, values = part.times, part.values
    if time >= times[-1] or len(times) == 1:
        return keys_of(part)[-1]
    if time <= times[0]:
        return keys_of(part)[0]
    k = int(np.searchsorted(times, time, "right")) - 1
    span = times[k + 1] - times[k]
    u = (time - times[k]) / span
    if part.mode == "STEP":
        return keys_of(part)[k]
    if part.mode == "LINEAR" and part.path == "rotation":
        return quaternion.slerp(keys_of(part)[k], keys_of(part)[k + 1], u)
    if part.mode == "LINEAR":
        return (1 - u) * values[k] + u * values[k + 1]
    (_, v, b), (a, w, _) = values[k], values[k + 1]
    p = (2 * u**3 - 3 * u**2 + 1) * v + span * (u**3 - 2 * u**2 + u) * b
    p = p + (3 * u**2 - 2 * u**3) * w + span * (u**3 - u**2) * a
    return quaternion.normalised(p) if part.path == "rotation" else p


@pytest.mark.parametrize("path", WIDTHS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_clip_goes_through_its_keys_and_holds_at_its_ends(path, mode, count):
    part = channel(1, path, mode, [0.5, 0.75, 1.5, 1.625, 2.0][:count], np.random.default_rng(3))
    clip = CurveClip("c", [part], skeleton(), targets(2), {1: 0})
    for time, key in zip(part.times, keys_of(part), strict=True):
        same(path, property_of(clip.sample(float(time), Interpolation.LINEAR), path, 1), key)
    for time, key in ((0.0, keys_of(part)[0]), (9.0, keys_of(part)[-1])):
        same(path, property_of(clip.sample(time, Interpolation.LINEAR), path, 1), key)
    assert clip.duration == part.times[-1]


@pytest.mark.parametrize("seed", range(4))
def test_channels_together_are_what_each_is_alone(seed):
    source = np.random.default_rng(seed)
    parts = [
        channel(joint, path, MODES[source.integers(3)], np.sort(source.uniform(0, 3, source.integers(1, 7))), source)
        for joint in range(4)
        for path in ("translation", "rotation", "scale")
    ]
    parts.append(channel(2, "weights", MODES[seed % 3], np.sort(source.uniform(0, 3, 4)), source))
    clip = CurveClip("c", parts, skeleton(), targets(5), {2: 3})
    for time in source.uniform(-0.5, 3.5, 40):
        pose = clip.sample(float(time), Interpolation.LINEAR)
        for part in parts:
            actual = pose.weights[3:5] if part.path == "weights" else property_of(pose, part.path, part.joint)
            same(part.path, actual, direct(part, time))
        np.testing.assert_array_equal(pose.weights[:3], 0.125)


def test_what_is_not_driven_rests():
    part = channel(1, "scale", "LINEAR", [0, 1], np.random.default_rng(1))
    pose = CurveClip("c", [part], skeleton()).sample(0.5, Interpolation.LINEAR)
    np.testing.assert_array_equal(pose.positions, 0.0)
    np.testing.assert_array_equal(pose.scales[[0, 2, 3]], 1.0)
    np.testing.assert_array_equal(pose.orientations, np.tile(quaternion.IDENTITY, (4, 1)))
    assert len(pose.weights) == 0


def test_the_nearest_key_is_taken_where_nothing_is_between():
    part = channel(0, "translation", "CUBICSPLINE", [0, 1, 3], np.random.default_rng(1))
    clip = CurveClip("c", [part], skeleton())
    for time, key in ((0.4, 0), (0.6, 1), (1.9, 1), (2.1, 2), (3.0, 2)):
        pose = clip.sample(time, Interpolation.NEAREST)
        np.testing.assert_allclose(pose.positions[0], part.values[key, 1], atol=1e-12)


def test_rotations_turn_the_short_way_whatever_the_signs():
    keys = np.array([[0, 0, 0, 1], [0, 0, -0.6, -0.8], [0, 0, 0.8, 0.6], [0, 0, -1, 0]], float)
    clip = CurveClip("c", [RawChannel(0, "rotation", "LINEAR", np.arange(4.0), keys)], skeleton())
    angles = [
        2 * np.arctan2(*np.abs(clip.sample(float(t), Interpolation.LINEAR).orientations[0, 2:]))
        for t in np.linspace(0, 3, 50)
    ]
    assert (np.diff(angles) > 0).all()
    assert angles[-1] == pytest.approx(np.pi)


@pytest.mark.parametrize(
    ("times", "count", "step"),
    [
        ([0, 0.25, 0.5, 1.0], 5, 0.25),  # every key is a frame
        ([0.5, 1.0, 1.5], 4, 0.5),  # and so are times before the first
        ([0, 0.1, 1.0], 11, 0.1),
        ([0, 0.37, 1.0], 31, 1 / 30),  # nominal
        ([0.0], 1, 0.0),
    ],
)
def test_frames(times, count, step):
    part = channel(0, "scale", "LINEAR", times, np.random.default_rng(1))
    clip = CurveClip("c", [part], skeleton())
    assert len(clip.frame_times) == count
    assert clip.frame_times[-1] == clip.duration == times[-1]
    np.testing.assert_allclose(np.diff(clip.frame_times), step, rtol=1e-9)
    np.testing.assert_array_equal(clip.key_times, times)
