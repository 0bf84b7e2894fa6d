"""ClothPins: targets of the held particles, on the GPU.

A particle that is pinned while the cloth moves is held where it is, which only the GPU knows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.texture import BufferTexture
from sim.gl.transform_feedback import padded_count
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.cloth.buffers import PIN
from sim.skin.attachment import SurfaceAttachment

Bool = npt.NDArray[np.bool_]
Float64 = npt.NDArray[np.float64]


ORDER = np.dtype([("order", "f4")])
FREE, AS_BEFORE, HERE = 0.0, 1.0, 2.0

ATTACHED = np.dtype([("corners", "f4", 3), ("height", "f4"), ("weights", "f4", 3), ("held", "f4")])


@dataclass(frozen=True, slots=True)
class PinTargetTable:
    """What held particles are tied to.

    Attributes:
        held: Particles that are tied, shape (P,), or None before the first step.
        in_joint: Their places in the frame of a bone [m], shape (P, 3), or (0, 3).
        feet: Fields of the `SurfaceAttachment` to a skin, or nothing.
    """

    held: Bool | None
    in_joint: Float64
    feet: tuple[npt.NDArray[Any], ...]


class ClothPins:
    """Which particles are held, and where.

    Args:
        context: Where the buffers live.
        library: Where the programs come from.
        positions: Rest places [m], shape (P, 3).

    Attributes:
        flags: Held particles, shape (P,).
    """

    def __init__(self, context: Context, library: ShaderLibrary, positions: Float64) -> None:
        self._context, self._library = context, library
        self.flags: Bool = np.zeros(len(positions), np.bool_)
        count = padded_count(len(positions))
        self._buffers = [
            Buffer(context, PIN.zeros(count), usage="copy", label=f"cloth pins {side}") for side in ("first", "second")
        ]
        self._textures = [BufferTexture(context, buffer, "rgba32f") for buffer in self._buffers]
        self._orders = Buffer(context, np.zeros(count, ORDER), usage="dynamic", label="cloth pin orders")
        self._vertices = VertexArray(context, [Stream(self._orders)], label="cloth pins")
        self._pin = Kernel(library, "cloth/pin.glsl", PIN, inputs=[ORDER], records=count)
        self._attach: Kernel | None = None
        self._attached: tuple[Buffer, VertexArray] | None = None

    @property
    def texture(self) -> BufferTexture | None:
        """Targets as texels, or None where nothing is held."""
        return self._textures[0] if self.flags.any() else None

    @property
    def targets(self) -> Buffer:
        """Records of `PIN`, one for each particle."""
        return self._buffers[0]

    def set_targets(self, flags: Bool, targets: Float64) -> None:
        """Hold particles at known places.

        Args:
            flags: Held particles, shape (P,).
            targets: Places of all particles [m], shape (P, 3); those of free ones do not matter.
        """
        self.flags = flags.copy()
        records = PIN.zeros(self._buffers[0].count)
        records["pin"][: len(flags), :3] = np.where(flags[:, None], targets, 0.0)
        records["pin"][: len(flags), 3] = flags
        self._buffers[0].write(records)

    def write(self, flags: Bool, records: npt.NDArray[np.void]) -> None:
        """Hold particles, shape (P,), at the places of records of `PIN`."""
        self.flags = flags.copy()
        self._buffers[0].write(records)

    def hold(self, flags: Bool, state: BufferTexture) -> None:
        """Hold exactly these particles: new ones where they are now, the others as before."""
        if np.array_equal(flags, self.flags):
            return
        self._run(np.where(flags, np.where(self.flags, AS_BEFORE, HERE), FREE), state, np.eye(4))
        self.flags = flags.copy()

    def move(self, world_from_world: Float64, state: BufferTexture) -> None:
        """Move all targets by a matrix (4, 4)."""
        self._run(np.where(self.flags, AS_BEFORE, FREE), state, world_from_world)

    def attach(self, attachment: SurfaceAttachment) -> None:
        """Tie the held particles to points of a surface, from the next `follow` on."""
        self.detach()
        count = len(self.flags)
        records = np.zeros(self._buffers[0].count, ATTACHED)
        records["corners"][:count][attachment.particles] = attachment.corners
        records["weights"][:count][attachment.particles] = attachment.weights
        records["height"][:count][attachment.particles] = attachment.heights
        records["held"][:count][attachment.particles] = 1.0
        buffer = Buffer(self._context, records, label="cloth attachment")
        self._attached = (buffer, VertexArray(self._context, [Stream(buffer)], label="cloth attachment"))
        self._attach = self._attach or Kernel(self._library, "cloth/attach.glsl", PIN, inputs=[ATTACHED], records=count)

    def follow(self, vertices: BufferTexture, texels_per_vertex: int, world_from_model: Float64) -> None:
        """Take the targets from a surface as it is now, if the pins are tied to one; on the GPU alone.

        Args:
            vertices: Records of the surface, position first.
            texels_per_vertex: Length of a record.
            world_from_model: Placement of the surface, shape (4, 4).
        """
        if self._attached is None or self._attach is None:
            return
        self._attach.run(
            self._attached[1],
            self._buffers[0],
            u_vertices=vertices,
            u_texels=texels_per_vertex,
            u_world_from_model=world_from_model,
        )

    def detach(self) -> None:
        """Follow no surface any more."""
        if self._attached is not None:
            for owned in reversed(self._attached):
                owned.release()
            self._attached = None

    def release(self) -> None:
        self.detach()
        for owned in (*self._textures, *self._buffers):
            owned.release()
        self._orders.release()
        self._vertices.release()

    def _run(self, orders: npt.NDArray[np.float64], state: BufferTexture, move: Float64) -> None:
        records = np.zeros(self._orders.count, ORDER)
        records["order"][: len(orders)] = orders
        self._orders.write(records)
        self._pin.run(self._vertices, self._buffers[1], u_state=state, u_pins=self._textures[0], u_move=move)
        self._buffers.reverse()
        self._textures.reverse()
