from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Command, Submenu
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
    entries: Sequence["Action | Menu | Submenu | str"] = ()

    def actions(self) -> Iterator[Action]:
        for entry in self.entries:
            if isinstance(entry, Menu):
                yield from entry.actions()
            elif isinstance(entry, Action):
                yield entry


def command_action(command: Command) -> Action:
    return Action(command.id, command.text, command.tip, command.run, command.keys, reason=command.reason)


RESERVED = {
    "Tab": "Tab moves the focus.", "Shift+Tab": "Shift+Tab moves the focus.", "Backtab": "Shift+Tab moves the focus.",
    "Esc": "Esc cancels.", "Return": "Return confirms.", "Enter": "Enter confirms.",
    **{key: f"The timeline uses {key}." for key in ("Left", "Right")},
    **{key: f"Lists use {key}." for key in ("Up", "Down", "PgUp", "PgDown")},
}  # fmt: skip
"""Keys that no action can have, and why."""


def portable(keys: str) -> str:
    """Returns a key in portable notation; "" if it is none."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.PortableText)


class Actions:
    """The actions of a window, whose first keys the user can change.

    Args:
        settings: Keeps changed keys as `shortcuts/<id>`, "" for none.
    """

    def __init__(self, window: QWidget, records: Iterable[Action], settings: QSettings) -> None:
        self.records = tuple(records)
        self._settings = settings
        self._by_id = {record.id: record for record in self.records}
        self._keys = {record.id: tuple(map(portable, record.keys)) for record in self.records}
        self._tips: dict[str, str] = {}
        self._actions = {record.id: self._made(window, record) for record in self.records}
        for record in self.records:
            self._actions[record.id].setToolTip(record.tip)
            self._tips[record.id] = record.tip
            self._show_keys(record.id)
        for record in self.records:
            stored = settings.value(f"shortcuts/{record.id}")
            if isinstance(stored, str) and (not stored or (portable(stored) and portable(stored) not in RESERVED)):
                self._bind(record.id, portable(stored))
        self._later = QTimer(window, interval=0, singleShot=True)
        self._later.timeout.connect(lambda: self.refresh())

    def __getitem__(self, action_id: str) -> QAction:
        if self._later.isActive():
            self.refresh()
        return self._actions[action_id]

    def keys(self, action_id: str) -> tuple[str, ...]:
        return self._keys[action_id]

    def holder(self, key: str, but: str = "") -> str:
        """Returns the action that has a key, other than one; "" for none."""
        return next((other for other, keys in self._keys.items() if key in keys and other != but), "")

    def title(self, action_id: str) -> str:
        return self._by_id[action_id].title.replace("&", "")

    def default_key(self, action_id: str) -> str:
        return portable(next(iter(self._by_id[action_id].keys), ""))

    @property
    def rebound(self) -> list[str]:
        """Actions whose first key differs from the default."""
        return [name for name in self._by_id if next(iter(self._keys[name]), "") != self.default_key(name)]

    def rebind(self, action_id: str, key: str) -> None:
        """Changes the first key of an action, "" for none, takes it away from another one, and stores both."""
        other = self.holder(key, action_id) if key else ""
        while other:
            left = [one for one in self._keys[other] if one != key]
            self._bind(other, left[0] if left else "")
            self._store(other)
            other = self.holder(key, action_id)
        self._bind(action_id, key)
        self._store(action_id)

    def rebind_all(self) -> None:
        """Gives all actions their defaults."""
        for name in self.rebound:
            self._bind(name, self.default_key(name))
            self._store(name)

    def _bind(self, action_id: str, key: str) -> None:
        """Sets the first key; others of the action stay, unless another action has them."""
        others = [portable(one) for one in self._by_id[action_id].keys[1:]]
        others = [one for one in others if one != key and not self.holder(one, action_id)]
        self._keys[action_id] = tuple(filter(None, (key, *others)))
        for other in [name for name, keys in self._keys.items() if name != action_id and key in keys]:
            self._keys[other] = tuple(one for one in self._keys[other] if one != key)
            self._show_keys(other)
        self._show_keys(action_id)

    def _store(self, action_id: str) -> None:
        key, name = next(iter(self._keys[action_id]), ""), f"shortcuts/{action_id}"
        if key == self.default_key(action_id):
            self._settings.remove(name)
        else:
            self._settings.setValue(name, key)

    def _show_keys(self, action_id: str) -> None:
        """Gives an action its keys, and shows the first one in its tip."""
        record, action = self._by_id[action_id], self._actions[action_id]
        sequences = [QKeySequence(key) for key in self._keys[action_id]]
        action.setShortcuts(sequences)
        keys = sequences[0].toString(QKeySequence.SequenceFormat.NativeText) if sequences else ""
        former = self._tips.get(action_id, action.toolTip())
        self._tips[action_id] = f"{record.tip} ({keys})" if keys else record.tip
        action.setToolTip(action.toolTip().replace(former, self._tips[action_id], 1))

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
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        if record.short:
            action.setIconText(record.short)
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


def command_entries(actions: Actions) -> list[ShortcutEntry]:
    """Returns entries of all actions."""
    titles = {
        "file": "File", "edit": "Edit", "handle": "Handles", "pose": "Posing", "add": "Add", "play": "Playback",
        "simulate": "Simulation", "timing": "Timing", "node": "Simulation", "view": "View", "display": "Display",
        "compare": "Compare", "skin": "Skinning", "overlay": "Overlays", "window": "Window", "help": "Help",
    } | {kind.name: f"{kind.label}s" for kind in KINDS.values()}  # fmt: skip
    return [
        ShortcutEntry(
            titles[one.id.split(".")[0]], actions.title(one.id), " or ".join(actions.keys(one.id)), one.tip, one.id
        )
        for one in actions.records
    ]


def mouse_entries(more: Iterable[tuple[str, str]]) -> list[ShortcutEntry]:
    """Returns entries of mouse actions of the program and of kinds."""
    return [ShortcutEntry("Mouse", text, how, "") for text, how in (*MOUSE_ENTRIES, *more)]
