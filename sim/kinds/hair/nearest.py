"""The three guides that are nearest to each strand that is drawn."""

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Intp = npt.NDArray[np.intp]

COUNT = 3
_BLOCK = 256
_BITS = 10


def nearest_guides(points: Float64, guides: Float64) -> tuple[Intp, Float64]:
    """Numbers (P, 3) of the nearest guides, the first one nearest, and their weights (P, 3), by inverse distance.

    Points that lie together are looked at together, with the few guides that may be near any of them.

    Args:
        points: shape (P, 3).
        guides: shape (G, 3), at least one; where there are fewer than three the last one counts again.
    """
    wanted = min(COUNT, len(guides))
    numbers, squares = np.empty((len(points), COUNT), np.intp), np.empty((len(points), COUNT))
    order = np.argsort(_places_on_curve(points), kind="stable")
    for first in range(0, len(points), _BLOCK):
        chosen = order[first : first + _BLOCK]
        block = points[chosen]
        centre = block.mean(axis=0)
        reach = float(np.sqrt(np.sum((block - centre) ** 2, axis=1).max()))
        away = np.sqrt(np.sum((guides - centre) ** 2, axis=1))
        near = np.flatnonzero(away <= np.partition(away, wanted - 1)[wanted - 1] + 2.0 * reach + 1e-12)
        apart = np.sum((block[:, None] - guides[near]) ** 2, axis=2)
        best = np.argsort(apart, axis=1, kind="stable")[:, :wanted]
        best = np.concatenate([best, np.repeat(best[:, -1:], COUNT - wanted, axis=1)], axis=1)
        numbers[chosen], squares[chosen] = near[best], np.take_along_axis(apart, best, axis=1)
    weights = 1.0 / np.sqrt(np.maximum(squares, 1e-16))
    weights[:, wanted:] = 0.0
    return numbers, weights / weights.sum(axis=1, keepdims=True)


def _places_on_curve(points: Float64) -> npt.NDArray[np.int64]:
    """Places of points on a curve that keeps together what lies together.

    Source: Morton 1966, "A computer oriented geodetic data base".
    """
    low = points.min(axis=0)
    span = max(float((points.max(axis=0) - low).max()), 1e-12)
    cells = ((points - low) / span * ((1 << _BITS) - 1)).astype(np.int64)
    out = np.zeros(len(points), np.int64)
    for bit in range(_BITS):
        for axis in range(3):
            out |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return out
