"""Colours of passes, the same in every session, plot, legend and strip.

The type of work decides the hue, from a palette for colour-blind eyes (Okabe and Ito 2008); passes of one type differ
in lightness.
"""

import functools
import zlib

from PySide6.QtGui import QColor

from sinew.sim.kinds import KINDS
from sinew.sim.profile.sample import SEPARATOR

_ORANGE, _SKY, _GREEN, _YELLOW, _BLUE, _VERMILLION, _PURPLE = (
    "#e69f00", "#56b4e9", "#009e73", "#e6d732", "#0072b2", "#d55e00", "#cc79a7",
)  # fmt: skip
_GREY = "#999999"
PALETTE = (_ORANGE, _SKY, _GREEN, _YELLOW, _BLUE, _VERMILLION, _PURPLE)

_HUES = {
    "simulate": _SKY, "draw": _ORANGE, "apply": _PURPLE, "pick": _GREEN, "upload": _YELLOW,
    "pose": _PURPLE, "skinning": _GREEN, "particles": _VERMILLION, "shadow": _SKY, "background": _GREY,
    "ground": _GREY, "overlay": _GREY, "resolve": _GREY,
}  # fmt: skip
_SHADES = (100, 78, 122, 64, 140)
"""Lightness in percent; the first one is for a kind as a whole."""


@functools.lru_cache(maxsize=4096)
def pass_colour(path: str) -> QColor:
    """Returns the colour of a `sinew.sim.profile.sample.Slice.path`; do not modify the result."""
    parts = path.split(SEPARATOR)
    kind = parts[1] if len(parts) > 1 else parts[0]
    known = _HUES.get(kind) or _hue_of_kind(kind)
    hue = known or PALETTE[_hash(kind) % len(PALETTE)]
    is_well_known = len(parts) == 1 and bool(known)
    shade = 0 if is_well_known else _hash(path) % len(_SHADES)
    return QColor(hue).lighter(_SHADES[shade]) if _SHADES[shade] >= 100 else QColor(hue).darker(10000 // _SHADES[shade])


def _hue_of_kind(name: str) -> str:
    """Returns the hue of a kind by its name, singular or plural; "" if unknown."""
    kind = KINDS.get(name) or KINDS.get(name.removesuffix("s"))
    return kind.hue if kind is not None else ""


def _hash(text: str) -> int:
    """Returns a hash that is the same in every session, unlike `hash`."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) >> 3
