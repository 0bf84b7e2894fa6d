"""Values given at stops between 0 and 1, such as colours over a life or along a strand."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.scene.params import SettingsError, in_order

STOP_MAX = 32
"""Most stops of one list."""


def check_stops(stops: Sequence[Sequence[float]], name: str) -> None:
    """Raises SettingsError unless there are 1 to 32 stops whose places do not fall."""
    if not 1 <= len(stops) <= STOP_MAX:
        raise SettingsError(f"{name}: {len(stops)} stops, allowed are 1 to {STOP_MAX}")
    if not in_order(stops):
        raise SettingsError(f"{name}: the stops must be in the order of their places")


def values_at(stops: Sequence[Sequence[float]], places: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Values between the stops at places (n,), shape (n, components); before the first and after the last they stay."""
    table, at = np.asarray(stops, np.float64), np.asarray(places, np.float64)
    return np.stack([np.interp(at, table[:, 0], column) for column in table[:, 1:].T], axis=1)
