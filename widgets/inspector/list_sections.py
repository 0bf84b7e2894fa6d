"""Lists of settings in the inspector: a section for each entry, and a button that adds entries."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from sinew.sim.scene.params import Param, Role, entry_types, params_of
from sinew.sim.scene.scene import Node, ParamRef, Scene, part_of, value_at
from sinew.widgets.inspector.form import FormRow, FormSection, WidgetRow
from sinew.widgets.parts import packed, tool_button
from sinew.widgets.protocols import EditTarget
from sinew.widgets.theme import SPACE

MakeRows = Callable[[type[msgspec.Struct], str, str], Sequence[FormRow]]
"""Creates the rows of an entry from its class, node and part."""


def list_sections(scene: Scene, target: EditTarget, node: Node, rows: MakeRows, *, locked: bool) -> list[FormSection]:
    """Sections of all lists in the settings of a node, without buttons if `locked`."""
    sections = []
    settings = part_of(scene, node.id, node.kind)
    for record in params_of(type(settings)):
        if record.declared.role is not Role.LIST:
            continue
        edits = ListEdits(target, ParamRef(node.id, node.kind, record.name), record)
        if not locked:
            sections.append(FormSection(record.label, [WidgetRow(edits.add_bar)]))
        for index, entry in enumerate(getattr(settings, record.name)):
            inner = list(rows(type(entry), node.id, f"{record.name}.{index}"))
            if not locked:
                inner.insert(0, WidgetRow(functools.partial(edits.bar, index)))
            sections.append(FormSection(f"{index + 1} · {label_of(type(entry))}", inner, is_entry=True))
    return sections


def label_of(cls: type[msgspec.Struct]) -> str:
    return str(getattr(cls, "label", "") or cls.__name__)


class ListEdits:
    """Edits of one list; each one is a step that can be undone."""

    def __init__(self, target: EditTarget, ref: ParamRef, record: Param) -> None:
        self._target, self._ref, self._record = target, ref, record

    @property
    def entries(self) -> tuple[Any, ...]:
        entries: tuple[Any, ...] = value_at(self._target.scene, self._ref)
        return entries

    def add(self, cls: type[msgspec.Struct]) -> None:
        self._set(f"Add {label_of(cls).lower()}", (*self.entries, cls()))

    def remove(self, index: int) -> None:
        entries = self.entries
        self._set(f"Remove {label_of(type(entries[index])).lower()}", (*entries[:index], *entries[index + 1 :]))

    def move(self, index: int, by: int) -> None:
        entries = list(self.entries)
        if 0 <= index + by < len(entries):
            entries.insert(index + by, entries.pop(index))
            self._set(f"Move {label_of(type(entries[index + by])).lower()}", tuple(entries))

    def mute(self, index: int, muted: bool) -> None:
        entries = self.entries
        changed = msgspec.structs.replace(entries[index], muted=muted)
        verb = "Mute" if muted else "Unmute"
        self._set(f"{verb} {label_of(type(changed)).lower()}", (*entries[:index], changed, *entries[index + 1 :]))

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

    def bar(self, index: int) -> QWidget:
        bar, entries = QWidget(), self.entries
        muted = entries[index].muted
        mute = tool_button("hidden" if muted else "visible", tip="Mute", checkable=True)
        mute.setChecked(muted)
        mute.clicked.connect(lambda on: self.mute(index, on))
        up, down = (
            tool_button("up", tip="Move up: apply it earlier"),
            tool_button("down", tip="Move down: apply it later"),
        )
        up.setEnabled(index > 0)
        down.setEnabled(index + 1 < len(entries))
        up.clicked.connect(lambda: self.move(index, -1))
        down.clicked.connect(lambda: self.move(index, 1))
        remove = tool_button("delete", tip="Remove")
        remove.clicked.connect(lambda: self.remove(index))
        layout = packed(QHBoxLayout(bar), mute, up, down, spacing=SPACE)
        layout.addStretch(1)
        layout.addWidget(remove)
        return bar

    def _set(self, text: str, entries: tuple[Any, ...]) -> None:
        self._target.set_value(self._ref, entries, self._target.new_gesture(text))
