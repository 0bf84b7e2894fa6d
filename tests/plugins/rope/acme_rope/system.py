import numpy as np

from acme_rope.kind import RopeSettings
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.contract import StepInputs, World
from sinew.sim.kinds.particle_system import PARTICLE, ParticleSystem
from sinew.sim.render.tube import Tube
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Effect, changed_effects
from sinew.sim.scene.scene import Node

SUBSTEPS = 8


class RopeSystem(ParticleSystem):
    """Simulates a rope; the first knot is at the origin of the node."""

    tube: Tube

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        super().__init__(context, library)
        self._kernel = Kernel(library, "acme.rope/step.glsl", PARTICLE)
        self.settings: RopeSettings | None = None

    def apply(self, node: Node, world: World) -> None:
        super().apply(node, world)
        before, settings = self.settings, node.settings
        assert isinstance(settings, RopeSettings)
        self.settings = settings
        effects = {Effect.REBUILD} if before is None else changed_effects(before, settings)
        if Effect.REBUILD in effects:
            self.allocate(settings.knots)
            self.disown(getattr(self, "tube", None))
            self.tube = self.owns(
                Tube(self.context, self.library, self.count, lambda: self.particles.texture, stride=2)
            )
        if effects & {Effect.REBUILD, Effect.RESET}:
            self.reset()

    def reset(self) -> None:
        down = np.array([0.0, -self.settings.length, 0.0])
        self.place(np.linspace(0.0, 1.0, self.count)[:, None] * down)

    def step(self, inputs: StepInputs) -> None:
        settings, program = self.settings, self._kernel.program
        before, self.placement = self.placement, inputs.world.places.world_from_node(self.node)
        particle, hand = inputs.grabbed(self.node)
        program["u_anchor"], program["u_anchor_before"] = self.placement[:3, 3], before[:3, 3]
        program["u_rope"] = (settings.length / (settings.knots - 1), settings.radius, settings.drag)
        program["u_fields"] = self.field_samples(inputs)
        program["u_grabbed"], program["u_hand"] = particle, hand
        # A sampler needs a texture even if there are no colliders.
        program["u_colliders"] = inputs.colliders.texture or self.particles.texture
        program["u_collider_count"] = inputs.colliders.count
        substeps = [(STEP_TIME / SUBSTEPS, (index + 1) / SUBSTEPS) for index in range(SUBSTEPS)]
        self.particles.run(self._kernel, "u_state", "u_step", substeps)
