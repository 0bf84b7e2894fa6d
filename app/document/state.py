"""What is open as it is now: scene, camera, playhead and selection, and the notices that they changed.

Nothing here knows of a history: commands change the scene through it, and do, undo and redo take the same way.
"""

from collections.abc import Collection, Mapping
from typing import Any

import msgspec
from PySide6.QtCore import QObject, Signal

from app.document.resize import Zoom
from sim.scene.change import Change, ChangeKind, value_change
from sim.scene.params import Effect
from sim.scene.scene import Node, NodeId, ParamRef, Scene, with_value
from sim.scene.view_state import Selection, ViewState, selection_of


class DocumentState(QObject):
    """Holder of the scene and the view state, which are immutable values; a `SceneEditor` for commands.

    Signals:
        changed: One `sim.scene.change.Change` for every changed value, node or the whole scene.
        view_state_changed: The new `ViewState`.
        selection_changed: The new `Selection`.

    Attributes:
        scene: The scene now.
        view_state: Camera, playhead and selection now.
        is_applying: Whether a change of the scene is being told, so that no other may be made.
    """

    changed = Signal(object)
    view_state_changed = Signal(object)
    selection_changed = Signal(object)

    def __init__(self, scene: Scene, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.scene = scene
        self.view_state = ViewState()
        self.is_applying = False

    def replace(self, scene: Scene, view_state: ViewState) -> None:
        """Show another scene; all signals are sent, even where the values are equal."""
        self.scene = scene
        self.changed.emit(Change(ChangeKind.REPLACED, None, Effect.REBUILD))
        self.set_view_state(view_state, force=True)

    # --- view state -----------------------------------------------------------------------------------

    @property
    def selection(self) -> Selection:
        """The one selection."""
        return self.view_state.selection

    def set_view_state(self, view_state: ViewState, *, force: bool = False) -> None:
        """Replace camera, playhead and selection together; equal ones are told only by force."""
        old, self.view_state = self.view_state, view_state
        if force or view_state != old:
            self.view_state_changed.emit(view_state)
        if force or view_state.selection != old.selection:
            self.selection_changed.emit(view_state.selection)

    def select(self, selection: Selection) -> None:
        """Replace the selection; a node that is not in the scene cannot be selected.

        Raises:
            KeyError: If there is no such node.
        """
        for node_id in selection.all_nodes:
            self.scene.node(node_id)
        self.set_view_state(msgspec.structs.replace(self.view_state, selection=selection))

    def zoom(self, zoom: Zoom) -> None:
        """Let the camera follow a scene that grew."""
        self.set_view_state(msgspec.structs.replace(self.view_state, camera=zoom.of(self.view_state.camera)))

    # --- the scene ------------------------------------------------------------------------------------

    def assign_values(self, values: Mapping[ParamRef, Any]) -> None:
        """Set values that are known to be valid."""
        scene = self.scene
        for ref, value in values.items():
            scene = with_value(scene, ref, value)
        self._change(scene, *(value_change(scene, ref) for ref in values))

    def insert_node(self, index: int, node: Node) -> None:
        """Put a node at a place of the outliner."""
        nodes = self.scene.nodes
        self._change_nodes((*nodes[:index], node, *nodes[index:]), node.id, ChangeKind.ADDED, Effect.REBUILD)

    def take_node(self, node_id: NodeId) -> None:
        """Remove a node; the selection drops it."""
        self._deselect({node_id})
        rest = tuple(node for node in self.scene.nodes if node.id != node_id)
        self._change_nodes(rest, node_id, ChangeKind.REMOVED, Effect.REBUILD)

    def replace_nodes(self, nodes: tuple[Node, ...], selection: Selection) -> None:
        """Put other nodes in the place of all, and select some of them; one notice for everything."""
        self._deselect(self.scene.by_id.keys() - {node.id for node in nodes})
        self._change(msgspec.structs.replace(self.scene, nodes=nodes), Change(ChangeKind.NODES, None, Effect.REBUILD))
        self.select(selection)

    def _deselect(self, gone: Collection[NodeId]) -> None:
        """Nodes that are about to go are selected no more; of a bone the whole selection."""
        selection = self.selection
        if selection.node in gone and selection.is_part:
            self.select(Selection())
        elif any(node_id in gone for node_id in selection.all_nodes):
            self.select(selection_of(node_id for node_id in selection.all_nodes if node_id not in gone))

    def _change_nodes(self, nodes: tuple[Node, ...], node_id: NodeId, kind: ChangeKind, effect: Effect) -> None:
        scene = msgspec.structs.replace(self.scene, nodes=nodes)
        self._change(scene, Change(kind, ParamRef(node_id, "node", ""), effect))

    def _change(self, scene: Scene, *changes: Change) -> None:
        self.scene = scene
        self.is_applying = True
        try:
            for change in changes:
                self.changed.emit(change)
        finally:
            self.is_applying = False
