"""A row of controls that gives up its least needed parts, one group after the other, where it gets narrow."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLayout, QWidget

from widgets.theme import SPACE

GAP = 3 * SPACE


class ControlRow(QWidget):
    """Lays widgets out from left to right; text is never clipped, whole groups vanish instead."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(SPACE)
        self._layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self._fixed: list[QWidget] = []
        self._gaps = 0
        self._expendable: list[list[QWidget]] = []

    def add(self, *widgets: QWidget) -> None:
        """Append widgets at their preferred width."""
        for widget in widgets:
            self._layout.addWidget(widget)
            self._fixed.append(widget)

    def add_gap(self) -> None:
        """Append a fixed gap between groups."""
        self._layout.addSpacing(GAP)
        self._gaps += 1

    def add_stretch(self, share: int, widget: QWidget | None = None) -> None:
        """Append a share of the free space, with a widget in it that can do with any width."""
        if widget is None:
            self._layout.addStretch(share)
        else:
            self._layout.addWidget(widget, share)

    def set_expendable(self, groups: Sequence[Sequence[QWidget]]) -> None:
        """Say which groups vanish where the row gets narrow, the first group first."""
        self._expendable = [list(group) for group in groups]
        self._fit(self.width())

    def sizeHint(self) -> QSize:
        """Room for everything."""
        return QSize(self._needed(()), self._layout.sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Room for what never vanishes."""
        gone = [widget for group in self._expendable for widget in group]
        return QSize(self._needed(gone), self._layout.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many groups as fit."""
        super().resizeEvent(event)
        self._fit(event.size().width())

    def event(self, event: QEvent) -> bool:
        """A part that changed its width may need another one to go."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit(self.width())
        return super().event(event)

    def _fit(self, width: int) -> None:
        gone: list[QWidget] = []
        for group in self._expendable:
            if self._needed(gone) <= width:
                break
            gone += group
        for group in self._expendable:
            for widget in group:
                if widget.isHidden() != (widget in gone):
                    widget.setVisible(widget not in gone)

    def _needed(self, gone: Sequence[QWidget]) -> int:
        widths = [widget.sizeHint().width() + SPACE for widget in self._fixed if widget not in gone]
        return sum(widths) + self._gaps * (GAP + SPACE) + 2 * SPACE
