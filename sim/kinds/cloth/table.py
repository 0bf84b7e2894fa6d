"""Neighbour tables of fixed width: what a particle gathers from, for a kernel without branches.

A slot that nothing fills names the particle itself: a spring of no length pulls nowhere, a face without area weighs
nothing.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.kinds.cloth.springs import SpringKind, Springs
from sim.scene.params import SettingsError

Float64 = npt.NDArray[np.float64]
Int32 = npt.NDArray[np.int32]

WIDTH_MAX = 64
"""Most springs of one kind, or faces, around a particle; wider fans make every particle of the mesh slow."""


@dataclass(frozen=True, slots=True)
class NeighbourTable:
    """Springs around every particle, by kind.

    Attributes:
        index: Particle at the other end, shape (P, W).
        rest: Rest length [m], shape (P, W); 0 in empty slots.
        factor: Factor of the spring, shape (P, W); 0 in empty slots.
    """

    index: Int32
    rest: Float64
    factor: Float64

    @property
    def width(self) -> int:
        return int(self.index.shape[1])


def neighbour_table(springs: Springs, kinds: tuple[SpringKind, ...], particle_count: int) -> NeighbourTable:
    """Table of the springs of some kinds, neighbours in the order of kind and number.

    Raises:
        SettingsError: If a particle has more than `WIDTH_MAX` of them.
    """
    chosen = np.isin(springs.kinds, [int(kind) for kind in kinds])
    pairs = springs.pairs[chosen]
    owner = np.concatenate([pairs[:, 0], pairs[:, 1]])
    other = np.concatenate([pairs[:, 1], pairs[:, 0]])
    kind = np.tile(springs.kinds[chosen], 2)
    order = np.lexsort((other, kind, owner))
    slot, width = _slots(owner[order], particle_count)
    index = np.repeat(np.arange(particle_count, dtype=np.int32)[:, None], width, axis=1)
    rest, factor = np.zeros((particle_count, width)), np.zeros((particle_count, width))
    place = (owner[order], slot)
    index[place] = other[order]
    rest[place] = np.tile(springs.rest[chosen], 2)[order]
    factor[place] = np.tile(springs.factors[chosen], 2)[order]
    return NeighbourTable(index, rest, factor)


def face_table(triangles: npt.NDArray[np.uint32], particle_count: int) -> Int32:
    """The two other corners of every triangle around each particle, in turning order, shape (P, W, 2).

    Raises:
        SettingsError: If a particle has more than `WIDTH_MAX` triangles.
    """
    corners = triangles.astype(np.int32)
    owner = corners.T.ravel()
    others = np.concatenate([corners[:, [1, 2]], corners[:, [2, 0]], corners[:, [0, 1]]])
    order = np.argsort(owner, kind="stable")
    slot, width = _slots(owner[order], particle_count)
    faces = np.repeat(np.arange(particle_count, dtype=np.int32)[:, None], 2 * width, axis=1)
    table = faces.reshape(particle_count, width, 2)
    table[owner[order], slot] = others[order]
    return table


def _slots(owner: npt.NDArray[np.integer], particle_count: int) -> tuple[npt.NDArray[np.intp], int]:
    """Place of each entry among those of the same owner, which follow each other; and the largest number of them."""
    counts = np.bincount(owner, minlength=particle_count)
    width = int(counts.max(initial=0))
    if width > WIDTH_MAX:
        raise SettingsError(
            f"particle {int(counts.argmax())} has {width} neighbours of one kind, {WIDTH_MAX} is the most"
        )
    starts = np.cumsum(counts) - counts
    return np.arange(len(owner)) - starts[owner], width
