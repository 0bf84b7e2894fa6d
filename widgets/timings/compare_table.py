"""Two recordings beside each other: the figures of a pair, their table, and the list to choose them from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QHeaderView, QMenu, QTreeWidget, QTreeWidgetItem, QWidget

from sim.profile.comparison import RecordingComparison, compare, verdict
from sim.profile.history import Float64, Quantity, TimingRecording, source_text
from widgets.parts import plain_list
from widgets.theme import icon
from widgets.timings.choice import Level
from widgets.timings.frames import ALL, TOTAL, FrameTable, statistics_of, values_of
from widgets.timings.texts import CPU_SOURCE, DASH, milliseconds

_PATH_ROLE = Qt.ItemDataRole.UserRole
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_HEADINGS = ("Pass", "A ms", "B ms", "B − A", "95 % CI")
_DIFFERENCE = 3
_TIPS = (
    "Click a row to see the distributions of its times.",
    "Median of A [ms].",
    "Median of B [ms].",
    "Difference of the medians [ms]; bold where it is more than chance.",
    "Interval that holds the true difference with 95 % confidence [ms], by block bootstrap.",
)
_PENDING = "…"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two recordings, and which of their times are compared."""

    # a, b: The recordings
    a: TimingRecording
    b: TimingRecording
    quantity: Quantity  # Which times
    level: Level  # How far groups are taken apart

    def paths(self) -> list[str]:
        """The total and every band of either recording."""
        found = dict.fromkeys([TOTAL])
        for one in (self.a, self.b):
            figures = statistics_of(FrameTable(one.history), self.level, self.quantity, ALL)
            found |= dict.fromkeys(row.path for row in figures.rows)
        return list(found)

    def times(self, path: str) -> tuple[Float64, Float64]:
        """Times of a band in both recordings [s]; 0 where it did not run."""
        a, b = (values_of(FrameTable(one.history), self.level, path, self.quantity, ALL) for one in (self.a, self.b))
        return a, b

    def compared(self, path: str) -> RecordingComparison:
        """Medians of a band, and how sure their difference is."""
        return compare(*self.times(path))

    def sentence(self, found: RecordingComparison) -> str:
        return verdict(found, self.a.name, self.b.name)

    def caution(self) -> str:
        """Why the two may not be comparable; "" where they are."""
        if self.quantity is Quantity.GPU and source_text(self.a.samples) != source_text(self.b.samples):
            return f"Different sources: {source_text(self.a.samples)} against {source_text(self.b.samples)}."
        if self.a.status.renderer != self.b.status.renderer:
            return f"Different renderers: {self.a.status.renderer} against {self.b.status.renderer}."
        if self.a.status.vsync != self.b.status.vsync:
            return f"Vsync was {self.a.status.vsync.value} for one and {self.b.status.vsync.value} for the other."
        return ""

    def source(self) -> str:
        return source_text(self.a.samples) if self.quantity is Quantity.GPU else CPU_SOURCE


class CompareTable(QTreeWidget):
    """Rows come without figures, which are filled in one by one."""

    path_chosen = Signal(str)  # Path of the pass in the current row

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        prepare_list(self, _HEADINGS, "Medians of every pass")
        for column, tip in enumerate(_TIPS):
            self.headerItem().setToolTip(column, tip)
            if column:
                self.headerItem().setTextAlignment(column, _RIGHT)
        self.currentItemChanged.connect(self._report)
        self._items: dict[str, QTreeWidgetItem] = {}

    def set_paths(self, paths: Sequence[str]) -> None:
        """Starts anew with these passes; "" is the total."""
        with QSignalBlocker(self):
            self.clear()
        self._items = {}
        for path in paths:
            item = QTreeWidgetItem([path or "Total", *[_PENDING] * (len(_HEADINGS) - 1)])
            item.setData(0, _PATH_ROLE, path)
            for column in range(1, len(_HEADINGS)):
                item.setTextAlignment(column, _RIGHT)
            self._items[path] = item
            self.addTopLevelItem(item)

    def fill(self, path: str, found: RecordingComparison, pair: Pair) -> None:
        item = self._items[path]
        texts = (
            milliseconds(found.median_a),
            milliseconds(found.median_b),
            _signed(found.difference),
            DASH if math.isnan(found.lo) else f"{_signed(found.lo)} to {_signed(found.hi)}",
        )
        for column, text in enumerate(texts, 1):
            item.setText(column, text)
            item.setToolTip(column, f"{pair.sentence(found)}\nSource: {pair.source()}.")
        font = item.font(_DIFFERENCE)
        font.setBold(found.is_significant)
        item.setFont(_DIFFERENCE, font)

    def choose(self, path: str) -> None:
        """Makes a pass current, without telling of it."""
        if path in self._items:
            with QSignalBlocker(self):
                self.setCurrentItem(self._items[path])
            self.viewport().update()

    def _report(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            self.path_chosen.emit(item.data(0, _PATH_ROLE))


def prepare_list(tree: QTreeWidget, headings: Sequence[str], name: str) -> None:
    tree.setHeaderLabels(list(headings))
    plain_list(tree, name)
    for column in range(len(headings)):
        tree.header().setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
    tree.setMinimumWidth(120)


def _signed(seconds: float) -> str:
    if math.isnan(seconds):
        return DASH
    return ("+" if seconds >= 0.0 else "−") + milliseconds(abs(seconds))


class RecordingList(QTreeWidget):
    """Names with length and source; what can be done with one is in its menu."""

    # a_chosen, b_chosen: Name of a recording to compare
    a_chosen = Signal(str)
    b_chosen = Signal(str)
    remove_requested = Signal(str)  # Name of a recording to forget
    # export_csv_requested, export_trace_requested: The current recording is to be written
    export_csv_requested = Signal()
    export_trace_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        prepare_list(self, ("TimingRecording", "FrameTable"), "Recordings")

    def set_recordings(self, recordings: Sequence[TimingRecording]) -> None:
        """Lists these; the current one stays so if it is among them."""
        before = self.current()
        self.clear()
        for one in recordings:
            item = _row_of(one)
            self.addTopLevelItem(item)
            if one.name == before:
                self.setCurrentItem(item)

    def current(self) -> str:
        item = self.currentItem()
        return item.text(0) if item is not None else ""

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.itemAt(event.pos()) is not None:
            self.menu().popup(event.globalPos())

    def menu(self) -> QMenu:
        menu, name = QMenu(self), self.current()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.addAction("Use as A").triggered.connect(lambda: self.a_chosen.emit(name))
        menu.addAction("Use as B").triggered.connect(lambda: self.b_chosen.emit(name))
        menu.addSeparator()
        menu.addAction(icon("save"), "Export CSV…").triggered.connect(self.export_csv_requested)
        menu.addAction(icon("save"), "Export Chrome Trace…").triggered.connect(self.export_trace_requested)
        menu.addSeparator()
        menu.addAction(icon("delete"), "Forget").triggered.connect(lambda: self.remove_requested.emit(name))
        menu.setEnabled(bool(name))
        return menu


def _row_of(recording: TimingRecording) -> QTreeWidgetItem:
    item = QTreeWidgetItem([recording.name, recording.summary])
    origin = f"\nImported from {recording.origin}" if recording.origin else ""
    for column in (0, 1):
        item.setToolTip(column, f"{recording.name}\n{recording.summary}{origin}\nRight click for more.")
    return item
