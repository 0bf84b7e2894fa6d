"""Joints as files give them: parents by name or by number, possibly wrong, and quaternions that are nearly unit."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.assets.faults import quoted

ROOT = -1
Float64 = npt.NDArray[np.float64]


def parents_by_name(names: Sequence[str], parent_names: Sequence[str | None]) -> tuple[list[int], list[str]]:
    """Parent index of every joint, and warnings; the first joint with a name wins, unknown names make roots."""
    first: dict[str, int] = {}
    for joint, name in enumerate(names):
        first.setdefault(name, joint)
    parents, warnings = [], []
    for name, parent_name in zip(names, parent_names, strict=True):
        parents.append(ROOT if not parent_name else first.get(parent_name, ROOT))
        if parent_name and parent_name not in first:
            warnings.append(f"Joint {quoted(name)}: parent {quoted(parent_name)} does not exist; it becomes a root.")
    return without_cycles(names, parents, warnings)


def parents_by_index(names: Sequence[str], indices: Sequence[int]) -> tuple[list[int], list[str]]:
    """Parent index of every joint, and warnings; numbers that name no joint make roots."""
    parents, warnings = [], []
    for name, index in zip(names, indices, strict=True):
        known = ROOT <= index < len(names)
        parents.append(index if known else ROOT)
        if not known:
            warnings.append(f"Joint {quoted(name)}: parent {index} does not exist; it becomes a root.")
    return without_cycles(names, parents, warnings)


def without_cycles(
    names: Sequence[str], parents: Sequence[int], warnings: Sequence[str] = ()
) -> tuple[list[int], list[str]]:
    """`parents` with one joint of each cycle made a root, and the warnings with one more for each."""
    result, notes = list(parents), list(warnings)
    visited_by = [ROOT] * len(result)
    for start in range(len(result)):
        joint = start
        while joint != ROOT and visited_by[joint] == ROOT:
            visited_by[joint] = start
            joint = result[joint]
        if joint != ROOT and visited_by[joint] == start:
            reason = "is its own parent" if result[joint] == joint else "is its own ancestor"
            notes.append(f"Joint {quoted(names[joint])} {reason}; it becomes a root.")
            result[joint] = ROOT
    return result, notes


def unit_quaternions(values: Float64) -> Float64:
    """`values` (x, y, z, w), shape (..., 4), brought to unit length; what has no direction is the identity."""
    length = np.sqrt(np.einsum("...i,...i->...", values, values))[..., None]
    usable = (length > 1e-12) & np.isfinite(length)
    identity = np.array((0.0, 0.0, 0.0, 1.0))
    return np.where(usable, values / np.where(usable, length, 1.0), identity)
