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
from sinew.sim.maths.arrays import Bool, Float64
from sinew.sim.skin.attachment import SurfaceAttachment, joined

ORDER = np.dtype([("order", "f4")])
FREE, MOVED, HERE, AS_BEFORE = 0.0, 1.0, 2.0, 3.0

ATTACHED = np.dtype([("corners", "f4", 3), ("height", "f4"), ("weights", "f4", 3), ("held", "f4")])


class ClothPins(Owner):
    """Targets of the held particles on the GPU; a bone or a skin may move them.

    A particle that is pinned while the cloth moves is held at its current position, which only the GPU knows.

    Args:
        positions: At rest [m], shape (P, 3).

    Attributes:
        flags: Held particles, shape (P,).
        former: Targets at the start of the next step; None before `follow_closely`.
        attached: Particles that are attached to a bone or a skin, shape (P,); None before the first step.
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
        self.former: TexelBuffer | None = None
        self._feet_vertices: tuple[Buffer, VertexArray] | None = None
        self.attached: Bool | None = None
        self._in_joint: Float64 = np.zeros((0, 3))
        self._feet: SurfaceAttachment | None = None

    @property
    def texture(self) -> BufferTexture | None:
        """Targets for the solver; None if no particle is held."""
        return self._sides[0] if self.flags.any() else None

    @property
    def targets(self) -> Buffer:
        """Targets as records of `PIN`, one for each particle."""
        return self._sides[0].buffer

    def follow_closely(self) -> None:
        """Begins to remember the targets before each step, which painted maps need."""
        if self.former is None:
            size = self.targets.size
            self.former = self.owns(
                TexelBuffer(self._context, size, dtype=PIN.dtype, usage="copy", label="former pins")
            )
            self.arrive()

    def arrive(self) -> None:
        """Takes the targets as those from which the next step begins."""
        if self.former is not None:
            self.targets.copy_to(self.former.buffer)

    def set_targets(self, targets: Float64, flags: Bool | None = None, *, moving: bool = False) -> None:
        """Sets positions for the end of the next step [m], shape (P, 3); `flags` (P,) replaces the held particles.

        If they are not `moving`, the next step begins there too.
        """
        if flags is not None:
            self.flags = flags.copy()
        flags, buffer = self.flags, self._sides[0].buffer
        records = PIN.zeros(buffer.count)
        records["pin"][: len(flags), :3] = np.where(flags[:, None], targets, 0.0)
        records["pin"][: len(flags), 3] = flags
        buffer.write(records)
        if not moving:
            self.arrive()

    def hold(self, flags: Bool, state: BufferTexture) -> None:
        """Holds exactly these particles: new ones at their current position, the others at their target."""
        if np.array_equal(flags, self.flags):
            return
        self._run(np.where(flags, np.where(self.flags, AS_BEFORE, HERE), FREE), state, np.eye(4))
        self.flags = flags.copy()
        self.arrive()

    def move(self, world_from_world: Float64, state: BufferTexture) -> None:
        self._run(np.where(self.flags, MOVED, FREE), state, world_from_world)

    @property
    def unattached(self) -> Bool:
        """Held particles that are not attached, shape (P,)."""
        return self.flags if self.attached is None else self.flags & ~self.attached

    def follow_bone(self, frame: Float64, positions: Float64) -> None:
        """Moves targets with a bone (4, 4); attaches the particles of `unattached` at their positions (N, 3) [m]."""
        new = self.unattached
        if self.attached is None or not len(self._in_joint):
            self._in_joint = np.zeros((len(new), 3))
        self._in_joint[new] = (positions - frame[:3, 3]) @ frame[:3, :3]
        self.attached = self.flags.copy()
        self.set_targets(self._in_joint @ frame[:3, :3].T + frame[:3, 3], moving=True)

    def attach(self, added: SurfaceAttachment) -> None:
        """Attaches the particles of `unattached`; `follow` then moves them."""
        self._feet = added if self._feet is None else joined(self._feet, added, self.flags)
        self.attached = self.flags.copy()
        self._write_feet(self._feet)

    def follow(self, vertices: BufferTexture, texels_per_vertex: int, world_from_model: Float64) -> None:
        """Updates the targets from their surface on the GPU; the records of the surface begin with the position."""
        if self._feet_vertices is None or self._attach is None:
            return
        self._attach.run(
            self._feet_vertices[1],
            self.targets,
            u_vertices=vertices,
            u_texels=texels_per_vertex,
            u_world_from_model=world_from_model,
        )

    def detach(self) -> None:
        self.attached, self._in_joint, self._feet = None, np.zeros((0, 3)), None
        self._release_feet()

    def attachment_state(self) -> tuple[npt.NDArray[Any], ...]:
        attached = () if self.attached is None else (self.attached,)
        feet = self._feet
        arrays = () if feet is None else (feet.particles, feet.corners, feet.weights, feet.heights)
        return (self._in_joint, *attached, *arrays)

    def restore(
        self, flags: Bool, targets: npt.NDArray[np.void], state: list[npt.NDArray[Any]], *, is_attached: bool
    ) -> None:
        self.detach()
        self.flags = flags.copy()
        self._sides[0].buffer.write(targets)
        self.arrive()
        self._in_joint, *arrays = state
        if is_attached:
            self.attached, *arrays = arrays
        if arrays:
            self._feet = SurfaceAttachment(*arrays)
            self._write_feet(self._feet)

    def _write_feet(self, feet: SurfaceAttachment) -> None:
        self._release_feet()
        count = len(self.flags)
        records = np.zeros(self.targets.count, ATTACHED)
        records["corners"][:count][feet.particles] = feet.corners
        records["weights"][:count][feet.particles] = feet.weights
        records["height"][:count][feet.particles] = feet.heights
        records["held"][:count][feet.particles] = 1.0
        buffer = self.owns(Buffer(self._context, records, label="cloth attachment"))
        vertices = self.owns(VertexArray(self._context, [Stream(buffer)], label="cloth attachment"))
        self._feet_vertices = (buffer, vertices)
        self._attach = self._attach or Kernel(self._library, "cloth/attach.glsl", PIN, inputs=[ATTACHED], records=count)

    def _release_feet(self) -> None:
        if self._feet_vertices is not None:
            self.disown(*reversed(self._feet_vertices))
            self._feet_vertices = None

    def _run(self, orders: npt.NDArray[np.float64], state: BufferTexture, move: Float64) -> None:
        records = np.zeros(self._orders.count, ORDER)
        records["order"][: len(orders)] = orders
        self._orders.write(records)
        now, spare = self._sides
        self._pin.run(self._vertices, spare.buffer, u_state=state, u_pins=now, u_move=move)
        self._sides.reverse()
