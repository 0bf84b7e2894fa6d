import itertools

import numpy as np

from sinew.sim.assets.model import Mesh, Skin
from sinew.sim.maths.arrays import Bool, Float64, Int64, Intp


def weighted_vertex_counts(skin: Skin | None, joint_count: int) -> Int64:
    """Returns vertices with weight on each joint, shape (joint_count,); zeros without a skin."""
    if skin is None:
        return np.zeros(joint_count, dtype=np.int64)
    counted, joints = skin.weights > 0.0, skin.joints_of(skin.joints)
    # A file may name one joint twice for a vertex; the vertex counts once.
    for slot, earlier in itertools.combinations(range(counted.shape[1]), 2):
        repeated = counted[:, slot] & (joints[:, slot] == joints[:, earlier])
        counted[:, earlier] &= ~repeated
    return np.bincount(joints[counted], minlength=joint_count)


def joint_boxes(mesh: Mesh, skin: Skin, among: Bool | None = None) -> tuple[Intp, Float64]:
    """Returns boxes of the vertices with weight on each palette entry, in bind space.

    A linearly blended vertex is a convex combination of its images by its joints, so the box of all transformed corners
    contains the posed mesh, if weights of morph targets are between 0 and 1.

    Args:
        among: Mask of the vertices that count, shape (V,), at least one; None for all.

    Returns:
        Entries with vertices, shape (J,), and the corners of their boxes, shape (J, 8, 3).
    """
    counted = skin.weights > 0.0
    vertices, slots = np.nonzero(counted if among is None else counted & among[:, None])
    joints = skin.joints[vertices, slots]
    # Numbers of 16 bits are sorted by radix, several times faster than longer ones.
    order = np.argsort(joints.astype(np.min_scalar_type(joints.max(initial=0))), kind="stable")
    used, starts = np.unique(joints[order], return_index=True)
    lowest, highest = (ends[vertices[order]] for ends in reach_of(mesh))
    lo, hi = np.minimum.reduceat(lowest, starts), np.maximum.reduceat(highest, starts)
    choice = (np.arange(8)[:, None] >> np.arange(3)) & 1
    return used.astype(np.intp), np.where(choice[None], hi[:, None, :], lo[:, None, :])


def reach_of(mesh: Mesh) -> tuple[Float64, Float64]:
    """Returns lowest and highest positions of every vertex before skinning, both (V, 3)."""
    lowest = mesh.positions.astype(np.float64)
    highest, targets = lowest, mesh.targets
    if targets is not None:
        highest = lowest.copy()
        are_frames = targets.is_frame[targets.weight_of].tolist()
        for first, count, start, is_frame in zip(
            targets.firsts, targets.counts, targets.starts, are_frames, strict=True
        ):
            moves, own = targets.deltas[start : start + count, 0, :3], slice(first, first + count)
            if is_frame:  # frames replace each other, targets add up
                np.minimum(lowest[own], mesh.positions[own] + moves, out=lowest[own])
                np.maximum(highest[own], mesh.positions[own] + moves, out=highest[own])
            else:
                lowest[own] += np.minimum(moves, 0.0)
                highest[own] += np.maximum(moves, 0.0)
    return lowest, highest
