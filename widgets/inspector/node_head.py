"""Head of the inspector for nodes: how they stand, mute and solo, what the room of their kind adds, presets."""

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from sim.kinds import KINDS
from sim.kinds.contract import Command, Panel
from sim.scene.scene import Node
from widgets.inspector.notice import InspectorNotice, StopNotice
from widgets.inspector.preset_bar import PresetBar
from widgets.parts import packed
from widgets.shown import label_text
from widgets.theme import SPACE, SPACE_WIDE, icon


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """How a node stands.

    Attributes:
        stopped: Why its simulation stands still, or "" while it can move.
        warning: What its settings do not suffice for, or "".
        note: What else there is to know: that it is silent, or what is missing; or "".
        remedy: What can be done about the warning.
    """

    stopped: str = ""
    warning: str = ""
    note: str = ""
    remedy: Command | None = None


class NodeHead(QWidget):
    """Shows how the selected node stands; asks for edits, makes none.

    Signals:
        reset_requested: Back to the start.
        resume_requested: On from the last good state.
        switched: "muted" or "solo", and whether it shall be.

    Attributes:
        presets: Bar of the presets.
        status: What is shown.
    """

    reset_requested = Signal()
    resume_requested = Signal()
    switched = Signal(str, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.status = NodeStatus()
        self._own: dict[str, list[QWidget]] = {}
        self.presets = PresetBar(self)
        self.notice = StopNotice(self)
        self.notice.reset_button.clicked.connect(self.reset_requested)
        self.notice.resume_button.clicked.connect(self.resume_requested)
        self.warning = InspectorNotice("warning", self)
        self.remedy_button = self.warning.add_button("", "")
        self.remedy_button.clicked.connect(lambda: self.status.remedy and self.status.remedy.run())
        self.note = QLabel(self)
        self.note.setWordWrap(True)
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.mute_button, self.solo_button = self._switch("muted", "Mute"), self._switch("solo", "Solo")
        self._places, self._buttons = QVBoxLayout(), QHBoxLayout()
        self._buttons.setSpacing(SPACE)
        for button in (self.mute_button, self.solo_button):
            self._buttons.addWidget(button)
        self._buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_WIDE, 0, SPACE_WIDE, SPACE_WIDE)
        layout.setSpacing(SPACE_WIDE)
        for part in (self.notice, self.warning, self.note):
            layout.addWidget(part)
        layout.addLayout(self._places)
        layout.addLayout(self._buttons)
        layout.addWidget(self.presets)
        self.show_status(self.status)
        self.hide()

    def set_rooms(self, rooms: Mapping[str, Panel]) -> None:
        for kind, room in rooms.items():
            self._own[kind] = list(room.buttons)
            if room.head is not None:
                place = QWidget(self)  # shown for its kind; what is in it hides where it has nothing to say
                packed(QVBoxLayout(place), room.head)
                self._places.addWidget(place)
                self._own[kind].append(place)
            for button in room.buttons:
                self._buttons.insertWidget(self._buttons.count() - 1, button)

    def show_node(self, node: Node | None) -> None:
        """Shows what there is for a node; hides where there is nothing."""
        kind = KINDS[node.kind] if node is not None else None
        for name, widgets in self._own.items():
            for widget in widgets:
                widget.setVisible(kind is not None and name == kind.name)
        if node is None or kind is None or not (kind.can_be_muted or kind.presets or self._own.get(kind.name)):
            self.hide()
            return
        label = kind.label.lower()
        self.notice.show_kind(label)
        self.presets.setVisible(kind.presets is not None)
        effect = "it is not simulated" if kind.system else "nothing collides with it"
        self.mute_button.setToolTip(f"Mute this {label}: {effect}.")
        self.solo_button.setToolTip(f"Silence every {label} that is not solo too.")
        for button, on in ((self.mute_button, node.muted), (self.solo_button, node.solo)):
            button.setVisible(kind.can_be_muted)
            button.setChecked(on)
        self.show()

    def show_status(self, status: NodeStatus) -> None:
        """Shows how the node stands; what is the same stays untouched."""
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
        # Only clicks ask: `toggled` would also report what the scene has just told the buttons.
        button.clicked.connect(lambda on: self.switched.emit(name, on))
        return button


def head_button(icon_name: str, text: str, tip: str = "") -> QToolButton:
    """A button of the head: an icon with a text beside it."""
    button = QToolButton()
    button.setIcon(icon(icon_name))
    button.setText(text)
    button.setToolTip(tip)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button
