"""Colour, opacity and size over the life of a particle, as a small texture."""

import numpy as np
import numpy.typing as npt

from sim.gl.context import Context
from sim.gl.texture import Texture2D
from sim.kinds.emitter.settings import EmitterSettings
from sim.scene.vectors import check_stops, values_at


class GradientTexture:
    """Follows the settings of an emitter; what did not change is not sent again.

    Args:
        context: Where it lives.
    """

    def __init__(self, context: Context) -> None:
        self._texture = Texture2D(context, (TABLE_SIZE, 2), "rgba32f", filtering="nearest", label="particle life")
        self._shown: tuple[object, ...] | None = None

    def texture(self, settings: EmitterSettings) -> Texture2D:
        """The texture for these settings; rows as `sim.kinds.emitter.gradient_texture.life_table` has them.

        Raises:
            SettingsError: For stops that are out of order.
        """
        wanted = (
            settings.colour_over_life, settings.opacity_over_life, settings.size_over_life, settings.brightness
        )  # fmt: skip
        if self._shown != wanted:
            self._texture.write(life_table(settings))
            self._shown = wanted
        return self._texture

    def release(self) -> None:
        self._texture.release()


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
