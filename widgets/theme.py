"""Look of the program: Fusion style with neutral greys, dark or light, and one accent colour.

The scheme of the system decides unless the user chose one.  Colours that have a meaning beyond the
palette's roles come from `colours()`, sizes from `SPACE` and `SPACE_WIDE`, icons from `icon(name)`.
"""

import enum

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QToolTip, QTreeView, QWidget

from widgets.colours import DARK, LIGHT, Colours, colours, is_dark
from widgets.icons import icon

__all__ = ["SPACE", "SPACE_WIDE", "Colours", "Theme", "ThemeMode", "colours", "dress", "icon", "is_dark", "tabular"]

SPACE = 4
SPACE_WIDE = 8
_DRESSED = "dressed"


class ThemeMode(enum.Enum):
    """Which scheme is used; AUTO follows the system."""

    AUTO = "auto"
    DARK = "dark"
    LIGHT = "light"


class Theme(QObject):
    """Keeps the application's palette in step with the system's colour scheme and the user's choice.

    Create one after QApplication and keep it alive.
    """

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
        """Chooses the scheme; AUTO goes back to the system's."""
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


def tabular(font: QFont) -> QFont:
    """Copy of `font` whose figures all have the same width, so that changing numbers do not dance."""
    copy = QFont(font)
    copy.setFeature(QFont.Tag("tnum"), 1)
    return copy


def dress(*widgets: QWidget) -> None:
    """Gives bars, and those and the header of scrolled views, what no palette role reaches; they follow the theme.

    Each has a style sheet of its own: with one of the application Qt keeps 800 bytes for ever of each combo box and
    each spin box that goes.
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
    """The few things that no palette role reaches."""
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
