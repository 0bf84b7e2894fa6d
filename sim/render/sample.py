"""Samples of an image: images that differ in sub-pixel shift, place on the lens and on the lamp, and drawn strands.

Their mean has smooth edges, soft shadows and focus, and the true coverage of strands thinner than a pixel.

References: T. Kollig, A. Keller 2002, "Efficient Multidimensional Sampling"; M. Roberts 2018, "The Unreasonable
Effectiveness of Quasirandom Sequences".
"""

import math
from dataclasses import dataclass

from pyglm import glm

Vec2 = tuple[float, float]

LIGHT_RADIUS = 0.02
"""Radius of the lamp that casts the shadow, as a fraction of its reach."""

MANY = 32

SENSOR_HEIGHT = 0.024
"""Of the sensor behind a lens [m], from which the field of view gives the focal length."""

# Powers of the roots of x⁵ = x + 1 and x² = x + 1.
_LENS, _LIGHT = (0.8566748838545029, 0.733891856627126), (0.6287067210378087, 0.5385972572236101)
_STRANDS = 0.6180339887498949


@dataclass(frozen=True, slots=True)
class Lens:
    radius: float = 0.0  # [m]; 0 for a pinhole
    focus: float = 1.0  # Depth that is sharp [m]

    @classmethod
    def of(cls, tangent: float, stop: float, focus: float) -> "Lens":
        """Returns the lens of a field of view, by the tangent of half of it, and an f-number; 0 is a pinhole."""
        return cls(SENSOR_HEIGHT / (4.0 * tangent * stop) if stop > 0.0 else 0.0, focus)


PINHOLE = Lens()


@dataclass(frozen=True, eq=False, slots=True)
class ImageSample:
    """One sample; number 0 is in the middle of pixel, lens and lamp."""

    number: int
    count: int
    image: object  # The same one for all samples of an image
    lens: Lens = PINHOLE

    @property
    def smooths(self) -> bool:
        """True if there are so many samples that none needs to smooth its own edges."""
        return self.count >= MANY

    @property
    def shift(self) -> Vec2:
        """Shift of the image [px], up to half a pixel.

        The first two dimensions of a Sobol sequence: 16 samples are in 16 different columns and 16 rows of the pixel.
        """
        x = y = 0
        first = second = 128
        for place in range(8):
            if self.number >> place & 1:
                x, y = x ^ first, y ^ second
            first, second = first >> 1, second ^ second >> 1
        return (x / 256 + 0.5) % 1.0 - 0.5, (y / 256 + 0.5) % 1.0 - 0.5

    @property
    def light(self) -> Vec2:
        """Place on the lamp, in the unit disc."""
        return _in_disc(*self._point(_LIGHT))

    def first_strand(self, count: int) -> int:
        """Returns the strand that is drawn first out of `count`, which others follow cyclically."""
        return int(_STRANDS * self.number * count) % count

    def projection(self, clip_from_view: glm.dmat4, size: tuple[int, int]) -> glm.dmat4:
        """Returns a perspective projection through the place on the lens, shifted, for an image of a size [px]."""
        (x, y), (width, height) = self.shift, size
        shift = glm.translate(glm.dvec3(2.0 * x / width, 2.0 * y / height, 0.0))
        across, up = (self.lens.radius * part for part in _in_disc(*self._point(_LENS)))
        shear = glm.dmat4(1.0)
        shear[2] = glm.dvec4(-across / self.lens.focus, -up / self.lens.focus, 1.0, 0.0)
        shear[3] = glm.dvec4(-across, -up, 0.0, 1.0)
        return shift * clip_from_view * shear

    def _point(self, steps: Vec2) -> Vec2:
        """Returns a point of a low-discrepancy sequence around the middle, with coordinates from -0.5 to 0.5."""
        x, y = ((0.5 + self.number * step) % 1.0 - 0.5 for step in steps)
        return x, y


def _in_disc(x: float, y: float) -> Vec2:
    """Maps the square from -0.5 to 0.5 to the unit disc, keeping ratios of areas.

    Source: P. Shirley, K. Chiu 1997, "A Low Distortion Map Between Disk and Square".
    """
    if x == 0.0 and y == 0.0:
        return 0.0, 0.0
    if abs(x) > abs(y):
        radius, angle = 2.0 * x, math.pi / 4.0 * (y / x)
    else:
        radius, angle = 2.0 * y, math.pi / 2.0 - math.pi / 4.0 * (x / y)
    return radius * math.cos(angle), radius * math.sin(angle)
