import math
from dataclasses import dataclass

import numpy as np
from pyglm import glm

from sinew.sim.animation.evaluate import root_motion
from sinew.sim.assets.model import Clip, Interpolation, Skeleton
from sinew.sim.characters.modifiers.functions import Surroundings, bend_limb, orientation_of
from sinew.sim.characters.modifiers.joints import NO_TURN, PosedJoints, arc
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.transform import compose
from sinew.sim.scene.strips import smooth

RATE = 60.0
SAMPLES_MAX = 8192
"""Maximum number of moments of a clip that are examined; longer clips are sampled evenly."""

# Relative to the length of the leg; a contact ends at twice the height or speed at which it begins.
TOUCH_HEIGHT, TOUCH_SPEED = 0.04, 0.3  # Above the lowest point of the clip; per second
NEAR = 0.5  # Ground further above or below is ignored
TILT_HEIGHT = 0.25  # Feet above this keep their orientation
STRAIGHT = 0.97  # The pelvis is lowered until no leg is straighter than in the clip, or than this

RELEASE = 0.08
"""Time over which a foot leaves the place where it was locked [s]."""

STEEPEST = 0.5
"""Minimum upward part of the normal of ground to which feet tilt."""


@dataclass(frozen=True, slots=True)
class Contacts:
    """Contacts of a foot with the ground in a clip."""

    spans: tuple[tuple[float, float], ...]  # Times in the clip [s]
    lowest: float  # Smallest height, in units of the file


def contacts(
    clip: Clip, skeleton: Skeleton, foot: int, leg: float, up_axis: str, interpolation: Interpolation, lock_root: bool
) -> Contacts:
    """Returns contacts of a joint with the ground; `leg` is the length of the leg, in units of the file."""
    count = min(math.ceil(clip.duration * RATE) + 1, SAMPLES_MAX)
    times = np.linspace(0.0, clip.duration, count)
    local = clip.sample_many(times.tolist(), interpolation)
    path = _path(local.positions, local.orientations, local.scales, skeleton, foot)
    motion = root_motion(skeleton, clip, up_axis) if lock_root else None
    if motion is not None and foot in motion.carried:
        body = _path(local.positions, local.orientations, local.scales, skeleton, motion.joint)
        path = path - (body - motion.start) * motion.horizontal
    height = path[:, 1 if up_axis == "y" else 2]
    lowest = float(height.min())
    if count < 2 or leg <= 0.0:
        return Contacts((), lowest)
    speed = np.linalg.norm(np.gradient(path, times[1], axis=0), axis=1)
    amount = np.maximum((height - lowest) / (TOUCH_HEIGHT * leg), speed / (TOUCH_SPEED * leg)).tolist()
    spans, start = [], None
    for index, one in enumerate(amount):
        if start is None and one < 1.0:
            start = index
        elif start is not None and one >= 2.0:
            spans.append((float(times[start]), float(times[index - 1])))
            start = None
    if start is not None:
        spans.append((float(times[start]), clip.duration))
    return Contacts(tuple(spans), lowest)


def _path(positions: Float64, orientations: Float64, scales: Float64, skeleton: Skeleton, joint: int) -> Float64:
    """Returns positions of a joint in the model at many times, shape (F, 3)."""
    chain = []
    while joint >= 0:
        chain.append(joint)
        joint = int(skeleton.parents[joint])
    matrices = compose(positions[:, chain], orientations[:, chain], scales[:, chain])
    points = matrices[:, 0, :, 3]
    for index in range(1, len(chain)):
        points = (matrices[:, index] @ points[..., None])[..., 0]
    return points[:, :3]


Collider = tuple[ColliderShape, tuple[float, ...], tuple[float, ...]]
"""Collider of feet: shape, size (3,) and rigid world transform (16,), row by row."""


def top_of(collider: Collider, x: float, z: float) -> tuple[float, glm.dvec3] | None:
    """Returns height [m] and normal where a vertical line leaves a collider; None if it misses it."""
    shape, size, values = collider
    matrix = glm.transpose(glm.dmat4(*values))
    turn, found = glm.dmat3(matrix), []
    origin, up = glm.dvec3(x, 0.0, z) * turn - glm.dvec3(matrix[3]) * turn, _UP * turn
    if shape is ColliderShape.PLANE:
        found = [(-origin.y / up.y, _UP)] if up.y > 1e-6 else []
    elif shape is ColliderShape.BOX:
        found = _box_top(origin, up, size)
    elif shape is ColliderShape.ELLIPSOID:
        axes = glm.dvec3(*size)
        found = [(height, point / axes) for height, point in _ball_top(origin / axes, up / axes, 1.0)]
    else:
        half = size[1] if shape is ColliderShape.CAPSULE else 0.0
        for end in (half, -half):
            found += _ball_top(origin - end * _UP, up, size[0])
        flat = glm.dvec3(1.0, 0.0, 1.0)
        sides = _ball_top(origin * flat, up * flat, size[0])
        found += [(height, point) for height, point in sides if abs(origin.y + height * up.y) <= half]
    if not found:
        return None
    height, normal = max(found, key=lambda one: one[0])
    return height, glm.normalize(turn * normal)


def _ball_top(origin: glm.dvec3, up: glm.dvec3, radius: float) -> list[tuple[float, glm.dvec3]]:
    """Returns the distances and points at which a line leaves a ball about the origin."""
    a, b = glm.dot(up, up), glm.dot(origin, up)
    square = b * b - a * (glm.dot(origin, origin) - radius * radius)
    if a < 1e-12 or not square >= 0.0:
        return []
    height = (math.sqrt(square) - b) / a
    return [(height, origin + height * up)]


def _box_top(origin: glm.dvec3, up: glm.dvec3, half: tuple[float, ...]) -> list[tuple[float, glm.dvec3]]:
    leave, enter, normal = math.inf, -math.inf, glm.dvec3(0.0)
    for axis in range(3):
        slope, at = up[axis], origin[axis]
        if abs(slope) < 1e-12:
            if abs(at) > half[axis]:
                return []
            continue
        end = (math.copysign(half[axis], slope) - at) / slope
        enter = max(enter, (math.copysign(half[axis], -slope) - at) / slope)
        if end < leave:
            leave, normal = end, glm.dvec3(0.0)
            normal[axis] = math.copysign(1.0, slope)
    return [(leave, normal)] if enter <= leave else []


_UP = glm.dvec3(0.0, 1.0, 0.0)


@dataclass(frozen=True, slots=True)
class Foot:
    """A foot at one moment."""

    limb: tuple[int, int, int]
    shift: glm.dvec3  # To the place where it is locked, in the model
    lowest: float  # Height at which it stands in the clip, in units of the file


@dataclass(frozen=True, slots=True)
class Ground:
    """Ground for feet, and the world transform of the model."""

    placement: glm.dmat4
    colliders: tuple[Collider, ...]
    has_floor: bool

    def at(self, point: glm.dvec3, leg: float) -> tuple[float, glm.dvec3]:
        """Returns height [m] and normal of the ground near the level of the model; that level without any."""
        level = self.placement[3].y
        tops = [(0.0, _UP)] if self.has_floor else []
        tops += [top for one in self.colliders if (top := top_of(one, point.x, point.z)) is not None]
        near = (top for top in tops if abs(top[0] - level) <= NEAR * leg)
        return max(near, key=lambda top: top[0], default=(level, _UP))


def plant(joints: PosedJoints, feet: list[Foot], pelvis: int, ground: Ground, around: Surroundings) -> None:
    """Moves feet to the ground, lowers the pelvis so that they reach it, and tilts them."""
    placement, inverse = ground.placement, glm.inverse(ground.placement)
    level, frame, drop, aims = placement[3].y, orientation_of(placement), 0.0, []
    for foot in feet:
        hip, knee, at = (glm.dvec3(placement * glm.dvec4(joints.position(joint), 1.0)) for joint in foot.limb)
        leg = glm.length(knee - hip) + glm.length(at - knee)
        shift = glm.dmat3(placement) * foot.shift
        aim = at + glm.dvec3(shift.x, 0.0, shift.z)
        height, normal = ground.at(aim, leg)
        lowest = (placement * glm.dvec4(foot.lowest * around.up, 1.0)).y
        tilt = 1.0 - smooth((at.y - lowest) / (TILT_HEIGHT * leg)) if leg > 0.0 and normal.y > STEEPEST else 0.0
        # A tilted sole is nearer to the ankle than the ground below it.
        aim.y += height - level + tilt * (1.0 / normal.y - 1.0) * max(at.y - level, 0.0) if tilt else height - level
        aims.append((foot.limb, aim, glm.slerp(NO_TURN, arc(_UP, normal), tilt)))
        drop = max(drop, at.y - aim.y)
        reach = max(glm.length(at - hip), STRAIGHT * leg)
        side = math.hypot(aim.x - hip.x, aim.z - hip.z)
        upright = math.sqrt(max(reach * reach - side * side, 0.25 * reach * reach))
        drop = min(max(drop, hip.y - aim.y - upright), 2.0 * NEAR * leg)
    if pelvis >= 0:
        joints.move(pelvis, glm.dmat3(inverse) * glm.dvec3(0.0, -drop, 0.0))
    for limb, aim, turn in aims:
        before = joints.orientation(limb[2])
        bend_limb(joints, limb, glm.dvec3(inverse * glm.dvec4(aim, 1.0)), hint=around.front)
        above = joints.orientation(limb[1])
        joints.set_turn(limb[2], glm.conjugate(above) * glm.conjugate(frame) * turn * frame * before)
