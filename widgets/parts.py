"""Helpers for panels: buttons, lists and layouts."""

from collections.abc import Sequence
from typing import TypeVar

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QFrame,
    QLayout,
    QLayoutItem,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QTreeView,
    QWidget,
)

from sinew.widgets.icons import icon
from sinew.widgets.theme import SPACE, dress, tabular

Part = QWidget | QLayout
Box = TypeVar("Box", bound=QBoxLayout)


def packed(layout: Box, *parts: Part | tuple[Part, int], spacing: int = 0, margins: int | QMargins = 0) -> Box:
    """A box layout of parts; a pair is a part and its stretch factor."""
    for part in parts:
        item, share = part if isinstance(part, tuple) else (part, 0)
        layout.addLayout(item, share) if isinstance(item, QLayout) else layout.addWidget(item, share)
    layout.setSpacing(spacing)
    layout.setContentsMargins(QMargins(margins, margins, margins, margins) if isinstance(margins, int) else margins)
    return layout


def tool_button(
    icon_name: str, text: str = "", tip: str = "", parent: QWidget | None = None, *, checkable: bool = False
) -> QToolButton:
    button = QToolButton(parent)
    button.setIcon(icon(icon_name))
    button.setText(text)
    button.setToolTip(tip)
    button.setAutoRaise(True)
    button.setCheckable(checkable)
    if text:
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    else:
        button.setAccessibleName(tip)
    return button


def plain_list(tree: QTreeView, name: str) -> None:
    """Styles a tree view as a plain list with tabular figures."""
    dress(tree)
    tree.setRootIsDecorated(False)
    tree.setUniformRowHeights(True)
    tree.setFrameShape(QFrame.Shape.NoFrame)
    tree.setFont(tabular(tree.font()))
    tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    tree.setAccessibleName(name)
    tree.header().setStretchLastSection(False)


class FlowLayout(QLayout):
    """Places widgets of preferred size from left to right, then from top to bottom."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(SPACE, SPACE // 2, SPACE, SPACE // 2)
        self.setSpacing(SPACE)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        margins = self.contentsMargins()
        sizes = [item.sizeHint() for item in self._shown()]
        width = sum(size.width() for size in sizes) + self.spacing() * max(len(sizes) - 1, 0)
        height = max((size.height() for size in sizes), default=0)
        return QSize(width + margins.left() + margins.right(), height + margins.top() + margins.bottom())

    def minimumSize(self) -> QSize:
        margins = self.contentsMargins()
        sizes = [item.minimumSize() for item in self._shown()]
        width = max((size.width() for size in sizes), default=0)
        height = max((size.height() for size in sizes), default=0)
        return QSize(width + margins.left() + margins.right(), height + margins.top() + margins.bottom())

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _place(self, rect: QRect, *, move: bool) -> int:
        margins = self.contentsMargins()
        left, right = rect.left() + margins.left(), rect.right() - margins.right()
        x, y = left, rect.top() + margins.top()
        line: list[tuple[QLayoutItem, int, QSize]] = []
        for item in self._shown():
            size = item.sizeHint()
            size.setWidth(min(size.width(), max(right - left + 1, 1)))
            if line and x + size.width() - 1 > right:
                y += self._finish(line, y, move=move) + self.spacing()
                line, x = [], left
            line.append((item, x, size))
            x += size.width() + self.spacing()
        return y + self._finish(line, y, move=move) + margins.bottom() - rect.top()

    @staticmethod
    def _finish(line: list[tuple[QLayoutItem, int, QSize]], y: int, *, move: bool) -> int:
        """Centres the widgets of a line vertically; returns the height of the line."""
        height = max((size.height() for _, _, size in line), default=0)
        if move:
            for item, x, size in line:
                item.setGeometry(QRect(QPoint(x, y + (height - size.height()) // 2), size))
        return height


class FlowRow(QWidget):
    """A widget with a flow layout, as high as its lines."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._flow = FlowLayout(self)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def add(self, *widgets: QWidget) -> None:
        for widget in widgets:
            self._flow.addWidget(widget)


class ShareSplitter(QSplitter):
    """A horizontal splitter; once a handle was moved, only one part changes with the width.

    Args:
        parts: Widgets from left to right with their shares of the width.
        rest: Index of the part that changes.
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
        super().resizeEvent(event)
        if not self._was_moved:
            whole = sum(self._shares)
            self.setSizes([self.width() * share // whole for share in self._shares])

    def _keep(self) -> None:
        self._was_moved = True


class Pages(QStackedWidget):
    """A stack whose size hints are those of the current page."""

    def __init__(self, *pages: QWidget) -> None:
        super().__init__()
        for page in pages:
            self.addWidget(page)
        self.currentChanged.connect(lambda _: self.updateGeometry())

    def minimumSizeHint(self) -> QSize:
        page = self.currentWidget()
        assert page is not None
        return page.minimumSizeHint().expandedTo(page.minimumSize())

    def sizeHint(self) -> QSize:
        page = self.currentWidget()
        assert page is not None
        return page.sizeHint()

    def hasHeightForWidth(self) -> bool:
        return False


class ShallowArea(QScrollArea):
    """Scrolls a panel that is smaller than its minimum size; `height` is the smallest useful height [px]."""

    def __init__(self, content: QWidget, height: int) -> None:
        super().__init__()
        self._content, self._height = content, height
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        dress(self)

    def minimumSizeHint(self) -> QSize:
        bar = self.verticalScrollBar().sizeHint().width()
        return QSize(self._content.minimumSizeHint().width() + bar, self._height)

    def sizeHint(self) -> QSize:
        return QSize(self._content.sizeHint().width(), self._height)
