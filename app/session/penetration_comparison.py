"""Depth of cloth and hair in the skins of characters."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sinew.app.session.coloured_nodes import Points
from sinew.app.session.step_comparison import DistanceValue, Measured, StepComparison, length_text
from sinew.sim.characters.settings import model_settings
from sinew.sim.run.engine import Engine
from sinew.sim.run.penetration import is_measured, penetration
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.scene import NodeId


class PenetrationComparison(StepComparison):
    """Depths of cached steps while View > Penetration is on."""

    label = "Depth in the skin"
    _pending = "Measuring the depth in the skin"

    @property
    def is_on(self) -> bool:
        return self._document.scene.view.penetration

    def _nodes(self, live: Engine) -> Sequence[NodeId]:
        scene, systems = self._document.scene, live.simulation.systems
        shown = (node.id for node in scene.nodes if node.id in scene.simulated and node.id in systems)
        return [node for node in shown if is_measured(systems[node])]

    def _has(self, node: NodeId, step: int) -> bool:  # noqa: ARG002
        return True

    def _inputs(self) -> tuple[object, ...]:
        settings = [model_settings(node) for node in self._document.scene.characters]
        return tuple((one.depth_sections, one.depth_tolerance, one.hidden_sections) for one in settings)

    def _value(self, distances: npt.NDArray[np.floating]) -> DistanceValue:
        inside = distances[distances > 0.0]
        return DistanceValue(float(inside.max()), float(inside.mean())) if len(inside) else DistanceValue(0.0, 0.0)

    def _line(self, value: DistanceValue) -> str:
        if not value.most:
            return "nothing in the skin"
        return f"{length_text(value.most)} deep in the skin at most, {length_text(value.mean)} on average"

    def _missing(self) -> str:
        return "No cloth or hair is on a character" if self._runner and not self._left else ""

    def _measure(self, engine: Engine, runner: SimulationRunner, step: int) -> Measured:
        state, points = runner.state_at(step), dict[NodeId, Points]()
        if state is None:
            return points
        failed = engine.restore(state, runner.time_of(step))
        for node in self._nodes(engine):
            if node not in failed:
                found = yield from penetration(engine.simulation.systems[node])
                if found is not None:
                    points[node] = found.points, found.depths
        return points
