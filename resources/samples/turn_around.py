"""The sample figure turns about on the spot: half a turn to the left in six steps, a pause, and the other half."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from resources.samples.curves import Curve, eased, frame_times
from resources.samples.figure_skeleton import Joint
from resources.samples.limbs import pose_leg
from resources.samples.motion import Motion, turn
from resources.samples.stance import STANCE_DROP, Step, bend, breathe, hang_arm, leaning, stepping_foot
from sim.assets.raw import RawClip
from sim.maths import quaternion

Float64 = npt.NDArray[np.float64]

FRAME_STEP = 1.0 / 30.0
HALF_FRAMES = 75
"""Frames of half a turn with its pause."""

_STEP_TIME, _STEP_EVERY, _FIRST = 0.30, 0.30, 0.34
_ANGLES = (("_l", 58.0), ("_r", 66.0), ("_l", 124.0), ("_r", 132.0), ("_l", 180.0), ("_r", 180.0))


def build_turn(joints: Sequence[Joint]) -> RawClip:
    """The clip `turn`; its last pose is the first one again."""
    frames = 2 * HALF_FRAMES + 1
    time = frame_times(frames, FRAME_STEP)
    steps = _all_steps()
    motion = Motion(joints, frames)
    facing = _facing(time)
    weight = leaning(time, steps)
    _trunk(motion, time, facing, weight)
    for end in ("_l", "_r"):
        own = [step for side, step in steps if side == end]
        foot = stepping_foot(end, time, own, 6.0 if end == "_l" else -6.0)
        ahead = quaternion.rotate(foot.turns, np.array([0.0, 0.0, 1.0]))
        body = quaternion.rotate(turn((0, 1, 0), facing), np.array([0.0, 0.0, 1.0]))
        forward = ahead * np.array([1.0, 0.0, 1.0]) + 0.8 * body
        pose_leg(motion, end, foot, forward)
    breathe(motion, time / (HALF_FRAMES * FRAME_STEP))
    return motion.clip("turn", FRAME_STEP)


def _all_steps() -> list[tuple[str, Step]]:
    half = HALF_FRAMES * FRAME_STEP
    steps = []
    for turn_number in range(2):
        for number, (end, yaw) in enumerate(_ANGLES):
            start = turn_number * half + _FIRST + number * _STEP_EVERY
            steps.append((end, Step(start, start + _STEP_TIME, 180.0 * turn_number + yaw)))
    return steps


def _facing(time: Float64) -> Float64:
    """Direction of the hips [degrees]: between the feet, a little ahead of the last step."""
    half = HALF_FRAMES * FRAME_STEP
    keys = [(0.0, 0.0), (0.27, 0.0), (0.62, 40.0), (1.20, 105.0), (1.75, 160.0), (2.15, 180.0), (half, 180.0)]
    both = keys + [(half + t, 180.0 + yaw) for t, yaw in keys[1:]]
    return Curve(both)(time)


def _trunk(motion: Motion, time: Float64, facing: Float64, weight: Float64) -> None:
    """Hips over the standing foot; chest ahead of the hips, head ahead of the chest, arms behind."""
    soon, sooner = _facing(time + 0.10) - facing, _facing(time + 0.26) - facing
    late = facing - _facing(np.maximum(time - 0.12, 0.0))
    sway = np.stack([0.028 * weight, np.zeros_like(weight), np.zeros_like(weight)], axis=1)
    motion.travel = quaternion.rotate(turn((0, 1, 0), facing), sway)
    motion.travel[:, 1] = STANCE_DROP - 0.010 * np.abs(weight) - 0.004 * eased(np.abs(soon), 0.0, 12.0)
    tilt = 2.2 * weight
    motion.set_turn("hips", bend(1.0 + 0.0 * time, facing, tilt))
    for name in ("spine_1", "spine_2", "spine_3", "chest"):
        motion.set_turn(name, bend(0.3 + 0.0 * time, 0.27 * soon, -0.30 * tilt))
    ahead = np.clip(sooner - 1.1 * soon, -35.0, 35.0)
    motion.set_turn("neck", bend(-0.6 + 0.0 * time, 0.45 * ahead, 0.0 * time))
    motion.set_turn("head", bend(-0.6 + 0.10 * ahead, 0.65 * ahead, -0.06 * ahead))
    hang_arm(motion, "_l", -0.55 * late, 1.0 + 0.15 * np.abs(late))
    hang_arm(motion, "_r", 0.60 * late, 1.0 + 0.15 * np.abs(late))
