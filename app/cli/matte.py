"""Opacity of a picture, from how much of its background shows: drawn over black and over white."""

import numpy as np
import numpy.typing as npt

UInt8 = npt.NDArray[np.uint8]

BLACK, WHITE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)


def straight_rgba(over_black: UInt8, over_white: UInt8, black: UInt8, white: UInt8) -> UInt8:
    """What was drawn, without the background; exact to the rounding of 8 bits where it is blended as bytes are.

    Args:
        over_black: The picture over a dark background, shape (H, W, 3).
        over_white: The same over a bright one.
        black: The dark background alone.
        white: The bright one alone; brighter than the dark one everywhere.

    Returns:
        Colour that is not multiplied by its opacity, and opacity, shape (H, W, 4); what is not there is black.
    """
    dark, bright, no, full = (picture.astype(np.float64) for picture in (over_black, over_white, black, white))
    shown = np.clip((bright - dark).sum(axis=2) / (full - no).sum(axis=2), 0.0, 1.0)[..., None]
    opacity = np.rint(255.0 * (1.0 - shown))
    colour = np.divide(255.0 * (dark - shown * no), opacity, out=np.zeros_like(dark), where=opacity > 0.0)
    return np.concatenate([np.rint(np.clip(colour, 0.0, 255.0)), opacity], axis=2).astype(np.uint8)
