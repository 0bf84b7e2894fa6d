from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.hair.monitor import GuideMonitor
from sinew.sim.kinds.hair.moving_roots import SurfaceTexels
from sinew.sim.kinds.hair.records import shared_buffers
from sinew.sim.kinds.hair.settings import HairSettings, HairSolver
from sinew.sim.kinds.hair.strands import Strands
from sinew.sim.owner import Owner


@dataclass(frozen=True, slots=True)
class SolverDistance:
    """Distance between the points of the guides of two solvers [m]."""

    most: float
    mean: float


def rival_settings(settings: HairSettings) -> HairSettings | None:
    """Returns the settings of the second solver; None without a comparison."""
    solver = next((one for one in HairSolver if one.value == settings.rival.value), None)
    return None if solver in (None, settings.solver) else msgspec.structs.replace(settings, solver=solver)


class ComparisonSolver(Owner):
    """Simulation of the same groom with a second solver, and the distance between both.

    Args:
        settings: With the other solver.
        of: The strands to compare with, which must outlive this object.
        skin: The same surface, as texels of its own.
    """

    def __init__(
        self,
        context: Context,
        library: ShaderLibrary,
        settings: HairSettings,
        of: Strands,
        skin: SurfaceTexels | None,
    ) -> None:
        growth = of.growth
        buffers = shared_buffers(context, settings, growth, of.drawn.buffers)
        count, knots = growth.guides.count, settings.knots
        self._monitor = self.owns(GuideMonitor(context, library, "hair/apart.glsl", count, knots))
        self.strands = self.owns(Strands(context, library, settings, growth, skin, buffers=buffers))
        self.apart: SolverDistance | None = None

    def poll(self, other: Strands, now: float) -> None:
        """Polls the distance without waiting; `now` is monotonic time [s]."""
        found = self._monitor.poll()
        if found is not None:
            self.apart = _distance(found)
        self._monitor.request(self._states(other), now)

    def read(self, other: Strands) -> SolverDistance:
        """Returns the current distance; waits for the GPU."""
        self.apart = _distance(self._monitor.read(self._states(other)))
        return self.apart

    def _states(self, other: Strands) -> dict[str, object]:
        return {"u_now": self.strands.state.texture, "u_other": other.state.texture}


def _distance(values: npt.NDArray[np.float64]) -> SolverDistance:
    sound = values[values[:, 3] == 0.0]
    if not len(sound):
        return SolverDistance(0.0, 0.0)
    return SolverDistance(float(sound[:, 0].max()), float(sound[:, 1].mean()))
