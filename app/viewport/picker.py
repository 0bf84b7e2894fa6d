"""From a place of the viewport to what is there: surfaces, marks, and points on a plane before the eye."""

from collections.abc import Collection

import numpy as np
from pyglm import glm
from PySide6.QtCore import QPointF

from app.document.document import Document
from app.viewport.renderer import ViewportRenderer
from sim.render.pick_pass import Pick
from sim.scene.camera import Camera
from sim.scene.picking import project_points, ray_plane
from sim.scene.scene import NodeId
from widgets.viewport import Viewport

MARK_RADIUS = 12.0


class Picker:
    """Asks the engine in the viewport's context; places are logical pixels from the top left."""

    def __init__(self, document: Document, client: ViewportRenderer, viewport: Viewport) -> None:
        self._document, self._client, self._viewport = document, client, viewport

    @property
    def camera(self) -> Camera:
        return self._document.view_state.camera

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the viewport [px]."""
        return self._viewport.size_f.width(), self._viewport.size_f.height()

    def surface(self, position: QPointF) -> Pick | None:
        """What covers a place; waits for the GPU to draw a few pixels.

        None also for a node that is gone since the engine was brought to the scene: it is still in the picture.
        """
        engine = self._client.engine
        if engine is None:
            return None
        ratio = self._viewport.devicePixelRatioF()
        width, height = self.size
        size = round(width * ratio), round(height * ratio)
        with self._viewport.gl_current():
            hit = engine.pick(self.camera, size, position.x() * ratio, position.y() * ratio)
        return hit if hit is not None and self._document.scene.has(hit.node) else None

    def mark(self, position: QPointF, among: Collection[NodeId] | None = None) -> NodeId | None:
        """The node whose mark is nearest to a place and in reach of the mouse, one of some nodes if they are given."""
        free = self._document.scene.unlocked
        known = free if among is None else free & set(among)
        marks = (
            [mark for mark in self._client.engine.views.marks() if mark.node_id in known] if self._client.engine else []
        )
        if not marks:
            return None
        pixels, _ = project_points(self.camera, self.size, np.array([mark.position for mark in marks], np.float64))
        with np.errstate(invalid="ignore"):
            distances = np.linalg.norm(pixels - [position.x(), position.y()], axis=1)
        distances = np.nan_to_num(distances, nan=np.inf)
        nearest = int(np.argmin(distances))
        return marks[nearest].node_id if distances[nearest] <= MARK_RADIUS else None

    def ray(self, position: QPointF) -> tuple[glm.dvec3, glm.dvec3]:
        """Origin [m] and direction in the world of what lies behind a place."""
        width, height = self.size
        return self.camera.ray(2.0 * position.x() / width - 1.0, 1.0 - 2.0 * position.y() / height, width / height)

    def beside(self, position: QPointF, place: glm.dvec3) -> glm.dvec3 | None:
        """The point under a place of the viewport that is as deep in the picture as a place of the world [m]."""
        return ray_plane(*self.ray(position), place, self.camera.rotation()[2])
