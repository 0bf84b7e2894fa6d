"""Edits that menus and panels share, as calls on the document."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from app.document.document import Document
from sim.figures.settings import SkinningMethod
from sim.kinds import KINDS
from sim.kinds.contract import AddPlace
from sim.scene.places import Places, relative_transform
from sim.scene.scene import VIEW, Attachment, Node, NodeId, ParamRef
from sim.scene.view import Comparison, DisplayMode
from sim.scene.view_state import Selection
from widgets.camera_controller import orbited, preset

_TRANSFORM = ("position", "rotation", "scale")


class SceneEdits:
    """What the user does to the scene without touching a value's own editor.

    Args:
        document: What is edited.
        active: Gives the node that skinning commands are meant for, or None.
        places: Gives where the nodes stand now.
    """

    def __init__(self, document: Document, active: Callable[[], Node | None], places: Callable[[], Places]) -> None:
        self._document, self._active, self._places_now = document, active, places

    def set_view(self, name: str, value: object) -> None:
        """Sets one view setting."""
        self._document.set_value(ParamRef(VIEW, VIEW, name), value)

    def show(self, display: DisplayMode) -> None:
        """Draws surfaces another way; the heat map needs a bone, so bones come with it."""
        values: dict[ParamRef, object] = {ParamRef(VIEW, VIEW, "display"): display}
        if display is DisplayMode.WEIGHTS and self._document.selection.bone is None:
            values[ParamRef(VIEW, VIEW, "bones")] = True
        self._document.set_values(values)

    def toggle_wireframe(self) -> None:
        """Shaded with or without edges."""
        wired = self._document.scene.view.display is DisplayMode.SHADED_WIRE
        self.set_view("display", DisplayMode.SHADED if wired else DisplayMode.SHADED_WIRE)

    def compare(self, comparison: Comparison) -> None:
        """Shows the two skinning methods side by side, their distance, or one of them."""
        self.set_view("comparison", comparison)

    def skin_by(self, method: SkinningMethod) -> None:
        """Skins the active model another way, and shows that way."""
        node = self._active()
        if node is not None:
            skinning = ParamRef(node.id, node.kind, "skinning")
            self._document.set_values({skinning: method, ParamRef(VIEW, VIEW, "comparison"): Comparison.OFF})

    def hide_selected(self) -> None:
        """Hides the selected node."""
        node_id = self._document.selection.node
        if node_id is not None:
            self._document.set_value(ParamRef(node_id, "node", "visible"), False)

    def show_all(self) -> None:
        """Shows every node, as one edit."""
        hidden = [node.id for node in self._document.scene.nodes if not node.visible]
        if hidden:
            self._document.set_values({ParamRef(node_id, "node", "visible"): True for node_id in hidden})

    def delete_selected(self) -> None:
        """Removes the selected node."""
        node_id = self._document.selection.node
        if node_id is not None:
            self._document.remove_node(node_id)

    def duplicate_selected(self) -> None:
        """Copies the selected node."""
        node_id = self._document.selection.node
        if node_id is not None:
            self._document.duplicate_node(node_id)

    @property
    def places(self) -> Places:
        """Where the nodes stand now."""
        return self._places_now()

    @property
    def place(self) -> AddPlace:
        """Where something new goes."""
        return AddPlace(self._document.scene, self._document.view_state)

    def add(self, entry_id: str) -> NodeId:
        """Adds what an entry of the Add menu makes, as one edit, and selects it; returns its id.

        Raises:
            KeyError: If no kind has such an entry.
        """
        entries = {entry.id: entry for kind in KINDS.values() for entry in kind.adds}
        return self._document.add_node(entries[entry_id].make(self.place))

    def set_all(self, text: str, node: Node, values: Mapping[str, Any]) -> None:
        """Sets several settings of a node, as one edit with a name of its own."""
        self._document.set_as_one(text, {ParamRef(node.id, node.kind, name): value for name, value in values.items()})

    def attach(self, node_id: NodeId, attachment: Attachment) -> None:
        """Lets a node ride on something else, or on nothing, where it stands in the world, as one edit.

        Raises:
            ParamError: If it would ride on itself.
        """
        scene, places = self._document.scene, self.places
        node = scene.node(node_id)
        carrier = places.carrier(msgspec.structs.replace(node, attachment=attachment))
        transform = relative_transform(places.world_from_node(node), carrier)
        values = {ParamRef(node_id, "attachment", name): getattr(attachment, name) for name in ("node", "bone")}
        values |= {ParamRef(node_id, "transform", name): getattr(transform, name) for name in _TRANSFORM}
        rides_on = attachment.bone or (scene.node(attachment.node).name if attachment.node else "")
        text = f"Attach {node.name} to {rides_on}" if rides_on else f"Detach {node.name}"
        if attachment != node.attachment:
            self._document.set_as_one(text, values)

    def select(self, node_id: NodeId | None = None, bone: str | None = None) -> None:
        """Selects a node or one of its bones, or nothing."""
        self._document.select(Selection(node=node_id, bone=bone))

    def select_view(self) -> None:
        """Selects the view settings."""
        self._document.select(Selection(view=True))

    def relocate(self, paths: dict[NodeId, str]) -> None:
        """Points models at other files, as one edit."""
        scene = self._document.scene
        values = {ParamRef(node_id, scene.node(node_id).kind, "path"): path for node_id, path in paths.items()}
        self._document.set_values(values)

    def turn_camera(self, name: str) -> None:
        """Looks from the front, back, right, left, top or bottom."""
        self._document.set_camera(preset(self._document.view_state.camera, name))

    def orbit_camera(self, dx: float, dy: float) -> None:
        """Turns the camera about its target by a drag of (dx, dy) pixels."""
        self._document.set_camera(orbited(self._document.view_state.camera, dx, dy))

    def set_orthographic(self, on: bool) -> None:
        """Draws with or without perspective."""
        camera = self._document.view_state.camera
        self._document.set_camera(msgspec.structs.replace(camera, orthographic=on))
