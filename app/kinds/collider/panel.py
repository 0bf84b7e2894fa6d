"""What the editor has for colliders: fitting them to the bones of a model."""

from collections.abc import Sequence
from dataclasses import replace

from app.background import run_in_background
from app.editor.desk import Desk
from sim.figures.reference import shaped_mesh
from sim.kinds.collider.fit import FittedCollider, fit_colliders
from sim.kinds.contract import Command, Panel
from sim.scene.scene import Attachment, Node, NodeId
from sim.scene.view_state import Selection


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
        """Adds colliders that were fitted to the bones of a model, as one edit."""
        document = self._desk.document
        with document.macro(f"Fit colliders to {document.scene.node(node_id).name}"):
            for collider in fitted:
                ride = Attachment(node=node_id, bone=collider.bone)
                settings, transform = collider.settings, collider.transform
                document.add_node(
                    Node(id="", name=collider.bone, transform=transform, attachment=ride, settings=settings)
                )
            document.select(Selection(node=node_id))
