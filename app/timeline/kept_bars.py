"""Bars under the ruler: what is kept of each simulated node."""

from PySide6.QtCore import QObject, Qt, Signal

from app.document.document import Document
from app.timeline.baking import Baking
from app.viewport.client import ViewportClient
from sim.kept.film import Film
from sim.scene.scene import Node, NodeId
from widgets.timeline.timeline import Timeline
from widgets.timeline.track_rows import BarRow, Kept


class KeptBars(QObject):
    """Follows what is kept, with the pictures.

    Signals:
        outdated: The baked nodes whose settings are others than those they were baked with.
    """

    outdated = Signal(object)

    def __init__(self, timeline: Timeline, document: Document, client: ViewportClient, baking: Baking) -> None:
        super().__init__(timeline)
        self._tracks, self._document, self._client, self._baking = timeline.tracks, document, client, baking
        self._shown: object = None
        self._outdated: set[NodeId] = set()
        client.drawn.connect(self.refresh, Qt.ConnectionType.QueuedConnection)

    def refresh(self, *_: object) -> None:
        film, engine = self._client.film, self._client.engine
        if film is None or engine is None:
            return
        state = (film.version, self._document.scene, len(engine.simulation.systems))
        if self._shown is not None and state == self._shown:
            return
        self._shown = state
        self._outdated = {
            node.id for node in self._document.scene.nodes if node.baked and not self._baking.is_of_now(node.id)
        }
        self.outdated.emit(frozenset(self._outdated))
        systems = engine.simulation.systems
        nodes = [(node, systems[node.id]) for node in self._document.scene.nodes if node.id in systems]
        self._tracks.set_bars([self._row(film, node) for node, system in nodes if system.is_ready and system.has_state])

    def _row(self, film: Film, node: Node) -> BarRow:
        is_outdated, given = node.id in self._outdated, self._baking.steps(node.id) if node.baked else range(0)
        baked = Kept.OUTDATED if is_outdated else Kept.BAKED
        spans = [(film.time_of(max(given[0] - 1, 0)), film.time_of(given[-1]), baked)] if given else []
        begins = given[-1] if given else 0
        halted = film.halted_at(node.id)
        for first, last, is_thin, is_old in film.spans(node.id):
            if last <= begins:
                continue
            first = max(first, begins)
            kept = Kept.OLD if is_old else Kept.THINNED if is_thin else Kept.KEPT
            until = last if halted is None else min(last, halted)
            if until > first:
                spans.append((film.time_of(first), film.time_of(until), kept))
            if until < last:
                spans.append((film.time_of(max(until, first)), film.time_of(last), Kept.HALTED))
        if halted is not None and not spans:
            spans.append((film.time_of(halted), film.time_of(halted + 1), Kept.HALTED))
        return BarRow(node.id, node.name, tuple(spans), bool(given), bool(given) and is_outdated)
