"""The drawn vertices of a cloth, and its springs as lines; both are written from the state on the GPU."""

import numpy as np

from sinew.sim.characters.skinning import SKINNED
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.cloth.buffers import LINE_VERTEX, PARTICLE, SPRING_ENDS, SPRING_LINE, TEXCOORD, ClothTables
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.springs import Springs


class ClothSheet(Owner):
    """Vertices with smooth normals, and the triangles between them.

    Attributes:
        vertices: Records of `SKINNED`, position and normal in the world.
    """

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
        """Writes the vertices of a state, two texels a particle."""
        program = self._kernel.program
        for name, texture in self._tables.textures.items():
            program.set_if_active(name, texture)
        if self._model.grid is not None:
            program["u_size"] = (self._model.grid.columns, self._model.grid.rows)
        self._kernel.run(self._source, self.vertices, u_state=state)


class SpringLines(Owner):
    """A line for each spring.

    Attributes:
        lines: Records of `LINE_VERTEX`, two for each spring.
    """

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
