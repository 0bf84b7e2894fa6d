"""Views of stops: a curve, and a gradient."""

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QHideEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QStyleOptionGraphicsItem, QToolTip, QWidget

from sinew.sim.maths.srgb import srgb_from_linear
from sinew.sim.scene.vectors import values_at
from sinew.widgets.inspector.stops import Stop, Stops
from sinew.widgets.number_text import gain
from sinew.widgets.theme import SPACE, colours

_ARROWS = {
    Qt.Key.Key_Left: (-1.0, 0.0),
    Qt.Key.Key_Right: (1.0, 0.0),
    Qt.Key.Key_Down: (0.0, -1.0),
    Qt.Key.Key_Up: (0.0, 1.0),
}
_SELECT_STEPS = {Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}
_REMOVE = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
_OPEN = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class StopView(pg.GraphicsView):  # type: ignore[misc]
    """Base of the views: emits what mouse and keys request; does not change stops.

    Mouse events are handled here instead of in pyqtgraph's scene, which drops fast moves, starts drags late and does
    not support Escape.
    """

    chosen = Signal(int)  # Index of a stop that was pressed
    held = Signal()  # A drag of the selected stop begins
    moved = Signal(float, object)  # Position and value of the dragged stop; the value may be None
    released = Signal()  # End of the drag
    given_up = Signal()  # Escape during a drag
    added = Signal(float, object)  # Position and value of a new stop; the value may be None
    inserted = Signal()  # New stop after the selected one
    removed = Signal()  # Remove the selected stop
    opened = Signal()  # Edit the values of the selected stop
    nudged = Signal(float, float)  # Steps to the right and up for the selected stop
    stepped = Signal(int)  # Select the stop this many to the right
    menu_wanted = Signal(QPoint)  # Global position for the menu of the selected stop

    drag_cursor = Qt.CursorShape.SizeHorCursor

    # Class attributes, because the base constructor already handles events.
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

    def show_stops(self, stops: Stops, selected: int) -> None:
        """Shows stops, one of them selected; emits nothing."""
        self._stops, self._selected = stops, selected
        self.refresh()

    def refresh(self) -> None:
        raise NotImplementedError

    def index_at(self, place: QPointF) -> int | None:
        raise NotImplementedError

    def place_of(self, index: int) -> QPointF:
        raise NotImplementedError

    def point_at(self, place: QPointF) -> tuple[float, float | None]:
        """Position in the life, 0 to 1, and value at a position of the view."""
        raise NotImplementedError

    def text_at(self, place: QPointF) -> str:
        raise NotImplementedError

    def to_scene(self, place: QPointF) -> QPointF:
        return QPointF(self.viewportTransform().inverted()[0].map(place))

    def from_scene(self, place: QPointF) -> QPointF:
        return QPointF(self.viewportTransform().map(place))

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
        index = self.index_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and index is not None:
            self._knob = event.position() - self.place_of(index)
            self.chosen.emit(index)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
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
        """Opens the menu of a stop; elsewhere the event goes to the row."""
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
        self._hover(None)

    def viewportEvent(self, event: QEvent) -> bool:
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
        """Accepts the keys used here, so that they are not shortcuts of the window."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._claims(event):
            event.accept()
            return True
        return bool(super().event(event))

    def _claims(self, event: QKeyEvent) -> bool:
        if event.key() == Qt.Key.Key_Escape:
            return self._is_dragging
        used = (*_ARROWS, *_SELECT_STEPS, *_REMOVE, *_OPEN, Qt.Key.Key_Insert)
        return event.key() in used and not event.modifiers() & Qt.KeyboardModifier.AltModifier

    def keyPressEvent(self, event: QKeyEvent) -> None:
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
        elif key in _SELECT_STEPS:
            self.stepped.emit(_SELECT_STEPS[key])
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
        self._release_drag()
        super().focusOutEvent(event)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        self._release_drag()
        super().hideEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and self._stops:
            self.refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.hasFocus():
            with QPainter(self.viewport()) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), 1.0))
                painter.drawRoundedRect(self.viewport().rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 3.0, 3.0)


_POINT_SIDE = 9
_POINT_REACH = 9.0
_MARGIN = 0.04
"""Margin as a share of the life, so that the first and last point are not clipped."""
_FILL_ALPHA = 60
_DIGITS = 4
_LIFE_TICKS = ((0.0, "birth"), (0.25, ""), (0.5, "0.5"), (0.75, ""), (1.0, "death"))


class CurvePlot(StopView):
    """Straight lines between the stops.

    Args:
        tip: Description of the values.
        span: Lowest value, and the top of the plot while no value is higher.
        limit: Highest allowed value.
    """

    drag_cursor = Qt.CursorShape.SizeAllCursor

    def __init__(self, tip: str, span: tuple[float, float], limit: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tip = tip
        self._span, self._limit = span, limit
        self._top = span[1]
        self.axes = {side: pg.AxisItem(side) for side in ("left", "bottom")}
        self.box = pg.ViewBox(enableMenu=False, enableMouse=False)
        self.line = pg.PlotCurveItem(antialias=True)
        self.points = pg.ScatterPlotItem(pxMode=True, size=_POINT_SIDE, symbol="o", antialias=True)
        self._arrange()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def _arrange(self) -> None:
        layout = pg.GraphicsLayout()
        # The last label is centred below the end of the axis.
        layout.setContentsMargins(SPACE, SPACE, self.fontMetrics().horizontalAdvance(_LIFE_TICKS[-1][1]) // 2, 0)
        layout.setSpacing(0)
        layout.addItem(self.axes["left"], row=0, col=0)
        layout.addItem(self.box, row=0, col=1)
        layout.addItem(self.axes["bottom"], row=1, col=1)
        for axis in self.axes.values():
            axis.linkToView(self.box)
            axis.enableAutoSIPrefix(False)
            axis.setStyle(tickLength=-SPACE, tickTextOffset=SPACE // 2)
        self.axes["bottom"].setTicks([list(_LIFE_TICKS)])
        self.axes["bottom"].setStyle(hideOverlappingLabels=False)
        self.axes["left"].setWidth(self.fontMetrics().horizontalAdvance("00.0") + 2 * SPACE)
        self.axes["bottom"].setHeight(self.fontMetrics().height() + SPACE)
        self.box.setDefaultPadding(0.0)
        self.box.setXRange(-_MARGIN, 1.0 + _MARGIN, padding=0.0)
        self.box.addItem(self.line)
        self.box.addItem(self.points)
        self.setCentralItem(layout)

    @property
    def top(self) -> float:
        return self._top

    @property
    def limit(self) -> float:
        return self._limit

    def sizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        return QSize(10 * line, 7 * line)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def refresh(self) -> None:
        if not self.is_held:
            self._fit()
        scheme, palette = colours(), self.palette()
        dim = palette.color(QPalette.ColorRole.PlaceholderText)
        accent, fill = QColor(scheme.accent_text), QColor(scheme.accent)
        fill.setAlpha(_FILL_ALPHA)
        for axis in self.axes.values():
            axis.setPen(dim)
            axis.setTextPen(dim)
        shares, values = np.array(self._stops, float).T
        self.line.setData(
            np.r_[0.0, shares, 1.0], np.r_[values[0], values, values[-1]],
            pen=pg.mkPen(accent, width=1.5), brush=fill, fillLevel=self._span[0],
        )  # fmt: skip
        chosen = [index == self._selected for index in range(len(shares))]
        ground = palette.color(QPalette.ColorRole.Base)
        text = palette.color(QPalette.ColorRole.WindowText)
        self.points.setData(
            shares, values,
            brush=[pg.mkBrush(accent if is_chosen else ground) for is_chosen in chosen],
            pen=[pg.mkPen(text if index in (self._selected, self._hovered) else accent, width=1.5)
                 for index in range(len(shares))],
        )  # fmt: skip
        self.viewport().update()

    def _fit(self) -> None:
        """Sets the top to a round number above all values."""
        highest = max((stop[1] for stop in self._stops), default=0.0)
        self._top = self._span[1] if highest <= self._span[1] else min(plain_top(highest), self._limit)
        span = self._top - self._span[0]
        self.box.setYRange(self._span[0] - _MARGIN * span, self._top + 2.0 * _MARGIN * span, padding=0.0)

    def index_at(self, place: QPointF) -> int | None:
        away = [math.dist(self.place_of(index).toTuple(), place.toTuple()) for index in range(len(self._stops))]
        near = [index for index, distance in enumerate(away) if distance <= _POINT_REACH]
        return min(near, key=lambda index: (away[index], index != self._selected), default=None)

    def place_of(self, index: int) -> QPointF:
        return self.from_scene(self.box.mapViewToScene(QPointF(*self._stops[index])))

    def point_at(self, place: QPointF) -> tuple[float, float]:
        point = self.box.mapSceneToView(self.to_scene(place))
        value = min(max(point.y(), self._span[0]), self._top)
        return min(max(point.x(), 0.0), 1.0), round(value, _DIGITS - 1)

    def text_at(self, place: QPointF) -> str:
        index = self.index_at(place)
        if index is not None:
            share, value = self._stops[index]
            return f"{value:.4g} at {share:.4g} of the life"
        return f"{self._tip}\nDouble click adds a point, Delete or a right click removes one."


def plain_top(highest: float) -> float:
    """The smallest of 1, 2 or 5 times a power of ten that is at least a positive number."""
    power = 10.0 ** math.floor(math.log10(highest))
    return next(n * power for n in (1.0, 2.0, 5.0, 10.0) if n * power >= highest * (1.0 - 1e-9))


_SAMPLES = 512
_HANDLE_REACH = 3.0
"""Distance from a handle at which a press still selects it [px]."""


class GradientStrip(StopView):
    """A gradient; the stops are linear light, the view is sRGB."""

    def __init__(self, tip: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tip = tip
        self.slider = StopSlider(round(0.9 * self.fontMetrics().height()))
        self.setCentralItem(self.slider)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(8 * self.slider.side, round(self.slider.height()) + 4)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def refresh(self) -> None:
        self.slider.show_stops(self._stops, self._selected, self._hovered, self.palette())
        self.viewport().update()

    def index_at(self, place: QPointF) -> int | None:
        point = self.slider.mapFromScene(self.to_scene(place))
        if point.y() < 0.0:
            return None
        reach = self.slider.side / math.sqrt(3.0) + _HANDLE_REACH
        away = [abs(stop[0] * self.slider.length + 1.0 - point.x()) for stop in self._stops]
        near = [index for index, distance in enumerate(away) if distance <= reach]
        return min(near, key=lambda index: (away[index], index != self._selected), default=None)

    def place_of(self, index: int) -> QPointF:
        return self.from_scene(self.slider.mapToScene(self.slider.spot(self._stops[index][0])))

    def point_at(self, place: QPointF) -> tuple[float, None]:
        x = self.slider.mapFromScene(self.to_scene(place)).x()
        return min(max((x - 1.0) / self.slider.length, 0.0), 1.0), None

    def text_at(self, place: QPointF) -> str:
        index = self.index_at(place)
        if index is not None:
            return f"{self._stops[index][0]:.4g} of the life: {seen_colour(self._stops[index]).name().upper()}"
        return f"{self._tip}\nDouble click adds a colour, Delete or a right click removes one."


class StopSlider(pg.GraphicsWidget):  # type: ignore[misc]
    """The gradient with a handle below each stop; `side` is the height of a handle [px]."""

    def __init__(self, side: int) -> None:
        super().__init__()
        self.side, self.strip_height = side, side + 4
        self._image, self._edge = QImage(), QColor()
        self._stops: Stops = ()
        self._pens: list[QPen] = []
        self._order: list[int] = []  # Of painting; the selected stop is on top
        self.setFixedHeight(self.strip_height + side + 3)
        self.setTransform(QTransform.fromTranslate(side / 2.0, self.strip_height + 1.0))

    @property
    def length(self) -> float:
        """Width of the gradient [px]."""
        return float(max(40.0, self.width())) - self.side - 2.0

    def spot(self, share: float) -> QPointF:
        """Tip of the handle of a stop."""
        return QPointF(share * self.length + 1.0, 0.0)

    def show_stops(self, stops: Stops, selected: int, hovered: int | None, palette: QPalette) -> None:
        self._image, self._edge = strip_image(stops), palette.color(QPalette.ColorRole.Mid)
        text, accent = (palette.color(role) for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Highlight))
        self._stops = stops
        self._pens = [
            QPen(accent if index == selected else text, 2.0 if index in (selected, hovered) else 1.0)
            for index in range(len(stops))
        ]
        self._order = sorted(range(len(stops)), key=lambda index: index == selected)
        self.update()

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002
        widget: QWidget | None = None,  # noqa: ARG002
    ) -> None:
        box = QRectF(1.0, -self.strip_height, self.length, self.strip_height - 1.0)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(box, self._image)
        painter.setPen(QPen(self._edge, 1.0))
        painter.drawRect(box)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        half = self.side / math.sqrt(3.0)
        handle = QPolygonF([QPointF(0.0, 0.0), QPointF(-half, self.side), QPointF(half, self.side)])
        for index in self._order:
            painter.setPen(self._pens[index])
            painter.setBrush(seen_colour(self._stops[index]))
            painter.drawPolygon(handle.translated(self.spot(self._stops[index][0])))

    def boundingRect(self) -> QRectF:
        return QRectF(-self.side, -self.strip_height - 1.0, self.length + 2.0 * self.side, self.height() + 2.0)


def seen_colour(stop: Stop) -> QColor:
    red, green, blue = srgb_from_linear(stop[1:]).tolist()
    return QColor.fromRgbF(red, green, blue)


def strip_image(stops: Stops) -> QImage:
    """The gradient, one pixel high: interpolated in linear light, then encoded as sRGB."""
    light = values_at(stops, np.linspace(0.0, 1.0, _SAMPLES))
    pixels = np.rint(np.clip(srgb_from_linear(light), 0.0, 1.0) * 255.0).astype(np.uint8)
    return QImage(pixels.tobytes(), _SAMPLES, 1, 3 * _SAMPLES, QImage.Format.Format_RGB888).copy()
