"""Particle buffers.  A step writes to a spare buffer that emitters share, and leaves its old one as the spare."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.record import record
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.contract import Service

PARTICLE = record("Particle", position=(4, "f4"), velocity=(4, "f4"))
"""position [m], life left [steps], negative if dead | velocity [m/s], generation: earlier uses of the slot."""

DEAD = -1.0
BROKEN_BELOW = -2e6
"""Lives below this mark particles that left the world, or whose position was not a number; the position is valid."""

FILLED_AT_ONCE = 1 << 14
"""Slots that the CPU clears; the GPU repeats them."""

PER_VERTEX = 4
"""Particles that one vertex of a step stands for."""
AT_ONCE = padded_count(1, PER_VERTEX)
"""Fewest particles that a step moves."""

COUNT = record("ParticleCount", count=(4, "f4"))
"""Living particles, broken particles, two unused numbers."""


def padded_slots(capacity: int) -> int:
    return -(-capacity // AT_ONCE) * AT_ONCE


def dead_records(capacity: int) -> npt.NDArray[np.void]:
    """Unused slots, padded."""
    out = PARTICLE.zeros(padded_slots(capacity))
    out["position"][:, 3] = DEAD
    out["velocity"][:, 3] = -1.0
    return out


@dataclass(frozen=True, slots=True)
class ParticleSide:
    """A buffer of records, as texels and as vertices; `count` is a multiple of `AT_ONCE`."""

    buffer: Buffer
    texture: BufferTexture
    vertices: VertexArray
    count: int

    def release(self) -> None:
        for owned in (self.vertices, self.texture, self.buffer):
            owned.release()


class ScratchPool(Service):
    """Spare buffers by size: emitters of one capacity own a buffer each and share one more."""

    def __init__(self, context: Context, _library: ShaderLibrary | None = None) -> None:
        self._context = context
        self._spare: dict[int, ParticleSide] = {}
        self._users: dict[int, int] = {}

    def open(self, count: int) -> ParticleSide:
        """A buffer of `count` records for a new user, to be returned by `close`; contents are undefined."""
        if count not in self._users:
            self._users[count], self._spare[count] = 0, self._new(count)
        self._users[count] += 1
        return self._new(count)

    def swap(self, side: ParticleSide) -> ParticleSide:
        """Exchanges a buffer for the spare one of the same size."""
        taken, self._spare[side.count] = self._spare[side.count], side
        return taken

    def close(self, side: ParticleSide) -> None:
        """Releases the buffer of a user, and the spare one with the last user of a size."""
        side.release()
        if side.count not in self._users:
            return
        self._users[side.count] -= 1
        if not self._users[side.count]:
            self._spare.pop(side.count).release()
            del self._users[side.count]

    def release(self) -> None:
        for spare in self._spare.values():
            spare.release()
        self._spare.clear()
        self._users.clear()

    def _new(self, count: int) -> ParticleSide:
        buffer = Buffer(
            self._context, count * PARTICLE.dtype.itemsize, dtype=PARTICLE.dtype, usage="copy", label="particles"
        )
        texture = BufferTexture(self._context, buffer, "rgba32f")
        vertices = VertexArray(self._context, [Stream(buffer)], label="particles")
        return ParticleSide(buffer, texture, vertices, count)
