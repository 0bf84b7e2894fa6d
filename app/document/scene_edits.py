"""Edits that menus and panels share, as calls on the document."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from app.document.arrange import grouped, ordered, put_on, topmost, ungrouped
from app.document.document import Document
from app.files.node_text import nodes_of, nodes_text
from sim.assets.model import Bounds
from sim.characters.settings import BONE_PART, BonePose, SkinningMethod
from sim.kinds import KINDS, group_kind
from sim.kinds.contract import AddPlace
from sim.scene.params import params_of
from sim.scene.scene import VIEW, Attachment, Node, NodeId, ParamRef, Scene
from sim.scene.view import DisplayMode, SkinningComparison
from sim.scene.view_state import Selection, selection_of
from sim.scene.world_transforms import WorldTransforms
from widgets.camera_controller import orbited, preset


class SceneEdits:
    """What the user does to the scene without touching a value's own editor.

    Args:
        document: What is edited.
        active: Gives the node that skinning commands are meant for, or None.
        places: Gives where the nodes stand now.
        box: Gives the box around what is selected, or None.
        areas: Gives the areas of the skin and of the scalp of what is selected [m²], or None.
    """

    def __init__(
        self,
        document: Document,
        active: Callable[[], Node | None],
        places: Callable[[], WorldTransforms],
        box: Callable[[], Bounds | None],
        areas: Callable[[], tuple[float | None, float | None]],
    ) -> None:
        self._document, self._active, self._places_now, self._box_now = document, active, places, box
        self._areas_now = areas

    def set_view(self, name: str, value: object) -> None:
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

    def compare(self, comparison: SkinningComparison) -> None:
        """Shows the two skinning methods side by side, their distance, or one of them; the same again ends that."""
        shown = self._document.scene.view.comparison
        self.set_view("comparison", SkinningComparison.OFF if comparison is shown else comparison)

    def skin_by(self, method: SkinningMethod) -> None:
        """Skins the active model another way, and shows that way."""
        node = self._active()
        if node is not None:
            skinning = ParamRef(node.id, node.kind, "skinning")
            self._document.set_values({skinning: method, ParamRef(VIEW, VIEW, "comparison"): SkinningComparison.OFF})

    @property
    def _chosen(self) -> tuple[NodeId, ...]:
        """The selected nodes; none where a bone is selected, which can only be posed."""
        return self._document.selection.nodes

    @property
    def _unlocked(self) -> list[NodeId]:
        return [node_id for node_id in self._chosen if node_id in self._document.scene.unlocked]

    def hide_selected(self) -> None:
        self.set_of_nodes(self._chosen, "visible", False, "Hide")

    def lock_selected(self) -> None:
        """Locks the selected nodes; where all of them are, unlocks them."""
        lock = any(not self._document.scene.node(node_id).locked for node_id in self._chosen)
        self.set_of_nodes(self._chosen, "locked", lock, "Lock" if lock else "Unlock")

    def set_of_nodes(self, node_ids: Sequence[NodeId], name: str, value: object, verb: str) -> None:
        if node_ids:
            values = {ParamRef(node_id, "node", name): value for node_id in node_ids}
            self._document.set_as_one(f"{verb} {self._document.nodes_text(node_ids)}", values)

    def show_all(self) -> None:
        hidden = [node.id for node in self._document.scene.nodes if not node.visible]
        self.set_of_nodes(hidden, "visible", True, "Show")

    def delete_selected(self) -> None:
        """Removes the selected nodes that are not locked, with what is in groups among them."""
        self._document.remove_nodes(self._unlocked)

    def duplicate_selected(self) -> None:
        """Adds copies of the selected nodes, with what is in groups among them."""
        if self._chosen:
            self._document.duplicate_nodes(self._chosen)

    def group_selected(self) -> None:
        document, chosen = self._document, topmost(self._document.scene, self._unlocked)
        if chosen:
            kind = group_kind()
            group = document.named(Node(id="", name=kind.label, settings=kind.settings()))
            nodes = grouped(self.places, chosen, group)
            document.set_nodes(nodes, f"Group {document.nodes_text(chosen)}", Selection(node=group.id))

    def ungroup_selected(self) -> None:
        """Dissolves the selected groups; what was in them is selected."""
        document, scene = self._document, self._document.scene
        groups = [node_id for node_id in self._unlocked if scene.node(node_id).settings.is_group]
        if groups:
            freed = [node.id for node in scene.nodes if scene.parents.get(node.id) in groups and node.id not in groups]
            text = f"Ungroup {document.nodes_text(groups)}"
            document.set_nodes(ungrouped(self.places, groups), text, selection_of(freed))

    @property
    def posed_bones(self) -> list[tuple[NodeId, str]]:
        """Bones that are posed: the selected one, or all of the selected figures."""
        scene, selection = self._document.scene, self._document.selection
        characters = [node for node in scene.characters if node.id in selection.all_nodes]
        return [
            (node.id, posed.bone)
            for node in characters
            for posed in node.settings.pose
            if selection.bone in (None, posed.bone)
        ]

    def reset_pose(self) -> None:
        """Takes the selected bone, or all of the selected figures, as the clip has them."""
        bones = self.posed_bones
        if bones:
            named = bones[0][1] if len(bones) == 1 else f"{len(bones)} bones"
            rest = [(record.name, record.default) for record in params_of(BonePose)]
            refs = [
                (ParamRef(node_id, f"{BONE_PART}{bone}", name), value)
                for node_id, bone in bones
                for name, value in rest
            ]
            self._document.set_as_one(f"Reset the pose of {named}", dict(refs))

    def copied_text(self) -> str:
        """The selected nodes as text, with what is in groups among them; "" for none."""
        wanted = self._document.scene.with_contents(self._chosen)
        return nodes_text(self.places, list(wanted)) if wanted else ""

    def paste(self, text: str) -> None:
        """Adds the nodes of a text, as one edit, and selects them.

        Raises:
            ProjectError: If it holds none, or a value is refused; nothing has changed then.
        """
        nodes = nodes_of(text, self._document.scene)
        if nodes:
            name = nodes[0].name if len(nodes) == 1 else f"{len(nodes)} objects"
            self._document.add_nodes(nodes, f"Paste {name}")

    def place_nodes(
        self, node_ids: Sequence[NodeId], attachment: Attachment, *, before: NodeId | None = None, order: bool = False
    ) -> None:
        """Lists nodes elsewhere, where they stand in the world, as one edit.

        Args:
            node_ids: The nodes.
            attachment: What they ride on then, or the group that they are in; nothing for the top.
            before: Node that they come before, None for the end.
            order: Whether their place among the others is meant; below what they are listed already they then go on
                riding on what they ride on.

        Raises:
            ParamError: If one would be listed below itself.
        """
        document, scene = self._document, self._document.scene
        chosen = [node_id for node_id in topmost(scene, node_ids) if node_id in scene.unlocked and node_id != before]
        moved = [c for c in chosen if not order or scene.parents.get(c, "") != attachment.node]
        nodes = put_on(self.places, moved, attachment) if moved else scene.nodes
        if order:
            nodes = ordered(nodes, chosen, before)
        if chosen:
            names = document.nodes_text(chosen)
            document.set_nodes(
                nodes, _placed_text(scene, names, attachment) if moved else f"Move {names} in the outliner"
            )

    @property
    def places(self) -> WorldTransforms:
        return self._places_now()

    @property
    def place(self) -> AddPlace:
        return AddPlace(self._document.scene, self._document.view_state, self._box_now(), *self._areas_now())

    def add(self, entry_id: str) -> NodeId:
        """Adds what an entry of the Add menu makes, as one edit, and selects it; returns its id.

        Raises:
            KeyError: If no kind has such an entry.
        """
        entries = {entry.id: entry for kind in KINDS.values() for entry in kind.adds}
        return self._document.add_node(entries[entry_id].make(self.place))

    def set_all(self, text: str, values: Mapping[NodeId, Mapping[str, Any]]) -> None:
        """Sets several settings of some nodes, as one edit with a name of its own."""
        kinds = {node_id: self._document.scene.node(node_id).kind for node_id in values}
        refs = {ParamRef(owner, kinds[owner], name): v for owner, held in values.items() for name, v in held.items()}
        self._document.set_as_one(text, refs)

    def select(self, node_id: NodeId | None = None, bone: str | None = None) -> None:
        self._document.select(Selection(node=node_id, bone=bone))

    def select_all(self) -> None:
        """Selects every node; the one that was chosen last stays it."""
        self._document.select(selection_of((*self._document.selection.nodes, *self._document.scene.by_id)))

    def select_view(self) -> None:
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


def _placed_text(scene: Scene, names: str, attachment: Attachment) -> str:
    if not attachment.node:
        return f"Detach {names}"
    target = scene.node(attachment.node)
    return (
        f"Put {names} into {target.name}"
        if target.settings.is_group
        else f"Attach {names} to {attachment.bone or target.name}"
    )
