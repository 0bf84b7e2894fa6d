from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Command
from sinew.widgets.cheat_sheet import ShortcutEntry
from sinew.widgets.icons import icon

SEPARATOR = "-"


@dataclass(frozen=True, slots=True)
class Action:
    id: str  # Name in code, such as "file.open"
    title: str  # Menu text; an ampersand marks the access key
    tip: str  # One sentence for status bar, tooltip and cheat sheet
    run: Callable[..., object]  # Called when the user triggers it; a switch is passed its new state
    keys: tuple[str, ...] = ()  # Shortcuts in portable notation; the tooltip shows the first one
    icon: str = ""
    # Returns why the action is disabled, a sentence for its tip, or "" to enable it.
    reason: Callable[[], str] | None = None
    is_on: Callable[[], bool] | None = None  # Returns the state of a switch; None for other actions
    short: str = ""  # Text of the tool button if there is no icon
    note: Callable[[], str] | None = None  # Returns a sentence for the tip of the enabled action


@dataclass(frozen=True, slots=True)
class Menu:
    title: str
    entries: Sequence["Action | Menu | str"] = ()

    def actions(self) -> Iterator[Action]:
        for entry in self.entries:
            if isinstance(entry, Menu):
                yield from entry.actions()
            elif isinstance(entry, Action):
                yield entry


def command_action(command: Command) -> Action:
    return Action(command.id, command.text, command.tip, command.run, command.keys, reason=command.reason)


class Actions:
    def __init__(self, window: QWidget, records: Iterable[Action]) -> None:
        self.records = tuple(records)
        self._actions = {record.id: self._made(window, record) for record in self.records}
        self._tips = {name: action.toolTip() for name, action in self._actions.items()}
        self._later = QTimer(window, interval=0, singleShot=True)
        self._later.timeout.connect(lambda: self.refresh())

    def __getitem__(self, action_id: str) -> QAction:
        if self._later.isActive():
            self.refresh()
        return self._actions[action_id]

    def refresh_later(self) -> None:
        """Updates all actions once in this turn of the event loop, or before one of them is asked for."""
        self._later.start()

    def refresh(self, *ids: str) -> None:
        """Updates state, availability and tips of some actions; of all if none are named."""
        if not ids:
            self._later.stop()
        for record in self.records:
            if ids and record.id not in ids:
                continue
            action = self._actions[record.id]
            if record.is_on is not None:
                action.setChecked(record.is_on())
            if record.reason is not None:
                reason = record.reason()
                more = reason or (record.note() if record.note is not None else "")
                action.setEnabled(not reason)
                action.setToolTip(f"{self._tips[record.id]}\n{more}" if more else self._tips[record.id])
                action.setStatusTip(more or record.tip)

    def rename(self, action_id: str, title: str) -> None:
        self._actions[action_id].setText(title)

    def show_playing(self, playing: bool) -> None:
        self._actions["play.toggle"].setIcon(icon("pause" if playing else "play"))
        self._actions["play.toggle"].setIconText("Pause" if playing else "Play")

    def _made(self, window: QWidget, record: Action) -> QAction:
        action = QAction(record.title, window, checkable=record.is_on is not None, statusTip=record.tip)
        action.setObjectName(record.id)
        action.setShortcuts([QKeySequence(keys) for keys in record.keys])
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        if record.short:
            action.setIconText(record.short)
        keys = QKeySequence(record.keys[0]).toString(QKeySequence.SequenceFormat.NativeText) if record.keys else ""
        action.setToolTip(f"{record.tip} ({keys})" if keys else record.tip)
        if record.icon:
            action.setIcon(icon(record.icon))
        # `triggered` is emitted for the user only; setChecked in `refresh` does not call `run`.
        if record.is_on is None:
            action.triggered.connect(lambda _=False: record.run())
        else:
            action.triggered.connect(lambda on: self._switch(record, on))
        window.addAction(action)
        return action

    def _switch(self, record: Action, on: bool) -> None:
        record.run(on)
        # Qt has toggled the action, whether or not the state has changed.
        self.refresh(*(other.id for other in self.records if other.is_on is not None))


MOUSE_ENTRIES: tuple[tuple[str, str], ...] = (
    ("Orbit", "Middle drag or Alt+Left drag or Left drag on the axes"),
    ("Pan", "Shift+Middle drag or Shift+Alt+Left drag"),
    ("Zoom to the cursor", "Wheel or Pinch or Ctrl+Middle drag"),
    ("Select an object or a bone", "Left click"),
    ("Commands for an object", "Right click"),
    ("Select several objects", "Ctrl+Left click or Shift+Left click"),
    ("… in the outliner", "Left drag next to the names"),
    ("Move objects onto others or bones", "Left drag in the outliner"),
    ("Scrub", "Left drag on the ruler"),
    ("Change a number", "Left drag on it"),
    ("… finer, coarser", "Shift+Left drag or Ctrl+Left drag"),
    ("Disable the simulation of an object", "Left click on its speaker icon"),
    ("Add a stop to a gradient or a curve", "Double click in it or Insert"),
    ("… select another", "Left click or Page Up or Page Down"),
    ("… move it", "Left drag or Arrows"),
    ("… remove it", "Delete or Right click"),
    ("Cancel a drag", "Escape"),
)


def shortcut_entries(records: Iterable[Action], mouse: Iterable[tuple[str, str]]) -> list[ShortcutEntry]:
    """Returns entries of every action with a key, and of mouse actions of the program and of kinds."""
    titles = {
        "file": "File", "edit": "Edit", "handle": "Handles", "pose": "Posing", "add": "Add", "play": "Playback",
        "simulate": "Simulation", "timing": "Timing", "node": "Simulation", "back_end": "Simulation",
        "step_room": "Simulation", "view": "View", "display": "Display", "compare": "Compare", "skin": "Skinning",
        "overlay": "Overlays", "window": "Window", "theme": "Theme", "help": "Help",
    } | {kind.name: f"{kind.label}s" for kind in KINDS.values()}  # fmt: skip
    rows = [
        ShortcutEntry(titles[a.id.split(".")[0]], a.title.replace("&", ""), " or ".join(a.keys), a.tip)
        for a in records
        if a.keys
    ]
    return rows + [ShortcutEntry("Mouse", text, how, "") for text, how in (*MOUSE_ENTRIES, *mouse)]
