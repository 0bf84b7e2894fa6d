"""Graph of the curves of one setting, on the time scale of the timeline."""

import math
from dataclasses import dataclass

import msgspec
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QMenu, QWidget

from sinew.sim.scene.curves import Curve, Key, KeyMode
from sinew.widgets.inspector.keys import KeyState, key_colour, paint_diamond
from sinew.widgets.number_text import nice_above
from sinew.widgets.theme import blend, colours
from sinew.widgets.timeline.key_sheet import KeyId, KeyRow, KeySheet
from sinew.widgets.timeline.ruler_paint import small_font
from sinew.widgets.timeline.time_view import Drag, TimeView

_RADIUS, _REACH, _MARGIN, _HANDLE, _STEP = 4.5, 7.0, 14.0, 42.0, 3.0


@dataclass(slots=True)
class _CurveDrag(Drag):
    """`side` is 0 for a key, -1 and 1 for the slope before and after it."""

    press: QPointF
    key: KeyId
    start: Key
    side: int
    lo: float
    hi: float


class CurveView(TimeView[_CurveDrag]):
    """Graph of the row that is active in a dope sheet, with the signals of `KeySheet`."""

    edit_started = Signal(str)
    edited = Signal(object)

    def __init__(self, sheet: KeySheet, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sheet = sheet
        sheet.row_changed.connect(self.update)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumHeight(90)
        self.setAccessibleName("Curves")
        self.setToolTip(
            "Drag keys (Ctrl between frames) and the handles of selected keys (Alt breaks a handle);"
            " right click for interpolation"
        )
        self.hide()

    def sizeHint(self) -> QSize:
        return QSize(160, 130)

    @property
    def row(self) -> KeyRow | None:
        """Returns the active row, or for a summary the first row of its node."""
        active, rows = self._sheet.active_row, self._sheet.rows
        if active is None or not active.is_summary:
            return active
        return next((row for row in rows if row.node == active.node and not row.is_summary), active)

    def _curves(self) -> list[Curve]:
        row = self.row
        return [curve for curve in row.curves if curve.is_number] if row is not None else []

    @property
    def span(self) -> tuple[float, float]:
        """Returns the values at the lower and upper edge."""
        if self._drag is not None:
            return self._drag.lo, self._drag.hi
        found = [curve.range for curve in self._curves()]
        lo, hi = min((one[0] for one in found), default=0.0), max((one[1] for one in found), default=1.0)
        return (lo, hi) if hi - lo > 1e-9 * max(abs(lo), abs(hi), 1e-3) else (lo - 0.5, hi + 0.5)

    def place_of(self, time: float, value: float) -> QPointF:
        lo, hi = self.span
        return QPointF(self._scale.x_of(time), self.height() - _MARGIN - (value - lo) * self._pixels_per_unit(lo, hi))

    def _value_of(self, y: float) -> float:
        lo, hi = self.span
        return lo + (self.height() - _MARGIN - y) / self._pixels_per_unit(lo, hi)

    def _pixels_per_unit(self, lo: float, hi: float) -> float:
        return max(self.height() - 2.0 * _MARGIN, 1.0) / (hi - lo)

    def handle_of(self, curve: Curve, place: int, side: int) -> QPointF:
        key = curve.keys[place]
        lo, hi = self.span
        slope = curve.slopes(place)[0 if side < 0 else 1]
        along, up = self._scale.pixels(1.0), -slope * self._pixels_per_unit(lo, hi)
        length = math.hypot(along, up)
        reach = side * _HANDLE / length
        return self.place_of(key.time, float(key.value)) + QPointF(along * reach, up * reach)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        palette, role = self.palette(), QPalette.ColorRole
        base, text = palette.color(role.Base), palette.color(role.Text)
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), base)
            painter.setFont(small_font(self.font()))
            self.paint_playhead(painter)
            if not (curves := self._curves()):
                painter.setPen(blend(base, text, 0.6))
                painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, "Select a row of numbers above")
                return
            self._paint_grid(painter, base, text)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for curve in curves:
                self._paint_curve(painter, curve, self._colour(curve, text))
            if (row := self.row) is not None:
                painter.setPen(blend(base, text, 0.8))
                painter.drawText(QPointF(8.0, painter.fontMetrics().ascent() + 2.0), row.name)

    def _paint_grid(self, painter: QPainter, base: QColor, text: QColor) -> None:
        lo, hi = self.span
        spacing = nice_above(34.0 / self._pixels_per_unit(lo, hi))
        for number in range(math.ceil(lo / spacing - 1e-9), math.floor(hi / spacing + 1e-9) + 1):
            y = self.place_of(0.0, number * spacing).y()
            painter.fillRect(QRectF(0.0, round(y), self.width(), 1.0), blend(base, text, 0.12))
            painter.setPen(blend(base, text, 0.5))
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom
            painter.drawText(QRectF(0.0, y - 20.0, self.width() - 6.0, 20.0), flags, f"{number * spacing:.6g}")

    def _paint_curve(self, painter: QPainter, curve: Curve, colour: QColor) -> None:
        points, x = QPolygonF(), 0.0
        while x <= self.width() + _STEP:
            time = self._scale.time_of(x)
            points.append(self.place_of(time, float(curve.value(time))))
            x += _STEP
        painter.setPen(QPen(colour, 1.6))
        painter.drawPolyline(points)
        row = self.row
        for place, key in enumerate(curve.keys):
            is_chosen = row is not None and (row.node, curve.address, key.time) in self._sheet.selected
            if is_chosen:
                painter.setPen(QPen(colour, 1.0))
                for side in self._sides(curve, place):
                    end = self.handle_of(curve, place, side)
                    painter.drawLine(self.place_of(key.time, float(key.value)), end)
                    painter.setBrush(colour)
                    painter.drawEllipse(end, 3.0, 3.0)
            fill = key_colour(KeyState.KEY) if is_chosen else colour
            paint_diamond(painter, self.place_of(key.time, float(key.value)), _RADIUS, fill, colour)

    @staticmethod
    def _colour(curve: Curve, text: QColor) -> QColor:
        axes = (colours().axis_x, colours().axis_y, colours().axis_z)
        return QColor(axes[curve.component]) if 0 <= curve.component < 3 else text

    @staticmethod
    def _sides(curve: Curve, place: int) -> list[int]:
        """Returns the sides of a key at which a slope shapes the curve."""
        before = place > 0 and curve.keys[place - 1].mode is KeyMode.HERMITE
        after = place < len(curve.keys) - 1 and curve.keys[place].mode is KeyMode.HERMITE
        return [*([-1] if before else []), *([1] if after else [])]

    # Mouse

    def _hit(self, at: QPointF) -> tuple[KeyId, Key, int] | None:
        """Returns a handle of a selected key, or a key, near a position; the side is as in a drag."""
        row, found = self.row, []
        for curve in self._curves() if row is not None else ():
            assert row is not None
            for place, key in enumerate(curve.keys):
                one = (row.node, curve.address, key.time)
                found.append((_distance(self.place_of(key.time, float(key.value)), at), one, key, 0))
                if one in self._sheet.selected:
                    sides = self._sides(curve, place)
                    found += [(_distance(self.handle_of(curve, place, s), at), one, key, s) for s in sides]
        near = [entry for entry in found if entry[0] <= _REACH]
        return min(near, key=lambda entry: entry[0])[1:] if near else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._drag is not None:
            return
        if (hit := self._hit(event.position())) is None:
            self._sheet.select(())
            return
        one, key, side = hit
        self._sheet.select((one,))
        self._drag = _CurveDrag(event.position(), one, key, side, *self.span)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        drag, place = self._drag, event.position()
        if drag is None:
            is_over = self._hit(place) is not None
            self.setCursor(Qt.CursorShape.SizeAllCursor if is_over else Qt.CursorShape.ArrowCursor)
            return
        if not drag.changed and (place - drag.press).manhattanLength() < 3.0:
            return
        if not drag.changed:
            drag.changed = True
            self.edit_started.emit("Set slopes" if drag.side else "Move keys")
        key = drag.start
        if drag.side:
            origin = self.place_of(key.time, float(key.value))
            run = max(drag.side * (place.x() - origin.x()), 1.0)
            slope = drag.side * (origin.y() - place.y()) / run * self._slope_of_pixel()
            is_broken = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
            values = {"slope_in": slope, "slope_out": slope}
            if is_broken:
                values = {"slope_in" if drag.side < 0 else "slope_out": slope}
            moved = msgspec.structs.replace(key, **values)
        else:
            time = key.time + (place.x() - drag.press.x()) * self._scale.seconds_per_pixel
            time = self.dragged_time(time, event)
            value = float(key.value) + self._value_of(place.y()) - self._value_of(drag.press.y())
            moved = msgspec.structs.replace(key, time=time, value=value)
        self.edited.emit({drag.key: moved})
        node, address, _ = drag.key
        self._sheet.select(((node, address, moved.time),))

    def _slope_of_pixel(self) -> float:
        """Returns the slope [1/s] of a line that rises one pixel a pixel."""
        lo, hi = self.span
        return self._scale.pixels(1.0) / self._pixels_per_unit(lo, hi)

    def claims(self, event: QKeyEvent) -> bool:
        return super().claims(event) or self._sheet.claims(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._drag is not None:
            super().keyPressEvent(event)
        else:
            self._sheet.keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if (hit := self._hit(QPointF(event.pos()))) is not None and hit[0] not in self._sheet.selected:
            self._sheet.select((hit[0],))
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._sheet.fill_menu(menu)
        menu.popup(event.globalPos())


def _distance(one: QPointF, other: QPointF) -> float:
    return math.dist(one.toTuple(), other.toTuple())
