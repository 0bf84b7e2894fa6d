from collections.abc import Collection, Mapping

import numpy as np
from pyglm import glm
from PySide6.QtCore import QPointF

from sinew.app.document.document import Document
from sinew.app.session.renderer import ViewportRenderer
from sinew.sim.render.pick_pass import Pick
from sinew.sim.render.render_view import ParticleRef
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.params import Effect
from sinew.sim.scene.picking import project_points, ray_plane
from sinew.sim.scene.scene import NodeId
from sinew.widgets.viewport import Viewport

MARK_RADIUS = 12.0


class Picker:
    """Search for objects under the mouse; positions are logical pixels from the top left."""

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
        """Returns the surface at a position; waits for the GPU.

        None if nothing is visible there, and for a node that was removed from the document but is still in the frame.
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
        """Returns the nearest mark within `MARK_RADIUS`; of all nodes if `among` is None."""
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
        """Returns origin [m] and direction in the world of the ray through a position."""
        width, height = self.size
        return self.camera.ray(2.0 * position.x() / width - 1.0, 1.0 - 2.0 * position.y() / height, width / height)

    def beside(self, position: QPointF, place: glm.dvec3) -> glm.dvec3 | None:
        """Returns the point under a position at the same depth as a point of the world [m]."""
        return ray_plane(*self.ray(position), place, self.camera.rotation()[2])


class ParticleMarks:
    """Highlighted and selected particles, which are view state that is not saved."""

    def __init__(self, document: Document, client: ViewportRenderer, viewport: Viewport) -> None:
        self._document, self._client, self._viewport = document, client, viewport
        self._hovered: ParticleRef | None = None
        self._chosen: dict[NodeId, tuple[int, ...]] = {}
        document.changed.connect(self._on_changed)

    @property
    def hovered(self) -> ParticleRef | None:
        return self._hovered

    @property
    def chosen(self) -> Mapping[NodeId, tuple[int, ...]]:
        """Selected particles in ascending order, by node; leaves out nodes without any."""
        return self._chosen

    @property
    def count(self) -> int:
        return sum(map(len, self._chosen.values()))

    def hovered_of(self, kind: str) -> ParticleRef | None:
        """Returns the highlighted particle; None if it belongs to another kind."""
        hovered, nodes = self._hovered, self._document.scene.by_id
        return hovered if hovered is not None and nodes[hovered.node].kind == kind else None

    def point_at(self, kind: str, reference: ParticleRef | None) -> None:
        """Highlights a particle of a kind; None keeps highlights of other kinds."""
        if reference is not None or self.hovered_of(kind) is not None:
            self.hover(reference)

    def hover(self, reference: ParticleRef | None) -> None:
        """Highlights a particle; None, or a node that was removed since the image was drawn, highlights nothing."""
        is_there = reference is not None and self._document.scene.has(reference.node)
        self._hovered = reference if is_there else None
        self._show()

    def choose(self, chosen: Mapping[NodeId, tuple[int, ...]]) -> None:
        """Selects particles, except of nodes that were removed since; an empty mapping deselects all."""
        has = self._document.scene.has
        self._chosen = {node: tuple(sorted(numbers)) for node, numbers in chosen.items() if numbers and has(node)}
        self._show()

    def toggle(self, reference: ParticleRef) -> None:
        numbers = set(self._chosen.get(reference.node, ())) ^ {reference.particle}
        self.choose({**self._chosen, reference.node: tuple(numbers)})

    def _on_changed(self, change: Change) -> None:
        """Deselects particles of nodes that were removed or rebuilt: the same numbers are other particles then."""
        if change.kind is ChangeKind.REPLACED:
            self.hover(None)
            self.choose({})
        elif change.kind is ChangeKind.NODES:
            self.hover(self._hovered)
            self.choose(self._chosen)
        elif change.ref is not None and (change.kind is ChangeKind.REMOVED or change.effect is Effect.REBUILD):
            owner = change.ref.owner
            if self._hovered is not None and self._hovered.node == owner:
                self.hover(None)
            if owner in self._chosen:
                self.choose({node_id: numbers for node_id, numbers in self._chosen.items() if node_id != owner})

    def _show(self) -> None:
        if self._client.mark_particles(self._hovered, self._chosen):
            self._viewport.update()
