"""Handles of an emitter itself: the tip of its arrow is the speed, the rim its cone, the edge of the source its size.

Pure geometry, like `sim.scene.handles`; what is drawn and what a drag does come from the same places.
"""

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.kinds.emitter.emission import EmissionAim, EmitterSource
from sim.kinds.emitter.reach import FLIGHT, reach
from sim.kinds.emitter.settings import EmitterSettings
from sim.maths.transform import transform_points
from sim.scene.handles import View, along_axis, linear_point, polyline_distance
from sim.scene.picking import ray_plane

Float64 = npt.NDArray[np.float64]
Cursor = tuple[float, float]

ARROW_TIME = FLIGHT
"""The arrow is as long as the way in this time [s], beyond its root."""
ROOT = 26.0
"""Length of the arrow without any speed [px], so that its tip can be held."""
SMALLEST_RING = 14.0
"""Radius on the screen that the edge of a source has at least [px]."""

_GRAB = 9.0
_EDGE_GRAB = 5.0
_RING_POINTS = 64
_EDGE_ON = 0.1
_ANGLES = np.linspace(0.0, 180.0, 361)
_SPEED_MAX, _LENGTH_MAX = 1e4, 1e4


class GripKind(enum.Enum):
    """What dragging changes."""

    SPEED = "speed"
    CONE = "cone_angle"
    RADIUS = "source_radius"
    SIZE = "source_size"


@dataclass(frozen=True, slots=True)
class Grip:
    """Something to take hold of.

    Attributes:
        kind: What dragging changes.
        knobs: Places that are marked in the world [m], shape (K, 3).
        edge: Polyline that can be held too, shape (N, 3); empty for none.
        axis: Of a size, which one.
    """

    kind: GripKind
    knobs: Float64
    edge: Float64
    axis: int = 0


@dataclass(frozen=True, slots=True)
class Hold:
    """What the mouse took hold of: number of the grip, and of the knob or the point of its edge."""

    grip: int
    point: int
    on_edge: bool = False


class EmitterHandles:
    """Handles of one emitter in one picture.

    Args:
        view: The picture.
        world_from_source: Where the emitter stands, shape (4, 4).
        settings: Its settings.

    Attributes:
        grips: What can be held, those in front of others first.
        outline: Polylines that only explain the grips [m].
    """

    def __init__(self, view: View, world_from_source: Float64, settings: EmitterSettings) -> None:
        self.view, self.world_from_source, self.settings = view, world_from_source, settings
        self.grips: tuple[Grip, ...] = (*self._aim_grips(), *self._source_grips())
        self.outline: tuple[Float64, ...] = tuple(self._outline())

    # --- geometry -------------------------------------------------------------------------------------

    @property
    def base(self) -> Float64:
        """Where the arrow begins in the world [m], shape (3,): at the top of a source that emits outwards."""
        return linear_point(self.world_from_source, (0.0, _top(self.settings), 0.0))

    @property
    def length(self) -> float:
        """Length of the arrow in the world [m]."""
        return ROOT * self.view.metres_per_pixel(self.base) + ARROW_TIME * self.settings.speed

    @property
    def direction(self) -> Float64:
        """Middle of the directions that particles start in, a unit vector of the world, shape (3,)."""
        return self._turned(middle_direction(self.settings))

    def rim_point(self, angle: npt.ArrayLike, azimuth: npt.ArrayLike) -> Float64:
        """Points (N, 3) of the rim of a cone [m]: half its opening [°] and the turn about its axis [rad].

        It is that of the outline that is drawn; the tip of the arrow is farther away, so that a closed cone does not
        hide it.
        """
        tilt, turn = np.broadcast_arrays(np.radians(np.asarray(angle, float)), np.asarray(azimuth, float))
        across = np.sin(tilt)
        local = reach(self.settings) * np.stack([across * np.cos(turn), np.cos(tilt), across * np.sin(turn)], axis=-1)
        return transform_points(self.world_from_source, local + np.array([0.0, _top(self.settings), 0.0]))

    def hit(self, cursor: Cursor) -> Hold | None:
        """What is under the cursor, knobs before edges; None for nothing."""
        for number, grip in enumerate(self.grips):
            pixels = self.view.pixels(grip.knobs)
            distances = np.nan_to_num(np.linalg.norm(pixels - cursor, axis=1), nan=np.inf)
            nearest = int(np.argmin(distances))
            if distances[nearest] <= _GRAB:
                return Hold(number, nearest)
        for number, grip in enumerate(self.grips):
            if len(grip.edge):
                pixels = self.view.pixels(grip.edge)
                if polyline_distance(pixels, cursor) <= _EDGE_GRAB:
                    distances = np.nan_to_num(np.linalg.norm(pixels - cursor, axis=1), nan=np.inf)
                    return Hold(number, int(np.argmin(distances)), on_edge=True)
        return None

    def _turned(self, direction: Float64) -> Float64:
        """Directions (..., 3) of the source as unit vectors of the world."""
        turned: Float64 = direction @ self.world_from_source[:3, :3].T
        unit: Float64 = turned / np.maximum(np.linalg.norm(turned, axis=-1, keepdims=True), 1e-12)
        return unit

    def _aim_grips(self) -> Iterator[Grip]:
        settings = self.settings
        if settings.source in _SURFACES and settings.aim is EmissionAim.OUTWARD:
            return  # every place of the surface has a direction of its own
        tip = self.base + self.length * self.direction
        yield Grip(GripKind.SPEED, tip[None], np.zeros((0, 3)))
        if settings.aim is not EmissionAim.ANGLES:
            turns = np.linspace(0.0, 2.0 * np.pi, _RING_POINTS + 1)
            rim = self.rim_point(settings.cone_angle, turns)
            yield Grip(GripKind.CONE, rim[: _RING_POINTS : _RING_POINTS // 4], rim)

    def _source_grips(self) -> Iterator[Grip]:
        settings = self.settings
        if settings.source in (EmitterSource.SPHERE, EmitterSource.DISC):
            ring = self._ring()
            yield Grip(GripKind.RADIUS, ring[: _RING_POINTS : _RING_POINTS // 4], ring)
        elif settings.source in (EmitterSource.BOX, EmitterSource.LINE):
            for axis in range(3 if settings.source is EmitterSource.BOX else 1):
                ends = np.zeros((2, 3))
                ends[:, axis] = np.array([0.5, -0.5]) * self._shown_size(axis)
                yield Grip(GripKind.SIZE, transform_points(self.world_from_source, ends), np.zeros((0, 3)), axis)

    def ring_axes(self) -> tuple[Float64, Float64]:
        """Two directions that span the plane of a disc, or that in which a ball is seen; in the space of the source."""
        if self.settings.source is not EmitterSource.SPHERE:
            return np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
        right, up, _ = self.view.camera.rotation()
        first, second = self._into_source(right), self._into_source(up)
        return first, _unit(second - (second @ first) * first)

    def _ring(self) -> Float64:
        turns = np.linspace(0.0, 2.0 * np.pi, _RING_POINTS + 1)[:, None]
        first, second = self.ring_axes()
        radius = max(self.settings.source_radius, self._pixels_in_source(SMALLEST_RING))
        return transform_points(self.world_from_source, radius * (np.cos(turns) * first + np.sin(turns) * second))

    def _shown_size(self, axis: int) -> float:
        return max(self.settings.source_size[axis], 2.0 * self._pixels_in_source(SMALLEST_RING))

    def _pixels_in_source(self, count: float) -> float:
        """Length in the space of the source of so many pixels."""
        scale = float(np.cbrt(abs(np.linalg.det(self.world_from_source[:3, :3])))) or 1.0
        return count * self.view.metres_per_pixel(self.world_from_source[:3, 3]) / scale

    def _into_source(self, direction: Float64) -> Float64:
        return _unit(np.linalg.solve(self.world_from_source[:3, :3], direction).astype(np.float64))

    def _outline(self) -> Iterator[Float64]:
        for grip in self.grips:
            if grip.kind is GripKind.SPEED:
                yield np.stack([self.base, grip.knobs[0]])
            elif grip.kind is GripKind.CONE and _top(self.settings):
                yield from (np.stack([self.base, knob]) for knob in grip.knobs)
            elif grip.kind is GripKind.SIZE:
                yield grip.knobs


def gripped(handles: EmitterHandles, hold: Hold, press: Cursor, cursor: Cursor) -> dict[str, Any]:
    """The setting that a drag changes, with its value after the drag; at the place of the press nothing changes.

    Args:
        handles: Handles as they were at the press; every call starts from them, so nothing adds up.
        hold: What is held.
        press, cursor: Start and present place of the mouse [px].
    """
    grip, settings = handles.grips[hold.grip], handles.settings
    if grip.kind is GripKind.SPEED:
        way = _way(handles, handles.base, handles.direction, press, cursor)
        return {"speed": _within(settings.speed + way / ARROW_TIME, _SPEED_MAX)}
    if grip.kind is GripKind.CONE:
        return {"cone_angle": _cone_angle(handles, grip, hold, press, cursor)}
    if grip.kind is GripKind.RADIUS:
        way = _reach(handles, cursor) - _reach(handles, press)
        return {"source_radius": _within(settings.source_radius + way, _LENGTH_MAX)}
    axis = handles.world_from_source[:3, grip.axis]
    scale = max(float(np.linalg.norm(axis)), 1e-12)
    sign = 1.0 if hold.point == 0 else -1.0
    way = sign * _way(handles, handles.world_from_source[:3, 3], axis / scale, press, cursor) / scale
    size = list(settings.source_size)
    size[grip.axis] = _within(size[grip.axis] + 2.0 * way, _LENGTH_MAX)
    return {"source_size": tuple(size)}


def middle_direction(settings: EmitterSettings) -> Float64:
    """Middle of the directions in the frame of the source, shape (3,); as in `sim.kinds.emitter.directions`."""
    if settings.aim is not EmissionAim.ANGLES:
        return np.array([0.0, 1.0, 0.0])
    yaw, pitch = np.radians(settings.yaw), np.radians(settings.pitch)
    if settings.yaw_spread >= 360.0:
        return np.array([0.0, np.copysign(1.0, np.sin(pitch)), 0.0])  # all around, so up or down on the whole
    return np.array([-np.sin(yaw) * np.cos(pitch), np.sin(pitch), np.cos(yaw) * np.cos(pitch)])


_SURFACES = (EmitterSource.VERTICES, EmitterSource.FACES)


def _top(settings: EmitterSettings) -> float:
    """Height of the arrow's root above the middle of the source [m]; only a sphere has another outside than y."""
    outward = settings.aim is EmissionAim.OUTWARD and settings.source is EmitterSource.SPHERE
    return settings.source_radius if outward else 0.0


def _cone_angle(handles: EmitterHandles, grip: Grip, hold: Hold, press: Cursor, cursor: Cursor) -> float:
    """The angle whose point of the rim, at the turn that is held, is nearest to the cursor on the screen [°]."""
    before = handles.settings.cone_angle
    part = hold.point / _RING_POINTS if hold.on_edge else hold.point / len(grip.knobs)
    azimuth = 2.0 * np.pi * part
    held = handles.view.pixels(handles.rim_point([before], azimuth))[0]
    wanted = np.asarray(cursor) + held - np.asarray(press)
    angles = np.union1d(_ANGLES, [before])
    distances = np.linalg.norm(handles.view.pixels(handles.rim_point(angles, azimuth)) - wanted, axis=1)
    # Seen edge-on two angles share a pixel: the nearer one is meant.
    distances = np.nan_to_num(distances, nan=np.inf) + 1e-3 * np.abs(angles - before)
    return float(angles[np.argmin(distances)])


def _reach(handles: EmitterHandles, cursor: Cursor) -> float:
    """Distance from the middle of a round source to the cursor in the plane of its ring, in the source's space [m]."""
    source_from_world = np.linalg.inv(handles.world_from_source).astype(np.float64)
    origin, direction = handles.view.ray(cursor)
    start = linear_point(source_from_world, origin)
    along = _unit(source_from_world[:3, :3] @ direction)
    normal = np.cross(*handles.ring_axes())
    place = ray_plane(start, along, np.zeros(3), normal) if abs(along @ normal) > _EDGE_ON else None
    # A disc that is seen edge-on has no place under the cursor; the nearest point of the ray does.
    return float(np.linalg.norm(start - (start @ along) * along if place is None else place))


def _way(handles: EmitterHandles, centre: Float64, axis: Float64, press: Cursor, cursor: Cursor) -> float:
    """Way of the mouse along an axis of the world [m]."""
    return along_axis(handles.view, centre, axis, cursor) - along_axis(handles.view, centre, axis, press)


def _unit(vector: Float64) -> Float64:
    unit: Float64 = vector / max(float(np.linalg.norm(vector)), 1e-12)
    return unit


def _within(value: float, highest: float) -> float:
    return float(min(max(value, 0.0), highest))
