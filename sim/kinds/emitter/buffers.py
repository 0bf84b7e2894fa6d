"""Buffers of particles, shared between emitters: a step writes into a spare one and leaves its old one for the next."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.record import record
from sim.gl.texture import BufferTexture
from sim.gl.transform_feedback import padded_count
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.contract import Service

PARTICLE = record("Particle", position=(4, "f4"), velocity=(4, "f4"))
"""place [m], life left [steps], negative for the dead | velocity [m/s], how often the slot was used before."""

DEAD = -1.0
BROKEN_BELOW = -2e6
"""Lives below this are those of particles that left the world, or whose place was no number; their place is sound."""

FILLED_AT_ONCE = 1 << 14
"""Slots that the processor clears; the GPU repeats them."""

PER_VERTEX = 4
"""Particles that one vertex of a step stands for."""
AT_ONCE = padded_count(1, PER_VERTEX)
"""Particles that a step moves at least."""

COUNT = record("ParticleCount", count=(4, "f4"))
"""How many live, how many are broken, and two numbers without a meaning."""


def padded_slots(capacity: int) -> int:
    return -(-capacity // AT_ONCE) * AT_ONCE


def dead_records(capacity: int) -> npt.NDArray[np.void]:
    """Slots that nobody was born in yet, padded."""
    out = PARTICLE.zeros(padded_slots(capacity))
    out["position"][:, 3] = DEAD
    out["velocity"][:, 3] = -1.0
    return out


@dataclass(frozen=True, slots=True)
class ParticleSide:
    """A buffer of records, as texels and as vertices.

    Attributes:
        buffer: The records.
        texture: The same, seen as texels.
        vertices: The same as attributes.
        count: How many records, see `padded_slots`.
    """

    buffer: Buffer
    texture: BufferTexture
    vertices: VertexArray
    count: int

    def release(self) -> None:
        for owned in (self.vertices, self.texture, self.buffer):
            owned.release()


class ScratchPool(Service):
    """Spare buffers by size.

    Emitters of one capacity hold a buffer each and have one more between them.

    Args:
        context: Where they live.
    """

    def __init__(self, context: Context, _library: ShaderLibrary | None = None) -> None:
        self._context = context
        self._spare: dict[int, ParticleSide] = {}
        self._users: dict[int, int] = {}

    def open(self, count: int) -> ParticleSide:
        """A buffer of `count` records for a new user, who gives it back by `close`; contents are undefined."""
        if count not in self._users:
            self._users[count], self._spare[count] = 0, self._new(count)
        self._users[count] += 1
        return self._new(count)

    def swap(self, side: ParticleSide) -> ParticleSide:
        """The spare buffer of the same size; `side` becomes the spare one."""
        taken, self._spare[side.count] = self._spare[side.count], side
        return taken

    def close(self, side: ParticleSide) -> None:
        """Take back the buffer of a user; with the last one of a size its spare goes too."""
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
