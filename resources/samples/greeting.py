"""The sample figure raises its right hand, waves twice and lowers it, breathing and shifting its weight."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from resources.samples.curves import Curve, blended, eased, frame_times
from resources.samples.figure_skeleton import Joint
from resources.samples.limbs import arm_axes, pose_arm, pose_fingers, pose_leg
from resources.samples.motion import Motion, chain, turn
from resources.samples.stance import (
    CURL,
    ELBOW,
    RELAXED,
    ROLL,
    STANCE_DROP,
    WRIST,
    bend,
    breathe,
    hang_arm,
    stepping_foot,
)
from sim.assets.raw import RawClip
from sim.maths import quaternion

Float64 = npt.NDArray[np.float64]

FRAME_STEP = 1.0 / 30.0
FRAMES = 103
"""Frames of the clip, the last of which is the first again."""

_RAISE, _RAISED, _LOWER, _LOWERED = 0.25, 0.95, 2.15, 3.00
"""When the arm starts to rise, waves, starts to fall and hangs again [s]."""


def build_wave(joints: Sequence[Joint]) -> RawClip:
    """The clip `wave`."""
    time = frame_times(FRAMES, FRAME_STEP)
    motion = Motion(joints, FRAMES)
    up = eased(time, _RAISE, _RAISED) * (1.0 - eased(time, _LOWER, _LOWERED))
    shift = eased(time, 0.05, 0.80) * (1.0 - eased(time, 2.35, 3.30))
    _trunk(motion, time, up, shift)
    for end, yaw in (("_l", 8.0), ("_r", -8.0)):
        foot = stepping_foot(end, time, (), yaw)
        ahead = quaternion.rotate(foot.turns, np.array([0.0, 0.0, 1.0]))
        pose_leg(motion, end, foot, ahead)
    hang_arm(motion, "_l", 1.5 * shift, 1.0 - 1.0 * shift)
    _waving_arm(motion, time, up)
    breathe(motion, time / (0.5 * (FRAMES - 1) * FRAME_STEP))
    return motion.clip("wave", FRAME_STEP)


def _trunk(motion: Motion, time: Float64, up: Float64, shift: Float64) -> None:
    """Weight on the left foot, the spine curved back over it, the head tilted towards the hand."""
    swing = _swing(time)
    motion.travel = np.stack([0.030 * shift, STANCE_DROP - 0.006 * shift, 0.004 * shift], axis=1)
    motion.set_turn("hips", bend(1.0 + 0.0 * time, 3.0 * shift, 3.0 * shift))
    for name in ("spine_1", "spine_2", "spine_3", "chest"):
        motion.set_turn(name, bend(0.3 + 0.0 * time, -0.4 * up, -1.3 * shift - 0.6 * up + 0.15 * swing))
    motion.set_turn("neck", bend(-0.6 - 1.0 * up, -1.5 * up, 2.5 * up))
    motion.set_turn("head", bend(-0.6 - 1.5 * up, -2.0 * up, 4.5 * up))
    still = 0.0 * time
    motion.set_turn("clavicle_r", bend(still, 5.0 * up, -13.0 * up))
    motion.set_turn("clavicle_l", bend(still, still, 1.5 * shift))


def _swing(time: Float64) -> Float64:
    """The hand's swing, -1 to 1: outwards and back, twice."""
    keys = [(0.70, 0.0), (0.98, 1.0), (1.26, -1.0), (1.54, 1.0), (1.82, -1.0), (2.08, 0.4), (2.40, 0.0)]
    return Curve(keys)(time)


def _waving_arm(motion: Motion, time: Float64, up: Float64) -> None:
    """Right arm, written for the left one: the elbow out and low, the palm to the front, the hand drawn after."""
    swing, after = _swing(time), _swing(time - 0.07)
    raised = _aimed(np.array([0.80, -0.52, 0.30]), np.array([0.26, 0.92, 0.28]))
    upper = blended(RELAXED, raised, up)
    side = chain(turn((0, 0, 1), -7.0 * swing * up), upper)
    elbow = ELBOW + (116.0 - ELBOW) * eased(up, 0.05, 1.0) - 15.0 * swing * up
    roll = ROLL * (1.0 - up) + 4.0 * up
    pose_arm(motion, "_r", side, elbow, roll, WRIST * (1.0 - up) - 6.0 * up)
    hand = motion.turns("hand_r")
    _, hinge, _ = arm_axes("_r").T
    motion.set_turn("hand_r", chain(hand, turn(hinge, 13.0 * after * up)))
    open_hand = CURL * (1.0 - up) - 3.0 * up
    pose_fingers(motion, "_r", open_hand, -1.0 + 3.6 * up)


def _aimed(upper: Float64, fore: Float64) -> Float64:
    """Turn that points the left upper arm along `upper` and lets the elbow bend towards `fore`."""
    along = upper / np.linalg.norm(upper)
    hinge = np.cross(along, fore)
    hinge /= np.linalg.norm(hinge)
    posed = np.stack([along, hinge, np.cross(hinge, along)], axis=1)
    return quaternion.from_matrix(posed @ arm_axes("_l").T)
