"""Chooses the clip: its name in the row, its length beside the name in the popup."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPalette, QWheelEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from widgets.theme import SPACE_WIDE, tabular
from widgets.timeline.clip_entry import ClipEntry

_SUMMARY = Qt.ItemDataRole.UserRole + 1
_EMPTY = "No animation"
_NAME_CHARACTERS = 14
_POPUP_WIDTH_MAX = 560
_LEFT_TO_TIMELINE = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End)

Index = QModelIndex | QPersistentModelIndex


class ClipChooser(QComboBox):
    """A combo box of clips; `textActivated` of Qt tells what the user chose."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setItemDelegate(_ClipDelegate(self))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(_NAME_CHARACTERS)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName("Clip")
        self.set_clips((), "")

    def set_clips(self, clips: Sequence[ClipEntry], current: str) -> None:
        """Show these clips; says so where there is none."""
        self.clear()
        for clip in clips:
            self.addItem(clip.name)
            self.setItemData(self.count() - 1, clip.summary, _SUMMARY)
        if not clips:
            self.addItem(_EMPTY)
        self.setEnabled(bool(clips))
        self.set_current(current)

    def set_current(self, name: str) -> None:
        """Show one of the clips as chosen."""
        index = self.findText(name, Qt.MatchFlag.MatchExactly)
        self.setCurrentIndex(max(index, 0))
        summary = self.currentData(_SUMMARY)
        self.setToolTip(f"Animation: {self.currentText()}\n{summary}" if summary else "The model has no animation")

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to what scrolls around; a clip is never changed by accident."""
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave the keys of the timeline to it."""
        if event.key() in _LEFT_TO_TIMELINE:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def showPopup(self) -> None:
        """Open the list wide enough for names and lengths."""
        wanted = self.view().sizeHintForColumn(0) + 2 * SPACE_WIDE
        self.view().setMinimumWidth(min(max(wanted, self.width()), _POPUP_WIDTH_MAX))
        super().showPopup()


class _ClipDelegate(QStyledItemDelegate):
    """The name, and the length dim at the right edge."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        size = super().sizeHint(option, index)
        summary = option.fontMetrics.horizontalAdvance(_summary(index))
        return QSize(size.width() + summary + 4 * SPACE_WIDE, size.height() + 4)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        summary = _summary(index)
        room = QStyleOptionViewItem(option)
        self.initStyleOption(room, index)
        room.widget.style().drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, room, painter, room.widget)
        selected = bool(room.state & QStyle.StateFlag.State_Selected)
        ink = room.palette.color(QPalette.ColorRole.HighlightedText if selected else QPalette.ColorRole.Text)
        area = room.rect.adjusted(SPACE_WIDE, 0, -SPACE_WIDE, 0)
        painter.save()
        painter.setFont(tabular(room.font))
        painter.setPen(ink)
        name_width = area.width() - room.fontMetrics.horizontalAdvance(summary) - 2 * SPACE_WIDE
        name = room.fontMetrics.elidedText(room.text, Qt.TextElideMode.ElideMiddle, max(name_width, 0))
        painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
        painter.setOpacity(0.7)
        painter.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, summary)
        painter.restore()


def _summary(index: Index) -> str:
    return str(index.data(_SUMMARY) or "")
