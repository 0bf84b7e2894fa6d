"""Standing at ease: the pose from which the figure's other motions start and to which they return."""

import numpy as np
import numpy.typing as npt

from resources.samples.limbs import pose_arm, pose_fingers
from resources.samples.motion import Motion, chain, turn

Float64 = npt.NDArray[np.float64]

STANCE_DROP = -0.005
"""How far the hips sink, so that the knees are not locked [m]."""

RELAXED = chain(turn((0, 1, 0), -3.0), turn((1, 0, 0), -2.0), turn((0, 0, 1), -37.0))
"""Turn of a left upper arm that hangs down."""

ELBOW, ROLL, WRIST, CURL = 17.0, -12.0, 6.0, 17.0
"""Angles of a hanging arm [degrees]."""


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
