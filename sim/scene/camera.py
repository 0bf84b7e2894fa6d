"""World space is right-handed, y up, in metres; matrices multiply column vectors.

Single vectors and matrices are GLM types in double precision, which cost a tenth of small numpy arrays.  GLM reads
whole tuples in single precision, so vectors are made from unpacked ones: `glm.dvec3(*point)`.
"""

import itertools
import math
from collections.abc import Iterable
from typing import Annotated

import msgspec
from pyglm import glm

from sinew.sim.scene.params import param
from sinew.sim.scene.vectors import FAR, MOST, Place

DIRECTIONS = {
    "front": (0.0, 0.0),
    "back": (180.0, 0.0),
    "right": (90.0, 0.0),
    "left": (-90.0, 0.0),
    "top": (0.0, 90.0),
    "bottom": (0.0, -90.0),
}
"""Yaw and pitch [°] of the named views: from +z, -z, +x, -x, +y and -y."""

_FRAME_MARGIN = 1.12
"""Size of the image relative to a box that is framed in it."""

_NEAREST = 1e-3
"""Distance [m] from which a point is framed."""


_FLAT, _STEEP = 0.02, 75.0
"""Ratio of height to sides below which a box is framed from above, and the pitch for that [°]."""


class Camera(msgspec.Struct, frozen=True, kw_only=True):
    """Camera of the view state, which is saved but not undone.

    At yaw 0 and pitch 0 the camera looks along -z from +z (front view); positive yaw moves it towards +x, positive
    pitch moves it up.
    """

    target: Annotated[
        Place, param("Point the camera orbits.", unit="m", lo=-FAR, hi=FAR, bounded=False)
    ] = (0.0, 1.0, 0.0)  # fmt: skip
    yaw: Annotated[float, param("Rotation about the world's y axis.", unit="°", lo=-MOST, hi=MOST)] = 30.0
    pitch: Annotated[float, param("Elevation above the horizon.", unit="°", lo=-90.0, hi=90.0)] = 15.0
    distance: Annotated[float, param("Distance from the target.", unit="m", lo=1e-4, hi=1e7)] = 4.0
    orthographic: Annotated[bool, param("Orthographic projection.")] = False
    field_of_view: Annotated[float, param("Vertical field of view.", unit="°", lo=1.0, hi=150.0)] = 40.0
    roll: Annotated[float, param("Rotation about the direction of view.", unit="°", lo=-MOST, hi=MOST)] = 0.0

    @property
    def tangent(self) -> float:
        """Half the height of a perspective image at a depth of one metre [m]."""
        return math.tan(math.radians(self.field_of_view) / 2.0)

    def rotation(self) -> glm.dmat3:
        """Returns world from camera space: columns are the camera's right, up and backward axes in the world."""
        turn, tilt = math.radians(self.yaw), math.radians(self.pitch)
        cy, sy, cp, sp = math.cos(turn), math.sin(turn), math.cos(tilt), math.sin(tilt)
        level = glm.dmat3(cy, 0.0, -sy, -sy * sp, cp, -cy * sp, sy * cp, sp, cy * cp)
        if not self.roll:
            return level
        (right, up, back), roll = level, math.radians(self.roll)
        c, s = math.cos(roll), math.sin(roll)
        return glm.dmat3(c * right + s * up, c * up - s * right, back)

    def position(self) -> glm.dvec3:
        return glm.dvec3(*self.target) + self.rotation()[2] * self.distance

    def view_from_world(self) -> glm.dmat4:
        """Returns a rigid transform; camera space has x right, y up, -z forward."""
        return view_from_world(self.rotation(), self.position())

    def clip_from_view(self, aspect: float, near: float, far: float) -> glm.dmat4:
        """Returns the projection to OpenGL clip space; aspect is width / height, near and far in metres."""
        if self.orthographic:
            half = self.tangent * self.distance
            return orthographic(half * aspect, half, near, far)
        return perspective(self.tangent * aspect, self.tangent, near, far)

    def clip_from_world(self, aspect: float, near: float, far: float) -> glm.dmat4:
        return self.clip_from_view(aspect, near, far) * self.view_from_world()

    def ray(self, ndc_x: float, ndc_y: float, aspect: float) -> tuple[glm.dvec3, glm.dvec3]:
        """Returns origin [m] and unit direction in the world of the ray through a point of the image.

        Args:
            ndc_x: -1 (left) to 1.
            ndc_y: -1 (bottom) to 1.
            aspect: Width / height of the image.
        """
        right, up, back = self.rotation()
        eye = glm.dvec3(*self.target) + back * self.distance
        aside = (right * (ndc_x * aspect) + up * ndc_y) * self.tangent
        return (eye + aside * self.distance, -back) if self.orthographic else (eye, glm.normalize(aside - back))

    def moved(self, offset: glm.dvec3) -> "Camera":
        return msgspec.structs.replace(self, target=(glm.dvec3(*self.target) + offset).to_tuple())

    def over(self, lo: Iterable[float], hi: Iterable[float]) -> "Camera":
        """Returns the camera; it looks from above if the box from `lo` to `hi` [m] is almost flat."""
        wide, high, deep = (top - bottom for bottom, top in zip(lo, hi, strict=True))
        return msgspec.structs.replace(self, pitch=_STEEP) if high < _FLAT * min(wide, deep) else self

    def framed(self, lo: Iterable[float], hi: Iterable[float], aspect: float = 1.0) -> "Camera":
        """Returns the camera moved along its direction so that the box from `lo` to `hi` [m] fits with a margin."""
        low, high = glm.dvec3(*lo), glm.dvec3(*hi)
        turn, half = self.rotation(), self.tangent / _FRAME_MARGIN
        corners = [glm.dvec3(*side) * (high - low) * turn for side in itertools.product((-0.5, 0.5), repeat=3)]
        needed = [(max(abs(x) / (half * aspect), abs(y) / half), z) for x, y, z in corners]
        distance = max(size if self.orthographic else size + z for size, z in needed)
        target = ((low + high) / 2.0).to_tuple()
        return msgspec.structs.replace(self, target=target, distance=min(max(distance, _NEAREST), 1e7))


def view_from_world(rotation: glm.dmat3, eye: glm.dvec3) -> glm.dmat4:
    """Returns a rigid transform; columns of the rotation are the right, up and backward axes of the eye [m]."""
    return glm.translate(glm.dmat4(glm.transpose(rotation)), -eye)


def perspective(half_x: float, half_y: float, near: float, far: float) -> glm.dmat4:
    """Returns a projection to OpenGL clip space; half width and height are of the image at one metre depth [m]."""
    # GLM's own function is in single precision.
    depth, x, y = near - far, 1.0 / half_x, 1.0 / half_y
    return glm.dmat4(x, 0, 0, 0, 0, y, 0, 0, 0, 0, (far + near) / depth, -1.0, 0, 0, 2.0 * far * near / depth, 0)


def orthographic(half_x: float, half_y: float, near: float, far: float) -> glm.dmat4:
    """Returns a projection to OpenGL clip space; half width and height of the image [m] are equal at every depth."""
    depth, x, y = near - far, 1.0 / half_x, 1.0 / half_y
    return glm.dmat4(x, 0, 0, 0, 0, y, 0, 0, 0, 0, 2.0 / depth, 0, 0, 0, (far + near) / depth, 1)
