"""What drawing needs of an emitter: its particles as they are, the table of their life, and their picture."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.assets.model import Bounds
from sim.gl.context import Context
from sim.gl.texture import Texture2D
from sim.kinds.emitter.emitter import Emitter
from sim.kinds.emitter.settings import Blending, EmitterSettings, ParticleLook
from sim.render.gradient_texture import GradientTexture
from sim.scene.scene import NodeId

UInt8 = npt.NDArray[np.uint8]


class EmitterView:
    """Draws nothing by itself: `ParticlePass` reads it.

    Args:
        context: Where it lives.
        node_id: The node that is drawn.
        system: The particles, owned by someone else.

    Attributes:
        node_id: The node that is drawn.
        name: What its pass is called where passes are timed.
        system: Its particles.
        bounds: Where its particles are, as far as is known; None for anywhere.
        life: Colour, opacity and size over the life.
    """

    def __init__(self, context: Context, node_id: NodeId, system: Emitter) -> None:
        self.node_id, self.system = node_id, system
        self.name = node_id
        self.bounds: Bounds | None = None
        self.life = GradientTexture(context)
        self._context = context
        self._picture: tuple[UInt8, Texture2D] | None = None

    @property
    def settings(self) -> EmitterSettings:
        """Settings that the particles live by."""
        return self.system.settings

    @property
    def blending(self) -> Blending:
        """How its particles cover what is behind them."""
        return self.settings.blending

    @property
    def look(self) -> ParticleLook:
        """Form of its particles: round spots stand in for a picture that is not there."""
        is_textured = self.settings.look is ParticleLook.TEXTURED
        return ParticleLook.ROUND if is_textured and self._picture is None else self.settings.look

    @property
    def picture(self) -> Texture2D | None:
        """The image of a textured particle, where there is one."""
        return self._picture[1] if self._picture else None

    @property
    def is_soft(self) -> bool:
        """Whether its particles fade before the scene."""
        return self.settings.softness > 0.0 and self.blending is not Blending.OPAQUE

    @property
    def largest(self) -> float:
        """Width of the largest particle that occurs [m]."""
        factor = max(stop[1] for stop in self.settings.size_over_life)
        return self.settings.size * (1.0 + self.settings.size_variance) * factor

    def set_images(self, images: Mapping[Path, UInt8]) -> None:
        """Takes decoded images; that of the particles is uploaded when it is another."""
        wanted = self.settings.look is ParticleLook.TEXTURED and self.settings.texture
        image = images.get(Path(self.settings.texture)) if wanted else None
        if image is (self._picture[0] if self._picture else None):
            return
        self._drop_picture()
        if image is not None:
            texture = Texture2D.from_array(
                self._context, image, "srgb8_alpha8", mipmaps=True, wrap="clamp", label="particle picture"
            )
            self._picture = (image, texture)

    def release(self) -> None:
        """Deletes what drawing added; the particles stay."""
        self.life.release()
        self._drop_picture()

    def _drop_picture(self) -> None:
        if self._picture is not None:
            self._picture[1].release()
        self._picture = None
