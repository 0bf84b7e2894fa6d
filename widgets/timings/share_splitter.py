"""Parts beside each other that share the width until the user moves a border."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget


class ShareSplitter(QSplitter):
    """A horizontal splitter; once a border was moved, only the part that takes the rest changes with the width.

    Args:
        parts: Widgets from left to right with their shares of the width.
        rest: Index of the one that takes the rest.
        parent: Parent widget.
    """

    def __init__(self, parts: Sequence[tuple[QWidget, int]], rest: int, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._shares = [share for _, share in parts]
        self._was_moved = False
        for widget, _ in parts:
            self.addWidget(widget)
        self.setStretchFactor(rest, 1)
        self.splitterMoved.connect(self._keep)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shares the new width."""
        super().resizeEvent(event)
        if not self._was_moved:
            whole = sum(self._shares)
            self.setSizes([self.width() * share // whole for share in self._shares])

    def _keep(self) -> None:
        self._was_moved = True
