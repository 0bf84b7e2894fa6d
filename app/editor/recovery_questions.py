"""What crashed sessions left is offered at the start, one after the other until one is open."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.files.project_files import ProjectFiles, UnsavedAnswer
from app.files.recovery import Recovery, RecoveryStore


class RecoveryQuestions(QObject):
    """Asks about every project that a crashed session left.

    Args:
        store: Recovery files.
        files: Opens them.
        ask: SAVE recovers, DISCARD deletes, anything else keeps it for the next start.
    """

    def __init__(self, store: RecoveryStore, files: ProjectFiles, ask: Callable[[Recovery], UnsavedAnswer]) -> None:
        super().__init__()
        self._store, self._files, self._ask = store, files, ask
        self._pending: list[Recovery] = []
        files.recovered.connect(self._on_recovered)

    def offer(self) -> None:
        """Asks until one is opened: one project can be open, what is left is offered at the next start."""
        self._pending = self._store.pending()
        self._offer_next()

    def _offer_next(self) -> None:
        while self._pending:
            recovery = self._pending.pop(0)
            answer = self._ask(recovery)
            if answer is UnsavedAnswer.SAVE:
                self._files.recover(recovery)
                return
            if answer is UnsavedAnswer.DISCARD:
                self._store.discard(recovery)

    def _on_recovered(self, recovery: Recovery, readable: bool) -> None:
        if readable:
            self._store.adopt(recovery)
        else:
            self._offer_next()
