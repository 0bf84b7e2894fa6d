"""Cost of evaluating a pose in Python, the largest share of a frame's time on the processor."""

import itertools
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sim.animation.evaluate import evaluate_pose, evaluate_poses
from sim.assets.build_skeleton import build_skeleton
from sim.assets.clip import CurveClip, UniformClip
from sim.assets.model import Bounds, CharacterModel, Interpolation, Mesh
from sim.assets.raw import RawChannel
from sim.bench.cloth import of_a_substep
from sim.bench.row import Case, Row, measure
from sim.maths import quaternion

SIZES = (60, 200)
CHANNELS = (57, 300)

_DEPTH = 15
"""Levels of the hierarchy, as in the human skeletons at hand."""

_FRAMES = 61
_STEPS = 192
_TOGETHER = 16
MANY = f"linear, {_TOGETHER} at once"


def pose_rows(repeat: int, sizes: Sequence[int] = SIZES) -> list[Row]:
    """Times of `evaluate_pose`, one row for each number of joints and way of reading the clip.

    With the usual sizes, those of sampling a clip of curves follow, for each number of channels.

    Raises:
        ValueError: If `repeat` is not positive.
    """
    posed = [row for size in sizes for row in measure(pose_cases(size), repeat=repeat)]
    posed = [of_a_substep(row, _TOGETHER) if row.variant == MANY else row for row in posed]
    channels = CHANNELS if sizes is SIZES else ()
    return posed + [row for count in channels for row in measure(curve_cases(count), repeat=repeat)]


def pose_cases(joint_count: int) -> list[Case]:
    """Ways of reading a clip, every step another moment of it, and all moments at once in one step."""
    model = synthetic_character(joint_count)
    cases = [
        _case(model, joint_count, interpolation) for interpolation in (Interpolation.LINEAR, Interpolation.NEAREST)
    ]
    clip = model.clips[0]
    moments = np.linspace(0.0, clip.duration, _STEPS).tolist()
    parts = itertools.cycle([moments[first : first + _TOGETHER] for first in range(0, _STEPS, _TOGETHER)])
    batch = Case(
        system="pose",
        variant=MANY,
        size=joint_count,
        unit="joints",
        step=lambda: evaluate_poses(model, clip, next(parts)),
        steps=_STEPS // _TOGETHER,
        clock=time.process_time,
    )
    return [*cases, batch]


def _case(model: CharacterModel, joint_count: int, interpolation: Interpolation) -> Case:
    clip = model.clips[0]
    moments = itertools.cycle(np.linspace(0.0, clip.duration, _STEPS).tolist())
    return Case(
        system="pose",
        variant=interpolation.value,
        size=joint_count,
        unit="joints",
        step=lambda: evaluate_pose(model, clip, next(moments), interpolation=interpolation),
        steps=_STEPS,
        clock=time.process_time,
    )


def curve_cases(channel_count: int) -> list[Case]:
    """Sampling where all channels have the same times, and where each has its own; three channels a joint."""
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
    moments = itertools.cycle(np.linspace(0.0, clip.duration, _STEPS).tolist())
    return Case(
        system="pose",
        variant=clip.name,
        size=channel_count,
        unit="channels",
        step=lambda: clip.sample(next(moments), Interpolation.LINEAR),
        steps=_STEPS,
        clock=time.process_time,
    )


def synthetic_character(joint_count: int, seed: int = 1) -> CharacterModel:
    """A tree of joints, 15 levels deep, with a random clip of 61 keys at 50 Hz; no geometry."""
    random = np.random.default_rng(seed)
    parents = _tree(joint_count, random)
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
    skeleton = build_skeleton(names, parents, positions, orientations, scales)
    return CharacterModel(
        path=Path("synthetic"), format="synthetic", dialect=None, asset_name="", mesh=_no_geometry(),
        skeleton=skeleton, skin=None, clips=(clip,), materials=(), default_up_axis="Y",
        default_texture_origin="top", warnings=(),
    )  # fmt: skip


def _tree(joint_count: int, random: np.random.Generator) -> list[int]:
    parents, above = [-1], np.array([0])
    for level in np.array_split(np.arange(1, joint_count), _DEPTH - 1):
        parents.extend(random.choice(above, size=len(level)).tolist())
        above = level if len(level) else above
    return parents


def _no_geometry() -> Mesh:
    return Mesh(
        positions=np.zeros((0, 3), np.float32),
        normals=np.zeros((0, 3), np.float32),
        tangents=None,
        texcoords=np.zeros((0, 2), np.float32),
        colours=None,
        triangles=np.zeros((0, 3), np.uint32),
        sections=(),
        bounds=Bounds(np.zeros(3), np.zeros(3)),
    )
