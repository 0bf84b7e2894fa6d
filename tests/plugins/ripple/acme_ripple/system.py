import math

import numpy as np

from acme_ripple.kind import RippleSettings
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.contract import Measures, StepInputs
from sinew.sim.kinds.particle_system import PARTICLE, ParticleSystem
from sinew.sim.render.point_surface import GridSurface, matt_material
from sinew.sim.scene.clock import STEP_TIME


class RippleSystem(ParticleSystem, Measures):
    """Simulates the linear wave equation; the height of a point and its rate are the free numbers of its particle."""

    settings: RippleSettings
    units = {"height": "m", "speed": "m/s"}

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        super().__init__(context, library)
        self._kernel = Kernel(library, "acme.ripple/step.glsl", PARTICLE)

    def rest(self) -> np.ndarray:
        settings = self.settings
        x = np.linspace(-0.5, 0.5, settings.columns) * settings.width
        z = np.linspace(0.5, -0.5, settings.rows) * settings.length
        return np.stack([*map(np.ravel, np.broadcast_arrays(x, 0.0, z[:, None]))], axis=1)

    def rebuilt(self) -> None:
        columns, rows = self.settings.columns, self.settings.rows
        self.draw_as(GridSurface(self.context, self.library, columns, rows, lambda: self.particles.texture, stride=2))

    @property
    def material(self):
        return matt_material("water", self.settings.colour)

    def cells(self) -> tuple[float, float]:
        """Returns the distances between points along x and z [m]."""
        settings = self.settings
        return settings.width / (settings.columns - 1), settings.length / (settings.rows - 1)

    @property
    def needed_substeps(self) -> int:
        """Source: Courant, Friedrichs and Lewy 1928, for two dimensions; a tenth more for contacts."""
        x, z = self.cells()
        return math.ceil(1.1 * STEP_TIME * self.settings.speed / self.scale * math.hypot(1.0 / x, 1.0 / z))

    def step(self, inputs: StepInputs) -> None:
        settings, scale = self.settings, self.scale
        self.run(
            self._kernel, inputs, settings.substeps, u_grid=(settings.columns, settings.rows),
            u_cell=self.cells(), u_wave=(settings.speed / scale, settings.damping),
        )  # fmt: skip

    def measures(self) -> dict[str, float]:
        records = self.particles.newest.read(count=self.count)
        return {"height": float(abs(records["position"][:, 3]).max()), "speed": float(abs(records["velocity"]).max())}
