"""ParticleCount: how many particles live and how many broke, counted on the GPU and read without waiting."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.readback import Readback
from sim.gl.texture import BufferTexture
from sim.gl.vertex_array import VertexArray
from sim.kinds.emitter.buffers import COUNT

CHUNK = 64

INTERVAL = 0.25
"""Shortest time between two counts [s]."""


@dataclass(frozen=True, slots=True)
class ParticleCounts:
    """Particles of an emitter at one moment.

    Attributes:
        alive: How many live.
        broken: How many left the world, or came to a place that is no number.
    """

    alive: int
    broken: int


class ParticleCount:
    """Adds up the living and the broken of one emitter.

    Args:
        context: Where it lives.
        library: Where programs come from.
        capacity: Most slots that are counted.
    """

    def __init__(self, context: Context, library: ShaderLibrary, capacity: int) -> None:
        self._levels: list[tuple[Buffer, BufferTexture]] = []
        size = capacity
        while size > 1 or not self._levels:
            size = -(-size // CHUNK)
            buffer = Buffer(context, COUNT.zeros(size), usage="copy", label="particle count")
            self._levels.append((buffer, BufferTexture(context, buffer, "rgba32f")))
        self._vertices = VertexArray(context, label="particle count")
        defines: dict[str, object] = {"CHUNK": CHUNK, "FIRST": True}
        self._first = Kernel(library, "emitter/count.glsl", COUNT, defines=defines, records=capacity)
        self._next = Kernel(library, "emitter/count.glsl", COUNT, defines={"CHUNK": CHUNK})
        self._readback = Readback(context, label="particle count")
        self._is_stale = False
        self._asked_at = -np.inf

    def request(self, state: BufferTexture, slot_count: int, now: float) -> None:
        """Count the first slots, if the last time is a while ago; nothing waits.

        Args:
            state: Records, two texels each.
            slot_count: How many.
            now: Monotonic time [s].
        """
        if now - self._asked_at < INTERVAL or self._readback.pending:
            return
        self._measure(state, slot_count)
        self._readback.request(self._levels[-1][0])
        self._asked_at, self._is_stale = now, False

    def poll(self) -> ParticleCounts | None:
        """The count asked for, once it is there; never waits."""
        found = self._readback.poll()
        return None if found is None or self._is_stale else _census(found)

    def forget(self) -> None:
        """What was asked for so far is of no interest any more, since the particles were changed."""
        self._is_stale = True

    def read(self, state: BufferTexture, slot_count: int) -> ParticleCounts:
        """The count of the first slots now; waits for the GPU."""
        self._measure(state, slot_count)
        return _census(self._levels[-1][0].read())

    def release(self) -> None:
        for buffer, texture in self._levels:
            texture.release()
            buffer.release()
        self._vertices.release()
        self._readback.release()

    def _measure(self, state: BufferTexture, slot_count: int) -> None:
        kernel, source, count = self._first, state, slot_count
        for buffer, texture in self._levels:
            chunks = -(-count // CHUNK)
            kernel.run(self._vertices, buffer, chunks, u_records=source, u_count=count)
            kernel, source, count = self._next, texture, chunks


def _census(records: npt.NDArray[np.void]) -> ParticleCounts:
    alive, broken = records["count"][0, :2]
    return ParticleCounts(int(alive), int(broken))
