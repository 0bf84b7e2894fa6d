"""Controls above the ruler: the row, the clip chooser and a notice."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPalette, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLayout,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from sinew.widgets.icons import draw_glyph, glyph
from sinew.widgets.parts import packed
from sinew.widgets.texts import label_text, tip_text
from sinew.widgets.theme import SPACE, SPACE_WIDE, colours, tabular
from sinew.widgets.timeline.ruler_paint import small_font
from sinew.widgets.timeline.ruler_scale import ClipEntry

GAP = 3 * SPACE
_SUMMARY = Qt.ItemDataRole.UserRole + 1
_EMPTY = "No animation"
_NAME_CHARACTERS = 14
_POPUP_WIDTH_MAX = 560
_LEFT_TO_TIMELINE = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End)
Index = QModelIndex | QPersistentModelIndex
_WIDTH_MIN = 72


class ControlRow(QWidget):
    """Lays out widgets from left to right; hides whole groups of them if the row is too narrow."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layout = packed(QHBoxLayout(self), spacing=SPACE)
        self._layout.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self._fixed: list[QWidget] = []
        self._gaps = 0
        self._expendable: list[list[QWidget]] = []

    def add(self, *widgets: QWidget) -> None:
        for widget in widgets:
            self._layout.addWidget(widget)
            self._fixed.append(widget)

    def add_gap(self) -> None:
        self._layout.addSpacing(GAP)
        self._gaps += 1

    def add_stretch(self, share: int, widget: QWidget | None = None) -> None:
        """Adds a share of the free space, optionally filled by a widget of any width."""
        if widget is None:
            self._layout.addStretch(share)
        else:
            self._layout.addWidget(widget, share)

    def set_expendable(self, groups: Sequence[Sequence[QWidget]]) -> None:
        """Sets the groups that are hidden if the row is too narrow, the first group first."""
        self._expendable = [list(group) for group in groups]
        self._fit(self.width())

    def sizeHint(self) -> QSize:
        return QSize(self._needed(()), self._layout.sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        hidden = [widget for group in self._expendable for widget in group]
        return QSize(self._needed(hidden), self._layout.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit(event.size().width())

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit(self.width())
        return super().event(event)

    def _fit(self, width: int) -> None:
        hidden: list[QWidget] = []
        for group in self._expendable:
            if self._needed(hidden) <= width:
                break
            hidden += group
        for group in self._expendable:
            for widget in group:
                if widget.isHidden() != (widget in hidden):
                    widget.setVisible(widget not in hidden)

    def _needed(self, hidden: Sequence[QWidget]) -> int:
        widths = [widget.sizeHint().width() + SPACE for widget in self._fixed if widget not in hidden]
        return sum(widths) + self._gaps * (GAP + SPACE) + 2 * SPACE


class ClipChooser(QComboBox):
    """A combo box of clips; a plain label if there are none."""

    clip_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setItemDelegate(_ClipDelegate(self))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(_NAME_CHARACTERS)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName("Clip")
        self.activated.connect(lambda index: self.clip_chosen.emit(self.itemData(index) or ""))
        self.set_clips((), "")

    def set_clips(self, clips: Sequence[ClipEntry], current: str) -> None:
        self.clear()
        for clip in clips:
            self.addItem(label_text(clip.name), clip.name)
            self.setItemData(self.count() - 1, clip.summary, _SUMMARY)
        if not clips:
            self.addItem(_EMPTY)
        self.setEnabled(bool(clips))
        self.set_current(current)

    def set_current(self, name: str) -> None:
        index = self.findData(name)
        self.setCurrentIndex(max(index, 0))
        summary = self.currentData(_SUMMARY)
        self.setToolTip(
            tip_text(f"Animation: {self.currentText()}\n{summary}") if summary else "The model has no animation"
        )

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _LEFT_TO_TIMELINE:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def showPopup(self) -> None:
        width = self.view().sizeHintForColumn(0) + 2 * SPACE_WIDE
        self.view().setMinimumWidth(min(max(width, self.width()), _POPUP_WIDTH_MAX))
        super().showPopup()


class _ClipDelegate(QStyledItemDelegate):
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


class TimelineNotice(QWidget):
    """One line of text, with an optional warning icon."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text, self._warn = "", False
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setAccessibleName("Playback notice")

    def set_notice(self, text: str, warn: bool) -> None:
        if (text, warn) != (self._text, self._warn):
            self._text, self._warn = text, warn
            self.setToolTip(text)
            self.setAccessibleDescription(text)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(0, self.fontMetrics().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        if not self._text or self.width() < _WIDTH_MIN:
            return
        with QPainter(self) as painter:
            painter.setFont(small_font(self.font()))
            area = self.rect().adjusted(2 * SPACE, 0, -SPACE, 0)
            ink = self.palette().color(QPalette.ColorRole.PlaceholderText)
            if self._warn:
                ink, side = QColor(colours().warning), painter.fontMetrics().height()
                sign = QRect(area.left(), area.center().y() - side // 2, side, side)
                draw_glyph(painter, sign, glyph("warning"), ink)
                area.setLeft(sign.right() + SPACE)
            painter.setPen(ink)
            text = painter.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideRight, area.width())
            painter.drawText(area, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
