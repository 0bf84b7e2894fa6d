"""RopeSystem: a chain of knots on the GPU."""

from pathlib import Path

import numpy as np

from sim.gl.buffer_ring import PingPong
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.record import record
from sim.gl.staging import BufferSpan
from sim.gl.transform_feedback import padded_count
from sim.kinds.contract import Array, StepInputs, System, World
from sim.kinds.packing import State, unpacked_state
from sim.scene.clock import STEP_TIME
from sim.scene.scene import Node

KNOT = record("Knot", position=(4, "f4"), velocity=(4, "f4"))
SUBSTEPS = 8


class RopeSystem(System):
    """The knots of one rope, from the first on."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self.knots = context, None
        self._kernel = Kernel(library, str(Path(__file__).with_name("step.glsl")), KNOT)
        self.problems = []

    def apply(self, node: Node, world: World) -> None:
        before, self.node = getattr(self, "node", None), node
        self.anchor = world.places.world_from_node(node)[:3, 3]
        if before is None or before.settings.knots != node.settings.knots:
            self.release()
            self.knots = PingPong(self._context, KNOT.zeros(padded_count(node.settings.knots)), label="rope")
        if before is None or before.settings != node.settings:
            self.reset()

    def step(self, inputs: StepInputs) -> None:
        settings = self.node.settings
        self.anchor = inputs.world.places.world_from_node(self.node)[:3, 3]
        program, step = self._kernel.program, STEP_TIME / SUBSTEPS
        program["u_anchor"] = (*self.anchor, settings.length / (settings.knots - 1))
        self.knots.run(self._kernel, "u_state", "u_step", [(step, settings.drag)] * SUBSTEPS)

    def reset(self) -> None:
        records = KNOT.zeros(self.knots.count)
        hanging = np.arange(self.knots.count) * self.node.settings.length / (self.node.settings.knots - 1)
        records["position"][:, :3] = self.anchor - hanging[:, None] * [0.0, 1.0, 0.0]
        self.knots.write(records)

    def arrays(self) -> dict[str, Array]:
        count, read = self.node.settings.knots, self.knots.newest.read
        points = Array(lambda: read(count=count)["position"][:, :3], (count, 3), np.float32, "points")
        speeds = Array(lambda: read(count=count)["velocity"][:, :3], (count, 3), np.float32, "velocities")
        return {"positions": points, "velocities": speeds}

    def snapshot(self) -> State:
        return State({}, BufferSpan(self.knots.newest))

    def restore(self, state: bytes, world: World) -> None:
        self.knots.write(unpacked_state(state)[1][0])

    def release(self) -> None:
        if self.knots is not None:
            self.knots.release()
