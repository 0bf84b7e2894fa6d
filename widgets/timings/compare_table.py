"""Medians of every pass in two recordings, and whether their differences are more than chance."""

import math
from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from sim.profile.comparison import Comparison
from widgets.theme import tabular
from widgets.timings.comparing import Pair
from widgets.timings.texts import DASH, milliseconds

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


class CompareTable(QTreeWidget):
    """Rows come without figures, which are filled in one by one.

    Signals:
        path_chosen: Path of the pass in the current row.
    """

    path_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        prepare_list(self, _HEADINGS, "Medians of every pass")
        for column, tip in enumerate(_TIPS):
            self.headerItem().setToolTip(column, tip)
            if column:
                self.headerItem().setTextAlignment(column, _RIGHT)
        self.currentItemChanged.connect(self._tell)
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

    def fill(self, path: str, found: Comparison, pair: Pair) -> None:
        """Shows the figures of a pass."""
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
        font.setBold(found.is_told)
        item.setFont(_DIFFERENCE, font)

    def choose(self, path: str) -> None:
        """Makes a pass current, without telling of it."""
        if path in self._items:
            with QSignalBlocker(self):
                self.setCurrentItem(self._items[path])
            self.viewport().update()

    def _tell(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            self.path_chosen.emit(item.data(0, _PATH_ROLE))


def prepare_list(tree: QTreeWidget, headings: Sequence[str], name: str) -> None:
    """Makes a tree look like a plain list with columns."""
    tree.setHeaderLabels(list(headings))
    tree.setRootIsDecorated(False)
    tree.setUniformRowHeights(True)
    tree.setFrameShape(QFrame.Shape.NoFrame)
    tree.setFont(tabular(tree.font()))
    tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    tree.setAccessibleName(name)
    tree.header().setStretchLastSection(False)
    for column in range(len(headings)):
        tree.header().setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
    tree.setMinimumWidth(120)


def _signed(seconds: float) -> str:
    """A difference in milliseconds with its sign."""
    if math.isnan(seconds):
        return DASH
    return ("+" if seconds >= 0.0 else "−") + milliseconds(abs(seconds))
