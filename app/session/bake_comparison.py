"""Distance between simulated nodes and their bakes: colours in the viewport, and curves over time."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.app.document.document import Document
from sinew.app.session.coloured_nodes import ColouredNodes, Points
from sinew.app.session.second_engine import SecondEngine
from sinew.app.tasks import QueueTask
from sinew.sim.kinds.contract import ColourKey
from sinew.sim.maths.ramps import Ramp
from sinew.sim.render.render_view import RenderView
from sinew.sim.run.engine import Engine
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.scene import NodeId
from sinew.widgets.number_text import nice_above
from sinew.widgets.plots import DistanceCurve

LEAST = 1e-6  # smallest upper end of the colour ramp [m]


@dataclass(frozen=True, slots=True)
class BakeDistanceValue:
    """Largest and mean distance of the points of a node from their baked positions [m]."""

    most: float
    mean: float


@dataclass(frozen=True, eq=False, slots=True)
class _ComparedStep:
    """A compared step without nodes of another size; for `mark` see `SimulationRunner.mark`."""

    mark: object
    variants: Mapping[NodeId, BakeDistanceValue]


class BakeComparison:
    """Comparison of cached steps with the bake while View > Bake Ghost is on, as a task.

    Args:
        second: An engine of its own, which nothing else draws with.
        baked: Returns the baked state of a node after a step, or None.
        steps: Returns the baked steps of a node.
        reported: Takes one line about the shown step.
        redraw: Requests a frame.

    Attributes:
        version: Changes whenever more steps are compared.
    """

    def __init__(
        self,
        document: Document,
        second: SecondEngine,
        baked: Callable[[NodeId, int], bytes | None],
        steps: Callable[[NodeId], range],
        reported: Callable[[str], None],
        redraw: Callable[[], None],
    ) -> None:
        self._document, self._second, self._baked, self._steps = document, second, baked, steps
        self._reported, self._redraw = reported, redraw
        self.version = 0
        self._known: dict[int, _ComparedStep] = {}
        self._colours = ColouredNodes(document)
        self._shown: _ComparedStep | None = None
        self._points: dict[NodeId, Points] = {}
        self._left: list[int] = []
        self._looked: tuple[object, ...] = ()
        self._text = ""
        self._runner: SimulationRunner | None = None

    @property
    def is_on(self) -> bool:
        return self._document.scene.view.bake_ghost

    @property
    def is_due(self) -> bool:
        return self.is_on and bool(self._left)

    @property
    def key(self) -> ColourKey | None:
        if not self.is_on or not self._points:
            return None
        scale, unit = (self.scale, "m") if self.scale >= 1.0 else (self.scale * 1e3, "mm")
        return ColourKey(Ramp.VIRIDIS, "Distance from the bake", 0.0, scale, unit)

    @property
    def scale(self) -> float:
        """Upper end of the colour ramp [m]: a round number above all known distances."""
        most = max((way.most for step in self._known.values() for way in step.variants.values()), default=0.0)
        return nice_above(max(most, LEAST))

    def curves(self) -> Sequence[DistanceCurve]:
        runner, steps = self._runner, sorted(self._known)
        if runner is None or not self.is_on:
            return ()
        found = []
        for node in self._nodes():
            known = [(runner.time_of(step), way) for step in steps if (way := self._known[step].variants.get(node))]
            if known:
                name = self._document.scene.node(node).name
                times, variants = zip(*known, strict=True)
                found.append(
                    DistanceCurve(name, times, tuple(w.most for w in variants), tuple(w.mean for w in variants))
                )
        return found

    # --- frames ---------------------------------------------------------------------------------------

    def take(self, live: Engine, runner: SimulationRunner) -> None:
        """Compares the shown step if the second engine is ready, and starts to compare the other steps."""
        self._runner = runner
        if not self.is_on:
            if self._known or not self._colours.is_empty or self._second.engine is not None:
                self.release()
                self.version += 1
            return
        nodes = self._nodes()
        looked = (runner.cache.version, self._document.scene, tuple(self._steps(node) for node in nodes))
        if looked != self._looked:
            self._looked = looked
            self._second.cancel()
            self._forget_others(runner)
            self._left = [step for step in self._both(live, runner, nodes) if step not in self._known]
        step, mark = runner.shown, runner.mark(runner.shown)
        if self._shown is None or self._shown is not self._known.get(step):
            self._shown, self._points = None, {}
            engine = self._second.ready(live)
            if engine is not None and mark is not None and any(step in self._steps(node) for node in nodes):
                self._points = self._measured(engine, runner, step, mark)
                self._shown = self._known[step]
                self._left = [other for other in self._left if other != step]
            self._colours.write(live, self._points)
        self._report(nodes, step)
        if self.is_due:
            self._second.start(self._compare(live, runner), self._redraw)

    def coloured(self, render_view: RenderView) -> RenderView:
        return self._colours.view(render_view, self.scale) if self.is_on and self._points else render_view

    def _compare(self, live: Engine, runner: SimulationRunner) -> QueueTask[None]:
        """Compares all steps; requests a frame when the colours of the shown step change."""
        engine = yield from self._second.update(live)
        while self._left:
            step, scale = self._left.pop(), self.scale
            mark = runner.mark(step)
            if mark is not None:
                self._measured(engine, runner, step, mark)
            self.version += 1
            if self._shown is None or scale != self.scale:
                self._redraw()
            yield None

    def release(self) -> None:
        self._second.release()
        self._colours.release()
        self._known.clear()
        self._shown, self._points, self._left, self._looked, self._text = None, {}, [], (), ""

    # --- comparison -----------------------------------------------------------------------------------

    def _nodes(self) -> list[NodeId]:
        return [node.id for node in self._document.scene.nodes if not node.baked and self._steps(node.id)]

    def _both(self, live: Engine, runner: SimulationRunner, nodes: Iterable[NodeId]) -> list[int]:
        """Returns the steps that are both cached and baked, the last first."""
        baked, cached = (
            [self._steps(node) for node in nodes],
            {*runner.cache.history.cached, *live.simulation.baked_steps},
        )
        return [step for step in sorted(cached, reverse=True) if any(step in steps for steps in baked)]

    def _forget_others(self, runner: SimulationRunner) -> None:
        self._known = {step: known for step, known in self._known.items() if runner.mark(step) is known.mark}
        self.version += 1

    def _measured(self, engine: Engine, runner: SimulationRunner, step: int, mark: object) -> dict[NodeId, Points]:
        """Returns the points of the nodes at a step, compared on the second engine."""
        state, when = runner.state_at(step), runner.time_of(step)
        baked = {node: data for node in self._nodes() if (data := self._baked(node, step)) is not None}
        if state is None:
            baked = {}
        else:
            engine.restore(state, when)
        here = {node: _points(engine, node) for node in baked}
        variants: dict[NodeId, BakeDistanceValue] = {}
        points: dict[NodeId, Points] = {}
        for node, data in baked.items():
            if node in engine.restore(msgspec.msgpack.encode((step, step, {node: data})), when):
                continue  # it had another size
            there, now = _points(engine, node), here[node]
            if there is None or now is None or there[0].shape != now[0].shape:
                continue
            far = np.linalg.norm(now[0] - there[0], axis=-1)
            far[now[1] != there[1]] = np.nan
            points[node] = now[0], far
            if np.isfinite(far).any():
                variants[node] = BakeDistanceValue(float(np.nanmax(far)), float(np.nanmean(far)))
        engine.simulation.take_problems()
        self._known[step] = _ComparedStep(mark, variants)
        self.version += 1
        return points

    def _report(self, nodes: Sequence[NodeId], step: int) -> None:
        shown, scene = self._shown, self._document.scene
        if shown is not None:
            reported = []
            for node in nodes:
                name, way = scene.node(node).name, shown.variants.get(node)
                if way is not None:
                    reported.append(
                        f"{name}: distance from the bake {_length(way.most)} at most, {_length(way.mean)} on average"
                    )
                elif node not in self._points and step in self._steps(node):
                    reported.append(f"{name}: its bake has another number of points")
            text = "; ".join(reported)
        elif self._left:
            text = "Comparing with the bake"
        elif any(node.baked for node in scene.nodes):
            text = "Baked nodes are shown as baked; Detach Bake simulates them for comparison"
        else:
            text = "This step is not baked"
        if text != self._text:
            self._text = text
            self._reported(text)


def _points(engine: Engine, node: NodeId) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]] | None:
    """Returns positions of the points of a node [m], (N, 3), NaN for dead ones, and their ids, (N,)."""
    system = engine.simulation.systems.get(node)
    arrays = {array.meaning: array for array in system.arrays().values()} if system is not None else {}
    if "points" not in arrays:
        return None
    places = arrays["points"].read().astype(np.float64)
    numbers = arrays["ids"].read() if "ids" in arrays else np.arange(len(places))
    return places, numbers


def _length(metres: float) -> str:
    if not math.isfinite(metres):
        return "nowhere"
    return f"{metres * 1e3:.3g} mm" if metres < 1.0 else f"{metres:.3g} m"
