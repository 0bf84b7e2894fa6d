from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.readback import Readback
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.kinds.cloth.buffers import MEASURE, MEASURED
from sinew.sim.kinds.cloth.cloth import INTERVAL, Cloth
from sinew.sim.kinds.cloth.monitor import CHUNK
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.owner import Owner


@dataclass(frozen=True, slots=True)
class ClothDistance:
    """Distance between the particles of two cloths [m]."""

    most: float
    mean: float


class ClothComparison(Owner):
    """The same cloth with a second solver, and the distance between both.

    It has the pins of the first cloth, and starts again where that one is when something else than a step moves it.

    Args:
        settings: With the other solver.
        of: The cloth to compare with, which must outlive this object.
    """

    def __init__(
        self,
        context: Context,
        library: ShaderLibrary,
        settings: ClothSettings,
        of: Cloth,
        surface: ClothSurface | None,
    ) -> None:
        self.of, self.model = of, of.model
        self.cloth = self.owns(Cloth(context, library, settings, surface, of.world_from_cloth, pins=of.pins))
        count = self.cloth.state_count
        self._kernel = Kernel(library, "cloth/apart.glsl", MEASURED, records=count)
        self._reduce = Kernel(library, "cloth/reduce.glsl", MEASURED, defines={"CHUNK": CHUNK})
        sizes = [count]
        while sizes[-1] > 1:
            sizes.append(-(-sizes[-1] // CHUNK))
        self._levels = [
            self.owns(TexelBuffer(context, np.zeros(size, MEASURE), usage="copy", label="cloth distance"))
            for size in sizes
        ]
        self._readback = self.owns(Readback(context, label="cloth distance"))
        self._asked_at = -np.inf
        self.apart: ClothDistance | None = None
        self._copy()

    def follow(self) -> None:
        """Takes the state of the first cloth if something else than a step has changed it."""
        if self._seen != self.of.placements:
            self._copy()

    def restore(self, state: bytes) -> None:
        self.cloth.restore(state)
        self._seen = self.of.placements

    def poll(self, now: float) -> None:
        """Reads statistics and the distance without waiting; `now` is monotonic time [s]."""
        self.cloth.poll(now)
        found = self._readback.poll()
        if found is not None:
            self.apart = _distance(found)
        if now - self._asked_at >= INTERVAL and not self._readback.pending:
            self._measure()
            self._readback.request(self._levels[-1].buffer)
            self._asked_at = now

    def read(self) -> ClothDistance:
        """Returns the current distance; waits for the GPU."""
        self._measure()
        self.apart = _distance(self._levels[-1].buffer.read())
        return self.apart

    def _copy(self) -> None:
        self.cloth.restore(self.of.snapshot().packed())
        self._seen = self.of.placements

    def _measure(self) -> None:
        program, first = self._kernel.program, self._levels[0].buffer
        program.update({"u_state": self.of.state, "u_other": self.cloth.state, "u_count": self.model.particle_count})
        self._kernel.run(None, first, first.count)
        for source, target in pairwise(self._levels):
            count = target.buffer.count
            self._reduce.run(None, target.buffer, count, u_records=source, u_count=source.buffer.count)


def _distance(report: np.ndarray) -> ClothDistance:
    total = report[0]
    return ClothDistance(float(total["strain"]), float(total["kinetic"]) / max(float(total["elastic"]), 1.0))
