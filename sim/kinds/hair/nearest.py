"""The three guides that are nearest to each strand that is drawn."""

import numpy as np
import numpy.typing as npt

from sim.kinds.background import Pause, unpaused
from sim.maths.curve_order import places_on_curve

Float64 = npt.NDArray[np.float64]
Intp = npt.NDArray[np.intp]

COUNT = 3
_BLOCK, _BLOCKS = 64, 4096


def nearest_guides(points: Float64, guides: Float64, pause: Pause = unpaused) -> tuple[Intp, Float64]:
    """Numbers (P, 3) of the nearest guides, the first one nearest, and their weights (P, 3), by inverse distance.

    Points that lie together are looked at together, with the few guides that may be near any of them.

    Args:
        points: shape (P, 3).
        guides: shape (G, 3), at least one; where there are fewer than three the last one counts again.
        pause: See `sim.kinds.background`.
    """
    wanted = min(COUNT, len(guides))
    numbers, squares = np.empty((len(points), COUNT), np.intp), np.empty((len(points), COUNT))
    order = np.argsort(places_on_curve(points), kind="stable")
    for first in range(0, len(points), _BLOCKS):
        pause(first / len(points))
        large = order[first : first + _BLOCKS]
        around = _near(points[large], guides, np.arange(len(guides)), wanted)
        for second in range(0, len(large), _BLOCK):
            chosen = large[second : second + _BLOCK]
            near = _near(points[chosen], guides, around, wanted)
            apart = _squares(points[chosen], guides[near])
            rows = np.arange(len(chosen))
            for rank in range(COUNT):
                best = np.argmin(apart, axis=1)
                numbers[chosen, rank], squares[chosen, rank] = near[best], apart[rows, best]
                if rank + 1 < wanted:
                    apart[rows, best] = np.inf
    weights = 1.0 / np.sqrt(np.maximum(squares, 1e-16))
    weights[:, wanted:] = 0.0
    return numbers, weights / weights.sum(axis=1, keepdims=True)


def _near(block: Float64, guides: Float64, among: Intp, wanted: int) -> Intp:
    """Those among the guides that may be one of the nearest of any point of a block."""
    centre = block.mean(axis=0)
    reach = float(np.sqrt(np.sum((block - centre) ** 2, axis=1).max()))
    away = np.sqrt(np.sum((guides[among] - centre) ** 2, axis=1))
    found: Intp = among[away <= np.partition(away, wanted - 1)[wanted - 1] + 2.0 * reach + 1e-12]
    return found


def _squares(points: Float64, others: Float64) -> Float64:
    """Squares of all distances, (P, G)."""
    found = np.zeros((len(points), len(others)))
    for axis in range(3):
        found += (points[:, axis, None] - others[:, axis]) ** 2
    return found
