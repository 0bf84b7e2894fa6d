"""How the guides of hair look in files: in the colours and widths of the strands that they carry."""

import numpy as np
import numpy.typing as npt

from sim.kinds.hair.growth import Children
from sim.kinds.hair.settings import HairSettings
from sim.maths.srgb import light_of

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]


def guide_colours(settings: HairSettings, children: Children, count: int) -> Float32:
    """Linear RGBA of the knots of so many guides, shape (count * knots, 4): the mean of the strands that they carry.

    Named as in shaders/hair/strand_shade.glsl.
    """
    root, tip = _of_guides(children, children.tints.reshape(-1, 6), count).reshape(-1, 2, 3).swapaxes(0, 1)
    if not children.has_colours:
        root, tip = root * light_of(settings.root_colour), tip * light_of(settings.tip_colour)
    dye = _of_guides(children, children.dyes[:, None], count)[..., None]
    share = np.linspace(0.0, 1.0, settings.knots)[:, None]
    plain = root[:, None] + (tip - root)[:, None] * share
    colours = np.ones((count, settings.knots, 4), np.float32)
    colours[..., :3] = plain + (np.array(light_of(settings.dye_colour)) - plain) * dye
    return colours.reshape(-1, 4)


def guide_widths(settings: HairSettings, count: int) -> Float32:
    """Widths of the knots of so many guides [m], shape (count * knots,)."""
    widths = np.linspace(2.0 * settings.root_radius, 2.0 * settings.tip_radius, settings.knots)
    return np.tile(widths, count).astype(np.float32)


def _of_guides(children: Children, values: Float64, count: int) -> Float64:
    """Means of some values of strands, (N, k), over those that every guide carries; over all where it carries none."""
    carriers = children.carriers
    strands = np.bincount(carriers, minlength=count)[:, None]
    sums = np.stack([np.bincount(carriers, column, minlength=count) for column in values.T], axis=1)
    found: Float64 = np.where(strands > 0, sums / np.maximum(strands, 1), values.mean(axis=0))
    return found
