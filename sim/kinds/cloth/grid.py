"""Sheets of cloth. Particle `row * columns + column`; row 0 is the top edge, column 0 the left edge as seen from +z.

The arithmetic is exactly antisymmetric about the middle column, so that a sheet stays its own mirror image.
"""

from dataclasses import dataclass

import numpy as np

from sinew.sim.kinds.cloth.maps import ClothMap, Values
from sinew.sim.kinds.cloth.settings import ClothPlacement
from sinew.sim.kinds.cloth.springs import SpringKind, Springs, joined
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.maths.arrays import Float64, Int32

BEND_SPAN = 2


@dataclass(frozen=True, slots=True)
class GridShape:
    # Particles across and along, at least 2
    columns: int
    rows: int
    # Distance of neighbours [m]
    across: float
    along: float

    @property
    def particle_count(self) -> int:
        return self.columns * self.rows

    @property
    def diagonal(self) -> float:
        """Rest length of a shear spring [m]."""
        return float(np.hypot(self.across, self.along))

    def spring_factors(self) -> dict[str, float]:
        """Returns the factors of the springs inside a sheet of material, by direction.

        A spring along a thread represents the strip of fabric around it; a bend spring a quarter of it, since two of
        them lie over every cell and each is two cells long.
        """
        dx, dy = self.across, self.along
        return {
            "across": dy / dx,
            "along": dx / dy,
            "diagonal": (dx * dx + dy * dy) / (2.0 * dx * dy),
            "bend_across": dy / (4.0 * dx),
            "bend_along": dx / (4.0 * dy),
        }

    def numbers(self) -> Int32:
        return np.arange(self.particle_count, dtype=np.int32).reshape(self.rows, self.columns)


def grid_surface(shape: GridShape, placement: ClothPlacement) -> ClothSurface:
    # Twice the distance from the middle in cells is a whole number: the halves mirror each other bit for bit.
    x = (2.0 * np.arange(shape.columns) - (shape.columns - 1)) * (0.5 * shape.across)
    down = 2.0 * np.arange(shape.rows) * (0.5 * shape.along)
    centred = (2.0 * np.arange(shape.rows) - (shape.rows - 1)) * (0.5 * shape.along)
    plane = np.zeros((shape.rows, shape.columns, 3))
    plane[..., 0] = x
    if placement is ClothPlacement.HANGING:
        plane[..., 1] = -down[:, None]
    elif placement is ClothPlacement.FREE:
        plane[..., 1] = -centred[:, None]
    else:
        plane[..., 2] = centred[:, None]
    u, v = np.arange(shape.columns) / (shape.columns - 1), 1.0 - np.arange(shape.rows) / (shape.rows - 1)
    texcoords = np.stack(np.broadcast_arrays(u[None, :], v[:, None]), axis=-1).reshape(-1, 2).astype(np.float32)
    numbers = shape.numbers()
    a, b, c, d = numbers[:-1, :-1], numbers[:-1, 1:], numbers[1:, :-1], numbers[1:, 1:]
    cells = np.stack([a, c, b, b, c, d], axis=-1)
    return ClothSurface(plane.reshape(-1, 3), texcoords, cells.reshape(-1, 3).astype(np.uint32))


def cell_shares(shape: GridShape) -> Float64:
    """Returns the area of each particle [m²], a quarter of every cell around it, shape (P,)."""
    across, along = np.ones(shape.columns), np.ones(shape.rows)
    across[[0, -1]] = along[[0, -1]] = 0.5
    areas: Float64 = (along[:, None] * across[None, :]).ravel() * (shape.across * shape.along)
    return areas


def grid_springs(shape: GridShape, *, material: bool) -> Springs:
    """Makes structural springs to the four neighbours, shear springs across cells, bend springs over two cells.

    The factors of a material make the sheet the same fabric at every resolution; else they are 1.
    """
    numbers, factor = shape.numbers(), shape.spring_factors()
    dx, dy = shape.across, shape.along
    # Along the border there is only half a strip.
    row, column = np.ones((shape.rows, 1)), np.ones((1, shape.columns))
    row[[0, -1]] = column[:, [0, -1]] = 0.5
    every = np.full((1, 1), factor["diagonal"])
    thread, shear, bend, two = SpringKind.STRUCTURAL, SpringKind.SHEAR, SpringKind.BEND, BEND_SPAN
    parts = [
        _strip(numbers[:, :-1], numbers[:, 1:], thread, dx, row * factor["across"]),
        _strip(numbers[:-1, :], numbers[1:, :], thread, dy, column * factor["along"]),
        _strip(numbers[:-1, :-1], numbers[1:, 1:], shear, shape.diagonal, every),
        _strip(numbers[:-1, 1:], numbers[1:, :-1], shear, shape.diagonal, every),
        _strip(numbers[:, :-two], numbers[:, two:], bend, two * dx, row * factor["bend_across"]),
        _strip(numbers[:-two, :], numbers[two:, :], bend, two * dy, column * factor["bend_along"]),
    ]
    springs = joined(parts)
    return springs if material else Springs(springs.pairs, springs.kinds, springs.rest, np.ones(springs.count))


def _strip(first: Int32, second: Int32, kind: SpringKind, rest: float, factors: Float64) -> Springs:
    pairs = np.stack([first.ravel(), second.ravel()], axis=1)
    spread = np.broadcast_to(factors, first.shape).ravel().astype(np.float64)
    return Springs(pairs, np.full(len(pairs), int(kind), np.int32), np.full(len(pairs), rest), spread)


def sheet_factors(grid: GridShape, values: Values) -> Float64:
    """Returns the same factors (P, 3, 4): left, right, upper, lower thread; shear from upper left on; bending."""
    row, column = np.divmod(np.arange(grid.particle_count), grid.columns)
    ones = np.ones(grid.particle_count)
    found = np.empty((grid.particle_count, 3, 4))
    for group, (one, ways) in enumerate(_WAYS):
        own = values.get(one, ones)
        for slot, (right, down) in enumerate(ways):
            # Where the sheet ends there is no spring, and no factor is needed.
            rows, columns = np.clip(row + down, 0, grid.rows - 1), np.clip(column + right, 0, grid.columns - 1)
            found[:, group, slot] = 0.5 * (own + own[rows * grid.columns + columns])
    return found


_WAYS = (
    (ClothMap.STRETCH, ((-1, 0), (1, 0), (0, -1), (0, 1))),
    (ClothMap.STRETCH, ((-1, -1), (1, -1), (-1, 1), (1, 1))),
    (ClothMap.BEND, ((-2, 0), (2, 0), (0, -2), (0, 2))),
)
