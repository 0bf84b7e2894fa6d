"""Bases of the widgets below the ruler, which share its time scale."""

import math
from dataclasses import dataclass
from typing import Generic, TypeVar

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPalette, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QScrollBar, QSizePolicy, QToolTip, QWidget

from sinew.widgets.timeline.ruler_scale import RulerScale, fitted, snapped

_WHEEL_NOTCH = 120.0


@dataclass(slots=True, kw_only=True)
class Drag:
    changed: bool = False  # `edit_started` was emitted


D = TypeVar("D", bound=Drag)


class TimeView(QWidget, Generic[D]):
    """A widget with the playhead; the release of the button ends a drag, Escape cancels it."""

    edit_finished = Signal()
    edit_cancelled = Signal()

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._scale = fitted(1.0, 1.0)
        self._time, self._frame_step = 0.0, 1.0 / 30.0
        self._drag: D | None = None
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_scale(self, scale: RulerScale, frame_step: float) -> None:
        self._scale, self._frame_step = scale, frame_step
        self.update()

    def set_time(self, time: float) -> None:
        for moment in (self._time, time):
            self.update(QRectF(self._scale.x_of(moment) - 2.0, 0.0, 5.0, self.height()).toAlignedRect())
        self._time = time

    def paint_playhead(self, painter: QPainter) -> None:
        colour = self.palette().color(QPalette.ColorRole.Highlight)
        painter.fillRect(QRectF(round(self._scale.x_of(self._time)), 0.0, 2.0, self.height()), colour)

    def dragged_time(self, time: float, event: QMouseEvent) -> float:
        """Returns the time [s] of a frame, or with Ctrl the time itself."""
        return time if event.modifiers() & Qt.KeyboardModifier.ControlModifier else snapped(time, self._frame_step)

    def end_drag(self, cancelled: bool) -> None:
        drag, self._drag = self._drag, None
        if drag is not None and drag.changed:
            (self.edit_cancelled if cancelled else self.edit_finished).emit()
        self.update()

    def claims(self, event: QKeyEvent) -> bool:  # noqa: ARG002
        """Returns True for a key that is not a shortcut of the window now."""
        return self._drag is not None

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.end_drag(cancelled=False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._drag is not None:
            self.end_drag(cancelled=True)
        else:
            event.ignore()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self.claims(event):
            event.accept()
            return True
        return super().event(event)


class TimeRows(TimeView[D]):
    """Rows that scroll if there is no room for all."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.scroll_bar = QScrollBar(Qt.Orientation.Vertical, self)
        self.scroll_bar.valueChanged.connect(lambda _: self.update())
        self.scroll_bar.hide()

    @property
    def row_heights(self) -> tuple[float, float]:
        """Height of all rows together and of the lowest one [px]."""
        raise NotImplementedError

    def tip_at(self, place: QPointF) -> str:
        raise NotImplementedError

    def arrange(self) -> None:
        together, lowest = self.row_heights
        hidden = math.ceil(together) - self.height()
        bar, width = self.scroll_bar, self.scroll_bar.sizeHint().width()
        bar.setRange(0, max(hidden, 0))
        bar.setPageStep(self.height())
        bar.setSingleStep(math.ceil(lowest))
        bar.setGeometry(self.width() - width, 0, width, self.height())
        bar.setVisible(hidden > 0)
        self.updateGeometry()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()

    def wheelEvent(self, event: QWheelEvent) -> None:
        rows = event.angleDelta().y() / _WHEEL_NOTCH
        self.scroll_bar.setValue(self.scroll_bar.value() - round(rows * self.scroll_bar.singleStep()))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.tip_at(QPointF(event.pos())), self)
            return True
        return super().event(event)
