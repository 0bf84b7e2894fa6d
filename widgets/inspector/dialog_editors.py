"""Editors with a dialog that does not block the window: a colour, live while its dialog is open, and a file name."""

from collections.abc import Callable
from pathlib import PurePath

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QAbstractButton, QColorDialog, QFileDialog, QHBoxLayout, QSizePolicy, QWidget

from sim.scene.params import Suffixes
from sim.scene.vectors import Colour
from widgets.file_filter import ALL_FILES, file_filter
from widgets.inspector.editor import ValueEditor
from widgets.parts import packed, tool_button
from widgets.theme import SPACE, SPACE_WIDE


class ColourButton(QAbstractButton):
    """A swatch with the colour's hexadecimal code."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.colour = QColor(Qt.GlobalColor.white)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def set_colour(self, colour: QColor) -> None:
        self.colour = colour
        self.setAccessibleName(colour.name())
        self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance("#DDDDDD") + 3 * SPACE_WIDE, metrics.height() + SPACE_WIDE)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        luminance = 0.2126 * self.colour.redF() + 0.7152 * self.colour.greenF() + 0.0722 * self.colour.blueF()
        palette = self.palette()
        edge = palette.color(QPalette.ColorRole.Highlight if self.hasFocus() else QPalette.ColorRole.Mid)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(edge, 1.0))
            painter.setBrush(self.colour)
            painter.drawRoundedRect(self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 3.0, 3.0)
            painter.setPen(Qt.GlobalColor.black if luminance > 0.5 else Qt.GlobalColor.white)
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.colour.name().upper())


class ColourEditor(ValueEditor):
    """A colour button; the dialog is one gesture from opening to closing.

    Args:
        title: Title of the dialog.
        parent: Parent widget.
        own: Gives the colour that is meant where the value is None.
    """

    def __init__(
        self, title: str, parent: QWidget | None = None, *, own: Callable[[], Colour] = lambda: (1.0, 1.0, 1.0)
    ) -> None:
        super().__init__(parent)
        self._title, self._own = title, own
        self.dialog: QColorDialog | None = None
        self.button = ColourButton(self)
        self.button.clicked.connect(self.open_dialog)
        packed(QHBoxLayout(self), self.button)
        self.setFocusProxy(self.button)

    def set_value(self, value: Colour | None) -> None:
        self.button.set_colour(QColor.fromRgbF(*(self._own() if value is None else value)))

    def open_dialog(self) -> None:
        if self.dialog is not None:
            self.dialog.raise_()
            return
        dialog = QColorDialog(self.button.colour, self.window())
        dialog.setWindowTitle(self._title)
        dialog.setOption(QColorDialog.ColorDialogOption.DontUseNativeDialog)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.dialog = dialog
        self.edit_started.emit()
        dialog.currentColorChanged.connect(self._colour_chosen)
        dialog.accepted.connect(self._accepted)
        dialog.rejected.connect(self._rejected)
        dialog.show()

    def release(self) -> None:
        if self.dialog is not None:
            self.dialog.accept()

    def _colour_chosen(self, colour: QColor) -> None:
        self.button.set_colour(colour)
        self.edited.emit((colour.redF(), colour.greenF(), colour.blueF()))

    def _accepted(self) -> None:
        self.dialog = None
        self.edit_finished.emit()

    def _rejected(self) -> None:
        self.dialog = None
        self.edit_cancelled.emit()


class ElidedLabel(QWidget):
    """One line of text that loses its middle when there is no room; the tooltip has it whole."""

    def __init__(self, mode: Qt.TextElideMode, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._mode = mode
        self._text = ""
        self._placeholder = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        return self._text

    def set_text(self, text: str, placeholder: str = "") -> None:
        """Shows a text; `placeholder` stands dimmed in its stead when it is empty."""
        self._text, self._placeholder = text, placeholder
        self.setToolTip(text)
        self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._text or self._placeholder), metrics.height() + 2 * SPACE)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        shown = self._text or self._placeholder
        role = QPalette.ColorRole.WindowText if self._text else QPalette.ColorRole.PlaceholderText
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(role))
            text = self.fontMetrics().elidedText(shown, self._mode, self.width())
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)


class PathEditor(ValueEditor):
    """Path of a file; the dialog does not block the window.

    Args:
        suffixes: Gives the endings of the files to choose from.
        parent: Parent widget.
        mode: Which part of a path is left out where there is no room.
    """

    def __init__(
        self,
        suffixes: Suffixes,
        parent: QWidget | None = None,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideLeft,
    ) -> None:
        super().__init__(parent)
        self._suffixes = suffixes
        self.dialog: QFileDialog | None = None
        self.label = ElidedLabel(mode, self)
        self.button = tool_button("browse", tip="Choose a file", parent=self)
        self.button.clicked.connect(self.open_dialog)
        packed(QHBoxLayout(self), (self.label, 1), self.button, spacing=SPACE)
        self.setFocusProxy(self.button)

    def set_value(self, value: str) -> None:
        self.label.set_text(value, "No file")

    @property
    def folder(self) -> str:
        return str(PurePath(self.label.text()).parent) if self.label.text() else ""

    def open_dialog(self) -> None:
        """Opens the file dialog, or brings it forward."""
        if self.dialog is not None:
            self.dialog.raise_()
            return
        kinds = f"{file_filter('Files', self._suffixes())};;{ALL_FILES}"
        dialog = QFileDialog(self.window(), "Choose a file", self.folder, kinds)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.dialog = dialog
        dialog.fileSelected.connect(self._selected)
        dialog.finished.connect(self._closed)
        dialog.show()

    def release(self) -> None:
        if self.dialog is not None:
            self.dialog.reject()

    def _selected(self, path: str) -> None:
        if path != self.label.text():
            self.edited.emit(path)

    def _closed(self, _result: int) -> None:
        self.dialog = None
