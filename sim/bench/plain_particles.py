"""The fountain of the cookbooks, as they have it: what an emitter is measured against, on the GPU and in numpy."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sim.gl.back_end import BackEnd
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.record import Record, record
from sim.gl.vertex_array import Stream, VertexArray

Float32 = npt.NDArray[np.float32]

PLACE = record("Place", position=(4, "f4"))
MOTION = record("Motion", velocity=(4, "f4"))

FORCE = np.array([0.0, -0.001, 0.0], np.float32)
BOUNCE = np.float32(0.9995)


class Streams:
    """Two sets of buffers, and a kernel that goes from one to the other.

    Args:
        context: Where they live.
        kernel: Reads the fields of the records as attributes, and captures each record into a buffer of its own.
        contents: Records, and what they hold at first, shape (N, floats of the record).
    """

    def __init__(self, context: Context, kernel: Kernel, contents: Mapping[Record, Float32]) -> None:
        self._kernel = kernel
        self._sides = []
        for _ in range(2):
            buffers = [
                Buffer(context, np.ascontiguousarray(values).view(layout.dtype).ravel(), usage="copy", label="streams")
                for layout, values in contents.items()
            ]
            source = VertexArray(context, [Stream(buffer) for buffer in buffers], label="streams")
            self._sides.append((buffers, source))

    def step(self) -> None:
        """One run of the kernel over all records."""
        (_, source), (targets, _) = self._sides
        self._kernel.run(source, targets)
        self._sides.reverse()

    def read(self) -> Float32:
        """Places and what goes with them, shape (N, 4); waits."""
        places: Float32 = self._sides[0][0][0].read()["position"]
        return places

    def release(self) -> None:
        for buffers, source in self._sides:
            source.release()
            for buffer in buffers:
                buffer.release()


class PlainParticles:
    """The kernel of the cookbooks."""

    def __init__(self, context: Context, library: ShaderLibrary, count: int) -> None:
        layouts = [PLACE, MOTION]
        self._kernel = Kernel(library, "bench/plain_particles.glsl", layouts, inputs=layouts, back_end=BackEnd.TF)
        places, motions = fountain(count)
        self._streams = Streams(context, self._kernel, {PLACE: places, MOTION: motions})
        self._frame = 0

    def step(self) -> None:
        self._frame += 1
        self._kernel.program["u_frame"] = float(self._frame)
        self._streams.step()

    def read(self) -> Float32:
        """Places and lives, shape (N, 4); waits."""
        return self._streams.read()

    def release(self) -> None:
        self._streams.release()


class NumpyParticles:
    """The same motion on whole arrays, one for each component; nobody dies."""

    def __init__(self, count: int) -> None:
        places, motions = fountain(count)
        self.place, self.motion = np.ascontiguousarray(places[:, :3].T), np.ascontiguousarray(motions[:, :3].T)

    def step(self) -> Float32:
        """One frame; the places, shape (3, N)."""
        self.place += self.motion
        self.motion[1] += FORCE[1]
        below = self.place[1] <= 0.0
        self.motion *= np.where(below, BOUNCE, np.float32(1.0))
        np.negative(self.motion[1], where=below, out=self.motion[1])
        return self.place


def fountain(count: int) -> tuple[Float32, Float32]:
    """Particles in flight: places and lives left [frames], motions and whole lives, each (N, 4)."""
    random = np.random.default_rng(1)
    places, motions = np.zeros((count, 4), np.float32), np.zeros((count, 4), np.float32)
    places[:, :3] = random.uniform([-1.0, 0.0, -1.0], [1.0, 2.0, 1.0], (count, 3))
    places[:, 3] = random.uniform(0.0, 75.0, count)
    motions[:, :3] = random.normal(scale=0.03, size=(count, 3))
    motions[:, 3] = 75.0
    return places, motions
