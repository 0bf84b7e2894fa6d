import os
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFontDatabase, QKeyEvent, QKeySequence, QShowEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QSpinBox, QVBoxLayout, QWidget

from sinew.widgets.parts import packed
from sinew.widgets.theme import SPACE, colours, dress

LINES_MAX = 5000  # of the output
HISTORY_MAX = 500
INPUT_LINES = 8  # lines of the input that are visible at once
INDENT = "    "
LIMIT_MAX = 3600  # [s]


class ConsoleInput(QPlainTextEdit):
    """Input of one or more lines.

    Args:
        run: Runs a text; returns False if it is incomplete and needs another line.
        complete: Returns the completions of the text before the cursor: the word, and its replacements.
    """

    completed = Signal(list)  # Several completions, to be listed
    cancelled = Signal()  # Ctrl+C without a selected text

    def __init__(self, run: Callable[[str], bool], complete: Callable[[str], tuple[str, Sequence[str]]]) -> None:
        super().__init__()
        self._run, self._complete = run, complete
        self.history: list[str] = []
        self._place = 0  # in the history; its length for the text that is being written
        self._draft = ""
        self.setAccessibleName("Python input")
        self.setPlaceholderText("Python; Tab completes, Shift+Enter adds a line, Up recalls")
        self.textChanged.connect(self._fit)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        block, keys = self.textCursor().block(), event.key()
        if keys in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._enter(more=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif keys == Qt.Key.Key_Up and not block.previous().isValid() and self._place > 0:
            self._recall(self._place - 1)
        elif keys == Qt.Key.Key_Down and not block.next().isValid() and self._place < len(self.history):
            self._recall(self._place + 1)
        elif keys == Qt.Key.Key_Tab and self.toPlainText():
            self._tab()
        elif event.matches(QKeySequence.StandardKey.Copy) and not self.textCursor().hasSelection():
            self.clear()
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab completes a text; in an empty input it moves the focus, as Shift+Tab always does."""
        return False if forward and self.toPlainText() else super().focusNextPrevChild(forward)

    def _enter(self, *, more: bool) -> None:
        text = self.toPlainText()
        at_end = self.textCursor().atEnd() or "\n" not in text
        if more or not at_end:
            self._break_line()
            return
        if not text.strip():
            self.clear()
            return
        entered = text.rstrip(" ") if text.rpartition("\n")[2].strip() == "" else text
        if not self._run(entered):
            self._break_line()
            return
        if self.history[-1:] != [text]:
            self.history = [*self.history, text.rstrip()][-HISTORY_MAX:]
        self._place, self._draft = len(self.history), ""
        self.clear()

    def _break_line(self) -> None:
        line = self.textCursor().block().text()[: self.textCursor().positionInBlock()]
        indent = line[: len(line) - len(line.lstrip())] + (INDENT if line.rstrip().endswith(":") else "")
        self.insertPlainText(f"\n{indent}")

    def _recall(self, place: int) -> None:
        if self._place == len(self.history):
            self._draft = self.toPlainText()
        self._place = place
        self.setPlainText(self.history[place] if place < len(self.history) else self._draft)
        self.moveCursor(QTextCursor.MoveOperation.End)

    def _tab(self) -> None:
        before = self.toPlainText()[: self.textCursor().position()]
        if not before.rpartition("\n")[2].strip():
            self.insertPlainText(INDENT)
            return
        word, found = self._complete(before)
        common = os.path.commonprefix(list(found))  # noqa: RUF071  (they are no paths)
        if len(common) > len(word):
            self.insertPlainText(common[len(word) :])
        elif len(found) > 1:
            self.completed.emit(list(found))

    def set_history(self, texts: Sequence[str]) -> None:
        self.history = list(texts)[-HISTORY_MAX:]
        self._place = len(self.history)

    def _fit(self) -> None:
        lines = min(self.blockCount(), INPUT_LINES)
        margins = 2 * (self.frameWidth() + round(self.document().documentMargin()))
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + margins)


class ConsoleView(QWidget):
    """Output, input, a button that stops the program, and the time limit of programs without a call of Sinew."""

    def __init__(
        self, run: Callable[[str], bool], complete: Callable[[str], tuple[str, Sequence[str]]], limit: int
    ) -> None:
        super().__init__()
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        self.output = QPlainTextEdit(readOnly=True, maximumBlockCount=LINES_MAX, tabChangesFocus=True)
        self.output.setAccessibleName("Python output")
        self.input = ConsoleInput(run, complete)
        self.stop: QPushButton = QPushButton("Stop")
        self.stop.setToolTip("Stop the running program (Ctrl+C).")
        self.stop.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # else the next keys would be shortcuts of the window
        self.limit = QSpinBox(minimum=1, maximum=LIMIT_MAX, value=limit, suffix=" s", prefix="Limit ")
        self.limit.setToolTip("Time after which a program is stopped that makes no call of Sinew.")
        prompt = QLabel(">>>")
        prompt.setBuddy(self.input)
        for widget in (self.output, self.input, prompt):
            widget.setFont(font)
        dress(self.output, self.input)
        self.set_running(False)
        self.input.completed.connect(lambda found: self.write("  ".join(found) + "\n"))
        row = packed(QHBoxLayout(), prompt, (self.input, 1), self.limit, self.stop, spacing=SPACE)
        packed(QVBoxLayout(self), (self.output, 1), row, spacing=SPACE, margins=SPACE)

    def set_running(self, on: bool) -> None:
        self.stop.setEnabled(on)
        self.input.setReadOnly(on)

    def write(self, text: str, *, error: bool = False) -> None:
        """Adds a text to the output, red for an error; the first lines are dropped beyond `LINES_MAX`."""
        form = QTextCharFormat()
        if error:
            form.setForeground(QColor(colours().error))
        cursor = self.output.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(text, form)
        bar = self.output.verticalScrollBar()
        bar.setValue(bar.maximum())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        handle = self.window().windowHandle()
        if handle is not None and handle.isExposed():  # and not while the window opens
            self.input.setFocus()


INPUTS = frozenset(
    (
        QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease, QEvent.Type.MouseButtonDblClick,
        QEvent.Type.Wheel, QEvent.Type.KeyPress, QEvent.Type.KeyRelease, QEvent.Type.ShortcutOverride,
        QEvent.Type.Shortcut, QEvent.Type.ContextMenu, QEvent.Type.DragEnter, QEvent.Type.Drop, QEvent.Type.Close,
        QEvent.Type.TouchBegin, QEvent.Type.TabletPress,
    )
)  # fmt: skip


class InputBlocker(QObject):
    """Event filter of the application: only one widget gets input, Ctrl+C calls `stop`, and windows stay open."""

    def __init__(self, allowed: QWidget, stop: Callable[[], object]) -> None:
        super().__init__()
        self._allowed, self._stop = allowed, stop

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() not in INPUTS or watched is self._allowed or not isinstance(watched, QWidget):
            return False
        if isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Copy):
            self._stop()
        event.setAccepted(event.type() == QEvent.Type.ShortcutOverride)
        return True
