import enum
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QContextMenuEvent,
    QFontMetricsF,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QWidget

from sinew.sim.scene.strips import GROUP, Strip, StripMode
from sinew.widgets.theme import blend
from sinew.widgets.timeline.ruler_paint import small_font
from sinew.widgets.timeline.ruler_scale import snapped
from sinew.widgets.timeline.time_view import Drag, TimeRows
from sinew.widgets.timings.colours import PALETTE


@dataclass(frozen=True, slots=True)
class StripBar:
    index: int  # Index among the stored strips of the character
    text: str  # Clip, repeats and speed
    start: float  # [s]
    end: float  # [s], may be infinite
    length: float  # Duration of one repetition [s]
    fade: float = 0.0  # Duration of the blend from the previous strip [s]
    clip: int = 0  # Index of its clip in the model, which determines the colour
    is_added: bool = False
    is_layer: bool = False
    fades: tuple[float, float] = (0.0, 0.0)  # Durations of its own fades at start and end [s]


@dataclass(frozen=True, slots=True)
class StripRow:
    """Strips of one character that follow one another, sorted by start."""

    node: str
    name: str
    bars: tuple[StripBar, ...]
    is_active: bool = False


class CacheState(enum.Enum):
    CACHED = "cached"
    THINNED = "thinned"
    OLD = "old"
    BAKED = "baked"
    OUTDATED = "outdated"
    STOPPED = "stopped"


CACHED_TEXT = {
    CacheState.CACHED: "simulated and cached",
    CacheState.THINNED: "simulated; some steps were evicted from the cache and are simulated again when needed",
    CacheState.OLD: "simulated with earlier settings",
    CacheState.BAKED: "baked: played without simulation",
    CacheState.OUTDATED: "baked with other settings",
    CacheState.STOPPED: "stopped here",
}


@dataclass(frozen=True, slots=True)
class BarRow:
    """Cached steps of a simulated node: spans of scene time (from [s], to [s], state)."""

    node: str
    name: str
    spans: tuple[tuple[float, float, CacheState], ...] = ()
    is_baked: bool = False
    is_outdated: bool = False


def strip_rows(
    node: str, name: str, strips: Sequence[Strip], duration: Callable[[str], float], clips: Sequence[str],
    *, is_active: bool = False, animated: Collection[int] = (),
) -> list[StripRow]:  # fmt: skip
    """Returns the rows of a character, the uppermost first: layers are above the strips that they act on.

    Strips that overlap are in different rows, the later one above.

    Args:
        strips: In any order.
        duration: Returns the duration of a clip by name [s].
        clips: Names of the clips of the model; unknown clips count as the first one.
        animated: Numbers of the strips whose weights have keys.
    """
    lanes: dict[tuple[bool, bool], list[list[StripBar]]] = {}  # by layer and addition, the lowest one first
    last = -math.inf  # end of the strips below all layers so far
    for index in sorted(range(len(strips)), key=lambda index: strips[index].start):
        strip = strips[index]
        length, end = strip.length(duration(strip.clip)), strip.end(duration(strip.clip))
        is_added, fade = strip.mode is StripMode.ADD, 0.0
        if not strip.is_layer:
            fade = max(min(last, end) - strip.start, 0.0) if last < math.inf and not strip.fade_in else 0.0
            last = max(last, end)
        text = strip_text(strip, is_animated=index in animated)
        bar = StripBar(
            index, text, strip.start, end, length, fade, clips.index(strip.clip) if strip.clip in clips else 0,
            is_added, strip.is_layer, (strip.fade_in, strip.fade_out),
        )  # fmt: skip
        own = lanes.setdefault((strip.is_layer, is_added), [])
        free = next((lane for lane in own if lane[-1].end <= bar.start + SAME_TIME), None)
        if free is None:
            own.append([bar])
        else:
            free.append(bar)
    upward = [lane for key in sorted(lanes) for lane in lanes[key]]
    return [StripRow(node, name, tuple(lane), is_active) for lane in reversed(upward)]


SAME_TIME = 1e-6
"""Time by which a strip may start before the end of another one and follow it nevertheless [s]."""


def strip_text(strip: Strip, *, is_animated: bool = False) -> str:
    """Returns a text such as "walk × 3, 0.5 speed"."""
    words = f"+ {strip.clip}, added" if strip.mode is StripMode.ADD else strip.clip
    if strip.mask:
        words += f", {mask_text(strip.mask)}"
    if is_animated:
        words += ", weight animated"
    elif strip.weight != 1.0:
        words += f", {strip.weight:.0%}"
    if strip.repeats == 0.0:
        words += ", repeats ∞"
    elif strip.repeats != 1.0:
        words += f" × {strip.repeats:.3g}"
    return words if strip.speed == 1.0 else f"{words}, {strip.speed:g} speed"


def mask_text(mask: str) -> str:
    """Returns "upper body" for a group of bones, else the name of a joint."""
    return mask.partition(":")[2] if mask.startswith(GROUP) else mask


_PADDING, _GRAB, _THRESHOLD = 4.0, 5.0, 2.0
_HUES = ("#3a78c2", *(PALETTE[number] for number in (0, 2, 6, 5, 1, 3)))
"""Colours of the clips of a model, all distinct from blue."""

ROWS_SHOWN = 4
"""Maximum number of rows of the active character that fit without scrolling."""

MOVE, START, END = "move", "start", "end"


@dataclass(slots=True)
class _StripDrag(Drag):
    row: StripRow
    bar: StripBar
    part: str
    press: float


class Tracks(TimeRows[_StripDrag]):
    """Tracks below the ruler: strips of the characters, then cached steps of the simulated nodes.

    Signals:
        edit_started(node, part), edited(node, strip, part, seconds), edit_finished(), edit_cancelled(): The user drags
            a strip, its start or its end ("move", "start" or "end"); the time is the new start or end [s].
        chosen(node): The row of a character was pressed.
        menu_requested(node, strip, global position, time [s]): Strip is -1 outside all strips.
    """

    edit_started = Signal(str, str)
    edited = Signal(str, int, str, float)
    chosen = Signal(str)
    menu_requested = Signal(str, int, object, float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.strips: tuple[StripRow, ...] = ()
        self.bars: tuple[BarRow, ...] = ()
        self.setAccessibleName("Tracks")
        self.setAccessibleDescription("Strips of clips, and cached steps of simulations")

    def set_strips(self, rows: Sequence[StripRow]) -> None:
        """Shows rows of strips; ends the gesture on a strip that no longer exists."""
        if (shown := tuple(rows)) != self.strips:
            self.strips = shown
            held = self._drag and (self._drag.row.node, self._drag.bar.index)
            if held and all((row.node, bar.index) != held for row in shown for bar in row.bars):
                self.end_drag(cancelled=False)
            self.arrange()

    def set_bars(self, rows: Sequence[BarRow]) -> None:
        if (shown := tuple(rows)) != self.bars:
            is_other = len(shown) != len(self.bars)
            self.bars = shown
            self.arrange() if is_other else self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, math.ceil(self.strip_height + self.bar_height) + 2)

    def minimumSizeHint(self) -> QSize:
        rows = min(sum(row.is_active for row in self.strips), ROWS_SHOWN)
        return QSize(160, math.ceil(rows * self.strip_height if rows > 1 else self.bar_height) + 2)

    @property
    def bar_height(self) -> float:
        """Height of a row of cached steps [px]."""
        return math.ceil(QFontMetricsF(small_font(self.font())).height()) + 5.0

    @property
    def strip_height(self) -> float:
        """Height of a row of strips [px]."""
        return self.bar_height + 7.0

    def place_of(self, node: str, index: int) -> QRectF:
        """Returns the place of a strip, by its index among the stored ones."""
        for number, row in enumerate(self.strips):
            for bar in row.bars:
                if (row.node, bar.index) == (node, index):
                    return self._bar_rect(number, bar)
        raise KeyError(node)

    @property
    def row_heights(self) -> tuple[float, float]:
        return self._top(len(self.strips) + len(self.bars)), self.bar_height

    def _top(self, number: int) -> float:
        """Returns the upper edge of a row before scrolling [px]."""
        strips = min(number, len(self.strips))
        return strips * self.strip_height + (number - strips) * self.bar_height

    def _row_at(self, y: float) -> int:
        """Returns the row at `y` [px], which may be beyond the last one."""
        y += self.scroll_bar.value()
        strips = len(self.strips) * self.strip_height
        return int(y // self.strip_height) if y < strips else len(self.strips) + int((y - strips) // self.bar_height)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        palette, role = self.palette(), QPalette.ColorRole
        base, text = palette.color(role.Base), palette.color(role.Text)
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), base)
            painter.setFont(small_font(self.font()))
            for number in range(self._row_at(0.0), len(self.strips) + len(self.bars)):
                area = self._row_rect(number)
                painter.fillRect(QRectF(0.0, area.bottom() - 1.0, area.width(), 1.0), blend(base, text, 0.1))
                if number < len(self.strips):
                    self._paint_strips(painter, number, self.strips[number])
                else:
                    self._paint_bar(painter, area, self.bars[number - len(self.strips)])
            self.paint_playhead(painter)

    def _paint_strips(self, painter: QPainter, number: int, row: StripRow) -> None:
        palette, role = self.palette(), QPalette.ColorRole
        base, text = palette.color(role.Base), palette.color(role.Text)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for bar in row.bars:
            hue = QColor(_HUES[bar.clip % len(_HUES)])
            area = self._bar_rect(number, bar)
            held = self._drag is not None and self._drag.row.node == row.node and self._drag.bar.index == bar.index
            fill = blend(base, hue, 0.62 if held else 0.42 if row.is_active else 0.24)
            painter.setPen(
                QPen(blend(base, hue, 0.9), 1.0, Qt.PenStyle.DashLine if bar.is_layer else Qt.PenStyle.SolidLine)
            )
            painter.setBrush(blend(base, fill, 0.45) if bar.is_layer else fill)
            painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 3.0, 3.0)
            if bar.is_added:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QBrush(blend(base, hue, 0.45), Qt.BrushStyle.BDiagPattern))
                painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 3.0, 3.0)
            self._paint_fades(painter, area, bar, blend(base, hue, 0.9))
            if bar.fade > 0.0:
                left = area.left()
                right = left + self._scale.pixels(bar.fade)
                corners = [QPointF(left, area.top()), QPointF(right, area.top()), QPointF(left, area.bottom())]
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(blend(base, hue, 0.62 if row.is_active else 0.36))
                painter.drawPolygon(QPolygonF(corners))
                painter.setPen(blend(base, hue, 0.9))
                painter.drawLine(corners[1], corners[2])  # crossfade
            self._paint_repeats(painter, area, bar, blend(fill, text, 0.4))
            painter.setPen(text)
            room = area.intersected(QRectF(self.rect())).adjusted(_PADDING + 2.0, 0.0, -_PADDING, 0.0)
            label = f"{row.name}: {bar.text}" if bar.index == row.bars[0].index else bar.text
            shown = painter.fontMetrics().elidedText(label, Qt.TextElideMode.ElideRight, max(int(room.width()), 0))
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_fades(self, painter: QPainter, area: QRectF, bar: StripBar, ink: QColor) -> None:
        """Draws lines from the lower corners to where the strip has its weight."""
        painter.setPen(QPen(ink, 1.5))
        for fade, x, toward in zip(bar.fades, (area.left(), area.right()), (1.0, -1.0), strict=True):
            if fade > 0.0:
                width = min(self._scale.pixels(fade), area.width())
                painter.drawLine(QPointF(x, area.bottom() - 1.0), QPointF(x + toward * width, area.top() + 1.0))

    def _paint_repeats(self, painter: QPainter, area: QRectF, bar: StripBar, ink: QColor) -> None:
        width = self._scale.pixels(bar.length)
        if not 6.0 < width < area.width():
            return
        place = self._scale.x_of(bar.start) + width
        skipped = max(math.floor((area.left() - place) / width), 0)
        place += skipped * width
        while place < min(area.right(), self.width()) - 2.0:
            painter.fillRect(QRectF(round(place), area.top() + 2.0, 1.0, area.height() - 4.0), ink)
            place += width

    def _paint_bar(self, painter: QPainter, area: QRectF, row: BarRow) -> None:
        palette, role = self.palette(), QPalette.ColorRole
        base, text = palette.color(role.Base), palette.color(role.Text)
        line = QRectF(area.left(), area.bottom() - 5.0, area.width(), 4.0)
        for begin, end, cached in row.spans:
            left, right = self._scale.x_of(begin), self._scale.x_of(end)
            span = QRectF(left, line.top(), max(right - left, 1.0), line.height())
            if cached is CacheState.OUTDATED:
                painter.fillRect(span, blend(base, self.colour(cached), 0.4))
                painter.fillRect(span, QBrush(self.colour(cached), Qt.BrushStyle.BDiagPattern))
            else:
                painter.fillRect(span, self.colour(cached))
        painter.setPen(blend(base, text, 0.74))
        baked = " (baked, out of date)" if row.is_outdated else " (baked)" if row.is_baked else ""
        left = max(area.left(), self._scale.x_of(0.0)) + _PADDING + 2.0  # right of a playhead at 0
        room = QRectF(left, area.top(), area.width(), area.height() - 5.0)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, row.name + baked)

    def colour(self, cached: CacheState) -> QColor:
        palette, role = self.palette(), QPalette.ColorRole
        base, text, accent = (palette.color(part) for part in (role.Base, role.Text, role.Highlight))
        return {
            CacheState.CACHED: blend(base, accent, 0.95),
            CacheState.THINNED: blend(base, accent, 0.5),
            CacheState.OLD: blend(base, text, 0.32),
            CacheState.BAKED: QColor("#d39a2d"),
            CacheState.OUTDATED: QColor("#d39a2d"),
            CacheState.STOPPED: QColor("#e0574b"),
        }[cached]

    def _row_rect(self, number: int) -> QRectF:
        top = self._top(number)
        return QRectF(0.0, top - self.scroll_bar.value(), self.width(), self._top(number + 1) - top)

    def _bar_rect(self, number: int, bar: StripBar) -> QRectF:
        row = self._row_rect(number)
        left, right = self._scale.x_of(bar.start), min(self._scale.x_of(bar.end), self.width() + 20.0)
        left = max(left, -20.0)
        return QRectF(left, row.top() + 1.0, max(right - left, 3.0), row.height() - 3.0)

    # Mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._drag is not None:
            return
        hit = self._at(event.position())
        if hit is None:
            return
        row, bar, part = hit
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.chosen.emit(row.node)
        if bar is not None:
            self._drag = _StripDrag(row, bar, part, event.position().x())
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        drag, x = self._drag, event.position().x()
        if drag is None:
            hit = self._at(event.position())
            at_end = hit is not None and hit[1] is not None and hit[2] != MOVE
            self.setCursor(Qt.CursorShape.SizeHorCursor if at_end else Qt.CursorShape.ArrowCursor)
            return
        if not drag.changed and abs(x - drag.press) < _THRESHOLD:
            return
        if not drag.changed:
            drag.changed = True
            self.edit_started.emit(drag.row.node, drag.part)
        before = drag.bar.end if drag.part == END else drag.bar.start
        if not math.isfinite(before):
            before = self._scale.time_of(drag.press)
        time = self.dragged_time(before + (x - drag.press) * self._scale.seconds_per_pixel, event)
        self.edited.emit(drag.row.node, drag.bar.index, drag.part, time)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._request_menu(event.position())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self._request_menu(QPointF(event.pos()))

    def _request_menu(self, place: QPointF) -> None:
        if (hit := self._at(place)) is not None:
            row, bar, _ = hit
            time = snapped(self._scale.time_of(place.x()), self._frame_step)
            on_screen = self.mapToGlobal(place).toPoint()
            self.menu_requested.emit(row.node, bar.index if bar is not None else -1, on_screen, time)

    def tip_at(self, place: QPointF) -> str:
        number = self._row_at(place.y())
        if number < len(self.strips):
            hit = self._at(place)
            bar = hit[1] if hit is not None else None
            if bar is None:
                return self.strips[number].name
            habits = "Drag to move, drag an end to trim or repeat (Ctrl between frames), double click for values"
            endless = "" if math.isfinite(bar.end) else "∞: the clip repeats to the end of the scene\n"
            return f"{self.strips[number].name}: {bar.text}\n{endless}{habits}"
        if number - len(self.strips) >= len(self.bars):
            return ""
        row, time = self.bars[number - len(self.strips)], self._scale.time_of(place.x())
        cached = next((span[2] for span in row.spans if span[0] <= time <= span[1]), None)
        return f"{row.name}: {CACHED_TEXT[cached] if cached is not None else 'not simulated yet'}"

    def _at(self, place: QPointF) -> tuple[StripRow, StripBar | None, str] | None:
        """Returns row, strip and part at a position."""
        number = self._row_at(place.y())
        if not 0 <= number < len(self.strips):
            return None
        row = self.strips[number]
        for bar in reversed(row.bars):
            area = self._bar_rect(number, bar)
            if area.left() - _GRAB <= place.x() <= area.right() + _GRAB:
                at_start = abs(place.x() - area.left()) <= _GRAB
                at_end = math.isfinite(bar.end) and abs(place.x() - area.right()) <= _GRAB
                return row, bar, END if at_end else START if at_start else MOVE
        return row, None, MOVE
