"""Part of the ground that the shadow of the scene can reach; only there is the shadow map looked up."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]

_CORNERS = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])


@dataclass(frozen=True, slots=True)
class GroundRectangle:
    """Rectangle on the ground, in coordinates along `axis` and across it, both from the world's origin [m].

    Attributes:
        axis: Unit vector (x, z), shape (2,); "across" is (-z, x).
        lo, hi: Corners (along, across), shape (2,); infinite where the shadow has no end.
    """

    axis: Float64
    lo: Float64
    hi: Float64

    def clipped(self, lo: Float64, hi: Float64) -> tuple[Float64, Float64]:
        """The part inside another rectangle with the same axis; of zero size where there is none."""
        return np.clip(self.lo, lo, hi), np.clip(self.hi, lo, hi)

    def within(self, place: Float64) -> Float64:
        """Coordinates (along, across) of a place (x, z), shape (2,)."""
        along, across = self.axis @ place, self.axis[0] * place[1] - self.axis[1] * place[0]
        return np.array([along, across])


NO_SHADOW = GroundRectangle(np.array([1.0, 0.0]), np.zeros(2), np.zeros(2))


def shadow_rectangle(light: npt.ArrayLike, lo: npt.ArrayLike, hi: npt.ArrayLike) -> GroundRectangle:
    """Rectangle that holds the shadow of a box on the plane y = 0.

    Args:
        light: Position of the light [m], shape (3,).
        lo, hi: Corners of the box [m], shape (3,).

    Returns:
        A rectangle along the light's direction; of zero size for a box below the ground, infinite for a light that
        is not above all of the box.
    """
    lamp, low, high = (np.asarray(value, dtype=np.float64) for value in (light, lo, hi))
    away = ((low + high) / 2.0 - lamp)[[0, 2]]
    distance = float(np.linalg.norm(away))
    axis = away / distance if distance > 1e-9 * max(1.0, float(np.abs(lamp).max())) else np.array([1.0, 0.0])
    if lamp[1] > 0.0 > high[1]:
        return GroundRectangle(axis, np.zeros(2), np.zeros(2))
    if lamp[1] <= high[1] * 1.001:
        return GroundRectangle(axis, np.full(2, -np.inf), np.full(2, np.inf))
    low = np.array([low[0], max(low[1], 0.0), low[2]])
    corners = low + _CORNERS * (high - low)
    thrown = lamp + (corners - lamp) * (lamp[1] / (lamp[1] - corners[:, 1:2]))
    places = np.stack([thrown[:, [0, 2]] @ axis, axis[0] * thrown[:, 2] - axis[1] * thrown[:, 0]], axis=1)
    return GroundRectangle(axis, places.min(axis=0), places.max(axis=0))
