"""Which files of the open project may be read before the user has said so."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal

from app.files.outside_files import OutsideFile

WITHHELD = "lies outside the project's folders and is not read unless you allow it"
"""Reads the same whether there is such a file or not."""


class FileAccess(QObject):
    """Withholds what a project names elsewhere; whatever the user chooses or types is free.

    Signals:
        asked: Files that wait for an answer, a tuple of `OutsideFile`; none after the answer.
        allowed: What was withheld may be read.
    """

    asked = Signal(tuple)
    allowed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._withheld: frozenset[str] = frozenset()

    def allows(self, path: str) -> bool:
        """Whether a file may be read, and its being there be told."""
        return path not in self._withheld

    def withhold(self, files: Iterable[OutsideFile]) -> None:
        """Another project is open: asks about what it names elsewhere, and forgets what was withheld before."""
        waiting = tuple(files)
        self._withheld = frozenset(file.path for file in waiting)
        self.asked.emit(waiting)

    def allow(self) -> None:
        """Everything may be read."""
        self._withheld = frozenset()
        self.asked.emit(())
        self.allowed.emit()

    def leave_out(self) -> None:
        """What is withheld stays so; it is not asked again while the project is open."""
        self.asked.emit(())
