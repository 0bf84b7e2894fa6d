"""Tells sheets from bodies: sheets are looked at from both sides, bodies only from outside."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sim.assets.model import Section

BORDER_SHARE = 0.06
"""Part of the edges that may lie on a border; a jacket open at neck and hem has up to 0.05, a cape 0.1."""


def marked_open(
    sections: tuple[Section, ...], positions: npt.NDArray[np.float32], triangles: npt.NDArray[np.uint32]
) -> tuple[Section, ...]:
    """The sections, each with `is_open` as its triangles say.

    Args:
        sections: Draw ranges.
        positions: shape (V, 3); vertices at one place count as one, since seams repeat them.
        triangles: shape (T, 3).
    """
    if not len(triangles):
        return sections
    welded = _welded(positions)
    marked = []
    for section in sections:
        corners = welded[triangles[section.first_triangle : section.first_triangle + section.triangle_count]]
        marked.append(replace(section, is_open=border_share(corners) > BORDER_SHARE))
    return tuple(marked)


def border_share(triangles: npt.NDArray[np.int64]) -> float:
    """Part of the edges that belong to one triangle only, 0 to 1; triangles without area do not count."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    kept = triangles[(a != b) & (b != c) & (c != a)]
    if not len(kept):
        return 0.0
    ends = np.concatenate([kept[:, [0, 1]], kept[:, [1, 2]], kept[:, [2, 0]]])
    keys = (ends.min(axis=1) << 32) | ends.max(axis=1)
    _, counts = np.unique(keys, return_counts=True)
    return float(np.count_nonzero(counts == 1) / len(counts))


def _welded(positions: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """For each vertex the number of its place, shape (V,)."""
    # Adding zero makes negative zeros positive; equal places then have equal bytes.
    rows = np.ascontiguousarray(positions + np.float32(0.0)).view("V12").ravel()
    _, numbers = np.unique(rows, return_inverse=True)
    welded: npt.NDArray[np.int64] = numbers.reshape(-1).astype(np.int64)
    return welded
