"""Numbers at the points of simulated nodes, of every cached step: colours in the viewport, and curves over time."""

import abc
import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.app.document.document import Document
from sinew.app.session.coloured_nodes import ColouredNodes, Points
from sinew.app.session.second_engine import SecondEngine
from sinew.app.tasks import QueueTask
from sinew.sim.gl.task import finish
from sinew.sim.kinds.contract import ColourKey
from sinew.sim.maths.ramps import Ramp
from sinew.sim.render.render_view import RenderView
from sinew.sim.run.engine import Engine
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.scene import NodeId
from sinew.widgets.number_text import nice_above
from sinew.widgets.plots import DistanceCurve

LEAST = 1e-6  # smallest upper end of the colour ramp [m]
FAST = 0.03  # [s]; slower steps are measured between frames

Measured = Generator[None, None, dict[NodeId, Points]]


@dataclass(frozen=True, slots=True)
class DistanceValue:
    """Largest and mean distance of the points of a node [m]."""

    most: float
    mean: float


@dataclass(frozen=True, eq=False, slots=True)
class _MeasuredStep:
    """A measured step without nodes of another size; for `mark` see `SimulationRunner.mark`."""

    mark: object
    values: Mapping[NodeId, DistanceValue]


class StepComparison(abc.ABC):
    """Distances at the points of nodes in cached steps while they are shown, as a task.

    Args:
        second: An engine of its own, which nothing else draws with.
        reported: Takes one line about the shown step.
        redraw: Requests a frame.

    Attributes:
        label: Of the distance, for the key of the colours.
        version: Changes whenever more steps are measured.
    """

    label = ""
    _pending = ""
    _is_at_once = False  # Whether the shown step is measured with its frame, whatever it costs

    def __init__(
        self,
        document: Document,
        second: SecondEngine,
        reported: Callable[[str], None],
        redraw: Callable[[], None],
    ) -> None:
        self._document, self._second = document, second
        self._reported, self._redraw = reported, redraw
        self.version = 0
        self._known: dict[int, _MeasuredStep] = {}
        self._colours = ColouredNodes(document)
        self._shown: _MeasuredStep | None = None
        self._points: dict[NodeId, Points] = {}
        self._left: list[int] = []
        self._looked: tuple[object, ...] = ()
        self._text = ""
        self._runner: SimulationRunner | None = None
        self._cost = math.inf  # of the last step that was measured [s]
        self._is_measuring = False

    @property
    @abc.abstractmethod
    def is_on(self) -> bool: ...

    @abc.abstractmethod
    def _nodes(self, live: Engine) -> Sequence[NodeId]: ...

    @abc.abstractmethod
    def _has(self, node: NodeId, step: int) -> bool:
        """Returns whether a node can be measured in a cached step."""

    @abc.abstractmethod
    def _measure(self, engine: Engine, runner: SimulationRunner, step: int) -> Measured: ...

    @abc.abstractmethod
    def _value(self, distances: npt.NDArray[np.floating]) -> DistanceValue:
        """Returns the value of distances, of which one at least is finite."""

    @abc.abstractmethod
    def _line(self, value: DistanceValue) -> str: ...

    def _unfit(self, node: NodeId, step: int) -> str:  # noqa: ARG002
        """Returns why a node has no value in a measured step, or ""."""
        return ""

    @abc.abstractmethod
    def _missing(self) -> str:
        """Returns why the shown step is not measured."""

    def _inputs(self) -> tuple[object, ...]:
        """Returns what the distances depend on beside the steps."""
        return ()

    @property
    def is_due(self) -> bool:
        return self.is_on and bool(self._left)

    @property
    def key(self) -> ColourKey | None:
        if not self.is_on or not self._points:
            return None
        scale, unit = (self.scale, "m") if self.scale >= 1.0 else (self.scale * 1e3, "mm")
        return ColourKey(Ramp.VIRIDIS, self.label, 0.0, scale, unit)

    @property
    def scale(self) -> float:
        """Upper end of the colour ramp [m]: a round number above all known distances."""
        most = max((one.most for step in self._known.values() for one in step.values.values()), default=0.0)
        return nice_above(max(most, LEAST))

    def curves(self) -> Sequence[DistanceCurve]:
        runner, steps = self._runner, sorted(self._known)
        if runner is None or not self.is_on:
            return ()
        found = []
        for node in dict.fromkeys(node for step in steps for node in self._known[step].values):
            known = [(runner.time_of(step), one) for step in steps if (one := self._known[step].values.get(node))]
            times, values = zip(*known, strict=True)
            name = self._document.scene.node(node).name
            found.append(DistanceCurve(name, times, tuple(v.most for v in values), tuple(v.mean for v in values)))
        return found

    # --- frames ---------------------------------------------------------------------------------------

    def take(self, live: Engine, runner: SimulationRunner) -> None:
        """Measures the shown step if the second engine is ready, and starts to measure the other steps."""
        self._runner = runner
        if not self.is_on:
            if self._known or not self._colours.is_empty or self._second.engine is not None:
                self.release()
                self.version += 1
            return
        nodes, scene = self._nodes(live), self._document.scene
        inputs = self._inputs()
        if (runner.cache.version, scene, nodes, inputs) != self._looked:
            if self._looked and inputs != self._looked[-1]:
                self._known, self._shown = {}, None
            self._looked = runner.cache.version, scene, nodes, inputs
            self._second.cancel()
            self._known = {step: known for step, known in self._known.items() if runner.mark(step) is known.mark}
            self.version += 1
            cached = {*runner.cache.history.cached, *live.simulation.baked_steps} - self._known.keys()
            self._left = [s for s in sorted(cached, reverse=True) if any(self._has(node, s) for node in nodes)]
        step, mark = runner.shown, runner.mark(runner.shown)
        if self._shown is None or self._shown is not self._known.get(step):
            self._shown, self._points = None, {}
            engine = self._second.ready(live)
            if engine is not None and mark is not None and any(self._has(node, step) for node in nodes):
                self._left = [other for other in self._left if other != step]
                if self._is_at_once or self._cost < FAST:
                    if self._is_measuring:
                        self._second.cancel()
                    self._show(live, step, finish(self._measured(engine, runner, step, mark)))
                else:
                    self._left.append(step)
            self._colours.write(live, self._points)
        self._report(nodes, step)
        if self.is_due:
            self._second.start(self._compare(live, runner), self._redraw)

    def coloured(self, render_view: RenderView) -> RenderView:
        return self._colours.view(render_view, self.scale) if self.is_on and self._points else render_view

    def _compare(self, live: Engine, runner: SimulationRunner) -> QueueTask[None]:
        """Measures all steps; requests a frame when the colours of the shown step change."""
        engine = yield from self._second.update(live)
        while self._left:
            step, scale, is_shown = self._left[-1], self.scale, self._shown is not None
            mark = runner.mark(step)
            points = (yield from self._measured(engine, runner, step, mark)) if mark is not None else {}
            self._left = [other for other in self._left if other != step]
            if step in self._known and step == runner.shown and self._shown is None:
                self._show(live, step, points)
            self.version += 1
            if not is_shown or scale != self.scale:
                self._redraw()
            yield None

    def _show(self, live: Engine, step: int, points: dict[NodeId, Points]) -> None:
        self._shown, self._points = self._known[step], points
        self._colours.write(live, points)

    def release(self) -> None:
        self._second.release()
        self._colours.release()
        self._known.clear()
        self._shown, self._points, self._left, self._looked, self._text = None, {}, [], (), ""

    # --- measurement ----------------------------------------------------------------------------------

    def _measured(self, engine: Engine, runner: SimulationRunner, step: int, mark: object) -> Measured:
        """Measures a step on the second engine, and notes its values; returns the points of the nodes."""
        spent, begun, self._is_measuring = 0.0, time.monotonic(), True
        work = self._measure(engine, runner, step)
        try:
            while True:
                try:
                    next(work)
                except StopIteration as done:
                    points: dict[NodeId, Points] = done.value
                    break
                spent += time.monotonic() - begun
                yield
                begun = time.monotonic()
        finally:
            self._is_measuring = False
        engine.simulation.take_problems()
        far = {node: distances for node, (_, distances) in points.items() if np.isfinite(distances).any()}
        self._known[step] = _MeasuredStep(mark, {node: self._value(distances) for node, distances in far.items()})
        self._cost = spent + time.monotonic() - begun
        self.version += 1
        return points

    def _report(self, nodes: Sequence[NodeId], step: int) -> None:
        shown, scene = self._shown, self._document.scene
        if shown is not None:
            reported = []
            for node in nodes:
                value = shown.values.get(node)
                line = self._line(value) if value is not None else self._unfit(node, step)
                reported += [f"{scene.node(node).name}: {line}"] if line else []
            text = "; ".join(reported)
        else:
            text = self._pending if self._left else self._missing()
        if text != self._text:
            self._text = text
            self._reported(text)


def length_text(metres: float) -> str:
    if not math.isfinite(metres):
        return "nowhere"
    return f"{metres * 1e3:.3g} mm" if metres < 1.0 else f"{metres:.3g} m"
