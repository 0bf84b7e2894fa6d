"""Editors of values over a life: a view of the stops, and fields for the selected one."""

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
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
)
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QSizePolicy, QToolButton, QToolTip, QVBoxLayout, QWidget

from sinew.sim.maths.srgb import linear_from_srgb, srgb_from_linear
from sinew.sim.scene.params import Param
from sinew.sim.scene.vectors import STOP_MAX, Colour, values_at
from sinew.widgets.icons import icon
from sinew.widgets.inspector.dialog_editors import ColourEditor
from sinew.widgets.inspector.editor import ValueEditor
from sinew.widgets.inspector.stops import (
    EASINGS,
    PRESETS,
    Stop,
    Stops,
    eased,
    gap_beside,
    inserted,
    moved,
    preset,
    removed,
    with_share,
    with_values,
)
from sinew.widgets.number_field import NumberField
from sinew.widgets.number_text import gain, nice_above
from sinew.widgets.parts import packed, tool_button
from sinew.widgets.theme import SPACE, colours

_NUDGE = 0.01
_COLOUR_DIGITS = 5
_Key = Qt.Key
_ARROWS = {_Key.Key_Left: (-1.0, 0.0), _Key.Key_Right: (1.0, 0.0), _Key.Key_Down: (0.0, -1.0), _Key.Key_Up: (0.0, 1.0)}
_SELECT_STEPS = {_Key.Key_PageUp: -1, _Key.Key_PageDown: 1}
_REMOVE = (_Key.Key_Delete, _Key.Key_Backspace)
_OPEN = (_Key.Key_Return, _Key.Key_Enter)


class StopView(QWidget):
    """Base of the views of the stops of an editor; mouse and keys edit through the editor."""

    drag_cursor = Qt.CursorShape.SizeHorCursor

    def __init__(self, editor: "StopsEditor", tip: str) -> None:
        super().__init__(editor)
        self._editor, self._tip = editor, tip
        self._hovered: int | None = None
        self._knob: QPointF | None = None  # From the pressed stop to the mouse
        self.is_held = False
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleDescription(
            "Page Up and Page Down choose a stop, arrows move it, Insert adds, Delete removes"
        )

    @property
    def stops(self) -> Stops:
        return self._editor.stops

    def index_at(self, place: QPointF) -> int | None:
        raise NotImplementedError

    def place_of(self, index: int) -> QPointF:
        raise NotImplementedError

    def point_at(self, place: QPointF) -> tuple[float, float | None]:
        """Returns position in the life, 0 to 1, and value at a place; None if the view shows no values."""
        raise NotImplementedError

    def text_at(self, place: QPointF) -> str:
        raise NotImplementedError

    def paint(self, painter: QPainter) -> None:
        raise NotImplementedError

    def nearest(self, away: list[float], reach: float) -> int | None:
        """Returns the nearest stop, up to `reach`; the selected one has priority among equals."""
        near = [index for index, distance in enumerate(away) if distance <= reach]
        return min(near, key=lambda index: (away[index], index != self._editor.selected), default=None)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self.paint(painter)
            if self.hasFocus():
                painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Highlight), 1.0))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 3.0, 3.0)

    # Mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.index_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and index is not None:
            self._knob = event.position() - self.place_of(index)
            self._editor.select(index)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._knob is None:
            self._hover(self.index_at(event.position()))
            return
        if not self.is_held:
            self.is_held = True
            self._editor.release()
            self._editor.edit_started.emit()
        self._editor.move_stop(*self.point_at(event.position() - self._knob))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._release_drag()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        index = self.index_at(event.position())
        if index is None:
            self._editor.add_stop(*self.point_at(event.position()))
        else:
            self._editor.select(index)
            self._editor.open_value()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Opens the menu of a stop; elsewhere the event goes to the row."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self._editor.selected if by_key else self.index_at(QPointF(event.pos()))
        if index is None or self.is_held:
            event.ignore()
            return
        self._editor.select(index)
        place = self.place_of(index).toPoint() if by_key else event.pos()
        self._editor.menu().popup(self.mapToGlobal(place))

    def leaveEvent(self, event: QEvent) -> None:  # noqa: ARG002
        self._hover(None)

    def _hover(self, index: int | None) -> None:
        if index != self._hovered:
            self._hovered = index
            self.setCursor(Qt.CursorShape.ArrowCursor if index is None else self.drag_cursor)
            self.update()

    def _release_drag(self) -> None:
        self._knob = None
        if self.is_held:
            self.is_held = False
            self._editor.edit_finished.emit()

    # Keys

    def event(self, event: QEvent) -> bool:
        """Accepts the keys used here, so that they are not shortcuts of the window."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._claims(event):
            event.accept()
            return True
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self.text_at(QPointF(event.pos())), self)
            return True
        return super().event(event)

    def _claims(self, event: QKeyEvent) -> bool:
        if event.key() == _Key.Key_Escape:
            return self.is_held
        used = (*_ARROWS, *_SELECT_STEPS, *_REMOVE, *_OPEN, _Key.Key_Insert)
        return event.key() in used and not event.modifiers() & Qt.KeyboardModifier.AltModifier

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, held, editor = event.key(), event.modifiers(), self._editor
        if not self._claims(event):
            event.ignore()
        elif key == _Key.Key_Escape:
            self._knob, self.is_held = None, False
            editor.edit_cancelled.emit()
        elif self.is_held:
            return
        elif key in _ARROWS:
            right, up = _ARROWS[_Key(key)]
            finer, coarser = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
            factor = gain(bool(held & finer), bool(held & coarser))
            editor.nudge(right * factor, up * factor)
        elif key in _SELECT_STEPS:
            editor.select(editor.selected + _SELECT_STEPS[_Key(key)])
        elif key in _REMOVE:
            editor.remove_stop()
        elif key in _OPEN:
            editor.open_value()
        else:
            editor.insert_stop()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._release_drag()
        super().focusOutEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self._release_drag()
        super().hideEvent(event)


_POINT_RADIUS, _POINT_REACH = 4.5, 9.0
_MARGIN = 0.04
"""Margin as a share of the life, so that the first and last point are not clipped."""
_FILL_ALPHA = 60
_DIGITS = 4
_LIFE_TICKS = ((0.0, "birth"), (0.25, ""), (0.5, "0.5"), (0.75, ""), (1.0, "death"))


class CurvePlot(StopView):
    """Plot with straight lines between the stops.

    Args:
        span: Lowest value, and the top of the plot while no value is higher.
        limit: Highest allowed value.
    """

    drag_cursor = Qt.CursorShape.SizeAllCursor

    def __init__(self, editor: "StopsEditor", tip: str, span: tuple[float, float], limit: float) -> None:
        super().__init__(editor, tip)
        self._span, self.limit = span, limit
        self.top = span[1]

    def sizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        return QSize(10 * line, 7 * line)

    def fit(self) -> None:
        """Sets the top to a round number above all values; keeps it during a drag."""
        if not self.is_held:
            highest = max(stop[1] for stop in self.stops)
            self.top = self._span[1] if highest <= self._span[1] else min(nice_above(highest), self.limit)

    def _box(self) -> QRectF:
        metrics = self.fontMetrics()
        left = metrics.horizontalAdvance("00.0") + 3 * SPACE
        # The last label is centred below the end of the axis.
        right = metrics.horizontalAdvance(_LIFE_TICKS[-1][1]) // 2
        return self.rect().toRectF().adjusted(left, SPACE, -right, -metrics.height() - SPACE)

    def _place(self, share: float, value: float) -> QPointF:
        box, (low, _) = self._box(), self._span
        height = (value - low) / (self.top - low)
        return QPointF(
            box.left() + box.width() * (share + _MARGIN) / (1.0 + 2.0 * _MARGIN),
            box.bottom() - box.height() * (height + _MARGIN) / (1.0 + 3.0 * _MARGIN),
        )

    def place_of(self, index: int) -> QPointF:
        share, value = self.stops[index]
        return self._place(share, value)

    def point_at(self, place: QPointF) -> tuple[float, float]:
        box, (low, _) = self._box(), self._span
        share = (place.x() - box.left()) / box.width() * (1.0 + 2.0 * _MARGIN) - _MARGIN
        height = (box.bottom() - place.y()) / box.height() * (1.0 + 3.0 * _MARGIN) - _MARGIN
        value = min(max(low + height * (self.top - low), low), self.top)
        return min(max(share, 0.0), 1.0), round(value, _DIGITS - 1)

    def index_at(self, place: QPointF) -> int | None:
        away = [math.dist(self.place_of(index).toTuple(), place.toTuple()) for index in range(len(self.stops))]
        return self.nearest(away, _POINT_REACH)

    def text_at(self, place: QPointF) -> str:
        index = self.index_at(place)
        if index is not None:
            share, value = self.stops[index]
            return f"{value:.4g} at {share:.4g} of the life"
        return f"{self._tip}\nDouble click adds a point, Delete or a right click removes one."

    def paint(self, painter: QPainter) -> None:
        self._paint_axes(painter)
        scheme, palette = colours(), self.palette()
        accent, fill = QColor(scheme.accent_text), QColor(scheme.accent)
        fill.setAlpha(_FILL_ALPHA)
        places = [self.place_of(index) for index in range(len(self.stops))]
        low, box = self._span[0], self._box()
        ends = [QPointF(self._place(share, low).x(), places[-int(share)].y()) for share in (0.0, 1.0)]
        curve = [ends[0], *places, ends[1]]
        floor = [QPointF(end.x(), self._place(0.0, low).y()) for end in reversed(ends)]
        painter.setClipRect(box)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawPolygon(QPolygonF([*curve, *floor]))
        painter.setPen(QPen(accent, 1.5))
        painter.drawPolyline(QPolygonF(curve))
        text, ground = palette.color(QPalette.ColorRole.WindowText), palette.color(QPalette.ColorRole.Base)
        for index, place in enumerate(places):
            painter.setPen(QPen(text if index in (self._editor.selected, self._hovered) else accent, 1.5))
            painter.setBrush(accent if index == self._editor.selected else ground)
            painter.drawEllipse(place, _POINT_RADIUS, _POINT_RADIUS)
        painter.setClipping(False)

    def _paint_axes(self, painter: QPainter) -> None:
        box, line = self._box(), self.fontMetrics().height()
        painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
        painter.drawPolyline(QPolygonF([box.topLeft(), box.bottomLeft(), box.bottomRight()]))
        low, _ = self._span
        for share, text in _LIFE_TICKS:
            x = self._place(share, low).x()
            painter.drawLine(QPointF(x, box.bottom()), QPointF(x, box.bottom() + SPACE))
            painter.drawText(
                QRectF(x - line * 4, box.bottom() + SPACE, line * 8, line), Qt.AlignmentFlag.AlignCenter, text
            )
        for value in (low, 0.5 * (low + self.top), self.top):
            y = self._place(0.0, value).y()
            painter.drawLine(QPointF(box.left() - SPACE, y), QPointF(box.left(), y))
            area = QRectF(0.0, y - line / 2.0, box.left() - 1.5 * SPACE, line)
            painter.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{value:.3g}")


_SAMPLES = 512
_HANDLE_REACH = 3.0  # [px] from a handle at which a press still selects it


class GradientStrip(StopView):
    """A gradient with a handle below each stop; the stops are linear light, the view is sRGB."""

    def __init__(self, editor: "StopsEditor", tip: str) -> None:
        super().__init__(editor, tip)
        self._side = round(0.9 * self.fontMetrics().height())  # Height of a handle
        self._strip = self._side + 4

    @property
    def length(self) -> float:
        """Width of the gradient [px]."""
        return max(40.0, float(self.width())) - self._side - 2.0

    def sizeHint(self) -> QSize:
        return QSize(8 * self._side, self._strip + self._side + 7)

    def place_of(self, index: int) -> QPointF:
        """Returns the tip of the handle of a stop."""
        return QPointF(self._side / 2.0 + 1.0 + self.stops[index][0] * self.length, self._strip + 1.0)

    def point_at(self, place: QPointF) -> tuple[float, None]:
        return min(max((place.x() - self._side / 2.0 - 1.0) / self.length, 0.0), 1.0), None

    def index_at(self, place: QPointF) -> int | None:
        if place.y() < self._strip + 1.0:
            return None
        reach = self._side / math.sqrt(3.0) + _HANDLE_REACH
        away = [abs(self.place_of(index).x() - place.x()) for index in range(len(self.stops))]
        return self.nearest(away, reach)

    def text_at(self, place: QPointF) -> str:
        index = self.index_at(place)
        if index is not None:
            return f"{self.stops[index][0]:.4g} of the life: {seen_colour(self.stops[index]).name().upper()}"
        return f"{self._tip}\nDouble click adds a colour, Delete or a right click removes one."

    def paint(self, painter: QPainter) -> None:
        palette, selected = self.palette(), self._editor.selected
        box = QRectF(self._side / 2.0 + 1.0, 1.0, self.length, self._strip - 1.0)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(box, strip_image(self.stops))
        painter.setPen(QPen(palette.color(QPalette.ColorRole.Mid), 1.0))
        painter.drawRect(box)
        half = self._side / math.sqrt(3.0)
        handle = QPolygonF([QPointF(0.0, 0.0), QPointF(-half, self._side), QPointF(half, self._side)])
        for index in sorted(range(len(self.stops)), key=lambda index: index == selected):  # the selected one on top
            role = QPalette.ColorRole.Highlight if index == selected else QPalette.ColorRole.WindowText
            painter.setPen(QPen(palette.color(role), 2.0 if index in (selected, self._hovered) else 1.0))
            painter.setBrush(seen_colour(self.stops[index]))
            painter.drawPolygon(handle.translated(self.place_of(index)))


def seen_colour(stop: Stop) -> QColor:
    red, green, blue = srgb_from_linear(stop[1:]).tolist()
    return QColor.fromRgbF(red, green, blue)


def strip_image(stops: Stops) -> QImage:
    """Returns an image one pixel high: interpolated in linear light, then encoded as sRGB."""
    light = values_at(stops, np.linspace(0.0, 1.0, _SAMPLES))
    pixels = np.rint(np.clip(srgb_from_linear(light), 0.0, 1.0) * 255.0).astype(np.uint8)
    return QImage(pixels.tobytes(), _SAMPLES, 1, 3 * _SAMPLES, QImage.Format.Format_RGB888).copy()


class StopsEditor(ValueEditor):
    """Base of editors of stops; the subclass creates the view and the field of the value, and calls `arrange`."""

    view: StopView

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.stops: Stops = ()
        self.selected = 0
        self.share = NumberField(self, lo=0.0, hi=1.0, step=0.01, decimals=2, decimals_max=4)
        self.share.setToolTip("Position of the selected stop, from birth (0) to death (1).")
        self.forward_gestures(self.share)
        self.share.edited.connect(self._share_edited)
        self.add_button = self.tool("add", "Add a stop after the selected one", act=self.insert_stop)
        self.remove_button = self.tool("remove", "Remove the selected stop", act=self.remove_stop)

    def arrange(self, view: StopView, value_part: QWidget, *more: QWidget) -> None:
        self.view = view
        fields = packed(QHBoxLayout(), QLabel("At", self), (self.share, 1), spacing=SPACE)
        fields.addSpacing(SPACE)
        fields.addWidget(value_part, 1)
        for widget in (self.add_button, self.remove_button, *more):
            fields.addWidget(widget)
        packed(QVBoxLayout(self), view, fields, spacing=SPACE)
        self.setFocusProxy(view)

    def tool(self, icon_name: str, tip: str, **options: Any) -> QToolButton:
        """Returns a button; for `options` see `tool_button`."""
        button = tool_button(icon_name, tip=tip, parent=self, **options)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def set_value(self, value: Stops) -> None:
        self.stops = value
        self.selected = min(self.selected, len(value) - 1)
        self._show()

    def select(self, index: int) -> None:
        index = min(max(index, 0), len(self.stops) - 1)
        if index != self.selected:
            self.release()
            self.selected = index
            self._show()

    @abstractmethod
    def show_values(self, values: tuple[float, ...]) -> None:
        """Shows the values of the selected stop in its field."""

    @abstractmethod
    def nudge(self, right: float, up: float) -> None:
        """Moves the selected stop by steps of the arrow keys."""

    @abstractmethod
    def open_value(self) -> None:
        """Opens the values of the selected stop for editing."""

    def menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        remove = menu.addAction(icon("remove"), "Remove stop")
        remove.setEnabled(len(self.stops) > 1)
        remove.triggered.connect(self.remove_stop)
        return menu

    def take(self, stops: Stops, selected: int) -> None:
        """Sets the stops and emits them if they differ."""
        is_new = stops != self.stops
        self.stops, self.selected = stops, selected
        self._show()
        if is_new:
            self.edited.emit(stops)

    def move_stop(self, share: float, value: float | None) -> None:
        """Moves the selected stop; a value of None keeps its values."""
        values = None if value is None else (value,)
        self.take(moved(self.stops, self.selected, share, values), self.selected)

    def add_stop(self, share: float, value: float | None) -> None:
        self.release()
        self.take(*inserted(self.stops, share, None if value is None else (value,)))

    def insert_stop(self) -> None:
        self.add_stop(gap_beside(self.stops, self.selected), None)

    def remove_stop(self) -> None:
        self.release()
        self.take(*removed(self.stops, self.selected))

    def _share_edited(self, share: float) -> None:
        if self.share.is_held:
            self.move_stop(share, None)
        else:
            self.take(*with_share(self.stops, self.selected, share))

    def _show(self) -> None:
        self.view.update()
        share, *values = self.stops[self.selected]
        self.share.set_value(share)
        self.show_values(tuple(values))
        self.add_button.setEnabled(len(self.stops) < STOP_MAX)
        self.remove_button.setEnabled(len(self.stops) > 1)


class GradientEditor(StopsEditor):
    def __init__(self, record: Param, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.colour = ColourEditor(record.label)
        self.colour.button.setToolTip("Colour of the selected stop.")
        self.forward_gestures(self.colour)
        self.colour.edited.connect(self._colour_edited)
        self.arrange(GradientStrip(self, record.declared.doc), self.colour)

    def show_values(self, values: tuple[float, ...]) -> None:
        red, green, blue = srgb_from_linear(values).tolist()
        self.colour.set_value((red, green, blue))

    def open_value(self) -> None:
        self.colour.open_dialog()

    def menu(self) -> QMenu:
        menu = super().menu()
        actions = menu.actions()
        colour = menu.addAction(icon("material"), "Colour…")
        colour.triggered.connect(self.open_value)
        menu.insertAction(actions[0], colour)
        return menu

    def nudge(self, right: float, up: float) -> None:
        if up:
            self.select(self.selected + (-1 if up > 0.0 else 1))
            return
        self.move_stop(self.stops[self.selected][0] + right * _NUDGE, None)

    def release(self) -> None:
        self.colour.release()

    def _colour_edited(self, colour: Colour) -> None:
        light = tuple(round(part, _COLOUR_DIGITS) for part in linear_from_srgb(colour).tolist())
        self.take(with_values(self.stops, self.selected, light), self.selected)


class CurveEditor(StopsEditor):
    def __init__(self, record: Param, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        declared = record.declared
        lo, hi = declared.lo, declared.hi
        assert lo is not None
        assert hi is not None
        span = declared.soft or (lo, hi)
        self.plot = CurvePlot(self, declared.doc, span, hi)
        self.value = NumberField(lo=lo, hi=hi, soft=span, step=0.01, decimals=2, decimals_max=4)
        self.value.setToolTip(f"{record.label} at the selected stop.")
        self.forward_gestures(self.value)
        self.value.edited.connect(self._value_edited)
        self.shape_button = self.tool("morph", "Easings and presets for the whole curve", menu=self._shapes_menu())
        self.arrange(self.plot, self.value, self.shape_button)

    def show_values(self, values: tuple[float, ...]) -> None:
        self.value.set_value(values[0])
        self.plot.fit()

    def open_value(self) -> None:
        self.value.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.value.begin_edit()

    def _shapes_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.addSection("From the first stop to the last")
        for name in EASINGS:
            menu.addAction(name).triggered.connect(lambda _=False, name=name: self._shape(eased(self.stops, name)))
        menu.addSection("Presets")
        height = min(1.0, self.plot.limit)
        for name in PRESETS:
            act = menu.addAction(name).triggered
            act.connect(lambda _=False, name=name: self._shape(preset(self.stops, name, height)))
        return menu

    def _shape(self, stops: Stops) -> None:
        self.release()
        self.take(stops, min(self.selected, len(stops) - 1))

    def _value_edited(self, value: float) -> None:
        self.take(with_values(self.stops, self.selected, (value,)), self.selected)

    def nudge(self, right: float, up: float) -> None:
        share, value = self.stops[self.selected]
        higher = min(max(round(value + up * _NUDGE * self.plot.top, 6), 0.0), self.plot.limit)
        self.move_stop(share + right * _NUDGE, higher)
