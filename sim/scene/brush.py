"""Strokes of a brush in the viewport; each kind decides what they change."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.maths.arrays import Float64
from sinew.sim.scene.camera import Camera

SMOOTHING = 0.5
"""Part of the way to their mean that values move with a dab of full strength."""


def falloff(part: Float64) -> Float64:
    """Returns the effect of a brush, 1 at its centre and 0 from its rim on, by distances in parts of the radius."""
    found: Float64 = (1.0 - np.minimum(part, 1.0) ** 2) ** 2
    return found


@dataclass(frozen=True, slots=True)
class BrushStroke:
    """A brush that moved from one position of an image to another [px from the top left]."""

    camera: Camera
    size: tuple[float, float]  # Width and height of the image [px]
    start: tuple[float, float]
    end: tuple[float, float]
    radius: float  # Of the circle [px]
    strength: float  # 0 to 1

    def pixels(self, places: Float64) -> tuple[Float64, Float64, Float64]:
        """Returns image positions [px] (..., 2) of points (..., 3), pixels per metre, 0 behind the eye, and depths."""
        right, up, back = (np.array(axis.to_tuple()) for axis in self.camera.rotation())
        from_eye = places - np.array(self.camera.position().to_tuple())
        depth = -(from_eye @ back)
        away = np.full_like(depth, self.camera.distance) if self.camera.orthographic else depth
        scale = np.where(depth > 0.0, self.size[1] / (2.0 * self.camera.tangent * np.maximum(away, 1e-9)), 0.0)
        x, y = self.size[0] / 2.0 + scale * (from_eye @ right), self.size[1] / 2.0 - scale * (from_eye @ up)
        return np.stack([x, y], axis=-1), scale, depth

    def distances(self, pixels: Float64) -> Float64:
        """Returns distances of image positions (..., 2) from the path of the brush [px]."""
        start, way = np.array(self.start), np.subtract(self.end, self.start)
        along = np.clip((pixels - start) @ way / max(float(way @ way), 1e-12), 0.0, 1.0)
        found: Float64 = np.linalg.norm(pixels - start - along[..., None] * way, axis=-1)
        return found

    def faces(self, places: Float64, normals: Float64) -> npt.NDArray[np.bool_]:
        back = np.array(self.camera.rotation()[2].to_tuple())
        to_eye = np.array(self.camera.position().to_tuple()) - places
        found: npt.NDArray[np.bool_] = np.sum(normals * (back if self.camera.orthographic else to_eye), axis=1) > 0.0
        return found

    def moved(self, scale: Float64) -> Float64:
        right, up, _ = (np.array(axis.to_tuple()) for axis in self.camera.rotation())
        dx, dy = np.subtract(self.end, self.start)
        way: Float64 = (dx * right - dy * up) / np.maximum(scale, 1e-9)[..., None]
        return way


@dataclass(frozen=True, slots=True, eq=False)
class Occlusion:
    depths: npt.NDArray[np.float32]  # Along the view [m], infinite for nothing, shape (H, W), row 0 at the top

    def hides(self, pixels: Float64, depths: Float64, slack: Float64) -> npt.NDArray[np.bool_]:
        """Returns True for positions (N, K, 2), depths (N, K) [m], that are hidden by more than the slack (N, K)."""
        height, width = self.depths.shape
        x = np.clip(pixels[..., 0], 0, width - 1).astype(np.intp)
        y = np.clip(pixels[..., 1], 0, height - 1).astype(np.intp)
        found: npt.NDArray[np.bool_] = depths > self.depths[y, x] + slack
        return found


class BrushedPoints:
    """Points under a brush.

    Args:
        pairs: Neighbours, shape (E, 2); a point counts up to half of their median distance behind the drawn surface.
    """

    def __init__(self, pairs: npt.NDArray[np.integer]) -> None:
        self._pairs = pairs

    def look(self, positions: Float64, cover: Occlusion | None) -> None:
        """Sets the current positions in the world [m], shape (P, 3), and what may hide them; before the first dab."""
        self._positions, self._cover = positions, cover
        corners = positions[self._pairs]
        self._slack = float(np.median(np.linalg.norm(corners[:, 0] - corners[:, 1], axis=1))) if len(corners) else 0.0

    def shares(self, dab: BrushStroke) -> Float64:
        """Returns how far the brush changes each point, 0 to 1, shape (P,)."""
        pixels, scale, depths = dab.pixels(self._positions)
        shares = np.where(scale > 0.0, falloff(dab.distances(pixels) / dab.radius), 0.0)
        if self._cover is not None:
            slack = 0.5 * self._slack + 2.0 / np.maximum(scale, 1e-9)
            shares[self._cover.hides(pixels, depths, slack)] = 0.0
        return shares
