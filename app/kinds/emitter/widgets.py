from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QMargins, QPointF, QSize
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from sinew.sim.kinds.emitter.handles import EmitterHandles, Knob, KnobKind
from sinew.widgets.overlay import HandlesCover
from sinew.widgets.parts import FillBar
from sinew.widgets.theme import SPACE_WIDE, colours

_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True, slots=True)
class Population:
    alive: int = 0
    born_per_second: float = 0.0  # Spawn rate of the settings [1/s of scene time]
    capacity: int = 0  # Maximum number of particles; 0 before the emitter is built
    needed_capacity: int = 0  # Capacity with which all particles live their whole life
    warning: str = ""  # Why the capacity is too small, or ""


class PopulationBar(FillBar):
    """Bar of living particles; its texts depend on width and capacity alone, so that a new count moves nothing."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._status = Population()

    def show_status(self, status: Population) -> None:
        if status == self._status:
            return
        self._status = status
        spoken = f"{living_text(status)}, {births_text(status)}"
        self.setAccessibleName(spoken)
        self.setToolTip(population_tip(status))
        self.update()

    def texts(self) -> tuple[str, str]:
        full = Population(
            alive=self._status.capacity,
            capacity=self._status.capacity,
            born_per_second=self._status.born_per_second,
        )
        room = self.width() - 2 * SPACE_WIDE
        for brief in (False, True):
            if self._width_of(full, brief) <= room:
                return living_text(self._status, brief), births_text(self._status, brief)
        return living_text(self._status, brief=True), ""

    def _width_of(self, status: Population, brief: bool) -> int:
        metrics = self.fontMetrics()
        left, right = living_text(status, brief), births_text(status, brief)
        return metrics.horizontalAdvance(left) + metrics.horizontalAdvance(right) + 2 * SPACE_WIDE

    def sizeHint(self) -> QSize:
        return self.size_for("000k / 000k alive 000k spawned/s").grownBy(QMargins(0, 0, 2 * SPACE_WIDE, 0))

    def minimumSizeHint(self) -> QSize:
        return self.size_for("00.0M / 00.0M alive")

    def fill(self) -> tuple[float, QColor] | None:
        if not self._status.capacity:
            return None
        colour = colours().warning if self._status.warning else colours().accent
        return min(self._status.alive / self._status.capacity, 1.0), QColor(colour)


def living_text(status: Population, brief: bool = False) -> str:
    if not status.capacity:
        return "– alive"
    number = brief_number if brief else whole_number
    return f"{number(status.alive)} / {number(status.capacity)} alive"


def births_text(status: Population, brief: bool = False) -> str:
    if not status.capacity:
        return ""
    number = brief_number if brief else whole_number
    return f"{number(status.born_per_second)} spawned/s"


def population_tip(status: Population) -> str:
    lines = ["Living particles, maximum number of particles, and spawn rate."]
    if status.capacity:
        lines.append(f"{living_text(status)}, {births_text(status)}.")
        lines.append(f"Capacity for the whole life of all particles: {status.needed_capacity:,}.")
    return "\n".join(lines)


def whole_number(value: float) -> str:
    """Returns a number with separators; below 100 with one digit if it is fractional."""
    return f"{value:,.1f}" if value < 100.0 and value != int(value) else f"{value:,.0f}"


def brief_number(value: float) -> str:
    """Returns a number with three digits, such as 12.3k."""
    for unit, letter in _UNITS:
        if value >= unit:
            scaled = value / unit
            return f"{scaled:.{0 if scaled >= 99.5 else 1}f}".removesuffix(".0") + letter
    return whole_number(value)


_LINE = QColor(255, 170, 70)
_FAINT = QColor(255, 170, 70, 110)
_SHADE = QColor(0, 0, 0, 120)
_HELD = QColor(255, 214, 92)
_KNOB = 4.5


class EmitterOverlay(HandlesCover[EmitterHandles]):
    def paint(self, painter: QPainter, handles: EmitterHandles) -> None:
        for line in handles.outline:
            self._stroke(painter, handles.view.pixels(line), QPen(_FAINT, 1.5))
        for number, knob in enumerate(handles.knobs):
            marked = number == self._marked
            if len(knob.edge):
                pen = QPen(_HELD if marked else _LINE, 3.0 if marked else 1.5)
                self._stroke(painter, handles.view.pixels(knob.edge), pen)
        for number, knob in enumerate(handles.knobs):
            self._paint_knobs(painter, handles, knob, number == self._marked)

    def _stroke(self, painter: QPainter, pixels: np.ndarray, pen: QPen) -> None:
        if not np.isfinite(pixels).all():
            return
        line = QPolygonF([QPointF(x, y) for x, y in pixels.tolist()])
        painter.setPen(QPen(_SHADE, pen.widthF() + 1.5))
        painter.drawPolyline(line)
        painter.setPen(pen)
        painter.drawPolyline(line)

    def _paint_knobs(self, painter: QPainter, handles: EmitterHandles, knob: Knob, marked: bool) -> None:
        """Draws the knobs: round ones, a square one for the size, a larger one for the speed."""
        painter.setPen(QPen(_SHADE, 1.0))
        painter.setBrush(_HELD if marked else _LINE)
        side = _KNOB * (1.35 if knob.kind is KnobKind.SPEED else 1.0) + (1.0 if marked else 0.0)
        for x, y in handles.view.pixels(knob.points).tolist():
            if not np.isfinite((x, y)).all():
                continue
            if knob.kind is KnobKind.SIZE:
                painter.drawRect(round(x - side), round(y - side), round(2 * side), round(2 * side))
            else:
                painter.drawEllipse(QPointF(x, y), side, side)
