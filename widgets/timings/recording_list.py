"""The recordings that can be compared, their own and imported ones."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QMenu, QTreeWidget, QTreeWidgetItem, QWidget

from sim.profile.recording import Recording
from widgets.theme import icon
from widgets.timings.compare_table import prepare_list


class RecordingList(QTreeWidget):
    """Names with length and source; what can be done with one is in its menu.

    Signals:
        a_chosen, b_chosen: Name of a recording to compare.
        remove_requested: Name of a recording to forget.
        export_csv_requested, export_trace_requested: The current recording is to be written.
    """

    a_chosen = Signal(str)
    b_chosen = Signal(str)
    remove_requested = Signal(str)
    export_csv_requested = Signal()
    export_trace_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        prepare_list(self, ("Recording", "Frames"), "Recordings")

    def set_recordings(self, recordings: Sequence[Recording]) -> None:
        """Lists these; the current one stays so if it is among them."""
        before = self.current()
        self.clear()
        for one in recordings:
            item = _row_of(one)
            self.addTopLevelItem(item)
            if one.name == before:
                self.setCurrentItem(item)

    def current(self) -> str:
        """Name of the current recording, or ""."""
        item = self.currentItem()
        return item.text(0) if item is not None else ""

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Opens the menu of the recording under the mouse, which a right click makes current."""
        if self.itemAt(event.pos()) is not None:
            self.menu().popup(event.globalPos())

    def menu(self) -> QMenu:
        """What can be done with the current recording."""
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


def _row_of(recording: Recording) -> QTreeWidgetItem:
    item = QTreeWidgetItem([recording.name, recording.summary])
    origin = f"\nImported from {recording.origin}" if recording.origin else ""
    for column in (0, 1):
        item.setToolTip(column, f"{recording.name}\n{recording.summary}{origin}\nRight click for more.")
    return item
