"""The document, which uses no widgets and no OpenGL."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import QObject, Signal

from sinew.app.document.history import Gesture, GestureState, SceneEdit, UndoHistory, changed_values, values_text
from sinew.app.document.keyed_values import NEAR, curves_ref, keyed_values, with_keys
from sinew.app.document.resize import Zoom, factor_of, followed
from sinew.app.project.node_names import NodeIds, NodeNames, default_name, renamed_links, unique_name
from sinew.app.project.project_file import cache_folder, save_project
from sinew.app.project.unknown_content import UnknownContent
from sinew.sim.cache.bake import BakeError, carry
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Added, Edits
from sinew.sim.kinds.keyable import curve_fault
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.change import Change, ChangeKind, value_change
from sinew.sim.scene.curves import Curve
from sinew.sim.scene.keyed import KeyedScene
from sinew.sim.scene.params import Declaration, Effect, ParamError, Role, bounded, check, param_of, with_paths
from sinew.sim.scene.scene import NEW_SCENE, PLAYBACK, Node, NodeId, ParamRef, Scene, part_of, value_at, with_value
from sinew.sim.scene.view_state import Selection, ViewState, selection_of


class Document(QObject):
    """The scene and camera, playhead and selection; all of them are immutable values.

    Each edit becomes an entry of the history; do, undo and redo emit the same signals.

    Attributes:
        view_state: Camera, playhead and selection: saved, not undone.
        path: Project file, or None for a project that was never saved.
        digest: Digest of the content of that file as it was last read or written; "" if unknown.
        unknown: Content of the project file that this version does not know; it is written back on save.
        auto_key: Whether edits of all settings that can have keys set keys at the playhead.
    """

    changed = Signal(object)  # One `sinew.sim.scene.change.Change` for every changed value, node or the whole scene
    view_state_changed = Signal(object)  # The new `ViewState`
    selection_changed = Signal(object)  # The new `Selection`
    title_changed = Signal()  # The path or the modified state changed
    history_changed = Signal()  # What undo and redo would do changed
    history_moves = Signal()  # Before undo and redo: edits that were begun are finished

    def __init__(self, scene: Scene | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.scene = scene if scene is not None else NEW_SCENE
        self.view_state = ViewState()
        self.path: Path | None = None
        self.digest = ""
        self.unknown = UnknownContent()
        self.auto_key = False
        self._keyed = KeyedScene(step=0.0)
        self._ids = NodeIds(self.scene)
        self._is_applying = False
        self._was_modified = False
        self.undo_stack = UndoHistory(self._show, self._on_history_changed, self.history_moves.emit)

    # --- the project ----------------------------------------------------------------------------------

    @property
    def modified(self) -> bool:
        """True if closing would lose an edit; camera, playhead and selection alone do not count."""
        return not self.undo_stack.is_clean

    @property
    def title(self) -> str:
        return self.path.stem if self.path is not None else "untitled"

    def replace_scene(
        self,
        scene: Scene,
        view_state: ViewState | None = None,
        *,
        path: Path | None = None,
        digest: str = "",
        unknown: UnknownContent | None = None,
        modified: bool = False,
    ) -> None:
        """Shows another project and clears the history; emits all signals even if values are equal.

        Args:
            digest: Digest of the content of the file.
            unknown: Content of the file that this version does not know.
            modified: The scene differs from the file, as a recovered project does.
        """
        self.undo_stack.clear()
        self.path, self.digest = path and path.absolute(), digest
        self.unknown, self._ids = unknown or UnknownContent(), NodeIds(scene)
        for node_id in self.unknown.node_ids:
            self._ids.note(node_id)
        self.scene = scene
        self.changed.emit(Change(ChangeKind.REPLACED, None, Effect.REBUILD))
        self.set_view_state(view_state if view_state is not None else ViewState(), force=True)
        if modified:
            self.undo_stack.set_clean(False)
        self.title_changed.emit()

    def save(self, path: Path, *, overwrite: bool) -> list[str]:
        """Writes the project with its bake, and returns warnings.

        Args:
            overwrite: Also over a content of its own file that it has not read.

        Raises:
            OvertakenError: If another program has changed its own file.
            ProjectError: If it cannot be written.
        """
        warnings = []
        known = self.digest if self.path is not None and not overwrite and _is_same(self.path, path) else ""
        digest = save_project(path, self.scene, self.view_state, self.unknown, known=known)
        if self.path is not None and any(node.baked for node in self.scene.nodes):
            source, target = cache_folder(self.path), cache_folder(path)
            try:
                if source != target and source.is_dir():
                    carry(source, target)
            except BakeError as error:
                warnings.append(str(error))
        self.mark_saved(path, digest)
        return warnings

    def mark_saved(self, path: Path, digest: str = "") -> None:
        self.path, self.digest = path.absolute(), digest
        self.undo_stack.set_clean()
        self.title_changed.emit()

    # --- view state -----------------------------------------------------------------------------------

    @property
    def selection(self) -> Selection:
        return self.view_state.selection

    @property
    def selected(self) -> Node | None:
        return self.scene.by_id.get(self.selection.node or "")

    def set_view_state(self, view_state: ViewState, *, force: bool = False) -> None:
        """Sets camera, playhead and selection; emits signals only for changed values unless forced."""
        old, self.view_state = self.view_state, view_state
        if force or view_state != old:
            self.view_state_changed.emit(view_state)
        if force or view_state.selection != old.selection:
            self.selection_changed.emit(view_state.selection)

    def set_camera(self, camera: Camera) -> None:
        self.set_view_state(msgspec.structs.replace(self.view_state, camera=bounded(camera)))

    def set_time(self, time: float) -> None:
        self.set_view_state(msgspec.structs.replace(self.view_state, time=time))

    @property
    def evaluated(self) -> Scene:
        """Returns the scene with its keys evaluated at the playhead."""
        return self._keyed.at(self.scene, self.view_state.time)

    @property
    def key_time(self) -> float:
        """Returns the scene time of keys that are set now [s]: the playhead, without rounding errors of steps."""
        time, rate = self.view_state.time, self.scene.playback.rate
        frame = round(time * rate) / rate
        return frame if abs(frame - time) <= NEAR else time

    def select(self, selection: Selection) -> None:
        for node_id in selection.all_nodes:
            self.scene.node(node_id)
        self.set_view_state(msgspec.structs.replace(self.view_state, selection=selection))

    # --- values ---------------------------------------------------------------------------------------

    def set_value(self, ref: ParamRef, value: Any, gesture: object | None = None) -> None:
        """Sets one value as an undoable edit; an equal value is no edit.

        Values that are declared without undo, such as overlays, change at once and make no entry of the history.

        Args:
            value: Anything its declaration accepts.
            gesture: Token from `new_gesture`; edits of one value within a gesture are one entry.

        Raises:
            ParamError: If the declaration refuses the value; nothing has changed then.
            KeyError: If there is no such value.
        """
        self.set_values({ref: value}, gesture)

    def set_values(
        self, values: Mapping[ParamRef, Any], gesture: object | None = None, *, as_keys: bool = True
    ) -> None:
        """Sets several values as one edit, such as both ends of a range; see `set_value`.

        With `as_keys` values of settings with keys become keys at the playhead.
        """
        if isinstance(gesture, Gesture) and gesture.state is GestureState.CANCELLED:
            return
        scene, plain = self.scene, values
        if as_keys and (self.auto_key or scene.is_keyed):
            values = keyed_values(scene, self.evaluated, values, self.key_time, auto=self.auto_key)
            if not values:
                return
        for ref, value in values.items():
            scene = with_value(scene, ref, self._accepted(ref, value))
        edited = {ref.owner for ref in values if ref.part in KINDS}
        scene, implied = self._completed(scene, edited)
        scene, along, zoom = self._resized(scene, edited)
        refs = [*values, *implied, *(ref for ref in along if ref not in values)]
        looks = {ref for ref in refs if not self._declared(ref).undone}
        if changed := {ref: value_at(scene, ref) for ref in looks if value_at(scene, ref) != value_at(self.scene, ref)}:
            if isinstance(gesture, Gesture):
                gesture.looks = {**{ref: value_at(self.scene, ref) for ref in changed}, **gesture.looks}
            self._set_looks(changed)
        undone = tuple(ref for ref in dict.fromkeys(refs) if ref not in looks)
        new = {ref: value_at(scene, ref) for ref in undone}
        if all(value == value_at(self.scene, ref) for ref, value in new.items()):
            return
        text = getattr(gesture, "text", None) or values_text(self.scene, new if values is plain else plain)
        merging = None if isinstance(gesture, Gesture) and gesture.state is GestureState.ENDED else gesture
        direct = tuple(ref for ref in values if ref not in looks)
        self._push(scene, text, refs=undone, gesture=merging, zoom=zoom, direct=direct)

    def set_keys(self, text: str, values: Mapping[ParamRef, Any]) -> None:
        """Sets keys with these values at the playhead, as one edit."""
        curves: dict[NodeId, tuple[Curve, ...]] = {}
        for ref, value in values.items():
            node = self.scene.node(ref.owner)
            curves[node.id] = with_keys(node, curves.get(node.id, node.curves), ref, self.key_time, value)
        self.set_as_one(text, {curves_ref(owner): value for owner, value in curves.items()})

    def set_as_one(self, text: str, values: Mapping[ParamRef, Any]) -> None:
        """Sets several values as one edit with an undo text; see `set_value`."""
        gesture = self.new_gesture(text)
        self.set_values(values, gesture)
        self.end_gesture(gesture)

    def rename(self, node_id: NodeId, name: str) -> None:
        """Renames a node; a name in use gets a number, an empty one raises ParamError."""
        self.set_value(ParamRef(node_id, "node", "name"), name)

    def new_gesture(self, text: str | None = None) -> Gesture:
        """Makes the token of a continuous edit, on press; `text` is its undo text."""
        return Gesture(text)

    def end_gesture(self, gesture: object, *, cancel: bool = False) -> None:
        """Ends or cancels a gesture, if it is one and open; later edits with this token do not merge."""
        if cancel:
            self.cancel_gesture(gesture)
        elif isinstance(gesture, Gesture) and gesture.state is GestureState.OPEN:
            gesture.state = GestureState.ENDED

    def cancel_gesture(self, gesture: object) -> None:
        """Restores what the gesture changed and leaves no entry; later edits with this token are ignored."""
        if not isinstance(gesture, Gesture) or gesture.state is not GestureState.OPEN:
            return
        gesture.state = GestureState.CANCELLED
        if gesture.looks:
            self._set_looks(gesture.looks)
        self.undo_stack.drop_gesture(gesture)

    def _completed(self, scene: Scene, edited: Iterable[NodeId]) -> tuple[Scene, list[ParamRef]]:
        """Adds the values that kinds set after an edit of their settings, and returns them."""
        implied = []
        for node_id in edited:
            node = scene.node(node_id)
            completed = KINDS[node.kind].part(Edits).completed(self.scene.node(node_id), node, scene)
            for part in ("attachment", "transform"):
                for name, value in msgspec.structs.asdict(getattr(completed, part)).items():
                    if value != getattr(getattr(node, part), name):
                        implied.append(ParamRef(node_id, part, name))
                        scene = with_value(scene, implied[-1], value)
        return scene, implied

    def _resized(self, scene: Scene, edited: Iterable[NodeId]) -> tuple[Scene, list[ParamRef], Zoom | None]:
        """Adds the values of nodes that follow another one that changes its size, and returns them."""
        along: list[ParamRef] = []
        zoom = None
        for node_id in edited:
            factor = factor_of(self.scene.node(node_id), scene.node(node_id))
            if factor != 1.0:
                values, zoom = followed(scene, node_id, factor)
                for ref, value in values.items():
                    scene = with_value(scene, ref, value)
                along += values
        return scene, along, zoom

    def _declared(self, ref: ParamRef) -> Declaration:
        return param_of(type(part_of(self.scene, ref.owner, ref.part)), ref.name).declared

    def _accepted(self, ref: ParamRef, value: Any) -> Any:
        """Returns a checked value: names become unique, paths absolute, keys suit their settings."""
        if (ref.part, ref.name) == ("node", "curves"):
            value = check(Node, ref.name, value)
            if (fault := curve_fault(self.scene.node(ref.owner), value)) is not None:
                raise ParamError(f"curves{fault[0]}: {fault[1]}")
            return value
        if not isinstance(value, str):
            return value
        if "\0" in value:
            raise ParamError(f"{ref.name}: a text cannot hold null characters")
        if (ref.part, ref.name) != ("node", "name"):
            return os.path.abspath(value) if value and self._declared(ref).role is Role.PATH else value
        name = " ".join(value.split())
        if not name:
            raise ParamError("name: a node needs a name")
        return unique_name(name, (node.name for node in self.scene.nodes if node.id != ref.owner))

    # --- nodes ----------------------------------------------------------------------------------------

    def add_node(self, node: Node, index: int | None = None, *, text: str | None = None) -> NodeId:
        """Adds a node and selects it; returns its id.

        Args:
            node: An empty or used id is replaced, the name is made unique.
            index: In the outliner, moved into its range; the end for None.
            text: Undo text, "Add NAME" for None.
        """
        named = self.named(msgspec.structs.replace(node, transform=bounded(node.transform)))
        nodes = self.scene.nodes
        index = len(nodes) if index is None else min(max(index, 0), len(nodes))
        added = msgspec.structs.replace(self.scene, nodes=(*nodes[:index], named, *nodes[index:]))
        self._push(added, text or f"Add {named.name}", selections=(self.selection, Selection(node=named.id)))
        return named.id

    def add_nodes(self, nodes: Sequence[Node], text: str, *, select: Sequence[NodeId] = ()) -> list[NodeId]:
        """Adds nodes as one edit with one change; returns their ids.

        Args:
            nodes: As for `add_node`; attachments and groups that name another new node follow its new id.
            select: Nodes to select, by the ids that were passed in; all new nodes if empty.
        """
        names = NodeNames(node.name for node in self.scene.nodes)
        fresh = [self.named(msgspec.structs.replace(node, id=""), names) for node in nodes]
        new_ids = {old.id: new.id for old, new in zip(nodes, fresh, strict=True) if old.id}
        added = [renamed_links(node, new_ids) for node in fresh]
        chosen = [new_ids.get(node_id, node_id) for node_id in select] or [node.id for node in added]
        self.set_nodes((*self.scene.nodes, *added), text, selection_of(chosen))
        return [node.id for node in added]

    def add_made(self, made: Node | Added) -> list[NodeId]:
        """Adds what an entry of the Add menu has made, as one edit, and selects the first node; returns their ids."""
        added = Added.of(made)
        first = added.nodes[0]
        name = unique_name(first.name or default_name(first), (node.name for node in self.scene.nodes))
        with self.macro(f"Add {name}"):
            if len(added.nodes) == 1:
                ids = [self.add_node(first)]
            else:
                ids = self.add_nodes(added.nodes, "", select=[first.id])
            if added.run_up > 0.0 and self.scene.playback.run_up == 0.0:
                self.set_value(ParamRef(PLAYBACK, PLAYBACK, "run_up"), added.run_up)
        return ids

    def duplicate_node(self, node_id: NodeId) -> NodeId:
        node = self.scene.node(node_id)
        copy = msgspec.structs.replace(node, id="")
        return self.add_node(copy, self.scene.nodes.index(node) + 1, text=f"Duplicate {node.name}")

    def duplicate_nodes(self, node_ids: Iterable[NodeId]) -> None:
        """Copies nodes with the content of groups, and selects the copies of the given nodes."""
        chosen = list(node_ids)
        if len(with_contents := self.scene.with_contents(chosen)) == 1:
            self.duplicate_node(chosen[0])
            return
        copied = [node for node in self.scene.nodes if node.id in with_contents]
        self.add_nodes(copied, f"Duplicate {self.nodes_text(chosen)}", select=chosen)

    def remove_node(self, node_id: NodeId) -> None:
        """Removes a node; undo selects it again."""
        rest = tuple(node for node in self.scene.nodes if node.id != node_id)
        former = self.selection if self.selection.node == node_id else Selection(node=node_id)
        removed = msgspec.structs.replace(self.scene, nodes=rest)
        self._push(removed, f"Remove {self.scene.node(node_id).name}", selections=(former, None))

    def remove_nodes(self, node_ids: Iterable[NodeId]) -> None:
        """Removes nodes with the content of groups as one edit."""
        chosen = list(node_ids)
        removed = self.scene.with_contents(chosen)
        if len(removed) == 1:
            self.remove_node(chosen[0])
        elif removed:
            rest = tuple(node for node in self.scene.nodes if node.id not in removed)
            self.set_nodes(rest, f"Remove {self.nodes_text(chosen)}", Selection())

    def set_nodes(self, nodes: tuple[Node, ...], text: str, selection: Selection | None = None) -> None:
        """Sets all nodes as one edit with one change; equal nodes are no edit; a selection of None stays the same."""
        if nodes != self.scene.nodes:
            after = self.selection if selection is None else selection
            self._push(msgspec.structs.replace(self.scene, nodes=nodes), text, selections=(self.selection, after))

    def nodes_text(self, node_ids: Sequence[NodeId]) -> str:
        return self.scene.node(node_ids[0]).name if len(node_ids) == 1 else f"{len(node_ids)} objects"

    def named(self, node: Node, taken: NodeNames | None = None) -> Node:
        """Returns the node with an id that was never used, and a name that is neither in the scene nor in `taken`."""
        node_id = node.id
        if not node_id or self.scene.has(node_id) or node_id in self.unknown.node_ids:
            node_id = self._ids.fresh(node.kind)
        self._ids.note(node_id)
        settings = with_paths(node.settings, os.path.abspath)
        names = taken or NodeNames(other.name for other in self.scene.nodes)
        name = names.take(" ".join(node.name.split()) or default_name(node))
        return msgspec.structs.replace(node, id=node_id, name=name, settings=settings)

    # --- history --------------------------------------------------------------------------------------

    def macro(self, text: str) -> AbstractContextManager[None]:
        """Makes all edits of a block one entry, none if nothing changed; undoes them if the block raises."""
        return self.undo_stack.macro(text)

    def _push(self, scene: Scene, text: str, **options: Any) -> None:
        """Records the new scene in the history; `options` are attributes of `SceneEdit`."""
        self._refuse_nested()
        self.undo_stack.record(SceneEdit(self.scene, scene, text, **options))

    def _show(self, scene: Scene, changes: list[Change], selection: Selection | None, zoom: Zoom | None) -> None:
        """Shows a scene of the history, with the current values of settings without undo."""
        for ref in changed_values(self.scene, scene):
            if not self._declared(ref).undone:
                scene = with_value(scene, ref, value_at(self.scene, ref))
        removed = self.scene.by_id.keys() - scene.by_id.keys()
        if self.selection.node in removed and self.selection.is_part:
            self.select(Selection())
        elif not removed.isdisjoint(self.selection.all_nodes):
            self.select(selection_of(node_id for node_id in self.selection.all_nodes if node_id not in removed))
        self._apply(scene, changes)
        if selection is not None:
            self.select(selection)
        if zoom is not None:
            self.set_view_state(msgspec.structs.replace(self.view_state, camera=zoom.of(self.view_state.camera)))

    def _set_looks(self, values: Mapping[ParamRef, Any]) -> None:
        """Sets values without undo: they are saved and make no entry of the history."""
        self._refuse_nested()
        scene = self.scene
        for ref, value in values.items():
            scene = with_value(scene, ref, value)
        self._apply(scene, [value_change(scene, ref) for ref in values])

    def _apply(self, scene: Scene, changes: Iterable[Change]) -> None:
        self.scene = scene
        self._is_applying = True
        try:
            for change in changes:
                self.changed.emit(change)
        finally:
            self._is_applying = False

    def _refuse_nested(self) -> None:
        if self._is_applying:
            raise RuntimeError("an edit was made while another one is being applied")

    def _on_history_changed(self) -> None:
        self.history_changed.emit()
        if self.modified != self._was_modified:
            self._was_modified = self.modified
            self.title_changed.emit()


def _is_same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
