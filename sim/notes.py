from collections.abc import Iterable

NOTES_MAX = 100
"""Maximum number of sentences about one file, as a hostile file could cause millions."""


class Notes(list[str]):
    """Sentences about a usable file in order, each once; after the first hundred, the last one counts the rest."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        super().__init__()
        self._known: set[str] = set()
        self._more = 0
        self.extend(texts)

    def append(self, text: str) -> None:
        if text in self._known:
            return
        if len(self._known) < NOTES_MAX:
            self._known.add(text)
            super().append(text)
        else:
            self._more += 1
            self[NOTES_MAX:] = [f"{self._more} more warnings are not shown."]

    def extend(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.append(text)

    def copy(self) -> "Notes":
        copied = Notes(self[:NOTES_MAX])
        copied._more = self._more
        copied[NOTES_MAX:] = self[NOTES_MAX:]
        return copied
