import math
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSlider, QWidget

from sinew.sim.scene.params import Param, Scale
from sinew.widgets.inspector.editor import ValueEditor
from sinew.widgets.number_field import NumberField
from sinew.widgets.parts import packed
from sinew.widgets.theme import SPACE, colours

_POSITIONS = 1000
_SIGNIFICANT = 3
_HANDLE = 12
_GROOVE = 3
_AXES = "XYZW"
_DECIMALS_MAX = 3


class ValueSlider(QSlider):
    """A slider of a value. A press on the groove moves the handle there, Escape cancels a drag.

    Signals as in `ValueEditor`: one gesture from press to release, and one for each key or wheel step.

    Args:
        span: Lowest and highest value.
        scale: LOG needs a positive span.
        step: Values are multiples of it if linear; None for a thousandth of the span.
    """

    edit_started = Signal()
    edited = Signal(object)
    edit_finished = Signal()
    edit_cancelled = Signal()

    def __init__(
        self, span: tuple[float, float], scale: Scale, step: float | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        lo, hi = span
        self._log = scale is Scale.LOG and lo > 0.0
        self._lo, self._hi = (math.log10(lo), math.log10(hi)) if self._log else (lo, hi)
        self._step = step if step is not None else (hi - lo) / _POSITIONS
        self._start: float | None = None
        self._shown = lo
        self.setRange(0, _POSITIONS)
        self.setSingleStep(max(1, round(_POSITIONS * self._step / (hi - lo))) if not self._log else _POSITIONS // 50)
        self.setPageStep(_POSITIONS // 10)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.valueChanged.connect(self._moved)

    @property
    def is_held(self) -> bool:
        return self._start is not None

    def set_shown(self, value: float) -> None:
        """Shows a value, clamped to the span, without emitting a signal."""
        self._shown = value
        blocked = self.blockSignals(True)
        self.setValue(self._position_of(value))
        self.blockSignals(blocked)
        self.update()

    def _position_of(self, value: float) -> int:
        place = math.log10(max(value, 10.0**self._lo)) if self._log else value
        share = (place - self._lo) / (self._hi - self._lo)
        return round(min(max(share, 0.0), 1.0) * _POSITIONS)

    def _value_at(self, position: int) -> float:
        place = self._lo + (self._hi - self._lo) * position / _POSITIONS
        if self._log:
            return float(f"{10.0**place:.{_SIGNIFICANT}g}")
        stepped = self._lo + round((place - self._lo) / self._step) * self._step
        return float(f"{min(stepped, self._hi):.12g}")

    def _moved(self, position: int) -> None:
        value = self._value_at(position)
        if value == self._shown:
            return
        self._shown = value
        if self.is_held:
            self.edited.emit(value)
            return
        self.edit_started.emit()
        self.edited.emit(value)
        self.edit_finished.emit()

    def _drag_to(self, x: float) -> None:
        span = max(1, self.width() - _HANDLE)
        self.setValue(round(min(max((x - _HANDLE / 2) / span, 0.0), 1.0) * _POSITIONS))

    def _end(self) -> None:
        self._start = None
        self.setSliderDown(False)
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self._start = self._shown
        self.setSliderDown(True)
        self.edit_started.emit()
        self._drag_to(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.is_held:
            self._drag_to(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.is_held:
            self._end()
            self.edit_finished.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._start is not None:
            start = self._start
            self._end()
            self.set_shown(start)
            self.edit_cancelled.emit()
            return
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        if self.is_held:
            self._end()
            self.edit_finished.emit()
        super().focusOutEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def sizeHint(self) -> QSize:
        return QSize(72, _HANDLE + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(36, _HANDLE + 6)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        palette = self.palette()
        group = QPalette.ColorGroup.Active if self.isEnabled() else QPalette.ColorGroup.Disabled
        groove = QRectF(_HANDLE / 2, self.height() / 2 - _GROOVE / 2, self.width() - _HANDLE, _GROOVE)
        x = groove.left() + groove.width() * self.value() / _POSITIONS
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(palette.color(group, QPalette.ColorRole.Dark))
            painter.drawRoundedRect(groove, _GROOVE / 2, _GROOVE / 2)
            painter.setBrush(palette.color(group, QPalette.ColorRole.Highlight))
            painter.drawRoundedRect(QRectF(groove.topLeft(), QPointF(x, groove.bottom())), _GROOVE / 2, _GROOVE / 2)
            ring = QPalette.ColorRole.Highlight if self.hasFocus() or self.is_held else QPalette.ColorRole.Mid
            painter.setPen(QPen(palette.color(group, ring), 1.5))
            painter.setBrush(QColor(colours().knob))
            painter.drawEllipse(QPointF(x, self.height() / 2), _HANDLE / 2 - 1, _HANDLE / 2 - 1)


class NumberEditor(ValueEditor):
    def __init__(self, record: Param, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._whole = record.type is int
        self.field = number_field(record, record.default, self)
        self.slider = self._make_slider(record)
        layout = packed(QHBoxLayout(self), spacing=SPACE)
        if self.slider is not None:
            layout.addWidget(self.slider, 1)
            self.forward_gestures(self.slider)
            self.slider.edited.connect(self._part_edited)
        layout.addWidget(self.field, 0 if self.slider is not None else 1)
        self.forward_gestures(self.field)
        self.field.edited.connect(self._part_edited)
        self.setFocusProxy(self.field)

    @property
    def change(self) -> Callable[[Any], Any] | None:
        change, kind = self.field.change, int if self._whole else float
        return None if change is None else lambda own: None if own is None else kind(change(own))

    def set_value(self, value: float | None) -> None:
        self.field.set_value(value)
        if self.slider is not None and value is not None and not self.slider.is_held:
            self.slider.set_shown(value)

    def show_mixed(self, values: Sequence[float | None]) -> None:
        show_mixed(self.field, values)
        if self.slider is not None and values[0] is not None and not self.slider.is_held:
            self.slider.set_shown(values[0])

    def _make_slider(self, record: Param) -> ValueSlider | None:
        span = slider_span(record)
        if span is None:
            return None
        step = 1.0 if self._whole else record.declared.step
        return ValueSlider(span, record.declared.scale, step, self)

    def _part_edited(self, value: float | None) -> None:
        shown = int(value) if self._whole and value is not None else value
        if self.sender() is self.slider:
            self.field.set_value(shown)
        elif self.slider is not None and shown is not None:
            self.slider.set_shown(shown)
        self.edited.emit(shown)


class VectorEditor(ValueEditor):
    """Editor of a vector, with the number fields in a row if there is room, else stacked."""

    def __init__(self, record: Param, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._value: list[float] = list(record.default)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(SPACE)
        grid.setVerticalSpacing(2)
        self._grid = grid
        self.fields = [self._make_component(record, index) for index in range(record.size)]
        self._labels = [AxisLabel(index, self) for index in range(record.size)]
        self.fit(0)
        self.setFocusProxy(self.fields[0])

    def fit(self, width: int) -> None:
        pairs = list(zip(self._labels, self.fields, strict=True))
        is_row = width >= sum(label.sizeHint().width() + field.sizeHint().width() + 2 * SPACE for label, field in pairs)
        for index, pair in enumerate(pairs):
            for part, widget in enumerate(pair):
                self._grid.addWidget(widget, 0 if is_row else index, part + 2 * index * is_row)
            self._grid.setColumnStretch(2 * index + 1, int(is_row or index == 0))
        self._grid.activate()
        self.updateGeometry()

    @property
    def change(self) -> Callable[[Any], Any] | None:
        changes = [field.change for field in self.fields]
        if not any(changes):
            return None
        return lambda own: tuple(change(part) if change else part for part, change in zip(own, changes, strict=True))

    def set_value(self, value: tuple[float, ...]) -> None:
        self._value = list(value)
        for field, component in zip(self.fields, value, strict=True):
            field.set_value(component)

    def show_mixed(self, values: Sequence[tuple[float, ...]]) -> None:
        self._value = list(values[0])
        for field, *components in zip(self.fields, *values, strict=True):
            show_mixed(field, components)

    def _make_component(self, record: Param, index: int) -> NumberField:
        field = number_field(record, record.default[index], self)
        self.forward_gestures(field)
        field.edited.connect(lambda component: self._component_edited(index, component))
        return field

    def _component_edited(self, index: int, component: float) -> None:
        self._value[index] = component
        self.edited.emit(tuple(self._value))


class AxisLabel(QLabel):
    def __init__(self, index: int, parent: QWidget | None = None) -> None:
        super().__init__(_AXES[index], parent)
        self._index = index
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(max(metrics.horizontalAdvance(letter) for letter in _AXES) + SPACE, metrics.height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        scheme = colours()
        tint = (scheme.axis_x, scheme.axis_y, scheme.axis_z, scheme.dim)[self._index]
        with QPainter(self) as painter:
            painter.setPen(QColor(tint))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())


def show_mixed(field: NumberField, values: Sequence[float | None]) -> None:
    """Shows the first number, dim if the numbers differ."""
    first = values[0]
    if first is not None and any(value != first for value in values):
        field.set_fallback(first)
        field.set_value(None)
    else:
        field.set_value(first)


def number_field(record: Param, default: float | None, parent: QWidget) -> NumberField:
    declared = record.declared
    decimals = _decimals(record)
    fractional = record.type is not int and decimals is not None
    return NumberField(
        parent,
        lo=declared.lo,
        hi=declared.hi,
        soft=declared.soft,
        step=declared.step,
        scale=declared.scale,
        decimals=decimals,
        decimals_max=_DECIMALS_MAX if fractional else None,
        whole=record.type is int,
        unit=declared.unit,
        default=default,
        optional=record.optional,
    )


def _decimals(record: Param) -> int | None:
    """Returns the digits of the step; None for logarithmic scales, which use significant digits."""
    if record.type is int:
        return 0
    declared = record.declared
    if declared.scale is Scale.LOG or declared.step is None:
        return None
    return len(f"{declared.step:.6f}".rstrip("0").partition(".")[2])


def slider_span(record: Param) -> tuple[float, float] | None:
    """Returns the soft range, else the hard range if it is finite, else None."""
    declared = record.declared
    lo, hi = declared.soft if declared.soft is not None else (declared.lo, declared.hi)
    if record.optional or lo is None or hi is None or lo >= hi:
        return None
    return None if declared.scale is Scale.LOG and lo <= 0.0 else (lo, hi)
