"""Camera as a value: orbit around a target, perspective or orthographic.

World space is right-handed, y up, metres.  Matrices are float64 (4, 4), row-major numpy arrays that
multiply column vectors, named destination_from_source.
"""

import functools
import math
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt

from sim.scene.params import param
from sim.scene.vectors import Vec3

Matrix = npt.NDArray[np.float64]

_FRAME_MARGIN = 1.12
"""Size of the picture relative to a box that is framed in it."""

_NEAREST = 1e-3
"""Distance [m] from which something without size is framed."""


class Camera(msgspec.Struct, frozen=True, kw_only=True):
    """Orbit camera; view state, saved but not undone.

    At yaw 0 and pitch 0 the camera looks along -z from +z (front view); positive yaw moves it towards +x,
    positive pitch moves it up.
    """

    target: Annotated[Vec3, param("Point the camera turns about.", unit="m")] = (0.0, 1.0, 0.0)
    yaw: Annotated[float, param("Turn about the world's y axis.", unit="°")] = 30.0
    pitch: Annotated[float, param("Height of the camera over the horizon.", unit="°", lo=-90.0, hi=90.0)] = 15.0
    distance: Annotated[float, param("Distance from the target.", unit="m", lo=1e-4, hi=1e7)] = 4.0
    orthographic: Annotated[bool, param("Draw without perspective.")] = False
    field_of_view: Annotated[float, param("Vertical opening angle.", unit="°", lo=1.0, hi=150.0)] = 40.0

    def rotation(self) -> Matrix:
        """Rows are the camera's right, up and backward axes in the world, shape (3, 3), read-only."""
        return _rotation(self.yaw, self.pitch)

    def position(self) -> Matrix:
        """Eye point in the world [m], shape (3,)."""
        eye: Matrix = np.asarray(self.target) + self.rotation()[2] * self.distance
        return eye

    def view_from_world(self) -> Matrix:
        """Rigid transform into camera space (x right, y up, -z forward), read-only."""
        return _view_from_world(self.target, self.yaw, self.pitch, self.distance)

    def clip_from_view(self, aspect: float, near: float, far: float) -> Matrix:
        """Projection to OpenGL clip space; aspect is width / height, near and far in metres."""
        half = math.tan(math.radians(self.field_of_view) / 2.0)
        if self.orthographic:
            return _orthographic(half * self.distance * aspect, half * self.distance, near, far)
        return _perspective(half * aspect, half, near, far)

    def clip_from_world(self, aspect: float, near: float, far: float) -> Matrix:
        """Projection after view."""
        return self.clip_from_view(aspect, near, far) @ self.view_from_world()

    def ray(self, ndc_x: float, ndc_y: float, aspect: float) -> tuple[Matrix, Matrix]:
        """Origin [m] and unit direction in the world, shape (3,), through a point of the picture.

        Args:
            ndc_x: Horizontal place from -1 (left) to 1.
            ndc_y: Vertical place from -1 (bottom) to 1.
            aspect: Width / height of the picture.
        """
        half = np.tan(np.radians(self.field_of_view) / 2.0)
        right, up, back = self.rotation()
        if self.orthographic:
            span = half * self.distance
            return self.position() + right * (ndc_x * span * aspect) + up * (ndc_y * span), -back
        direction = right * (ndc_x * half * aspect) + up * (ndc_y * half) - back
        return self.position(), direction / np.linalg.norm(direction)

    def framed(self, lo: npt.ArrayLike, hi: npt.ArrayLike, aspect: float = 1.0) -> "Camera":
        """Same direction, moved so that the box from `lo` to `hi` [m] just fits into the picture, with a margin."""
        low, high = np.asarray(lo, dtype=np.float64), np.asarray(hi, dtype=np.float64)
        centre = (low + high) / 2.0
        corners = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, 8).T * (high - low)
        x, y, z = self.rotation() @ corners.T
        half = np.tan(np.radians(self.field_of_view) / 2.0) / _FRAME_MARGIN
        reach = np.maximum(np.abs(x) / (half * aspect), np.abs(y) / half)
        distance = float((reach if self.orthographic else reach + z).max())
        target = (float(centre[0]), float(centre[1]), float(centre[2]))
        return msgspec.structs.replace(self, target=target, distance=float(np.clip(distance, _NEAREST, 1e7)))


# A camera stands still in most frames.


@functools.lru_cache(maxsize=64)
def _rotation(yaw: float, pitch: float) -> Matrix:
    turn, tilt = math.radians(yaw), math.radians(pitch)
    cy, sy, cp, sp = math.cos(turn), math.sin(turn), math.cos(tilt), math.sin(tilt)
    rotation = np.array([[cy, 0.0, -sy], [-sy * sp, cp, -cy * sp], [sy * cp, sp, cy * cp]])
    rotation.flags.writeable = False
    return rotation


@functools.lru_cache(maxsize=64)
def _view_from_world(target: Vec3, yaw: float, pitch: float, distance: float) -> Matrix:
    rotation = _rotation(yaw, pitch)
    view = np.eye(4)
    view[:3, :3] = rotation
    view[:3, 3] = -rotation @ (np.asarray(target) + rotation[2] * distance)
    view.flags.writeable = False
    return view


def _perspective(half_x: float, half_y: float, near: float, far: float) -> Matrix:
    depth = near - far
    return np.array(
        [
            [1.0 / half_x, 0.0, 0.0, 0.0],
            [0.0, 1.0 / half_y, 0.0, 0.0],
            [0.0, 0.0, (far + near) / depth, 2.0 * far * near / depth],
            [0.0, 0.0, -1.0, 0.0],
        ]
    )


def _orthographic(half_x: float, half_y: float, near: float, far: float) -> Matrix:
    depth = near - far
    return np.array(
        [
            [1.0 / half_x, 0.0, 0.0, 0.0],
            [0.0, 1.0 / half_y, 0.0, 0.0],
            [0.0, 0.0, 2.0 / depth, (far + near) / depth],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
