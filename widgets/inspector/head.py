"""Head of the inspector: title, banner of an earlier state, warnings, mute and solo, and presets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QMargins, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Command, Panel, Presets
from sinew.sim.scene.scene import Node
from sinew.widgets.icons import GlyphLabel, icon
from sinew.widgets.inspector.editors import QuietComboBox
from sinew.widgets.parts import NOTICE_ICON, packed, text_label
from sinew.widgets.texts import label_text, tip_text
from sinew.widgets.theme import SPACE, SPACE_WIDE, bold

_TITLE_ICON = 24
_COLUMNS = 2  # Buttons per line of a notice: more would need a wide inspector
_NAME_MAX = 60


class InspectorHeader(QWidget):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon = GlyphLabel("view", _TITLE_ICON, self)
        self._icon.set_role(QPalette.ColorRole.WindowText)
        self.title = QLabel(self, textFormat=Qt.TextFormat.PlainText)
        self.title.setFont(bold(self.title.font()))
        self.subtitle = text_label(parent=self, dim=True)
        layout = QGridLayout(self)
        layout.setContentsMargins(SPACE_WIDE, SPACE_WIDE, SPACE_WIDE, SPACE_WIDE)
        layout.setHorizontalSpacing(SPACE_WIDE)
        layout.setVerticalSpacing(SPACE // 2)
        layout.addWidget(self._icon, 0, 0, 2, 1, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.title, 0, 1)
        layout.addWidget(self.subtitle, 1, 1)
        layout.setColumnStretch(1, 1)

    def show_subject(self, icon_name: str, title: str, subtitle: str) -> None:
        self._icon.set_icon(icon_name)
        self.set_title(title)
        self.subtitle.setText(label_text(subtitle))

    def set_title(self, title: str) -> None:
        self.title.setText(label_text(title) or "unnamed")
        self.title.setToolTip(tip_text(title))


class InspectorNotice(QFrame):
    """Line for a warning or an error, hidden without one; the `mark`s "warning" and "error" have a colour."""

    def __init__(self, mark: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        sign = GlyphLabel(mark, NOTICE_ICON, self)
        sign.set_role(QPalette.ColorRole.WindowText)
        if mark in ("warning", "error"):
            sign.set_tint(mark)
        self.label = text_label(parent=self, copied=True)
        self._buttons = QGridLayout()
        self._buttons.setSpacing(SPACE)
        self._buttons.setColumnStretch(_COLUMNS, 1)
        texts = packed(QVBoxLayout(), self.label, self._buttons, spacing=SPACE)
        layout = packed(QHBoxLayout(self), spacing=SPACE_WIDE)
        layout.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(texts, 1)
        self.hide()

    def add_button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setToolTip(tip)
        self._buttons.addWidget(button, *divmod(self._buttons.count(), _COLUMNS))
        return button

    def show_reason(self, reason: str) -> None:
        """Shows the reason of the notice; "" hides it."""
        text = label_text(reason[:1].upper() + reason[1:])
        if text != self.label.text():
            self.label.setText(text)
        self.setVisible(bool(reason))


class HistoryBanner(InspectorNotice):
    """Banner of settings of an earlier time; hidden until `show` is called."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("mdi6.history", parent)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self.setContentsMargins(SPACE_WIDE, SPACE, SPACE_WIDE, SPACE)
        self.back_button = self.add_button("Back to now", "Show the current settings.")
        self.restore_button = self.add_button("Restore these values", "")

    def report(self, text: str, tip: str, *, restorable: bool) -> None:
        """Shows a text in the banner; `restorable` if the values differ from the current ones."""
        self.label.setText(text)
        self.setToolTip(tip)
        self.restore_button.setToolTip(f"Restore the earlier values, as one step that can be undone.\n{tip}")
        self.restore_button.setEnabled(restorable)


class PresetBar(QWidget):
    """Bar of presets; the user types the name of a new one in the place of the combo box."""

    chosen = Signal(str)  # Name of a preset to apply
    saved = Signal(str)  # Name for the current values
    deleted = Signal(str)  # Name of a user preset

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._own: tuple[str, ...] = ()
        self.combo = QuietComboBox(self)
        self.combo.setPlaceholderText("Custom")
        self.combo.setToolTip("Apply a preset, as one edit.")
        self.combo.activated.connect(lambda index: self.chosen.emit(self.combo.itemText(index)))
        self.line = QLineEdit(self, placeholderText="Name of the preset, then Return", maxLength=_NAME_MAX)
        self.line.returnPressed.connect(self._save)
        self.line.installEventFilter(self)
        menu = QMenu(self)
        menu.addAction(icon("save"), "Save preset…").triggered.connect(self.ask_name)
        self.delete_action = menu.addAction(icon("delete"), "Delete preset")
        self.delete_action.setEnabled(False)
        self.delete_action.triggered.connect(lambda: self.deleted.emit(self.combo.currentText()))
        self.button = QToolButton(self, autoRaise=True, popupMode=QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setIcon(icon("settings"))
        self.button.setMenu(menu)
        self.button.setToolTip("Save or delete a preset")
        self.button.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        pages = QWidget(self)
        self._stack = QStackedLayout(pages)
        self._stack.addWidget(self.combo)
        self._stack.addWidget(self.line)
        packed(QHBoxLayout(self), QLabel("Preset", self), (pages, 1), self.button, spacing=SPACE_WIDE)

    def set_names(self, shipped: Sequence[str], own: Sequence[str]) -> None:
        """Lists the shipped presets, then the user's."""
        self._own = tuple(own)
        current = self.combo.currentText()
        self.combo.clear()
        self.combo.addItems(list(shipped))
        if own:
            self.combo.insertSeparator(self.combo.count())
            self.combo.addItems(list(own))
        self.show_name(current)

    def show_name(self, name: str) -> None:
        """Shows the preset that matches the values; "" for none."""
        self.combo.setCurrentIndex(self.combo.findText(name) if name else -1)
        self.delete_action.setEnabled(name in self._own)
        self.delete_action.setText(f"Delete “{name}”" if name in self._own else "Delete preset")

    def ask_name(self) -> None:
        name = self.combo.currentText()
        self.line.setText(name if name in self._own else "")
        self._stack.setCurrentWidget(self.line)
        self.line.setFocus()
        self.line.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            if event.type() == QEvent.Type.KeyPress:
                self._close_line()
            return True
        if event.type() == QEvent.Type.FocusOut:
            self._close_line()
        return super().eventFilter(watched, event)

    def _save(self) -> None:
        name = " ".join(self.line.text().split())
        if name:
            self._close_line()
            self.saved.emit(name)

    def _close_line(self) -> None:
        self._stack.setCurrentWidget(self.combo)


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """Texts about the state of a node; "" if there is nothing to report."""

    stopped: str = ""  # Why its simulation stopped
    warning: str = ""  # Problem of its settings
    note: str = ""  # It is muted or incomplete
    remedy: Command | None = None  # A fix for the warning


class NodeHead(QWidget):
    """Status, mute and solo buttons, presets, and the widgets that the type of the selected node adds."""

    switched = Signal(str, bool)  # "muted" or "solo", and its new value

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.status = NodeStatus()
        self._own: dict[str, list[QWidget]] = {}
        self.presets = PresetBar(self)
        self.notice = InspectorNotice("error", self)
        self.reset_button = self.notice.add_button("Reset", "Reset the simulation to the first frame.")
        self.resume_button = self.notice.add_button("Resume", "")
        self.warning = InspectorNotice("warning", self)
        self.remedy_button = self.warning.add_button("", "")
        self.remedy_button.clicked.connect(lambda: self.status.remedy and self.status.remedy.run())
        self.note = text_label(parent=self, dim=True)
        self.mute_button, self.solo_button = self._switch("muted", "Mute"), self._switch("solo", "Solo")
        self._heads = QVBoxLayout()
        self._buttons = packed(QHBoxLayout(), self.mute_button, self.solo_button, spacing=SPACE)
        self._buttons.addStretch(1)
        packed(
            QVBoxLayout(self), self.notice, self.warning, self.note, self._heads, self._buttons, self.presets,
            spacing=SPACE_WIDE, margins=QMargins(SPACE_WIDE, 0, SPACE_WIDE, SPACE_WIDE),
        )  # fmt: skip
        self.show_status(self.status)
        self.hide()

    def set_panels(self, panels: Mapping[str, Panel]) -> None:
        """Adds the buttons and the head of each type of node, by its name."""
        for kind, panel in panels.items():
            self._own[kind] = list(panel.buttons)
            if panel.head is not None:
                # The box is shown for its type; the head inside may hide itself.
                box = QWidget(self)
                packed(QVBoxLayout(box), panel.head)
                self._heads.addWidget(box)
                self._own[kind].append(box)
            for button in panel.buttons:
                self._buttons.insertWidget(self._buttons.count() - 1, button)

    def show_node(self, node: Node) -> None:
        """Shows the controls of a node; hides if its type has none."""
        kind = KINDS[node.kind]
        for name, widgets in self._own.items():
            for widget in widgets:
                widget.setVisible(name == kind.name)
        if not (kind.can_be_muted or Presets in kind.declared or self._own.get(kind.name)):
            self.hide()
            return
        label = kind.label.lower()
        self.resume_button.setToolTip(f"Continue from the last valid state of this {label}.")
        self.presets.setVisible(Presets in kind.declared)
        effect = "it is not simulated" if kind.system else "nothing collides with it"
        self.mute_button.setToolTip(f"Mute this {label}: {effect}.")
        self.solo_button.setToolTip(f"Mute every {label} that is not solo.")
        for button, on in ((self.mute_button, node.muted), (self.solo_button, node.solo)):
            button.setVisible(kind.can_be_muted)
            button.setChecked(on)
        self.show()

    def show_status(self, status: NodeStatus) -> None:
        self.status = status
        self.notice.show_reason(status.stopped)
        self.warning.show_reason(status.warning)
        self.remedy_button.setVisible(status.remedy is not None)
        if status.remedy is not None:
            self.remedy_button.setText(status.remedy.text)
            self.remedy_button.setToolTip(status.remedy.tip)
        note = label_text(status.note)
        if self.note.text() != note:
            self.note.setText(note)
        self.note.setVisible(bool(status.note))

    def _switch(self, name: str, text: str) -> QToolButton:
        button = head_button(name, text)
        button.setCheckable(True)
        # Not `toggled`, which is also emitted when the button follows the scene.
        button.clicked.connect(lambda on: self.switched.emit(name, on))
        return button


def head_button(icon_name: str, text: str, tip: str = "") -> QToolButton:
    button = QToolButton(toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setIcon(icon(icon_name))
    button.setText(text)
    button.setToolTip(tip)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button
