"""Which vertices each joint moves: counts, and boxes that bound a posed character without its vertices."""

import numpy as np
import numpy.typing as npt

from sim.assets.model import Mesh, Skin


def weighted_vertex_counts(skin: Skin | None, joint_count: int) -> npt.NDArray[np.int64]:
    """For each joint the number of vertices it moves, shape (joint_count,); zeros without a skin."""
    if skin is None:
        return np.zeros(joint_count, dtype=np.int64)
    vertices, slots = np.nonzero(skin.weights > 0.0)
    # A file may name one joint twice for a vertex; the vertex counts once.
    pairs = np.unique(vertices.astype(np.int64) * joint_count + skin.joints[vertices, slots])
    return np.bincount(pairs % joint_count, minlength=joint_count)


def joint_boxes(mesh: Mesh, skin: Skin) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """Boxes of the vertices that each joint has any weight on, in bind space.

    A vertex blended linearly is a convex combination of its images by its joints, so the box of all transformed
    corners holds the posed mesh.

    Returns:
        Joints that move something, shape (J,), and the corners of their boxes, shape (J, 8, 3).
    """
    vertices, slots = np.nonzero(skin.weights > 0.0)
    joints = skin.joints[vertices, slots].astype(np.intp)
    order = np.argsort(joints, kind="stable")
    used, starts = np.unique(joints[order], return_index=True)
    points = mesh.positions[vertices[order]].astype(np.float64)
    lo, hi = np.minimum.reduceat(points, starts), np.maximum.reduceat(points, starts)
    choice = (np.arange(8)[:, None] >> np.arange(3)) & 1
    return used, np.where(choice[None], hi[:, None, :], lo[:, None, :])
