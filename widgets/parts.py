from collections.abc import Callable, Sequence
from typing import TypeVar

from PySide6.QtCore import QMargins, QPoint, QRect, QRectF, QSize, Qt, SignalInstance
from PySide6.QtGui import QColor, QDropEvent, QKeyEvent, QPainter, QPaintEvent, QPalette, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QBoxLayout,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLayoutItem,
    QLineEdit,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from sinew.widgets.icons import GlyphLabel, icon
from sinew.widgets.texts import label_text
from sinew.widgets.theme import SPACE, SPACE_WIDE, dress, tabular

Part = QWidget | QLayout
Box = TypeVar("Box", bound=QBoxLayout)


def packed(layout: Box, *parts: Part | tuple[Part, int], spacing: int = 0, margins: int | QMargins = 0) -> Box:
    """Adds parts to a layout and returns it; a pair is a part and its stretch factor."""
    for part in parts:
        item, share = part if isinstance(part, tuple) else (part, 0)
        layout.addLayout(item, share) if isinstance(item, QLayout) else layout.addWidget(item, share)
    layout.setSpacing(spacing)
    layout.setContentsMargins(QMargins(margins, margins, margins, margins) if isinstance(margins, int) else margins)
    return layout


def tool_button(
    icon_name: str,
    text: str = "",
    tip: str = "",
    parent: QWidget | None = None,
    *,
    checkable: bool = False,
    menu: QMenu | None = None,
    act: Callable[..., object] | SignalInstance | None = None,
) -> QToolButton:
    """Returns a button that opens a menu, or calls `act` or emits it when it is clicked."""
    button = QToolButton(parent, autoRaise=True)
    button.setIcon(icon(icon_name))
    button.setText(text)
    button.setToolTip(tip)
    button.setCheckable(checkable)
    if text:
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    else:
        button.setAccessibleName(tip)
    if menu is not None:
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    if act is not None:
        button.clicked.connect(act)
    return button


class SearchField(QLineEdit):
    """A line that filters a list; Escape clears it first."""

    def __init__(self, placeholder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, placeholderText=placeholder, clearButtonEnabled=True)
        self.addAction(icon("filter"), QLineEdit.ActionPosition.LeadingPosition)
        self.setAccessibleName(placeholder)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


def commit_typed(within: QWidget | None = None) -> None:
    """Enters what is being typed in a field of a widget, by default of any, which keeps the focus."""
    field = QApplication.focusWidget()
    if isinstance(field, QLineEdit) and field.isModified() and (within is None or within.isAncestorOf(field)):
        field.clearFocus()
        field.setFocus()


def choice_box(name: str, entries: Sequence[tuple[str, object]]) -> QComboBox:
    """Returns a combo box of texts and their data."""
    box = QComboBox()
    for text, data in entries:
        box.addItem(text, data)
    box.setAccessibleName(name)
    box.setToolTip(name)
    return box


def plain_list(tree: QTreeView, name: str) -> None:
    """Makes a tree a plain list, with numbers of equal width."""
    dress(tree)
    tree.setRootIsDecorated(False)
    tree.setUniformRowHeights(True)
    tree.setFrameShape(QFrame.Shape.NoFrame)
    tree.setFont(tabular(tree.font()))
    tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    tree.setAccessibleName(name)
    tree.header().setStretchLastSection(False)


class FlowLayout(QLayout):
    """Layout of widgets of preferred size from left to right, then from top to bottom."""

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
    """A splitter with `parts` as shares of the width; a moved handle leaves changes of width to the second part."""

    def __init__(self, parts: Sequence[tuple[QWidget, int]], parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._shares = [share for _, share in parts]
        self._was_moved = False
        for widget, _ in parts:
            self.addWidget(widget)
        self.setStretchFactor(1, 1)
        self.splitterMoved.connect(self._keep)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self._was_moved:
            whole = sum(self._shares)
            self.setSizes([self.width() * share // whole for share in self._shares])

    def _keep(self) -> None:
        self._was_moved = True


class Pages(QStackedWidget):
    """Stack of pages with the size hints of the current one."""

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
    """Area that scrolls a panel below its minimum size; `height` is the smallest useful height [px]."""

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


_PLACEHOLDER_ICON = 32


class EmptyState(QWidget):
    """Text for an empty panel, with an icon of `sinew.widgets.icons.GLYPHS` if there is room."""

    def __init__(self, icon_name: str, text: str, hint: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text, self.hint = text_label(text), text_label(hint, dim=True)
        for label in (self.text, self.hint):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._glyph = GlyphLabel(icon_name, _PLACEHOLDER_ICON, self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_WIDE, 0, SPACE_WIDE, 0)
        layout.setSpacing(SPACE)
        layout.addStretch(1)
        layout.addWidget(self._glyph, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addWidget(self.text)
        layout.addWidget(self.hint)
        layout.addStretch(1)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self._height_of_lines())

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._height_of_lines())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._glyph.setVisible(self.height() >= self._height_of_lines() + _PLACEHOLDER_ICON + SPACE)

    def _height_of_lines(self) -> int:
        width = max(self.width() - 2 * SPACE_WIDE, 1)
        shown = [label for label in (self.text, self.hint) if label.text()]
        return sum(label.heightForWidth(width) for label in shown) + 3 * SPACE

    def set_text(self, text: str, hint: str = "") -> None:
        self.text.setText(label_text(text))
        self.hint.setText(label_text(hint))
        self.updateGeometry()


def text_label(text: str = "", parent: QWidget | None = None, *, dim: bool = False, copied: bool = False) -> QLabel:
    """Returns a label of plain text in lines; `copied` lets the user select it."""
    label = QLabel(text, parent, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
    if dim:
        label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
    if copied:
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


NOTICE_ICON = 18


class QuestionBar(QFrame):
    """Bar with a question to the user, hidden without one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        sign = GlyphLabel("warning", NOTICE_ICON, self)
        sign.set_tint("warning")
        self.label = text_label(parent=self)
        self.buttons: list[QPushButton] = []
        margins = QMargins(SPACE_WIDE, SPACE, SPACE_WIDE, SPACE)
        self._layout = packed(QHBoxLayout(self), sign, spacing=SPACE_WIDE, margins=margins)
        self._layout.addWidget(self.label, 1)
        self.hide()

    def ask(self, text: str, details: str = "", *answers: tuple[str, str, Callable[[], object]]) -> None:
        """Asks a question, "" hides it; `details` is a tooltip, `answers` are text, tip and callback of each button."""
        while self.buttons:
            self.buttons.pop().deleteLater()
        for caption, tip, act in answers:
            button = QPushButton(caption, self)
            button.setToolTip(tip)
            button.clicked.connect(self.hide)
            button.clicked.connect(lambda _checked=False, act=act: act())
            self._layout.addWidget(button)
            self.buttons.append(button)
        self.label.setText(text)
        self.setToolTip(details)
        self.setVisible(bool(text))


class ElidedLabel(QWidget):
    """One line of text, elided to the width; the tooltip shows all of it."""

    def __init__(self, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._mode = mode
        self._text = ""
        self._placeholder = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        return self._text

    def set_text(self, text: str, placeholder: str = "") -> None:
        """Sets the text, or a dim placeholder if it is empty."""
        self._text, self._placeholder = text, placeholder
        self.setToolTip(text)
        self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._text or self._placeholder), metrics.height() + 2 * SPACE)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        shown = self._text or self._placeholder
        role = QPalette.ColorRole.WindowText if self._text else QPalette.ColorRole.PlaceholderText
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(role))
            text = self.fontMetrics().elidedText(shown, self._mode, self.width())
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)


_FILL_ALPHA = 110
_RADIUS = 3.0


class FillBar(QWidget):
    """A bar filled from the left, with a text at each end."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFont(tabular(self.font()))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def texts(self) -> tuple[str, str]:
        raise NotImplementedError

    def fill(self) -> tuple[float, QColor] | None:
        """Returns the filled part, 0 to 1, and its colour; None for an empty bar."""
        raise NotImplementedError

    def tints(self) -> tuple[QColor, QColor, QColor]:
        palette, role = self.palette(), QPalette.ColorRole
        return palette.color(role.Base), palette.color(role.Mid), palette.color(role.WindowText)

    def paint_marks(self, painter: QPainter, box: QRectF) -> None:
        """Paints marks of the bar below the texts."""

    def size_for(self, text: str) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(text) + 2 * SPACE_WIDE, metrics.height() + SPACE_WIDE)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        box, filled = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), self.fill()
        ground, edge, text = self.tints()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(edge, 1.0))
            painter.setBrush(ground)
            painter.drawRoundedRect(box, _RADIUS, _RADIUS)
            if filled is not None:
                share, colour = filled
                faint = QColor(colour)
                faint.setAlpha(_FILL_ALPHA)
                painter.setClipRect(QRectF(box.left(), box.top(), box.width() * share, box.height()))
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(faint)
                painter.drawRoundedRect(box, _RADIUS, _RADIUS)
                painter.setClipping(False)
                self.paint_marks(painter, box)
            painter.setPen(text)
            left, right = self.texts()
            room = box.adjusted(SPACE_WIDE, 0.0, -SPACE_WIDE, 0.0)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, left)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, right)


def local_files(event: QDropEvent) -> list[str]:
    """Returns the paths of the files that are dragged."""
    return [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
