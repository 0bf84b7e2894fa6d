"""Handles that move, turn and scale an object in the picture: where they are, which one is hit, what a drag does.

Pure geometry; painting and mouse events are someone else's.  Handles 0, 1, 2 belong to the axes x, y, z; `FREE`
moves in the plane of the view, or scales all axes alike.
"""

import enum
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from sim.maths import quaternion
from sim.scene.camera import Camera
from sim.scene.picking import project_points, ray_plane
from sim.scene.transform import Transform
from sim.scene.vectors import Vec3

Float64 = npt.NDArray[np.float64]

FREE = 3
REACH = 90.0
"""Length of an axis handle on the screen [px]."""

_RING_POINTS = 64
_GRAB = 9.0
_FREE_GRAB = 12.0
_SMALLEST_SCALE = 1e-3


class HandleMode(enum.Enum):
    """What dragging does."""

    MOVE = "move"
    ROTATE = "rotate"
    SCALE = "scale"


@dataclass(frozen=True, slots=True)
class View:
    """The picture that the handles are seen in: camera, and width and height [px]."""

    camera: Camera
    size: tuple[float, float]

    def ray(self, cursor: tuple[float, float]) -> tuple[Float64, Float64]:
        """Origin and direction in the world through a pixel."""
        width, height = self.size
        ndc = 2.0 * cursor[0] / width - 1.0, 1.0 - 2.0 * cursor[1] / height
        return self.camera.ray(*ndc, width / height)

    def pixels(self, points: npt.ArrayLike) -> Float64:
        """Pixels (N, 2) of points of the world (N, 3); NaN behind the camera."""
        return project_points(self.camera, self.size, points)[0]

    def metres_per_pixel(self, place: npt.ArrayLike) -> float:
        """Size of a pixel at a place of the world [m]."""
        half = float(np.tan(np.radians(self.camera.field_of_view) / 2.0))
        depth = self.camera.distance
        if not self.camera.orthographic:
            depth = float((self.camera.position() - np.asarray(place)) @ self.camera.rotation()[2])
        return 2.0 * half * max(depth, 1e-6) / max(self.size[1], 1.0)


@dataclass(frozen=True, slots=True)
class Handles:
    """Handles of one object in one picture.

    Attributes:
        mode: What dragging does.
        view: The picture.
        centre: Place of the object in the world [m], shape (3,).
        axes: Unit directions of the handles in the world, rows, shape (3, 3).
    """

    mode: HandleMode
    view: View
    centre: Float64
    axes: Float64

    @property
    def length(self) -> float:
        """Length of an axis handle in the world [m]."""
        return REACH * self.view.metres_per_pixel(self.centre)

    def curve(self, handle: int) -> Float64:
        """Points of an axis handle in the world [m]: two ends, or a ring about the axis, shape (N, 3)."""
        axis = self.axes[handle]
        if self.mode is not HandleMode.ROTATE:
            return np.stack([self.centre, self.centre + axis * self.length])
        side, other = self.axes[(handle + 1) % 3], self.axes[(handle + 2) % 3]
        angle = np.linspace(0.0, 2.0 * np.pi, _RING_POINTS + 1)[:, None]
        ring: Float64 = self.centre + self.length * (np.cos(angle) * side + np.sin(angle) * other)
        return ring

    def hit(self, cursor: tuple[float, float]) -> int | None:
        """The handle under the cursor, or None."""
        middle = self.view.pixels(self.centre[None])[0]
        if self.mode is not HandleMode.ROTATE and np.linalg.norm(middle - cursor) <= _FREE_GRAB:
            return FREE
        distances = [polyline_distance(self.view.pixels(self.curve(handle)), cursor) for handle in range(3)]
        nearest = int(np.argmin(distances))
        return nearest if distances[nearest] <= _GRAB else None


def handles_of(mode: HandleMode, view: View, world_from_parent: Float64, transform: Transform) -> Handles:
    """Handles of a placed object.

    Moving and turning go along the axes of the parent, which is what the numbers of the transform mean; scaling goes
    along the object's own axes.

    Args:
        mode: What dragging does.
        view: The picture.
        world_from_parent: What the transform is relative to, shape (4, 4); the identity for most objects.
        transform: Placement of the object.
    """
    linear = world_from_parent[:3, :3]
    if mode is HandleMode.SCALE:
        linear = linear @ quaternion.to_matrix(quaternion.from_euler_degrees(transform.rotation))
    centre = linear_point(world_from_parent, transform.position)
    axes = linear.T / np.maximum(np.linalg.norm(linear, axis=0)[:, None], 1e-12)
    return Handles(mode, view, centre, axes)


def dragged(
    handles: Handles, handle: int, press: tuple[float, float], cursor: tuple[float, float], world_from_parent: Float64,
    transform: Transform,
) -> Transform:  # fmt: skip
    """The transform after a drag from the place of the press to the cursor.

    Args:
        handles: Handles as they were at the press.
        handle: Which of them is held.
        press, cursor: Start and present place of the mouse [px].
        world_from_parent: What the transform is relative to.
        transform: Placement at the press; every call starts from it, so nothing adds up.
    """
    if handles.mode is HandleMode.MOVE:
        moved = handles.centre + _shift(handles, handle, press, cursor)
        inside = np.linalg.inv(world_from_parent) @ np.append(moved, 1.0)
        return msgspec.structs.replace(transform, position=_vector(inside[:3]))
    if handles.mode is HandleMode.ROTATE:
        # The handles are the axes of the parent, so the turn is about its x, y or z.
        turn = quaternion.from_axis_angle(np.eye(3)[handle], _turn(handles, handle, press, cursor))
        before = quaternion.from_euler_degrees(transform.rotation)
        return msgspec.structs.replace(
            transform, rotation=_vector(quaternion.to_euler_degrees(quaternion.multiply(turn, before)))
        )
    factor = np.ones(3)
    factor[slice(None) if handle == FREE else handle] = _factor(handles, handle, press, cursor)
    scale = np.asarray(transform.scale) * factor
    limited = np.where(np.abs(scale) < _SMALLEST_SCALE, np.copysign(_SMALLEST_SCALE, scale), scale)
    return msgspec.structs.replace(transform, scale=_vector(limited))


def linear_point(matrix: Float64, point: npt.ArrayLike) -> Float64:
    """A point (3,) moved by an affine matrix (4, 4)."""
    moved: Float64 = matrix[:3, :3] @ np.asarray(point, dtype=np.float64) + matrix[:3, 3]
    return moved


def _shift(handles: Handles, handle: int, press: tuple[float, float], cursor: tuple[float, float]) -> Float64:
    """Way from press to cursor in the world [m], along the axis or in the plane of the view."""
    if handle == FREE:
        normal = handles.view.camera.rotation()[2]
        start = ray_plane(*handles.view.ray(press), handles.centre, normal)
        end = ray_plane(*handles.view.ray(cursor), handles.centre, normal)
        return np.zeros(3) if start is None or end is None else end - start
    before, after = _along(handles, handle, press), _along(handles, handle, cursor)
    shift: Float64 = handles.axes[handle] * (after - before)
    return shift


def _along(handles: Handles, handle: int, cursor: tuple[float, float]) -> float:
    return along_axis(handles.view, handles.centre, handles.axes[handle], cursor)


def along_axis(view: View, centre: Float64, axis: Float64, cursor: tuple[float, float]) -> float:
    """Place on an axis through a centre that is nearest to the ray through the cursor [m].

    0 where the axis points at the eye.
    """
    origin, direction = view.ray(cursor)
    between = centre - origin
    cosine = float(axis @ direction)
    square = 1.0 - cosine * cosine
    if square < 1e-6:
        return 0.0
    return float(cosine * (direction @ between) - axis @ between) / square


def _turn(handles: Handles, handle: int, press: tuple[float, float], cursor: tuple[float, float]) -> float:
    """Angle about an axis from press to cursor [rad], as it is seen around the centre of the handles."""
    middle = handles.view.pixels(handles.centre[None])[0]
    start, end = np.subtract(press, middle), np.subtract(cursor, middle)
    # Pixels count downwards, so the angle on the screen has the opposite sense.
    angle = np.arctan2(start[1], start[0]) - np.arctan2(end[1], end[0])
    angle = (angle + np.pi) % (2.0 * np.pi) - np.pi
    towards_eye = float(handles.axes[handle] @ handles.view.camera.rotation()[2])
    return float(angle if towards_eye >= 0.0 else -angle)


def _factor(handles: Handles, handle: int, press: tuple[float, float], cursor: tuple[float, float]) -> float:
    """Ratio by which the drag makes the handle longer."""
    if handle == FREE:
        return float(np.exp((press[1] - cursor[1]) / REACH))
    start, end = _along(handles, handle, press), _along(handles, handle, cursor)
    return end / start if abs(start) > 1e-9 else 1.0


def polyline_distance(points: Float64, cursor: tuple[float, float]) -> float:
    """Distance on the screen [px] from the cursor to a polyline (N, 2); infinite where it is not visible."""
    start, end = points[:-1], points[1:]
    along = end - start
    square = np.maximum(np.sum(along**2, axis=1), 1e-12)
    share = np.clip(np.sum((np.asarray(cursor) - start) * along, axis=1) / square, 0.0, 1.0)
    distances = np.linalg.norm(start + share[:, None] * along - cursor, axis=1)
    return float(np.min(np.nan_to_num(distances, nan=np.inf)))


def _vector(values: Float64) -> Vec3:
    return float(values[0]), float(values[1]), float(values[2])
