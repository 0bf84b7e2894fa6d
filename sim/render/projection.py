from dataclasses import dataclass
from functools import cached_property

from pyglm import glm

from sinew.sim.assets.model import Bounds

SPRITE_PIXELS = 48.0
"""Maximum width of point sprites [px]; wider ones visibly vanish when their centre leaves the image."""


@dataclass(frozen=True)
class Projection:
    clip_from_world: glm.dmat4
    viewport: tuple[int, int]  # [px]

    @cached_property
    def scale(self) -> tuple[float, float]:
        """Change of clip x and y per metre across the view (the rows of a view matrix have length 1)."""
        across, upward = glm.row(self.clip_from_world, 0), glm.row(self.clip_from_world, 1)
        return glm.length(across.xyz), glm.length(upward.xyz)

    @cached_property
    def _depth_row(self) -> tuple[float, float, float, float]:
        x, y, z, w = glm.row(self.clip_from_world, 3)
        return x, y, z, w

    def pixels(self, width: float, w: float) -> float:
        """Returns the width in pixels of an object of a width [m] at this w."""
        return width * self.scale[1] * self.viewport[1] / (2.0 * w)

    def nearest(self, box: Bounds) -> float:
        """Returns the smallest w in a box of the world: the depth [m] of its nearest corner in perspective, else 1."""
        *row, near = self._depth_row
        for part, low, high in zip(row, box.lo.tolist(), box.hi.tolist(), strict=True):
            near += part * (low if part > 0.0 else high)
        return float(near)

    def takes_sprites(self, largest: float, box: Bounds | None, limit: float) -> bool:
        """Returns True if particles up to a width [m] in a box fit into point sprites, up to `limit` [px]."""
        near = self.nearest(box) if box is not None else 0.0
        return near > 0.0 and self.pixels(largest, near) <= min(SPRITE_PIXELS, limit)
