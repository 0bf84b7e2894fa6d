"""How the guides of hair look in files: in the colours and widths of the strands that they carry."""

import numpy as np
import numpy.typing as npt

from sim.kinds.hair.growth import Children
from sim.kinds.hair.settings import HairSettings
from sim.maths.srgb import light_of

Float32 = npt.NDArray[np.float32]


def guide_colours(settings: HairSettings, children: Children, count: int) -> Float32:
    """Linear RGBA of the knots of so many guides, shape (count * knots, 4); images count by the mean of the strands."""
    nearest = children.guides[:, 0]
    strands = np.bincount(nearest, minlength=count)
    sums = np.stack([np.bincount(nearest, tint, minlength=count) for tint in children.tints.T], axis=1)
    plain = children.tints.mean(axis=0) if len(children.tints) else np.ones(3)
    tints = np.where(strands[:, None] > 0, sums / np.maximum(strands, 1)[:, None], plain)
    root, tip = (np.array(light_of(colour)) for colour in (settings.root_colour, settings.tip_colour))
    share = np.linspace(0.0, 1.0, settings.knots)[:, None]
    colours = np.ones((count, settings.knots, 4), np.float32)
    colours[..., :3] = tints[:, None] * (root + (tip - root) * share)
    return colours.reshape(-1, 4)


def guide_widths(settings: HairSettings, count: int) -> Float32:
    """Widths of the knots of so many guides [m], shape (count * knots,)."""
    return np.tile(np.linspace(2.0 * settings.root_radius, 2.0 * settings.tip_radius, settings.knots), count).astype(
        np.float32
    )
