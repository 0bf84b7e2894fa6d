"""Distance between simulated nodes and their bakes."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.app.document.document import Document
from sinew.app.session.coloured_nodes import Points
from sinew.app.session.second_engine import SecondEngine
from sinew.app.session.step_comparison import DistanceValue, Measured, StepComparison, length_text
from sinew.sim.run.engine import Engine
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.scene import NodeId


class BakeComparison(StepComparison):
    """Comparison of cached steps with the bake while View > Compare to Bake is on.

    Args:
        baked: Returns the baked state of a node after a step, or None.
        steps: Returns the baked steps of a node.
    """

    label = "Distance from the bake"
    _pending = "Comparing with the bake"
    _is_at_once = True

    def __init__(
        self,
        document: Document,
        second: SecondEngine,
        baked: Callable[[NodeId, int], bytes | None],
        steps: Callable[[NodeId], range],
        reported: Callable[[str], None],
        redraw: Callable[[], None],
    ) -> None:
        super().__init__(document, second, reported, redraw)
        self._baked, self._steps = baked, steps

    @property
    def is_on(self) -> bool:
        view = self._document.scene.view
        return view.bake_ghost and not view.penetration

    def _nodes(self, _live: object = None) -> Sequence[NodeId]:
        return [node.id for node in self._document.scene.nodes if not node.baked and self._steps(node.id)]

    def _has(self, node: NodeId, step: int) -> bool:
        return step in self._steps(node)

    def _inputs(self) -> tuple[object, ...]:
        return tuple(self._steps(node) for node in self._nodes())

    def _value(self, distances: npt.NDArray[np.floating]) -> DistanceValue:
        return DistanceValue(float(np.nanmax(distances)), float(np.nanmean(distances)))

    def _line(self, value: DistanceValue) -> str:
        return f"distance from the bake {length_text(value.most)} at most, {length_text(value.mean)} on average"

    def _unfit(self, node: NodeId, step: int) -> str:
        is_unfit = node not in self._points and step in self._steps(node)
        return "its bake has another number of points" if is_unfit else ""

    def _missing(self) -> str:
        if any(node.baked for node in self._document.scene.nodes):
            return "Baked nodes are shown as baked; Detach Bake simulates them for comparison"
        return "This step is not baked"

    def _measure(self, engine: Engine, runner: SimulationRunner, step: int) -> Measured:
        yield from ()
        state, when = runner.state_at(step), runner.time_of(step)
        baked = {node: data for node in self._nodes() if (data := self._baked(node, step)) is not None}
        if state is None:
            return {}
        engine.restore(state, when)
        here = {node: _points(engine, node) for node in baked}
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
        return points


def _points(engine: Engine, node: NodeId) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]] | None:
    """Returns positions of the points of a node [m], (N, 3), NaN for dead ones, and their ids, (N,)."""
    system = engine.simulation.systems.get(node)
    arrays = {array.meaning: array for array in system.arrays().values()} if system is not None else {}
    if "points" not in arrays:
        return None
    places = arrays["points"].read().astype(np.float64)
    numbers = arrays["ids"].read() if "ids" in arrays else np.arange(len(places))
    return places, numbers
