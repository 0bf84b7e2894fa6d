import math
from dataclasses import dataclass

import numpy as np
from pyglm import glm

from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.contacts import FLOOR_PERCENTILE, contacts
from sinew.sim.characters.modifiers.functions import Surroundings, bend_limb, orientation_of
from sinew.sim.characters.modifiers.joints import NO_TURN, PosedJoints, arc, unit, vec
from sinew.sim.characters.playing import playing_time, poses_of, strips_of, up_axis
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.maths.arrays import Float64
from sinew.sim.scene.strips import smooth

# Relative to the length of the leg
NEAR = 0.5  # Ground further above or below is ignored
TILT_HEIGHT = 0.25  # Feet above this keep their orientation
STRAIGHT = 0.97  # The pelvis is lowered until no leg is straighter than in the clip, or than this
JUMP = 0.2  # A foot that moves further between two samples has jumped, for instance where a clip repeats

RELEASE = 0.08
"""Time over which a foot leaves the place where it was locked [s]."""

STEEPEST = 0.5
"""Minimum upward part of the normal of ground to which feet tilt."""

RATE = 60.0
"""Samples of the path of a foot per second."""

WINDOW, STANDING_MAX = 2.0, 8.0
"""Time before and after a moment in which the contacts of a foot count, and the same before for a standing foot [s]."""

FLOOR_SAMPLES = 128  # Poses among which the height of standing feet is found
OVER = 8  # Places of a step below which the ground is looked up
BLOCK, BLOCKS_MAX = 32, 64  # Samples that are evaluated together, and blocks that are remembered


@dataclass(frozen=True, slots=True)
class Step:
    """The way of a foot from one contact to the next one; places are in the model."""

    start: glm.dvec3
    end: glm.dvec3
    over: tuple[glm.dvec3, ...] = ()
    share: float = 0.0  # Elapsed part of the time


@dataclass(frozen=True, slots=True)
class Foot:
    """A foot at one moment."""

    limb: tuple[int, int, int]
    floor: float  # Height at which it stands as it is played, in units of the file
    shift: glm.dvec3  # To the place where it is locked, in the model
    step: Step | None = None  # None without a contact near this moment


class PlayedFeet:
    """Paths of the feet of a character as it is played, with layers and fades, before its modifiers."""

    def __init__(self, model: CharacterModel, settings: ModelSettings) -> None:
        self._model, self._settings = model, settings
        self._up = 1 if up_axis(settings, model) == "y" else 2
        self._blocks: dict[int, Float64] = {}  # Positions of all joints, shape (BLOCK, B, 3)
        start = min((strip.start for strip in strips_of(settings, model)), default=0.0)
        times = np.linspace(start, max(playing_time(settings, model), start), FLOOR_SAMPLES)
        self._floors = np.percentile(self._positions(times)[:, :, self._up], FLOOR_PERCENTILE, axis=0)

    def _positions(self, times: Float64) -> Float64:
        poses = poses_of(self._model, self._settings, times.tolist(), (0.0, 0.0))
        return np.array([pose.model_from_joint[:, :3, 3] for pose in poses])

    def _path(self, joint: int, first: int, last: int) -> Float64:
        """Returns positions of a joint at samples, the last one too; samples count from scene time 0."""
        numbers = range(first // BLOCK, last // BLOCK + 1)
        if len(self._blocks) > BLOCKS_MAX:
            self._blocks.clear()
        missing = [number for number in numbers if number not in self._blocks]
        if missing:
            samples = np.concatenate([np.arange(number * BLOCK, (number + 1) * BLOCK) for number in missing])
            positions = self._positions(samples / RATE)
            self._blocks |= zip(missing, positions.reshape(len(missing), BLOCK, *positions.shape[1:]), strict=True)
        path = np.concatenate([self._blocks[number][:, joint] for number in numbers])
        return path[first - numbers[0] * BLOCK : last + 1 - numbers[0] * BLOCK]

    def foot(self, limb: tuple[int, int, int], leg: float, time: float, place: Float64) -> Foot:
        """Returns a foot at a scene time [s] that is at a place in the model; `leg` is the length of the leg."""
        joint = limb[2]
        floor = float(self._floors[joint])
        sample = math.floor(time * RATE)
        first, last = sample - round(WINDOW * RATE), sample + round(WINDOW * RATE)
        path = self._path(joint, first, last)
        spans = contacts(path, 1.0 / RATE, leg, self._up, floor)
        if spans and spans[0][0] == 0 and spans[0][1] >= sample - first:
            first = sample - round(STANDING_MAX * RATE)
            path = self._path(joint, first, last)
            spans = contacts(path, 1.0 / RATE, leg, self._up, floor)
        now = sample - first
        far = np.linalg.norm(np.diff(path, axis=0), axis=1) > JUMP * leg
        if far[now] and np.linalg.norm(place - path[now + 1]) < np.linalg.norm(place - path[now]):
            now += 1  # the jump between these two samples is over
        jumps = np.flatnonzero(far).tolist()
        begin = max((jump + 1 for jump in jumps if jump < now), default=0)
        end = min((jump for jump in jumps if jump >= now), default=len(path) - 1)
        spans = [span for span in spans if begin <= span[0] and span[1] <= end]
        if not spans:
            return Foot(limb, floor, glm.dvec3(0.0))
        at = time * RATE - first  # in samples
        shift = glm.dvec3(0.0)
        for start, stop in (span for span in spans if span[0] <= at):
            strength = 1.0 - smooth((at - stop) / (RELEASE * RATE))
            shift += strength * (vec(path[start]) - vec(place))
        start, leave = max((span for span in spans if span[0] <= at), default=(begin, begin))
        if leave >= at:
            return Foot(limb, floor, shift, Step(vec(path[start]), vec(path[start])))
        touch = min((span[0] for span in spans if span[0] > at), default=end)
        over = np.linspace(leave, touch, OVER).astype(int)
        step = Step(vec(path[start]), vec(path[touch]), tuple(map(vec, path[over])), (at - leave) / (touch - leave))
        return Foot(limb, floor, shift, step)


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
class Ground:
    """Ground for feet, and the world transform of the model."""

    placement: glm.dmat4
    colliders: tuple[Collider, ...]
    has_floor: bool

    def at(self, point: glm.dvec3, leg: float) -> tuple[float, glm.dvec3]:
        """Returns height [m] and normal of the ground near the level of the model; that level without any.

        `point` and the length of the leg are in the world [m].
        """
        level = self.placement[3].y
        tops = [(0.0, _UP)] if self.has_floor else []
        tops += [top for one in self.colliders if (top := top_of(one, point.x, point.z)) is not None]
        near = (top for top in tops if abs(top[0] - level) <= NEAR * leg)
        return max(near, key=lambda top: top[0], default=(level, _UP))

    def below(self, step: Step, leg: float) -> tuple[float, glm.dvec3]:
        """Returns height [m] and normal of the ground for a step, which rises first and descends last.

        They are continuous over the step, however steep the edges of the ground are.
        """
        places = (glm.dvec3(self.placement * glm.dvec4(place, 1.0)) for place in (step.start, step.end, *step.over))
        (first, before), (last, after), *between = (self.at(place, leg) for place in places)
        top = max(first, last, *(height for height, _ in between))
        height = first + (top - first) * smooth(3.0 * step.share) + (last - top) * smooth(3.0 * step.share - 2.0)
        return height, unit(glm.mix(before, after, smooth(step.share)), _UP)


def plant(joints: PosedJoints, feet: list[Foot], pelvis: int, ground: Ground, around: Surroundings) -> None:
    """Moves feet to the ground, lowers the pelvis so that they reach it, and tilts them."""
    placement, inverse = ground.placement, glm.inverse(ground.placement)
    level, frame, drop, aims = placement[3].y, orientation_of(placement), 0.0, []
    for foot in feet:
        hip, knee, at = (glm.dvec3(placement * glm.dvec4(joints.position(joint), 1.0)) for joint in foot.limb)
        leg = glm.length(knee - hip) + glm.length(at - knee)
        shift = glm.dmat3(placement) * foot.shift
        aim = at + glm.dvec3(shift.x, 0.0, shift.z)
        height, normal = ground.at(aim, leg) if foot.step is None else ground.below(foot.step, leg)
        lowest = (placement * glm.dvec4(foot.floor * around.up, 1.0)).y
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
