from PySide6.QtCore import QObject, Qt, Signal

from sinew.app.document.document import Document
from sinew.app.session.playback import Playback
from sinew.app.session.renderer import ViewportRenderer
from sinew.app.timeline.bake_task import BakeTask
from sinew.sim.kinds.contract import has_state
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.scene import Node, NodeId
from sinew.widgets.plots import DistancePlot
from sinew.widgets.timeline.timeline import Timeline
from sinew.widgets.timeline.tracks import BarRow, CacheState


class CachedFrameBars(QObject):
    """Bars of cached and baked frames; `outdated` carries nodes whose bake has other settings than the current ones."""

    outdated = Signal(object)

    def __init__(self, timeline: Timeline, document: Document, client: ViewportRenderer, baking: BakeTask) -> None:
        super().__init__(timeline)
        self._tracks, self._document, self._client, self._baking = timeline.tracks, document, client, baking
        self._shown: object = None
        self._outdated: frozenset[NodeId] = frozenset()
        client.drawn.connect(self.refresh, Qt.ConnectionType.QueuedConnection)

    def refresh(self, *_: object) -> None:
        runner, engine = self._client.runner, self._client.engine
        if runner is None or engine is None:
            return
        scene = self._document.scene
        self._outdated = frozenset(n.id for n in scene.nodes if n.baked and not self._baking.is_of_now(n.id))
        state = (runner.cache.version, scene, len(engine.simulation.systems), self._outdated)
        if self._shown is not None and state == self._shown:
            return
        self._shown = state
        self.outdated.emit(self._outdated)
        systems = engine.simulation.systems
        nodes = [(node, systems[node.id]) for node in scene.nodes if node.id in systems]
        self._tracks.set_bars(
            [self._row(runner, node) for node, system in nodes if system.is_ready and has_state(system)]
        )

    def _row(self, runner: SimulationRunner, node: Node) -> BarRow:
        is_outdated, given = node.id in self._outdated, self._baking.steps(node.id) if node.baked else range(0)
        baked = CacheState.OUTDATED if is_outdated else CacheState.BAKED
        spans = [(runner.time_of(max(given[0] - 1, 0)), runner.time_of(given[-1]), baked)] if given else []
        begins = given[-1] if given else 0
        stopped = runner.cache.history.branch.stopped.get(node.id)
        for first, last, is_thin, is_old in runner.cache.spans(node.id):
            if last <= begins:
                continue
            first = max(first, begins)
            cached = CacheState.OLD if is_old else CacheState.THINNED if is_thin else CacheState.CACHED
            until = last if stopped is None else min(last, stopped)
            if until > first:
                spans.append((runner.time_of(first), runner.time_of(until), cached))
            if until < last:
                spans.append((runner.time_of(max(until, first)), runner.time_of(last), CacheState.STOPPED))
        if stopped is not None and not spans:
            spans.append((runner.time_of(stopped), runner.time_of(stopped + 1), CacheState.STOPPED))
        return BarRow(node.id, node.name, tuple(spans), bool(given), bool(given) and is_outdated)


class NodeDistances(QObject):
    """Distance of nodes from their bakes, or their depth in skins, below the ruler; a click moves the playhead."""

    def __init__(self, client: ViewportRenderer, playback: Playback) -> None:
        super().__init__()
        self.plot = DistancePlot()
        self._client, self._playback = client, playback
        self._shown: object = None
        client.drawn.connect(self.refresh, Qt.ConnectionType.QueuedConnection)
        playback.time_changed.connect(self.plot.set_now)
        self.plot.chosen.connect(playback.scrub)

    def refresh(self, *_: object) -> None:
        compared = self._client.distances
        if compared is None or (compared, compared.version) == self._shown:
            return
        self._shown = compared, compared.version
        self.plot.set_curves(compared.curves(), compared.label)
        self.plot.set_now(self._playback.playhead.time)
