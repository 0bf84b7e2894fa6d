"""Unique edges of a triangle list, for wireframes."""

import numpy as np
import numpy.typing as npt


def unique_edges(triangles: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Every edge once, lower index first.

    Args:
        triangles: Corner indices, shape (T, 3).

    Returns:
        Index pairs, shape (E, 2), sorted.
    """
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    pairs.sort(axis=1)
    # One 64-bit key per edge sorts several times faster than rows.
    keys = np.unique((pairs[:, 0].astype(np.uint64) << np.uint64(32)) | pairs[:, 1])
    edges = np.empty((len(keys), 2), dtype=np.uint32)
    edges[:, 0] = keys >> np.uint64(32)
    edges[:, 1] = keys & np.uint64(0xFFFFFFFF)
    return edges
