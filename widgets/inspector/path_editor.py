"""Editor of a file name: the elided path and a button to browse."""

from pathlib import PurePath

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QSizePolicy, QToolButton, QWidget

from sim.scene.params import Suffixes
from widgets.file_filter import ALL_FILES, file_filter
from widgets.inspector.editor import Editor
from widgets.theme import SPACE, icon


class ElidedLabel(QWidget):
    """One line of text that loses its middle when there is no room; the tooltip has it whole."""

    def __init__(self, mode: Qt.TextElideMode, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._mode = mode
        self._text = ""
        self._placeholder = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        """The whole text."""
        return self._text

    def set_text(self, text: str, placeholder: str = "") -> None:
        """Shows a text; `placeholder` stands dimmed in its stead when it is empty."""
        self._text, self._placeholder = text, placeholder
        self.setToolTip(text)
        self.update()

    def sizeHint(self) -> QSize:
        """One line."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._text or self._placeholder), metrics.height() + 2 * SPACE)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """Paints what fits."""
        shown = self._text or self._placeholder
        role = QPalette.ColorRole.WindowText if self._text else QPalette.ColorRole.PlaceholderText
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(role))
            text = self.fontMetrics().elidedText(shown, self._mode, self.width())
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)


class PathEditor(Editor):
    """Path of a file; the dialog does not block the window.

    Args:
        suffixes: Gives the endings of the files to choose from.
        parent: Parent widget.
    """

    def __init__(self, suffixes: Suffixes, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._suffixes = suffixes
        self.dialog: QFileDialog | None = None
        self.label = ElidedLabel(Qt.TextElideMode.ElideLeft, self)
        self.button = QToolButton(self)
        self.button.setIcon(icon("browse"))
        self.button.setAutoRaise(True)
        self.button.setToolTip("Choose a file")
        self.button.clicked.connect(self.open_dialog)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACE)
        layout.addWidget(self.label, 1)
        layout.addWidget(self.button)
        self.setFocusProxy(self.button)

    def set_value(self, value: str) -> None:
        """Shows a path."""
        self.label.set_text(value, "No file")

    def open_dialog(self) -> None:
        """Opens the file dialog, or brings it forward."""
        if self.dialog is not None:
            self.dialog.raise_()
            return
        folder = str(PurePath(self.label.text()).parent) if self.label.text() else ""
        kinds = f"{file_filter('Files', self._suffixes())};;{ALL_FILES}"
        dialog = QFileDialog(self.window(), "Choose a file", folder, kinds)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.dialog = dialog
        dialog.fileSelected.connect(self._selected)
        dialog.finished.connect(self._closed)
        dialog.show()

    def release(self) -> None:
        """Closes the dialog without a choice."""
        if self.dialog is not None:
            self.dialog.reject()

    def _selected(self, path: str) -> None:
        if path != self.label.text():
            self.edited.emit(path)

    def _closed(self, _result: int) -> None:
        self.dialog = None
