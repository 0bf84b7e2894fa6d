"""Joints of the sample character with their place and orientation, and the bone segments that carry skin.

Every joint's y axis points along its bone.  Names end in `_l` and `_r` for left and right.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
SHOULDER = np.array([0.178, 1.408, -0.012])  # left shoulder joint, origin of the arm's own frame

ARM_DROP = np.radians(45.0)  # angle of the arms in the bind pose below the horizontal

_C, _S = float(np.cos(ARM_DROP)), float(np.sin(ARM_DROP))
MODEL_FROM_ARM = np.array([[_C, _S, 0.0], [-_S, _C, 0.0], [0.0, 0.0, 1.0]])
"""Rotation of the arm's frame: x along the arm, y towards the back of the hand, z towards the thumb."""

ELBOW, WRIST = 0.272, 0.518  # from the shoulder joint along the arm

HIP = np.array([0.090, 0.925, -0.004])
KNEE = np.array([0.097, 0.498, 0.008])
ANKLE = np.array([0.102, 0.092, -0.018])
BALL = np.array([0.104, 0.024, 0.105])
TOE = np.array([0.104, 0.020, 0.190])
"""Joints of the left leg."""


def arm_from_model(points: Float64) -> Float64:
    """Points (N, 3) of the model in the frame of the left arm."""
    offset = points - SHOULDER
    return np.stack([(offset * MODEL_FROM_ARM[:, i]).sum(axis=1) for i in range(3)], axis=1)


def model_from_arm(points: Float64) -> Float64:
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
"""Of the left hand, in the arm's frame."""


@dataclass(frozen=True, slots=True)
class Joint:
    # name, parent: Names; the root has no parent
    name: str
    parent: str | None
    position: Float64  # In the model [m], shape (3,)
    axes: Float64  # Columns are the joint's axes in the model, y along the bone, shape (3, 3)
    segments: Float64  # Lines that attract skin, shape (S, 2, 3); none for joints that carry no skin of their own
    reach: float  # Its skin blends into the neighbouring skin over this width [m]


@dataclass(slots=True)
class Draft:
    joints: list[Joint] = field(default_factory=list)

    def add(
        self,
        name: str,
        parent: str | None,
        start: Sequence[float] | Float64,
        end: Sequence[float] | Float64,
        reach: float,
        segments: Sequence[tuple[Sequence[float] | Float64, Sequence[float] | Float64]] | None = None,
    ) -> None:
        """Joint at `start` whose bone ends at `end`; without `segments` that line attracts the skin."""
        a, b = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
        lines = [(a, b)] if segments is None else segments
        array = np.array([[np.asarray(p), np.asarray(q)] for p, q in lines]).reshape(-1, 2, 3)
        self.joints.append(Joint(name, parent, a, _frame(b - a), array, reach))


def _frame(direction: Float64) -> Float64:
    """Axes with y along `direction` and z as far to the front as that allows."""
    y = direction / np.sqrt((direction**2).sum())
    hint = np.array([0.0, 0.0, 1.0]) if abs(y[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    x = np.cross(y, hint)
    x /= np.sqrt((x**2).sum())
    return np.stack([x, y, np.cross(x, y)], axis=1)


def build_skeleton() -> list[Joint]:
    draft = Draft()
    _trunk(draft)
    for side in (1.0, -1.0):
        _leg(draft, side)
        _arm(draft, side)
    return draft.joints


def _trunk(draft: Draft) -> None:
    pelvis = [((-0.085, 0.975, 0.0), (0.085, 0.975, 0.0)), ((0.0, 0.93, -0.01), (0.0, 1.0, 0.0))]
    ribs = [((-0.09, 1.315, -0.005), (0.09, 1.315, -0.005)), ((0.0, 1.29, -0.01), (0.0, 1.40, -0.015))]
    draft.add("root", None, (0, 0, 0), (0, 0.1, 0), 0.05, [])
    draft.add("hips", "root", (0, 0.965, -0.008), (0, 1.04, -0.010), 0.055, pelvis)
    draft.add("spine_1", "hips", (0, 1.040, -0.014), (0, 1.115, -0.014), 0.05, _wide(1.045, 1.105, 0.06))
    draft.add("spine_2", "spine_1", (0, 1.115, -0.016), (0, 1.195, -0.016), 0.05, _wide(1.125, 1.185, 0.07))
    draft.add("spine_3", "spine_2", (0, 1.195, -0.018), (0, 1.280, -0.020), 0.05, _wide(1.205, 1.262, 0.08))
    draft.add("chest", "spine_3", (0, 1.280, -0.022), (0, 1.450, -0.028), 0.05, ribs)
    draft.add("neck", "chest", (0, 1.462, -0.030), (0, 1.545, -0.016), 0.026)
    crown = [((0.0, 1.60, 0.0), (0.0, 1.72, 0.0)), ((0.0, 1.57, 0.05), (0.0, 1.66, 0.06))]
    draft.add("head", "neck", (0, 1.552, -0.014), (0, 1.72, 0.0), 0.026, crown)


def _wide(low: float, high: float, half: float) -> list[tuple[Sequence[float], Sequence[float]]]:
    """Two horizontal lines, so that a piece of the spine attracts skin by its height rather than by its distance."""
    return [((-half, y, -0.008), (half, y, -0.008)) for y in (low, high)]


def _mirror(points: Float64, side: float) -> Float64:
    placed: Float64 = points * np.array([side, 1.0, 1.0])
    return placed


def _leg(draft: Draft, side: float) -> None:
    end = "_l" if side > 0 else "_r"
    hip, knee, ankle, ball, toe = (_mirror(p, side) for p in (HIP, KNEE, ANKLE, BALL, TOE))
    middle = 0.5 * (hip + knee)
    top = hip + np.array([0.0, -0.045, 0.0])
    draft.add("thigh" + end, "hips", hip, knee, 0.050, [(top, middle)])
    draft.add("thigh_twist" + end, "thigh" + end, middle, knee, 0.05, [(middle, knee)])
    draft.add("shin" + end, "thigh" + end, knee, ankle, 0.034)
    heel = ankle + np.array([0.0, -0.06, -0.05])
    above = ball + np.array([0.0, 0.01, -0.012])
    low = ankle + np.array([0.0, -0.012, 0.0])
    draft.add("foot" + end, "shin" + end, ankle, ball, 0.020, [(low, above), (low, heel)])
    draft.add("toes" + end, "foot" + end, ball, toe, 0.016)


def _arm(draft: Draft, side: float) -> None:
    end = "_l" if side > 0 else "_r"
    along = model_from_arm(np.array([[x, 0.0, 0.0] for x in (0.0, 0.035, ELBOW / 2, ELBOW, 0.395, WRIST, 0.60)]))
    shoulder, start, upper, elbow, fore, wrist, palm = (_mirror(p, side) for p in along)
    inner = _mirror(np.array([0.022, 1.432, 0.006]), side)
    cap = [(_mirror(np.array([0.075, 1.432, -0.012]), side), shoulder + _mirror(np.array([-0.022, 0.008, 0]), side))]
    draft.add("clavicle" + end, "chest", inner, shoulder, 0.045, cap)
    draft.add("upper_arm" + end, "clavicle" + end, shoulder, elbow, 0.045, [(start, upper)])
    draft.add("upper_arm_twist" + end, "upper_arm" + end, upper, elbow, 0.045, [(upper, elbow)])
    draft.add("forearm" + end, "upper_arm" + end, elbow, wrist, 0.028, [(elbow, fore)])
    draft.add("forearm_twist" + end, "forearm" + end, fore, wrist, 0.040, [(fore, wrist)])
    knuckles = {name: _mirror(model_from_arm(finger.points), side) for name, finger in HAND.items()}
    bones = [(wrist, points[0]) for name, points in knuckles.items() if name != "thumb"]
    draft.add("hand" + end, "forearm" + end, wrist, palm, 0.018, bones)
    for name, points in knuckles.items():
        parent = "hand" + end
        for number in range(3):
            joint = f"{name}_{number + 1}{end}"
            draft.add(joint, parent, points[number], points[number + 1], 0.014 if name == "thumb" else 0.009)
            parent = joint
