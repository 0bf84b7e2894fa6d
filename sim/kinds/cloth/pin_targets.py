"""ClothPins: targets of the held particles, on the GPU.

A particle that is pinned while the cloth moves is held at its current position, which only the GPU knows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.cloth.buffers import PIN
from sinew.sim.skin.attachment import SurfaceAttachment

ORDER = np.dtype([("order", "f4")])
FREE, AS_BEFORE, HERE = 0.0, 1.0, 2.0

ATTACHED = np.dtype([("corners", "f4", 3), ("height", "f4"), ("weights", "f4", 3), ("held", "f4")])

Bool = npt.NDArray[np.bool_]
Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PinTargetTable:
    """What held particles are attached to."""

    held: Bool | None  # Attached particles, shape (P,), or None before the first step
    in_joint: Float64  # Their positions in the frame of a bone [m], shape (P, 3), or (0, 3)
    feet: tuple[npt.NDArray[Any], ...]  # Fields of the `SurfaceAttachment` to a skin, or nothing


class ClothPins(Owner):
    """Held particles and their targets.

    Args:
        context: The context of its buffers.
        library: Source of its programs.
        positions: Rest positions [m], shape (P, 3).

    Attributes:
        flags: Held particles, shape (P,).
    """

    def __init__(self, context: Context, library: ShaderLibrary, positions: Float64) -> None:
        self._context, self._library = context, library
        self.flags: Bool = np.zeros(len(positions), np.bool_)
        count = padded_count(len(positions))
        self._sides = [
            self.owns(TexelBuffer(context, PIN.zeros(count), usage="copy", label=f"cloth pins {side}"))
            for side in ("first", "second")
        ]
        self._orders = self.owns(Buffer(context, np.zeros(count, ORDER), usage="dynamic", label="cloth pin orders"))
        self._vertices = self.owns(VertexArray(context, [Stream(self._orders)], label="cloth pins"))
        self._pin = Kernel(library, "cloth/pin.glsl", PIN, inputs=[ORDER], records=count)
        self._attach: Kernel | None = None
        self._attached: tuple[Buffer, VertexArray] | None = None

    @property
    def texture(self) -> BufferTexture | None:
        """Targets as texels; None if no particle is held."""
        return self._sides[0] if self.flags.any() else None

    @property
    def targets(self) -> Buffer:
        """Records of `PIN`, one for each particle."""
        return self._sides[0].buffer

    def set_targets(self, targets: Float64, flags: Bool | None = None) -> None:
        """Sets the positions [m] of held particles at the end of the next step, shape (P, 3); the others are ignored.

        The held particles are `flags`, shape (P,), or the present ones if None.
        """
        if flags is not None:
            self.flags = flags.copy()
        flags, buffer = self.flags, self._sides[0].buffer
        records = PIN.zeros(buffer.count)
        records["pin"][: len(flags), :3] = np.where(flags[:, None], targets, 0.0)
        records["pin"][: len(flags), 3] = flags
        buffer.write(records)

    def write(self, flags: Bool, records: npt.NDArray[np.void]) -> None:
        """Holds particles, shape (P,), at the targets of records of `PIN`."""
        self.flags = flags.copy()
        self._sides[0].buffer.write(records)

    def hold(self, flags: Bool, state: BufferTexture) -> None:
        """Holds exactly these particles: new ones at their current position, the others at their target."""
        if np.array_equal(flags, self.flags):
            return
        self._run(np.where(flags, np.where(self.flags, AS_BEFORE, HERE), FREE), state, np.eye(4))
        self.flags = flags.copy()

    def move(self, world_from_world: Float64, state: BufferTexture) -> None:
        """Moves all targets by a matrix (4, 4)."""
        self._run(np.where(self.flags, AS_BEFORE, FREE), state, world_from_world)

    def attach(self, attachment: SurfaceAttachment) -> None:
        """Attaches the held particles to points of a surface; `follow` then moves them."""
        self.detach()
        count = len(self.flags)
        records = np.zeros(self.targets.count, ATTACHED)
        records["corners"][:count][attachment.particles] = attachment.corners
        records["weights"][:count][attachment.particles] = attachment.weights
        records["height"][:count][attachment.particles] = attachment.heights
        records["held"][:count][attachment.particles] = 1.0
        buffer = self.owns(Buffer(self._context, records, label="cloth attachment"))
        vertices = self.owns(VertexArray(self._context, [Stream(buffer)], label="cloth attachment"))
        self._attached = (buffer, vertices)
        self._attach = self._attach or Kernel(self._library, "cloth/attach.glsl", PIN, inputs=[ATTACHED], records=count)

    def follow(self, vertices: BufferTexture, texels_per_vertex: int, world_from_model: Float64) -> None:
        """Takes the targets from the surface that the pins are attached to, if any; runs on the GPU alone.

        Records of the surface begin with the position.
        """
        if self._attached is None or self._attach is None:
            return
        self._attach.run(
            self._attached[1],
            self.targets,
            u_vertices=vertices,
            u_texels=texels_per_vertex,
            u_world_from_model=world_from_model,
        )

    def detach(self) -> None:
        if self._attached is not None:
            self.disown(*reversed(self._attached))
            self._attached = None

    def _run(self, orders: npt.NDArray[np.float64], state: BufferTexture, move: Float64) -> None:
        records = np.zeros(self._orders.count, ORDER)
        records["order"][: len(orders)] = orders
        self._orders.write(records)
        now, spare = self._sides
        self._pin.run(self._vertices, spare.buffer, u_state=state, u_pins=now, u_move=move)
        self._sides.reverse()
