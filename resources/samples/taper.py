"""Grids whose cells change size along one axis, so that hands and faces get more vertices than arms and necks."""

from collections.abc import Sequence

import numpy as np

from resources.samples.sdf import Distances, Points

_SAMPLES = 4001
_REACH = 1.0
"""How far the map extends beyond the outer stations [m]."""


class Taper:
    """Map from a regular grid to model space whose scale depends on the place along `axis`.

    The other two axes shrink by the same factor towards `centre`, so cells stay cubes.
    """

    def __init__(
        self, axis: int, stations: Sequence[float], scales: Sequence[float], centre: Sequence[float] = (0.0, 0.0, 0.0)
    ) -> None:
        self._axis = axis
        self._centre = np.asarray(centre, dtype=np.float64)
        self._stations, self._scales = np.asarray(stations), np.asarray(scales)
        self._model = np.linspace(self._stations[0] - _REACH, self._stations[-1] + _REACH, _SAMPLES)
        middle = 0.5 * (self._model[1:] + self._model[:-1])
        steps = np.diff(self._model) / self._scale(middle)
        self._grid = np.concatenate([[0.0], np.cumsum(steps)])
        self._grid -= np.interp(0.0, self._model, self._grid)

    def _scale(self, along: Distances) -> Distances:
        """Smooth steps between the stations."""
        index = np.clip(np.searchsorted(self._stations, along) - 1, 0, len(self._stations) - 2)
        low, high = self._stations[index], self._stations[index + 1]
        t = np.clip((along - low) / (high - low), 0.0, 1.0)
        t = t * t * (3.0 - 2.0 * t)
        scale: Distances = self._scales[index] * (1.0 - t) + self._scales[index + 1] * t
        return scale

    def __call__(self, grid: Points) -> Points:
        """Model points of grid points, shape (N, 3)."""
        along = np.interp(grid[:, self._axis], self._grid, self._model)
        points = grid * self._scale(along)[:, None] + self._centre
        points[:, self._axis] = along
        return points

    def grid_box(self, lo: Sequence[float], hi: Sequence[float]) -> tuple[Points, Points]:
        """Corners of the grid box that covers the model box from `lo` to `hi`."""
        finest = float(self._scales.min())
        corners = [(np.asarray(corner) - self._centre) / finest for corner in (lo, hi)]
        for corner, model in zip(corners, (lo, hi), strict=True):
            corner[self._axis] = np.interp(model[self._axis], self._model, self._grid)
        return corners[0], corners[1]
