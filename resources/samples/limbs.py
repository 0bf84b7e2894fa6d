"""Poses legs from the places of the feet, and arms from their directions."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.resources.samples.figure_skeleton import ANKLE, BALL, HIP, KNEE, MODEL_FROM_ARM
from sinew.resources.samples.motion import Motion, chain, mirrored, turn
from sinew.sim.maths import quaternion

Float64 = npt.NDArray[np.float64]

FINGERS = ("thumb", "index", "middle", "ring", "pinky")

_LONGEST = 0.9992
"""Share of the leg's full length beyond which the ankle is not followed, so that knees never lock."""


def side_of(points: Float64, end: str) -> Float64:
    """`end` is "_l" or "_r"; `points` are on the left side."""
    return points if end == "_l" else points * np.array([-1.0, 1.0, 1.0])


@dataclass(frozen=True, slots=True)
class Foot:
    """Ankle (F, 3), turns of the foot and of the toes away from the bind pose (F, 4)."""

    ankle: Float64
    turns: Float64
    toes: Float64


def pose_leg(motion: Motion, end: str, foot: Foot, forward: Float64) -> None:
    """Turns thigh and shin so that the ankle is where the foot needs it.

    Args:
        motion: The hips are posed already.
        end: "_l" or "_r".
        forward: Direction in which the knee points, shape (F, 3).
    """
    hip, knee, ankle = (side_of(p, end) for p in (HIP, KNEE, ANKLE))
    upper, lower = float(np.linalg.norm(knee - hip)), float(np.linalg.norm(ankle - knee))
    start = motion.position("thigh" + end)
    bent = _knee(start, foot.ankle, forward, upper, lower)
    rest = _knee(hip[None], ankle[None], np.array([[0.0, 0.0, 1.0]]), upper, lower)
    thigh = _turn_between(_frames(rest - hip, ankle - hip), _frames(bent - start, foot.ankle - start))
    shin = _turn_between(_frames(ankle - rest, ankle - hip), _frames(foot.ankle - bent, foot.ankle - start))
    motion.set_world_turn("thigh" + end, thigh)
    motion.set_world_turn("shin" + end, shin)
    motion.set_world_turn("foot" + end, foot.turns)
    motion.set_world_turn("toes" + end, foot.toes)


def _knee(hip: Float64, ankle: Float64, forward: Float64, upper: float, lower: float) -> Float64:
    """Place of the knee by the law of cosines, in the plane of the leg and `forward`."""
    leg = ankle - hip
    length = np.linalg.norm(leg, axis=1, keepdims=True)
    direction = leg / length
    reach = np.minimum(length, _LONGEST * (upper + lower))
    along = (reach**2 + upper**2 - lower**2) / (2.0 * reach)
    out = forward - (forward * direction).sum(axis=1, keepdims=True) * direction
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    bent: Float64 = hip + along * direction + np.sqrt(np.maximum(upper**2 - along**2, 0.0)) * out
    return bent


def _frames(bone: Float64, leg: Float64) -> Float64:
    """Matrices (F, 3, 3) with y along the bone and x the axis of the knee's hinge."""
    y = bone / np.linalg.norm(bone, axis=-1, keepdims=True)
    x = np.cross(leg, bone)
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    return np.stack([x, y, np.cross(x, y)], axis=-1)


def _turn_between(rest: Float64, posed: Float64) -> Float64:
    return quaternion.from_matrix(posed @ np.swapaxes(rest, -1, -2))


def planted(end: str, place: Float64, yaw: Float64, heel_lift: Float64, toe_lift: Float64) -> Foot:
    """Foot that rolls on the floor.

    Args:
        end: "_l" or "_r".
        place: Where the flat foot's ankle would be, relative to its bind place [m], shape (F, 3).
        yaw: Turn about the vertical [degrees], (F,).
        heel_lift: Heel raised about the ball [degrees], toes stay; negative raises the toes about the heel.
        toe_lift: Toes raised about their tip [degrees], on top of the heel.
    """
    ankle, ball = side_of(ANKLE, end), side_of(BALL, end)
    heel = np.array([ankle[0], 0.0, ankle[2] - 0.060])
    tip = np.array([ball[0], 0.004, ball[2] + 0.078])
    up = np.maximum(heel_lift, 0.0)
    back = np.minimum(heel_lift, 0.0)
    toes, foot = turn((1, 0, 0), toe_lift + back), turn((1, 0, 0), up + toe_lift + back)
    knuckle = tip + quaternion.rotate(turn((1, 0, 0), toe_lift), ball - tip)
    raised = knuckle + quaternion.rotate(foot, ankle - ball)
    rolled = heel + quaternion.rotate(foot, ankle - heel)
    local = np.where((back < 0.0)[:, None], rolled, raised)
    about = turn((0, 1, 0), yaw)
    flat = np.array([ankle[0], 0.0, ankle[2]])
    at = flat + place + quaternion.rotate(about, local - flat)
    return Foot(at, chain(about, foot), chain(about, toes))


def arm_axes(end: str) -> Float64:
    """Axes of the arm in the bind pose as columns: along it, the elbow's hinge, and the direction of the thumb."""
    along, back, thumb = MODEL_FROM_ARM.T
    axes = np.stack([along, -back, thumb], axis=1)
    return axes if end == "_l" else axes * np.array([[-1.0], [1.0], [1.0]])


def pose_arm(motion: Motion, end: str, upper: Float64, elbow: Float64, roll: Float64, wrist: Float64) -> None:
    """Poses an arm whose twist joints share the roll.

    Args:
        motion: The clavicles are posed already.
        end: "_l" or "_r".
        upper: Turns of the upper arm relative to the clavicle, shape (F, 4), written for the left arm.
        elbow: Bend [degrees], (F,).
        roll: Of the hand about the forearm, the thumb outwards [degrees], (F,).
        wrist: Bend towards the palm [degrees], (F,).
    """
    along, hinge, thumb = arm_axes("_l").T
    swing, twist = _swing_twist(upper, along)
    turns = {
        "upper_arm": chain(swing, _share(twist, 0.35)),
        "upper_arm_twist": _share(twist, 0.45),
        "forearm": chain(_share(twist, 0.65), turn(hinge, elbow)),
        "forearm_twist": turn(along, 0.55 * roll),
        "hand": chain(turn(along, roll), turn(-thumb, wrist)),
    }
    for name, value in turns.items():
        motion.set_turn(name + end, _on_side(value, end))


def pose_fingers(motion: Motion, end: str, curl: Float64, spread: Float64) -> None:
    """Bends the fingers by `curl` [degrees] at each joint, and fans them by `spread` [degrees]."""
    _, hinge, thumb = arm_axes("_l").T
    for number, name in enumerate(FINGERS):
        share = (0.35, 0.85, 1.0, 1.1, 1.2)[number]
        for joint in range(3):
            axis = -hinge - thumb if name == "thumb" else -thumb
            value = turn(axis, curl * share * (0.8 if joint == 0 else 1.0))
            if joint == 0 and name != "thumb":
                value = chain(turn(hinge, spread * (2.5 - number)), value)
            motion.set_turn(f"{name}_{joint + 1}{end}", _on_side(value, end))


def _on_side(turns: Float64, end: str) -> Float64:
    return turns if end == "_l" else mirrored(turns)


def _swing_twist(turns: Float64, axis: Float64) -> tuple[Float64, Float64]:
    """Splits turns into a roll about `axis`, which acts first, and the shortest turn of the axis."""
    along = (turns[..., :3] * axis).sum(axis=-1, keepdims=True)
    twist = quaternion.normalised(np.concatenate([along * axis, turns[..., 3:]], axis=-1))
    return chain(turns, quaternion.conjugate(twist)), twist


def _share(turns: Float64, share: float) -> Float64:
    return quaternion.slerp(np.broadcast_to(quaternion.IDENTITY, turns.shape), turns, share)
