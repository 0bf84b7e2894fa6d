"""Editors of numbers and of vectors of numbers."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QWidget

from sim.scene.params import Param, Scale
from widgets.inspector.editor import Editor
from widgets.inspector.slider import ValueSlider
from widgets.number_field import NumberField
from widgets.theme import SPACE, SPACE_WIDE, colours

_AXES = "XYZW"
_DECIMALS_MAX = 3


class NumberEditor(Editor):
    """A number field, with a slider where the parameter has a finite span."""

    def __init__(self, record: Param, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._whole = record.type is int
        self.field = number_field(record, record.default, self)
        self.slider = self._make_slider(record)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACE_WIDE)
        if self.slider is not None:
            layout.addWidget(self.slider, 1)
            self._link(self.slider)
        layout.addWidget(self.field, 0 if self.slider is not None else 1)
        self._link(self.field)
        self.setFocusProxy(self.field)

    def set_value(self, value: float | None) -> None:
        """Shows a number."""
        self.field.set_value(value)
        if self.slider is not None and value is not None and not self.slider.is_held:
            self.slider.set_shown(value)

    def _make_slider(self, record: Param) -> ValueSlider | None:
        span = slider_span(record)
        if span is None:
            return None
        step = 1.0 if self._whole else record.declared.step
        return ValueSlider(span, record.declared.scale, step, self)

    def _link(self, part: NumberField | ValueSlider) -> None:
        part.edit_started.connect(self.edit_started)
        part.edited.connect(self._part_edited)
        part.edit_finished.connect(self.edit_finished)
        part.edit_cancelled.connect(self.edit_cancelled)

    def _part_edited(self, value: float | None) -> None:
        shown = int(value) if self._whole and value is not None else value
        if self.sender() is self.slider:
            self.field.set_value(shown)
        elif self.slider is not None and shown is not None:
            self.slider.set_shown(shown)
        self.edited.emit(shown)


class VectorEditor(Editor):
    """One number field for each component, one below the other, each with its axis."""

    def __init__(self, record: Param, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._value: list[float] = list(record.default)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(SPACE)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        self.fields = [self._add_component(grid, record, index) for index in range(record.size)]
        self.setFocusProxy(self.fields[0])

    def set_value(self, value: tuple[float, ...]) -> None:
        """Shows a vector."""
        self._value = list(value)
        for field, component in zip(self.fields, value, strict=True):
            field.set_value(component)

    def _add_component(self, grid: QGridLayout, record: Param, index: int) -> NumberField:
        field = number_field(record, record.default[index], self)
        grid.addWidget(AxisLabel(index, self), index, 0)
        grid.addWidget(field, index, 1)
        field.edit_started.connect(self.edit_started)
        field.edited.connect(self._component_edited(index))
        field.edit_finished.connect(self.edit_finished)
        field.edit_cancelled.connect(self.edit_cancelled)
        return field

    def _component_edited(self, index: int) -> Callable[[Any], None]:
        def edited(component: float) -> None:
            self._value[index] = component
            self.edited.emit(tuple(self._value))

        return edited


class AxisLabel(QLabel):
    """Letter of an axis in the colour that the axis has everywhere."""

    def __init__(self, index: int, parent: QWidget | None = None) -> None:
        super().__init__(_AXES[index], parent)
        self._index = index
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)

    def sizeHint(self) -> QSize:
        """As wide as the widest letter, so that the fields below each other line up."""
        metrics = self.fontMetrics()
        return QSize(max(metrics.horizontalAdvance(letter) for letter in _AXES) + SPACE, metrics.height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """Paints the letter in the colour of the scheme in force."""
        scheme = colours()
        tint = (scheme.axis_x, scheme.axis_y, scheme.axis_z, scheme.dim)[self._index]
        with QPainter(self) as painter:
            painter.setPen(QColor(tint))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())


def number_field(record: Param, default: float | None, parent: QWidget) -> NumberField:
    """Number field with range, unit, step and default of a parameter."""
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
    """Digits that the step asks for; None for a logarithmic scale, which asks for significant digits."""
    if record.type is int:
        return 0
    declared = record.declared
    if declared.scale is Scale.LOG or declared.step is None:
        return None
    return len(f"{declared.step:.6f}".rstrip("0").partition(".")[2])


def slider_span(record: Param) -> tuple[float, float] | None:
    """Span of the slider: the soft range, else the hard range where it is finite, else none."""
    declared = record.declared
    lo, hi = declared.soft if declared.soft is not None else (declared.lo, declared.hi)
    if record.optional or lo is None or hi is None or lo >= hi:
        return None
    return None if declared.scale is Scale.LOG and lo <= 0.0 else (lo, hi)
