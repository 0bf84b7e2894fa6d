"""Rival: another solver that moves the same groom beside the one of the settings, and how far the two are apart."""

from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.readback import Readback
from sim.gl.vertex_array import VertexArray
from sim.kinds.hair.monitor import INTERVAL
from sim.kinds.hair.moving_roots import SurfaceTexels
from sim.kinds.hair.records import MEASURE, shared_buffers
from sim.kinds.hair.settings import HairSettings, HairSolver
from sim.kinds.hair.strands import Strands


@dataclass(frozen=True, slots=True)
class SolverDistance:
    """How far two ways of the guides are apart.

    Attributes:
        most: Largest distance of a knot [m].
        mean: Of all knots [m].
    """

    most: float
    mean: float


def rival_settings(settings: HairSettings) -> HairSettings | None:
    """The settings with the other solver; None where there is none to compare with."""
    solver = next((one for one in HairSolver if one.value == settings.rival.value), None)
    return None if solver in (None, settings.solver) else msgspec.structs.replace(settings, solver=solver)


class ComparisonSolver:
    """Strands of the same groom, and the measure of their distance.

    Args:
        context: Where they live.
        library: Where programs come from.
        settings: With the other solver.
        of: The strands that it is the rival of; they stay as long as it does.
        skin: The same surface, as texels of its own.

    Attributes:
        strands: What the other solver moves.
        apart: The newest distances, or None before the first arrive.
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
        self.strands = Strands(context, library, settings, growth, skin, buffers=buffers)
        self.apart: SolverDistance | None = None
        count = growth.guides.count
        self._kernel = Kernel(library, "hair/apart.glsl", MEASURE, defines={"KNOTS": settings.knots}, records=count)
        self._measures = Buffer(context, MEASURE.zeros(count), usage="copy", label="hair apart")
        self._nothing = VertexArray(context, label="hair apart")
        self._readback = Readback(context, label="hair apart")
        self._asked_at = -np.inf

    def poll(self, other: Strands, now: float) -> None:
        """Looks for distances without waiting; `now` is monotonic [s]."""
        found = self._readback.poll()
        if found is not None:
            self.apart = _apart(found)
        if now - self._asked_at >= INTERVAL and not self._readback.pending:
            self._measure(other)
            self._readback.request(self._measures)
            self._asked_at = now

    def read(self, other: Strands) -> SolverDistance:
        """The distances now; waits for the GPU."""
        self._measure(other)
        self.apart = _apart(self._measures.read())
        return self.apart

    def release(self) -> None:
        for owned in (self.strands, self._measures, self._nothing, self._readback):
            owned.release()

    def _measure(self, other: Strands) -> None:
        values = {"u_now": self.strands.state.texture, "u_other": other.state.texture}
        self._kernel.run(self._nothing, self._measures, self._measures.count, **values)


def _apart(records: npt.NDArray[np.void]) -> SolverDistance:
    values = records["measure"].astype(np.float64)
    sound = values[values[:, 3] == 0.0]
    if not len(sound):
        return SolverDistance(0.0, 0.0)
    return SolverDistance(float(sound[:, 0].max()), float(sound[:, 1].mean()))
