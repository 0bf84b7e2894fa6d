"""Paints a row of the outliner: name on the left, note and badges at the right edge, in sight however deep it lies."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTreeView

from widgets.outliner_model import BADGES_ROLE, NOTE_COLOUR_ROLE, NOTE_ROLE, Badge
from widgets.theme import SPACE, tabular

EYE_WIDTH = 24
_EYE_SIDE = 16
Index = QModelIndex | QPersistentModelIndex


class OutlinerDelegate(QStyledItemDelegate):
    """Delegate of the one column of the outliner."""

    def __init__(self, view: QTreeView) -> None:
        super().__init__(view)
        self._view = view

    def badge_at(self, index: Index, x: int) -> Badge | None:
        """What can be clicked at a horizontal place of the viewport; None beside the badges of a row."""
        place = (self._view.viewport().width() - 1 - x) // EYE_WIDTH
        badges = index.data(BADGES_ROLE) or ()
        return badges[place][0] if 0 <= place < len(badges) else None

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        right = self._view.viewport().width()
        badges = index.data(BADGES_ROLE) or ()
        edge = right - EYE_WIDTH * max(len(badges), 1)
        if badges:
            name = QStyleOptionViewItem(option)
            name.rect.setRight(min(option.rect.right(), edge - self._note_width(option, index)))
            self._paint_ground(painter, option)
            super().paint(painter, name, index)
            for place, (_, badge) in enumerate(badges):
                self._paint_badge(painter, option, badge, right - place * EYE_WIDTH)
            name_right = name.rect.right()
        else:
            super().paint(painter, option, index)
            name_right = option.rect.left() + super().sizeHint(option, index).width()
        if name_right <= edge - self._note_width(option, index):
            self._paint_note(painter, option, index, edge - SPACE)

    def name_right(self, option: QStyleOptionViewItem, index: Index) -> int:
        return option.rect.left() + super().sizeHint(option, index).width()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width(), max(size.height(), option.fontMetrics.height() + SPACE))

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
