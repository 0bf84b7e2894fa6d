"""Lists of settings in the inspector: a section for each entry, which can be muted, moved, removed, and what to add."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from sim.scene.params import Param, Role, entry_types, params_of
from sim.scene.scene import Node, ParamRef, Scene, part_of, value_at
from widgets.inspector.form import SectionParameter, WidgetParameter
from widgets.parts import packed, tool_button
from widgets.protocols import EditTarget
from widgets.theme import SPACE

Rows = Callable[[type[msgspec.Struct], str, str], Sequence[Any]]
"""Makes the rows of an entry, of its class, its node and its part."""


def list_sections(scene: Scene, target: EditTarget, node: Node, rows: Rows, *, held: bool) -> list[SectionParameter]:
    """Sections of all lists in the settings of a node.

    Args:
        scene: What is shown.
        target: Where edits go.
        node: The node.
        rows: Makes the rows of an entry.
        held: Whether nothing can be edited.
    """
    sections = []
    settings = part_of(scene, node.id, node.kind)
    for record in params_of(type(settings)):
        if record.declared.role is not Role.LIST:
            continue
        edits = ListEdits(target, ParamRef(node.id, node.kind, record.name), record)
        if not held:
            sections.append(SectionParameter(record.label, [WidgetParameter(f"add {record.name}", edits.add_bar)]))
        for place, entry in enumerate(getattr(settings, record.name)):
            inner = list(rows(type(entry), node.id, f"{record.name}.{place}"))
            if not held:
                inner.insert(0, WidgetParameter(f"bar {place}", lambda place=place, edits=edits: edits.bar(place)))
            sections.append(SectionParameter(f"{place + 1} · {label_of(type(entry))}", inner, is_entry=True))
    return sections


def label_of(cls: type[msgspec.Struct]) -> str:
    """What users call entries of a class."""
    return str(getattr(cls, "label", "") or cls.__name__)


class ListEdits:
    """Edits of one list, each an entry of the history.

    Args:
        target: Where they go.
        ref: The list.
        record: Its declaration.
    """

    def __init__(self, target: EditTarget, ref: ParamRef, record: Param) -> None:
        self._target, self._ref, self._record = target, ref, record

    @property
    def now(self) -> tuple[Any, ...]:
        entries: tuple[Any, ...] = value_at(self._target.scene, self._ref)
        return entries

    def add(self, cls: type[msgspec.Struct]) -> None:
        self._set(f"Add {label_of(cls).lower()}", (*self.now, cls()))

    def remove(self, place: int) -> None:
        entries = self.now
        self._set(f"Remove {label_of(type(entries[place])).lower()}", (*entries[:place], *entries[place + 1 :]))

    def move(self, place: int, by: int) -> None:
        """Moves an entry, where there is room."""
        entries = list(self.now)
        if 0 <= place + by < len(entries):
            entries.insert(place + by, entries.pop(place))
            self._set(f"Move {label_of(type(entries[place + by])).lower()}", tuple(entries))

    def mute(self, place: int, muted: bool) -> None:
        entries = self.now
        changed = msgspec.structs.replace(entries[place], muted=muted)
        verb = "Mute" if muted else "Unmute"
        self._set(f"{verb} {label_of(type(changed)).lower()}", (*entries[:place], changed, *entries[place + 1 :]))

    def add_bar(self) -> QWidget:
        bar, button = QWidget(), tool_button("add", "Add", f"Add to the {self._record.label.lower()}.")
        menu = QMenu(button)
        holder = part_of(self._target.scene, self._ref.owner, self._ref.part)
        for cls in entry_types(type(holder), self._ref.name):
            action = menu.addAction(label_of(cls))
            action.setToolTip(cls.__doc__ or "")
            action.triggered.connect(lambda _=False, cls=cls: self.add(cls))
        menu.setToolTipsVisible(True)
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        layout = packed(QHBoxLayout(bar), button, spacing=SPACE)
        layout.addStretch(1)
        return bar

    def bar(self, place: int) -> QWidget:
        bar, entries = QWidget(), self.now
        muted = entries[place].muted
        mute = tool_button("hidden" if muted else "visible", tip="Leave it out, or not.", checkable=True)
        mute.setChecked(muted)
        mute.clicked.connect(lambda on: self.mute(place, on))
        up, down = tool_button("up", tip="Let it act earlier."), tool_button("down", tip="Let it act later.")
        up.setEnabled(place > 0)
        down.setEnabled(place + 1 < len(entries))
        up.clicked.connect(lambda: self.move(place, -1))
        down.clicked.connect(lambda: self.move(place, 1))
        remove = tool_button("delete", tip="Remove it.")
        remove.clicked.connect(lambda: self.remove(place))
        layout = packed(QHBoxLayout(bar), mute, up, down, spacing=SPACE)
        layout.addStretch(1)
        layout.addWidget(remove)
        return bar

    def _set(self, text: str, entries: tuple[Any, ...]) -> None:
        self._target.set_value(self._ref, entries, self._target.new_gesture(text))
