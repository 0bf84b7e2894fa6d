"""Diamonds beside the settings that can have keys."""

import enum
from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QPointF, QSize, Qt, SignalInstance
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractButton, QMenu, QWidget

from sinew.sim.scene.scene import ParamRef, Scene
from sinew.widgets.theme import colours, is_dark

_SIZE, _RADIUS = QSize(14, 22), 4.5


class KeyState(enum.Enum):
    NONE = "Insert key"
    ANIMATED = "Insert key; the setting has keys at other frames"
    KEY = "Delete key"


def key_colour(state: KeyState) -> QColor:
    """Returns grey without keys, green with keys, yellow on a key."""
    if state is KeyState.NONE:
        return QColor(colours().dim)
    green, yellow = ("#6cc24a", "#e8c93a") if is_dark() else ("#3f8f1f", "#b58900")
    return QColor(green if state is KeyState.ANIMATED else yellow)


def paint_diamond(painter: QPainter, centre: QPointF, radius: float, fill: QColor | None, line: QColor) -> None:
    x, y = centre.x(), centre.y()
    painter.setPen(QPen(line, 1.2))
    painter.setBrush(fill if fill is not None else Qt.BrushStyle.NoBrush)
    corners = [QPointF(x, y - radius), QPointF(x + radius, y), QPointF(x, y + radius), QPointF(x - radius, y)]
    painter.drawPolygon(QPolygonF(corners))


class KeyTarget(Protocol):
    """`sinew.app.document.keys.KeyEdits` is one."""

    refused: SignalInstance

    @property
    def scene(self) -> Scene:
        """Returns the scene with its keys evaluated at the playhead."""

    @property
    def can_paste(self) -> bool: ...

    def refusal(self, ref: ParamRef) -> str:
        """Returns why a setting cannot have keys; "" if it can."""

    def state(self, ref: ParamRef) -> KeyState: ...

    def toggle(self, refs: Sequence[ParamRef]) -> None: ...

    def insert(self, refs: Sequence[ParamRef]) -> None: ...

    def delete(self, refs: Sequence[ParamRef]) -> None: ...

    def clear(self, refs: Sequence[ParamRef]) -> None: ...

    def copy(self, ref: ParamRef) -> None: ...

    def paste(self, refs: Sequence[ParamRef]) -> None: ...


class KeyButton(QAbstractButton):
    """Shows whether a setting has keys, and one at the playhead; a click inserts or deletes it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state, self._is_refused = KeyState.NONE, False
        self.setFixedSize(_SIZE)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Key")
        self.setToolTip(self.state.value)

    def refuse(self, reason: str) -> None:
        """Hides the diamond of a setting that cannot have keys; the tooltip gives the reason."""
        self.setEnabled(False)
        self._is_refused = True
        self.setToolTip(f"Cannot have keys: {reason}")

    def set_state(self, state: KeyState) -> None:
        if state is not self.state:
            self.state = state
            self.setToolTip(state.value)
            self.update()

    def sizeHint(self) -> QSize:
        return _SIZE

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        if self._is_refused:
            return
        colour = key_colour(self.state)
        if not self.isEnabled():
            colour = QColor(colours().disabled)
        if self.state is KeyState.NONE and not self.underMouse():
            colour.setAlphaF(0.55)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            centre = QPointF(self.width() / 2.0, self.height() / 2.0)
            paint_diamond(painter, centre, _RADIUS, colour if self.state is not KeyState.NONE else None, colour)


def add_key_actions(menu: QMenu, keys: KeyTarget, refs: Sequence[ParamRef]) -> None:
    """Adds actions for the setting that was clicked, and the same of the other selected nodes."""
    state = keys.state(refs[0])
    word = "Replace Key" if state is KeyState.KEY else "Insert Key"
    menu.addAction(word).triggered.connect(lambda: keys.insert(refs))
    entries = (
        ("Delete Key", keys.delete, state is KeyState.KEY),
        ("Clear Keys", keys.clear, state is not KeyState.NONE),
        ("Copy Keys", lambda refs: keys.copy(refs[0]), state is not KeyState.NONE),
        ("Paste Keys", keys.paste, keys.can_paste),
    )
    for text, act, is_enabled in entries:
        action = menu.addAction(text)
        action.setEnabled(is_enabled)
        action.triggered.connect(lambda _=False, act=act: act(refs))
