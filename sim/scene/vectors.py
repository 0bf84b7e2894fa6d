from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.maths.arrays import Float64
from sinew.sim.scene.params import SettingsError, in_order

Vec3 = tuple[float, float, float]
UnitFloat = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Colour = tuple[UnitFloat, UnitFloat, UnitFloat]

FAR = 1e7
"""Maximum coordinate [m]: in single precision, points there are still a metre apart, and their cubes are finite."""
MOST = 1e6
"""Maximum component of any other vector: factors, angles [°], velocities [m/s], accelerations [m/s²]."""

Coordinate = Annotated[float, msgspec.Meta(ge=-FAR, le=FAR)]
Amount = Annotated[float, msgspec.Meta(ge=-MOST, le=MOST)]
Place = tuple[Coordinate, Coordinate, Coordinate]
Amounts = tuple[Amount, Amount, Amount]


STOP_MAX = 32
"""Maximum number of stops of one list."""


def check_stops(stops: Sequence[Sequence[float]], name: str) -> None:
    """Checks stops; raises SettingsError unless there are 1 to 32 in order of their positions."""
    if not 1 <= len(stops) <= STOP_MAX:
        raise SettingsError(f"{name}: {len(stops)} stops, allowed are 1 to {STOP_MAX}")
    if not in_order(stops):
        raise SettingsError(f"{name}: the stops must be in order")


def values_at(stops: Sequence[Sequence[float]], positions: npt.ArrayLike) -> Float64:
    """Returns values (n, components) at positions (n,); constant outside the stops."""
    table, at = np.asarray(stops, np.float64), np.asarray(positions, np.float64)
    return np.stack([np.interp(at, table[:, 0], column) for column in table[:, 1:].T], axis=1)
