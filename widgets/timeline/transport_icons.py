"""Icons of the transport: one set of triangles, bars and diamonds that mirror each other exactly."""

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QIconEngine, QPainter, QPainterPath, QPalette, QPixmap

_GRID = 24.0

# Shapes on a grid of 24, pointing right: triangle (left, tip), bar (left, right), diamond (centre).
_SHAPES: dict[str, tuple[tuple[str, float, float], ...]] = {
    "play": (("triangle", 7.0, 19.0),),
    "pause": (("bar", 6.5, 10.5), ("bar", 13.5, 17.5)),
    "step": (("bar", 5.0, 7.5), ("triangle", 9.5, 19.0)),
    "key": (("triangle", 4.0, 12.0), ("diamond", 17.0, 4.5)),
    "end": (("triangle", 5.5, 16.0), ("bar", 16.5, 19.0)),
}


def transport_icon(shape: str, mirrored: bool = False) -> QIcon:
    """The icon of a shape ("play", "pause", "step", "key", "end"); mirrored it points left."""
    return QIcon(_ShapeEngine(shape, mirrored))


class _ShapeEngine(QIconEngine):
    """Paints a shape in the colour that the palette has for the icon's mode."""

    def __init__(self, shape: str, mirrored: bool) -> None:
        super().__init__()
        self._shape, self._mirrored = shape, mirrored

    def clone(self) -> QIconEngine:
        return _ShapeEngine(self._shape, self._mirrored)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:  # noqa: ARG002
        side = min(rect.width(), rect.height())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(QPointF(rect.center()) + QPointF(0.5, 0.5))
        painter.scale((-side if self._mirrored else side) / _GRID, side / _GRID)
        painter.translate(-0.5 * _GRID, -0.5 * _GRID)
        off = mode == QIcon.Mode.Disabled
        group = QPalette.ColorGroup.Disabled if off else QPalette.ColorGroup.Active
        painter.fillPath(_path(self._shape), QGuiApplication.palette().color(group, QPalette.ColorRole.ButtonText))
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        with QPainter(pixmap) as painter:
            self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        return pixmap


def _path(shape: str) -> QPainterPath:
    path = QPainterPath()
    for kind, first, second in _SHAPES[shape]:
        if kind == "bar":
            path.addRect(QRectF(first, 6.0, second - first, 12.0))
            continue
        if kind == "triangle":
            corners = [(first, 6.0), (second, 12.0), (first, 18.0)]
        else:
            corners = [(first - second, 12.0), (first, 12.0 - second), (first + second, 12.0), (first, 12.0 + second)]
        path.moveTo(*corners[0])
        for corner in corners[1:]:
            path.lineTo(*corner)
        path.closeSubpath()
    return path
