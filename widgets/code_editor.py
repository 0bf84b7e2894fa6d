"""A text editor for GLSL: line numbers, colours, and marked lines."""

import re
from collections.abc import Mapping

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontDatabase,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from sinew.widgets.theme import colours

_WORDS = (
    "attribute|bool|bvec[234]|const|continue|discard|do|else|float|flat|for|if|in|inout|int|isampler\\w+|ivec[234]|layout"
    "|mat[234](?:x[234])?|out|precise|return|sampler\\w+|shared|struct|uint|uniform|usampler\\w+|uvec[234]|vec[234]|void"
    "|while|break|true|false"
)
_TOKEN = re.compile(rf"(?P<comment>//.*)|(?P<directive>^\s*#.*)|(?P<word>\b(?:{_WORDS})\b)|(?P<number>\b\d[\w.]*)")


class GlslHighlighter(QSyntaxHighlighter):
    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        palette = colours()
        chosen = {
            "comment": palette.dim, "directive": palette.warning, "word": palette.accent_text, "number": palette.axis_y,
        }  # fmt: skip
        self._formats = {name: _colour(text) for name, text in chosen.items()}

    def highlightBlock(self, text: str) -> None:
        for match in _TOKEN.finditer(text):
            assert match.lastgroup is not None
            self.setFormat(match.start(), match.end() - match.start(), self._formats[match.lastgroup])


class CodeEditor(QPlainTextEdit):
    """Its undo is the one of the document: the editor itself has none.

    Attributes:
        edited: The user changed the text.
    """

    edited = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabStopDistance(4 * self.fontMetrics().horizontalAdvance(" "))
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self._highlighter = GlslHighlighter(self.document())
        self._marks: Mapping[int, str] = {}
        self._gutter = _Gutter(self)
        self._is_shown = False
        self.blockCountChanged.connect(lambda _: self._fit())
        self.updateRequest.connect(self._scrolled)
        self.textChanged.connect(self._note_edit)
        self._fit()

    def show_text(self, text: str) -> None:
        """Shows another text, and keeps the cursor; emits no `edited`."""
        if text == self.toPlainText():
            return
        place, bar = self.textCursor().position(), self.verticalScrollBar().value()
        self._is_shown = True
        self.setPlainText(text)
        self._is_shown = False
        cursor = self.textCursor()
        cursor.setPosition(min(place, len(self.toPlainText())))
        self.setTextCursor(cursor)
        self.verticalScrollBar().setValue(bar)

    def mark(self, lines: Mapping[int, str]) -> None:
        """Marks lines, counted from 1, with their messages as tool tips of the line numbers."""
        if lines == self._marks:
            return
        self._marks = dict(lines)
        marked = []
        for line in lines:
            selection = QTextEdit.ExtraSelection()
            ground = QColor(colours().error)
            ground.setAlpha(60)
            selection.format.setBackground(ground)
            selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            selection.cursor = QTextCursor(self.document().findBlockByNumber(line - 1))
            marked.append(selection)
        self.setExtraSelections(marked)
        self._gutter.update()

    def show_line(self, line: int) -> None:
        self.setTextCursor(QTextCursor(self.document().findBlockByNumber(line - 1)))
        self.centerCursor()
        self.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        box = self.contentsRect()
        self._gutter.setGeometry(QRect(box.left(), box.top(), self.gutter_width, box.height()))

    @property
    def gutter_width(self) -> int:
        return self.fontMetrics().horizontalAdvance("0") * (len(str(max(self.blockCount(), 1))) + 2)

    def paint_gutter(self, event: QPaintEvent) -> None:
        painter, palette = QPainter(self._gutter), colours()
        painter.fillRect(event.rect(), QColor(palette.alternate))
        painter.setFont(self.font())
        block = self.firstVisibleBlock()
        box = self.blockBoundingGeometry(block).translated(self.contentOffset())
        while block.isValid() and box.top() <= event.rect().bottom():
            number = block.blockNumber() + 1
            painter.setPen(QColor(palette.error if number in self._marks else palette.dim))
            width, height = self._gutter.width() - self.fontMetrics().horizontalAdvance("0") // 2, round(box.height())
            painter.drawText(0, round(box.top()), width, height, Qt.AlignmentFlag.AlignRight, str(number))
            block = block.next()
            box = self.blockBoundingGeometry(block).translated(self.contentOffset())
        painter.end()

    def _note_edit(self) -> None:
        if not self._is_shown:
            self.edited.emit()

    def _fit(self) -> None:
        self.setViewportMargins(self.gutter_width, 0, 0, 0)

    def _scrolled(self, _box: QRect, _by: int) -> None:
        self._gutter.update()


class _Gutter(QWidget):
    def __init__(self, editor: CodeEditor) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        return QSize(self._editor.gutter_width, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._editor.paint_gutter(event)


def _colour(text: str) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setForeground(QColor(text))
    return made
