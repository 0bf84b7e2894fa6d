"""The undo history: a `QUndoStack` that also takes entries back without a trace."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtGui import QUndoCommand, QUndoStack

from app.document.commands import SetParam


class UndoHistory(QUndoStack):
    """Undo stack with macros that leave no empty entry, and with entries that can be dropped."""

    _macro_text: str | None = None
    _macro_open = False

    def record(self, command: QUndoCommand) -> None:
        """Do a command and keep it, inside the running macro if there is one."""
        if self._macro_text is not None and not self._macro_open:
            self._macro_open = True
            self.beginMacro(self._macro_text)
        self.push(command)

    @contextmanager
    def macro(self, text: str) -> Iterator[None]:
        """Make all edits of the block one entry; none if nothing changed, all undone if the block raises."""
        if self._macro_text is not None:
            yield
            return
        self._macro_text = text
        try:
            yield
        except BaseException:
            if self._end_macro():
                self._drop_last()
            raise
        self._end_macro()

    def drop_gesture(self, gesture: object) -> None:
        """Undo and forget the latest entries that belong to a gesture."""
        while self._last_gesture() is gesture:
            self._drop_last()

    def _end_macro(self) -> bool:
        """Close the entry of the macro; whether there was an edit."""
        was_open, self._macro_open, self._macro_text = self._macro_open, False, None
        if was_open:
            self.endMacro()
        return was_open

    def _last_gesture(self) -> object | None:
        command = self.command(self.index() - 1) if self.index() > 0 else None
        return command.gesture if isinstance(command, SetParam) else None

    def _drop_last(self) -> None:
        """An obsolete command is deleted where it would be done again."""
        self.undo()
        self.command(self.index()).setObsolete(True)
        self.redo()
