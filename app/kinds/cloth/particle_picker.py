"""Particles of cloths under the mouse, and where they are."""

import numpy as np
import numpy.typing as npt
from pyglm import glm
from PySide6.QtCore import QPointF

from app.editor.desk import Desk
from sim.kinds.cloth.cloth import Cloth
from sim.kinds.cloth.picking import nearest_particle
from sim.render.shot import ParticleRef
from sim.scene.scene import NodeId

Float64 = npt.NDArray[np.float64]


class ParticlePicker:
    """Asks cloths in the viewport's context.

    What it reads back waits for the GPU: a few pixels and three particles, whatever the size of a cloth.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def cloth(self, node_id: NodeId) -> Cloth | None:
        """The particles of a node; None for one that has none."""
        return getattr(self._desk.system(node_id), "cloth", None)

    def particle(self, position: QPointF) -> ParticleRef | None:
        """The particle that is nearest to a place; None where something else is in front, or no cloth at all."""
        scene = self._desk.document.scene
        if not any(node.id in scene.shown for node in scene.of_kind("cloth")):
            return None
        hit = self._desk.picker.surface(position)
        cloth = self.cloth(hit.node) if hit is not None else None
        if hit is None or cloth is None:
            return None
        with self._desk.viewport.gl_current():
            return ParticleRef(hit.node, nearest_particle(cloth, hit.element, *self._desk.picker.ray(position)))

    def place_of(self, reference: ParticleRef) -> glm.dvec3 | None:
        """Where a particle is in the world [m]; None for one that is not there."""
        cloth = self.cloth(reference.node)
        if cloth is None or reference.particle >= cloth.model.particle_count:
            return None
        with self._desk.viewport.gl_current():
            return glm.dvec3(*cloth.positions_of(np.array([reference.particle]))[0].tolist())

    def positions(self, node_id: NodeId) -> Float64:
        """Places of all particles of a cloth [m], shape (P, 3); reads them all, so not for every move of the mouse."""
        cloth = self.cloth(node_id)
        if cloth is None:
            return np.zeros((0, 3))
        with self._desk.viewport.gl_current():
            return cloth.positions().astype(np.float64)
