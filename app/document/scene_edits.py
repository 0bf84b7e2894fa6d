from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from sinew.app.document.arrange import (
    attached_values,
    grouped,
    keyed_places,
    ordered,
    placed,
    put_on,
    topmost,
    ungrouped,
)
from sinew.app.document.document import Document
from sinew.app.project.node_text import nodes_of, nodes_text
from sinew.sim.assets.model import Bounds, CharacterModel
from sinew.sim.characters.settings import BONE_PART, BonePose, ModelSettings, SkinningMethod
from sinew.sim.kinds import add_entries, group_kind
from sinew.sim.kinds.contract import AddPlace
from sinew.sim.scene.params import ParamError, params_of
from sinew.sim.scene.scene import VIEW, Attachment, Node, NodeId, ParamRef, Scene
from sinew.sim.scene.view import DisplayMode, SkinningComparison
from sinew.sim.scene.view_state import Selection, selection_of
from sinew.sim.scene.world_transforms import WorldTransforms
from sinew.widgets.camera_controller import orbited, preset


class SceneEdits:
    """Commands of the user, each one entry of the undo history.

    Args:
        active: Returns the model that skinning commands act on, or None.
        places: Returns the current world transforms.
        box: Returns the bounding box of the selection, or None.
        areas: Returns the areas of skin and scalp of the selection [m²], or None.
        models: Returns the models of the characters that are loaded.

    Attributes:
        report: Called with one line for the user.
    """

    def __init__(
        self,
        document: Document,
        active: Callable[[], Node | None],
        places: Callable[[], WorldTransforms],
        box: Callable[[], Bounds | None],
        areas: Callable[[], tuple[float | None, float | None]],
        models: Callable[[], Mapping[NodeId, CharacterModel]],
    ) -> None:
        self._document, self._active, self._places_now, self._box_now = document, active, places, box
        self._areas_now, self._models_now = areas, models
        self.report: Callable[[str], object] = lambda _: None

    def set_view(self, name: str, value: object) -> None:
        self._document.set_value(ParamRef(VIEW, VIEW, name), value)

    def show(self, display: DisplayMode) -> None:
        """Sets the display mode; the heat map shows bones too."""
        values: dict[ParamRef, object] = {ParamRef(VIEW, VIEW, "display"): display}
        if display is DisplayMode.WEIGHTS and self._document.selection.bone is None:
            values[ParamRef(VIEW, VIEW, "bones")] = True
        self._document.set_values(values)

    def toggle_wireframe(self) -> None:
        wired = self._document.scene.view.display is DisplayMode.SHADED_WIRE
        self.set_view("display", DisplayMode.SHADED if wired else DisplayMode.SHADED_WIRE)

    def compare(self, comparison: SkinningComparison) -> None:
        shown = self._document.scene.view.comparison
        self.set_view("comparison", SkinningComparison.OFF if comparison is shown else comparison)

    def skin_by(self, method: SkinningMethod) -> None:
        node = self._active()
        if node is not None:
            skinning = ParamRef(node.id, node.kind, "skinning")
            self._document.set_values({skinning: method, ParamRef(VIEW, VIEW, "comparison"): SkinningComparison.OFF})

    @property
    def _chosen(self) -> tuple[NodeId, ...]:
        """Selected nodes; empty if a bone or a material is selected."""
        return self._document.selection.nodes

    @property
    def _unlocked(self) -> list[NodeId]:
        return [node_id for node_id in self._chosen if node_id in self._document.scene.unlocked]

    def hide_selected(self) -> None:
        self.set_of_nodes(self._chosen, "visible", False, "Hide")

    def lock_selected(self) -> None:
        """Locks the selected nodes, or unlocks them if all are locked."""
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
        self._document.remove_nodes(self._unlocked)

    def duplicate_selected(self) -> None:
        if self._chosen:
            self._document.duplicate_nodes(self._chosen)

    def group_selected(self) -> None:
        document, chosen = self._document, topmost(self._document.scene, self._unlocked)
        if chosen:
            kind = group_kind()
            group = document.named(kind.new_node(name=kind.label))
            nodes = grouped(self.places, chosen, group)
            self._set_nodes(nodes, f"Group {document.nodes_text(chosen)}", Selection(node=group.id))

    def ungroup_selected(self) -> None:
        """Dissolves the selected groups and selects their content."""
        document, scene = self._document, self._document.scene
        groups = [node_id for node_id in self._unlocked if scene.node(node_id).settings.is_group]
        if groups:
            freed = [node.id for node in scene.nodes if scene.parents.get(node.id) in groups and node.id not in groups]
            text = f"Ungroup {document.nodes_text(groups)}"
            self._set_nodes(ungrouped(self.places, groups), text, selection_of(freed))

    @property
    def posed_bones(self) -> list[tuple[NodeId, str]]:
        """Bones with a pose offset: the selected one, or all of the selected characters."""
        scene, selection = self._document.scene, self._document.selection
        characters = [node for node in scene.characters if node.id in selection.all_nodes]
        return [
            (node.id, posed.bone)
            for node in characters
            if isinstance(node.settings, ModelSettings)
            for posed in node.settings.pose
            if selection.bone in (None, posed.bone)
        ]

    def reset_pose(self) -> None:
        """Resets the selected bone, or all bones of the selected characters, to the pose of the clip."""
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
        """Returns the selected nodes with the content of groups as text for the clipboard; "" for none."""
        wanted = self._document.scene.with_contents(self._chosen)
        return nodes_text(self.places, list(wanted)) if wanted else ""

    def paste(self, text: str) -> None:
        """Adds nodes as one edit and selects them; raises ProjectError, without a change, for an invalid text."""
        nodes = nodes_of(text, self._document.scene)
        if nodes:
            name = nodes[0].name if len(nodes) == 1 else f"{len(nodes)} objects"
            self._document.add_nodes(nodes, f"Paste {name}")

    def place_nodes(
        self, node_ids: Sequence[NodeId], attachment: Attachment, *, before: NodeId | None = None, order: bool = False
    ) -> None:
        """Attaches, groups, detaches or reorders nodes as one edit; their world transforms do not change.

        Nodes with keys of their transform move with the new parent.

        Args:
            attachment: Their new parent, bone or group; empty for none.
            before: Node that they are listed before, None for the end.
            order: Also reorder; nodes that are listed below the new parent already keep their attachment.

        Raises:
            ParamError: If a node would be its own parent.
        """
        document, scene = self._document, self._document.scene
        chosen = [node_id for node_id in topmost(scene, node_ids) if node_id in scene.unlocked and node_id != before]
        moved = [c for c in chosen if not order or scene.parents.get(c, "") != attachment.node]
        nodes = put_on(self.places, moved, attachment) if moved else scene.nodes
        if order:
            nodes = ordered(nodes, chosen, before)
        if chosen:
            names = document.nodes_text(chosen)
            text = _place_text(scene, names, attachment) if moved else f"Move {names} in the outliner"
            self._set_nodes(nodes, text)

    def set_links(self, values: Mapping[ParamRef, Any], gesture: object | None = None) -> None:
        """Sets parents and bones of nodes as `Document.set_values` does; their world transforms do not change."""
        links: dict[NodeId, dict[str, Any]] = {}
        for ref, value in values.items():
            links.setdefault(ref.owner, {})[ref.name] = value
        before, changed = self._document.scene, attached_values(self.places, self._document.scene, links)
        self._document.set_values(changed, gesture, as_keys=False)
        self._report_keys(before)

    @property
    def attach_fault(self) -> str:
        """Reason why no object can be attached to the one that was selected last; "" if one can."""
        chosen = self._document.selection.nodes
        return "" if len(chosen) > 1 and set(self._unlocked) & set(chosen[1:]) else "Select an object, then its parent."

    def attach_selected(self) -> None:
        """Attaches the selected nodes to the one that was selected last."""
        parent, *others = self._chosen
        try:
            self.place_nodes(others, Attachment(node=parent))
        except ParamError as error:
            self.report(str(error))

    @property
    def _attached(self) -> list[NodeId]:
        return [node_id for node_id in self._unlocked if self._document.scene.node(node_id).attachment.node]

    @property
    def detach_fault(self) -> str:
        return "" if self._attached else "Select an attached object first."

    def detach_selected(self) -> None:
        nodes = put_on(self.places, self._attached, Attachment())
        self._set_nodes(nodes, f"Detach {self._document.nodes_text(self._attached)}")

    def _set_nodes(self, nodes: Sequence[Node], text: str, selection: Selection | None = None) -> None:
        """Sets parents, groups and order of nodes, which have the values that keyed settings have now."""
        before = self._document.scene
        self._document.set_nodes(placed(before, tuple(nodes)), text, selection)
        self._report_keys(before)

    def _report_keys(self, before: Scene) -> None:
        links = {node.id: node.attachment for node in before.nodes}
        changed = [n for n in self._document.scene.nodes if n.attachment != links.get(n.id, n.attachment)]
        for node_id, name in keyed_places(changed).items():
            self.report(f"{before.node(node_id).name} has keys of its {name}: it moves with its new parent.")

    @property
    def places(self) -> WorldTransforms:
        return self._places_now()

    @property
    def place(self) -> AddPlace:
        scene, view = self._document.scene, self._document.view_state
        return AddPlace(scene, view, self._box_now(), *self._areas_now(), self._models_now())

    def add(self, entry_id: str) -> NodeId:
        """Adds the node of an entry of the Add menu and selects it; raises KeyError if there is no such entry."""
        return self._document.add_made(add_entries()[entry_id].make(self.place))[0]

    def reason(self, reason: Callable[[AddPlace], str]) -> str:
        """Returns why the selection is no place for an entry of the Add menu, a sentence, or ""."""
        return reason(AddPlace(self._document.scene, self._document.view_state, models=self._models_now()))

    def set_all(self, text: str, values: Mapping[NodeId, Mapping[str, Any]]) -> None:
        kinds = {node_id: self._document.scene.node(node_id).kind for node_id in values}
        refs = {ParamRef(owner, kinds[owner], name): v for owner, held in values.items() for name, v in held.items()}
        self._document.set_as_one(text, refs)

    def select(self, node_id: NodeId | None = None, bone: str | None = None) -> None:
        self._document.select(Selection(node=node_id, bone=bone))

    def select_all(self) -> None:
        """Selects all nodes; the primary selection stays the same."""
        self._document.select(selection_of((*self._document.selection.nodes, *self._document.scene.by_id)))

    def relocate(self, paths: dict[NodeId, str]) -> None:
        scene = self._document.scene
        values = {ParamRef(node_id, scene.node(node_id).kind, "path"): path for node_id, path in paths.items()}
        self._document.set_values(values)

    def turn_camera(self, name: str) -> None:
        self._document.set_camera(preset(self._document.view_state.camera, name))

    def orbit_camera(self, dx: float, dy: float) -> None:
        """Turns the camera about its target by a drag of (dx, dy) pixels."""
        self._document.set_camera(orbited(self._document.view_state.camera, dx, dy))

    def set_orthographic(self, on: bool) -> None:
        camera = self._document.view_state.camera
        self._document.set_camera(msgspec.structs.replace(camera, orthographic=on))


def _place_text(scene: Scene, names: str, attachment: Attachment) -> str:
    if not attachment.node:
        return f"Detach {names}"
    target = scene.node(attachment.node)
    return (
        f"Put {names} into {target.name}"
        if target.settings.is_group
        else f"Attach {names} to {attachment.bone or target.name}"
    )
