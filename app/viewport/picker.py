"""From a place of the viewport to what is there: surfaces, particles, and points on a plane before the eye."""

import numpy as np
import numpy.typing as npt
from pyglm import glm
from PySide6.QtCore import QPointF

from app.document.document import Document
from app.viewport.client import ViewportClient
from sim.kinds.cloth.picking import nearest_particle
from sim.render.pick_pass import Pick
from sim.render.shot import ParticleRef
from sim.scene.camera import Camera
from sim.scene.picking import ray_plane
from sim.scene.scene import NodeId
from widgets.viewport import Viewport

Float64 = npt.NDArray[np.float64]


class Picker:
    """Asks the engine in the viewport's context; places are logical pixels from the top left.

    What it reads back waits for the GPU: a few pixels and three particles, whatever the size of a cloth.
    """

    def __init__(self, document: Document, client: ViewportClient, viewport: Viewport) -> None:
        self._document, self._client, self._viewport = document, client, viewport

    @property
    def camera(self) -> Camera:
        """The camera of the viewport."""
        return self._document.view_state.camera

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the viewport [px]."""
        return self._viewport.size_f.width(), self._viewport.size_f.height()

    def surface(self, position: QPointF) -> Pick | None:
        """The surface or collider that covers a place."""
        engine = self._client.engine
        if engine is None:
            return None
        ratio = self._viewport.devicePixelRatioF()
        width, height = self.size
        size = round(width * ratio), round(height * ratio)
        with self._viewport.gl_current():
            return engine.pick(self.camera, size, position.x() * ratio, position.y() * ratio)

    def particle(self, position: QPointF) -> ParticleRef | None:
        """The particle that is nearest to a place; None where something else is in front, or no cloth at all."""
        hit = self.surface(position) if self._has_cloths() else None
        engine = self._client.engine
        if hit is None or engine is None:
            return None
        with self._viewport.gl_current():
            cloth = getattr(engine.system(hit.node), "cloth", None)
            return cloth and ParticleRef(hit.node, nearest_particle(cloth, hit.element, *self.ray(position)))

    def place_of(self, reference: ParticleRef) -> glm.dvec3 | None:
        """Where a particle is in the world [m]; None for one that is not there."""
        engine = self._client.engine
        cloth = getattr(engine.system(reference.node), "cloth", None) if engine else None
        if engine is None or cloth is None or reference.particle >= cloth.model.particle_count:
            return None
        with self._viewport.gl_current():
            return glm.dvec3(*cloth.positions_of(np.array([reference.particle]))[0])

    def cloth_positions(self, node_id: NodeId) -> Float64:
        """Places of all particles of a cloth [m], shape (P, 3); reads them all, so not for every move of the mouse."""
        engine = self._client.engine
        cloth = getattr(engine.system(node_id), "cloth", None) if engine else None
        if cloth is None:
            return np.zeros((0, 3))
        with self._viewport.gl_current():
            return cloth.positions().astype(np.float64)

    def ray(self, position: QPointF) -> tuple[glm.dvec3, glm.dvec3]:
        """Origin [m] and direction in the world of what lies behind a place."""
        width, height = self.size
        return self.camera.ray(2.0 * position.x() / width - 1.0, 1.0 - 2.0 * position.y() / height, width / height)

    def beside(self, position: QPointF, place: glm.dvec3) -> glm.dvec3 | None:
        """The point under a place of the viewport that is as deep in the picture as a place of the world [m]."""
        return ray_plane(*self.ray(position), place, self.camera.rotation()[2])

    def _has_cloths(self) -> bool:
        return any(node.visible for node in self._document.scene.of_kind("cloth"))
