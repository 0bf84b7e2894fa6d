"""Rotations as quaternions (x, y, z, w), batched over leading axes, float64.

A quaternion `q` turns a vector by `q v q*`; `multiply(a, b)` turns by `b` first, then by `a`, like the
product of their matrices.  Arguments broadcast against each other.
"""

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]

IDENTITY: Float64 = np.array([0.0, 0.0, 0.0, 1.0])

_SMALLEST_LENGTH = 1e-150
"""Shorter quaternions carry no direction: their squared length underflows."""

_SMALLEST_ANGLE = 1e-8
"""Below this arc the slerp weights equal the linear ones in double precision."""

_CONJUGATE: Float64 = np.array([-1.0, -1.0, -1.0, 1.0])


def multiply(a: Float64, b: Float64) -> Float64:
    """Hamilton product of quaternions, shape (..., 4)."""
    ax, ay, az, aw = np.moveaxis(a, -1, 0)
    bx, by, bz, bw = np.moveaxis(b, -1, 0)
    product: Float64 = np.stack(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ],
        axis=-1,
    )
    return product


def conjugate(q: Float64) -> Float64:
    """Inverse rotation of unit quaternions, shape (..., 4)."""
    return q * _CONJUGATE


def normalised(q: Float64) -> Float64:
    """Unit quaternions of the same direction, shape (..., 4); a zero quaternion becomes the identity."""
    length = np.sqrt(np.sum(np.square(q), axis=-1, keepdims=True))
    missing = length < _SMALLEST_LENGTH
    if not missing.any():
        unit: Float64 = q / length
        return unit
    return np.where(missing, IDENTITY, q / np.where(missing, 1.0, length))


def slerp(a: Float64, b: Float64, t: npt.ArrayLike) -> Float64:
    """Rotation on the shortest arc from `a` to `b`, at constant angular velocity.

    Args:
        a, b: Unit quaternions, shape (..., 4); `b` and `-b` give the same result up to the sign.
        t: Fraction, 0 gives `a` and 1 gives `b` (or `-b`), shape broadcastable to (...).

    Returns:
        Unit quaternions, shape (..., 4).

    Source: Shoemake 1985, "Animating rotation with quaternion curves".
    """
    near = aligned(b, a)
    angle = arc(a, near)
    fraction = np.asarray(t, dtype=np.float64)
    start = np.sin((1.0 - fraction) * angle) / np.sin(angle)
    end = np.sin(fraction * angle) / np.sin(angle)
    return normalised(start[..., None] * a + end[..., None] * near)


def aligned(q: Float64, pivot: Float64) -> Float64:
    """`q` with the sign that brings it into the half space of `pivot`, shape (..., 4)."""
    dot = np.sum(q * pivot, axis=-1, keepdims=True)
    return np.where(dot < 0.0, -q, q)


def arc(a: Float64, b: Float64) -> Float64:
    """Angle between unit quaternions on the unit sphere [rad], half of the turn, shape (...).

    Exact for small angles too, where the arc cosine loses half the digits; never below 1e-8, so that a
    caller may divide by its sine.
    """
    apart, together = np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)
    angle: Float64 = np.maximum(2.0 * np.arctan2(apart, together), _SMALLEST_ANGLE)
    return angle


def rotate(q: Float64, v: Float64) -> Float64:
    """Vectors (..., 3) turned by unit quaternions (..., 4)."""
    axis, w = q[..., :3], q[..., 3:]
    twice = 2.0 * np.cross(axis, v)
    turned: Float64 = v + w * twice + np.cross(axis, twice)
    return turned


def to_matrix(q: Float64) -> Float64:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    outer = (q[..., :, None] * q[..., None, :]).reshape(*q.shape[:-1], 16)
    return (outer @ ROTATION_FROM_OUTER).reshape(*q.shape[:-1], 4, 4)[..., :3, :3]


def from_matrix(rotation: Float64) -> Float64:
    """Unit quaternions (..., 4) of rotation matrices (..., 3, 3); w is not negative.

    The largest component is found first and divides the others, so no angle loses precision.

    Source: Shepperd 1978, "Quaternion from rotation matrix".
    """
    m = rotation
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    xy, xz, yz = m[..., 0, 1] + m[..., 1, 0], m[..., 0, 2] + m[..., 2, 0], m[..., 1, 2] + m[..., 2, 1]
    xw, yw, zw = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    rows = [
        [1.0 + xx - yy - zz, xy, xz, xw],
        [xy, 1.0 - xx + yy - zz, yz, yw],
        [xz, yz, 1.0 - xx - yy + zz, zw],
        [xw, yw, zw, 1.0 + xx + yy + zz],
    ]
    # Row i is 4 q_i q: every row is the quaternion, the one with the largest diagonal the most precise.
    products = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    largest = np.argmax(np.diagonal(products, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(products, largest[..., None, None], axis=-2)[..., 0, :]
    return normalised(np.where(q[..., 3:] < 0.0, -q, q))


def from_axis_angle(axis: npt.ArrayLike, angle: npt.ArrayLike) -> Float64:
    """Turn by `angle` [rad], shape (...), about `axis` of any length, shape (..., 3); a zero axis turns nothing."""
    direction = np.asarray(axis, dtype=np.float64)
    half = np.asarray(angle, dtype=np.float64)[..., None] / 2.0
    length = np.linalg.norm(direction, axis=-1, keepdims=True)
    missing = length < _SMALLEST_LENGTH
    unit = np.where(missing, 0.0, direction / np.where(missing, 1.0, length))
    vector = unit * np.sin(half)
    w = np.broadcast_to(np.where(missing, 1.0, np.cos(half)), (*vector.shape[:-1], 1))
    return np.concatenate([vector, w], axis=-1)


def from_euler_degrees(angles: npt.ArrayLike) -> Float64:
    """Turn about the fixed x, then the fixed y, then the fixed z axis [degrees], shape (..., 3) to (..., 4)."""
    radians = np.radians(np.asarray(angles, dtype=np.float64))
    x, y, z = (from_axis_angle(np.eye(3)[i], radians[..., i]) for i in range(3))
    return multiply(z, multiply(y, x))


def _rotation_from_outer() -> Float64:
    """Linear map (16, 16) from the outer product q qT to the 4x4 matrix of the rotation, both row-major.

    One matrix product then converts a whole batch; the last element is q.q, 1 for unit quaternions.
    """
    x, y, z, w = range(4)
    terms = {
        (0, 0): [(x, x, 1), (y, y, -1), (z, z, -1), (w, w, 1)],
        (1, 1): [(x, x, -1), (y, y, 1), (z, z, -1), (w, w, 1)],
        (2, 2): [(x, x, -1), (y, y, -1), (z, z, 1), (w, w, 1)],
        (3, 3): [(x, x, 1), (y, y, 1), (z, z, 1), (w, w, 1)],
        (0, 1): [(x, y, 2), (z, w, -2)],
        (1, 0): [(x, y, 2), (z, w, 2)],
        (0, 2): [(x, z, 2), (y, w, 2)],
        (2, 0): [(x, z, 2), (y, w, -2)],
        (1, 2): [(y, z, 2), (x, w, -2)],
        (2, 1): [(y, z, 2), (x, w, 2)],
    }
    matrix = np.zeros((16, 16))
    for (row, column), products in terms.items():
        for i, j, factor in products:
            matrix[4 * i + j, 4 * row + column] = factor
    return matrix


ROTATION_FROM_OUTER: Float64 = _rotation_from_outer()
