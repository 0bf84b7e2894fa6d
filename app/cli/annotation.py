"""Text on pictures: labels of what is compared, and what was in force."""

import functools

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

UInt8 = npt.NDArray[np.uint8]

LINE_SHARE = 1.0 / 30.0
"""Height of a line of text as a share of that of the picture."""

SMALLEST = 11.0
"""Smallest height of text [px]."""

INK, BACKGROUND = (255, 255, 255, 255), (16, 18, 22, 170)


def annotated(pixels: UInt8, lines: list[str], *, bottom: bool = False) -> UInt8:
    """A picture, (H, W, 3 or 4), with lines of text in its upper or lower left corner; itself for none."""
    if not lines:
        return pixels
    height, width, channels = pixels.shape
    font = _font(max(height * LINE_SHARE, SMALLEST))
    picture = Image.fromarray(np.ascontiguousarray(pixels)).convert("RGBA")
    layer = Image.new("RGBA", picture.size)
    draw = ImageDraw.Draw(layer)
    text, pad = "\n".join(lines), font.size * 0.5
    left, top, right, low = draw.multiline_textbbox((0, 0), text, font=font, spacing=pad)
    x, y = pad, height - pad - (low - top) - 2.0 * pad if bottom else pad
    box = (x, y, min(x + right - left + 2.0 * pad, width - 1.0), y + low - top + 2.0 * pad)
    draw.rounded_rectangle(box, radius=pad / 2.0, fill=BACKGROUND)
    draw.multiline_text((x + pad - left, y + pad - top), text, font=font, fill=INK, spacing=pad)
    return np.asarray(Image.alpha_composite(picture, layer))[..., :channels].copy()


@functools.cache
def _font(size: float) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font
