"""ParticleCount: counts living and broken particles on the GPU, and reads the result without waiting."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.readback import Readback
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.kinds.emitter.buffers import COUNT

CHUNK = 64

INTERVAL = 0.25
"""Shortest time between two counts [s]."""


class ParticleCounts(NamedTuple):
    """Particles of an emitter at one moment."""

    alive: int
    broken: int  # Left the world, or have a position that is not a number


class ParticleCount(Owner):
    """Counts the particles of one emitter, in levels of sums."""

    def __init__(self, context: Context, library: ShaderLibrary, capacity: int) -> None:
        self._levels: list[TexelBuffer] = []
        size = capacity
        while size > 1 or not self._levels:
            size = -(-size // CHUNK)
            level = TexelBuffer(context, COUNT.zeros(size), usage="copy", label="particle count")
            self._levels.append(self.owns(level))
        defines: dict[str, object] = {"CHUNK": CHUNK, "FIRST": True}
        self._first = Kernel(library, "emitter/count.glsl", COUNT, defines=defines, records=capacity)
        self._next = Kernel(library, "emitter/count.glsl", COUNT, defines={"CHUNK": CHUNK})
        self._readback = self.owns(Readback(context, label="particle count"))
        self._is_stale = False
        self._asked_at = -np.inf

    def request(self, state: BufferTexture, slot_count: int, now: float) -> None:
        """Counts the first slots if the last count is `INTERVAL` ago; never waits."""
        if now - self._asked_at < INTERVAL or self._readback.pending:
            return
        self._measure(state, slot_count)
        self._readback.request(self._levels[-1].buffer)
        self._asked_at, self._is_stale = now, False

    def poll(self) -> ParticleCounts | None:
        """The requested count once it has arrived; never waits."""
        records = self._readback.poll()
        return None if records is None or self._is_stale else _counts(records)

    def discard(self) -> None:
        """Discards pending requests, because the particles were changed."""
        self._is_stale = True

    def read(self, state: BufferTexture, slot_count: int) -> ParticleCounts:
        """The count of the first slots; waits for the GPU."""
        self._measure(state, slot_count)
        return _counts(self._levels[-1].buffer.read())

    def _measure(self, state: BufferTexture, slot_count: int) -> None:
        kernel, source, count = self._first, state, slot_count
        for level in self._levels:
            chunks = -(-count // CHUNK)
            kernel.run(None, level.buffer, chunks, u_records=source, u_count=count)
            kernel, source, count = self._next, level, chunks


def _counts(records: npt.NDArray[np.void]) -> ParticleCounts:
    alive, broken = records["count"][0, :2]
    return ParticleCounts(int(alive), int(broken))
