"""Named colours of the two schemes."""

from dataclasses import dataclass

from PySide6.QtGui import QGuiApplication, QPalette


@dataclass(frozen=True, slots=True)
class Colours:
    """Named colours of one scheme as "#rrggbb"."""

    # window, base, alternate, button: Surfaces, from panel to field
    window: str
    base: str
    alternate: str
    button: str
    line: str  # Hairlines between surfaces
    # handle, knob: Scroll bar handle, slider handle
    handle: str
    knob: str
    # text, dim: Text, and text of lesser weight; both readable on window and base
    text: str
    dim: str
    disabled: str  # Text of what cannot be used now
    # accent, on_accent: The one accent colour, and text upon it
    accent: str
    on_accent: str
    accent_text: str  # The accent where it is text or a thin mark on window and base
    # warning, error: Marks of severity, readable on window and base
    warning: str
    error: str
    # axis_x, axis_y, axis_z: Axes of the world
    axis_x: str
    axis_y: str
    axis_z: str


DARK = Colours(
    window="#2b2b2b", base="#232323", alternate="#333333", button="#3a3a3a",
    line="#1b1b1b", handle="#505050", knob="#cfcfcf",
    text="#dedede", dim="#a2a2a2", disabled="#747474",
    accent="#3a78c2", on_accent="#ffffff", accent_text="#74abe8",
    warning="#e0a840", error="#f0776c", axis_x="#ee6f66", axis_y="#8cc152", axis_z="#6ba4f0",
)  # fmt: skip

LIGHT = Colours(
    window="#f2f2f2", base="#ffffff", alternate="#e7e7e7", button="#f7f7f7",
    line="#c9c9c9", handle="#c2c2c2", knob="#ffffff",
    text="#1f1f1f", dim="#5d5d5d", disabled="#9b9b9b",
    accent="#2f6fbd", on_accent="#ffffff", accent_text="#20589c",
    warning="#885700", error="#b3261e", axis_x="#c2362d", axis_y="#3f7d0e", axis_z="#2563c4",
)  # fmt: skip


def is_dark() -> bool:
    palette = QGuiApplication.palette()
    return (
        palette.color(QPalette.ColorRole.WindowText).lightness() > palette.color(QPalette.ColorRole.Window).lightness()
    )


def colours() -> Colours:
    return DARK if is_dark() else LIGHT
