"""The brush on hair: what it does, how wide and strong it is, and whether both sides are brushed."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from widgets.number_field import NumberField
from widgets.parts import packed, tool_button
from widgets.theme import SPACE

RADIUS_LEAST, RADIUS_MOST = 3.0, 400.0


class BrushBar(QWidget):
    """Buttons of the brush; its numbers show while it is in the hand.

    Signals:
        chosen: Name of what the brush is to do, or "" for nothing.
        radius_changed, strength_changed: Another number [px], 0 to 1.
        mirrored: Whether both sides are brushed.
        reset_requested: What was edited by hand is to go.
    """

    chosen = Signal(str)
    radius_changed = Signal(object)
    strength_changed = Signal(object)
    mirrored = Signal(bool)
    reset_requested = Signal()

    def __init__(self, names: dict[str, tuple[str, str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons = {
            name: tool_button(icon, text, tip, self, checkable=True) for name, (icon, text, tip) in names.items()
        }
        for name, button in self.buttons.items():
            button.clicked.connect(lambda on, name=name: self.chosen.emit(name if on else ""))
        self.mirror = tool_button("mdi6.reflect-horizontal", "Mirror", "Brush both sides of the model.", checkable=True)
        self.mirror.toggled.connect(self.mirrored)
        self.reset = tool_button("reset", tip="Reset the groom: forget what was combed and cut by hand.")
        self.reset.clicked.connect(self.reset_requested)
        row = packed(QHBoxLayout(), *self.buttons.values(), self.mirror, spacing=SPACE)
        row.addStretch(1)
        row.addWidget(self.reset)
        self.numbers = QWidget(self)
        self.radius = NumberField(lo=RADIUS_LEAST, hi=RADIUS_MOST, step=1.0, decimals=0, unit="px", default=40.0)
        self.strength = NumberField(lo=0.0, hi=1.0, step=0.05, decimals=2, default=1.0)
        self.radius.setAccessibleName("Radius of the brush")
        self.strength.setAccessibleName("Strength of the brush")
        self.radius.edited.connect(self.radius_changed)
        self.strength.edited.connect(self.strength_changed)
        line = QHBoxLayout(self.numbers)
        packed(line, QLabel("Radius"), (self.radius, 1), QLabel("Strength"), (self.strength, 1), spacing=SPACE)
        packed(QVBoxLayout(self), row, self.numbers, spacing=SPACE)
        self.numbers.hide()

    def show_brush(self, name: str, radius: float, strength: float, *, mirror: bool, edited: bool) -> None:
        """Shows what is in the hand, "" for nothing, and whether there is something to reset."""
        for other, button in self.buttons.items():
            button.setChecked(other == name)
        self.numbers.setVisible(bool(name))
        self.radius.set_value(radius)
        self.strength.set_value(strength)
        self.mirror.setChecked(mirror)
        self.reset.setEnabled(edited)
