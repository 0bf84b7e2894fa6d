"""Editor of a texture that can be replaced, taken away, and located where it is missing."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from sim.scene.params import Suffixes
from widgets.icons import draw_glyph, glyph
from widgets.inspector.dialog_editors import PathEditor
from widgets.parts import packed, tool_button
from widgets.shown import label_text, tip_text
from widgets.theme import colours

_SIDE = 32


@dataclass(frozen=True, slots=True)
class TextureFacts:
    """What is shown of a texture.

    Attributes:
        name: Name of its file; "" where there is none.
        note: Its size, or what is wrong.
        tip: The whole path, or what else is to know.
        image: A small copy, RGBA, shape (H, W, 4), or None.
        file: What to look for where it is missing, else "".
        placeholder: What stands there without a texture.
    """

    name: str = ""
    note: str = ""
    tip: str = ""
    image: Any = None
    file: str = ""
    placeholder: str = "No texture"

    @property
    def text(self) -> str:
        return "  ".join(part for part in (label_text(self.name), self.note) if part)


class Thumbnail(QWidget):
    """A small picture, or an icon in its place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._facts = TextureFacts()
        self._picture: QImage | None = None
        self.setFixedSize(_SIDE, _SIDE)

    def show_facts(self, facts: TextureFacts) -> None:
        self._facts, self._picture = facts, None
        if facts.image is not None:
            height, width = facts.image.shape[:2]
            opaque = facts.image.copy()
            opaque[..., 3] = 255
            self._picture = QImage(opaque.data, width, height, 4 * width, QImage.Format.Format_RGBA8888).copy()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        palette, box = self.palette(), self.rect()
        with QPainter(self) as painter:
            if self._picture is not None:
                painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
                painter.drawImage(box, self._picture)
                painter.setPen(QPen(palette.color(QPalette.ColorRole.Mid), 1.0))
                painter.drawRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5))
            elif self._facts.file:
                draw_glyph(painter, box.adjusted(1, 1, -1, -1), glyph("texture-missing"), QColor(colours().warning))
            elif not self._facts.name:
                painter.setPen(QPen(palette.color(QPalette.ColorRole.Mid), 1.0, Qt.PenStyle.DotLine))
                painter.drawRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5))

    def sizeHint(self) -> QSize:
        return QSize(_SIDE, _SIDE)


class TextureEditor(PathEditor):
    """A path of an image, "" for none, None for what the file has.

    Args:
        suffixes: Gives the endings of the files to choose from.
        facts: What is shown for a value.
        parent: Parent widget.

    Signals:
        locate_requested: The user looks for a missing image; what it is called.
    """

    locate_requested = Signal(str)

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
        self.locate_button = tool_button("locate", "Locate", "Look for the image, for all materials that name it", self)
        self.remove_button = tool_button("cancel", tip="Take the texture away", parent=self)
        self.locate_button.clicked.connect(lambda: self.locate_requested.emit(self.facts.file))
        self.remove_button.clicked.connect(lambda: self.edited.emit(""))
        self.button.setToolTip("Replace the texture")
        layout = self.layout()
        layout.removeWidget(self.label)
        lines = packed(QVBoxLayout(), self.label, self.note)
        layout.insertWidget(0, self.thumbnail)
        layout.insertLayout(1, lines, 1)
        layout.insertWidget(2, self.locate_button)
        layout.addWidget(self.remove_button)

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
