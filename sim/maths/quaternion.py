"""Rotations as quaternions (x, y, z, w), batched over leading axes, float64.

A quaternion `q` rotates a vector by `q v q*`; `multiply(a, b)` rotates by `b` first, then by `a`, like the product of
their matrices.  Arguments broadcast against each other.
"""

import math

import numpy as np
import numpy.typing as npt

from sinew.sim.maths.arrays import Float64

_GIMBAL_LOCK = 1e-9


def degrees_from_matrix(rotation: Float64) -> tuple[float, float, float]:
    """Returns rotations about the fixed x, then y, then z axis [°] of a rotation matrix (3, 3).

    In gimbal lock (y a right angle) only one combination of x and z is determined; z is 0 then.
    """
    horizontal = float(np.hypot(rotation[0, 0], rotation[1, 0]))
    y = float(np.degrees(np.arctan2(-rotation[2, 0], horizontal)))
    if horizontal < _GIMBAL_LOCK:
        return float(np.degrees(np.arctan2(-rotation[1, 2], rotation[1, 1]))), y, 0.0
    x = float(np.degrees(np.arctan2(rotation[2, 1], rotation[2, 2])))
    return x, y, float(np.degrees(np.arctan2(rotation[1, 0], rotation[0, 0])))


IDENTITY: Float64 = np.array([0.0, 0.0, 0.0, 1.0])

_SMALLEST_LENGTH = 1e-150
"""Minimum length of a quaternion with a direction: the squared length of shorter ones underflows."""

_SMALLEST_ANGLE = 1e-8
"""Arc below which the slerp weights equal the linear ones in double precision."""

_arctan2 = np.frompyfunc(math.atan2, 2, 1)
"""numpy's own has other last digits on processors with AVX-512, and with them checksums of clips and keys of bakes."""

_CONJUGATE: Float64 = np.array([-1.0, -1.0, -1.0, 1.0])


def multiply(a: Float64, b: Float64) -> Float64:
    """Returns the Hamilton product, shape (..., 4)."""
    outer = a[..., :, None] * b[..., None, :]
    return outer.reshape(*outer.shape[:-2], 16) @ _PRODUCT_FROM_OUTER


def conjugate(q: Float64) -> Float64:
    """Returns the inverse rotation of unit quaternions, shape (..., 4)."""
    return q * _CONJUGATE


def normalised(q: Float64) -> Float64:
    """Returns unit quaternions; a zero quaternion becomes the identity."""
    length = np.sqrt(np.sum(np.square(q), axis=-1, keepdims=True))
    missing = length < _SMALLEST_LENGTH
    if not missing.any():
        unit: Float64 = q / length
        return unit
    return np.where(missing, IDENTITY, q / np.where(missing, 1.0, length))


def slerp(a: Float64, b: Float64, t: npt.ArrayLike) -> Float64:
    """Rotates on the shortest arc from `a` to `b`, at constant angular velocity.

    Args:
        a, b: Unit quaternions, shape (..., 4).
        t: 0 gives `a` and 1 gives `b` or `-b`, shape broadcastable to (...).

    Source: Shoemake 1985, "Animating rotation with quaternion curves".
    """
    near = aligned(b, a)
    angle = arc(a, near)
    fraction = np.asarray(t, dtype=np.float64)
    start = np.sin((1.0 - fraction) * angle) / np.sin(angle)
    end = np.sin(fraction * angle) / np.sin(angle)
    return normalised(start[..., None] * a + end[..., None] * near)


def aligned(q: Float64, pivot: Float64) -> Float64:
    """Returns `q` with the sign that puts it into the half space of `pivot`, shape (..., 4)."""
    dot = np.sum(q * pivot, axis=-1, keepdims=True)
    return np.where(dot < 0.0, -q, q)


def arc(a: Float64, b: Float64) -> Float64:
    """Returns the angle on the unit sphere [rad], half of the rotation angle, shape (...); at least 1e-8.

    Exact for small angles too, where the arc cosine loses half the digits.
    """
    apart, together = np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)
    angle: Float64 = np.maximum(2.0 * np.asarray(_arctan2(apart, together), np.float64), _SMALLEST_ANGLE)
    return angle


def rotate(q: Float64, v: Float64) -> Float64:
    """Rotates vectors (..., 3) by unit quaternions (..., 4)."""
    axis, w = q[..., :3], q[..., 3:]
    twice = 2.0 * cross(axis, v)
    turned: Float64 = v + w * twice + cross(axis, twice)
    return turned


def cross(a: Float64, b: Float64) -> Float64:
    """Returns the cross product, bit-identical to numpy's (..., 3) at half the cost or less for few vectors."""
    x = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    product = np.empty((*x.shape, 3))
    product[..., 0] = x
    product[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    product[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return product


def to_matrix(q: Float64) -> Float64:
    """Converts unit quaternions (..., 4) to matrices (..., 3, 3)."""
    outer = (q[..., :, None] * q[..., None, :]).reshape(*q.shape[:-1], 16)
    return (outer @ ROTATION_FROM_OUTER).reshape(*q.shape[:-1], 4, 4)[..., :3, :3]


def from_matrix(rotation: Float64) -> Float64:
    """Returns unit quaternions (..., 4) of rotation matrices (..., 3, 3); w is not negative.

    The largest component is found first and divides the others, so no angle loses precision.

    Source: Shepperd 1978, "Quaternion from rotation matrix".
    """
    # Row i of the products is 4 q_i q: each is the quaternion, the one with the largest diagonal the most precise.
    products = rotation.reshape(-1, 9) @ _OUTER_FROM_ROTATION + _OUTER_OF_NO_ROTATION
    largest = products[:, ::5].argmax(axis=1)
    q = products.reshape(-1, 4, 4)[np.arange(len(products)), largest]
    return normalised(np.where(q[:, 3:] < 0.0, -q, q)).reshape(*rotation.shape[:-2], 4)


def from_axis_angle(axis: npt.ArrayLike, angle: npt.ArrayLike) -> Float64:
    """Returns rotations by `angle` [rad], (...), about `axis` of any length, (..., 3); none about a zero axis."""
    direction = np.asarray(axis, dtype=np.float64)
    half = np.asarray(angle, dtype=np.float64)[..., None] / 2.0
    length = np.linalg.norm(direction, axis=-1, keepdims=True)
    missing = length < _SMALLEST_LENGTH
    unit = np.where(missing, 0.0, direction / np.where(missing, 1.0, length))
    vector = unit * np.sin(half)
    w = np.broadcast_to(np.where(missing, 1.0, np.cos(half)), (*vector.shape[:-1], 1))
    return np.concatenate([vector, w], axis=-1)


def from_euler_degrees(angles: npt.ArrayLike) -> Float64:
    """Returns rotations about the fixed x, then y, then z axis [°], shape (..., 3) to (..., 4)."""
    radians = np.radians(np.asarray(angles, dtype=np.float64))
    x, y, z = (from_axis_angle(np.eye(3)[i], radians[..., i]) for i in range(3))
    return multiply(z, multiply(y, x))


def to_euler_degrees(q: Float64) -> Float64:
    """Returns angles about the fixed x, then y, then z axis [°], shape (3,), of one unit quaternion (4,)."""
    return np.array(degrees_from_matrix(to_matrix(q)))


def _product_from_outer() -> Float64:
    """Returns the linear map (16, 4) from the outer product of two quaternions to their product, for batches."""
    x, y, z, w = range(4)
    product = np.zeros((4, 4, 4))
    for i in range(4):
        product[i, w, i] = product[w, i, i] = 1.0
    for i, j, k in ((x, y, z), (y, z, x), (z, x, y)):
        product[i, j, k], product[j, i, k] = 1.0, -1.0
        product[i, i, w] = -1.0
    return product.reshape(16, 4)


def _rotation_from_outer() -> Float64:
    """Returns the linear map (16, 16) from q qT to the 4x4 matrix, both row-major; its last element is q.q."""
    x, y, z, w = range(4)
    matrix = np.zeros((4, 4, 4, 4))
    for i, j, k in ((x, y, z), (y, z, x), (z, x, y)):
        for component in range(4):
            matrix[component, component, i, i] = 1.0 if component in (i, w) else -1.0
        matrix[i, j, i, j] = matrix[i, j, j, i] = 2.0
        matrix[k, w, j, i], matrix[k, w, i, j] = 2.0, -2.0
    for component in range(4):
        matrix[component, component, w, w] = 1.0
    return matrix.reshape(16, 16)


def _outer_from_rotation() -> tuple[Float64, Float64]:
    """Returns linear map (9, 16) and constant (16,) from a rotation matrix to 4 q qT, both row-major."""
    x, y, z, w = range(4)
    outer = np.zeros((3, 3, 4, 4))
    for i, j, k in ((x, y, z), (y, z, x), (z, x, y)):
        for component in range(4):
            outer[i, i, component, component] = 1.0 if component in (i, w) else -1.0
        outer[i, j, i, j] = outer[i, j, j, i] = outer[j, i, i, j] = outer[j, i, j, i] = 1.0
        outer[j, i, k, w] = outer[j, i, w, k] = 1.0
        outer[i, j, k, w] = outer[i, j, w, k] = -1.0
    return outer.reshape(9, 16), np.eye(4).reshape(16)


_PRODUCT_FROM_OUTER: Float64 = _product_from_outer()
ROTATION_FROM_OUTER: Float64 = _rotation_from_outer()
_OUTER_FROM_ROTATION, _OUTER_OF_NO_ROTATION = _outer_from_rotation()
