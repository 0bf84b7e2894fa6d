import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.maths.arrays import Float64, Intp


class CycleError(ValueError):
    def __init__(self, joint: int) -> None:
        super().__init__(f"joint {joint} has no root above it: its parents form a cycle")
        self.joint = joint


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Joints sorted by depth, so that each level is one contiguous slice; whole levels are evaluated at a time."""

    order: Intp  # Joint at each place of the sorted list, shape (B,); `values[order]` sorts
    places: Intp  # Place of each joint in the sorted list, shape (B,); `sorted[places]` sorts back
    root_count: int  # Number of roots; they come first
    # For each further level its slice of the sorted list and the places of its parents
    steps: tuple[tuple[slice, Intp], ...]

    @property
    def levels(self) -> tuple[Intp, ...]:
        return tuple(self.order[level] for level, _ in self.steps)


def build_hierarchy(parents: npt.ArrayLike) -> Hierarchy:
    """Builds a hierarchy; parents may come after their joints.

    Args:
        parents: Parent index, or -1 for a root, shape (B,).

    Raises:
        ValueError: For a parent out of range; a `CycleError` for a joint that is its own ancestor.
    """
    parent = np.asarray(parents, dtype=np.intp)
    if ((parent < -1) | (parent >= len(parent))).any():
        raise ValueError("a parent index is out of range")
    levels = _levels(parent.tolist())
    order = np.array(list(itertools.chain.from_iterable(levels)), dtype=np.intp)
    if len(order) < len(parent):
        raise CycleError(min(set(range(len(parent))) - set(order.tolist())))
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    ends = np.cumsum([len(level) for level in levels]).tolist()
    steps = tuple((slice(start, end), places[parent[order[start:end]]]) for start, end in itertools.pairwise(ends))
    return Hierarchy(order, places, ends[0] if ends else 0, steps)


def _levels(parents: Sequence[int]) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in parents]
    frontier: list[int] = []
    for joint, parent in enumerate(parents):
        (frontier if parent < 0 else children[parent]).append(joint)
    levels = []
    while frontier:
        levels.append(frontier)
        frontier = [child for joint in frontier for child in children[joint]]
    return levels


def model_from_local(parent_from_joint: Float64, hierarchy: Hierarchy) -> Float64:
    """Multiplies the local matrices from the root down, in the order of the joints.

    One gather and one batched product per level; fancy assignment by level takes twice as long.

    Args:
        parent_from_joint: Shape (B, ..., 4, 4); roots are relative to the model.  Axes in the middle, such as frames,
            are evaluated together.
    """
    local = parent_from_joint.take(hierarchy.order, 0)
    model = np.empty_like(local)
    model[: hierarchy.root_count] = local[: hierarchy.root_count]
    multiply = np.matmul
    for level, parents in hierarchy.steps:
        multiply(model.take(parents, 0), local[level], out=model[level])
    return model.take(hierarchy.places, 0)
