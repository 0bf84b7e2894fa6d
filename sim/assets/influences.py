"""How many vertices each joint moves."""

import numpy as np
import numpy.typing as npt

from sim.assets.model import Skin


def weighted_vertex_counts(joint_count: int, skin: Skin | None) -> npt.NDArray[np.int64]:
    """Number of vertices each joint has a non-zero weight on, shape (B,)."""
    if skin is None:
        return np.zeros(joint_count, dtype=np.int64)
    return np.bincount(skin.joints[skin.weights > 0.0], minlength=joint_count)[:joint_count]
