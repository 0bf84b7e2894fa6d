import enum
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from PySide6.QtGui import QUndoCommand, QUndoStack

from sinew.app.document.resize import Zoom
from sinew.sim.scene.change import Change, ChangeKind, value_change
from sinew.sim.scene.params import Effect, Param, param_of, params_of
from sinew.sim.scene.scene import PLAYBACK, VIEW, ParamRef, Scene, part_of, value_at
from sinew.sim.scene.view_state import Selection

ShowScene = Callable[[Scene, list[Change], Selection | None, Zoom | None], None]
"""Callback that shows a scene and emits the changes; selects unless the selection is None; zooms the view."""


class GestureState(enum.Enum):
    OPEN = "open"
    ENDED = "ended"
    CANCELLED = "cancelled"


class Gesture:
    """Token of one drag, from press to release; edits merge only within the same token.

    Attributes:
        text: Undo text, or None to derive it from the parameter.
        state: Edits of an ended gesture do not merge; edits of a cancelled one are ignored, because the mouse button
        may still be down after Escape.
        looks: Former values of view settings without undo, which cancelling restores.
    """

    __slots__ = ("looks", "state", "text")

    def __init__(self, text: str | None = None) -> None:
        self.text = text
        self.state = GestureState.OPEN
        self.looks: dict[ParamRef, Any] = {}


class SetScene(QUndoCommand):
    """Command that replaces the scene by another one, and back.

    Args:
        show: Method of the document that shows a scene.
        refs: The edited values; empty for edits of the list of nodes.
        selections: Selections after undo and after redo; None leaves the selection unchanged.
        gesture: Edits of the same values by the same gesture merge into one entry.
        zoom: How the camera follows a scene whose size changes.
    """

    def __init__(
        self,
        show: ShowScene,
        before: Scene,
        after: Scene,
        *,
        text: str,
        refs: Iterable[ParamRef] = (),
        selections: tuple[Selection | None, Selection | None] = (None, None),
        gesture: object | None = None,
        zoom: Zoom | None = None,
    ) -> None:
        super().__init__(text)
        # Weak: Qt owns the commands, and collecting a cycle of document, history and commands would crash.
        self._show = weakref.WeakMethod(show)
        self._before, self._after = before, after
        self._refs, self._selections, self._zoom = tuple(refs), selections, zoom
        self.gesture = gesture

    def id(self) -> int:
        return 1  # Qt only merges commands with the same id

    def redo(self) -> None:
        self._apply(self._before, self._after, self._selections[1], self._zoom)

    def undo(self) -> None:
        self._apply(self._after, self._before, self._selections[0], self._zoom and self._zoom.back)

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, SetScene) or other.gesture is None or other.gesture is not self.gesture:
            return False
        if set(other._refs) != set(self._refs) or (other._zoom is None) != (self._zoom is None):
            return False
        self._after = other._after
        if self._zoom is not None and other._zoom is not None:
            self._zoom = replace(self._zoom, factor=self._zoom.factor * other._zoom.factor)
        self.setText(other.text())
        self.setObsolete(all(value_at(self._before, ref) == value_at(self._after, ref) for ref in self._refs))
        return True

    def _apply(self, old: Scene, new: Scene, selection: Selection | None, zoom: Zoom | None) -> None:
        if (show := self._show()) is not None:
            changes = [value_change(new, ref) for ref in self._refs] or [node_change(old, new)]
            show(new, changes, selection, zoom)


class UndoHistory(QUndoStack):
    """Undo history, in which macros leave no empty entry and gestures can be cancelled."""

    _macro_text: str | None = None
    _macro_open = False

    def record(self, command: QUndoCommand) -> None:
        if self._macro_text is not None and not self._macro_open:
            self._macro_open = True
            self.beginMacro(self._macro_text)
        self.push(command)

    @contextmanager
    def macro(self, text: str) -> Iterator[None]:
        """Makes all edits of the block one entry, none if nothing changed; undoes them if the block raises."""
        if self._macro_text is not None:
            yield
            return
        self._macro_text = text
        try:
            yield
        except BaseException:
            if self._end_macro():
                self._drop_last()
            raise
        self._end_macro()

    def drop_gesture(self, gesture: object) -> None:
        """Undoes the latest entries of a gesture and deletes them."""
        while self.index() > 0:
            command = self.command(self.index() - 1)
            if not isinstance(command, SetScene) or command.gesture is not gesture:
                return
            self._drop_last()

    def _end_macro(self) -> bool:
        was_open, self._macro_open, self._macro_text = self._macro_open, False, None
        if was_open:
            self.endMacro()
        return was_open

    def _drop_last(self) -> None:
        self.undo()
        self.command(self.index()).setObsolete(True)
        self.redo()  # Qt deletes an obsolete command instead of redoing it


# --- comparing scenes -----------------------------------------------------------------------------------------------


def node_change(old: Scene, new: Scene) -> Change:
    added, removed = new.by_id.keys() - old.by_id.keys(), old.by_id.keys() - new.by_id.keys()
    if len(added) + len(removed) == 1:
        (node_id,) = added | removed
        if [n for n in new.nodes if n.id != node_id] == [n for n in old.nodes if n.id != node_id]:
            kind = ChangeKind.ADDED if added else ChangeKind.REMOVED
            return Change(kind, ParamRef(node_id, "node", ""), Effect.REBUILD)
    return Change(ChangeKind.NODES, None, Effect.REBUILD)


def changed_values(old: Scene, new: Scene) -> list[ParamRef]:
    """Returns the changed values of playback, view and the common nodes; skips parts that are the same object."""
    parts = [(owner, owner) for owner in (PLAYBACK, VIEW)]
    for node in new.nodes:
        former = old.by_id.get(node.id)
        if former is not None and former is not node and former.kind == node.kind:
            parts += [(node.id, part) for part in ("node", "transform", "attachment", node.kind)]
    refs = []
    for owner, part in parts:
        one, other = part_of(old, owner, part), part_of(new, owner, part)
        if one is not other:
            names = (record.name for record in params_of(type(one)))
            refs += [ParamRef(owner, part, name) for name in names if getattr(one, name) != getattr(other, name)]
    return refs


# --- texts ----------------------------------------------------------------------------------------------------------


def value_text(scene: Scene, ref: ParamRef, value: Any) -> str:
    """Returns an undo text, such as "Set unit scale of humanoid" or "Hide light"."""
    if ref.part == "node" and ref.name == "visible":
        return f"{'Show' if value else 'Hide'} {scene.node(ref.owner).name}"
    if ref.part == "node" and ref.name == "name":
        return f"Rename {scene.node(ref.owner).name} to {value}"
    record = param_of(type(part_of(scene, ref.owner, ref.part)), ref.name)
    part = ref.part.partition(":")[2]
    within = f" of {part}" if part else ""
    # Abbreviations such as "UV scale" keep their capitals.
    label = record.label if record.label[1:2].isupper() else record.label[:1].lower() + record.label[1:]
    return f"{_verb(record, value)} {label}{within}{_of_owner(scene, ref.owner)}"


def values_text(scene: Scene, values: Mapping[ParamRef, Any]) -> str:
    """Returns an undo text: the text of the first value, or "Set mass of 3 objects"."""
    ref, value = next(iter(values.items()))
    text = value_text(scene, ref, value)
    count = len({other.owner for other in values if (other.part, other.name) == (ref.part, ref.name)})
    if count < 2:
        return text
    owner = scene.node(ref.owner).name
    return f"{text.removesuffix(owner)}{count} objects" if text.endswith(f" {owner}") else text


def _verb(record: Param, value: Any) -> str:
    if record.type is bool:
        return "Turn on" if value else "Turn off"
    return "Set"


def _of_owner(scene: Scene, owner: str) -> str:
    if owner in (PLAYBACK, VIEW):
        return f" of the {owner}"
    return f" of {scene.node(owner).name}"
