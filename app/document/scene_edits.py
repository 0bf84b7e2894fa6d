"""Edits that menus and panels share, as calls on the document."""

from collections.abc import Callable, Sequence

import msgspec
from pyglm import glm

from app.document.document import Document
from sim.figures.settings import SkinningMethod, section_list
from sim.kinds.cloth.settings import ClothSettings
from sim.kinds.collider.fit import FittedCollider
from sim.kinds.collider.settings import ColliderSettings
from sim.kinds.light.settings import LightSettings
from sim.scene.scene import VIEW, Node, NodeId, ParamRef
from sim.scene.transform import Transform
from sim.scene.view import Comparison, DisplayMode
from sim.scene.view_state import Selection
from sim.solids.state import SolidShape
from widgets.camera_controller import orbited, preset


class SceneEdits:
    """What the user does to the scene without touching a value's own editor.

    Args:
        document: What is edited.
        active: Gives the node that skinning commands are meant for, or None.
    """

    def __init__(self, document: Document, active: Callable[[], Node | None]) -> None:
        self._document, self._active = document, active

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
            skinning = ParamRef(node.id, "model", "skinning")
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

    def add_light(self) -> None:
        """Adds a light between the camera and its target, up and to the right, where it can be seen and grabbed."""
        camera = self._document.view_state.camera
        right, up, back = camera.rotation()
        place = glm.dvec3(*camera.target) + (0.2 * right + 0.18 * up + 0.3 * back) * camera.distance
        light = LightSettings(reach=min(max(0.5 * camera.distance, 1e-3), 1e6))
        self._document.add_node(
            Node(id="", name="light", transform=Transform(position=place.to_tuple()), settings=light)
        )

    def add_cloth(self) -> None:
        """Adds a sheet that hangs from its two upper corners over the camera's target."""
        x, y, z = self._document.view_state.camera.target
        place = (x, max(y + 0.75, 1.6), z)
        self._document.add_node(
            Node(id="", name="cloth", transform=Transform(position=place), settings=ClothSettings())
        )

    def add_collider(self, shape: SolidShape) -> None:
        """Adds a collider; on the selected bone if there is one, a plane on the ground, others at the target."""
        selection = self._document.selection
        settings = ColliderSettings(
            shape=shape, radius=0.3, length=0.5, semi_axes=(0.4, 0.3, 0.2), half_sizes=(0.3,) * 3
        )
        place = (0.0, 0.0, 0.0)
        if selection.bone is not None and selection.node is not None and shape is not SolidShape.PLANE:
            settings = msgspec.structs.replace(settings, bone_node=selection.node, bone=selection.bone, radius=0.1)
        elif shape is not SolidShape.PLANE:
            place = self._document.view_state.camera.target
        self._document.add_node(Node(id="", name=shape.value, transform=Transform(position=place), settings=settings))

    def add_fitted(self, node_id: NodeId, fitted: Sequence[FittedCollider]) -> None:
        """Adds colliders that were fitted to the bones of a model, as one edit."""
        name = self._document.scene.node(node_id).name
        with self._document.macro(f"Fit colliders to {name}"):
            for collider in fitted:
                settings = msgspec.structs.replace(collider.settings, bone_node=node_id, bone=collider.bone)
                self._document.add_node(
                    Node(id="", name=collider.bone, transform=collider.transform, settings=settings)
                )
            self._document.select(Selection(node=node_id))

    def add_section_cloth(self, node_id: NodeId, cloth: Node) -> None:
        """Adds a cloth that takes the place of a section of a model, as one edit."""
        node = self._document.scene.node(node_id)
        if node.kind != "model" or cloth.cloth is None:
            return
        hidden = dict.fromkeys((*section_list(node.settings.hidden_sections), cloth.cloth.mesh_section))
        with self._document.macro(f"Make cloth of {cloth.cloth.mesh_section}"):
            self._document.set_value(ParamRef(node_id, "model", "hidden_sections"), "; ".join(hidden))
            self._document.add_node(cloth)

    def select(self, node_id: NodeId | None = None, bone: str | None = None) -> None:
        """Selects a node or one of its bones, or nothing."""
        self._document.select(Selection(node=node_id, bone=bone))

    def select_view(self) -> None:
        """Selects the view settings."""
        self._document.select(Selection(view=True))

    def relocate(self, paths: dict[NodeId, str]) -> None:
        """Points models at other files, as one edit."""
        self._document.set_values({ParamRef(node_id, "model", "path"): path for node_id, path in paths.items()})

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
