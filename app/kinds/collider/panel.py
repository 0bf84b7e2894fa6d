"""What the editor has for colliders: fitting them to the bones of a model."""

from collections.abc import Sequence
from dataclasses import replace

from app.background import run_in_background
from app.editor.desk import Desk
from sim.figures.reference import shaped_mesh
from sim.kinds import group_kind
from sim.kinds.collider.fit import FittedCollider, fit_colliders
from sim.kinds.contract import Command, Panel
from sim.scene.scene import Attachment, Node, NodeId

_GROUP = "group"
"""Id of the group among the new nodes; it gets another one with them."""


class ColliderPanel(Panel):
    """The command that makes colliders for a skeleton."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        tip = "Make colliders for the bones of the active model."
        self.adds = (None, Command("add.fit", "&Fit Colliders to Skeleton", tip, self.fit))

    def fit(self) -> None:
        """Makes colliders for the bones of the active model."""
        node, model, desk = self._desk.active.node, self._desk.active.model, self._desk
        if node is None or model is None:
            return
        scale, node_id, path = node.settings.unit_scale, node.id, node.settings.path

        def add(fitted: list[FittedCollider]) -> None:
            if not fitted:
                desk.panels.warn(path, "there are no bones with weights to fit colliders to")
            elif desk.document.scene.has(node_id):
                self.add_fitted(node_id, fitted)

        engine = desk.client.engine
        pose = engine.pose(node_id) if engine else None
        # Fitted to the surface as morph targets and deformers leave it now.
        shaped = model if pose is None else replace(model, mesh=shaped_mesh(model.mesh, model.skin, pose))
        run_in_background(lambda: fit_colliders(shaped, unit_scale=scale), add, desk.document)

    def add_fitted(self, node_id: NodeId, fitted: Sequence[FittedCollider]) -> None:
        """Adds colliders that were fitted to the bones of a model, in a group below it, as one edit with one notice."""
        document = self._desk.document
        group = Node(id=_GROUP, name="colliders", attachment=Attachment(node=node_id), settings=group_kind().settings())
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
        document.add_nodes([group, *colliders], text, select=[node_id])
