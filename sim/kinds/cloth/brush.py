"""Brushes of painted maps. With a mirror, values change at the mirror images of the brushed particles too."""

import numpy as np

from sinew.sim.kinds.cloth.maps import RANGES, ClothMap, Values
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.springs import SpringKind
from sinew.sim.maths.arrays import Float64, Intp
from sinew.sim.maths.points import nearest_vertices
from sinew.sim.scene.brush import SMOOTHING, BrushedPoints, BrushStroke, Occlusion

_NEARLY = 0.999
"""Part of the largest value from which on a distance is unlimited."""


class MapBrush:
    """A map of a cloth under a brush.

    Args:
        places: Particles at rest in the frame of the cloth [m], shape (P, 3), which is mirrored at x = 0.

    Attributes:
        values: Of the particles, shape (P,).
    """

    def __init__(self, model: ClothModel, places: Float64, one: ClothMap, values: Values) -> None:
        self._model, self._places, self._range = model, places, RANGES[one]
        self.values = values.get(one, np.full(len(places), self._range.neutral)).copy()
        # A cloth that is held cannot move further than about twice its size, so that more is no limit.
        self._largest = min(self._range.hi, 2.0 * model.extent if self._range.unit else np.inf)
        self._pairs = model.springs.of_kind(SpringKind.STRUCTURAL).pairs
        self._points = BrushedPoints(self._pairs)
        self._degrees = np.maximum(np.bincount(self._pairs.ravel(), minlength=len(places)), 1)
        self._images = np.full(len(places), -1, np.intp)

    def look(self, positions: Float64, cover: Occlusion | None, *, mirror: bool) -> None:
        """Sets the current positions in the world [m], shape (P, 3), and what may hide them; before the first dab."""
        self._points.look(positions, cover)
        self._mirror = mirror

    def add(self, dab: BrushStroke, amount: float) -> None:
        rows, shares = self._under(dab)
        self._take(rows, self.values[rows] + dab.strength * shares * amount)

    def set(self, dab: BrushStroke, value: float) -> None:
        rows, shares = self._under(dab)
        before = np.minimum(self.values[rows], self._largest)
        self._take(rows, before + dab.strength * shares * (min(value, self._largest) - before))

    def erase(self, dab: BrushStroke) -> None:
        self.set(dab, self._range.neutral)

    def smooth(self, dab: BrushStroke) -> None:
        rows, shares = self._under(dab)
        limited = np.minimum(self.values, self._largest)
        sums = np.bincount(self._pairs.ravel(), limited[self._pairs[:, ::-1]].ravel(), len(limited))
        means = (sums / self._degrees)[rows]
        self._take(rows, limited[rows] + SMOOTHING * dab.strength * shares * (means - limited[rows]))

    def _under(self, dab: BrushStroke) -> tuple[Intp, Float64]:
        """Returns the particles that the brush changes, and how far."""
        shares = self._points.shares(dab)
        if self._mirror:
            rows = np.flatnonzero(shares)
            np.maximum.at(shares, self._mirrored(rows), shares[rows])
        rows = np.flatnonzero(shares)
        return rows, shares[rows]

    def _mirrored(self, rows: Intp) -> Intp:
        """Returns the particles nearest to the mirror images of others."""
        unknown = rows[self._images[rows] < 0]
        if len(unknown):
            self._images[unknown] = nearest_vertices(self._places[unknown] * (-1.0, 1.0, 1.0), self._places)
        return self._images[rows]

    def _take(self, rows: Intp, values: Float64) -> None:
        new = np.clip(values, self._range.lo, self._range.hi)
        if self._range.unit:
            new[new >= _NEARLY * self._largest] = self._range.hi
        self.values[rows] = new
