"""Which particles of simulated nodes are chosen, and which one is under the mouse: state of the view, never saved."""

from collections.abc import Mapping

from app.document.document import Document
from app.viewport.renderer import ViewportRenderer
from sim.render.render_view import ParticleRef
from sim.scene.change import Change, ChangeKind
from sim.scene.params import Effect
from sim.scene.scene import NodeId
from widgets.viewport import Viewport


class ParticleMarks:
    """Keeps the choice valid while the scene changes, and shows it in the viewport."""

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
        """The chosen particles in ascending order; only nodes that have any."""
        return self._chosen

    @property
    def count(self) -> int:
        return sum(map(len, self._chosen.values()))

    def hovered_of(self, kind: str) -> ParticleRef | None:
        """The same where it is of a node of this kind."""
        hovered, nodes = self._hovered, self._document.scene.by_id
        return hovered if hovered is not None and nodes[hovered.node].kind == kind else None

    def point_at(self, kind: str, reference: ParticleRef | None) -> None:
        """Marks the particle of a kind that is under the mouse; where none is, marks of other kinds stay."""
        if reference is not None or self.hovered_of(kind) is not None:
            self.hover(reference)

    def hover(self, reference: ParticleRef | None) -> None:
        self._hovered = reference
        self._show()

    def choose(self, chosen: Mapping[NodeId, tuple[int, ...]]) -> None:
        """Chooses other particles; nothing for an empty mapping."""
        self._chosen = {node_id: tuple(sorted(numbers)) for node_id, numbers in chosen.items() if numbers}
        self._show()

    def toggle(self, reference: ParticleRef) -> None:
        numbers = set(self._chosen.get(reference.node, ())) ^ {reference.particle}
        self.choose({**self._chosen, reference.node: tuple(numbers)})

    def _on_changed(self, change: Change) -> None:
        """What is made anew has other particles under the same numbers."""
        if change.kind is ChangeKind.REPLACED:
            self.hover(None)
            self.choose({})
        elif change.kind is ChangeKind.NODES:
            scene = self._document.scene
            self.hover(self._hovered if self._hovered is not None and scene.has(self._hovered.node) else None)
            self.choose({node_id: numbers for node_id, numbers in self._chosen.items() if scene.has(node_id)})
        elif change.ref is not None and (change.kind is ChangeKind.REMOVED or change.effect is Effect.REBUILD):
            owner = change.ref.owner
            if self._hovered is not None and self._hovered.node == owner:
                self.hover(None)
            if owner in self._chosen:
                self.choose({node_id: numbers for node_id, numbers in self._chosen.items() if node_id != owner})

    def _show(self) -> None:
        if self._client.mark_particles(self._hovered, self._chosen):
            self._viewport.update()
