"""Model matrices of a hierarchy from local ones."""

import numpy as np
import numpy.typing as npt

from sim.maths.hierarchy import Hierarchy

Float64 = npt.NDArray[np.float64]


def model_from_local(parent_from_joint: Float64, hierarchy: Hierarchy) -> Float64:
    """Product of the matrices of every joint's ancestors and its own: model_from_joint.

    One gather and one batched product per level.  With the joints sorted by depth the results go straight
    into place; fancy assignment by level takes twice as long.

    Args:
        parent_from_joint: Local matrices, shape (B, ..., 4, 4); those of roots are relative to the model.
            Axes between the first and the last two, such as frames, are evaluated together.
        hierarchy: Evaluation order of the B joints.

    Returns:
        Matrices of the same shape, in the order of the joints.
    """
    local = parent_from_joint.take(hierarchy.order, 0)
    model = np.empty_like(local)
    model[: hierarchy.root_count] = local[: hierarchy.root_count]
    multiply = np.matmul
    for level, parents in hierarchy.steps:
        multiply(model.take(parents, 0), local[level], out=model[level])
    return model.take(hierarchy.places, 0)
