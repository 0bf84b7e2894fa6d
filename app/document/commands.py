"""Undoable edits.  A command knows how to do and undo itself on a `SceneEditor` and nothing of widgets."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from PySide6.QtGui import QUndoCommand

from app.document.resize import Zoom
from sim.scene.scene import Node, NodeId, ParamRef
from sim.scene.view_state import Selection

SET_PARAM_ID = 1
"""The one id of commands that merge."""


class SceneEditor(Protocol):
    """What the commands need of the document; every method emits the changes that it makes."""

    def assign_values(self, values: Mapping[ParamRef, Any]) -> None:
        """Set values that are known to be valid."""

    def insert_node(self, index: int, node: Node) -> None:
        """Put a node at a place of the outliner."""

    def take_node(self, node_id: NodeId) -> None:
        """Remove a node; the selection drops it."""

    def replace_nodes(self, nodes: tuple[Node, ...], selection: Selection) -> None:
        """Put other nodes in the place of all, and select some of them."""

    def select(self, selection: Selection) -> None:
        """Replace the selection."""

    def zoom(self, zoom: Zoom) -> None:
        """Let the camera follow a scene that grew."""


class SetParam(QUndoCommand):
    """Sets one value, or several that one gesture moves together, to new values."""

    def __init__(
        self,
        editor: SceneEditor,
        old: Mapping[ParamRef, Any],
        new: Mapping[ParamRef, Any],
        *,
        text: str,
        gesture: object | None = None,
        zoom: Zoom | None = None,
    ) -> None:
        super().__init__(text)
        self._editor, self._old, self._new = editor, dict(old), dict(new)
        self._zoom = zoom
        self.gesture = gesture

    def id(self) -> int:
        """Commands with this id are offered to each other for merging."""
        return SET_PARAM_ID

    def redo(self) -> None:
        """Assign the new values."""
        self._editor.assign_values(self._new)
        if self._zoom is not None:
            self._editor.zoom(self._zoom)

    def undo(self) -> None:
        """Assign the values from before."""
        self._editor.assign_values(self._old)
        if self._zoom is not None:
            self._editor.zoom(self._zoom.back)

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Take over the result of a later step of the same gesture; a drag back to the start leaves no entry."""
        if not isinstance(other, SetParam) or other.gesture is None or other.gesture is not self.gesture:
            return False
        if other._new.keys() != self._new.keys() or (other._zoom is None) != (self._zoom is None):
            return False
        self._new = other._new
        if self._zoom is not None and other._zoom is not None:
            self._zoom = replace(self._zoom, factor=self._zoom.factor * other._zoom.factor)
        self.setText(other.text())
        self.setObsolete(self._new == self._old)
        return True


class AddNode(QUndoCommand):
    """Adds a node and selects it."""

    def __init__(self, editor: SceneEditor, node: Node, index: int, selection: Selection, *, text: str) -> None:
        super().__init__(text)
        self._editor, self._node, self._index, self._selection = editor, node, index, selection

    def redo(self) -> None:
        """Add it."""
        self._editor.insert_node(self._index, self._node)
        self._editor.select(Selection(node=self._node.id))

    def undo(self) -> None:
        """Take it away and select what was selected."""
        self._editor.take_node(self._node.id)
        self._editor.select(self._selection)


class RemoveNode(QUndoCommand):
    """Removes a node; undo brings it back to its place, selected."""

    def __init__(self, editor: SceneEditor, node: Node, index: int, selection: Selection) -> None:
        super().__init__(f"Remove {node.name}")
        self._editor, self._node, self._index, self._selection = editor, node, index, selection

    def redo(self) -> None:
        """Remove it."""
        self._editor.take_node(self._node.id)

    def undo(self) -> None:
        """Put it back; a selection inside of it, such as a bone, is selected again."""
        self._editor.insert_node(self._index, self._node)
        inside = self._selection.node == self._node.id
        self._editor.select(self._selection if inside else Selection(node=self._node.id))


class ReplaceNodes(QUndoCommand):
    """Adds, removes, reorders and changes any number of nodes at once, with a single notice."""

    def __init__(
        self,
        editor: SceneEditor,
        old: tuple[tuple[Node, ...], Selection],
        new: tuple[tuple[Node, ...], Selection],
        *,
        text: str,
    ) -> None:
        super().__init__(text)
        self._editor, self._old, self._new = editor, old, new

    def redo(self) -> None:
        """Show the nodes of after it."""
        self._editor.replace_nodes(*self._new)

    def undo(self) -> None:
        """Show those of before it."""
        self._editor.replace_nodes(*self._old)
