"""Builds the runtime skeleton: evaluation order, world bind matrices and their inverses."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.assets.model import Skeleton
from sim.jobs.hierarchy import CycleError, Hierarchy, build_hierarchy
from sim.jobs.local_to_model import model_from_local
from sim.maths import quaternion
from sim.maths.transform import compose, inverse_affine


def build_skeleton(
    names: Sequence[str],
    parents: npt.ArrayLike,
    positions: npt.ArrayLike,
    orientations: npt.ArrayLike,
    scales: npt.ArrayLike,
) -> Skeleton:
    """Skeleton of joints in file order; a parent may come after its children.

    Args:
        names: Unique joint names, length B, at least one.
        parents: Parent index, or -1 for a root, shape (B,).
        positions: Local bind translations, shape (B, 3).
        orientations: Local bind quaternions (x, y, z, w), shape (B, 4); normalised here, zero is the identity.
        scales: Local bind scales, shape (B, 3); a zero scale gets a pseudo-inverse bind matrix.

    Raises:
        ValueError: For duplicate names, wrong shapes, values that are not finite, a parent out of range or a cycle.
    """
    parent = np.asarray(parents, dtype=np.int32)
    _check_names(names, parent)
    hierarchy = _hierarchy(names, parent)
    position = _finite("position", names, positions, 3)
    orientation = quaternion.normalised(_finite("orientation", names, orientations, 4))
    scale = _finite("scale", names, scales, 3)
    model_from_bind = model_from_local(compose(position, orientation, scale), hierarchy)
    return Skeleton(
        names=tuple(names),
        parents=parent,
        hierarchy=hierarchy,
        bind_positions=position,
        bind_orientations=orientation,
        bind_scales=scale,
        model_from_bind=model_from_bind,
        bind_from_model=inverse_affine(model_from_bind),
    )


def _hierarchy(names: Sequence[str], parents: npt.NDArray[np.int32]) -> Hierarchy:
    try:
        return build_hierarchy(parents)
    except CycleError as error:
        raise ValueError(f"joint {names[error.joint]!r} has no root above it: its parents form a cycle") from None


def _check_names(names: Sequence[str], parents: npt.NDArray[np.int32]) -> None:
    count = len(names)
    if count == 0:
        raise ValueError("a skeleton needs at least one joint")
    if parents.shape != (count,):
        raise ValueError(f"parents have shape {parents.shape}, expected ({count},)")
    outside = (parents < -1) | (parents >= count)
    if outside.any():
        joint = int(np.argmax(outside))
        raise ValueError(f"parent {parents[joint]} of joint {names[joint]!r} does not exist")
    name, uses = Counter(names).most_common(1)[0]
    if uses > 1:
        raise ValueError(f"joint name {name!r} is used {uses} times")


def _finite(what: str, names: Sequence[str], values: npt.ArrayLike, size: int) -> npt.NDArray[np.float64]:
    array = np.array(values, dtype=np.float64)
    if array.shape != (len(names), size):
        raise ValueError(f"{what}s have shape {array.shape}, expected ({len(names)}, {size})")
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        raise ValueError(f"{what} of joint {names[int(np.argmax(bad))]!r} is not finite")
    return array
