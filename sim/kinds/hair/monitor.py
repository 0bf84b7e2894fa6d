from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.readback import Readback
from sinew.sim.kinds.hair.records import MEASURE
from sinew.sim.maths.arrays import Float64
from sinew.sim.owner import Owner

INTERVAL = 0.2
"""Shortest time between two measurements [s]."""


@dataclass(frozen=True, slots=True)
class HairStatistics:
    bend: float  # Largest angle of a joint [rad]
    stretch: float  # Largest relative lengthening of a segment
    energy: float  # Mean kinetic energy per mass [J/kg]
    broken: int  # Number of broken guides
    time: float = 0.0  # Since the start [s]


class GuideMonitor(Owner):
    """Monitor that writes one `MEASURE` per guide, and reads it back without waiting; `time` is simulated [s]."""

    def __init__(self, context: Context, library: ShaderLibrary, file: str, count: int, knots: int) -> None:
        self._count = count
        self._kernel = Kernel(library, file, MEASURE, defines={"KNOTS": knots}, records=count)
        self._measures = self.owns(Buffer(context, MEASURE.zeros(count), usage="copy", label=file))
        self._readback = self.owns(Readback(context, label=file))
        self._asked_at, self.time = -np.inf, 0.0

    def poll(self) -> Float64 | None:
        found = self._readback.poll()
        return None if found is None else found["measure"].astype(np.float64)

    def request(self, uniforms: Mapping[str, object], now: float, time: float = 0.0) -> None:
        """Measures at most every `INTERVAL` of the monotonic time `now` [s]; `time` is simulated time [s]."""
        if now - self._asked_at >= INTERVAL and not self._readback.pending:
            self._kernel.run(None, self._measures, self._count, **uniforms)
            self._readback.request(self._measures)
            self._asked_at, self.time = now, time

    def read(self, uniforms: Mapping[str, object]) -> Float64:
        """Returns measures (G, 4); waits for the GPU."""
        self._kernel.run(None, self._measures, self._count, **uniforms)
        found: Float64 = self._measures.read()["measure"].astype(np.float64)
        return found


def hair_statistics(values: Float64, time: float = 0.0) -> HairStatistics:
    """Returns statistics from measures of shaders/hair/measure.glsl, shape (G, 4).

    Guides that move too fast for 32 bits are broken too.
    """
    sound = values[(values[:, 3] == 0.0) & np.isfinite(values).all(axis=1)]
    worst = sound[:, :2].max(axis=0, initial=0.0)
    energy = 0.5 * float(sound[:, 2].mean()) if len(sound) else 0.0
    return HairStatistics(float(worst[0]), float(worst[1]), energy, len(values) - len(sound), time)
