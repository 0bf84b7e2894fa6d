"""Where on a surface particles start: faces by their areas, or vertices, with a density where one is wanted."""

import numpy as np
import numpy.typing as npt

from sim.scene.params import SettingsError

Float64 = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]

_WHOLE = 2.0**32 - 1.0


def face_table(
    positions: npt.ArrayLike,
    triangles: npt.ArrayLike,
    density: npt.ArrayLike | None = None,
    face_density: npt.ArrayLike | None = None,
) -> UInt32:
    """Threshold and corners of each face that emits, shape (F, 4); a face is chosen by its area times its density.

    Args:
        positions: Vertices [m], shape (V, 3), of the bind pose.
        triangles: Their numbers, shape (F, 3).
        density: Of every vertex, shape (V,), not negative; a face has the mean of its corners.
        face_density: Of every face, shape (F,), not negative; both are multiplied.

    Raises:
        SettingsError: If no face has an area and a density.
    """
    corners = np.asarray(triangles, np.int64).reshape(-1, 3)
    weights = face_areas(positions, corners)
    if density is not None:
        weights = weights * _checked(density)[corners].mean(axis=1)
    if face_density is not None:
        weights = weights * _checked(face_density)
    return _table(corners, weights, "no face with an area is left")


def face_areas(positions: npt.ArrayLike, triangles: npt.ArrayLike) -> Float64:
    """Areas of faces (F, 3) of vertices (V, 3), shape (F,)."""
    points, corners = np.asarray(positions, np.float64), np.asarray(triangles, np.int64).reshape(-1, 3)
    first, second, third = (points[corners[:, index]] for index in range(3))
    areas: Float64 = 0.5 * np.linalg.norm(np.cross(second - first, third - first), axis=1)
    return areas


def vertex_table(vertex_count: int, density: npt.ArrayLike | None = None) -> UInt32:
    """The same for vertices, each a face of one corner three times, chosen by its density.

    Raises:
        SettingsError: If no vertex has a density.
    """
    weights = np.ones(vertex_count) if density is None else _checked(density)
    corners = np.repeat(np.arange(vertex_count)[:, None], 3, axis=1)
    return _table(corners, weights, "no vertex of the surface is left")


def texture_density(pixels: npt.NDArray[np.generic], texcoords: npt.ArrayLike) -> Float64:
    """Brightness of an image at texture coordinates (V, 2), 0 to 1, shape (V,); v = 0 is row 0, outside it repeats.

    Args:
        pixels: 8-bit image, shape (height, width) or (height, width, channels); of four channels alpha is left out.
        texcoords: shape (V, 2).
    """
    place = np.asarray(texcoords, np.float64) % 1.0
    height, width = pixels.shape[:2]
    rows = np.minimum((place[:, 1] * height).astype(np.intp), height - 1)
    columns = np.minimum((place[:, 0] * width).astype(np.intp), width - 1)
    # An image has more pixels than are looked at: only those are converted.
    found = pixels[rows, columns].astype(np.float64) / 255.0
    density: Float64 = found[:, :3].mean(axis=1) if found.ndim == 2 else found
    return density


def triangle_shares(random: Float64) -> Float64:
    """Shares of the corners of a triangle (n, 3), uniform over its area.

    Source: R. Osada et al. 2002, "Shape distributions", eq. 1.
    """
    root = np.sqrt(random[:, 0])
    return np.stack([1.0 - root, root * (1.0 - random[:, 1]), root * random[:, 1]], axis=1)


def face_at(thresholds: UInt32, bits: UInt32) -> npt.NDArray[np.intp]:
    """First face (n,) whose threshold is above the random bits, the last one where there is none."""
    return np.minimum(np.searchsorted(thresholds, bits, side="right"), len(thresholds) - 1)


def _checked(density: npt.ArrayLike) -> Float64:
    values = np.asarray(density, np.float64)
    if not np.all(np.isfinite(values)) or np.any(values < 0.0):
        raise SettingsError("densities must be finite and not negative")
    return values


def _table(corners: npt.NDArray[np.int64], weights: Float64, empty: str) -> UInt32:
    emitting = np.isfinite(weights) & (weights > 0.0)
    cached, total = weights[emitting], np.sum(weights[emitting])
    if not total > 0.0:
        raise SettingsError(empty)
    out = np.empty((len(cached), 4), np.uint32)
    out[:, 0] = np.rint(np.cumsum(cached / total).clip(0.0, 1.0) * _WHOLE)
    out[-1, 0] = _WHOLE
    out[:, 1:] = corners[emitting]
    return out
