import numpy as np

from acme_rope.kind import RopeSettings
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.contract import StepInputs
from sinew.sim.kinds.particle_system import PARTICLE, ParticleSystem
from sinew.sim.render.tube import Tube

SUBSTEPS = 8


class RopeSystem(ParticleSystem):
    """Simulates a rope; the first knot is at the origin of the node."""

    settings: RopeSettings

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        super().__init__(context, library)
        self._kernel = Kernel(library, "acme.rope/step.glsl", PARTICLE)

    def rest(self) -> np.ndarray:
        down = np.array([0.0, -self.settings.length, 0.0])
        return np.linspace(0.0, 1.0, self.settings.knots)[:, None] * down

    def rebuilt(self) -> None:
        self.draw_as(Tube(self.context, self.library, self.count, lambda: self.particles.texture, stride=2))

    def box(self) -> np.ndarray:
        return np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]) * self.settings.length

    def step(self, inputs: StepInputs) -> None:
        settings, scale = self.settings, self.scale
        rope = (scale * settings.length / (settings.knots - 1), scale * settings.radius, settings.drag)
        self.run(self._kernel, inputs, SUBSTEPS, u_rope=rope)
