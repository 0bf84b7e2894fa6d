"""The open project: the scene as a value, its history, its view state and where it is stored.

Edits come in through methods, become commands, and go out as `Change` notices; do, undo and redo take the
same way.  The document knows no widget and no OpenGL.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand

from app.document.commands import AddNode, RemoveNode, ReplaceNodes, SetParam
from app.document.gesture import Gesture, GestureState
from app.document.history import UndoHistory
from app.document.node_names import NodeIds, NodeNames, default_name, renamed_links, unique_name
from app.document.resize import Zoom, factor_of, followed
from app.document.state import DocumentState
from app.document.undo_text import values_text
from app.files.unknown_content import UnknownContent
from sim.kinds import KINDS
from sim.scene.camera import Camera
from sim.scene.params import Declaration, ParamError, Role, bounded, param_of, with_paths
from sim.scene.scene import Node, NodeId, ParamRef, Scene, part_of, value_at, with_value
from sim.scene.view_state import Selection, ViewState, selection_of


class Document(QObject):
    """Owner of the scene.

    Signals:
        changed: One `sim.scene.change.Change` for every changed value, node or the whole scene.
        view_state_changed: The new `ViewState`.
        selection_changed: The new `Selection`.
        title_changed: Path or modified state are new.
    """

    changed = Signal(object)
    view_state_changed = Signal(object)
    selection_changed = Signal(object)
    title_changed = Signal()

    def __init__(self, scene: Scene | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = DocumentState(scene if scene is not None else Scene(), self)
        self._state.changed.connect(self.changed)
        self._state.view_state_changed.connect(self.view_state_changed)
        self._state.selection_changed.connect(self.selection_changed)
        self._path: Path | None = None
        self._digest = ""
        self._unknown = UnknownContent()
        self._ids = NodeIds(self.scene)
        self.undo_stack = UndoHistory(self)
        self.undo_stack.cleanChanged.connect(self._on_clean_changed)

    # --- what is open ---------------------------------------------------------------------------------

    @property
    def scene(self) -> Scene:
        """The scene now; an immutable value."""
        return self._state.scene

    @property
    def path(self) -> Path | None:
        """Project file, or None for one that was never saved."""
        return self._path

    @property
    def digest(self) -> str:
        """Digest of the content of that file as it was read or written last; "" where that is not known."""
        return self._digest

    @property
    def modified(self) -> bool:
        """Whether closing would lose an edit; camera, playhead and selection alone do not count."""
        return not self.undo_stack.isClean()

    @property
    def unknown(self) -> UnknownContent:
        """What the project file holds and this version does not know, written back on save."""
        return self._unknown

    @property
    def title(self) -> str:
        return self._path.stem if self._path is not None else "untitled"

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
        """Show another project; the history starts anew.

        Args:
            scene: The new scene.
            view_state: Its camera, playhead and selection; defaults for None.
            path: Where it is stored, or None.
            digest: Of what was read there.
            unknown: What its file holds beyond the known keys.
            modified: Whether it differs from the file, as a recovered project does.
        """
        self.undo_stack.clear()
        self.undo_stack.setClean()  # clearing an empty history leaves it unclean if it was
        self._path, self._digest = path and path.absolute(), digest
        self._unknown, self._ids = unknown or UnknownContent(), NodeIds(scene)
        for node_id in self._unknown.node_ids:
            self._ids.note(node_id)
        self._state.replace(scene, view_state if view_state is not None else ViewState())
        if modified:
            self.undo_stack.resetClean()
        self.title_changed.emit()

    def mark_saved(self, path: Path, digest: str = "") -> None:
        """Note that the scene as it is now was written to `path`, which becomes its file, with a digest."""
        self._path, self._digest = path.absolute(), digest
        self.undo_stack.setClean()
        self.title_changed.emit()

    def close(self) -> None:
        """Say nothing any more; a history that is deleted announces that it has nothing left to undo."""
        self.undo_stack.blockSignals(True)

    # --- view state -----------------------------------------------------------------------------------

    @property
    def view_state(self) -> ViewState:
        """Camera, playhead and selection: saved, not undone."""
        return self._state.view_state

    def set_view_state(self, view_state: ViewState) -> None:
        """Replace camera, playhead and selection together."""
        self._state.set_view_state(view_state)

    def set_camera(self, camera: Camera) -> None:
        """Replace the camera; one that is moved out of its range stops there."""
        self._state.set_view_state(msgspec.structs.replace(self.view_state, camera=bounded(camera)))

    def set_time(self, time: float) -> None:
        """Move the playhead to `time` [s]."""
        self._state.set_view_state(msgspec.structs.replace(self.view_state, time=time))

    @property
    def selection(self) -> Selection:
        return self._state.selection

    def select(self, selection: Selection) -> None:
        """Replace the selection; a node that is not in the scene cannot be selected.

        Raises:
            KeyError: If there is no such node.
        """
        self._state.select(selection)

    @property
    def selected(self) -> Node | None:
        return self.scene.by_id.get(self.selection.node or "")

    # --- values ---------------------------------------------------------------------------------------

    def set_value(self, ref: ParamRef, value: Any, gesture: object | None = None) -> None:
        """Set one value as an undoable edit; an equal value is no edit, and what only looks is no entry of the history.

        Args:
            ref: The value.
            value: Anything its declaration accepts.
            gesture: Token from `new_gesture`; edits of one value within a gesture are one entry.

        Raises:
            ParamError: If the declaration refuses the value; nothing has changed then.
            KeyError: If there is no such value.
        """
        self.set_values({ref: value}, gesture)

    def set_values(self, values: Mapping[ParamRef, Any], gesture: object | None = None) -> None:
        """Set several values as one edit, such as both ends of a range; see `set_value`."""
        if isinstance(gesture, Gesture) and gesture.state is GestureState.CANCELLED:
            return
        scene = self.scene
        for ref, value in values.items():
            scene = with_value(scene, ref, self._accepted(ref, value))
        scene, implied = self._completed(scene, {ref.owner for ref in values if ref.part in KINDS})
        scene, along, zoom = self._resized(scene, {ref.owner for ref in values if ref.part in KINDS})
        implied += [ref for ref in along if ref not in values]
        old = {ref: value_at(self.scene, ref) for ref in (*values, *implied)}
        new = {ref: value_at(scene, ref) for ref in old}
        looks = {ref for ref in new if not self._declared(ref).undone}
        if changed := {ref: new[ref] for ref in looks if new[ref] != old[ref]}:
            if isinstance(gesture, Gesture):
                gesture.looks = {**{ref: old[ref] for ref in changed}, **gesture.looks}
            self._look(changed)
        # Not even those that stay as they are: undo would bring them back from what they are by then.
        old, new = ({ref: value for ref, value in values.items() if ref not in looks} for values in (old, new))
        if new == old:
            return
        text = getattr(gesture, "text", None) or values_text(self.scene, new)
        merging = None if isinstance(gesture, Gesture) and gesture.state is GestureState.ENDED else gesture
        self._push(SetParam(self._state, old, new, text=text, gesture=merging, zoom=zoom))

    def set_as_one(self, text: str, values: Mapping[ParamRef, Any]) -> None:
        """Set several values as one edit with a name of its own; see `set_value`."""
        gesture = self.new_gesture(text)
        self.set_values(values, gesture)
        self.end_gesture(gesture)

    def rename(self, node_id: NodeId, name: str) -> None:
        """Rename a node; a taken name gets a number, an empty one is a `ParamError`."""
        self.set_value(ParamRef(node_id, "node", "name"), name)

    def new_gesture(self, text: str | None = None) -> Gesture:
        """Token for a continuous edit, made on press; `text` names it in the history."""
        return Gesture(text)

    def end_gesture(self, gesture: Gesture) -> None:
        """The press was released; later edits with this token stand alone."""
        if gesture.state is GestureState.OPEN:
            gesture.state = GestureState.ENDED

    def cancel_gesture(self, gesture: Gesture) -> None:
        """Restore what the gesture changed and leave no entry; later edits with this token are ignored."""
        if gesture.state is not GestureState.OPEN:
            return
        gesture.state = GestureState.CANCELLED
        if gesture.looks:
            self._look(gesture.looks)
        self.undo_stack.drop_gesture(gesture)

    def _completed(self, scene: Scene, edited: Iterable[NodeId]) -> tuple[Scene, list[ParamRef]]:
        """A scene after an edit of settings with what the kinds add to it, and which values those are."""
        implied = []
        for node_id in edited:
            node = scene.node(node_id)
            completed = KINDS[node.kind].completed(self.scene.node(node_id), node, scene)
            for part in ("attachment", "transform"):
                for name, value in msgspec.structs.asdict(getattr(completed, part)).items():
                    if value != getattr(getattr(node, part), name):
                        implied.append(ParamRef(node_id, part, name))
                        scene = with_value(scene, implied[-1], value)
        return scene, implied

    def _resized(self, scene: Scene, edited: Iterable[NodeId]) -> tuple[Scene, list[ParamRef], Zoom | None]:
        """A scene after an edit that makes nodes larger with what follows them, and which values those are."""
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
        """`value` as the scene as a whole takes it; the declaration judges it alone."""
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
        """Add a node and select it; returns its id.  A place beyond all bounds stops at the last one.

        Args:
            node: The node; an empty or once used id is replaced, the name is made unique.
            index: Place in the outliner, the end for None.
            text: Undo text, "Add NAME" for None.
        """
        named = self.named(msgspec.structs.replace(node, transform=bounded(node.transform)))
        place = len(self.scene.nodes) if index is None else min(max(index, 0), len(self.scene.nodes))
        self._push(AddNode(self._state, named, place, self.selection, text=text or f"Add {named.name}"))
        return named.id

    def add_nodes(self, nodes: Sequence[Node], text: str, *, select: Sequence[NodeId] = ()) -> list[NodeId]:
        """Add nodes as one edit with one notice; returns their ids.

        Args:
            nodes: New ones, as for `add_node`; what rides on or is listed below another one of them by its id does so
                afterwards, whichever ids they get.
            text: Undo text.
            select: What is selected then, by the ids that were given; all of the new nodes for none.
        """
        names = NodeNames(node.name for node in self.scene.nodes)
        fresh = [self.named(msgspec.structs.replace(node, id=""), names) for node in nodes]
        known = {old.id: new.id for old, new in zip(nodes, fresh, strict=True) if old.id}
        added = [renamed_links(node, known) for node in fresh]
        chosen = [known.get(node_id, node_id) for node_id in select] or [node.id for node in added]
        self.set_nodes((*self.scene.nodes, *added), text, selection_of(chosen))
        return [node.id for node in added]

    def duplicate_node(self, node_id: NodeId) -> NodeId:
        """Add a copy of a node right after it and select the copy; returns its id."""
        node = self.scene.node(node_id)
        copy = msgspec.structs.replace(node, id="")
        return self.add_node(copy, self._index(node_id) + 1, text=f"Duplicate {node.name}")

    def duplicate_nodes(self, node_ids: Iterable[NodeId]) -> None:
        """Add copies of nodes, with all that is in groups among them, and select the copies of those named."""
        chosen = list(node_ids)
        if len(wanted := self.scene.with_contents(chosen)) == 1:
            self.duplicate_node(chosen[0])
            return
        copied = [node for node in self.scene.nodes if node.id in wanted]
        self.add_nodes(copied, f"Duplicate {self.nodes_text(chosen)}", select=chosen)

    def remove_node(self, node_id: NodeId) -> None:
        """Remove a node; the selection drops it."""
        self._push(RemoveNode(self._state, self.scene.node(node_id), self._index(node_id), self.selection))

    def remove_nodes(self, node_ids: Iterable[NodeId]) -> None:
        """Remove nodes, with all that is in groups among them, as one edit."""
        chosen = list(node_ids)
        gone = self.scene.with_contents(chosen)
        if len(gone) == 1:
            self.remove_node(chosen[0])
        elif gone:
            rest = tuple(node for node in self.scene.nodes if node.id not in gone)
            self.set_nodes(rest, f"Remove {self.nodes_text(chosen)}", Selection())

    def set_nodes(self, nodes: tuple[Node, ...], text: str, selection: Selection | None = None) -> None:
        """Put other nodes in the place of all, as one edit with one notice; the same ones are no edit.

        Args:
            nodes: The nodes as they shall be, with ids and names that no two share.
            text: Undo text.
            selection: What is selected then; as it is for None.
        """
        if nodes == self.scene.nodes:
            return
        after = self.selection if selection is None else selection
        self._push(ReplaceNodes(self._state, (self.scene.nodes, self.selection), (nodes, after), text=text))

    def nodes_text(self, node_ids: Sequence[NodeId]) -> str:
        return self.scene.node(node_ids[0]).name if len(node_ids) == 1 else f"{len(node_ids)} objects"

    def named(self, node: Node, taken: NodeNames | None = None) -> Node:
        """A new node with an id that no node has or had, a name that none in the scene or of `taken` has."""
        wanted = " ".join(node.name.split()) or default_name(node)
        node_id = node.id
        if not node_id or self.scene.has(node_id) or node_id in self._unknown.node_ids:
            node_id = self._ids.fresh(node.kind)
        self._ids.note(node_id)
        settings = with_paths(node.settings, os.path.abspath)
        name = (taken or NodeNames(other.name for other in self.scene.nodes)).take(wanted)
        return msgspec.structs.replace(node, id=node_id, name=name, settings=settings)

    def _index(self, node_id: NodeId) -> int:
        return self.scene.nodes.index(self.scene.node(node_id))

    # --- history --------------------------------------------------------------------------------------

    def macro(self, text: str) -> AbstractContextManager[None]:
        """Make all edits of a block one entry; none if nothing changed, all undone if the block raises."""
        return self.undo_stack.macro(text)

    def _push(self, command: QUndoCommand) -> None:
        self._refuse_nested()
        self.undo_stack.record(command)

    def _look(self, values: Mapping[ParamRef, Any]) -> None:
        """Set values that only look: they are saved and are no entry of the history."""
        self._refuse_nested()
        self._state.assign_values(values)

    def _refuse_nested(self) -> None:
        if self._state.is_applying:
            raise RuntimeError("an edit was made while another one is being applied")

    def _on_clean_changed(self, _clean: bool) -> None:
        self.title_changed.emit()
