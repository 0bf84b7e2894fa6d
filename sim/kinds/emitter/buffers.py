from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.readback import Readback
from sinew.sim.gl.record import record
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.contract import Service

PARTICLE = record("Particle", position=(4, "f4"), velocity=(4, "f4"))
"""Particle: position [m], life left [steps], negative if dead | velocity [m/s], generation: uses of the slot."""

DEAD = -1.0
BROKEN_BELOW = -2e6
"""Lives below this mark particles outside the world, or whose position was not a number; the position is valid."""

FILLED_AT_ONCE = 1 << 14
"""Number of slots that the CPU clears; the GPU repeats them."""

PER_VERTEX = 4
"""Number of particles that one vertex of a step stands for."""
AT_ONCE = padded_count(1, PER_VERTEX)
"""Minimum number of particles that a step moves."""

COUNT = record("ParticleCount", count=(4, "f4"))
"""Count of particles: living ones, broken ones, two unused numbers."""


def padded_slots(capacity: int) -> int:
    return -(-capacity // AT_ONCE) * AT_ONCE


def dead_records(capacity: int) -> npt.NDArray[np.void]:
    out = PARTICLE.zeros(padded_slots(capacity))
    out["position"][:, 3] = DEAD
    out["velocity"][:, 3] = -1.0
    return out


@dataclass(frozen=True, slots=True)
class ParticleSide:
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
        """Returns a buffer of `count` records with undefined contents; return it by `close`."""
        if count not in self._users:
            self._users[count], self._spare[count] = 0, self._new(count)
        self._users[count] += 1
        return self._new(count)

    def swap(self, side: ParticleSide) -> ParticleSide:
        taken, self._spare[side.count] = self._spare[side.count], side
        return taken

    def close(self, side: ParticleSide) -> None:
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


CHUNK = 64

INTERVAL = 0.25
"""Shortest time between two counts [s]."""


class ParticleCounts(NamedTuple):
    alive: int
    broken: int  # Left the world, or have a position that is not a number


class ParticleCount(Owner):
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
        """Returns the requested count, or None until it arrives; never waits."""
        records = self._readback.poll()
        return None if records is None or self._is_stale else _counts(records)

    def discard(self) -> None:
        self._is_stale = True

    def read(self, state: BufferTexture, slot_count: int) -> ParticleCounts:
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
