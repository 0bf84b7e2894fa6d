"""Maps: what varies over the surface that hair grows on, by images and by the weights of bones."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sim.assets.model import CharacterModel, Mesh
from sim.kinds.hair.root_settings import ImageChannel
from sim.kinds.hair.roots import Roots
from sim.kinds.hair.settings import HairSettings
from sim.maths.srgb import linear_from_srgb
from sim.skin.surface_density import bone_density
from sim.skin.surface_table import texture_density

Float64 = npt.NDArray[np.float64]
UInt8 = npt.NDArray[np.uint8]

_NUMBERS = {ImageChannel.RED: 0, ImageChannel.GREEN: 1, ImageChannel.BLUE: 2, ImageChannel.ALPHA: 3}


def channel_of(pixels: UInt8, channel: ImageChannel) -> UInt8:
    """The part of an image (H, W, 4) whose brightness is that of a channel."""
    return pixels if channel is ImageChannel.BRIGHTNESS else pixels[..., _NUMBERS[channel]]


@dataclass(frozen=True, slots=True, eq=False)
class SurfaceMaps:
    """Images over the surface of a model.

    Attributes:
        images: By what they are of, "length", "curl", "clump", "noise" or "colour".
        is_bottom_up: Whether texture coordinate v = 0 is the bottom row.
    """

    images: Mapping[str, UInt8] = field(default_factory=dict)
    is_bottom_up: bool = False

    def factors(self, what: str, settings: HairSettings, model: CharacterModel, roots: Roots) -> Float64 | None:
        """Factors of a quantity where strands grow, 0 to 1, shape (N,); None where nothing makes it vary."""
        found: Float64 | None = None
        if what in self.images:
            channel = getattr(settings, f"{what}_channel")
            found = texture_density(channel_of(self.images[what], channel), self._places(model.mesh, roots))
        weights = self.weights(what, settings, model, roots)
        if found is None or weights is None:
            return weights if found is None else found
        return found * weights

    def weights(self, what: str, settings: HairSettings, model: CharacterModel, roots: Roots) -> Float64 | None:
        """Weights of the bone that a quantity goes by, shape (N,); None where there is none."""
        weights = bone_density(model, getattr(settings, f"{what}_bone"))
        return None if weights is None else np.einsum("nc,nc->n", roots.shares, weights[roots.corners])

    def tints(self, mesh: Mesh, roots: Roots) -> Float64:
        """Linear factors of the colours of strands, shape (N, 3)."""
        if "colour" not in self.images:
            return np.ones((roots.count, 3))
        pixels, places = self.images["colour"], self._places(mesh, roots)
        channels = [texture_density(pixels[..., index], places) for index in range(3)]
        return linear_from_srgb(np.stack(channels, axis=1))

    def _places(self, mesh: Mesh, roots: Roots) -> Float64:
        found = np.einsum("nc,nck->nk", roots.shares, mesh.texcoords.astype(np.float64)[roots.corners])
        return np.stack([found[:, 0], 1.0 - found[:, 1]], axis=1) if self.is_bottom_up else found


NO_MAPS = SurfaceMaps()
