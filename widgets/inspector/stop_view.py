"""What the pictures of stops have in common: mouse, keys, focus and the colours of the theme."""

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from widgets.inspector.stops import Stops
from widgets.number_value import gain

_ARROWS = {
    Qt.Key.Key_Left: (-1.0, 0.0),
    Qt.Key.Key_Right: (1.0, 0.0),
    Qt.Key.Key_Down: (0.0, -1.0),
    Qt.Key.Key_Up: (0.0, 1.0),
}
_STEPS = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}
_REMOVE = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
_OPEN = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class StopView(pg.GraphicsView):  # type: ignore[misc]
    """Shows stops and tells what mouse and keys ask for; changes no stop itself.

    The mouse is taken here and not by pyqtgraph's scene, which drops moves that follow each other fast, begins a
    drag only after some way, and knows no Escape.
    """

    chosen = Signal(int)  # Index of a stop that was pressed
    held = Signal()  # A drag of the chosen stop begins
    # Share and value that the chosen stop is dragged to; the value is None where there is none
    moved = Signal(float, object)
    released = Signal()  # The drag is over
    given_up = Signal()  # The drag was ended by Escape
    added = Signal(float, object)  # Share and value of a stop that is wanted; the value is None where there is none
    inserted = Signal()  # A stop is wanted beside the chosen one
    removed = Signal()  # The chosen stop shall go
    opened = Signal()  # The values of the chosen stop shall be edited
    nudged = Signal(float, float)  # Steps to the right and up for the chosen stop
    stepped = Signal(int)  # Another stop shall be chosen, by this many to the right
    menu_wanted = Signal(QPoint)  # Global place where the menu of the chosen stop shall open

    drag_cursor = Qt.CursorShape.SizeHorCursor

    # The base class sends itself events before its own constructor is through.
    _stops: Stops = ()
    _selected = 0
    _hovered: int | None = None
    _knob: QPointF | None = None
    _is_dragging = False

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, background=None)
        self.setMinimumSize(1, 1)
        self.setAccessibleDescription(
            "Page Up and Page Down choose a stop, arrows move it, Insert adds, Delete removes"
        )

    # What the pictures say of themselves

    def show_stops(self, stops: Stops, selected: int) -> None:
        """Shows stops, one of them as the chosen one; emits nothing."""
        self._stops, self._selected = stops, selected
        self.refresh()

    def refresh(self) -> None:
        raise NotImplementedError

    def index_at(self, place: QPointF) -> int | None:
        raise NotImplementedError

    def place_of(self, index: int) -> QPointF:
        raise NotImplementedError

    def point_at(self, place: QPointF) -> tuple[float, float | None]:
        """Share, 0 to 1, and value at a place of the view."""
        raise NotImplementedError

    def text_at(self, place: QPointF) -> str:
        raise NotImplementedError

    def to_scene(self, place: QPointF) -> QPointF:
        return self.viewportTransform().inverted()[0].map(place)

    def from_scene(self, place: QPointF) -> QPointF:
        return self.viewportTransform().map(place)

    @property
    def stops(self) -> Stops:
        return self._stops

    @property
    def selected(self) -> int:
        return self._selected

    @property
    def hovered(self) -> int | None:
        return self._hovered

    @property
    def is_held(self) -> bool:
        return self._is_dragging

    # Mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Chooses the stop under the mouse, which a move then drags."""
        index = self.index_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and index is not None:
            self._knob = event.position() - self.place_of(index)
            self.chosen.emit(index)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drags; without a button, marks what is under the mouse."""
        if self._knob is None:
            self._hover(self.index_at(event.position()))
            return
        if not self._is_dragging:
            self._is_dragging = True
            self.held.emit()
        self.moved.emit(*self.point_at(event.position() - self._knob))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._release_drag()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        index = self.index_at(event.position())
        if index is None:
            self.added.emit(*self.point_at(event.position()))
        else:
            self.chosen.emit(index)
            self.opened.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Menu of a stop; elsewhere that of the row."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self._selected if by_key else self.index_at(QPointF(event.pos()))
        if index is None or self.is_held:
            event.ignore()
            return
        self.chosen.emit(index)
        place = self.place_of(index).toPoint() if by_key else event.pos()
        self.menu_wanted.emit(self.mapToGlobal(place))

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def leaveEvent(self, event: QEvent) -> None:  # noqa: ARG002
        """Nothing is under the mouse any more."""
        self._hover(None)

    def viewportEvent(self, event: QEvent) -> bool:
        """Tells about the place under the mouse."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.text_at(QPointF(event.pos())), self)
            return True
        return bool(super().viewportEvent(event))

    def _hover(self, index: int | None) -> None:
        if index != self._hovered:
            self._hovered = index
            self.viewport().setCursor(Qt.CursorShape.ArrowCursor if index is None else self.drag_cursor)
            self.refresh()

    def _release_drag(self) -> None:
        self._knob = None
        if self._is_dragging:
            self._is_dragging = False
            self.released.emit()

    # Keys

    def event(self, event: QEvent) -> bool:
        """Keeps the keys used here from becoming shortcuts of the window."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._claims(event):
            event.accept()
            return True
        return bool(super().event(event))

    def _claims(self, event: QKeyEvent) -> bool:
        if event.key() == Qt.Key.Key_Escape:
            return self._is_dragging
        used = (*_ARROWS, *_STEPS, *_REMOVE, *_OPEN, Qt.Key.Key_Insert)
        return event.key() in used and not event.modifiers() & Qt.KeyboardModifier.AltModifier

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move the chosen stop, Page Up and Down choose another, Delete removes, Escape gives a drag up."""
        key = event.key()
        if not self._claims(event):
            event.ignore()
        elif key == Qt.Key.Key_Escape:
            self._knob, self._is_dragging = None, False
            self.given_up.emit()
        elif not self._is_dragging:
            self._edit_by_key(event)

    def _edit_by_key(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _ARROWS:
            right, up = _ARROWS[key]
            held = event.modifiers()
            finer, coarser = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
            factor = gain(bool(held & finer), bool(held & coarser))
            self.nudged.emit(right * factor, up * factor)
        elif key in _STEPS:
            self.stepped.emit(_STEPS[key])
        elif key in _REMOVE:
            self.removed.emit()
        elif key in _OPEN:
            self.opened.emit()
        else:
            self.inserted.emit()

    # Focus and look

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.refresh()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """A drag that loses the keyboard ends with what it has."""
        self._release_drag()
        super().focusOutEvent(event)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        """A picture that disappears under the mouse keeps what was dragged."""
        self._release_drag()
        super().hideEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and self._stops:
            self.refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, with a frame while it has the focus."""
        super().paintEvent(event)
        if self.hasFocus():
            with QPainter(self.viewport()) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), 1.0))
                painter.drawRoundedRect(self.viewport().rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 3.0, 3.0)
