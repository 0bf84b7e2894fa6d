"""One full cycle of a walk in place, as on a treadmill.

Phase 0 is the left heel's strike, 0.5 the right one's.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sinew.resources.samples.figure_clips import bend
from sinew.resources.samples.figure_skeleton import ANKLE, Joint
from sinew.resources.samples.limbs import Foot, planted, pose_arm, pose_fingers, pose_leg, side_of
from sinew.resources.samples.motion import Curve, Motion, chain, frame_times, hermite, turn
from sinew.sim.assets.raw import RawClip

Float64 = npt.NDArray[np.float64]

STEPS = 32
FRAME_STEP = 1.0 / 30.0
STRIDE = 1.16  # travel of the treadmill in one cycle [m]

TOE_OFF = 0.62  # phase at which the foot leaves the floor

_MIDDLE = 0.27  # phase at which the planted ankle passes below its bind place

_PITCH = Curve(
    [(0.0, -19.0), (0.045, -10.0), (0.10, 0.0), (0.33, 0.0), (0.43, 8.0), (0.52, 28.0), (0.58, 46.0), (0.62, 57.0),
     (0.66, 60.0), (0.76, 24.0), (0.85, -6.0), (0.94, -20.0)], 1.0,
)  # fmt: skip
"""Heel up [degrees]."""

_TOES = Curve([(0.0, 0.0), (0.52, 0.0), (0.58, 7.0), (0.62, 18.0), (0.70, 0.0), (0.99, 0.0)], 1.0)
"""Toes raised about their tip while they push off [degrees]."""

_CURL = Curve([(0.0, 0.0), (TOE_OFF - 0.06, 41.0), (TOE_OFF, 39.0), (0.76, 2.0), (0.90, -5.0)], 1.0)
"""Toes bent against the foot after they left the floor [degrees]."""


def build_walk(joints: Sequence[Joint]) -> RawClip:
    """The last key repeats the first."""
    phase = frame_times(STEPS + 1, 1.0 / STEPS)
    motion = Motion(joints, STEPS + 1)
    _trunk(motion, phase)
    for end, own in (("_l", phase), ("_r", phase + 0.5)):
        yaw = 5.0 if end == "_l" else -5.0
        forward = np.tile([np.sin(np.radians(1.4 * yaw)), 0.0, 1.0], (len(phase), 1))
        pose_leg(motion, end, _foot(end, own % 1.0, yaw), forward)
        _arm(motion, end, own)
    return motion.clip("walk", FRAME_STEP)


def _wave(phase: Float64, harmonic: int, shift: float) -> Float64:
    value: Float64 = np.cos(2.0 * np.pi * harmonic * (phase - shift))
    return value


def _trunk(motion: Motion, phase: Float64) -> None:
    """Hips that drop, sway and turn; a spine that turns the other way; a steady head."""
    motion.travel = np.stack(
        [0.020 * _wave(phase, 1, 0.30), -0.0235 + 0.0145 * _wave(phase, 2, 0.30), 0.008 * _wave(phase, 2, 0.12)], axis=1
    )
    yaw = -6.5 * _wave(phase, 1, 0.02)
    list_ = 3.6 * _wave(phase, 1, 0.19)
    lean = 2.0 + 1.0 * _wave(phase, 2, 0.06)
    motion.set_turn("hips", bend(lean, yaw, list_))
    for name, share in (("spine_1", 0.22), ("spine_2", 0.26), ("spine_3", 0.26), ("chest", 0.26)):
        motion.set_turn(name, bend(0.5 + 0.0 * phase, -share * 2.0 * yaw, -share * 1.45 * list_))
    motion.set_turn("neck", bend(-1.5 - 0.4 * lean, 0.5 * yaw, 0.22 * list_))
    motion.set_turn("head", bend(-0.5 - 0.4 * _wave(phase, 2, 0.10), 0.45 * yaw, 0.20 * list_))
    for end, sign, own in (("_l", 1.0, phase), ("_r", -1.0, phase + 0.5)):
        lift = sign * (1.5 + 1.0 * _wave(own, 2, 0.30))
        motion.set_turn("clavicle" + end, bend(0.0 * phase, sign * 4.0 * _wave(own, 1, 0.04), lift))


def _arm(motion: Motion, end: str, phase: Float64) -> None:
    """Arm that swings against the leg of its side, the forearm a little later."""
    swing = -3.0 + 21.0 * _wave(phase, 1, 0.03)
    drop = -37.0 - 1.5 * _wave(phase, 2, 0.03)
    inwards = -4.0 - 3.0 * _wave(phase, 1, 0.03)
    upper = chain(turn((0, 1, 0), -inwards), turn((1, 0, 0), swing), turn((0, 0, 1), drop))
    elbow = 21.0 - 12.0 * _wave(phase, 1, 0.09)
    roll = 12.0 - 4.0 * _wave(phase, 1, 0.10)
    pose_arm(motion, end, upper, elbow, -roll, 4.0 + 6.0 * _wave(phase, 1, 0.16))
    pose_fingers(motion, end, 17.0 - 4.0 * _wave(phase, 1, 0.12), -1.5 + 0.0 * phase)


def _foot(end: str, phase: Float64, yaw: float) -> Foot:
    """Foot of one side at its own phase: planted and rolling, then swung to the front."""
    on_floor = _stance(end, phase, yaw)
    share = np.clip((phase - TOE_OFF) / (1.0 - TOE_OFF), 0.0, 1.0)[:, None]
    swung = _swing(end, share, yaw)
    turns = _turned(yaw, _PITCH(phase))
    toes = np.where((phase <= TOE_OFF)[:, None], on_floor.toes, _turned(yaw, _PITCH(phase) - _CURL(phase)))
    return Foot(np.where((phase <= TOE_OFF)[:, None], on_floor.ankle, swung), turns, toes)


def _turned(yaw: float, pitch: Float64) -> Float64:
    return chain(turn((0, 1, 0), yaw + 0.0 * pitch), turn((1, 0, 0), pitch))


def _stance(end: str, phase: Float64, yaw: float) -> Foot:
    """Foot that the treadmill carries backwards."""
    place = np.zeros((len(phase), 3))
    place[:, 0] = -side_of(ANKLE, end)[0] * 0.22
    place[:, 2] = STRIDE * (_MIDDLE - phase)
    return planted(end, place, yaw + 0.0 * phase, _PITCH(phase) - _TOES(phase), _TOES(phase))


def _swing(end: str, share: Float64, yaw: float) -> Float64:
    """Ankle from toe-off to the next strike, leaving and arriving with the velocity of the planted foot."""
    span, small = 1.0 - TOE_OFF, 1e-4
    leaving = _stance(end, np.array([TOE_OFF - small, TOE_OFF]), yaw).ankle
    arriving = _stance(end, np.array([0.0, small]), yaw).ankle
    leave = (leaving[1] - leaving[0]) / small * span
    arrive = 0.55 * (arriving[1] - arriving[0]) / small * span
    path = hermite(share, leaving[1], arriving[0], leave, arrive)
    return path + 0.022 * np.array([0.0, 1.0, 0.0]) * (28.9 * share**2 * (1.0 - share) ** 3)
