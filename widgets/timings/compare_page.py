import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QPalette
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from sinew.sim.maths.arrays import Float64
from sinew.sim.profile.comparison import RecordingComparison, compare, verdict
from sinew.sim.profile.history import Quantity, TimingRecording, source_text
from sinew.widgets.icons import icon
from sinew.widgets.parts import EmptyState, FlowRow, Pages, ShareSplitter, choice_box, packed, plain_list, text_label
from sinew.widgets.texts import label_text
from sinew.widgets.theme import SPACE, colours, is_dark
from sinew.widgets.timings.distribution_plot import DistributionPlot, Series
from sinew.widgets.timings.frames import ALL, TOTAL, FrameTable, Level, statistics_of, values_of
from sinew.widgets.timings.pass_table import PassList
from sinew.widgets.timings.texts import CPU_SOURCE, DASH, SEPARATOR_DOT, milliseconds

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
    a: TimingRecording
    b: TimingRecording
    quantity: Quantity
    level: Level

    def paths(self) -> list[str]:
        """Returns the total, then every band of either recording."""
        paths = dict.fromkeys([TOTAL])
        for recording in (self.a, self.b):
            statistics = statistics_of(FrameTable(recording.history), self.level, self.quantity, ALL)
            paths |= dict.fromkeys(row.path for row in statistics.rows)
        return list(paths)

    def times(self, path: str) -> tuple[Float64, Float64]:
        """Returns the times of a band in both recordings [s]; 0 where it did not run."""
        tables = [FrameTable(recording.history) for recording in (self.a, self.b)]
        a, b = (values_of(table, self.level, path, self.quantity, ALL) for table in tables)
        return a, b

    def sentence(self, comparison: RecordingComparison) -> str:
        return verdict(comparison, self.a.name, self.b.name)

    def caution(self) -> str:
        """Returns why the recordings may not be comparable; "" if they are."""
        if self.quantity is Quantity.GPU and source_text(self.a.samples) != source_text(self.b.samples):
            return f"Different sources: {source_text(self.a.samples)} against {source_text(self.b.samples)}."
        if self.a.status.renderer != self.b.status.renderer:
            return f"Different renderers: {self.a.status.renderer} against {self.b.status.renderer}."
        if self.a.status.vsync != self.b.status.vsync:
            return f"Vsync was {self.a.status.vsync.value} for one and {self.b.status.vsync.value} for the other."
        return ""

    def source(self) -> str:
        return source_text(self.a.samples) if self.quantity is Quantity.GPU else CPU_SOURCE


class CompareTable(PassList):
    """Table of compared passes; rows are added first and filled one by one."""

    path_chosen = Signal(str)  # Path of the pass in the current row

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_HEADINGS, "Medians of every pass", parent)
        self.setMinimumWidth(120)
        for column, tip in enumerate(_TIPS):
            self.headerItem().setToolTip(column, tip)
        self.currentItemChanged.connect(self._choose)

    def _choose(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            self.path_chosen.emit(self.path_of(item))

    def set_paths(self, paths: Sequence[str]) -> None:
        self.set_passes({path: path or "Total" for path in paths})
        for path in paths:
            self.fill(path, [_PENDING] * (len(_HEADINGS) - 1), "")

    def show_comparison(self, path: str, comparison: RecordingComparison, pair: Pair) -> None:
        texts = (
            milliseconds(comparison.median_a),
            milliseconds(comparison.median_b),
            _signed(comparison.difference),
            DASH if math.isnan(comparison.lo) else f"{_signed(comparison.lo)} to {_signed(comparison.hi)}",
        )
        self.fill(path, texts, f"{pair.sentence(comparison)}\nSource: {pair.source()}.")
        item = self.items_by_path[path]
        font = item.font(_DIFFERENCE)
        font.setBold(comparison.is_significant)
        item.setFont(_DIFFERENCE, font)

    def choose(self, path: str) -> None:
        """Selects a pass without emitting a signal."""
        if path in self.items_by_path:
            with QSignalBlocker(self):
                self.setCurrentItem(self.items_by_path[path])
            self.viewport().update()


def _signed(seconds: float) -> str:
    if math.isnan(seconds):
        return DASH
    return ("+" if seconds >= 0.0 else "−") + milliseconds(abs(seconds))


class RecordingList(QTreeWidget):
    """Names of recordings with length and source, and a context menu."""

    a_chosen = Signal(str)  # Name of a recording
    b_chosen = Signal(str)
    remove_requested = Signal(str)  # Name of a recording
    export_csv_requested = Signal()  # Of the selected recording
    export_trace_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setHeaderLabels(["Recording", "Frames"])
        plain_list(self, "Recordings")
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.setMinimumWidth(120)

    def set_recordings(self, recordings: Sequence[TimingRecording]) -> None:
        before = self.current()
        self.clear()
        for recording in recordings:
            item = QTreeWidgetItem(self, [recording.name, recording.summary])
            origin = f"\nImported from {recording.origin}" if recording.origin else ""
            for column in (0, 1):
                item.setToolTip(column, f"{recording.name}\n{recording.summary}{origin}\nRight click for more.")
            if recording.name == before:
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
        menu.addAction(icon("delete"), "Remove").triggered.connect(lambda: self.remove_requested.emit(name))
        menu.setEnabled(bool(name))
        return menu


# Blue and orange are distinct for colour-blind eyes (Okabe and Ito 2008); on dark and on light background.
_A_COLOUR, _B_COLOUR = ("#56b4e9", "#0072b2"), ("#e69f00", "#b37700")


class ComparePage(QWidget):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.recordings: tuple[TimingRecording, ...] = ()
        self.pair: Pair | None = None
        self.comparisons: dict[str, RecordingComparison] = {}
        self._pending: list[str] = []
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._compare_next)
        self.a_box, self.b_box = self._box("Recording A"), self._box("Recording B")
        self.quantity_box = self._box("Which times", [(quantity.name, quantity) for quantity in Quantity])
        self.level_box = self._box("Detail of the stack", [(level.label, level) for level in Level])
        self.pass_box = self._box("Pass of the histogram")
        self.empty = EmptyState(
            "compare",
            "No recordings yet",
            "Make two recordings with a change between them, or import a CSV file; then choose A and B here.",
            self,
        )
        self.list, self.table = RecordingList(self), CompareTable(self)
        self.sentence, self.caution = text_label(copied=True), text_label(copied=True)
        for label in (self.sentence, self.caution):
            label.setContentsMargins(SPACE, 0, SPACE, 0)
        self.plot = DistributionPlot(self)
        row = FlowRow(self)
        for text, box in (("A", self.a_box), ("B", self.b_box)):
            row.add(_tag(text, box))
        for box in (self.quantity_box, self.level_box, self.pass_box):
            row.add(box)
        middle = QWidget(self)
        packed(QVBoxLayout(middle), self.sentence, self.caution, (self.plot, 1))
        self.splitter = ShareSplitter([(self.list, 2), (middle, 5), (self.table, 4)], self)
        page = QWidget(self)
        packed(QVBoxLayout(page), row, (self.splitter, 1))
        self._stack = Pages(self.empty, page)
        packed(QVBoxLayout(self), self._stack)
        self._connect()

    # --- recordings -----------------------------------------------------------------------------------

    def set_recordings(self, recordings: Sequence[TimingRecording]) -> None:
        """Shows recordings; selects the newest ones where the selection no longer exists."""
        self.recordings = tuple(recordings)
        names = [recording.name for recording in recordings]
        for box, back in ((self.a_box, 2), (self.b_box, 1)):
            before = box.currentText()
            with QSignalBlocker(box):
                box.clear()
                box.addItems(names)
                box.setCurrentIndex(names.index(before) if before in names else max(len(names) - back, 0))
        if len(names) > 1 and self.a_box.currentIndex() == self.b_box.currentIndex():
            with QSignalBlocker(self.b_box):
                self.b_box.setCurrentIndex(len(names) - 1 if self.a_box.currentIndex() < len(names) - 1 else 0)
        self.list.set_recordings(recordings)
        self._stack.setCurrentIndex(0 if not recordings else 1)
        self._compare()

    def choose(self, a: str, b: str) -> None:
        with QSignalBlocker(self.a_box):
            self.a_box.setCurrentText(a)
        with QSignalBlocker(self.b_box):
            self.b_box.setCurrentText(b)
        self._compare()

    @property
    def chosen(self) -> TimingRecording | None:
        """The recording selected in the list, else B."""
        name = self.list.current() or self.b_box.currentText()
        return next((recording for recording in self.recordings if recording.name == name), None)

    # --- comparing ------------------------------------------------------------------------------------

    def _compare(self) -> None:
        """Shows the selected pass at once and fills the table row by row from a timer."""
        a, b = (self._chosen(box) for box in (self.a_box, self.b_box))
        self.pair = None
        self.comparisons = {}
        if a is None or b is None:
            return
        self.pair = Pair(a, b, self.quantity_box.currentData(), self.level_box.currentData())
        paths = self.pair.paths()
        before = self.pass_box.currentData() or TOTAL
        with QSignalBlocker(self.pass_box):
            self.pass_box.clear()
            for path in paths:
                self.pass_box.addItem(label_text(path) or "Total", path)
            self.pass_box.setCurrentIndex(paths.index(before) if before in paths else 0)
        self.table.set_paths(paths)
        self._show_pass()
        self._pending = [path for path in paths if path not in self.comparisons]
        self._timer.start()

    def _chosen(self, box: QComboBox) -> TimingRecording | None:
        index = box.currentIndex()
        return self.recordings[index] if 0 <= index < len(self.recordings) else None

    def _compare_next(self) -> None:
        if self.pair is None or not self._pending:
            self._timer.stop()
            return
        self._compared(self._pending.pop(0))

    def _compared(self, path: str) -> RecordingComparison:
        assert self.pair is not None
        if path not in self.comparisons:
            self.comparisons[path] = compare(*self.pair.times(path))
            self.table.show_comparison(path, self.comparisons[path], self.pair)
        return self.comparisons[path]

    def _show_pass(self) -> None:
        pair, path = self.pair, self.pass_box.currentData() or TOTAL
        if pair is None:
            return
        if pair.a is pair.b:
            self.sentence.setText("A and B are the same recording; choose a different B.")
        else:
            self.sentence.setText(f"{label_text(path) or 'Total'}: {pair.sentence(self._compared(path))}.")
        self.caution.setText(pair.caution())
        self.caution.setVisible(bool(pair.caution()))
        a, b = pair.times(path)
        shade = 0 if is_dark() else 1
        self.plot.show_series(
            (
                Series(pair.a.name, a, QColor(_A_COLOUR[shade])),
                Series(pair.b.name, b, QColor(_B_COLOUR[shade])),
            )
        )
        title = f"Frames [%] over {pair.quantity.name} [ms]"
        self.plot.header.set_title(SEPARATOR_DOT.join((title, pair.source())))
        self.plot.setToolTip(f"{title}, source: {pair.source()}.\nDashed: the medians, and 16.7 and 33.3 ms.")
        self.table.choose(path)

    # --- parts ----------------------------------------------------------------------------------------

    def _box(self, name: str, entries: Sequence[tuple[str, object]] = ()) -> QComboBox:
        box = choice_box(name, entries)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        box.setMaximumWidth(self.fontMetrics().averageCharWidth() * 30)
        return box

    def _connect(self) -> None:
        for box in (self.a_box, self.b_box, self.quantity_box, self.level_box):
            box.currentIndexChanged.connect(lambda _: self._compare())
        self.level_box.setCurrentIndex(self.level_box.findData(Level.KINDS))
        self.pass_box.currentIndexChanged.connect(lambda _: self._show_pass())
        self.table.path_chosen.connect(lambda path: self.pass_box.setCurrentIndex(self.pass_box.findData(path)))
        self.list.a_chosen.connect(self.a_box.setCurrentText)
        self.list.b_chosen.connect(self.b_box.setCurrentText)
        palette = self.caution.palette()
        palette.setColor(QPalette.ColorRole.WindowText, QColor(colours().warning))
        self.caution.setPalette(palette)


def _tag(text: str, box: QComboBox) -> QWidget:
    pair = QWidget()
    packed(QHBoxLayout(pair), QLabel(text), box, spacing=SPACE)
    return pair
