"""Standing at ease, the pose from which the figure's other motions start and to which they return; and feet that stand,
lift and step on the spot with the body following them, for motion that is no cycle."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resources.samples.curves import eased
from resources.samples.figure_skeleton import ANKLE
from resources.samples.limbs import Foot, planted, pose_arm, pose_fingers, side_of
from resources.samples.motion import Motion, chain, turn
from sim.maths import quaternion

Float64 = npt.NDArray[np.float64]
STANCE_DROP = -0.005
"""How far the hips sink, so that the knees are not locked [m]."""
RELAXED = chain(turn((0, 1, 0), -3.0), turn((1, 0, 0), -2.0), turn((0, 0, 1), -37.0))
"""Turn of a left upper arm that hangs down."""
ELBOW, ROLL, WRIST, CURL = 17.0, -12.0, 6.0, 17.0
"""Angles of a hanging arm [degrees]."""
_LIFT = 0.055
"""How high a stepping foot is carried [m]."""


def bend(forwards: npt.ArrayLike, left: npt.ArrayLike, side: npt.ArrayLike) -> Float64:
    """Turn by angles [degrees]: lean to the front, turn to the left, then raise the left side."""
    return chain(turn((0, 1, 0), left), turn((0, 0, 1), side), turn((1, 0, 0), forwards))


def breathe(motion: Motion, phase: Float64) -> None:
    """Chest and shoulders that rise with the breath; adds to the turns that are there. `phase` [cycles], (F,)."""
    breath = 0.5 - 0.5 * np.cos(2.0 * np.pi * phase)
    motion.set_turn("spine_3", chain(motion.turns("spine_3"), turn((1, 0, 0), -0.9 * breath)))
    motion.set_turn("chest", chain(motion.turns("chest"), turn((1, 0, 0), -0.9 * breath)))
    motion.set_turn("neck", chain(motion.turns("neck"), turn((1, 0, 0), 1.5 * breath)))
    for end, sign in (("_l", 1.0), ("_r", -1.0)):
        lift = turn((0, 0, 1), sign * 1.8 * breath)
        motion.set_turn("clavicle" + end, chain(motion.turns("clavicle" + end), lift))


def hang_arm(motion: Motion, end: str, swing: Float64, away: Float64) -> None:
    """Hanging arm, swung to the front and away from the body by angles [degrees], (F,)."""
    upper = chain(turn((1, 0, 0), -swing), turn((0, 0, 1), away), np.broadcast_to(RELAXED, (len(swing), 4)))
    still = np.zeros_like(swing)
    pose_arm(motion, end, upper, ELBOW + 0.5 * np.abs(swing), ROLL + still, WRIST + still)
    pose_fingers(motion, end, CURL + still, -1.0 + still)


@dataclass(frozen=True, slots=True)
class Step:
    """One step about the figure's axis: lifted at `start`, down at `end` [s], then facing `yaw` [degrees]."""

    start: float
    end: float
    yaw: float


def stepping_foot(end: str, time: Float64, steps: Sequence[Step], rest_yaw: float) -> Foot:
    """Foot that steps around the figure's vertical axis.

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
    """Where the weight is, from -1 on the right foot to 1 on the left one, (F,): off each foot while it steps."""
    share = np.zeros_like(time)
    for end, step in steps:
        towards = -1.0 if end == "_l" else 1.0
        onto = eased(time, step.start - 0.18, step.start + 0.10)
        share += towards * onto * (1.0 - eased(time, step.end - 0.10, step.end + 0.18))
    return np.tanh(share)
