"""Handles 0, 1, 2 of the axes x, y, z; `FREE` moves in the plane of the view, or scales all axes alike."""

import enum
import math
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt
from pyglm import glm

from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.quaternion import degrees_from_matrix
from sinew.sim.maths.transform import inverse_affine, polar
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.picking import project_points, ray_plane
from sinew.sim.scene.transform import Transform, rigid_matrix
from sinew.sim.scene.world_transforms import vector

FREE = 3
REACH = 90.0
"""Length of an axis handle on the screen [px]."""

RING_POINTS = 64
_ANGLES = np.linspace(0.0, 2.0 * np.pi, RING_POINTS + 1)
CIRCLE: Float64 = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1)
"""Closed polyline around the unit circle, shape (`RING_POINTS` + 1, 2)."""

_GRAB = 9.0
_FREE_GRAB = 12.0
_SMALLEST_SCALE = 1e-3


class HandleMode(enum.Enum):
    MOVE = "move"
    ROTATE = "rotate"
    SCALE = "scale"


@dataclass(frozen=True, slots=True)
class HandleView:
    camera: Camera
    size: tuple[float, float]  # Width and height [px]

    def ray(self, cursor: tuple[float, float]) -> tuple[glm.dvec3, glm.dvec3]:
        width, height = self.size
        ndc = 2.0 * cursor[0] / width - 1.0, 1.0 - 2.0 * cursor[1] / height
        return self.camera.ray(*ndc, width / height)

    def pixels(self, points: npt.ArrayLike) -> Float64:
        """Returns pixels (N, 2) of points of the world (N, 3); NaN behind the camera."""
        return project_points(self.camera, self.size, points)[0]

    def metres_per_pixel(self, point: glm.dvec3) -> float:
        """Returns the size of a pixel at a point of the world [m]."""
        camera = self.camera
        depth = camera.distance
        if not camera.orthographic:
            depth = glm.dot(camera.position() - point, camera.rotation()[2])
        return 2.0 * camera.tangent * max(depth, 1e-6) / max(self.size[1], 1.0)


@dataclass(frozen=True, slots=True)
class Handles:
    mode: HandleMode
    view: HandleView
    centre: glm.dvec3  # In the world [m]
    axes: glm.dmat3  # Columns are unit directions of the handles in the world

    @property
    def length(self) -> float:
        """Length of an axis handle in the world [m]."""
        return REACH * self.view.metres_per_pixel(self.centre)

    def curve(self, handle: int) -> Float64:
        """Returns points in the world [m], shape (N, 3): two ends of an axis, or a ring about it."""
        axis = self.axes[handle]
        if self.mode is not HandleMode.ROTATE:
            return np.array([self.centre, self.centre + axis * self.length])
        side, other = self.axes[(handle + 1) % 3], self.axes[(handle + 2) % 3]
        ring: Float64 = self.centre + CIRCLE @ np.array([side, other]) * self.length
        return ring

    def hit(self, cursor: tuple[float, float]) -> int | None:
        middle = self.view.pixels([self.centre])[0].tolist()
        if self.mode is not HandleMode.ROTATE and math.dist(middle, cursor) <= _FREE_GRAB:
            return FREE
        distances = [polyline_distance(self.view.pixels(self.curve(handle)), cursor) for handle in range(3)]
        nearest = int(np.argmin(distances))
        return nearest if distances[nearest] <= _GRAB else None


def handles_of(mode: HandleMode, view: HandleView, world_from_parent: Float64, transform: Transform) -> Handles:
    """Returns handles with the axes of the parent, as the transform has them; for scaling with the object's axes.

    `world_from_parent`, shape (4, 4), is the parent frame of the transform; the identity for most objects.
    """
    placed = glm.dmat4(world_from_parent)
    linear = glm.dmat3(placed)
    if mode is HandleMode.SCALE:
        linear = linear * glm.mat3_cast(_turn_of(transform))
    axes = glm.dmat3(*(column / max(glm.length(column), 1e-12) for column in linear))
    return Handles(mode, view, placed * glm.dvec3(*transform.position), axes)


def dragged(
    handles: Handles, handle: int, press: tuple[float, float], cursor: tuple[float, float], world_from_parent: Float64,
    transform: Transform,
) -> Transform:  # fmt: skip
    """Returns the transform after a drag from the press to the cursor.

    Args:
        handles: Handles at the press.
        handle: The one that is dragged.
        press, cursor: Start and present position of the mouse [px].
        world_from_parent: Parent frame of the transform, shape (4, 4).
        transform: Transform at the press; every call starts from it, so errors do not add up.
    """
    if handles.mode is HandleMode.MOVE:
        moved = handles.centre + _shift(handles, handle, press, cursor)
        inside = glm.inverse(glm.dmat4(world_from_parent)) * moved
        return msgspec.structs.replace(transform, position=inside.to_tuple())
    if handles.mode is HandleMode.ROTATE:
        # The handles are the axes of the parent, so the turn is about its x, y or z.
        turn = glm.angleAxis(_turn(handles, handle, press, cursor), glm.dmat3()[handle])
        rotation = np.array(glm.mat3_cast(turn * _turn_of(transform)))
        return msgspec.structs.replace(transform, rotation=degrees_from_matrix(rotation))
    factor = _factor(handles, handle, press, cursor)
    scale = [part * factor if handle in (axis, FREE) else part for axis, part in enumerate(transform.scale)]
    x, y, z = (math.copysign(max(abs(part), _SMALLEST_SCALE), part) for part in scale)
    return msgspec.structs.replace(transform, scale=(x, y, z))


def moved_along(
    mode: HandleMode, world_from_parent: Float64, change: tuple[Transform, Transform], other_from: Float64,
    other: Transform,
) -> Transform:  # fmt: skip
    """Returns the transform of a follower: same motion, rotation about the same centre, same scaling.

    Args:
        world_from_parent: Parent frame of the dragged transform, shape (4, 4).
        change: That transform before and now.
        other_from: Parent frame of the follower, shape (4, 4).
        other: The follower before.
    """
    before, now = change
    if mode is HandleMode.SCALE:
        parts = zip(other.scale, before.scale, now.scale, strict=True)
        x, y, z = (own * after / old if old else own for own, old, after in parts)
        return msgspec.structs.replace(other, scale=(x, y, z))
    turned = rigid_matrix(now) @ inverse_affine(rigid_matrix(before))
    moved = world_from_parent @ turned @ inverse_affine(world_from_parent)
    local = inverse_affine(other_from) @ moved @ other_from
    place = local @ np.array([*other.position, 1.0])
    if mode is HandleMode.MOVE:
        return msgspec.structs.replace(other, position=vector(place[:3]))
    linear, _ = polar(local[:3, :3])
    rotation = degrees_from_matrix(linear @ rigid_matrix(other)[:3, :3])
    return msgspec.structs.replace(other, position=vector(place[:3]), rotation=rotation)


def _turn_of(transform: Transform) -> glm.dquat:
    return glm.dquat(glm.radians(glm.dvec3(*transform.rotation)))


def _shift(handles: Handles, handle: int, press: tuple[float, float], cursor: tuple[float, float]) -> glm.dvec3:
    """Returns the offset in the world [m], along the axis or in the plane of the view."""
    if handle == FREE:
        normal = handles.view.camera.rotation()[2]
        start = ray_plane(*handles.view.ray(press), handles.centre, normal)
        end = ray_plane(*handles.view.ray(cursor), handles.centre, normal)
        return glm.dvec3() if start is None or end is None else end - start
    axis = handles.axes[handle]
    start, end = (along_axis(handles.view, handles.centre, axis, point) for point in (press, cursor))
    return axis * (end - start)


def along_axis(view: HandleView, centre: glm.dvec3, axis: glm.dvec3, cursor: tuple[float, float]) -> float:
    """Returns the position on an axis nearest to the ray through the cursor [m]; 0 if it points at the eye."""
    origin, direction = view.ray(cursor)
    between = centre - origin
    cosine = glm.dot(axis, direction)
    square = 1.0 - cosine * cosine
    if square < 1e-6:
        return 0.0
    along: float = (cosine * glm.dot(direction, between) - glm.dot(axis, between)) / square
    return along


def _turn(handles: Handles, handle: int, press: tuple[float, float], cursor: tuple[float, float]) -> float:
    """Returns the angle about an axis [rad], seen around the centre of the handles."""
    x, y = handles.view.pixels([handles.centre])[0].tolist()
    # Pixels count downwards, so the angle on the screen has the opposite sense.
    angle = math.atan2(press[1] - y, press[0] - x) - math.atan2(cursor[1] - y, cursor[0] - x)
    angle = (angle + math.pi) % (2.0 * math.pi) - math.pi
    return angle if glm.dot(handles.axes[handle], handles.view.camera.rotation()[2]) >= 0.0 else -angle


def _factor(handles: Handles, handle: int, press: tuple[float, float], cursor: tuple[float, float]) -> float:
    if handle == FREE:
        return math.exp((press[1] - cursor[1]) / REACH)
    start, end = (along_axis(handles.view, handles.centre, handles.axes[handle], point) for point in (press, cursor))
    return end / start if abs(start) > 1e-9 else 1.0


def polyline_distance(points: Float64, cursor: tuple[float, float]) -> float:
    """Returns the pixels from the cursor to a polyline (N, 2); infinite if it is not visible."""
    start, end = points[:-1], points[1:]
    along = end - start
    square = np.maximum(np.sum(along**2, axis=1), 1e-12)
    share = np.clip(np.sum((np.asarray(cursor) - start) * along, axis=1) / square, 0.0, 1.0)
    distances = np.linalg.norm(start + share[:, None] * along - cursor, axis=1)
    return float(np.min(np.nan_to_num(distances, nan=np.inf)))
