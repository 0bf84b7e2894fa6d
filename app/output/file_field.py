import os
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from sinew.widgets.parts import packed, tool_button
from sinew.widgets.theme import SPACE


class FileField(QWidget):
    """A row "File" with a path, a button that asks for one, and below it why it cannot be written.

    Signals:
        edited: The user has changed the path.

    Attributes:
        is_own: The user has chosen the path, which then is not replaced by another proposal.
    """

    edited = Signal()

    def __init__(self, ask: Callable[[], Path | None]) -> None:
        super().__init__()
        self.is_own = False
        self.line, self.fault = QLineEdit(), QLabel(wordWrap=True)
        self.line.setAccessibleName("File")
        self.line.setToolTip("File to write; a relative path begins at the folder of the project.")
        self._ask = ask
        label = QLabel("File")
        label.setBuddy(self.line)
        self.button = tool_button("open", tip="Choose the file", act=self._choose)
        row = packed(QHBoxLayout(), label, (self.line, 1), self.button, spacing=SPACE)
        packed(QVBoxLayout(self), row, self.fault, spacing=SPACE)
        self.line.textEdited.connect(lambda _: self._take())
        self.show_fault("")

    @property
    def text(self) -> str:
        return self.line.text().strip()

    def propose(self, text: str) -> None:
        """Shows a path unless the user has chosen one."""
        if not self.is_own:
            self.line.setText(text)

    def set_text(self, text: str) -> None:
        """Shows a path as if the user had typed it."""
        self.line.setText(text)
        self._take()

    def show_fault(self, text: str) -> None:
        self.fault.setText(text)
        self.fault.setVisible(bool(text))
        self.line.setAccessibleDescription(text)

    def _take(self) -> None:
        self.is_own = bool(self.text)
        self.edited.emit()

    def _choose(self) -> None:
        path = self._ask()
        if path is not None:
            self.set_text(str(path))


def folder_fault(path: Path) -> str:
    """Returns why a file cannot be written at a path, whose folder is made if it does not exist; "" if it can."""
    place = folder = path.parent
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir() or (not folder.exists() and not os.access(place, os.W_OK)):
        return f"The folder {folder} does not exist and cannot be made."
    if not os.access(place, os.W_OK):
        return f"The folder {folder} cannot be written to."
    return f"{path} is a folder." if path.is_dir() else ""
