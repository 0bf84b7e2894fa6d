"""Records of cloth particles, and the neighbour tables of a mesh on the GPU."""

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.context import Context
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.record import record
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.springs import SpringKind, face_table, neighbour_table

CLOTH_STATE = record("ClothState", position=(4, "f4"), velocity=(4, "f4"))
"""position.xyz [m], 1 / share | velocity.xyz [m/s], 0; world space.  The inverse mass is 1 / share / mass_scale.

Two whole vec4s: drivers capture each output by itself."""

MEASURE = np.dtype([("kinetic", "f4"), ("elastic", "f4"), ("potential", "f4"), ("strain", "f4")])
"""Energies of a particle [J], and the largest strain of its threads."""
MEASURED = record("ClothMeasure", measure=(4, "f4"))
"""The same four numbers as a kernel writes them."""

PIN = record("ClothPin", pin=(4, "f4"))
"""Target [m] and 1 for a held particle, zeros for a free one."""

SPRING_ENDS = np.dtype([("ends", "f4", 2), ("rest", "f4")])
SPRING_LINE = record("ClothSpringLine", first=(4, "f4"), second=(4, "f4"))
LINE_VERTEX = np.dtype([("position", "f4", 3), ("strain", "f4")])
"""The same bytes as vertices of lines, two for each spring."""

PARTICLE = np.dtype([("particle", "i4")])
TEXCOORD = np.dtype([("texcoord", "f4", 2)])


def rest_records(model: ClothModel) -> npt.NDArray[np.void]:
    """Particles at rest, padded by massless particles that never move."""
    out = CLOTH_STATE.zeros(padded_count(model.particle_count))
    out["position"][: model.particle_count, :3] = model.positions
    out["position"][: model.particle_count, 3] = 1.0 / model.shares
    return out


class ClothTables(Owner):
    """Springs and faces of a mesh as texels; a sheet needs none.

    Attributes:
        defines: Macros that the shaders of this topology need.
        textures: Sampler name to texture.
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
