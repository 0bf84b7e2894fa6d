"""Vertex normals from faces, for meshes that come without."""

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]

# What the reference reader of EZMesh gives every vertex; here only those without a face of any area.
FALLBACK = (0.0, 1.0, 0.0)


def vertex_normals(positions: Float32, triangles: UInt32) -> Float32:
    """Unit normals, shape (V, 3): the area-weighted mean of the faces around each vertex.

    Args:
        positions: shape (V, 3), finite.
        triangles: Corner indices below V, counter-clockwise from outside, shape (T, 3).
    """
    corners = positions.astype(np.float64)[triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    count = len(positions)
    summed = np.zeros((count, 3))
    for axis in range(3):
        for corner in range(3):
            summed[:, axis] += np.bincount(triangles[:, corner], weights=faces[:, axis], minlength=count)
    length = np.linalg.norm(summed, axis=1, keepdims=True)
    # Relative to the largest face: tiny models have tiny but meaningful areas.
    usable = length > 1e-12 * max(float(length.max(initial=0.0)), np.finfo(np.float64).tiny)
    return np.where(usable, summed / np.where(usable, length, 1.0), FALLBACK).astype(np.float32)
