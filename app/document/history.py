import enum
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

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


@dataclass(slots=True)
class SceneEdit:
    """Replacement of the scene by another one.

    Attributes:
        refs: The edited values; empty for edits of the list of nodes.
        direct: The values among `refs` that the user set; the others follow from them.
        selections: Selections after undo and after redo; None leaves the selection unchanged.
        gesture: Edits of the same values by the same gesture merge into one entry.
        zoom: How the camera follows a scene whose size changes.
    """

    before: Scene
    after: Scene
    text: str
    refs: tuple[ParamRef, ...] = ()
    selections: tuple[Selection | None, Selection | None] = (None, None)
    gesture: object | None = None
    zoom: Zoom | None = None
    direct: tuple[ParamRef, ...] = ()

    @property
    def is_empty(self) -> bool:
        return bool(self.refs) and all(value_at(self.before, ref) == value_at(self.after, ref) for ref in self.refs)

    def redo(self, show: ShowScene) -> None:
        show(self.after, self._changes(self.before, self.after), self.selections[1], self.zoom)

    def undo(self, show: ShowScene) -> None:
        show(self.before, self._changes(self.after, self.before), self.selections[0], self.zoom and self.zoom.back)

    def merge(self, later: "SceneEdit") -> bool:
        """Takes over a later edit of the same values by the same gesture; returns False for any other."""
        if later.gesture is None or later.gesture is not self.gesture:
            return False
        if set(later.refs) != set(self.refs) or (later.zoom is None) != (self.zoom is None):
            return False
        self.after, self.text = later.after, later.text
        self.direct = tuple(dict.fromkeys((*self.direct, *later.direct)))
        if self.zoom is not None and later.zoom is not None:
            self.zoom = replace(self.zoom, factor=self.zoom.factor * later.zoom.factor)
        return True

    def _changes(self, old: Scene, new: Scene) -> list[Change]:
        return [value_change(new, ref) for ref in self.refs] or [node_change(old, new)]


@dataclass(slots=True)
class Macro:
    """Edits that are undone together."""

    text: str
    edits: list[SceneEdit] = field(default_factory=list)

    def redo(self, show: ShowScene) -> None:
        for edit in self.edits:
            edit.redo(show)

    def undo(self, show: ShowScene) -> None:
        for edit in reversed(self.edits):
            edit.undo(show)


class UndoHistory:
    """Entries that can be undone and redone.

    Args:
        show: Method of the document that shows a scene.
        changed: Called when the entries, the place among them or the saved place changed.
        begin: Called before undo and redo; may record an edit.

    Attributes:
        index: Number of entries that can be undone.
    """

    def __init__(
        self, show: ShowScene, changed: Callable[[], None], begin: Callable[[], object] = lambda: None
    ) -> None:
        self._show, self._changed, self._begin = show, changed, begin
        self._entries: list[SceneEdit | Macro] = []
        self.index = 0
        self._clean_index: int | None = 0
        self._macro: Macro | None = None
        self._is_moving = False

    def count(self) -> int:
        return len(self._entries)

    @property
    def can_undo(self) -> bool:
        return self.index > 0

    @property
    def can_redo(self) -> bool:
        return self.index < len(self._entries)

    @property
    def latest(self) -> SceneEdit | Macro | None:
        """The entry that undo takes back; None without one."""
        return self._entries[self.index - 1] if self.can_undo else None

    @property
    def undo_text(self) -> str:
        """The text of `latest`; "" without one."""
        return self.latest.text if self.latest is not None else ""

    @property
    def redo_text(self) -> str:
        return self._entries[self.index].text if self.can_redo else ""

    @property
    def is_clean(self) -> bool:
        """Whether the scene is the saved one."""
        return self.index == self._clean_index and not (self._macro and self._macro.edits)

    def set_clean(self, clean: bool = True) -> None:
        self._clean_index = self.index if clean else None
        self._changed()

    def clear(self) -> None:
        self._entries.clear()
        self.index = self._clean_index = 0
        self._changed()

    def undo(self) -> None:
        """Raises RuntimeError within a macro that has changed something."""
        self._refuse_in_macro()
        self._begin()
        if self.can_undo:
            with self._moving():
                self._entries[self.index - 1].undo(self._show)
            self.index -= 1
            self._changed()

    def redo(self) -> None:
        """Raises RuntimeError as `undo` does."""
        self._refuse_in_macro()
        self._begin()
        if self.can_redo:
            with self._moving():
                self._entries[self.index].redo(self._show)
            self.index += 1
            self._changed()

    @property
    def texts(self) -> list[str]:
        """Texts of all entries, the oldest first."""
        return [entry.text for entry in self._entries]

    @property
    def saved(self) -> int | None:
        """The `index` of the saved scene; None if it cannot be reached."""
        return self._clean_index

    def go(self, index: int) -> None:
        """Undoes or redoes entries until `index` of them can be undone; raises RuntimeError as `undo` does."""
        self._begin()
        index = max(0, min(index, len(self._entries)))
        while self.index > index:
            self.undo()
        while self.index < index:
            self.redo()

    def record(self, edit: SceneEdit) -> None:
        """Shows the scene of an edit and makes it an entry, or a part of the latest one.

        Raises:
            RuntimeError: During undo or redo, whose entries it would replace.
        """
        if self._is_moving:
            raise RuntimeError(f"{edit.text!r} was made during undo or redo")
        edit.redo(self._show)
        if self._macro is not None:
            if not self._macro.edits or not self._macro.edits[-1].merge(edit):
                self._macro.edits.append(edit)
            self._changed()
            return
        latest = None if self.is_clean else self.latest
        if isinstance(latest, SceneEdit) and not self.can_redo and latest.merge(edit):
            if latest.is_empty:
                self._drop_latest()
            self._changed()
        else:
            self._append(edit)

    @contextmanager
    def macro(self, text: str) -> Iterator[None]:
        """Makes all edits of the block one entry, none if nothing changed; undoes them if the block raises."""
        if self._macro is not None:
            yield
            return
        self._macro = macro = Macro(text)
        try:
            yield
        except BaseException:
            self._macro = None
            macro.undo(self._show)
            self._changed()
            raise
        self._macro = None
        if macro.edits:
            self._append(macro)

    def drop_gesture(self, gesture: object) -> None:
        """Undoes the latest entries of a gesture and deletes them."""
        while self.can_undo:
            latest = self._entries[self.index - 1]
            if not isinstance(latest, SceneEdit) or latest.gesture is not gesture:
                return
            latest.undo(self._show)
            self._drop_latest()
            self._changed()

    @contextmanager
    def _moving(self) -> Iterator[None]:
        self._is_moving = True
        try:
            yield
        finally:
            self._is_moving = False

    def _refuse_in_macro(self) -> None:
        if self._macro is not None and self._macro.edits:
            raise RuntimeError("an edit that has changed something must end before undo and redo")

    def _append(self, entry: SceneEdit | Macro) -> None:
        del self._entries[self.index :]
        if self._clean_index is not None and self._clean_index > self.index:
            self._clean_index = None
        self._entries.append(entry)
        self.index += 1
        self._changed()

    def _drop_latest(self) -> None:
        self.index -= 1
        del self._entries[self.index]
        if self._clean_index is not None and self._clean_index > self.index:
            self._clean_index = None


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
