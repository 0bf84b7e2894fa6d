"""How large things become in a picture."""

from dataclasses import dataclass
from functools import cached_property

from pyglm import glm

from sim.assets.model import Bounds

SPRITE_PIXELS = 48.0
"""Widest point sprite [px]; in wider ones it shows that a point vanishes when its centre leaves the picture."""


@dataclass(frozen=True)
class Projection:
    """What sizes depend on.

    Attributes:
        clip_from_world: The projection.
        viewport: Width and height of the target [px].
    """

    clip_from_world: glm.dmat4
    viewport: tuple[int, int]

    @cached_property
    def scale(self) -> tuple[float, float]:
        """Change of clip x and y over a metre across the view: the rows of a view are of length 1."""
        across, upward = glm.row(self.clip_from_world, 0), glm.row(self.clip_from_world, 1)
        return glm.length(across.xyz), glm.length(upward.xyz)

    @cached_property
    def _depth_row(self) -> tuple[float, float, float, float]:
        x, y, z, w = glm.row(self.clip_from_world, 3)
        return x, y, z, w

    def pixels(self, width: float, w: float) -> float:
        """Width on the target [px] of something of a width [m], where the projection has this w."""
        return width * self.scale[1] * self.viewport[1] / (2.0 * w)

    def nearest(self, box: Bounds) -> float:
        """Smallest w in a box of the world: the depth [m] of its nearest corner with perspective, 1 without."""
        *row, near = self._depth_row
        for part, low, high in zip(row, box.lo.tolist(), box.hi.tolist(), strict=True):
            near += part * (low if part > 0.0 else high)
        return float(near)

    def takes_sprites(self, largest: float, box: Bounds | None, limit: float) -> bool:
        """Whether particles no wider than this [m] stay small enough for point sprites all over a box.

        Args:
            largest: Width [m].
            box: Where the particles are; None where that is not known.
            limit: Largest point of the driver [px].
        """
        near = self.nearest(box) if box is not None else 0.0
        return near > 0.0 and self.pixels(largest, near) <= min(SPRITE_PIXELS, limit)
