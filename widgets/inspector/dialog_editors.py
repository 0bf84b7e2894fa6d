"""Editors of colours, paths and textures with dialogs, which are not modal."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QColorDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from sinew.sim.scene.params import Suffixes
from sinew.sim.scene.vectors import Colour
from sinew.widgets.icons import draw_glyph, glyph
from sinew.widgets.inspector.editor import ValueEditor
from sinew.widgets.parts import ElidedLabel, packed, tool_button
from sinew.widgets.texts import ALL_FILES, file_filter, label_text, tip_text
from sinew.widgets.theme import SPACE, SPACE_WIDE, colours

_THUMBNAIL_SIDE = 32


class ColourButton(QAbstractButton):
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
    """Editor of a colour; its dialog is one gesture, `own` returns the colour for which a value of None stands."""

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


class PathEditor(ValueEditor):
    """Editor of a path; `suffixes` returns the file extensions of the dialog."""

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
        self.button = tool_button("browse", tip="Choose a file", parent=self, act=self.open_dialog)
        self._row = packed(QHBoxLayout(self), (self.label, 1), self.button, spacing=SPACE)
        self.setFocusProxy(self.button)

    def set_value(self, value: str) -> None:
        self.label.set_text(value, "No file")

    @property
    def folder(self) -> str:
        return str(PurePath(self.label.text()).parent) if self.label.text() else ""

    def open_dialog(self) -> None:
        if self.dialog is not None:
            self.dialog.raise_()
            return
        filters = f"{file_filter('Files', self._suffixes())};;{ALL_FILES}"
        dialog = QFileDialog(self.window(), "Choose a file", self.folder, filters)
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


@dataclass(frozen=True, slots=True)
class TextureFacts:
    name: str = ""  # File name; "" for no texture
    note: str = ""  # Size, or an error
    tip: str = ""  # Full path, or a longer error
    image: Any = None  # Thumbnail, RGBA, shape (H, W, 4), or None
    file: str = ""  # Name or path of a missing file, else ""
    placeholder: str = "No texture"

    @property
    def text(self) -> str:
        return "  ".join(part for part in (label_text(self.name), self.note) if part)


class Thumbnail(QWidget):
    """Small view of an image; a missing one has an icon."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._facts = TextureFacts()
        self._image: QImage | None = None
        self.setFixedSize(_THUMBNAIL_SIDE, _THUMBNAIL_SIDE)

    def show_facts(self, facts: TextureFacts) -> None:
        self._facts, self._image = facts, None
        if facts.image is not None:
            height, width = facts.image.shape[:2]
            opaque = facts.image.copy()
            opaque[..., 3] = 255
            self._image = QImage(opaque.data, width, height, 4 * width, QImage.Format.Format_RGBA8888).copy()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        palette, box = self.palette(), self.rect()
        with QPainter(self) as painter:
            if self._image is not None:
                painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
                painter.drawImage(box, self._image)
                painter.setPen(QPen(palette.color(QPalette.ColorRole.Mid), 1.0))
                painter.drawRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5))
            elif self._facts.file:
                draw_glyph(painter, box.adjusted(1, 1, -1, -1), glyph("texture-missing"), QColor(colours().warning))
            elif not self._facts.name:
                painter.setPen(QPen(palette.color(QPalette.ColorRole.Mid), 1.0, Qt.PenStyle.DotLine))
                painter.drawRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5))

    def sizeHint(self) -> QSize:
        return QSize(_THUMBNAIL_SIDE, _THUMBNAIL_SIDE)


class TextureEditor(PathEditor):
    """Editor of a texture: the path of an image, "" for none, None for the texture of the model file."""

    locate_requested = Signal(str)  # Name or path of the missing image

    def __init__(
        self, suffixes: Suffixes, facts: Callable[[str | None], TextureFacts], parent: QWidget | None = None
    ) -> None:
        super().__init__(suffixes, parent, Qt.TextElideMode.ElideMiddle)
        self._facts_of = facts
        self._value: str | None = None
        self.facts = TextureFacts()
        self.thumbnail = Thumbnail(self)
        self.note = QLabel(self)
        self.note.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.locate_button = tool_button("locate", "Locate", "Locate the image, for all materials that use it", self)
        self.remove_button = tool_button("cancel", tip="Remove the texture", parent=self)
        self.locate_button.clicked.connect(lambda: self.locate_requested.emit(self.facts.file))
        self.remove_button.clicked.connect(lambda: self.edited.emit(""))
        self.button.setToolTip("Replace the texture")
        self._row.removeWidget(self.label)
        lines = packed(QVBoxLayout(), self.label, self.note)
        self._row.insertWidget(0, self.thumbnail)
        self._row.insertLayout(1, lines, 1)
        self._row.insertWidget(2, self.locate_button)
        self._row.addWidget(self.remove_button)

    def set_value(self, value: str | None) -> None:
        self._value, self.facts = value, self._facts_of(value)
        facts = self.facts
        self.thumbnail.show_facts(facts)
        self.label.set_text(label_text(facts.name), facts.placeholder)
        self.label.setToolTip(tip_text(facts.tip))
        self.note.setText(facts.note)
        self.note.setVisible(bool(facts.note))
        self.locate_button.setVisible(bool(facts.file))
        self.button.setVisible(not facts.file)
        self.remove_button.setEnabled(bool(facts.name))

    @property
    def folder(self) -> str:
        path = self._value or self.facts.tip
        return str(PurePath(path).parent) if PurePath(path).is_absolute() else ""
