"""What was odd about a file but usable, as sentences for people."""

from collections.abc import Iterable

KEPT = 100
"""Sentences about one file; nobody reads more, and a hostile file could give cause for millions."""


class Notes(list[str]):
    """Sentences in the order they came, each once; after the first hundred, the last one counts the rest."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        super().__init__()
        self._known: set[str] = set()
        self._more = 0
        self.extend(texts)

    def append(self, text: str) -> None:
        """Adds a sentence that is not there yet."""
        if text in self._known:
            return
        if len(self._known) < KEPT:
            self._known.add(text)
            super().append(text)
        else:
            self._more += 1
            self[KEPT:] = [f"{self._more} more warnings are not shown."]

    def extend(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.append(text)

    def copy(self) -> "Notes":
        """Notes to go on from, without changing these."""
        copied = Notes(self[:KEPT])
        copied._more = self._more
        copied[KEPT:] = self[KEPT:]
        return copied
