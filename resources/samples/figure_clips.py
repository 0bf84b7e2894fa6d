"""Clips of the sample character on the spot: standing at ease, turning around and waving."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.resources.samples.figure_skeleton import ANKLE, Joint
from sinew.resources.samples.limbs import Foot, arm_axes, planted, pose_arm, pose_fingers, pose_leg, side_of
from sinew.resources.samples.motion import Curve, Motion, blended, chain, eased, frame_times, turn
from sinew.sim.assets.raw import RawClip
from sinew.sim.maths import quaternion

Float64 = npt.NDArray[np.float64]
STANCE_DROP = -0.005  # [m]; the hips sink, so that the knees are not locked
RELAXED = chain(turn((0, 1, 0), -3.0), turn((1, 0, 0), -2.0), turn((0, 0, 1), -37.0))
"""turn of a left upper arm that hangs down"""
ELBOW, ROLL, WRIST, CURL = 17.0, -12.0, 6.0, 17.0  # angles of a hanging arm [degrees]
_LIFT = 0.055  # height of a stepping foot [m]


def bend(forwards: npt.ArrayLike, left: npt.ArrayLike, side: npt.ArrayLike) -> Float64:
    """Angles [degrees]: lean to the front, turn to the left, then raise the left side."""
    return chain(turn((0, 1, 0), left), turn((0, 0, 1), side), turn((1, 0, 0), forwards))


def breathe(motion: Motion, phase: Float64) -> None:
    """Adds to the present turns of chest and shoulders; `phase` [cycles], (F,)."""
    breath = 0.5 - 0.5 * np.cos(2.0 * np.pi * phase)
    motion.set_turn("spine_3", chain(motion.turns("spine_3"), turn((1, 0, 0), -0.9 * breath)))
    motion.set_turn("chest", chain(motion.turns("chest"), turn((1, 0, 0), -0.9 * breath)))
    motion.set_turn("neck", chain(motion.turns("neck"), turn((1, 0, 0), 1.5 * breath)))
    for end, sign in (("_l", 1.0), ("_r", -1.0)):
        lift = turn((0, 0, 1), sign * 1.8 * breath)
        motion.set_turn("clavicle" + end, chain(motion.turns("clavicle" + end), lift))


def hang_arm(motion: Motion, end: str, swing: Float64, away: Float64) -> None:
    """`swing` to the front and `away` from the body [degrees], (F,)."""
    upper = chain(turn((1, 0, 0), -swing), turn((0, 0, 1), away), np.broadcast_to(RELAXED, (len(swing), 4)))
    still = np.zeros_like(swing)
    pose_arm(motion, end, upper, ELBOW + 0.5 * np.abs(swing), ROLL + still, WRIST + still)
    pose_fingers(motion, end, CURL + still, -1.0 + still)


@dataclass(frozen=True, slots=True)
class Step:
    """Lifted at `start`, down at `end` [s], then facing `yaw` [degrees] about the axis of the character."""

    start: float
    end: float
    yaw: float


def stepping_foot(end: str, time: Float64, steps: Sequence[Step], rest_yaw: float) -> Foot:
    """Foot that steps around the vertical axis of the character.

    Args:
        end: "_l" or "_r".
        time: Of the frames [s], (F,).
        steps: In order, not overlapping.
        rest_yaw: How far the foot itself turns outwards, to the left [degrees].
    """
    yaw, lift, heel = np.zeros_like(time), np.zeros_like(time), np.zeros_like(time)
    before = 0.0
    for step in steps:
        air = np.clip((time - step.start) / (step.end - step.start), 0.0, 1.0)
        yaw += (step.yaw - before) * eased(time, step.start + 0.05, step.end)
        lift += _LIFT * np.sin(np.pi * air) ** 2
        heel += _heel(time, step)
        before = step.yaw
    about = quaternion.from_axis_angle((0.0, 1.0, 0.0), np.radians(yaw))
    flat = side_of(ANKLE, end) * np.array([1.0, 0.0, 0.0])
    place = quaternion.rotate(about, flat) - flat
    place[:, 1] += lift
    foot = planted(end, place, yaw + rest_yaw, heel, np.zeros_like(time))
    behind = np.array([0.0, 0.0, side_of(ANKLE, end)[2]])
    return Foot(foot.ankle + quaternion.rotate(about, behind) - behind, foot.turns, foot.toes)


def _heel(time: Float64, step: Step) -> Float64:
    """Heel that rises before the foot leaves the floor and is level again when it lands."""
    rise = eased(time, step.start - 0.12, step.start + 0.06)
    fall = eased(time, step.start + 0.06, step.end)
    peel: Float64 = 24.0 * rise * (1.0 - fall)
    return peel


def leaning(time: Float64, steps: Sequence[tuple[str, Step]]) -> Float64:
    """Weight from -1 on the right foot to 1 on the left one, (F,): off each foot while it steps."""
    share = np.zeros_like(time)
    for end, step in steps:
        towards = -1.0 if end == "_l" else 1.0
        onto = eased(time, step.start - 0.18, step.start + 0.10)
        share += towards * onto * (1.0 - eased(time, step.end - 0.10, step.end + 0.18))
    return np.tanh(share)


FRAME_STEP = 1.0 / 30.0
HALF_FRAMES = 75  # of half a turn with its pause

_STEP_TIME, _STEP_EVERY, _FIRST = 0.30, 0.30, 0.34
_ANGLES = (("_l", 58.0), ("_r", 66.0), ("_l", 124.0), ("_r", 132.0), ("_l", 180.0), ("_r", 180.0))


def build_turn(joints: Sequence[Joint]) -> RawClip:
    """The last pose is the first one again."""
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


FRAMES = 103  # the last is the first again

_RAISE, _RAISED, _LOWER, _LOWERED = 0.25, 0.95, 2.15, 3.00
"""When the arm starts to rise, waves, starts to fall and hangs again [s]."""


def build_wave(joints: Sequence[Joint]) -> RawClip:
    time = frame_times(FRAMES, FRAME_STEP)
    motion = Motion(joints, FRAMES)
    up = eased(time, _RAISE, _RAISED) * (1.0 - eased(time, _LOWER, _LOWERED))
    shift = eased(time, 0.05, 0.80) * (1.0 - eased(time, 2.35, 3.30))
    _greeting_trunk(motion, time, up, shift)
    for end, yaw in (("_l", 8.0), ("_r", -8.0)):
        foot = stepping_foot(end, time, (), yaw)
        ahead = quaternion.rotate(foot.turns, np.array([0.0, 0.0, 1.0]))
        pose_leg(motion, end, foot, ahead)
    hang_arm(motion, "_l", 1.5 * shift, 1.0 - 1.0 * shift)
    _waving_arm(motion, time, up)
    breathe(motion, time / (0.5 * (FRAMES - 1) * FRAME_STEP))
    return motion.clip("wave", FRAME_STEP)


def _greeting_trunk(motion: Motion, time: Float64, up: Float64, shift: Float64) -> None:
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
    """Swing of the hand, -1 to 1: outwards and back, twice."""
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
    """Turn that points the left upper arm along `upper` and bends the elbow towards `fore`."""
    along = upper / np.linalg.norm(upper)
    hinge = np.cross(along, fore)
    hinge /= np.linalg.norm(hinge)
    posed = np.stack([along, hinge, np.cross(hinge, along)], axis=1)
    return quaternion.from_matrix(posed @ arm_axes("_l").T)
