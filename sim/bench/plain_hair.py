"""The hair of the article, as it has it: what the solvers are measured against."""

import numpy as np
import numpy.typing as npt

from sim.gl.back_end import BackEnd
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.record import record
from sim.gl.texture import BufferTexture
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.hair.settings import HairSettings

POSITION = record("HairPosition", position=(4, "f4"))
VELOCITY = record("HairVelocity", velocity=(4, "f4"))


class PlainHair:
    """Two passes over knots that each are a vertex.

    Args:
        context: Where it lives.
        library: Where the programs come from.
        places: Knots at the start [m], shape (N, K, 3).
        settings: Those of springs on a head at the origin.
    """

    def __init__(
        self, context: Context, library: ShaderLibrary, places: npt.NDArray[np.floating], settings: HairSettings
    ) -> None:
        count, knots, _ = places.shape
        texels = np.zeros((count * knots, 4), np.float32)
        texels[:, :3] = places.reshape(-1, 3)
        self._count = len(texels)
        self._positions = [
            Buffer(context, texels.view(POSITION.dtype).ravel(), usage="copy", label="plain hair") for _ in range(2)
        ]
        self._velocities = [
            Buffer(context, VELOCITY.zeros(self._count), usage="copy", label="plain hair") for _ in range(2)
        ]
        self._textures = [BufferTexture(context, buffer, "rgba32f") for buffer in self._positions]
        self._force = Kernel(
            library,
            "bench/plain_hair.glsl",
            VELOCITY,
            inputs=[POSITION, VELOCITY],
            defines={"FORCE": True},
            back_end=BackEnd.TF,
        )
        self._move = Kernel(
            library, "bench/plain_hair.glsl", POSITION, inputs=[POSITION, VELOCITY], back_end=BackEnd.TF
        )
        self._sources = {
            (place, speed): VertexArray(
                context, [Stream(self._positions[place]), Stream(self._velocities[speed])], label="plain hair"
            )
            for place in range(2)
            for speed in range(2)
        }
        self._side = 0
        force = self._force.program
        force["u_knots"], force["u_length"] = knots, settings.length / (knots - 1)
        force["u_stiffness"], force["u_drag"] = settings.spring_stiffness, settings.knot_drag
        force["u_mass"], force["u_gravity"] = settings.knot_mass, settings.gravity
        force["u_head"] = (0.0, 0.0, 0.0, settings.radii[0])
        force["u_step"] = self._move.program["u_step"] = settings.substep_time

    def step(self) -> None:
        now, after = self._side, 1 - self._side
        self._force.program["u_places"] = self._textures[now]
        self._force.run(self._sources[now, now], self._velocities[after], self._count)
        self._move.run(self._sources[now, after], self._positions[after], self._count)
        self._side = after

    def positions(self) -> npt.NDArray[np.float32]:
        """Places of the knots [m], shape (N K, 3); waits."""
        places: npt.NDArray[np.float32] = self._positions[self._side].read()["position"][:, :3]
        return places

    def release(self) -> None:
        for source in self._sources.values():
            source.release()
        for owned in (*self._textures, *self._positions, *self._velocities):
            owned.release()
