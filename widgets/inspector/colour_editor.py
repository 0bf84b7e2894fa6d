"""Editor of a colour: a swatch that opens a dialog, live while the dialog is open."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QAbstractButton, QColorDialog, QHBoxLayout, QWidget

from sim.scene.vectors import Colour
from widgets.inspector.editor import Editor
from widgets.theme import SPACE_WIDE


class ColourButton(QAbstractButton):
    """A swatch with the colour's hexadecimal code."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.colour = QColor(Qt.GlobalColor.white)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def set_colour(self, colour: QColor) -> None:
        """Shows a colour."""
        self.colour = colour
        self.setAccessibleName(colour.name())
        self.update()

    def sizeHint(self) -> QSize:
        """Room for the code."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance("#DDDDDD") + 3 * SPACE_WIDE, metrics.height() + SPACE_WIDE)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        """The swatch, with the code in black or white, whichever reads better."""
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


class ColourEditor(Editor):
    """A colour button; the dialog is one gesture from opening to closing.

    Args:
        title: Title of the dialog.
        parent: Parent widget.
    """

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = title
        self.dialog: QColorDialog | None = None
        self.button = ColourButton(self)
        self.button.clicked.connect(self.open_dialog)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.button)
        self.setFocusProxy(self.button)

    def set_value(self, value: Colour) -> None:
        """Shows a colour, components 0 to 1."""
        self.button.set_colour(QColor.fromRgbF(*value))

    def open_dialog(self) -> None:
        """Opens the dialog, or brings it forward."""
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
        """Closes the dialog; the colour chosen so far stays."""
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
