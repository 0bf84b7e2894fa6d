"""What the inspector has for emitters beyond their rows: presets, counts, what is wrong, mute, solo and seed."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from widgets.inspector.notice import Notice, StopNotice
from widgets.inspector.preset_bar import PresetBar
from widgets.kinds.emitter.population import PopulationBar
from widgets.protocols import EmitterStatus
from widgets.theme import SPACE, SPACE_WIDE, icon

_BESIDE = Qt.ToolButtonStyle.ToolButtonTextBesideIcon


class EmitterHead(QWidget):
    """Shows how the selected emitter stands; asks for edits, makes none.

    Signals:
        preset_chosen: Name of the preset that the values shall be taken from.
        preset_saved: Name under which the present values shall be kept.
        preset_deleted: Name of one's own preset that shall go.
        reset_requested: Back to the start.
        resume_requested: On from the last good state.
        capacity_requested: Capacity that lets every particle live its whole life.
        seed_requested: Another seed.
        mute_requested: Whether the emitter shall be silent.
        solo_requested: Whether every other emitter shall be.

    Attributes:
        presets: Bar of the presets.
    """

    preset_chosen = Signal(str)
    preset_saved = Signal(str)
    preset_deleted = Signal(str)
    reset_requested = Signal()
    resume_requested = Signal()
    capacity_requested = Signal(int)
    seed_requested = Signal()
    mute_requested = Signal(bool)
    solo_requested = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._status = EmitterStatus()
        self.presets = PresetBar(self)
        self.population = PopulationBar(self)
        self.notice = StopNotice("emitter", self)
        self.starving = Notice("warning", self)
        self.capacity_button = self._make_capacity_button()
        self.note = self._make_note()
        self.mute_button = self._switch("muted", "Mute", "Silence this emitter: it is neither simulated nor drawn.")
        self.solo_button = self._switch("solo", "Solo", "Silence every emitter that is not solo too.")
        self.seed_button = self._tool("seed", "Reseed", "Take another seed: the same effect with other particles.")
        self._connect()
        self._arrange()

    @property
    def status(self) -> EmitterStatus:
        """What is shown."""
        return self._status

    def show_status(self, status: EmitterStatus) -> None:
        """Shows how the emitter stands; what is the same stays untouched."""
        self._status = status
        self.population.show_status(status)
        self.notice.show_reason(status.halted)
        self.starving.show_reason(status.warning)
        self.capacity_button.setText(f"Set capacity to {status.needed_capacity:,}")
        self.capacity_button.setVisible(status.needed_capacity > status.capacity)
        if self.note.text() != status.note:
            self.note.setText(status.note)
        self.note.setVisible(bool(status.note))

    def show_switches(self, muted: bool, solo: bool) -> None:
        """Shows whether the emitter is muted or solo; emits nothing."""
        self.mute_button.setChecked(muted)
        self.solo_button.setChecked(solo)

    def _make_capacity_button(self) -> QPushButton:
        button = self.starving.add_button("", "Make room for every particle until the end of its life.")
        button.clicked.connect(lambda: self.capacity_requested.emit(self._status.needed_capacity))
        return button

    def _make_note(self) -> QLabel:
        note = QLabel(self)
        note.setWordWrap(True)
        note.setTextFormat(Qt.TextFormat.PlainText)
        note.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        note.hide()
        return note

    def _switch(self, icon_name: str, text: str, tip: str) -> QToolButton:
        button = self._tool(icon_name, text, tip)
        button.setCheckable(True)
        return button

    def _tool(self, icon_name: str, text: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setIcon(icon(icon_name))
        button.setText(text)
        button.setToolTip(tip)
        button.setToolButtonStyle(_BESIDE)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button

    def _connect(self) -> None:
        self.presets.chosen.connect(self.preset_chosen)
        self.presets.saved.connect(self.preset_saved)
        self.presets.deleted.connect(self.preset_deleted)
        self.notice.reset_button.clicked.connect(self.reset_requested)
        self.notice.resume_button.clicked.connect(self.resume_requested)
        # Only clicks ask: `toggled` would also report what the scene has just told the buttons.
        self.mute_button.clicked.connect(self.mute_requested)
        self.solo_button.clicked.connect(self.solo_requested)
        self.seed_button.clicked.connect(self.seed_requested)

    def _arrange(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACE)
        for button in (self.mute_button, self.solo_button, self.seed_button):
            buttons.addWidget(button)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_WIDE, 0, SPACE_WIDE, SPACE_WIDE)
        layout.setSpacing(SPACE_WIDE)
        for part in (self.notice, self.starving, self.note, self.population):
            layout.addWidget(part)
        layout.addLayout(buttons)
        layout.addWidget(self.presets)
