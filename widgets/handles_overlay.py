"""Paints the handles of the selected object over the viewport; the geometry is `sim.scene.handles`."""

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from sim.scene.handles import FREE, HandleMode, Handles
from widgets.overlay import HandlesCover
from widgets.theme import DARK

_COLOURS = (QColor(DARK.axis_x), QColor(DARK.axis_y), QColor(DARK.axis_z))
_HELD = QColor(255, 214, 92)
_FREE = QColor(236, 236, 236)
_TIP = 7.0


class HandlesOverlay(HandlesCover[Handles]):
    """Arrows, rings or knobs."""

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
        colour = _HELD if axis == self._marked else _COLOURS[axis]
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
    """Triangle at the end of an axis; a dot's worth when the axis points at the eye."""
    along = points[1] - points[0]
    length = max(float(np.linalg.norm(along)), 1e-6)
    direction = along / length
    side = np.array([-direction[1], direction[0]])
    tip, base = points[1] + direction * _TIP * 1.6, points[1]
    corners = (tip, base + side * _TIP * 0.7, base - side * _TIP * 0.7)
    return QPolygonF([QPointF(float(x), float(y)) for x, y in corners])
