"""Dope sheet: the keys of animated settings on the time scale of the timeline."""

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFontMetricsF,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
)
from PySide6.QtWidgets import QMenu, QWidget

from sinew.sim.scene.curves import Curve, Key, KeyMode
from sinew.widgets.inspector.keys import KeyState, key_colour, paint_diamond
from sinew.widgets.theme import blend
from sinew.widgets.timeline.ruler_paint import small_font
from sinew.widgets.timeline.ruler_scale import snapped
from sinew.widgets.timeline.time_view import Drag, TimeRows

KeyId = tuple[str, tuple[str, str, int], float]
"""A node, the address of one of its curves, and the time of a key [s]."""

MODES = {
    KeyMode.STEP: "Constant",
    KeyMode.LINEAR: "Linear",
    KeyMode.HERMITE: "Smooth Curve",
    KeyMode.QUADRATIC: "Ease In, Quadratic",
    KeyMode.EXPONENTIAL: "Ease In, Exponential",
    KeyMode.SMOOTH: "Ease In and Out",
}
_RADIUS, _REACH, _THRESHOLD, _ROWS_MIN, _ROWS_MAX = 4.5, 7.0, 3.0, 3, 6
_TIP = (
    "Drag to move (Ctrl between frames, Alt scales about the playhead), drag beside keys to select,"
    " Delete removes, Ctrl+C and Ctrl+V copy to the playhead"
)


@dataclass(frozen=True, slots=True)
class KeyRow:
    """Row with the curves of one setting, or of all settings of a node."""

    node: str
    name: str
    curves: tuple[Curve, ...]
    is_summary: bool = False

    def all_keys(self) -> Iterator[tuple[KeyId, Key]]:
        for curve in self.curves:
            for key in curve.keys:
                yield (self.node, curve.address, key.time), key


def moved_keys(keys: Mapping[KeyId, Key], by: float) -> dict[KeyId, Key]:
    return {one: msgspec.structs.replace(key, time=key.time + by) for one, key in keys.items()}


def scaled_keys(keys: Mapping[KeyId, Key], about: float, factor: float) -> dict[KeyId, Key]:
    """Returns keys scaled in time; slopes that the user chose keep the shape of the curve."""

    def scaled(key: Key) -> Key:
        slopes = (None if slope is None else slope / factor for slope in (key.slope_in, key.slope_out))
        return Key(about + (key.time - about) * factor, key.value, key.mode, *slopes)

    return {one: scaled(key) for one, key in keys.items()}


@dataclass(slots=True)
class _KeyDrag(Drag):
    press: QPointF
    keys: dict[KeyId, Key]  # Empty while a box is drawn
    anchor: float = 0.0  # Time of the pressed key [s]
    former: frozenset[KeyId] = frozenset()  # Selected before a box


class KeySheet(TimeRows[_KeyDrag]):
    """Dope sheet.

    Signals:
        edit_started(text), edited(keys), edit_finished(), edit_cancelled(): The user changes keys; `edited` carries
            new keys, or None for removed ones, by the ids at the start of the gesture.
        chosen(node): A row was pressed.
    """

    edit_started = Signal(str)
    edited = Signal(object)
    chosen = Signal(str)
    row_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[KeyRow, ...] = ()
        self.selected: frozenset[KeyId] = frozenset()
        self.active = 0  # Number of the row that was pressed last
        self._box: QRectF | None = None
        self._copied: dict[KeyId, Key] = {}
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Dope sheet")
        self.setAccessibleDescription("Keys of animated settings")
        self.setToolTip(_TIP)
        self.hide()

    def set_rows(self, rows: Sequence[KeyRow]) -> None:
        if (shown := tuple(rows)) == self.rows:
            return
        self.rows = shown
        known = frozenset(one for row in shown for one, _ in row.all_keys())
        if self._drag is None:
            self.selected &= known
        self.active = min(self.active, max(len(shown) - 1, 0))
        self.setVisible(bool(shown))
        self.arrange()
        self.row_changed.emit()

    def select(self, keys: Iterable[KeyId]) -> None:
        self.selected = frozenset(keys)
        self.update()
        self.row_changed.emit()

    def activate(self, node: str) -> None:
        """Makes the first row of a node active unless one of its rows is."""
        row = self.active_row
        found = next((number for number, row in enumerate(self.rows) if row.node == node), None)
        if row is not None and row.node != node and found is not None:
            self.active = found
            self.update()
            self.row_changed.emit()

    @property
    def active_row(self) -> KeyRow | None:
        return self.rows[self.active] if self.rows else None

    def place_of(self, row: int, time: float) -> QPointF:
        return QPointF(self._scale.x_of(time), self._rect(row).center().y())

    def sizeHint(self) -> QSize:
        return QSize(160, math.ceil(self._row_height * min(len(self.rows), _ROWS_MAX)) + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, math.ceil(self._row_height * min(len(self.rows), _ROWS_MIN)) + 2)

    @property
    def row_heights(self) -> tuple[float, float]:
        return len(self.rows) * self._row_height, self._row_height

    @property
    def _row_height(self) -> float:
        return math.ceil(QFontMetricsF(small_font(self.font())).height()) + 6.0

    def _rect(self, row: int) -> QRectF:
        return QRectF(0.0, row * self._row_height - self.scroll_bar.value(), self.width(), self._row_height)

    def _row_at(self, y: float) -> int:
        return int((y + self.scroll_bar.value()) // self._row_height)

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        palette, role = self.palette(), QPalette.ColorRole
        base, text, accent = (palette.color(part) for part in (role.Base, role.Text, role.Highlight))
        line = blend(base, text, 0.55)
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), base)
            painter.setFont(small_font(self.font()))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for number, row in enumerate(self.rows):
                area = self._rect(number)
                if row.is_summary:
                    painter.fillRect(area, blend(base, text, 0.07))
                if number == self.active:
                    painter.fillRect(area, blend(base, accent, 0.18))
                painter.fillRect(QRectF(0.0, area.bottom() - 1.0, area.width(), 1.0), blend(base, text, 0.1))
                for one, key in row.all_keys():
                    centre = self.place_of(number, key.time)
                    if -_RADIUS < centre.x() < self.width() + _RADIUS:
                        is_chosen = one in self.selected
                        fill = key_colour(KeyState.KEY) if is_chosen else blend(base, text, 0.62)
                        paint_diamond(painter, centre, _RADIUS, fill, text if is_chosen else line)
            self._paint_names(painter, base, text)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            self.paint_playhead(painter)
            if self._box is not None:
                painter.setPen(QPen(text, 1.0, Qt.PenStyle.DashLine))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(self._box)

    def _paint_names(self, painter: QPainter, base: QColor, text: QColor) -> None:
        """Paints names at the right, because most scenes have keys at their start."""
        right = self.width() - (self.scroll_bar.width() if self.scroll_bar.isVisible() else 0) - 6.0
        for number, row in enumerate(self.rows):
            area, width = self._rect(number), painter.fontMetrics().horizontalAdvance(row.name) + 8.0
            chip = QRectF(right - width, area.top() + 1.0, width, area.height() - 3.0)
            painter.fillRect(chip, blend(base, text, 0.16 if row.is_summary else 0.08))
            painter.setPen(blend(base, text, 0.95 if row.is_summary else 0.75))
            painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, row.name)

    # Keys

    def keys_at(self, place: QPointF) -> list[KeyId]:
        """Returns the keys of one moment of the row at a position."""
        number = self._row_at(place.y())
        if not 0 <= number < len(self.rows):
            return []
        near = [(abs(self._scale.x_of(key.time) - place.x()), one) for one, key in self.rows[number].all_keys()]
        nearest = min(near, default=(math.inf, None))
        return [one for distance, one in near if distance <= min(nearest[0] + 0.5, _REACH)]

    def _chosen_keys(self) -> dict[KeyId, Key]:
        return {one: key for row in self.rows for one, key in row.all_keys() if one in self.selected}

    def _change(self, text: str, keys: Mapping[KeyId, Key | None]) -> None:
        """Emits one edit by itself."""
        if keys:
            self.edit_started.emit(text)
            self.edited.emit(dict(keys))
            self.edit_finished.emit()

    def delete_selected(self) -> None:
        self._change("Delete keys", dict.fromkeys(self._chosen_keys()))

    def set_mode(self, mode: KeyMode) -> None:
        """Sets the interpolation from the selected keys of numbers to the next ones."""
        keys = {
            one: msgspec.structs.replace(key, mode=mode)
            for one, key in self._chosen_keys().items()
            if not isinstance(key.value, bool | str)
        }
        self._change("Set interpolation", keys)

    def set_slopes(self, slope: float | None) -> None:
        """Sets the slopes at the selected keys; None chooses slopes without overshoot."""
        keys = self._chosen_keys().items()
        self._change(
            "Set slopes", {one: msgspec.structs.replace(key, slope_in=slope, slope_out=slope) for one, key in keys}
        )

    def copy_selected(self) -> None:
        self._copied = self._chosen_keys()

    def paste(self) -> None:
        """Pastes: the first copied key arrives at the playhead; the pasted keys are selected."""
        if not self._copied:
            return
        by = self._frame(self._time) - min(key.time for key in self._copied.values())
        moved = moved_keys(self._copied, by)
        pasted = {(node, address, key.time): key for (node, address, _), key in moved.items()}
        self._change("Paste keys", pasted)
        self.select(pasted)

    def _frame(self, time: float) -> float:
        frame = snapped(time, self._frame_step)
        return frame if abs(frame - time) < 1e-3 else time

    def fill_menu(self, menu: QMenu) -> None:
        has_keys = bool(self._chosen_keys())
        entries = (
            ("Delete", "Del", self.delete_selected, has_keys),
            ("Copy", "Ctrl+C", self.copy_selected, has_keys),
            ("Paste", "Ctrl+V", self.paste, bool(self._copied)),
            ("Select All", "Ctrl+A", self.select_all, bool(self.rows)),
        )
        for text, keys, act, is_enabled in entries:
            action = menu.addAction(text)
            action.setShortcut(QKeySequence(keys))
            action.setEnabled(is_enabled)
            action.triggered.connect(lambda _=False, act=act: act())
        interpolation, slopes = menu.addMenu("Interpolation"), menu.addMenu("Slopes")
        for mode, text in MODES.items():
            interpolation.addAction(text, functools.partial(self.set_mode, mode))
        slopes.addAction("Automatic", lambda: self.set_slopes(None))
        slopes.addAction("Flat", lambda: self.set_slopes(0.0))
        interpolation.setEnabled(has_keys)
        slopes.setEnabled(has_keys)

    def select_all(self) -> None:
        self.select(one for row in self.rows for one, _ in row.all_keys())

    # Mouse and keyboard

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._drag is not None:
            return
        place, hit = event.position(), self.keys_at(event.position())
        is_added = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        number = self._row_at(place.y())
        if 0 <= number < len(self.rows):
            self.active = number
            self.chosen.emit(self.rows[number].node)
        if not hit:
            self._drag = _KeyDrag(place, {}, former=self.selected if is_added else frozenset())
            self.select(self._drag.former)
            return
        if is_added:
            self.select(self.selected - set(hit) if self.selected.issuperset(hit) else self.selected | set(hit))
        elif not self.selected.issuperset(hit):
            self.select(hit)
        self.row_changed.emit()
        self._drag = _KeyDrag(place, self._chosen_keys(), hit[0][2])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        drag, place = self._drag, event.position()
        if drag is None:
            self.setCursor(Qt.CursorShape.SizeHorCursor if self.keys_at(place) else Qt.CursorShape.ArrowCursor)
            return
        is_begun = drag.changed or self._box is not None
        if not is_begun and (place - drag.press).manhattanLength() < _THRESHOLD:
            return
        if not drag.keys:
            self._box = QRectF(drag.press, place).normalized()
            self.select(drag.former | self._within(self._box))
            return
        if not drag.changed:
            drag.changed = True
            self.edit_started.emit("Move keys")
        time = drag.anchor + (place.x() - drag.press.x()) * self._scale.seconds_per_pixel
        time = self.dragged_time(time, event)
        about = self._frame(self._time)
        if event.modifiers() & Qt.KeyboardModifier.AltModifier and drag.anchor != about and time != about:
            moved = scaled_keys(drag.keys, about, (time - about) / (drag.anchor - about))
        else:
            moved = moved_keys(drag.keys, time - drag.anchor)
        self.edited.emit(moved)
        self.select((node, address, key.time) for (node, address, _), key in moved.items())

    def _within(self, box: QRectF) -> frozenset[KeyId]:
        rows = enumerate(self.rows)
        return frozenset(
            one for number, row in rows for one, key in row.all_keys() if box.contains(self.place_of(number, key.time))
        )

    def end_drag(self, cancelled: bool) -> None:
        drag, self._box = self._drag, None
        super().end_drag(cancelled)
        if cancelled and drag is not None and drag.changed:
            self.select(drag.keys)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        hit = self.keys_at(QPointF(event.pos()))
        if hit and not self.selected.issuperset(hit):
            self.select(hit)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.fill_menu(menu)
        menu.popup(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        act = self._act_of(event)
        if act is not None:
            act()
        else:
            super().keyPressEvent(event)

    def _act_of(self, event: QKeyEvent) -> Callable[[], None] | None:
        for standard, act in (
            (QKeySequence.StandardKey.Copy, self.copy_selected),
            (QKeySequence.StandardKey.Paste, self.paste),
            (QKeySequence.StandardKey.SelectAll, self.select_all),
            (QKeySequence.StandardKey.Delete, self.delete_selected),
        ):
            if event.matches(standard):
                return act
        return None

    def claims(self, event: QKeyEvent) -> bool:
        return super().claims(event) or self._act_of(event) is not None

    def tip_at(self, place: QPointF) -> str:
        number = self._row_at(place.y())
        return f"{self.rows[number].name}\n{_TIP}" if 0 <= number < len(self.rows) else ""
