"""MovingRoots: the roots of guides on the GPU, carried by the surface that they grow on."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.texture import BufferTexture
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.hair.records import BOUND, ROOT
from sim.kinds.hair.roots import cofactors
from sim.maths import quaternion

Float64 = npt.NDArray[np.float64]

SHOWN = 2


@dataclass(frozen=True, slots=True, eq=False)
class SurfaceTexels:
    """A surface on the GPU.

    Attributes:
        vertices: Position, normal and whatever else, as texels; model space.
        texels: Of each vertex.
    """

    vertices: BufferTexture
    texels: int


class MovingRoots:
    """Roots in the steps before and now, and as they are shown; each has the way that it made since the step before.

    Args:
        context: Where they live.
        library: Where the program comes from.
        bound: Records of `BOUND`.
        skin: The surface; to be released here.
        world_from_surface: Where it stands, shape (4, 4).

    Attributes:
        world_from_surface: Where it stands at what is done next.
        side: Which of `texels` are those of the newest step, 0 or 1.
        texels: 4 texels a guide, see `ROOT`: two steps in turns, then as they are shown.
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
        self._bound = Buffer(context, bound, label="hair roots")
        self._source = VertexArray(context, [Stream(self._bound)], label="hair roots")
        count = self._bound.count
        self._buffers = tuple(
            Buffer(context, ROOT.zeros(count), usage="copy", label=f"hair roots {side}") for side in range(3)
        )
        self.texels = tuple(BufferTexture(context, buffer, "rgba32f") for buffer in self._buffers)
        self._kernel = Kernel(library, "hair/root.glsl", ROOT, inputs=[BOUND], records=count)
        self.side = 0

    @property
    def now(self) -> Buffer:
        """Records of `ROOT` after the newest step."""
        return self._buffers[self.side]

    @property
    def before(self) -> BufferTexture:
        return self.texels[1 - self.side]

    @property
    def newest(self) -> BufferTexture:
        return self.texels[self.side]

    @property
    def shown(self) -> BufferTexture:
        """Texels as of the last `show`."""
        return self.texels[SHOWN]

    @property
    def uniforms(self) -> dict[str, object]:
        """The surface, as programs read it."""
        return {
            "u_vertices": self._skin.vertices,
            "u_texels": self._skin.texels,
            "u_world_from_model": self.world_from_surface,
            "u_world_from_normal": cofactors(self.world_from_surface[:3, :3]),
        }

    def bind(self, bound: npt.NDArray[np.void]) -> None:
        """Take other records of `BOUND` for the same guides."""
        self._bound.write(bound)

    def advance(self, *, teleport: bool = False) -> None:
        """A step ends where the surface stands now; after a jump nobody made any way."""
        self.side = 1 - self.side
        self._follow(self.side, self.before, teleport=teleport)

    def start(self) -> None:
        """The newest step ends where the surface stands now, and nothing was before."""
        self._follow(self.side, self.before, teleport=True)

    def show(self, *, teleport: bool = False) -> None:
        """Show them where the surface stands now."""
        self._follow(SHOWN, self.newest, teleport=teleport)

    def seen(self, count: int) -> tuple[Float64, Float64]:
        """The first as they are shown [m], shape (G, 3), and their frames, shape (G, 3, 3); waits for the GPU."""
        found = self._buffers[SHOWN].read()[:count]
        return found["end"][:, :3].astype(np.float64), quaternion.to_matrix(found["turn_end"].astype(np.float64))

    def places(self, first: int, count: int) -> npt.NDArray[np.float32]:
        """Some after the newest step [m], shape (count, 3); waits for the GPU, yet reads no others."""
        found: npt.NDArray[np.float32] = self.now.read(offset=first * ROOT.dtype.itemsize, count=count)["end"][:, :3]
        return found

    def release(self) -> None:
        for texels in (*self.texels, self._skin.vertices):
            texels.release()
        for buffer in (*self._buffers, self._bound):
            buffer.release()
        self._source.release()

    def _follow(self, target: int, last: BufferTexture, *, teleport: bool) -> None:
        """Write roots where the surface stands now, beginning where they were last."""
        buffer = self._buffers[target]
        self._kernel.run(self._source, buffer, self._bound.count, u_last=last, u_jump=float(teleport), **self.uniforms)
