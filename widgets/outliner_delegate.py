"""Paints a row of the outliner: name on the left; note, loudspeaker and eye held at the right edge of what is seen.

The right side stays in sight however deep the tree is and however far it is scrolled sideways.
"""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTreeView

from widgets.outliner_model import EYE_ROLE, NOTE_COLOUR_ROLE, NOTE_ROLE, SPEAKER_ROLE
from widgets.theme import SPACE, SPACE_WIDE, tabular

EYE_WIDTH = 24
_EYE_SIDE = 16
Index = QModelIndex | QPersistentModelIndex


class OutlinerDelegate(QStyledItemDelegate):
    """Delegate of the one column of the outliner."""

    def __init__(self, view: QTreeView) -> None:
        super().__init__(view)
        self._view = view

    def is_on_eye(self, x: int) -> bool:
        """Whether a horizontal place in the viewport is where eyes are."""
        return x >= self._view.viewport().width() - EYE_WIDTH

    def is_on_speaker(self, x: int) -> bool:
        """Whether a horizontal place in the viewport is where loudspeakers are."""
        return not self.is_on_eye(x) and x >= self._view.viewport().width() - 2 * EYE_WIDTH

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paints name, note, loudspeaker and eye; the note gives way where the name needs the room."""
        right = self._view.viewport().width()
        eye, speaker = index.data(EYE_ROLE), index.data(SPEAKER_ROLE)
        edge = right - EYE_WIDTH - (EYE_WIDTH if isinstance(speaker, QIcon) else 0)
        if isinstance(eye, QIcon):
            name = QStyleOptionViewItem(option)
            name.rect.setRight(min(option.rect.right(), edge - self._note_width(option, index)))
            self._paint_ground(painter, option)
            super().paint(painter, name, index)
            self._paint_badge(painter, option, eye, right)
            if isinstance(speaker, QIcon):
                self._paint_badge(painter, option, speaker, right - EYE_WIDTH)
            name_right = name.rect.right()
        else:
            super().paint(painter, option, index)
            name_right = option.rect.left() + super().sizeHint(option, index).width()
        if name_right <= edge - self._note_width(option, index):
            self._paint_note(painter, option, index, edge - SPACE)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Room for the name."""
        size = super().sizeHint(option, index)
        height = max(size.height(), option.fontMetrics.height() + SPACE)
        # A name beside an eye is shortened, so that it never makes the tree wider than the panel.
        return QSize(0 if index.data(EYE_ROLE) is not None else size.width() + SPACE_WIDE, height)

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        style = self._view.style()
        style.drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, self._view)

    def _paint_badge(self, painter: QPainter, option: QStyleOptionViewItem, badge: QIcon, right: int) -> None:
        square = QRect(0, 0, _EYE_SIDE, _EYE_SIDE)
        square.moveCenter(QRect(right - EYE_WIDTH, option.rect.top(), EYE_WIDTH, option.rect.height()).center())
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        mode = QIcon.Mode.Selected if selected else QIcon.Mode.Normal
        badge.paint(painter, square, Qt.AlignmentFlag.AlignCenter, mode)

    def _note_width(self, option: QStyleOptionViewItem, index: Index) -> int:
        note = index.data(NOTE_ROLE)
        return option.fontMetrics.horizontalAdvance(note) + 2 * SPACE if note else 0

    def _paint_note(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, right: int) -> None:
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        tint = option.palette.color(QPalette.ColorRole.HighlightedText) if selected else index.data(NOTE_COLOUR_ROLE)
        painter.save()
        painter.setFont(tabular(option.font))
        painter.setPen(QColor(tint))
        cell = QRect(option.rect.left(), option.rect.top(), right - option.rect.left(), option.rect.height())
        painter.drawText(cell, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, index.data(NOTE_ROLE))
        painter.restore()
