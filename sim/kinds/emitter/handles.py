"""Handles of an emitter: the tip of the arrow sets the speed, the rim the cone, the edge the size."""

import enum
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pyglm import glm

from sinew.sim.kinds.emitter.settings import EmissionAim, EmitterSettings, EmitterSource
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.transform import transform_points
from sinew.sim.scene.handles import CIRCLE, RING_POINTS, HandleView, along_axis, polyline_distance
from sinew.sim.scene.picking import ray_plane

Segments = Float64
"""Line segments, shape (N, 2, 3)."""

_PARTS = 48
_CROSS = 0.04


def emitter_outline(settings: EmitterSettings) -> Segments:
    """Returns the outline in the frame of the source [m]; empty for an emitter on a surface."""
    if settings.is_on_surface:
        return np.zeros((0, 2, 3))
    return np.concatenate([_source(settings), _directions(settings)])


def _source(settings: EmitterSettings) -> Segments:
    radius, hollow = settings.source_radius, settings.source_radius * settings.source_hollow
    match settings.source:
        case EmitterSource.SPHERE:
            return np.concatenate([_circle(radius, axis) for axis in range(3)])
        case EmitterSource.DISC:
            rims = [_circle(radius, 1)] + ([_circle(hollow, 1)] if hollow > 0.0 else [])
            return np.concatenate(rims)
        case EmitterSource.BOX:
            return _box(np.asarray(settings.source_size) / 2.0)
        case EmitterSource.LINE:
            half = settings.source_size[0] / 2.0
            return np.array([[[-half, 0.0, 0.0], [half, 0.0, 0.0]]])
        case _:
            return np.stack([-np.eye(3), np.eye(3)], axis=1) * _CROSS


def _directions(settings: EmitterSettings) -> Segments:
    if settings.aim is EmissionAim.ANGLES:
        return _sector(settings)
    # Only a sphere has another outside than y.
    if settings.aim is EmissionAim.OUTWARD and settings.source is EmitterSource.SPHERE:
        return _rays(settings)
    return _cone(math.radians(settings.cone_angle), reach(settings))


def _cone(half: float, length: float) -> Segments:
    """Returns sides and rim about y; the rim of more than a right angle is below, for all directions it is a point."""
    rim = _ring(math.sin(half) * length, math.cos(half) * length)
    sides = np.stack([np.zeros((8, 3)), rim[:: _PARTS // 8, 0]], axis=1)
    axis = np.array([[[0.0, 0.0, 0.0], [0.0, length, 0.0]]])
    return np.concatenate([axis, rim, sides])


def _sector(settings: EmitterSettings) -> Segments:
    angles = np.radians([settings.yaw, settings.yaw_spread, settings.pitch, settings.pitch_spread])
    along, none, all_ = np.linspace(0.0, 1.0, _PARTS + 1), np.zeros(_PARTS + 1), np.ones(_PARTS + 1)
    edges = [np.stack(pair, axis=1) for pair in ((along, none), (along, all_), (none, along), (all_, along))]
    length = reach(settings)
    patch = [angle_direction(angles, edge) * length for edge in edges]
    corners = np.concatenate([patch[0][:: _PARTS // 4], patch[1][:: _PARTS // 4]])
    return np.concatenate([*map(_strip, patch), np.stack([np.zeros_like(corners), corners], axis=1)])


def _rays(settings: EmitterSettings) -> Segments:
    steps = np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=3)))
    variants = steps[np.any(steps != 0.0, axis=1)]
    variants /= np.linalg.norm(variants, axis=1, keepdims=True)
    return np.stack([variants * settings.source_radius, variants * (settings.source_radius + reach(settings))], axis=1)


def _circle(radius: float, axis: int) -> Segments:
    return np.roll(_ring(radius, 0.0), axis - 1, axis=2)


def _ring(radius: float, height: float) -> Segments:
    turn = np.linspace(0.0, 2.0 * np.pi, _PARTS + 1)
    return _strip(np.stack([radius * np.cos(turn), np.full(_PARTS + 1, height), radius * np.sin(turn)], axis=1))


def _strip(points: npt.NDArray[np.float64]) -> Segments:
    return np.stack([points[:-1], points[1:]], axis=1)


def _box(half: npt.NDArray[np.float64]) -> Segments:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    pairs = [(a, a | bit) for a in range(8) for bit in (1, 2, 4) if not a & bit]
    edges: Segments = corners[np.array(pairs)]
    return edges


def angle_direction(angles: Float64, random: Float64) -> Float64:
    """Returns unit vectors (N, 3), uniform in both angles; pitch counts from the horizontal, yaw from z.

    Angles are middle and span of yaw, middle and span of pitch [rad]; random numbers are in [0, 1), shape (N, 2).
    """
    yaw = angles[0] + angles[1] * (random[:, 0] - 0.5)
    pitch = angles[2] + angles[3] * (random[:, 1] - 0.5)
    level = np.cos(pitch)
    return np.stack([-np.sin(yaw) * level, np.sin(pitch), np.cos(yaw) * level], axis=1)


FLIGHT = 0.2
"""Flight time of cone and arrow [s]; the arrow has a root in addition."""

SHORTEST, LONGEST = 0.08, 1.5
"""Bounds of the length of direction lines [m]."""


def reach(settings: EmitterSettings) -> float:
    return float(np.clip(settings.speed * min(FLIGHT, settings.lifetime), SHORTEST, LONGEST))


# --- handles ---------------------------------------------------------------------------------------------------------

Cursor = tuple[float, float]

ROOT = 26.0
"""Length of the arrow at zero speed [px], so that its tip can be grabbed."""
SMALLEST_RING = 14.0
"""Smallest radius of the edge of a source on the screen [px]."""

_GRAB = 9.0
_EDGE_GRAB = 5.0
_EDGE_ON = 0.1
_ANGLES = np.linspace(0.0, 180.0, 361)
_SPEED_MAX, _LENGTH_MAX = 1e4, 1e4


class KnobKind(enum.Enum):
    SPEED = "speed"
    CONE = "cone_angle"
    RADIUS = "source_radius"
    SIZE = "source_size"


@dataclass(frozen=True, slots=True)
class Knob:
    kind: KnobKind
    points: Float64  # Drawn points in the world [m], shape (K, 3)
    edge: Float64  # Polyline that can be dragged too, shape (N, 3); empty for none
    axis: int = 0  # Axis of a size


@dataclass(frozen=True, slots=True)
class KnobGrab:
    knob: int
    point: int
    on_edge: bool = False


class EmitterHandles:
    """Handles of an emitter; `knobs` begin with the topmost one, `outline` explains them by polylines [m]."""

    def __init__(self, view: HandleView, world_from_source: npt.ArrayLike, settings: EmitterSettings) -> None:
        self.view, self.world_from_source, self.settings = view, glm.dmat4(world_from_source), settings
        self.knobs: tuple[Knob, ...] = (*self._aim_knobs(), *self._source_knobs())
        self.outline: tuple[Float64, ...] = tuple(self._outline())

    # --- geometry -------------------------------------------------------------------------------------

    @property
    def base(self) -> glm.dvec3:
        return self.world_from_source * glm.dvec3(0.0, _top(self.settings), 0.0)

    @property
    def length(self) -> float:
        """Length of the arrow in the world [m]."""
        return ROOT * self.view.metres_per_pixel(self.base) + FLIGHT * self.settings.speed

    @property
    def direction(self) -> glm.dvec3:
        """Mean initial direction, a unit vector in the world."""
        return _unit(glm.dmat3(self.world_from_source) * middle_direction(self.settings))

    def rim_point(self, angle: npt.ArrayLike, azimuth: npt.ArrayLike) -> Float64:
        """Returns world points (N, 3) [m] of a cone's rim, by half its opening [°] and the angle about it [rad]."""
        tilt, turn = np.broadcast_arrays(np.radians(np.asarray(angle, float)), np.asarray(azimuth, float))
        across = np.sin(tilt)
        local = reach(self.settings) * np.stack([across * np.cos(turn), np.cos(tilt), across * np.sin(turn)], axis=-1)
        return self._placed(local + np.array([0.0, _top(self.settings), 0.0]))

    def hit(self, cursor: Cursor) -> KnobGrab | None:
        for number, knob in enumerate(self.knobs):
            pixels = self.view.pixels(knob.points)
            distances = np.nan_to_num(np.linalg.norm(pixels - cursor, axis=1), nan=np.inf)
            nearest = int(np.argmin(distances))
            if distances[nearest] <= _GRAB:
                return KnobGrab(number, nearest)
        for number, knob in enumerate(self.knobs):
            if len(knob.edge):
                pixels = self.view.pixels(knob.edge)
                if polyline_distance(pixels, cursor) <= _EDGE_GRAB:
                    distances = np.nan_to_num(np.linalg.norm(pixels - cursor, axis=1), nan=np.inf)
                    return KnobGrab(number, int(np.argmin(distances)), on_edge=True)
        return None

    def _placed(self, points: Float64) -> Float64:
        return transform_points(np.asarray(self.world_from_source), points)

    def _aim_knobs(self) -> Iterator[Knob]:
        settings = self.settings
        if settings.is_on_surface and settings.aim is EmissionAim.OUTWARD:
            return  # every place of the surface has a direction of its own
        tip = self.base + self.length * self.direction
        yield Knob(KnobKind.SPEED, np.array([tip]), np.zeros((0, 3)))
        if settings.aim is not EmissionAim.ANGLES:
            turns = np.linspace(0.0, 2.0 * np.pi, RING_POINTS + 1)
            rim = self.rim_point(settings.cone_angle, turns)
            yield Knob(KnobKind.CONE, rim[: RING_POINTS : RING_POINTS // 4], rim)

    def _source_knobs(self) -> Iterator[Knob]:
        settings = self.settings
        if settings.source in (EmitterSource.SPHERE, EmitterSource.DISC):
            ring = self._ring()
            yield Knob(KnobKind.RADIUS, ring[: RING_POINTS : RING_POINTS // 4], ring)
        elif settings.source in (EmitterSource.BOX, EmitterSource.LINE):
            for axis in range(3 if settings.source is EmitterSource.BOX else 1):
                ends = np.zeros((2, 3))
                ends[:, axis] = np.array([0.5, -0.5]) * self._shown_size(axis)
                yield Knob(KnobKind.SIZE, self._placed(ends), np.zeros((0, 3)), axis)

    def ring_axes(self) -> tuple[glm.dvec3, glm.dvec3]:
        """Returns axes in the space of the source: the plane of a disc, or the view plane of a sphere."""
        if self.settings.source is not EmitterSource.SPHERE:
            return glm.dvec3(1.0, 0.0, 0.0), glm.dvec3(0.0, 0.0, 1.0)
        right, up, _ = self.view.camera.rotation()
        first, second = self._into_source(right), self._into_source(up)
        return first, _unit(second - first * glm.dot(second, first))

    def _ring(self) -> Float64:
        radius = max(self.settings.source_radius, self._pixels_in_source(SMALLEST_RING))
        return self._placed(radius * (CIRCLE @ np.array(self.ring_axes())))

    def _shown_size(self, axis: int) -> float:
        return max(self.settings.source_size[axis], 2.0 * self._pixels_in_source(SMALLEST_RING))

    def _pixels_in_source(self, count: float) -> float:
        scale = math.cbrt(abs(glm.determinant(self.world_from_source))) or 1.0
        return count * self.view.metres_per_pixel(self.world_from_source[3].xyz) / scale

    def _into_source(self, direction: glm.dvec3) -> glm.dvec3:
        return _unit(glm.inverse(glm.dmat3(self.world_from_source)) * direction)

    def _outline(self) -> Iterator[Float64]:
        for knob in self.knobs:
            if knob.kind is KnobKind.SPEED:
                yield np.array([self.base, knob.points[0]])
            elif knob.kind is KnobKind.CONE and _top(self.settings):
                yield from (np.array([self.base, point]) for point in knob.points)
            elif knob.kind is KnobKind.SIZE:
                yield knob.points


def dragged_setting(handles: EmitterHandles, hold: KnobGrab, press: Cursor, cursor: Cursor) -> dict[str, Any]:
    """Returns the setting after a drag: unchanged at the press position; repeated calls add up no errors."""
    knob, settings = handles.knobs[hold.knob], handles.settings
    if knob.kind is KnobKind.SPEED:
        way = _way(handles, handles.base, handles.direction, press, cursor)
        return {"speed": _within(settings.speed + way / FLIGHT, _SPEED_MAX)}
    if knob.kind is KnobKind.CONE:
        return {"cone_angle": _cone_angle(handles, knob, hold, press, cursor)}
    if knob.kind is KnobKind.RADIUS:
        way = _reach(handles, cursor) - _reach(handles, press)
        return {"source_radius": _within(settings.source_radius + way, _LENGTH_MAX)}
    axis = handles.world_from_source[knob.axis].xyz
    scale = max(glm.length(axis), 1e-12)
    sign = 1.0 if hold.point == 0 else -1.0
    way = sign * _way(handles, handles.world_from_source[3].xyz, axis / scale, press, cursor) / scale
    size = list(settings.source_size)
    size[knob.axis] = _within(size[knob.axis] + 2.0 * way, _LENGTH_MAX)
    return {"source_size": tuple(size)}


def middle_direction(settings: EmitterSettings) -> glm.dvec3:
    if settings.aim is not EmissionAim.ANGLES:
        return glm.dvec3(0.0, 1.0, 0.0)
    yaw, pitch = math.radians(settings.yaw), math.radians(settings.pitch)
    if settings.yaw_spread >= 360.0:
        return glm.dvec3(0.0, math.copysign(1.0, math.sin(pitch)), 0.0)  # all around, so up or down on the whole
    return glm.dvec3(-math.sin(yaw) * math.cos(pitch), math.sin(pitch), math.cos(yaw) * math.cos(pitch))


def _top(settings: EmitterSettings) -> float:
    outward = settings.aim is EmissionAim.OUTWARD and settings.source is EmitterSource.SPHERE
    return settings.source_radius if outward else 0.0


def _cone_angle(handles: EmitterHandles, knob: Knob, hold: KnobGrab, press: Cursor, cursor: Cursor) -> float:
    before = handles.settings.cone_angle
    part = hold.point / RING_POINTS if hold.on_edge else hold.point / len(knob.points)
    azimuth = 2.0 * np.pi * part
    held = handles.view.pixels(handles.rim_point([before], azimuth))[0]
    target = np.asarray(cursor) + held - np.asarray(press)
    angles = np.union1d(_ANGLES, [before])
    distances = np.linalg.norm(handles.view.pixels(handles.rim_point(angles, azimuth)) - target, axis=1)
    # Seen edge-on two angles share a pixel: the nearer one is meant.
    distances = np.nan_to_num(distances, nan=np.inf) + 1e-3 * np.abs(angles - before)
    return float(angles[np.argmin(distances)])


def _reach(handles: EmitterHandles, cursor: Cursor) -> float:
    """Returns the distance from a round source to the cursor in the plane of its ring, in its space [m]."""
    source_from_world = glm.inverse(handles.world_from_source)
    origin, direction = handles.view.ray(cursor)
    start, along = source_from_world * origin, _unit(glm.dmat3(source_from_world) * direction)
    normal = glm.cross(*handles.ring_axes())
    place = ray_plane(start, along, glm.dvec3(), normal) if abs(glm.dot(along, normal)) > _EDGE_ON else None
    # The plane of a disc seen edge-on has no point under the cursor; take the nearest point of the ray.
    return float(glm.length(start - along * glm.dot(start, along) if place is None else place))


def _way(handles: EmitterHandles, centre: glm.dvec3, axis: glm.dvec3, press: Cursor, cursor: Cursor) -> float:
    """Returns the way of a drag along an axis in the world [m]."""
    return along_axis(handles.view, centre, axis, cursor) - along_axis(handles.view, centre, axis, press)


def _unit(vector: glm.dvec3) -> glm.dvec3:
    return vector / max(glm.length(vector), 1e-12)


def _within(value: float, highest: float) -> float:
    return float(min(max(value, 0.0), highest))
