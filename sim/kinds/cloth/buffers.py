import numpy as np
import numpy.typing as npt

from sinew.sim.characters.skinning import SKINNED
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.record import record
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.cloth.grid import sheet_factors
from sinew.sim.kinds.cloth.maps import ClothMap, Values
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.springs import SpringKind, Springs, face_table, mapped_springs, neighbour_table
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.maths.arrays import Float64

CLOTH_STATE = record("ClothState", position=(4, "f4"), velocity=(4, "f4"))
"""State: position.xyz [m], 1 / share | velocity.xyz [m/s], code of the remainder of the position; in the world.

Inverse mass is 1 / share / mass_scale. The remainder is what the float32 of the position cannot hold, see
shaders/cloth/offset.glsl.

Two whole vec4s: drivers capture each output by itself."""

MEASURE = np.dtype([("kinetic", "f4"), ("elastic", "f4"), ("potential", "f4"), ("strain", "f4")])
"""Energies of a particle [J], and the largest strain of its threads."""
MEASURED = record("ClothMeasure", measure=(4, "f4"))

PIN = record("ClothPin", pin=(4, "f4"))
"""Target [m] and 1 for a held particle, zeros for a free one."""

POINT = record("ClothPoint", point=(4, "f4"))
"""A particle within a substep of lines: offset from its position in the state [m]; inverse mass [1/kg], see
shaders/cloth/line_predict.glsl."""
AIM = record("ClothAim", aim=(4, "f4"))
"""Where bending moves a particle without the bending of the offsets, see shaders/cloth/line_bend.glsl."""
SEGMENTS = (8, 16)
"""Points that one invocation moves: the second for sheets with at least `LONG` columns or rows, and meshes with as many
particles."""
LONG = 256
POINTS = {size: record(f"ClothPoints{size}", **{f"point_{i}": (4, "f4") for i in range(size)}) for size in SEGMENTS}
ENDS = record("ClothEnds", first=(4, "f4"), last=(4, "f4"))
"""The first and the last edge of a segment, see shaders/cloth/line_sweep.glsl."""
LOADS = {size: record(f"ClothLoads{size}", **{f"load_{i}": (4, "f4") for i in range(size // 4)}) for size in SEGMENTS}
JOINTS = {
    size: record(f"ClothJoints{size}", **{f"joints_{i}": (4, "f4") for i in range(size // 4)}) for size in SEGMENTS
}
"""Impulses of the last edges of so many segments, see shaders/cloth/line_joints.glsl."""
LOAD = record("ClothLoad", load=(4, "f4"))
"""Largest error of the edges of a particle or 0, zeros, the square of the substep over the longest one for its load."""

SPRING_ENDS = np.dtype([("ends", "f4", 2), ("rest", "f4")])
SPRING_LINE = record("ClothSpringLine", first=(4, "f4"), second=(4, "f4"))
LINE_VERTEX = np.dtype([("position", "f4", 3), ("strain", "f4")])

PARTICLE = np.dtype([("particle", "i4")])
TEXCOORD = np.dtype([("texcoord", "f4", 2)])


def rest_records(model: ClothModel, mass: Float64 | float = 1.0) -> npt.NDArray[np.void]:
    """Returns the state at rest; `mass` (P,) are factors of the shares."""
    out = CLOTH_STATE.zeros(padded_count(model.particle_count))
    out["position"][: model.particle_count, :3] = model.positions
    out["position"][: model.particle_count, 3] = 1.0 / (model.shares * mass)
    return out


class ClothTables(Owner):
    """Springs and faces of a mesh as texels; a sheet needs none.

    Attributes:
        defines: Macros for the shaders of this topology.
        textures: By sampler name.
        maps: Texels of painted maps; None before the first `write_maps`.
    """

    def __init__(self, context: Context, model: ClothModel) -> None:
        self.is_grid = model.grid is not None
        self._context, self._model = context, model
        self.textures: dict[str, BufferTexture] = {}
        self.maps: TexelBuffer | None = None
        self.defines: dict[str, object] = {"GRID": True}
        if self.is_grid:
            return
        count, padded = model.particle_count, padded_count(model.particle_count)
        slots, threads = self._slots(model.springs)
        faces = face_table(model.faces, count)
        corners = np.zeros((padded, faces.shape[1], 2), np.uint32)
        corners[:count] = faces
        self.defines = {"THREADS": threads, "BENDS": slots.shape[1] - threads, "FACES": faces.shape[1]}
        for name, data, pixels in (("springs", slots, "rgba32f"), ("faces", corners, "rg32ui")):
            texels = TexelBuffer(context, data.ravel(), pixels, label=f"cloth {name}")
            self.textures[f"u_{name}"] = self.owns(texels)

    def write_maps(self, values: Values, texels: Float64) -> None:
        """Writes painted maps; `texels` are of `particle_texels`."""
        if self.maps is None:
            self.maps = self._texels(1, "maps")
        self.maps.buffer.write(texels.astype(np.float32))
        if self._model.grid is None:
            self.textures["u_springs"].buffer.write(self._slots(mapped_springs(self._model.springs, values))[0])
        elif values.keys() & {ClothMap.STRETCH, ClothMap.BEND} or "u_spring_maps" in self.textures:
            if "u_spring_maps" not in self.textures:
                self.textures["u_spring_maps"] = self._texels(3, "spring maps")
            factors = sheet_factors(self._model.grid, values)
            self.textures["u_spring_maps"].buffer.write(factors.astype(np.float32))

    def _texels(self, width: int, name: str) -> TexelBuffer:
        zeros = np.zeros(padded_count(self._model.particle_count) * width * 4, np.float32)
        return self.owns(TexelBuffer(self._context, zeros, usage="dynamic", label=f"cloth {name}"))

    def _slots(self, springs: Springs) -> tuple[npt.NDArray[np.float32], int]:
        """Returns the table of springs, and the number of threads in each of its rows."""
        count = self._model.particle_count
        threads = neighbour_table(springs, (SpringKind.STRUCTURAL,), count)
        bends = neighbour_table(springs, (SpringKind.BEND,), count)
        slots = np.zeros((padded_count(count), threads.width + bends.width, 4), np.float32)
        for first, table in ((0, threads), (threads.width, bends)):
            part = slots[:count, first : first + table.width]
            part[..., 0], part[..., 1], part[..., 2] = table.index, table.rest, table.factor
        return slots, threads.width


class DrawnMesh(Owner):
    """Vertices of a surface that follow a cloth: records of `SKINNED` in the world as of the last `write`.

    Args:
        inputs: Read by the kernel of the file, one for each vertex.
        label: Of the buffers.
    """

    def __init__(
        self, library: ShaderLibrary, model: ClothModel, tables: ClothTables, surface: ClothSurface, file: str,
        inputs: npt.NDArray[np.void], label: str,
    ) -> None:  # fmt: skip
        self._model, self._tables, self.surface = model, tables, surface
        context, count = library.context, len(inputs)
        source = self.owns(Buffer(context, inputs, label=f"{label} inputs"))
        self._source = self.owns(VertexArray(context, [Stream(source)], label=f"{label} vertices"))
        self.vertices = self.owns(Buffer(context, SKINNED.zeros(count), usage="copy", label=f"{label} vertices"))
        texcoords = np.ascontiguousarray(surface.texcoords, np.float32).view(TEXCOORD).ravel()
        self.texcoords = self.owns(Buffer(context, texcoords, label=f"{label} texcoords"))
        self.triangles = self.owns(Buffer(context, surface.triangles.ravel(), label=f"{label} triangles"))
        self._kernel = Kernel(library, file, SKINNED, inputs=[inputs.dtype], defines=tables.defines, records=count)

    def write(self, state: BufferTexture) -> None:
        program = self._kernel.program
        for name, texture in self._tables.textures.items():
            program.set_if_active(name, texture)
        if self._model.grid is not None:
            program["u_size"] = (self._model.grid.columns, self._model.grid.rows)
        self._kernel.run(self._source, self.vertices, u_state=state)


class SpringLines(Owner):
    def __init__(self, context: Context, library: ShaderLibrary, springs: Springs) -> None:
        ends = np.zeros(springs.count, SPRING_ENDS)
        ends["ends"], ends["rest"] = springs.pairs, springs.rest
        source = self.owns(Buffer(context, ends, label="cloth springs"))
        self._source = self.owns(VertexArray(context, [Stream(source)], label="cloth springs"))
        size = len(ends) * SPRING_LINE.dtype.itemsize
        self.lines = self.owns(Buffer(context, size, dtype=LINE_VERTEX, usage="copy", label="cloth spring lines"))
        self._kernel = Kernel(library, "cloth/spring_line.glsl", SPRING_LINE, inputs=[SPRING_ENDS], records=len(ends))

    def write(self, state: BufferTexture) -> None:
        self._kernel.run(self._source, self.lines, u_state=state)
