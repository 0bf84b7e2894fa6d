from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QKeySequenceEdit, QLabel, QPushButton, QVBoxLayout, QWidget

from sinew.app.session.actions import RESERVED, Actions, command_entries
from sinew.widgets.cheat_sheet import CheatSheet
from sinew.widgets.parts import packed
from sinew.widgets.theme import SPACE, SPACE_WIDE


class ShortcutEditor(QWidget):
    """The list of all actions; Enter, F2 and a double click change the first key of one."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self._actions, self._id, self._wanted = actions, "", ""
        self.sheet = CheatSheet(command_entries(actions))
        self.name, self.keys, self.state = QLabel(), QKeySequenceEdit(), QLabel(wordWrap=True)
        self.keys.setMaximumSequenceLength(1)
        self.keys.setAccessibleName("Key")
        self.use, self.cancel = QPushButton("Use Here"), QPushButton("Cancel")
        self.none, self.reset, self.reset_all = QPushButton("None"), QPushButton("Reset"), QPushButton("Reset All")
        for button in (self.use, self.cancel, self.none, self.reset, self.reset_all):
            button.setAutoDefault(False)
        self.row = QWidget()
        packed(QHBoxLayout(self.row), self.name, (self.keys, 1), self.none, self.reset, spacing=SPACE)
        below = packed(QHBoxLayout(), (self.state, 1), self.use, self.cancel, self.reset_all, spacing=SPACE)
        packed(QVBoxLayout(self), (self.sheet, 1), self.row, below, spacing=SPACE_WIDE)
        self.setFocusProxy(self.sheet)
        self.sheet.chosen.connect(self.edit)
        self.keys.editingFinished.connect(
            lambda: self.take(self.keys.keySequence().toString(QKeySequence.SequenceFormat.PortableText))
        )
        self.none.clicked.connect(lambda: self._take_anew(""))
        self.use.clicked.connect(lambda: self._bind(self._wanted))
        self.cancel.clicked.connect(self.leave)
        self.reset.clicked.connect(lambda: self._take_anew(actions.default_key(self._id)))
        self.reset_all.clicked.connect(self._reset_all)
        self.leave()

    def edit(self, action_id: str) -> None:
        """Asks for the key of an action."""
        self._id, self._wanted = action_id, ""
        self.name.setText(f"{self._actions.title(action_id)}:")
        self._show(next(iter(self._actions.keys(action_id)), ""))
        self.row.show()
        self.reset.setEnabled(action_id in self._actions.rebound)
        self._report("Press a key; Esc leaves it as it is.")
        self.keys.setFocus()

    def take(self, key: str) -> None:
        """Gives the action a key, or says why it cannot have it, or which one has it."""
        if self._wanted:  # the editor repeats its key when it loses the focus
            return
        if not self._id or key == "Esc":
            self.leave()
        elif key in RESERVED:
            self._show(next(iter(self._actions.keys(self._id)), ""))
            self._report(RESERVED[key])
        elif key and (holder := self._actions.holder(key, self._id)):
            self._wanted = key
            self._report(f"{key} is {self._actions.title(holder)}.", asks=True)
            self.use.setFocus()
        else:
            self._bind(key)

    def _take_anew(self, key: str) -> None:
        self._wanted = ""
        self.take(key)

    def leave(self) -> None:
        self._id = self._wanted = ""
        self.row.hide()
        self._report("Enter or a double click changes the key of an action.")
        self.reset_all.setEnabled(bool(self._actions.rebound))
        if self.isVisible():
            self.sheet.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._id:
            self.leave()
        else:
            super().keyPressEvent(event)

    def _bind(self, key: str) -> None:
        self._actions.rebind(self._id, key)
        self.sheet.set_entries(command_entries(self._actions))
        self.leave()

    def _reset_all(self) -> None:
        self._actions.rebind_all()
        self.sheet.set_entries(command_entries(self._actions))
        self.leave()

    def _show(self, key: str) -> None:
        self.keys.blockSignals(True)
        self.keys.setKeySequence(QKeySequence(key))
        self.keys.blockSignals(False)

    def _report(self, text: str, *, asks: bool = False) -> None:
        self.state.setText(text)
        self.use.setVisible(asks)
        self.cancel.setVisible(asks)
