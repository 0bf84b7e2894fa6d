"""MorphBuffers: the morph targets of a mesh on the GPU, and which of them act in a pose."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sim.assets.model import Targets
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.texture import BufferTexture

WEIGHT_MIN = 1e-6
"""Targets with a smaller weight, of either sign, are left out."""

FEW = 4
"""So many slots are uniforms of the kernel; more take a program with a loop, which is slower by itself."""


class MorphBuffers:
    """Differences and slots as `shaders/model/deform.glsl` reads them.

    Args:
        context: Where they live.
        targets: The morph targets.
        deltas: Their differences, owned from now on.

    Raises:
        GLLimitError: If there are more differences than the driver can address.
    """

    def __init__(self, context: Context, targets: Targets, deltas: Buffer) -> None:
        self._deltas = BufferTexture(context, deltas, "rgba32f", label="morph differences")
        self._more_buffer = Buffer(context, 16, usage="stream", label="morph slots")
        self._more = BufferTexture(context, self._more_buffer, "rgba32ui")
        self._weight_of = targets.weight_of
        self._table = np.zeros((len(targets.firsts), 4), np.int32)
        self._table[:, 0] = targets.starts * targets.deltas.shape[1]
        self._table[:, 1], self._table[:, 2] = targets.firsts, targets.counts - 1

    def slots(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
        """A row for each target that acts with some weights, shape (M,)."""
        used = weights.take(self._weight_of).astype(np.float32)
        active = np.flatnonzero(np.abs(used) > WEIGHT_MIN)
        slots = self._table.take(active, 0)
        slots[:, 3] = used.take(active).view(np.int32)
        return slots

    def uniforms(self, slots: npt.NDArray[np.int32]) -> dict[str, Any]:
        """Uniforms of the kernel for the targets that act, at least one."""
        few = np.zeros((FEW, 4), np.int32)
        few[: len(slots)] = slots[:FEW]
        uniforms: dict[str, Any] = {"u_slots": few, "u_deltas": self._deltas}
        if len(slots) > FEW:
            self._more_buffer.orphan(slots[FEW:].view(np.uint32))
            uniforms |= {"u_more_slots": self._more, "u_more_slot_count": len(slots) - FEW}
        return uniforms

    def release(self) -> None:
        for owned in (self._more, self._more_buffer, self._deltas, self._deltas.buffer):
            owned.release()
