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
from sinew.sim.kinds.cloth.settings import ClothSettings, compared_settings
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.kinds.partners import partners
from sinew.sim.owner import Owner
from sinew.sim.scene.scene import NodeId, Scene


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


class ComparedCloth(Owner):
    """The comparison of a cloth, if there is one.

    Attributes:
        comparison: None while neither its settings nor the settings of a cloth that it meets compare two solvers.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self.comparison: ClothComparison | None = None
        self._context, self._library = context, library
        self._linked: tuple[Scene | None, bool] = (None, False)

    def follow(self, cloth: Cloth, surface: ClothSurface | None, node: NodeId, scene: Scene) -> None:
        """Makes, changes or removes the second solver, and lets it take the state after anything but a step."""
        comparison = self.comparison
        compared = compared_settings(cloth.settings) or (cloth.settings if self._meets_compared(node, scene) else None)
        if comparison is not None and (
            compared is None
            or comparison.model is not cloth.model
            or comparison.cloth.settings.solver != compared.solver
            or comparison.cloth.settings.maps != compared.maps
        ):
            self.disown(comparison)
            comparison = self.comparison = None
        if compared is None:
            return
        if comparison is None:
            self.comparison = self.owns(ClothComparison(self._context, self._library, compared, cloth, surface))
        else:
            comparison.cloth.settings = comparison.cloth.chosen = compared
            comparison.follow()

    def release(self) -> None:
        super().release()
        self.comparison = None

    def _meets_compared(self, node: NodeId, scene: Scene) -> bool:
        """Returns True if a cloth that acts on this one is compared; then this one too is simulated a second time."""
        if scene is not self._linked[0]:
            linked = [scene.node(one).settings for one in partners(scene).get(node, ())]
            compared = [isinstance(one, ClothSettings) and compared_settings(one) is not None for one in linked]
            self._linked = scene, any(compared)
        return self._linked[1]


def _distance(report: np.ndarray) -> ClothDistance:
    total = report[0]
    return ClothDistance(float(total["strain"]), float(total["kinetic"]) / max(float(total["elastic"]), 1.0))
