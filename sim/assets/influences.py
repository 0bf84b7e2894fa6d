"""Which vertices each joint moves: counts, and boxes that bound a posed character without its vertices."""

import itertools

import numpy as np
import numpy.typing as npt

from sim.assets.model import Mesh, Skin


def weighted_vertex_counts(skin: Skin | None, joint_count: int) -> npt.NDArray[np.int64]:
    """For each joint the number of vertices it moves, shape (joint_count,); zeros without a skin."""
    if skin is None:
        return np.zeros(joint_count, dtype=np.int64)
    counted = skin.weights > 0.0
    # A file may name one joint twice for a vertex; the vertex counts once.
    for slot, earlier in itertools.combinations(range(counted.shape[1]), 2):
        repeated = counted[:, slot] & (skin.joints[:, slot] == skin.joints[:, earlier])
        counted[:, earlier] &= ~repeated
    return np.bincount(skin.joints[counted], minlength=joint_count)


def joint_boxes(mesh: Mesh, skin: Skin) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """Boxes of the vertices that each joint has any weight on, in bind space.

    A vertex blended linearly is a convex combination of its images by its joints, so the box of all transformed
    corners holds the posed mesh.

    Returns:
        Joints that move something, shape (J,), and the corners of their boxes, shape (J, 8, 3).
    """
    vertices, slots = np.nonzero(skin.weights > 0.0)
    joints = skin.joints[vertices, slots]
    # Numbers of 16 bits are sorted by radix, several times faster than longer ones.
    order = np.argsort(joints.astype(np.min_scalar_type(joints.max(initial=0))), kind="stable")
    used, starts = np.unique(joints[order], return_index=True)
    points = mesh.positions[vertices[order]].astype(np.float64)
    lo, hi = np.minimum.reduceat(points, starts), np.maximum.reduceat(points, starts)
    choice = (np.arange(8)[:, None] >> np.arange(3)) & 1
    return used.astype(np.intp), np.where(choice[None], hi[:, None, :], lo[:, None, :])
