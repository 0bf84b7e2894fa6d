"""Colour, opacity and size over the life of a particle, as a small texture."""

from sim.gl.context import Context
from sim.gl.texture import Texture2D
from sim.kinds.emitter.gradient import TABLE_SIZE, life_table
from sim.kinds.emitter.settings import EmitterSettings


class GradientTexture:
    """Follows the settings of an emitter; what did not change is not sent again.

    Args:
        context: Where it lives.
    """

    def __init__(self, context: Context) -> None:
        self._texture = Texture2D(context, (TABLE_SIZE, 2), "rgba32f", filtering="nearest", label="particle life")
        self._shown: tuple[object, ...] | None = None

    def texture(self, settings: EmitterSettings) -> Texture2D:
        """The texture for these settings; rows as `sim.kinds.emitter.gradient.life_table` has them.

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
