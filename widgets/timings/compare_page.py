"""Two recordings against each other: distributions, medians, and whether their difference is more than chance."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from sim.profile.comparison import RecordingComparison
from sim.profile.history import Quantity, TimingRecording
from widgets.empty_state import EmptyState
from widgets.parts import FlowRow, Pages, ShareSplitter, packed
from widgets.shown import label_text
from widgets.theme import SPACE, colours, is_dark
from widgets.timings.choice import Level
from widgets.timings.compare_table import CompareTable, Pair, RecordingList
from widgets.timings.distribution_plot import DistributionPlot, Series
from widgets.timings.frames import TOTAL
from widgets.timings.texts import SEPARATOR_DOT

# Blue and orange are told apart by every eye (Okabe and Ito 2008); for dark and for light ground.
_A_COLOUR, _B_COLOUR = ("#56b4e9", "#0072b2"), ("#e69f00", "#b37700")


class ComparePage(QWidget):
    """Chooses A and B among the recordings and shows them."""

    remove_requested = Signal(str)  # Name of a recording to forget

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.recordings: tuple[TimingRecording, ...] = ()
        self.pair: Pair | None = None
        self.comparisons: dict[str, RecordingComparison] = {}
        self._pending: list[str] = []
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._compare_next)
        self.a_box, self.b_box = self._box("TimingRecording A"), self._box("TimingRecording B")
        self.quantity_box = self._box("Which times", [(one.name, one) for one in Quantity])
        self.level_box = self._box("How far groups are taken apart", [(one.label, one) for one in Level])
        self.pass_box = self._box("Pass whose distributions are shown")
        self.empty = EmptyState(
            "compare",
            "Nothing to compare yet",
            "Record twice with a change between, or import a CSV file: then choose A and B here.",
            self,
        )
        self.list, self.table = RecordingList(self), CompareTable(self)
        self.sentence = _words()
        self.caution = _words()
        self.plot = DistributionPlot(self)
        self._arrange()
        self._connect()

    # --- recordings -----------------------------------------------------------------------------------

    def set_recordings(self, recordings: Sequence[TimingRecording]) -> None:
        """Offers these; the newest ones are chosen where the choice is gone or was never made."""
        self.recordings = tuple(recordings)
        names = [one.name for one in recordings]
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
        """Compares the recordings of these names."""
        with QSignalBlocker(self.a_box):
            self.a_box.setCurrentText(a)
        with QSignalBlocker(self.b_box):
            self.b_box.setCurrentText(b)
        self._compare()

    @property
    def chosen(self) -> TimingRecording | None:
        """The current one of the list, else B."""
        name = self.list.current() or self.b_box.currentText()
        return next((one for one in self.recordings if one.name == name), None)

    # --- comparing ------------------------------------------------------------------------------------

    def _compare(self) -> None:
        """Starts anew: what is shown at once, the rows of the table one after the other, so that nothing waits."""
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
            self.comparisons[path] = self.pair.compared(path)
            self.table.fill(path, self.comparisons[path], self.pair)
        return self.comparisons[path]

    def _show_pass(self) -> None:
        """Distributions and sentence of the chosen pass."""
        pair, path = self.pair, self.pass_box.currentData() or TOTAL
        if pair is None:
            return
        if pair.a is pair.b:
            self.sentence.setText("A and B are the same recording; choose another one for B.")
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
        box = QComboBox(self)
        for text, data in entries:
            box.addItem(text, data)
        box.setAccessibleName(name)
        box.setToolTip(name)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        box.setMaximumWidth(self.fontMetrics().averageCharWidth() * 30)
        return box

    def _arrange(self) -> None:
        row = FlowRow(self)
        for text, box in (("A", self.a_box), ("B", self.b_box)):
            row.add(_tag(text, box))
        for box in (self.quantity_box, self.level_box, self.pass_box):
            row.add(box)
        middle = QWidget(self)
        packed(QVBoxLayout(middle), self.sentence, self.caution, (self.plot, 1))
        self.splitter = ShareSplitter([(self.list, 2), (middle, 5), (self.table, 4)], 1, self)
        page = QWidget(self)
        packed(QVBoxLayout(page), row, (self.splitter, 1))
        self._stack = Pages(self.empty, page)
        packed(QVBoxLayout(self), self._stack)

    def _connect(self) -> None:
        for box in (self.a_box, self.b_box, self.quantity_box, self.level_box):
            box.currentIndexChanged.connect(lambda _: self._compare())
        self.level_box.setCurrentIndex(self.level_box.findData(Level.KINDS))
        self.pass_box.currentIndexChanged.connect(lambda _: self._show_pass())
        self.table.path_chosen.connect(lambda path: self.pass_box.setCurrentIndex(self.pass_box.findData(path)))
        self.list.a_chosen.connect(self.a_box.setCurrentText)
        self.list.b_chosen.connect(self.b_box.setCurrentText)
        self.list.remove_requested.connect(self.remove_requested)
        palette = self.caution.palette()
        palette.setColor(QPalette.ColorRole.WindowText, QColor(colours().warning))
        self.caution.setPalette(palette)


def _tag(text: str, box: QComboBox) -> QWidget:
    pair = QWidget()
    packed(QHBoxLayout(pair), QLabel(text), box, spacing=SPACE)
    return pair


def _words() -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setContentsMargins(SPACE, 0, SPACE, 0)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
