"""Model matrices of a hierarchy from local ones, level by level."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]


def model_from_local(
    parent_from_joint: Float64, parents: npt.NDArray[np.signedinteger], levels: Sequence[Index]
) -> Float64:
    """Product of every joint's ancestors: model_from_joint, shape (B, 4, 4).

    Args:
        parent_from_joint: Local matrices, shape (B, 4, 4); those of roots are relative to the model.
        parents: Parent index or -1, shape (B,).
        levels: Joints of each depth after the roots, as in `Skeleton.levels`.
    """
    model = parent_from_joint.copy()
    for level in levels:
        model[level] = model[parents[level]] @ parent_from_joint[level]
    return model
