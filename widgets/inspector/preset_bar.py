"""Presets of settings: choose one, save the present values as another, delete one's own."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QMenu, QStackedLayout, QToolButton, QWidget

from widgets.inspector.editors import QuietComboBox
from widgets.theme import SPACE_WIDE, icon

NAME_MAX = 60


class PresetBar(QWidget):
    """A combo box and a menu; a name for a new preset is typed in the place of the combo box.

    Signals:
        chosen: Name of the preset that the values shall be taken from.
        saved: Name under which the present values shall be kept.
        deleted: Name of one's own preset that shall go.
    """

    chosen = Signal(str)
    saved = Signal(str)
    deleted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._own: tuple[str, ...] = ()
        self.combo = QuietComboBox(self)
        self.combo.setPlaceholderText("Custom")
        self.combo.setToolTip("Take the values of a preset, as one edit.")
        self.combo.activated.connect(lambda index: self.chosen.emit(self.combo.itemText(index)))
        self.line = QLineEdit(self)
        self.line.setPlaceholderText("Name of the preset, then Return")
        self.line.setMaxLength(NAME_MAX)
        self.line.returnPressed.connect(self._save)
        self.line.installEventFilter(self)
        self._arrange()

    def set_names(self, shipped: Sequence[str], own: Sequence[str]) -> None:
        """Lists the presets, one's own below the shipped ones."""
        self._own = tuple(own)
        current = self.combo.currentText()
        self.combo.clear()
        self.combo.addItems(list(shipped))
        if own:
            self.combo.insertSeparator(self.combo.count())
            self.combo.addItems(list(own))
        self.show_name(current)

    def show_name(self, name: str) -> None:
        """Shows which preset the values are those of; "" for none."""
        self.combo.setCurrentIndex(self.combo.findText(name) if name else -1)
        self.delete_action.setEnabled(name in self._own)
        self.delete_action.setText(f"Delete “{name}”" if name in self._own else "Delete preset")

    def ask_name(self) -> None:
        """Lets the user type the name of a new preset."""
        name = self.combo.currentText()
        self.line.setText(name if name in self._own else "")
        self._stack.setCurrentWidget(self.line)
        self.line.setFocus()
        self.line.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            if event.type() == QEvent.Type.KeyPress:
                self._leave()
            return True
        if event.type() == QEvent.Type.FocusOut:
            self._leave()
        return super().eventFilter(watched, event)

    def _save(self) -> None:
        name = " ".join(self.line.text().split())
        if name:
            self._leave()
            self.saved.emit(name)

    def _leave(self) -> None:
        self._stack.setCurrentWidget(self.combo)

    def _arrange(self) -> None:
        menu = QMenu(self)
        menu.addAction(icon("save"), "Save preset…").triggered.connect(self.ask_name)
        self.delete_action = menu.addAction(icon("delete"), "Delete preset")
        self.delete_action.setEnabled(False)
        self.delete_action.triggered.connect(lambda: self.deleted.emit(self.combo.currentText()))
        self.button = QToolButton(self)
        self.button.setIcon(icon("settings"))
        self.button.setAutoRaise(True)
        self.button.setMenu(menu)
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setToolTip("Save or delete a preset")
        self.button.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        place = QWidget(self)
        self._stack = QStackedLayout(place)
        self._stack.addWidget(self.combo)
        self._stack.addWidget(self.line)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACE_WIDE)
        layout.addWidget(QLabel("Preset", self))
        layout.addWidget(place, 1)
        layout.addWidget(self.button)
