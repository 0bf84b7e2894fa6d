"""A tree over the particles of a cloth, as they lie at rest: what is near in the fabric is near in the tree.

Each inner node has `FAN` children, so that places are found by arithmetic; the leaves hold equal numbers of particles.
Only the order of the particles is stored.  Where the nodes are is found anew from the moving particles.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Int32 = npt.NDArray[np.int32]

FAN = 4
LEAF_MAX = 8
"""Most particles in a leaf."""

EMPTY = -1


@dataclass(frozen=True, slots=True)
class ContactTree:
    """Order of the particles, and the numbers of the nodes: the root is 0, those of a level follow each other.

    Attributes:
        order: Particle in each place of the leaves, or `EMPTY`, shape (leaves * leaf_size,).
        depth: Levels below the root, that of the leaves included.
        leaf_size: Places in a leaf.
    """

    order: Int32
    depth: int
    leaf_size: int

    @property
    def leaf_count(self) -> int:
        return int(FAN**self.depth)

    @property
    def first_place(self) -> int:
        """Number of the first place of a particle: places are nodes without children."""
        return first_of_level(self.depth + 1)

    @property
    def node_count(self) -> int:
        """Nodes of all levels, the places of the particles included."""
        return self.first_place + len(self.order)

    def leaves(self, count: int) -> Int32:
        """Leaf of each of so many particles."""
        held = np.flatnonzero(self.order != EMPTY)
        found = np.empty(count, np.int32)
        found[self.order[held]] = held // self.leaf_size
        return found


def first_of_level(level: int) -> int:
    """Number of the first node so many levels below the root."""
    return int((FAN**level - 1) // (FAN - 1))


def contact_tree(positions: Float64) -> ContactTree:
    """Halves the particles along the longest edge of the box around them, again and again.

    Args:
        positions: Rest places [m], shape (P, 3).
    """
    count, depth = len(positions), 0
    while count > LEAF_MAX * FAN**depth:
        depth += 1
    leaves = FAN**depth
    leaf_size = -(-count // leaves)
    order = np.full(leaves * leaf_size, EMPTY, np.int32)
    order[:count] = np.arange(count)
    # Empty places are nowhere, which sorts them last.
    places = np.full((len(order), 3), np.nan)
    places[:count] = positions
    parts = 1
    while parts < leaves:
        boxes = places[order].reshape(parts, -1, 3)
        extent = np.fmax.reduce(boxes, axis=1) - np.fmin.reduce(boxes, axis=1)
        longest = np.nan_to_num(extent).argmax(axis=1)
        along = np.take_along_axis(boxes, longest[:, None, None], axis=2)[..., 0]
        sorting = np.argsort(along, axis=1, kind="stable")
        order = np.take_along_axis(order.reshape(parts, -1), sorting, axis=1).ravel()
        parts *= 2
    return ContactTree(order, depth, leaf_size)
