"""Contents of buffers over the frames of a page, as tables of integers with a bound of the rounding, or exactly.

A table has a row for each frame and a column for each word of the buffer that changes.  Floats are rounded to integers
over the range of their component, as fine as a bound demands; small tables, such as joints, are exact.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sinew.sim.export.page.pack import Pack, Reference
from sinew.sim.maths.arrays import Float32, UInt32

EXACT_BYTES = 16_384
"""Changing bytes of a frame up to which a table is exact."""

BITS_MAX = 16

SMALLEST = 1e-30
"""Smaller numbers are bits of integers."""


def recorded(
    pack: Pack, frames: Sequence[bytes], stride: int, bounds: Sequence[float]
) -> tuple[dict[str, Any], list[float]]:
    """Packs the contents of a buffer in all frames.

    Args:
        frames: Contents, all of the same size.
        stride: Words of a record.
        bounds: Largest rounding of each word of a record; 0 for words that must be exact.

    Returns:
        What `Track` of resources/page/recorded.js takes, and the largest roundings of the words of a record.
    """
    table = np.stack([np.frombuffer(data, "<u4") for data in frames])
    moving = np.flatnonzero((table != table[0]).any(axis=0))
    made: dict[str, Any] = {
        "base": _records(pack, table[0], stride), "moving": pack.add(moving.astype("<u4")[:, None], "rows"),
        "parts": [],
    }  # fmt: skip
    errors = [0.0] * stride
    words = moving % stride
    is_small = 4 * len(moving) <= EXACT_BYTES
    exact = [k for k in range(stride) if (words == k).any() and (is_small or not bounds[k])]
    for k in (k for k in range(stride) if (words == k).any()):
        columns = np.flatnonzero(words == k)
        values = table[:, moving[columns]]
        rounded = None if k in exact else _rounded(values.view("<f4"), bounds[k])
        if rounded is None:
            made["parts"].append({"columns": _run(pack, columns), "exact": pack.add(values, "rows")})
            continue
        integers, low, size, errors[k] = rounded
        part = {
            "columns": _run(pack, columns),
            "rounded": pack.add(integers, _coding(integers)),
            "low": low,
            "size": size,
        }
        made["parts"].append(part)
    return made, errors


def _records(pack: Pack, words: UInt32, stride: int) -> Reference:
    return pack.add(words.reshape(-1, stride), "rows") if len(words) % stride == 0 and stride > 1 else pack.add(words)


def _coding(integers: np.ndarray[Any, Any]) -> str:
    """Returns the coding whose differences are smaller: second ones suit smooth motion, first ones noise."""
    steps = np.diff(integers.astype(np.int64), axis=0)
    return "zigzag2" if np.abs(np.diff(steps, axis=0)).sum() < np.abs(steps).sum() else "zigzag"


def _run(pack: Pack, columns: np.ndarray[Any, Any]) -> list[int] | Reference:
    """Returns first, step and number of evenly spaced columns, else their table."""
    step = int(columns[1] - columns[0]) if len(columns) > 1 else 1
    if (np.diff(columns) == step).all():
        return [int(columns[0]), step, len(columns)]
    return pack.add(columns.astype("<u4")[:, None], "rows")


def _rounded(values: Float32, bound: float) -> tuple[np.ndarray[Any, Any], float, float, float] | None:
    """Returns integers, the smallest value, the size of a step and the largest rounding; None for what must be exact.

    Values that are not finite are the largest integer.
    """
    finite = np.isfinite(values)
    if not finite.any() or (values[finite & (values != 0.0)].astype(np.float64) ** 2 < SMALLEST**2).any():
        return None
    low, high = float(values[finite].min()), float(values[finite].max())
    steps = max(math.ceil((high - low) / (2.0 * bound)), 1)
    if steps >= (1 << BITS_MAX) - 1:
        return None
    size = (high - low) / steps
    integers = np.full(values.shape, 0xFFFF, "<u2")
    integers[finite] = np.rint((values[finite].astype(np.float64) - low) / (size or 1.0))
    shown = (low + integers[finite] * size).astype(np.float32)  # as the page computes it
    return integers, low, size, float(np.abs(shown.astype(np.float64) - values[finite]).max())
