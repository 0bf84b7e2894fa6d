"""Colour, opacity and size over the life of a particle: stops made into tables for the GPU."""

import numpy as np
import numpy.typing as npt

from sim.kinds.emitter.settings import EmitterSettings
from sim.scene.stops import check_stops, values_at

Float32 = npt.NDArray[np.float32]

TABLE_SIZE = 256


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
