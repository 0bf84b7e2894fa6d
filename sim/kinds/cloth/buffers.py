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
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.springs import SpringKind, Springs, face_table, neighbour_table

CLOTH_STATE = record("ClothState", position=(4, "f4"), velocity=(4, "f4"))
"""State: position.xyz [m], 1 / share | velocity.xyz [m/s], 0; in the world. Inverse mass is 1 / share / mass_scale.

Two whole vec4s: drivers capture each output by itself."""

MEASURE = np.dtype([("kinetic", "f4"), ("elastic", "f4"), ("potential", "f4"), ("strain", "f4")])
"""Energies of a particle [J], and the largest strain of its threads."""
MEASURED = record("ClothMeasure", measure=(4, "f4"))

PIN = record("ClothPin", pin=(4, "f4"))
"""Target [m] and 1 for a held particle, zeros for a free one."""

SPRING_ENDS = np.dtype([("ends", "f4", 2), ("rest", "f4")])
SPRING_LINE = record("ClothSpringLine", first=(4, "f4"), second=(4, "f4"))
LINE_VERTEX = np.dtype([("position", "f4", 3), ("strain", "f4")])

PARTICLE = np.dtype([("particle", "i4")])
TEXCOORD = np.dtype([("texcoord", "f4", 2)])


def rest_records(model: ClothModel) -> npt.NDArray[np.void]:
    out = CLOTH_STATE.zeros(padded_count(model.particle_count))
    out["position"][: model.particle_count, :3] = model.positions
    out["position"][: model.particle_count, 3] = 1.0 / model.shares
    return out


class ClothTables(Owner):
    """Springs and faces of a mesh as texels; a sheet needs none.

    Attributes:
        defines: Macros for the shaders of this topology.
        textures: By sampler name.
    """

    def __init__(self, context: Context, model: ClothModel) -> None:
        self.is_grid = model.grid is not None
        self.textures: dict[str, BufferTexture] = {}
        self.defines: dict[str, object] = {"GRID": True}
        if self.is_grid:
            return
        count, padded = model.particle_count, padded_count(model.particle_count)
        threads = neighbour_table(model.springs, (SpringKind.STRUCTURAL,), count)
        bends = neighbour_table(model.springs, (SpringKind.BEND,), count)
        faces = face_table(model.faces, count)
        slots = np.zeros((padded, threads.width + bends.width, 4), np.float32)
        for first, table in ((0, threads), (threads.width, bends)):
            part = slots[:count, first : first + table.width]
            part[..., 0], part[..., 1], part[..., 2] = table.index, table.rest, table.factor
        corners = np.zeros((padded, faces.shape[1], 2), np.uint32)
        corners[:count] = faces
        self.defines = {"THREADS": threads.width, "BENDS": bends.width, "FACES": faces.shape[1]}
        for name, data, pixels in (("springs", slots, "rgba32f"), ("faces", corners, "rg32ui")):
            texels = TexelBuffer(context, data.ravel(), pixels, label=f"cloth {name}")
            self.textures[f"u_{name}"] = self.owns(texels)


class ClothSheet(Owner):
    """Drawn vertices with smooth normals, records of `SKINNED` in the world, and their triangles."""

    def __init__(self, context: Context, library: ShaderLibrary, model: ClothModel, tables: ClothTables) -> None:
        self._model, self._tables = model, tables
        particles = model.particle_of_vertex.astype(np.int32).view(PARTICLE)
        source = self.owns(Buffer(context, particles, label="cloth particles"))
        self._source = self.owns(VertexArray(context, [Stream(source)], label="cloth vertices"))
        records = SKINNED.zeros(len(particles))
        self.vertices = self.owns(Buffer(context, records, usage="copy", label="cloth vertices"))
        texcoords = np.ascontiguousarray(model.surface.texcoords, np.float32).view(TEXCOORD).ravel()
        self.texcoords = self.owns(Buffer(context, texcoords, label="cloth texcoords"))
        self.triangles = self.owns(Buffer(context, model.surface.triangles.ravel(), label="cloth triangles"))
        self._kernel = Kernel(
            library, "cloth/surface.glsl", SKINNED, inputs=[PARTICLE], defines=tables.defines, records=len(particles)
        )

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
