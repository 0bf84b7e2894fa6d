"""Paints the handles of the selected emitter over the viewport; the geometry is `sim.kinds.emitter.handles`."""

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from sim.kinds.emitter.handles import EmitterHandles, Knob, KnobKind
from widgets.overlay import HandlesCover

_LINE = QColor(255, 170, 70)
_FAINT = QColor(255, 170, 70, 110)
_SHADE = QColor(0, 0, 0, 120)
_HELD = QColor(255, 214, 92)
_KNOB = 4.5


class EmitterOverlay(HandlesCover[EmitterHandles]):
    """Arrow, cone and edge of a source with their knobs."""

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
        """Round knobs; square ones on the faces of a box and at the ends of a line; a larger one for the speed."""
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
