"""A text editor for GLSL: line numbers, colours, marked and unused lines, and a row to find text."""

import re
from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontDatabase,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPlainTextEdit, QTextEdit, QToolTip, QWidget

from sinew.widgets.parts import packed, tool_button
from sinew.widgets.theme import SPACE, colours

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
        self._unused = _colour(palette.disabled)
        self._unused.setFontItalic(True)
        self.unused: frozenset[int] = frozenset()

    def highlightBlock(self, text: str) -> None:
        if self.currentBlock().blockNumber() + 1 in self.unused:
            self.setFormat(0, len(text), self._unused)
            return
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
        self._known = ""
        self.blockCountChanged.connect(lambda _: self._fit())
        self.updateRequest.connect(self._scrolled)
        self.textChanged.connect(self._note_edit)
        self._fit()

    def show_text(self, text: str) -> None:
        """Shows another text, and keeps the cursor; emits no `edited`."""
        if text == self.toPlainText():
            return
        place, bar = self.textCursor().position(), self.verticalScrollBar().value()
        self._known = text
        self.setPlainText(text)
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

    def show_unused(self, lines: frozenset[int]) -> None:
        """Greys lines, counted from 1, that no program compiles."""
        if lines != self._highlighter.unused:
            self._highlighter.unused = lines
            self._highlighter.rehighlight()

    def note_of(self, line: int) -> str:
        """Returns the tool tip of a line, counted from 1; "" without one."""
        return self._marks.get(line) or ("Not compiled in this scene" if line in self._highlighter.unused else "")

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            line = self.cursorForPosition(event.pos()).blockNumber() + 1
            QToolTip.showText(event.globalPos(), self.note_of(line), self)
            return True
        return super().viewportEvent(event)

    def find_next(self, text: str, *, back: bool = False, stay: bool = False) -> bool:
        """Selects the next place of a text, after the end from the start on; returns False without one.

        Args:
            stay: A place that begins where the selection begins counts.
        """
        flag = QTextDocument.FindFlag.FindBackward if back else QTextDocument.FindFlag(0)
        cursor = self.textCursor()
        if stay:
            cursor.setPosition(cursor.selectionStart())
        found = self.document().find(text, cursor, flag)
        if found.isNull():
            cursor.movePosition(cursor.MoveOperation.End if back else cursor.MoveOperation.Start)
            found = self.document().find(text, cursor, flag)
        if found.isNull():
            return False
        self.setTextCursor(found)
        return True

    def show_line(self, line: int) -> None:
        self.setTextCursor(QTextCursor(self.document().findBlockByNumber(line - 1)))
        self.centerCursor()
        self.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        box = self.contentsRect()
        self._gutter.setGeometry(QRect(box.left(), box.top(), self.gutter_width, box.height()))
        if self.hasFocus():
            self.ensureCursorVisible()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride:
            keys = QKeySequence.StandardKey
            if event.matches(keys.Undo) or event.matches(keys.Redo):
                event.ignore()  # the shortcuts of the document act
                return False
        return super().event(event)

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
        text = self.toPlainText()
        if text != self._known:  # colours change as well
            self._known = text
            self.edited.emit()

    def _fit(self) -> None:
        self.setViewportMargins(self.gutter_width, 0, 0, 0)

    def _scrolled(self, _box: QRect, _by: int) -> None:
        self._gutter.update()


class FindRow(QWidget):
    """A row that finds text in the editor of `current`.  F3 finds the next place, Escape hides it.

    Args:
        owner: The keys work in this widget and its children.
    """

    def __init__(self, owner: QWidget, current: Callable[[], CodeEditor]) -> None:
        super().__init__(owner)
        self._current = current
        self.line, self.missing = QLineEdit(placeholderText="Find"), QLabel()
        self.line.setAccessibleName("Find")
        following = tool_button("down", tip="Next (F3)")
        previous = tool_button("up", tip="Previous (Shift+F3)")
        close = tool_button("cancel", tip="Close (Escape)")
        packed(QHBoxLayout(self), (self.line, 1), self.missing, previous, following, close, spacing=SPACE)
        following.clicked.connect(lambda: self.find_text())
        previous.clicked.connect(lambda: self.find_text(back=True))
        close.clicked.connect(self.close_row)
        self.line.textChanged.connect(lambda _: self.find_text(stay=True))
        self.line.returnPressed.connect(self.find_text)
        for keys, react in (
            (QKeySequence("F3"), self.find_text),
            (QKeySequence("Shift+F3"), lambda: self.find_text(back=True)),
        ):
            QShortcut(keys, owner, react, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        QShortcut(QKeySequence("Escape"), self, self.close_row, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.hide()

    def open_row(self) -> None:
        chosen = self._current().textCursor().selectedText()
        self.show()
        if chosen and "\u2029" not in chosen:
            self.line.setText(chosen)
        self.line.setFocus()
        self.line.selectAll()

    def close_row(self) -> None:
        self.hide()
        self._current().setFocus()

    def find_text(self, *, back: bool = False, stay: bool = False) -> None:
        text = self.line.text()
        is_found = not text or self._current().find_next(text, back=back, stay=stay)
        self.missing.setText("" if is_found else "Not found")


class _Gutter(QWidget):
    def __init__(self, editor: CodeEditor) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        return QSize(self._editor.gutter_width, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._editor.paint_gutter(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            return self._editor.viewportEvent(event)
        return super().event(event)


def _colour(text: str) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setForeground(QColor(text))
    return made
