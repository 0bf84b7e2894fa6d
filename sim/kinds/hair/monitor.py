"""HairMonitor: how the guides of some hair bend, stretch and move, and whether some broke; nothing waits for it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.buffer_ring import BufferRing
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.readback import Readback
from sim.gl.texture import BufferTexture
from sim.gl.vertex_array import VertexArray
from sim.kinds.hair.records import MEASURE

INTERVAL = 0.2
"""Shortest time between two looks [s]."""


@dataclass(frozen=True, slots=True)
class HairStatistics:
    """Guides at one moment.

    Attributes:
        bend: Largest angle of a joint [rad].
        stretch: Largest lengthening of a segment over its length.
        energy: Kinetic energy for each kilogram [J/kg].
        broken: How many broke.
        time: Since the start [s].
    """

    bend: float
    stretch: float
    energy: float
    broken: int
    time: float = 0.0


class HairMonitor:
    """Measures states.

    Args:
        context: Where it lives.
        library: Where the program comes from.
        count: Number of guides.
        knots: Of each.
    """

    def __init__(self, context: Context, library: ShaderLibrary, count: int, knots: int) -> None:
        self._count = count
        self._kernel = Kernel(library, "hair/measure.glsl", MEASURE, defines={"KNOTS": knots}, records=count)
        self._measures = Buffer(context, MEASURE.zeros(count), usage="copy", label="hair measures")
        self._nothing = VertexArray(context, label="hair measures")
        self._readback = Readback(context, label="hair")
        self._asked_at, self._time = -np.inf, 0.0

    def poll(self) -> HairStatistics | None:
        found = self._readback.poll()
        return None if found is None else _statistics(found, self._time)

    def request(self, state: BufferRing, roots: BufferTexture, substep_time: float, now: float, time: float) -> None:
        """Ask for a state as of a time since the start [s], a few times a second."""
        if now - self._asked_at >= INTERVAL and not self._readback.pending:
            self._measure(state, roots, substep_time)
            self._readback.request(self._measures)
            self._asked_at, self._time = now, time

    def read(self, state: BufferRing, roots: BufferTexture, substep_time: float) -> HairStatistics:
        """The statistics of a state; waits for the GPU."""
        self._measure(state, roots, substep_time)
        return _statistics(self._measures.read(), 0.0)

    def release(self) -> None:
        for owned in (self._measures, self._nothing, self._readback):
            owned.release()

    def _measure(self, state: BufferRing, roots: BufferTexture, substep_time: float) -> None:
        values = {"u_now": state.texture, "u_before": state.texture_before, "u_roots": roots}
        self._kernel.run(self._nothing, self._measures, self._count, u_rate=1.0 / substep_time, **values)


def _statistics(records: npt.NDArray[np.void], time: float) -> HairStatistics:
    values = records["measure"].astype(np.float64)
    sound = values[values[:, 3] == 0.0]
    worst = sound[:, :2].max(axis=0, initial=0.0)
    energy = 0.5 * float(sound[:, 2].mean()) if len(sound) else 0.0
    return HairStatistics(float(worst[0]), float(worst[1]), energy, len(values) - len(sound), time)
