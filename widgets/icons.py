"""Icons from Material Design Icons.

The icon engine reads the palette when it paints, so that icons follow theme, enabled state and selection.
"""

import functools
import importlib.util
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QGuiApplication,
    QIcon,
    QIconEngine,
    QPainter,
    QPaintEvent,
    QPalette,
    QPixmap,
)
from PySide6.QtWidgets import QWidget

from sinew.sim.kinds import KINDS
from sinew.widgets.theme import Colours, colours

_FAMILY = "mdi6"
_PACKAGE = "qtawesome"
_FONT_FILE = "materialdesignicons6-webfont-*.ttf"
_CODES_FILE = "materialdesignicons6-webfont-charmap-*.json"

# Name of an icon -> glyph of the family.
GLYPHS: dict[str, str] = {
    "add": "plus",
    "audible": "volume-high",
    "bone": "bone",
    "browse": "folder-open-outline",
    "camera": "camera-outline",
    "cancel": "close",
    "clear": "broom",
    "clip": "run-fast",
    "compare": "compare",
    "copy": "content-copy",
    "delete": "delete-outline",
    "down": "arrow-down",
    "duplicate": "content-duplicate",
    "error": "alert-circle-outline",
    "filter": "magnify",
    "first": "skip-previous",
    "frame": "fit-to-page-outline",
    "grid": "grid",
    "hidden": "eye-off-outline",
    "info": "information-outline",
    "keyboard": "keyboard-outline",
    "last": "skip-next",
    "loading": "progress-clock",
    "locate": "file-search-outline",
    "locked": "lock-outline",
    "loop": "repeat",
    "material": "palette-outline",
    "missing": "file-alert-outline",
    "muted": "volume-off",
    "model": "human",
    "model-static": "cube-outline",
    "morph": "vector-polyline-edit",
    "next": "step-forward",
    "node": "cube-outline",
    "once": "arrow-right",
    "open": "folder-open-outline",
    "pause": "pause",
    "ping-pong": "arrow-left-right",
    "play": "play",
    "previous": "step-backward",
    "redo": "redo-variant",
    "reload": "reload",
    "rename": "pencil-outline",
    "remove": "minus",
    "reset": "undo-variant",
    "resume": "play-circle-outline",
    "save": "content-save-outline",
    "screenshot": "camera-outline",
    "seed": "dice-5-outline",
    "settings": "tune-variant",
    "skeleton": "human-handsup",
    "solo": "headphones",
    "stop": "stop",
    "texture-missing": "image-off-outline",
    "tick": "check-bold",
    "undo": "undo-variant",
    "up": "arrow-up",
    "view": "monitor-eye",
    "visible": "eye-outline",
    "warning": "alert-outline",
}


@functools.cache
def icon(name: str, tint: str = "") -> QIcon:
    """Returns an icon: a key of `GLYPHS`, or a glyph such as "mdi6.play"; raises KeyError for others. `tint` is a
    colour of `Colours`, such as "warning"; by default the text colour of the palette.
    """
    character = glyph(name)
    return QIcon(PaletteEngine(lambda painter, rect, colour: draw_glyph(painter, rect, character, colour), tint))


def kind_icon(kind: str) -> str:
    return KINDS[kind].icon


def glyph(name: str) -> str:
    """Returns the character of an icon; raises KeyError for an unknown name."""
    plain = name.removeprefix(f"{_FAMILY}.") if name.startswith(f"{_FAMILY}.") else GLYPHS.get(name)
    if plain is None:
        raise KeyError(f"no icon called {name!r}; known: {', '.join(sorted(GLYPHS))}")
    return chr(int(_family().codes[plain], 16))


@functools.lru_cache(maxsize=32)
def glyph_font(pixel_size: int) -> QFont:
    font = QFont(_family().name)
    font.setPixelSize(max(1, pixel_size))
    return font


def draw_glyph(painter: QPainter, rect: QRect, character: str, colour: QColor) -> None:
    side = min(rect.width(), rect.height())
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    painter.setPen(colour)
    painter.setFont(glyph_font(side))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip, character)
    painter.restore()


class GlyphLabel(QWidget):
    """A label of fixed size with an icon in the dim text colour."""

    def __init__(self, name: str, side: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._character = glyph(name)
        self._role = QPalette.ColorRole.PlaceholderText
        self._tint = ""
        self._scheme: Colours | None = None
        self.setFixedSize(side, side)

    def set_icon(self, name: str) -> None:
        self._character = glyph(name)
        self.update()

    def set_tint(self, tint: str, scheme: Colours | None = None) -> None:
        """Sets the tint to a colour of a scheme, by default the current one."""
        self._tint, self._scheme = tint, scheme
        self.update()

    def set_role(self, role: QPalette.ColorRole) -> None:
        self._role = role
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        with QPainter(self) as painter:
            tint = tint_colour(self._tint, self._scheme) if self._tint else self.palette().color(self._role)
            draw_glyph(painter, self.rect(), self._character, tint)


class PaletteEngine(QIconEngine):
    """Icons are painted in the palette's colour for their mode; a `tint` of "" means the text colour."""

    def __init__(self, draw: Callable[[QPainter, QRect, QColor], None], tint: str = "") -> None:
        super().__init__()
        self._draw, self._tint = draw, tint

    def clone(self) -> QIconEngine:
        return PaletteEngine(self._draw, self._tint)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:  # noqa: ARG002
        self._draw(painter, rect, self._colour(mode))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        with QPainter(pixmap) as painter:
            self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        return pixmap

    def _colour(self, mode: QIcon.Mode) -> QColor:
        palette = QGuiApplication.palette()
        if mode == QIcon.Mode.Disabled:
            return palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText)
        if mode == QIcon.Mode.Selected:  # tints are not readable on the accent
            return palette.color(QPalette.ColorGroup.Active, QPalette.ColorRole.HighlightedText)
        if self._tint:
            return tint_colour(self._tint)
        return palette.color(QPalette.ColorGroup.Active, QPalette.ColorRole.ButtonText)


def tint_colour(name: str, scheme: Colours | None = None) -> QColor:
    return QColor(getattr(scheme or colours(), name))


@dataclass(frozen=True, slots=True)
class _Family:
    name: str
    codes: dict[str, str]


@functools.cache
def _family() -> _Family:
    """Returns the font from the files of QtAwesome.

    The package is not imported: it wraps all of Qt, which takes a tenth of a second.
    """
    package = importlib.util.find_spec(_PACKAGE)
    assert package is not None, "QtAwesome is a dependency"
    folder = Path(next(iter(package.submodule_search_locations or ()))) / "fonts"
    font, codes = next(folder.glob(_FONT_FILE)), next(folder.glob(_CODES_FILE))
    names = QFontDatabase.applicationFontFamilies(QFontDatabase.addApplicationFont(str(font)))
    return _Family(names[0], json.loads(codes.read_text(encoding="utf-8")))
