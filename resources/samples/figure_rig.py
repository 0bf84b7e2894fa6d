"""Where the joints of the sample figure are: the landmarks that shape, weights and motion share.

Metres, y up, facing +z, the figure's left is +x.  Arms hang at 45° in the bind pose, fingers slightly bent.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]

SHOULDER = np.array([0.178, 1.408, -0.012])
"""Left shoulder joint, origin of the arm's own frame."""

ARM_DROP = np.radians(45.0)
"""Angle of the bind pose's arms below the horizontal."""

_C, _S = float(np.cos(ARM_DROP)), float(np.sin(ARM_DROP))
MODEL_FROM_ARM = np.array([[_C, _S, 0.0], [-_S, _C, 0.0], [0.0, 0.0, 1.0]])
"""Rotation of the arm's frame: x along the arm, y towards the back of the hand, z towards the thumb."""

ELBOW, WRIST = 0.272, 0.518
"""Distances of the elbow and the wrist from the shoulder joint along the arm."""


def arm_from_model(points: Float64) -> Float64:
    """Points (N, 3) of the model in the frame of the left arm."""
    offset = points - SHOULDER
    return np.stack([(offset * MODEL_FROM_ARM[:, i]).sum(axis=1) for i in range(3)], axis=1)


def model_from_arm(points: Float64) -> Float64:
    """Points (N, 3) of the left arm's frame in the model."""
    placed: Float64 = np.stack([(points * row).sum(axis=1) for row in MODEL_FROM_ARM], axis=1) + SHOULDER
    return placed


@dataclass(frozen=True, slots=True)
class Finger:
    """Knuckle, two joints and the tip, shape (4, 3), in the arm's frame, with the radius at each."""

    points: Float64
    radii: tuple[float, ...]


def _finger(
    knuckle: tuple[float, float, float], lengths: tuple[float, float, float], splay: float, bend: float, radius: float
) -> Finger:
    """Finger that starts at `knuckle`, fans out by `splay` and bends by `bend` at each joint [degrees]."""
    points = [np.array(knuckle)]
    for number, length in enumerate(lengths):
        drop, turn = np.radians(bend * (number + 0.6)), np.radians(splay)
        direction = np.array([np.cos(drop) * np.cos(turn), -np.sin(drop), np.cos(drop) * np.sin(turn)])
        points.append(points[-1] + length * direction)
    return Finger(np.array(points), (radius, radius * 0.96, radius * 0.90, radius * 0.78))


HAND = {
    "thumb": Finger(
        np.array([[0.540, -0.008, 0.022], [0.574, -0.015, 0.050], [0.604, -0.019, 0.066], [0.628, -0.021, 0.074]]),
        (0.0150, 0.0118, 0.0103, 0.0082),
    ),
    "index": _finger((0.606, -0.003, 0.0315), (0.040, 0.025, 0.017), 5.0, 9.0, 0.0094),
    "middle": _finger((0.611, -0.002, 0.0105), (0.044, 0.028, 0.018), 1.0, 10.0, 0.0097),
    "ring": _finger((0.606, -0.003, -0.0105), (0.041, 0.026, 0.017), -4.0, 11.0, 0.0093),
    "pinky": _finger((0.595, -0.005, -0.0300), (0.032, 0.020, 0.015), -10.0, 12.0, 0.0082),
}
"""Fingers of the left hand in the arm's frame."""
