"""A strip of colours with a handle below each stop, on the slider of pyqtgraph's gradient editor."""

import math

import numpy as np
from pyqtgraph.graphicsItems.GradientEditorItem import Tick, TickSliderItem
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QStyleOptionGraphicsItem, QWidget

from sim.maths.srgb import srgb_from_linear
from sim.scene.vectors import values_at
from widgets.inspector.stop_view import StopView
from widgets.inspector.stops import Stop, Stops

_SAMPLES = 512
_REACH = 3.0
"""How far beside a handle the mouse still takes it [px]."""


class GradientStrip(StopView):
    """Colours over a life; the stops hold linear light, what is seen is sRGB.

    Args:
        tip: What the colours are for.
        parent: Parent widget.
    """

    def __init__(self, tip: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tip = tip
        self.slider = StopSlider(round(0.9 * self.fontMetrics().height()))
        self.setCentralItem(self.slider)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(8 * self.slider.tickSize, round(self.slider.maxDim) + 4)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def refresh(self) -> None:
        focus = self.palette().color(QPalette.ColorRole.Highlight)
        self.slider.show_stops(self._stops, self._selected, self._hovered, self.palette(), focus)
        self.viewport().update()

    def index_at(self, place: QPointF) -> int | None:
        point = self.slider.mapFromScene(self.to_scene(place))
        if point.y() < 0.0:
            return None
        reach = self.slider.tickSize / math.sqrt(3.0) + _REACH
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


class StopSlider(TickSliderItem):  # type: ignore[misc]
    """The strip with its handles; places and colours come from outside alone.

    Args:
        side: Height of strip and of handles [px].
    """

    def __init__(self, side: int) -> None:
        self._image = QImage()
        self._edge = QColor()
        self.strip_height = side + 4
        super().__init__("bottom", allowAdd=False, allowRemove=False)
        self.tickSize = side
        self.setMaxDim(self.strip_height + self.tickSize + 3)

    def setOrientation(self, orientation: str) -> None:
        """Handles hang below the strip."""
        super().setOrientation(orientation)
        self.setTransform(self.transform().translate(0.0, self.strip_height + 1.0))

    def spot(self, share: float) -> QPointF:
        return QPointF(share * self.length + 1.0, 0.0)

    def show_stops(self, stops: Stops, selected: int, hovered: int | None, palette: QPalette, accent: QColor) -> None:
        """Shows stops; handles that stay are only moved."""
        self._image, self._edge = strip_image(stops), palette.color(QPalette.ColorRole.Mid)
        while len(self.ticks) > len(stops):
            self.removeTick(next(reversed(self.ticks)), finish=False)
        while len(self.ticks) < len(stops):
            self.addTick(0.0, finish=False)
        text = palette.color(QPalette.ColorRole.WindowText)
        for index, (tick, stop) in enumerate(zip(list(self.ticks), stops, strict=True)):
            self.ticks[tick] = stop[0]
            tick.setPos(self.spot(stop[0]))
            tick.color = seen_colour(stop)
            tick.currentPen = QPen(accent if index == selected else text, 2.0 if index in (selected, hovered) else 1.0)
            tick.setZValue(2.0 if index == selected else 1.0)
            tick.update()
        self.update()

    def addTick(self, x: float, color: QColor | None = None, movable: bool = True, finish: bool = True) -> Tick:
        """Adds a handle in the present size."""
        tick = super().addTick(x, color, movable, finish)
        tick.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        return tick

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002
        widget: QWidget | None = None,  # noqa: ARG002
    ) -> None:
        """Paints the strip; the handles paint themselves."""
        box = QRectF(1.0, -self.strip_height, self.length, self.strip_height - 1.0)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(box, self._image)
        painter.setPen(QPen(self._edge, 1.0))
        painter.drawRect(box)

    def boundingRect(self) -> QRectF:
        return QRectF(0.0, -self.strip_height - 1.0, self.length + 2.0, self.strip_height + self.tickSize + 2.0)


def seen_colour(stop: Stop) -> QColor:
    red, green, blue = srgb_from_linear(stop[1:]).tolist()
    return QColor.fromRgbF(red, green, blue)


def strip_image(stops: Stops) -> QImage:
    """Colours over the life, one pixel high: mixed as light is mixed, then encoded for the screen."""
    light = values_at(stops, np.linspace(0.0, 1.0, _SAMPLES))
    pixels = np.rint(np.clip(srgb_from_linear(light), 0.0, 1.0) * 255.0).astype(np.uint8)
    return QImage(pixels.tobytes(), _SAMPLES, 1, 3 * _SAMPLES, QImage.Format.Format_RGB888).copy()
