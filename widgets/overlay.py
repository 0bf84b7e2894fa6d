from collections.abc import Iterable
from typing import Any, Generic, TypeVar

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPixmap,
    QPolygonF,
)
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from sinew.sim.maths.ramps import Ramp, ramp_colours
from sinew.sim.scene.handles import FREE, HandleMode, Handles
from sinew.widgets.icons import GlyphLabel
from sinew.widgets.parts import packed
from sinew.widgets.texts import label_text
from sinew.widgets.theme import DARK, SPACE, SPACE_WIDE, tabular

H = TypeVar("H")

GROUND = QColor(18, 19, 21, 150)
TEXT = QColor(236, 236, 236)
DIM = QColor(236, 236, 236, 175)
_RADIUS = 4.0
_SHADOW = QColor(0, 0, 0, 140)
_GAP = 2
_BAR_HEIGHT = 10
_BAR_WIDTH = 180
_FILL = QColor(90, 204, 255, 38)
_LINE = QColor(90, 204, 255, 220)
_SHADE = QColor(0, 0, 0, 110)


class ViewportOverlay(QWidget):
    """Widget over the viewport, independent of the theme; `takes_mouse` False passes mouse events to the viewport."""

    def __init__(self, parent: QWidget | None = None, *, takes_mouse: bool = False) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, not takes_mouse)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)


class CachedOverlay(ViewportOverlay):
    """Small overlay that is painted anew only after `update`: every frame of the viewport repaints what covers it."""

    _picture: QPixmap | None = None

    def paint(self, painter: QPainter) -> None:
        raise NotImplementedError

    def update(self, *region: Any) -> None:
        self._picture = None
        super().update(*region)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self._picture = None

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        size = self.size() * self.devicePixelRatioF()
        if self._picture is None or self._picture.size() != size:
            self._picture = QPixmap(size)
            self._picture.setDevicePixelRatio(self.devicePixelRatioF())
            self._picture.fill(Qt.GlobalColor.transparent)
            with QPainter(self._picture) as painter:
                painter.setFont(self.font())
                self.paint(painter)
        with QPainter(self) as painter:
            painter.drawPixmap(0, 0, self._picture)


class HandlesCover(ViewportOverlay, Generic[H]):
    """Base of handles, which cover the viewport and ignore the mouse; other overlays stay above."""

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._handles: H | None = None
        self._marked: int | None = None
        self.setGeometry(viewport.rect())
        self.lower()
        viewport.installEventFilter(self)

    def show_handles(self, handles: H | None, marked: int | None) -> None:
        """Shows handles; `marked` is the index of the handle under the mouse or held."""
        if handles is None and self._handles is None:
            return
        self._handles, self._marked = handles, marked
        self.setVisible(handles is not None)
        self.update()

    def paint(self, painter: QPainter, handles: H) -> None:
        raise NotImplementedError

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        if self._handles is not None:
            with QPainter(self) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                self.paint(painter, self._handles)

    def eventFilter(self, viewport: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and isinstance(viewport, QWidget):
            self.setGeometry(viewport.rect())
        return False


def paint_ground(painter: QPainter, box: QRectF) -> None:
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(GROUND)
    painter.drawRoundedRect(box, _RADIUS, _RADIUS)
    painter.restore()


class SideLabel(CachedOverlay):
    _text = ""

    def set_text(self, text: str) -> None:
        self._text = text
        self.resize(self.sizeHint())
        self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._text) + 2 * SPACE_WIDE, metrics.height() + 2 * SPACE)

    def paint(self, painter: QPainter) -> None:
        paint_ground(painter, self.rect().toRectF())
        painter.setPen(TEXT)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._text)


class StatisticsOverlay(CachedOverlay):
    """Lines of label and value over the viewport, with aligned values."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[tuple[str, str], ...] = ()
        font = tabular(self.font())
        font.setPointSizeF(max(font.pointSizeF() * 0.9, 7.0))
        self.setFont(font)

    def set_rows(self, rows: Iterable[tuple[str, str]]) -> None:
        fresh = tuple(rows)
        if fresh == self.rows:
            return
        before = self.sizeHint()
        self.rows = fresh
        if self.sizeHint() != before:
            self.adjustSize()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        values = max((metrics.horizontalAdvance(value) for _, value in self.rows), default=0)
        return QSize(self._label_width() + values + 2, len(self.rows) * (metrics.height() + _GAP) + 1)

    def paint(self, painter: QPainter) -> None:
        metrics = self.fontMetrics()
        value_x = self._label_width()
        for offset, pen in ((QPoint(1, 1), _SHADOW), (QPoint(0, 0), DIM)):
            painter.setPen(pen)
            y = metrics.ascent()
            for label, value in self.rows:
                painter.drawText(QPoint(0, y) + offset, label)
                painter.drawText(QPoint(value_x, y) + offset, value)
                y += metrics.height() + _GAP

    def _label_width(self) -> int:
        metrics = self.fontMetrics()
        return max((metrics.horizontalAdvance(label) for label, _ in self.rows), default=0) + SPACE_WIDE


class Legend(CachedOverlay):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = ""
        self.labels = ("", "", "")  # From left to right
        self._bar = _ramp_image(Ramp.VIRIDIS)
        self.setFont(tabular(self.font()))

    def show_ramp(self, ramp: Ramp, title: str, lo: float, hi: float, unit: str = "") -> None:
        self._bar = _ramp_image(ramp)
        self._title = f"{title} [{unit}]" if unit else title
        self.labels = (value_label(lo), value_label((lo + hi) / 2.0), value_label(hi))
        self.setAccessibleName(f"{self._title}: {self.labels[0]} to {self.labels[2]}")
        self.adjustSize()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        labels = sum(metrics.horizontalAdvance(label) for label in self.labels) + 4 * SPACE_WIDE
        width = max(_BAR_WIDTH, metrics.horizontalAdvance(self._title), labels)
        return QSize(width + 2 * SPACE_WIDE, 2 * metrics.height() + _BAR_HEIGHT + 4 * SPACE)

    def paint(self, painter: QPainter) -> None:
        line = self.fontMetrics().height()
        inner = self.rect().adjusted(SPACE_WIDE, SPACE, -SPACE_WIDE, -SPACE)
        bar = QRect(inner.left(), inner.top() + line + SPACE, inner.width(), _BAR_HEIGHT)
        below = QRect(inner.left(), bar.bottom() + SPACE, inner.width(), line)
        paint_ground(painter, self.rect().toRectF())
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(bar, self._bar)
        painter.setPen(TEXT)
        painter.drawText(QRect(inner.left(), inner.top(), inner.width(), line), Qt.AlignmentFlag.AlignLeft, self._title)
        painter.setPen(DIM)
        sides = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight)
        for label, side in zip(self.labels, sides, strict=True):
            painter.drawText(below, side, label)


def value_label(value: float) -> str:
    """Returns a number with three significant digits and no negative zero."""
    return f"{value + 0.0:.3g}"


def _ramp_image(ramp: Ramp) -> QImage:
    colours = ramp_colours(ramp)
    data = colours.tobytes()
    # Copied, because the image does not own the bytes.
    return QImage(data, len(colours), 1, 3 * len(colours), QImage.Format.Format_RGB888).copy()


class RubberBand(ViewportOverlay):
    """Selection rectangle in logical pixels; ignores the mouse."""

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._viewport = viewport
        self.box = QRectF()
        self.hide()

    def span(self, start: QPointF, end: QPointF) -> None:
        self.box = QRectF(start, end).normalized()
        self.setGeometry(self._viewport.rect())
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        with QPainter(self) as painter:
            frame = self.box.adjusted(0.5, 0.5, -0.5, -0.5)
            painter.setPen(QPen(_SHADE, 3.0))
            painter.drawRect(frame)
            painter.setPen(QPen(_LINE, 1.0))
            painter.setBrush(_FILL)
            painter.drawRect(frame)


_MARK_ICON = 18


class StopMark(ViewportOverlay):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, takes_mouse=True)
        sign = GlyphLabel("error", _MARK_ICON, self)
        sign.set_tint("error", DARK)  # the background is dark in every scheme
        self.label = QLabel(self)
        palette = self.label.palette()
        palette.setColor(QPalette.ColorRole.WindowText, TEXT)
        self.label.setPalette(palette)
        self.resume_button = QPushButton("Resume", self)
        self.resume_button.setToolTip("Continue from the last valid state.")
        self.reset_button = QPushButton("Reset", self)
        self.reset_button.setToolTip("Reset the simulation to the first frame.")
        packed(
            QHBoxLayout(self), sign, self.label, self.resume_button, self.reset_button,
            spacing=SPACE_WIDE, margins=SPACE,
        )  # fmt: skip

    def show_stop(self, name: str, reason: str) -> None:
        self.label.setText(label_text(f"{name} stopped"))
        self.setToolTip(f"{reason[:1].upper()}{reason[1:]}")
        self.adjustSize()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        with QPainter(self) as painter:
            paint_ground(painter, self.rect().toRectF())


_AXIS_COLOURS = (QColor(DARK.axis_x), QColor(DARK.axis_y), QColor(DARK.axis_z))
_HELD = QColor(255, 214, 92)
_FREE = QColor(236, 236, 236)
_TIP = 7.0


class HandlesOverlay(HandlesCover[Handles]):
    def paint(self, painter: QPainter, handles: Handles) -> None:
        towards_eye = handles.view.camera.rotation()[2] * handles.axes
        for axis in sorted(range(3), key=towards_eye.to_tuple().__getitem__):
            self._paint_axis(painter, handles, axis)
        if handles.mode is not HandleMode.ROTATE:
            self._paint_centre(painter, handles)

    def _paint_axis(self, painter: QPainter, handles: Handles, axis: int) -> None:
        points = handles.view.pixels(handles.curve(axis))
        if not np.isfinite(points).all():
            return
        colour = _HELD if axis == self._marked else _AXIS_COLOURS[axis]
        painter.setPen(QPen(colour, 3.0 if axis == self._marked else 2.0))
        painter.setBrush(colour)
        painter.drawPolyline(QPolygonF([QPointF(x, y) for x, y in points.tolist()]))
        if handles.mode is HandleMode.MOVE:
            painter.drawPolygon(_arrow_tip(points))
        elif handles.mode is HandleMode.SCALE:
            x, y = points[1].tolist()
            painter.drawRect(int(x - _TIP / 2), int(y - _TIP / 2), int(_TIP), int(_TIP))

    def _paint_centre(self, painter: QPainter, handles: Handles) -> None:
        x, y = handles.view.pixels([handles.centre])[0].tolist()
        if not np.isfinite((x, y)).all():
            return
        painter.setPen(QPen(_HELD if self._marked == FREE else _FREE, 2.0))
        painter.setBrush(QColor(0, 0, 0, 0))
        painter.drawEllipse(QPointF(x, y), _TIP, _TIP)


def _arrow_tip(points: np.ndarray) -> QPolygonF:
    """Returns the triangle at the end of an axis; small if the axis points at the viewer."""
    along = points[1] - points[0]
    length = max(float(np.linalg.norm(along)), 1e-6)
    direction = along / length
    side = np.array([-direction[1], direction[0]])
    tip, base = points[1] + direction * _TIP * 1.6, points[1]
    corners = (tip, base + side * _TIP * 0.7, base - side * _TIP * 0.7)
    return QPolygonF([QPointF(float(x), float(y)) for x, y in corners])


_GRAB = 12
_DIVIDER_SHADOW = QColor(0, 0, 0, 120)


class Divider(ViewportOverlay):
    """The divider of the split view.

    Press to release is one gesture; Escape cancels it. `edited` carries the position, 0 (left) to 1. The parent calls
    `place` when it is resized.
    """

    edit_started = Signal()
    edited = Signal(float)
    edit_finished = Signal()
    edit_cancelled = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, takes_mouse=True)
        self._parent = parent
        self.value = 0.5  # Position, 0 (left) to 1
        self._start: float | None = None
        self._offset = 0.0
        self.setCursor(Qt.CursorShape.SplitHCursor)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setToolTip("Drag to compare")
        self.setAccessibleName("Divider of the split view")
        self.place()

    @property
    def is_held(self) -> bool:
        return self._start is not None

    def set_value(self, value: float) -> None:
        """Moves the divider without emitting a signal; does nothing while the user drags it."""
        if not self.is_held:
            self.value = min(max(value, 0.0), 1.0)
            self.place()

    def place(self) -> None:
        """Updates the geometry of the divider from the size of the parent."""
        x = round(self.value * self._parent.width())
        self.setGeometry(QRect(x - _GRAB // 2, 0, _GRAB, self._parent.height()))

    def sizeHint(self) -> QSize:
        return QSize(_GRAB, self._parent.height())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self._start = self.value
        # Keeps the distance to the mouse, so that a press does not move the divider.
        self._offset = self.value * self._parent.width() - self._parent_x(event)
        self.grabKeyboard()
        self.edit_started.emit()
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.is_held:
            width = max(1, self._parent.width())
            self._move_to((self._parent_x(event) + self._offset) / width)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.is_held:
            self._release_drag()
            self.edit_finished.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._start is not None:
            start = self._start
            self._release_drag()
            self.set_value(start)
            self.edit_cancelled.emit()
            return
        event.ignore()

    def _move_to(self, value: float) -> None:
        clamped = min(max(value, 0.0), 1.0)
        if clamped != self.value:
            self.value = clamped
            self.place()
            self.edited.emit(clamped)

    def _parent_x(self, event: QMouseEvent) -> float:
        return self.mapToParent(event.position()).x()

    def _release_drag(self) -> None:
        self._start = None
        self.releaseKeyboard()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        x = self.width() / 2.0
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(_DIVIDER_SHADOW, 3.0))
            painter.drawLine(QPointF(x, 0.0), QPointF(x, self.height()))
            painter.setPen(QPen(TEXT if self.is_held else DIM, 1.0))
            painter.drawLine(QPointF(x, 0.0), QPointF(x, self.height()))
            knob = QRectF(x - 3.0, self.height() / 2.0 - 14.0, 6.0, 28.0)
            painter.setBrush(TEXT if self.is_held else DIM)
            painter.drawRoundedRect(knob, 3.0, 3.0)
