"""Colour, opacity and size over the life of a particle: stops made into tables for the GPU."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.kinds.emitter.settings import STOP_MAX, EmitterSettings
from sim.scene.params import SettingsError, in_order

Float32 = npt.NDArray[np.float32]

TABLE_SIZE = 256


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


def life_table(settings: EmitterSettings) -> Float32:
    """Linear red, green, blue, opacity | size, 0, 0, 0 over the life, shape (2, TABLE_SIZE, 4); brightness included.

    Texel i stands for the share i / (TABLE_SIZE - 1) of the life.

    Raises:
        SettingsError: For stops that are out of order.
    """
    places = np.linspace(0.0, 1.0, TABLE_SIZE)
    out = np.zeros((2, TABLE_SIZE, 4), np.float32)
    for name in ("colour_over_life", "opacity_over_life", "size_over_life"):
        check_stops(getattr(settings, name), name.replace("_", " "))
    out[0, :, :3] = values_at(settings.colour_over_life, places) * settings.brightness
    out[0, :, 3:] = values_at(settings.opacity_over_life, places)
    out[1, :, :1] = values_at(settings.size_over_life, places)
    return out
