"""Cost of poses: in Python they take the largest share of a frame's time on the processor."""

import itertools
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from sinew.sim.animation.evaluate import evaluate_pose, evaluate_poses
from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.clip import CurveClip, UniformClip
from sinew.sim.assets.model import Bounds, CharacterModel, Interpolation, Mesh
from sinew.sim.assets.raw import RawChannel
from sinew.sim.bench.runner import Case, Row, measure
from sinew.sim.maths import quaternion

CHANNELS = (57, 300)

_DEPTH = 15
"""Levels of the hierarchy, as in typical human skeletons."""

_FRAMES = 61
_STEPS = 192
_TOGETHER = 16


def pose_rows(joint_count: int, repeat: int) -> list[Row]:
    """Measures poses; each step samples another time, the last row samples 16 times in one call."""
    model = synthetic_character(joint_count)
    clip = model.clips[0]
    times = np.linspace(0.0, clip.duration, _STEPS).tolist()
    batches = itertools.cycle([times[first : first + _TOGETHER] for first in range(0, _STEPS, _TOGETHER)])
    cases = [_sample_case(model, interpolation) for interpolation in (Interpolation.LINEAR, Interpolation.NEAREST)]
    many = f"linear, {_TOGETHER} at once"
    cases.append(_case(many, joint_count, "joints", lambda: evaluate_poses(model, clip, next(batches)), _TOGETHER))
    return measure(cases, repeat=repeat)


def _sample_case(model: CharacterModel, interpolation: Interpolation) -> Case:
    assert model.skeleton is not None
    (clip,) = model.clips
    times = _cycle(clip.duration)

    def evaluate() -> None:
        evaluate_pose(model, clip, next(times), interpolation=interpolation)

    return _case(interpolation.value, model.skeleton.joint_count, "joints", evaluate)


def curve_rows(repeat: int) -> list[Row]:
    return [row for count in CHANNELS for row in measure(curve_cases(count), repeat=repeat)]


def curve_cases(channel_count: int) -> list[Case]:
    """Returns cases of curves that share key times, and with key times of their own; three channels per joint."""
    random = np.random.default_rng(1)
    skeleton = synthetic_character(channel_count // 3).skeleton
    assert skeleton is not None
    cases = []
    for variant, spread in (("curves of the same times", 0.0), ("curves of times of their own", 0.01)):
        channels = []
        for joint in range(channel_count // 3):
            for path, width in (("translation", 3), ("rotation", 4), ("scale", 3)):
                times = np.arange(_FRAMES, dtype=np.float64) * 0.02 + random.uniform(0.0, spread)
                channels.append(RawChannel(joint, path, "LINEAR", times, random.normal(size=(_FRAMES, width))))
        cases.append(_curve_case(CurveClip(variant, channels, skeleton), channel_count))
    return cases


def _curve_case(clip: CurveClip, channel_count: int) -> Case:
    times = _cycle(clip.duration)
    return _case(clip.name, channel_count, "channels", lambda: clip.sample(next(times), Interpolation.LINEAR))


def _case(variant: str, size: int, unit: str, step: Callable[[], object], together: int = 1) -> Case:
    return Case(
        system="pose", variant=variant, size=size, unit=unit, step=step, steps=_STEPS // together, substeps=together,
        clock=time.process_time,
    )  # fmt: skip


def _cycle(duration: float) -> "itertools.cycle[float]":
    return itertools.cycle(np.linspace(0.0, duration, _STEPS).tolist())


def synthetic_character(joint_count: int, seed: int = 1) -> CharacterModel:
    """Makes a tree of joints, 15 levels deep, with a random clip of 61 keys at 50 Hz; no geometry."""
    random = np.random.default_rng(seed)
    parents, above = [-1], np.array([0])
    for level in np.array_split(np.arange(1, joint_count), _DEPTH - 1):
        parents.extend(random.choice(above, size=len(level)).tolist())
        above = level if len(level) else above
    positions = random.normal(size=(joint_count, 3))
    orientations = quaternion.normalised(random.normal(size=(joint_count, 4)))
    scales = np.ones((joint_count, 3))
    turns = quaternion.normalised(random.normal(scale=0.1, size=(_FRAMES, joint_count, 4)) + quaternion.IDENTITY)
    clip = UniformClip(
        "clip",
        0.02,
        np.broadcast_to(positions, (_FRAMES, joint_count, 3)),
        quaternion.multiply(orientations, turns),
        np.broadcast_to(scales, (_FRAMES, joint_count, 3)),
    )
    names = [f"joint {index}" for index in range(joint_count)]
    no_points, no_triangles = np.zeros((0, 3), np.float32), np.zeros((0, 3), np.uint32)
    mesh = Mesh(
        no_points, no_points, None, np.zeros((0, 2), np.float32), None, no_triangles, (),
        Bounds(np.zeros(3), np.zeros(3)),
    )  # fmt: skip
    return CharacterModel(
        path=Path("synthetic"), format="synthetic", dialect=None, asset_name="", mesh=mesh,
        skeleton=build_skeleton(names, parents, positions, orientations, scales), skin=None, clips=(clip,),
        materials=(), default_up_axis="Y", default_texture_origin="top", warnings=(),
    )  # fmt: skip
