from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.hair.records import BOUND, ROOT
from sinew.sim.kinds.hair.roots import cofactors
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float64
from sinew.sim.owner import Owner

SHOWN = 2


@dataclass(frozen=True, slots=True, eq=False)
class SurfaceTexels:
    vertices: BufferTexture  # Position, normal and further texels of each vertex, in model space
    texels: int  # Texels per vertex


class MovingRoots(Owner):
    """Roots of guides that follow their surface on the GPU, each with its motion since the step before.

    Args:
        bound: Records of `BOUND`.
        skin: The surface; its texture is owned from now on.

    Attributes:
        world_from_surface: Transform of the surface for the next call, shape (4, 4).
        side: Index in `texels` of the newest step, 0 or 1.
        texels: Four texels per guide, see `ROOT`: two steps in turns, then the shown ones.
    """

    def __init__(
        self,
        context: Context,
        library: ShaderLibrary,
        bound: npt.NDArray[np.void],
        skin: SurfaceTexels,
        world_from_surface: Float64,
    ) -> None:
        self._skin, self.world_from_surface = skin, world_from_surface
        self.owns(skin.vertices)
        self._bound = self.owns(Buffer(context, bound, label="hair roots"))
        self._source = self.owns(VertexArray(context, [Stream(self._bound)], label="hair roots"))
        count = self._bound.count
        self.texels = tuple(
            self.owns(TexelBuffer(context, ROOT.zeros(count), usage="copy", label=f"hair roots {side}"))
            for side in range(3)
        )
        self._kernel = Kernel(library, "hair/root.glsl", ROOT, inputs=[BOUND], records=count)
        self.side = 0

    @property
    def now(self) -> Buffer:
        """Records of `ROOT` after the newest step."""
        return self.texels[self.side].buffer

    @property
    def before(self) -> BufferTexture:
        return self.texels[1 - self.side]

    @property
    def newest(self) -> BufferTexture:
        return self.texels[self.side]

    @property
    def shown(self) -> BufferTexture:
        return self.texels[SHOWN]

    @property
    def uniforms(self) -> dict[str, object]:
        return {
            "u_vertices": self._skin.vertices,
            "u_texels": self._skin.texels,
            "u_world_from_model": self.world_from_surface,
            "u_world_from_normal": cofactors(self.world_from_surface[:3, :3]),
        }

    def bind(self, bound: npt.NDArray[np.void]) -> None:
        self._bound.write(bound)

    def advance(self, *, teleport: bool = False) -> None:
        """Ends a step at the current transform; with `teleport` the roots get no motion."""
        self.side = 1 - self.side
        self._follow(self.side, self.before, teleport=teleport)

    def start(self) -> None:
        self._follow(self.side, self.before, teleport=True)

    def show(self, *, teleport: bool = False) -> None:
        self._follow(SHOWN, self.newest, teleport=teleport)

    def seen(self, count: int) -> tuple[Float64, Float64]:
        """Returns shown positions [m] (G, 3) and frames (G, 3, 3) of the first roots; waits for the GPU."""
        found = self.texels[SHOWN].buffer.read()[:count]
        return found["end"][:, :3].astype(np.float64), quaternion.to_matrix(found["turn_end"].astype(np.float64))

    def places(self, first: int, count: int) -> npt.NDArray[np.float32]:
        """Returns roots after the newest step [m], shape (count, 3); waits for the GPU."""
        found: npt.NDArray[np.float32] = self.now.read(offset=first * ROOT.dtype.itemsize, count=count)["end"][:, :3]
        return found

    def _follow(self, target: int, last: BufferTexture, *, teleport: bool) -> None:
        buffer = self.texels[target].buffer
        self._kernel.run(self._source, buffer, self._bound.count, u_last=last, u_jump=float(teleport), **self.uniforms)
