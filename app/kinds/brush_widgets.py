from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from sinew.widgets.number_field import NumberField
from sinew.widgets.overlay import ViewportOverlay
from sinew.widgets.parts import FlowRow, packed, tool_button
from sinew.widgets.theme import SPACE

RADIUS_LEAST, RADIUS_MOST = 3.0, 400.0


class BrushBar(QWidget):
    """Bar of brushes, with radius and strength while a mode is active."""

    chosen = Signal(str)  # Name of a mode, or ""

    def __init__(self, names: dict[str, tuple[str, str, str]], reset_tip: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons = {
            name: tool_button(icon, text, tip, self, checkable=True) for name, (icon, text, tip) in names.items()
        }
        for name, button in self.buttons.items():
            button.clicked.connect(lambda on, name=name: self.chosen.emit(name if on else ""))
        self.mirror = tool_button("mdi6.reflect-horizontal", "Mirror", "Brush both sides of the model.", checkable=True)
        self.reset = tool_button("reset", tip=reset_tip)
        row = FlowRow()
        row.add(*self.buttons.values(), self.mirror, self.reset)
        self.numbers = QWidget(self)
        self.radius = NumberField(lo=RADIUS_LEAST, hi=RADIUS_MOST, step=1.0, decimals=0, unit="px", default=40.0)
        self.strength = NumberField(lo=0.0, hi=1.0, step=0.05, decimals=2, default=1.0)
        self.radius.setAccessibleName("Radius of the brush")
        self.strength.setAccessibleName("Strength of the brush")
        line = QHBoxLayout(self.numbers)
        packed(line, QLabel("Radius"), (self.radius, 1), QLabel("Strength"), (self.strength, 1), spacing=SPACE)
        packed(QVBoxLayout(self), row, self.numbers, spacing=SPACE)
        self.numbers.hide()

    def show_brush(self, name: str, radius: float, strength: float, *, mirror: bool, edited: bool) -> None:
        """Shows a brush; `name` is "" for no mode, `edited` enables the reset."""
        for other, button in self.buttons.items():
            button.setChecked(other == name)
        self.numbers.setVisible(bool(name))
        self.radius.set_value(radius)
        self.strength.set_value(strength)
        self.mirror.setChecked(mirror)
        self.reset.setEnabled(edited)


_NOTCHES = {"[": -1.0, "]": 1.0}
_SHADE = QColor(0, 0, 0, 130)
_LINE = QColor(236, 236, 236, 230)
_HELD = QColor(255, 214, 92)


class BrushRing(ViewportOverlay):
    """Circle of the brush over the viewport; ignores the mouse."""

    given_up = Signal()  # Escape was pressed
    turned = Signal(float)  # Notches of the wheel with Ctrl held, or of the keys [ and ]

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._viewport = viewport
        self._place: QPointF | None = None
        self._radius, self._is_held = 40.0, False
        viewport.installEventFilter(self)
        self.hide()

    def draw(self, place: QPointF | None, radius: float, *, held: bool = False) -> None:
        """Draws the circle at a place; None hides the circle, but keys and wheel stay active."""
        self._place, self._radius, self._is_held = place, radius, held
        self.setGeometry(self._viewport.rect())
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        if self._place is None:
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for pen in (QPen(_SHADE, 3.5), QPen(_HELD if self._is_held else _LINE, 1.5)):
                painter.setPen(pen)
                painter.drawEllipse(self._place, self._radius, self._radius)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self.isHidden():
            return False
        if isinstance(event, QWheelEvent) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.turned.emit(event.angleDelta().y() / 120.0)
            return True
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_escape and event.type() == QEvent.Type.KeyPress and not self._is_held:
            self.given_up.emit()
            return True
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.text() in _NOTCHES:
            self.turned.emit(_NOTCHES[event.text()])
            return True
        return super().eventFilter(watched, event)
