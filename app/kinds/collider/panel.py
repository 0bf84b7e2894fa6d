from collections.abc import Sequence
from dataclasses import replace

from sinew.app.session.editor_context import EditorContext
from sinew.app.tasks import run_in_background
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.reference import shaped_mesh
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.kinds import group_kind
from sinew.sim.kinds.collider.fit import FittedCollider, fit_colliders
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.contract import Command, Panel
from sinew.sim.scene.scene import Attachment, Node, NodeId
from sinew.widgets.protocols import loaded_model

_GROUP = "group"  # id of the new group among the new nodes; it is replaced when they are added


class ColliderPanel(Panel):
    def __init__(self, context: EditorContext) -> None:
        self._context = context
        tip = "Make colliders for the bones of the active model."
        self.adds = (None, Command("add.fit", "&Fit Colliders to Skeleton", tip, self.fit, reason=self._reason))

    def note(self, node: Node, system: object) -> str:  # noqa: ARG002
        settings = node.settings
        if not isinstance(settings, ColliderSettings) or settings.shape is not ColliderShape.SKIN:
            return ""
        carrier = self._context.document.scene.by_id.get(node.attachment.node)
        if carrier is None or not carrier.settings.is_character:
            return "Attach this collider to a model: its skin will collide."
        loaded = self._context.store.loaded(carrier.id)
        known = {section.name for section in loaded.model.mesh.sections} if loaded is not None else settings.sections
        missing = [name for name in settings.sections if name not in known]
        return f"{carrier.name} has no section {missing[0]!r}." if missing else ""

    def _reason(self) -> str:
        model = self._context.active.model
        return "" if model is not None and model.skeleton is not None else "Open a model with bones first."

    def fit(self) -> None:
        node, model = self._context.active.node, self._context.active.model
        if node is not None and model is not None:
            self._fit(node, model)

    def suggestion(self, node: Node) -> tuple[str, Command] | None:
        colliders = self._context.document.scene.of_kind("collider")
        parent = self._character_of(node) if getattr(node.settings, "collide", False) else None
        if parent is None or any(collider.attachment.node == parent[0].id for collider in colliders):
            return None
        name = parent[0].name
        fit = Command("", "Fit Colliders", f"Make colliders for the bones of {name}.", self.fit_parent)
        return f"{name} has no colliders: this object passes through it.", fit

    def fit_parent(self) -> None:
        node = self._context.document.selected
        if node is not None and (parent := self._character_of(node)) is not None:
            self._fit(*parent, node.id)

    def _character_of(self, node: Node) -> tuple[Node, CharacterModel] | None:
        """Returns the character with bones that a node is attached to, and its model."""
        character = self._context.document.scene.by_id.get(node.attachment.node)
        if character is None or not character.settings.is_character:
            return None
        model = loaded_model(self._context.store.status(character.id))
        return (character, model) if model is not None and model.skeleton is not None else None

    def _fit(self, node: Node, model: CharacterModel, select: NodeId = "") -> None:
        context, settings = self._context, node.settings
        assert isinstance(settings, ModelSettings)
        scale, node_id = settings.unit_scale, node.id

        def add(fitted: list[FittedCollider]) -> None:
            now = context.document.scene.by_id.get(node_id)
            context.hint("")
            if not fitted:
                context.panels.warn(settings.path, "no bones with weights to fit colliders to")
            elif now is not None and isinstance(now.settings, ModelSettings) and now.settings.unit_scale != scale:
                self._fit(now, model, select)
            elif now is not None:
                self.add_fitted(node_id, fitted, select if context.document.scene.has(select) else node_id)

        context.hint(f"Fitting colliders to {node.name}…")

        engine = context.client.engine
        character = engine.views.characters.get(node_id) if engine else None
        pose = character.pose if character else None
        # Fitted to the surface after morph targets and deformers.
        shaped = model if pose is None else replace(model, mesh=shaped_mesh(model.mesh, model.skin, pose))
        run_in_background(lambda: fit_colliders(shaped, unit_scale=scale), add, context.document)

    def add_fitted(self, node_id: NodeId, fitted: Sequence[FittedCollider], select: NodeId = "") -> None:
        """Adds a group attached to the model, as one edit, and selects the model or `select`."""
        document = self._context.document
        group = group_kind().new_node(_GROUP, name="Colliders", attachment=Attachment(node=node_id))
        colliders = [
            Node(
                id="",
                name=collider.bone,
                transform=collider.transform,
                attachment=Attachment(node=node_id, bone=collider.bone),
                within=_GROUP,
                settings=collider.settings,
            )
            for collider in fitted
        ]
        text = f"Fit colliders to {document.scene.node(node_id).name}"
        document.add_nodes([group, *colliders], text, select=[select or node_id])
