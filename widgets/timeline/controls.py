import functools
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QIcon,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPalette,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QWidget,
)

from sinew.sim.scene.playback import LoopMode
from sinew.widgets.icons import PaletteEngine, icon
from sinew.widgets.parts import packed
from sinew.widgets.texts import label_text, tip_text
from sinew.widgets.theme import SPACE, SPACE_WIDE, tabular
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
    """Row of widgets from left to right; hides whole groups of them if it is too narrow."""

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
        """Sets the groups that a narrow row hides, the first one first."""
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
    """Combo box of clips; a plain label if there are none."""

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


_GRID = 24.0
# Shapes on a grid of 24, pointing right: triangle (left, tip), bar (left, right), diamond (centre, half width).
_SHAPES: dict[str, tuple[tuple[str, float, float], ...]] = {
    "play": (("triangle", 7.0, 19.0),),
    "pause": (("bar", 6.5, 10.5), ("bar", 13.5, 17.5)),
    "step": (("bar", 5.0, 7.5), ("triangle", 9.5, 19.0)),
    "key": (("triangle", 4.0, 12.0), ("diamond", 17.0, 4.5)),
    "end": (("triangle", 5.5, 16.0), ("bar", 16.5, 19.0)),
}
_ICON_SIDE = 20
_RADIUS = 3.0
_ARROWS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down)


@functools.cache
def transport_icon(shape: str, mirrored: bool = False) -> QIcon:
    """Returns an icon: "play", "pause", "step", "key" or "end"; mirrored ones point left."""

    def draw(painter: QPainter, rect: QRect, colour: QColor) -> None:
        side = min(rect.width(), rect.height())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(QPointF(rect.center()) + QPointF(0.5, 0.5))
        painter.scale((-side if mirrored else side) / _GRID, side / _GRID)
        painter.translate(-0.5 * _GRID, -0.5 * _GRID)
        painter.fillPath(_path(shape), colour)
        painter.restore()

    return QIcon(PaletteEngine(draw))


def _path(shape: str) -> QPainterPath:
    path = QPainterPath()
    for kind, first, second in _SHAPES[shape]:
        if kind == "bar":
            path.addRect(QRectF(first, 6.0, second - first, 12.0))
            continue
        if kind == "triangle":
            corners = [(first, 6.0), (second, 12.0), (first, 18.0)]
        else:
            corners = [(first - second, 12.0), (first, 12.0 - second), (first + second, 12.0), (first, 12.0 + second)]
        path.moveTo(*corners[0])
        for corner in corners[1:]:
            path.lineTo(*corner)
        path.closeSubpath()
    return path


class TransportButton(QToolButton):
    """Button that does not take the focus when clicked and ignores the arrow keys."""

    def __init__(self, name: str, tip: str, shown: QIcon, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoRaise(True)
        self.setIconSize(QSize(_ICON_SIDE, _ICON_SIDE))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.show_as(name, tip, shown)

    def show_as(self, name: str, tip: str, shown: QIcon) -> None:
        self.setAccessibleName(name)
        self.setToolTip(tip)
        self.setIcon(shown)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ARROWS:
            event.ignore()
        else:
            super().keyPressEvent(event)


@dataclass(frozen=True, slots=True)
class _Push:
    name: str
    tip: str
    shape: str
    mirrored: bool


_FIRST = _Push("First frame", "Go to the start of the range (Home)", "end", True)
_KEY_BACK = _Push("Previous key", "Go to the previous key (Shift+Left)", "key", True)
_STEP_BACK = _Push("Previous frame", "Step back one frame (Left or ,)", "step", True)
_BACKWARDS = _Push("Play backwards", "Play backwards (Shift+Space)", "play", True)
_PLAY = _Push("Play", "Play (Space)", "play", False)
_STEP = _Push("Next frame", "Step forward one frame (Right or .)", "step", False)
_KEY = _Push("Next key", "Go to the next key (Shift+Right)", "key", False)
_LAST = _Push("Last frame", "Go to the end of the range (End)", "end", False)


class Transport(QWidget):
    play_toggled = Signal(int)
    step_requested = Signal(int)
    key_requested = Signal(int)
    jump_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons: list[TransportButton] = []
        self._layout = packed(QHBoxLayout(self))
        first = self._add(_FIRST)
        first.clicked.connect(lambda: self.jump_requested.emit("first"))
        self._add(_KEY_BACK).clicked.connect(lambda: self.key_requested.emit(-1))
        self._add(_STEP_BACK).clicked.connect(lambda: self.step_requested.emit(-1))
        self._backwards = self._add(_BACKWARDS)
        self._backwards.clicked.connect(lambda: self.play_toggled.emit(-1))
        self._play = self._add(_PLAY)
        self._play.clicked.connect(lambda: self.play_toggled.emit(1))
        step = self._add(_STEP)
        step.clicked.connect(lambda: self.step_requested.emit(1))
        self._forwards = (first, self._play, step)
        self._add(_KEY).clicked.connect(lambda: self.key_requested.emit(1))
        self._add(_LAST).clicked.connect(lambda: self.jump_requested.emit("last"))

    def enable(self, *, clip: bool, simulation: bool) -> None:
        """Enables the buttons; without a clip, a simulation can only play and step forwards, and reset."""
        self.setEnabled(clip or simulation)
        for button in self.buttons:
            button.setEnabled(clip or (simulation and button in self._forwards))

    def set_playing(self, playing: bool, direction: int) -> None:
        """Shows the state of playback: the button of the playing direction becomes a pause button."""
        for button, push, sign, key in (
            (self._play, _PLAY, 1, "Space"),
            (self._backwards, _BACKWARDS, -1, "Shift+Space"),
        ):
            if playing and sign == (1 if direction >= 0 else -1):
                button.show_as("Pause", f"Pause ({key})", transport_icon("pause"))
            else:
                button.show_as(push.name, push.tip, transport_icon(push.shape, push.mirrored))

    def _add(self, push: _Push) -> TransportButton:
        button = TransportButton(push.name, push.tip, transport_icon(push.shape, push.mirrored), self)
        self._layout.addWidget(button)
        self.buttons.append(button)
        return button


_LOOPS: dict[LoopMode, tuple[str, str]] = {
    LoopMode.LOOP: ("loop", "Loop: starts again at the end of the range"),
    LoopMode.ONCE: ("mdi6.ray-start-arrow", "Once: stops at the end of the range"),
    LoopMode.PING_PONG: ("ping-pong", "Ping-pong: reverses at each end of the range"),
}


class LoopButton(TransportButton):
    """Button of the loop mode, which emits the next one."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Loop mode", "", icon("loop"), parent)
        self._mode = LoopMode.LOOP
        self.set_mode(self._mode)
        self.clicked.connect(self._choose_next)

    def set_mode(self, mode: LoopMode) -> None:
        self._mode = mode
        glyph, tip = _LOOPS[mode]
        self.show_as(f"Loop mode: {mode.value}", f"{tip}\nClick for the next mode", icon(glyph))

    def _choose_next(self) -> None:
        modes = list(LoopMode)
        self.chosen.emit(modes[(modes.index(self._mode) + 1) % len(modes)])
