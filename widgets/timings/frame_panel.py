"""Figures of the chosen frame: what it was, and its passes sorted by cost."""

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QStackedLayout,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from sim.profile.sample import FrameSample
from widgets.parts import packed, plain_list, tool_button
from widgets.shown import label_text, tip_text
from widgets.theme import SPACE, tabular
from widgets.timings.texts import frame_facts, milliseconds

_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_HEADINGS = ("Pass", "GPU ms", "CPU ms")


class FramePanel(QWidget):
    """Facts above, passes with all their parts below.

    Attributes:
        buttons: Controls that choose a frame, to be placed beside the title of the panel.
    """

    stepped = Signal(int)  # The frame before (-1) or after (1) is wanted
    worst_requested = Signal()  # The costliest frame of what is shown is wanted

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sample: FrameSample | None = None
        self.empty = QLabel("Click a spike in the plot to see its frame, or press Worst.", self)
        self.buttons = QWidget(self)
        self.facts = QLabel(self)
        self.passes = self._make_passes()
        self.previous_button = tool_button("previous", "", "The frame before")
        self.next_button = tool_button("next", "", "The frame after")
        self.worst_button = tool_button(
            "mdi6.arrow-up-bold-outline", "Worst", "Choose the costliest frame of what is shown"
        )
        self.previous_button.clicked.connect(lambda: self.stepped.emit(-1))
        self.next_button.clicked.connect(lambda: self.stepped.emit(1))
        self.worst_button.clicked.connect(self.worst_requested)
        self._arrange()

    def show_sample(self, sample: FrameSample | None) -> None:
        self.sample = sample
        self._stack.setCurrentIndex(0 if sample is None else 1)
        self.previous_button.setEnabled(sample is not None)
        self.next_button.setEnabled(sample is not None)
        if sample is None:
            return
        self.facts.setText(frame_facts(sample))
        self._show_passes(sample)

    def set_compact(self, compact: bool) -> None:
        """Leaves out the text of buttons that have an icon."""
        beside, alone = Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonIconOnly
        self.worst_button.setToolButtonStyle(alone if compact else beside)

    def _show_passes(self, sample: FrameSample) -> None:
        self.passes.clear()
        merged = merged_slices(sample)
        source = sample.source.value
        for path, (gpu, cpu, runs) in sorted(merged.items(), key=lambda item: -_rank(item[1])):
            texts = [
                label_text(path) if runs == 1 else f"{label_text(path)} ×{runs}",
                milliseconds(gpu),
                milliseconds(cpu),
            ]
            item = QTreeWidgetItem(texts)
            for column in (1, 2):
                item.setTextAlignment(column, _RIGHT)
                item.setToolTip(column, tip_text(f"{path}, with all its parts\nGPU source: {source}"))
            item.setToolTip(0, tip_text(path if runs == 1 else f"{path}: ran {runs} times, their sum is shown"))
            self.passes.addTopLevelItem(item)

    def _make_passes(self) -> QTreeWidget:
        tree = QTreeWidget(self)
        tree.setHeaderLabels(list(_HEADINGS))
        plain_list(tree, "Passes of the frame")
        tree.setTextElideMode(Qt.TextElideMode.ElideLeft)
        # In a low dock the facts above keep their lines.
        tree.setMinimumHeight(2 * tree.fontMetrics().height())
        header = tree.header()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column in (1, 2):
            tree.headerItem().setTextAlignment(column, _RIGHT)
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        return tree

    def _arrange(self) -> None:
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.facts.setFont(tabular(self.font()))
        self.facts.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.facts.setWordWrap(True)
        self.facts.setTextFormat(Qt.TextFormat.PlainText)
        self.facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.facts.setContentsMargins(SPACE, 0, SPACE, 0)
        figures = QWidget(self)
        packed(QVBoxLayout(figures), self.facts, (self.passes, 1))
        packed(QHBoxLayout(self.buttons), self.previous_button, self.next_button, self.worst_button)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(figures)


def merged_slices(sample: FrameSample) -> dict[str, tuple[float, float, int]]:
    """GPU and CPU time [s] and number of runs of every pass of a frame."""
    merged: dict[str, tuple[float, float, int]] = {}
    for one in sample.slices:
        gpu, cpu, runs = merged.get(one.path, (0.0, 0.0, 0))
        merged[one.path] = (gpu + one.gpu, cpu + one.cpu, runs + 1)
    return merged


def _rank(times: tuple[float, float, int]) -> float:
    gpu, cpu, _ = times
    return cpu if math.isnan(gpu) else max(gpu, 0.0)
