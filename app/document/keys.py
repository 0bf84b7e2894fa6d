"""Keys are values of the scene: every edit is one undo entry."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from PySide6.QtCore import QObject, Signal

from sinew.app.document.document import Document
from sinew.app.document.keyed_values import NEAR, curves_ref, key_near, with_keys
from sinew.sim.kinds.keyable import scene_key_refusal
from sinew.sim.scene.curves import Curve, Key
from sinew.sim.scene.keyed import curves_of, is_keyed
from sinew.sim.scene.params import ParamError
from sinew.sim.scene.scene import NodeId, ParamRef, Scene, value_at
from sinew.widgets.inspector.keys import KeyState
from sinew.widgets.timeline.key_sheet import KeyId


class KeyEdits(QObject):
    """Edits of keys by the inspector and the dope sheet."""

    auto_changed = Signal(bool)
    refused = Signal(str)

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._copied: tuple[Curve, ...] = ()

    @property
    def scene(self) -> Scene:
        """Returns the scene with its keys evaluated at the playhead."""
        return self._document.evaluated

    @property
    def auto(self) -> bool:
        return self._document.auto_key

    def set_auto(self, on: bool) -> None:
        self._document.auto_key = on
        self.auto_changed.emit(on)

    # --- keys of settings -----------------------------------------------------------------------------

    def refusal(self, ref: ParamRef) -> str:
        """Returns why the setting cannot have keys; "" if it can."""
        try:
            return scene_key_refusal(self._document.scene, ref)
        except KeyError:
            return "it is not there any more"

    def state(self, ref: ParamRef) -> KeyState:
        node = self._document.scene.by_id.get(ref.owner)
        curves = curves_of(node, ref.part, ref.name) if node is not None and node.curves else ()
        if not curves:
            return KeyState.NONE
        time = self._document.key_time
        return KeyState.KEY if any(key_near(one, time) is not None for one in curves) else KeyState.ANIMATED

    def toggle(self, refs: Iterable[ParamRef]) -> None:
        """Removes the keys at the playhead if the first setting has one there; otherwise inserts some."""
        chosen = list(refs)
        (self.delete if self.state(chosen[0]) is KeyState.KEY else self.insert)(chosen)

    def insert(self, refs: Iterable[ParamRef]) -> None:
        """Inserts keys with the present values, for all components."""
        scene, time, changed = self._document.scene, self._document.key_time, dict[NodeId, tuple[Curve, ...]]()
        for ref in refs:
            if self.refusal(ref) or (value := value_at(self.scene, ref)) is None:
                continue
            node = scene.node(ref.owner)
            changed[node.id] = with_keys(node, changed.get(node.id, node.curves), ref, time, value)
        self._set("Insert key", changed)

    def delete(self, refs: Iterable[ParamRef]) -> None:
        time = self._document.key_time
        self._remove("Delete key", refs, lambda key: abs(key.time - time) > NEAR)

    def clear(self, refs: Iterable[ParamRef]) -> None:
        """Removes all keys; the setting keeps its value at the playhead."""
        self._remove("Clear keys", refs, lambda _: False)

    def copy(self, ref: ParamRef) -> None:
        self._copied = curves_of(self._document.scene.node(ref.owner), ref.part, ref.name)

    @property
    def can_paste(self) -> bool:
        return bool(self._copied)

    def paste(self, refs: Iterable[ParamRef]) -> None:
        """Replaces the keys of settings by the copied ones."""
        scene, changed = self._document.scene, dict[NodeId, tuple[Curve, ...]]()
        for ref in refs:
            node = scene.node(ref.owner)
            rest = tuple(
                one for one in changed.get(node.id, node.curves) if (one.part, one.field) != (ref.part, ref.name)
            )
            moved = (msgspec.structs.replace(one, part=ref.part, field=ref.name) for one in self._copied)
            changed[node.id] = (*rest, *moved)
        self._set("Paste keys", changed)

    def _remove(self, text: str, refs: Iterable[ParamRef], stays: Any) -> None:
        scene, changed, values = self._document.scene, dict[NodeId, tuple[Curve, ...]](), dict[ParamRef, Any]()
        for ref in refs:
            if not is_keyed(scene, ref):
                continue
            values[ref] = value_at(self.scene, ref)
            node, found = scene.node(ref.owner), []
            for one in changed.get(node.id, node.curves):
                is_meant = (one.part, one.field) == (ref.part, ref.name)
                keys = tuple(key for key in one.keys if not is_meant or stays(key))
                found += [msgspec.structs.replace(one, keys=keys)] if keys else []
            changed[node.id] = tuple(found)
        self._set(text, changed, values=values)

    # --- keys of the dope sheet -----------------------------------------------------------------------

    def change(
        self, keys: Mapping[KeyId, Key | None], text: str, *, base: Scene | None = None, gesture: object | None = None
    ) -> None:
        """Replaces keys, or removes them for None; a key that arrives at the time of another one replaces it.

        Args:
            base: The scene with the keys, by default the present one; a drag starts from the same each time.
            gesture: Edits of one gesture are one undo entry.
        """
        scene, changed = base or self._document.scene, dict[NodeId, tuple[Curve, ...]]()
        for owner in {node for node, _, _ in keys}:
            found = []
            for curve in scene.node(owner).curves:
                own = {
                    time: key
                    for (node, address, time), key in keys.items()
                    if (node, address) == (owner, curve.address)
                }
                if own:
                    moved = [key for key in own.values() if key is not None]
                    taken = [key.time for key in moved]
                    rest = [
                        key for key in curve.keys
                        if key.time not in own and all(abs(key.time - time) > NEAR for time in taken)
                    ]  # fmt: skip
                    # Of keys that arrive together, the last one stays.
                    last = {round(key.time / NEAR): key for key in moved}
                    together = tuple(sorted((*rest, *last.values()), key=lambda key: key.time))
                    found += [msgspec.structs.replace(curve, keys=together)] if together else []
                else:
                    found.append(curve)
            changed[owner] = tuple(found)
        self._set(text, changed, gesture)

    def _set(
        self,
        text: str,
        curves: Mapping[NodeId, tuple[Curve, ...]],
        gesture: object | None = None,
        values: Mapping[ParamRef, Any] | None = None,
    ) -> None:
        """Sets curves by node, and values of settings whose keys are removed."""
        changes = {curves_ref(owner): value for owner, value in curves.items()}
        if not changes:
            return
        one = gesture or self._document.new_gesture(f"{text} of {self._document.nodes_text(list(curves))}")
        try:
            self._document.set_values({**(values or {}), **changes}, one, as_keys=False)
        except ParamError as error:
            self.refused.emit(str(error))
        if gesture is None:
            self._document.end_gesture(one)
