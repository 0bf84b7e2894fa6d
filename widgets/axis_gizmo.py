"""Axes in the direction of the camera: a click on a knob selects a view, a drag orbits."""

import math

from pyglm import glm
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from sinew.widgets.overlay import CachedOverlay
from sinew.widgets.theme import DARK
from sinew.widgets.viewport import CLICK_SLOP

# Direction in the world -> name of the view.
VIEWS: dict[tuple[int, int, int], str] = {
    (1, 0, 0): "right",
    (-1, 0, 0): "left",
    (0, 1, 0): "top",
    (0, -1, 0): "bottom",
    (0, 0, 1): "front",
    (0, 0, -1): "back",
}

_SIDE = 84
_KNOB = 9.0
_COLOURS = (QColor(DARK.axis_x), QColor(DARK.axis_y), QColor(DARK.axis_z))
_LETTERS = "XYZ"
_DISC = QColor(236, 236, 236, 28)
_TIP = "Drag to orbit, click a knob to look along its axis"


class AxisGizmo(CachedOverlay):
    view_requested = Signal(str)  # "front", "back", "left", "right", "top" or "bottom"
    turned = Signal(float, float)  # Drag by pixels to the right and down

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, takes_mouse=True)
        self._rotation = glm.dmat3()
        self._hovered: tuple[int, int, int] | None = None
        self._entered = self._turning = False
        self._press: QPointF | None = None
        self.setMouseTracking(True)
        self.setFixedSize(self.sizeHint())
        self.setToolTip(_TIP)
        self.setAccessibleName("View direction")

    def set_rotation(self, rotation: glm.dmat3) -> None:
        """Sets the right, up and backward axes of the camera in the world, as columns."""
        if rotation != self._rotation:
            self._rotation = rotation
            self.update()

    def knob_place(self, direction: tuple[int, int, int]) -> tuple[QPointF, float]:
        """Returns the centre of the knob of a direction in widget pixels, and its depth, 1 towards the viewer."""
        right, up, nearness = glm.dvec3(*direction) * self._rotation
        reach = self.width() / 2.0 - _KNOB - 2.0
        centre = QPointF(self.width() / 2.0, self.height() / 2.0)
        return centre + QPointF(right * reach, -up * reach), nearness

    def direction_at(self, place: QPointF) -> tuple[int, int, int] | None:
        """Returns the direction of the frontmost knob at a position."""
        hits = []
        for direction in VIEWS:
            centre, nearness = self.knob_place(direction)
            if math.hypot(place.x() - centre.x(), place.y() - centre.y()) <= _KNOB:
                hits.append((nearness, direction))
        return max(hits)[1] if hits else None

    def sizeHint(self) -> QSize:
        return QSize(_SIDE, _SIDE)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or not self._on_disc(event.position()):
            event.ignore()
            return
        self._press, self._turning = event.position(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._press is None:
            self._hover(self.direction_at(event.position()))
            event.ignore()
            return
        delta = event.position() - self._press
        if self._turning or delta.manhattanLength() > CLICK_SLOP:
            self._turning = True
            self._press = event.position()
            self._hover(None)
            self.turned.emit(delta.x(), delta.y())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._press is None:
            event.ignore()
            return
        direction = None if self._turning else self.direction_at(self._press)
        self._press, self._turning = None, False
        if direction is not None:
            self.view_requested.emit(VIEWS[direction])

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._entered = True
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._entered = False
        self._hover(None)
        self.update()

    def _on_disc(self, place: QPointF) -> bool:
        middle = self.width() / 2.0
        return math.hypot(place.x() - middle, place.y() - middle) <= middle

    def _hover(self, direction: tuple[int, int, int] | None) -> None:
        if direction != self._hovered:
            self._hovered = direction
            self.setToolTip(f"View from the {VIEWS[direction]}" if direction is not None else _TIP)
            self.setCursor(Qt.CursorShape.ArrowCursor if direction is None else Qt.CursorShape.PointingHandCursor)
            self.update()

    def paint(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._entered or self._turning:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(_DISC)
            painter.drawEllipse(self.rect())
        for direction in sorted(VIEWS, key=lambda direction: self.knob_place(direction)[1]):
            self._paint_knob(painter, direction)

    def _paint_knob(self, painter: QPainter, direction: tuple[int, int, int]) -> None:
        axis = next(index for index, part in enumerate(direction) if part)
        centre, nearness = self.knob_place(direction)
        tint = QColor(_COLOURS[axis])
        tint.setAlphaF(0.55 + 0.45 * (nearness + 1.0) / 2.0)
        is_positive = direction[axis] > 0
        if is_positive:
            painter.setPen(QPen(tint, 2.0))
            painter.drawLine(QPointF(self.width() / 2.0, self.height() / 2.0), centre)
        is_hovered = direction == self._hovered
        painter.setPen(QPen(QColor(Qt.GlobalColor.white) if is_hovered else tint, 1.5))
        fill = QColor(tint)
        fill.setAlphaF(tint.alphaF() if is_positive else 0.25)
        painter.setBrush(fill)
        radius = _KNOB - 1.0 if is_positive else _KNOB - 3.0
        painter.drawEllipse(centre, radius, radius)
        if is_positive or is_hovered:
            painter.setPen(QColor(20, 20, 20) if is_positive else QColor(Qt.GlobalColor.white))
            box = QRectF(centre.x() - _KNOB, centre.y() - _KNOB, 2 * _KNOB, 2 * _KNOB)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, _LETTERS[axis])
