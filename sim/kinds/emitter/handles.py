"""Handles of an emitter: the tip of its arrow sets the speed, the rim the cone, the edge of the source its size."""

import enum
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pyglm import glm

from sinew.sim.kinds.emitter.outline import FLIGHT, reach
from sinew.sim.kinds.emitter.settings import EmissionAim, EmitterSettings, EmitterSource
from sinew.sim.maths.transform import transform_points
from sinew.sim.scene.handles import CIRCLE, RING_POINTS, HandleView, along_axis, polyline_distance
from sinew.sim.scene.picking import ray_plane

Float64 = npt.NDArray[np.float64]


Cursor = tuple[float, float]

ARROW_TIME = FLIGHT
"""The arrow is as long as the path in this time [s], plus its root."""
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
    """The setting that a knob changes."""

    SPEED = "speed"
    CONE = "cone_angle"
    RADIUS = "source_radius"
    SIZE = "source_size"


@dataclass(frozen=True, slots=True)
class Knob:
    """A draggable part."""

    kind: KnobKind
    points: Float64  # Drawn points in the world [m], shape (K, 3)
    edge: Float64  # Polyline that can be dragged too, shape (N, 3); empty for none
    axis: int = 0  # Axis of a size


@dataclass(frozen=True, slots=True)
class KnobGrab:
    """What the mouse grabbed: index of the knob, and of its point or the point of its edge."""

    knob: int
    point: int
    on_edge: bool = False


class EmitterHandles:
    """Handles of one emitter in one frame.

    Attributes:
        knobs: Draggable parts, the first ones on top.
        outline: Polylines that explain the knobs [m].
    """

    def __init__(self, view: HandleView, world_from_source: npt.ArrayLike, settings: EmitterSettings) -> None:
        self.view, self.world_from_source, self.settings = view, glm.dmat4(world_from_source), settings
        self.knobs: tuple[Knob, ...] = (*self._aim_knobs(), *self._source_knobs())
        self.outline: tuple[Float64, ...] = tuple(self._outline())

    # --- geometry -------------------------------------------------------------------------------------

    @property
    def base(self) -> glm.dvec3:
        """Root of the arrow in the world [m]: at the top of a source that emits outwards."""
        return self.world_from_source * glm.dvec3(0.0, _top(self.settings), 0.0)

    @property
    def length(self) -> float:
        """Length of the arrow in the world [m]."""
        return ROOT * self.view.metres_per_pixel(self.base) + ARROW_TIME * self.settings.speed

    @property
    def direction(self) -> glm.dvec3:
        """Mean initial direction of the particles, a unit vector in the world."""
        return _unit(glm.dmat3(self.world_from_source) * middle_direction(self.settings))

    def rim_point(self, angle: npt.ArrayLike, azimuth: npt.ArrayLike) -> Float64:
        """Points (N, 3) of the rim of a cone [m], by half its opening [°] and the angle about its axis [rad].

        The tip of the arrow is farther away than the rim, so that a closed cone does not hide it.
        """
        tilt, turn = np.broadcast_arrays(np.radians(np.asarray(angle, float)), np.asarray(azimuth, float))
        across = np.sin(tilt)
        local = reach(self.settings) * np.stack([across * np.cos(turn), np.cos(tilt), across * np.sin(turn)], axis=-1)
        return self._placed(local + np.array([0.0, _top(self.settings), 0.0]))

    def hit(self, cursor: Cursor) -> KnobGrab | None:
        """The knob or edge under the cursor, knobs first; None if there is none."""
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
        """Points (..., 3) of the source in the world [m]."""
        return transform_points(np.asarray(self.world_from_source), points)

    def _aim_knobs(self) -> Iterator[Knob]:
        settings = self.settings
        if settings.source in _SURFACES and settings.aim is EmissionAim.OUTWARD:
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
        """Two directions that span the plane of a disc, or the view plane of a sphere; in the space of the source."""
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
    """The setting that a drag changes, with its value; at the press position it keeps its value.

    Every call starts from the handles at the press, so errors do not accumulate.
    """
    knob, settings = handles.knobs[hold.knob], handles.settings
    if knob.kind is KnobKind.SPEED:
        way = _way(handles, handles.base, handles.direction, press, cursor)
        return {"speed": _within(settings.speed + way / ARROW_TIME, _SPEED_MAX)}
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
    """Mean direction in the frame of the source."""
    if settings.aim is not EmissionAim.ANGLES:
        return glm.dvec3(0.0, 1.0, 0.0)
    yaw, pitch = math.radians(settings.yaw), math.radians(settings.pitch)
    if settings.yaw_spread >= 360.0:
        return glm.dvec3(0.0, math.copysign(1.0, math.sin(pitch)), 0.0)  # all around, so up or down on the whole
    return glm.dvec3(-math.sin(yaw) * math.cos(pitch), math.sin(pitch), math.cos(yaw) * math.cos(pitch))


_SURFACES = (EmitterSource.VERTICES, EmitterSource.FACES)


def _top(settings: EmitterSettings) -> float:
    """Height of the arrow's root above the centre of the source [m]."""
    outward = settings.aim is EmissionAim.OUTWARD and settings.source is EmitterSource.SPHERE
    return settings.source_radius if outward else 0.0


def _cone_angle(handles: EmitterHandles, knob: Knob, hold: KnobGrab, press: Cursor, cursor: Cursor) -> float:
    """The angle whose point of the rim, at the grabbed angle, is nearest to the cursor on the screen [°]."""
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
    """Distance from the centre of a round source to the cursor in the plane of its ring, in the source's space [m]."""
    source_from_world = glm.inverse(handles.world_from_source)
    origin, direction = handles.view.ray(cursor)
    start, along = source_from_world * origin, _unit(glm.dmat3(source_from_world) * direction)
    normal = glm.cross(*handles.ring_axes())
    place = ray_plane(start, along, glm.dvec3(), normal) if abs(glm.dot(along, normal)) > _EDGE_ON else None
    # The plane of a disc seen edge-on has no point under the cursor; take the nearest point of the ray.
    return float(glm.length(start - along * glm.dot(start, along) if place is None else place))


def _way(handles: EmitterHandles, centre: glm.dvec3, axis: glm.dvec3, press: Cursor, cursor: Cursor) -> float:
    """Movement of the mouse along an axis in the world [m]."""
    return along_axis(handles.view, centre, axis, cursor) - along_axis(handles.view, centre, axis, press)


def _unit(vector: glm.dvec3) -> glm.dvec3:
    return vector / max(glm.length(vector), 1e-12)


def _within(value: float, highest: float) -> float:
    return float(min(max(value, 0.0), highest))
