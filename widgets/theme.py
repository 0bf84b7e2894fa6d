"""Theme of the window: Fusion style with neutral greys, dark or light, and one accent colour."""

import enum
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QToolTip, QTreeView, QWidget


@dataclass(frozen=True, slots=True)
class Colours:
    """Colours of a theme as "#rrggbb"."""

    # Surfaces, from panel to field
    window: str
    base: str
    alternate: str
    button: str
    line: str
    handle: str
    knob: str
    text: str
    dim: str
    disabled: str  # Disabled text
    accent: str
    on_accent: str
    accent_text: str  # The accent for text and thin lines
    warning: str
    error: str
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


SPACE = 4
SPACE_WIDE = 8
_DRESSED = "dressed"


class ThemeMode(enum.Enum):
    """Choice of the theme; AUTO follows the system."""

    AUTO = "auto"
    DARK = "dark"
    LIGHT = "light"


class Theme(QObject):
    """Palette of the system's scheme or of the user's choice; create one after QApplication and hold it."""

    changed = Signal()

    def __init__(self, app: QApplication, mode: ThemeMode = ThemeMode.AUTO) -> None:
        super().__init__(app)
        self._app = app
        self._mode = mode
        self._applied: Colours | None = None
        app.setStyle("Fusion")
        app.styleHints().colorSchemeChanged.connect(self._apply)
        self._apply()

    @property
    def mode(self) -> ThemeMode:
        return self._mode

    def set_mode(self, mode: ThemeMode) -> None:
        self._mode = mode
        self._apply()

    def _apply(self) -> None:
        scheme = LIGHT if self._wants_light() else DARK
        if scheme == self._applied:
            return
        self._applied = scheme
        palette = palette_of(scheme)
        self._app.setPalette(palette)
        QToolTip.setPalette(palette)
        for widget in self._app.allWidgets():
            if widget.property(_DRESSED):
                widget.setStyleSheet(_style_sheet(scheme))
        self.changed.emit()

    def _wants_light(self) -> bool:
        if self._mode is ThemeMode.AUTO:
            return self._app.styleHints().colorScheme() == Qt.ColorScheme.Light
        return self._mode is ThemeMode.LIGHT


def blend(first: QColor, second: QColor, share: float) -> QColor:
    """Blends two colours to an opaque one: `share` 0 is the first, 1 the second."""
    return QColor.fromRgbF(
        first.redF() + share * (second.redF() - first.redF()),
        first.greenF() + share * (second.greenF() - first.greenF()),
        first.blueF() + share * (second.blueF() - first.blueF()),
    )


def tabular(font: QFont) -> QFont:
    """Returns the font with digits of one width, so that changing numbers do not move."""
    copy = QFont(font)
    copy.setFeature(QFont.Tag("tnum"), 1)
    return copy


def bold(font: QFont) -> QFont:
    copy = QFont(font)
    copy.setBold(True)
    return copy


def dress(*widgets: QWidget) -> None:
    """Styles bars, and the scroll bars and headers of views; they follow the theme.

    Each has its own style sheet: with one for the application, Qt leaks 800 bytes per combo box and spin box.
    """
    for widget in widgets:
        parts = [widget]
        if isinstance(widget, QAbstractScrollArea):
            parts = [widget.verticalScrollBar(), widget.horizontalScrollBar()]
        if isinstance(widget, QTreeView):
            parts.append(widget.header())
        for part in parts:
            part.setProperty(_DRESSED, True)
            part.setStyleSheet(_style_sheet(colours()))


def palette_of(scheme: Colours) -> QPalette:
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    window, button = QColor(scheme.window), QColor(scheme.button)
    palette = QPalette(button, window)
    plain = {
        role.WindowText: scheme.text, role.Text: scheme.text, role.ButtonText: scheme.text,
        role.Base: scheme.base, role.AlternateBase: scheme.alternate, role.Window: scheme.window,
        role.Button: scheme.button, role.ToolTipBase: scheme.alternate, role.ToolTipText: scheme.text,
        role.PlaceholderText: scheme.dim, role.BrightText: scheme.error, role.Link: scheme.accent_text,
        role.LinkVisited: scheme.accent_text, role.Highlight: scheme.accent, role.HighlightedText: scheme.on_accent,
        role.Accent: scheme.accent,
    }  # fmt: skip
    for key, value in plain.items():
        palette.setColor(key, QColor(value))
    for key in (role.WindowText, role.Text, role.ButtonText, role.PlaceholderText):
        palette.setColor(group.Disabled, key, QColor(scheme.disabled))
    palette.setColor(group.Disabled, role.Highlight, button)
    palette.setColor(group.Disabled, role.HighlightedText, QColor(scheme.disabled))
    return palette


def _style_sheet(scheme: Colours) -> str:
    return f"""
QStatusBar::item {{ border: 0; }}
QScrollBar {{ background: transparent; border: 0; margin: 0; }}
QScrollBar:vertical {{ width: {SPACE_WIDE + 2}px; }}
QScrollBar:horizontal {{ height: {SPACE_WIDE + 2}px; }}
QScrollBar::handle {{ background: {scheme.handle}; border-radius: 3px; margin: 2px; }}
QScrollBar::handle:hover {{ background: {scheme.disabled}; }}
QScrollBar::handle:vertical {{ min-height: 24px; }}
QScrollBar::handle:horizontal {{ min-width: 24px; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QToolBar {{ border: 0; spacing: {SPACE}px; padding: {SPACE}px; }}
QHeaderView::section {{
    color: {scheme.dim}; background: {scheme.window}; border: 0; border-bottom: 1px solid {scheme.line};
    padding: {SPACE // 2}px {SPACE}px;
}}
"""
