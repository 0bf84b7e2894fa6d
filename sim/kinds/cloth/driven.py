"""A fine mesh that a coarse cloth moves, drawn in its place; each vertex follows the nearest triangle of the cloth."""

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.build_mesh import vertex_normals
from sinew.sim.characters.skinning import SKINNED
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.cloth.buffers import TEXCOORD, ClothTables
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.maths.arrays import Float64
from sinew.sim.skin.attachment import attach

DRIVEN = np.dtype([(name, "f4", 4) for name in ("corners", "weights", "offset", "normal")])
"""Particles of the triangle, their weights, offset from the curved triangle [m] and normal in its frame; each and 0."""


def driven_records(model: ClothModel, surface: ClothSurface) -> npt.NDArray[np.void]:
    """Binds the vertices of a surface in the world to the cloth at rest; takes seconds for large meshes."""
    found = attach(np.arange(len(surface.positions), dtype=np.int32), surface.positions, model.positions, model.faces)
    places, normals = model.positions[found.corners], _normals(model)[found.corners]
    flat = np.einsum("hc,hcx->hx", found.weights, places)
    up = _unit(np.einsum("hc,hcx->hx", found.weights, normals))
    below = np.sum((flat[:, None] - places) * normals, axis=2)
    curved = flat - 0.5 * np.einsum("hc,hcx->hx", found.weights * below, normals)
    edge = places[:, 1] - places[:, 0]
    along = _unit(edge - np.sum(edge * up, axis=1, keepdims=True) * up)
    frame = np.stack([along, np.cross(up, along), up], axis=1)
    records = np.zeros(len(surface.positions), DRIVEN)
    records["corners"][:, :3], records["weights"][:, :3] = found.corners, found.weights
    records["offset"][:, :3] = np.einsum("hfx,hx->hf", frame, surface.positions - curved)
    records["normal"][:, :3] = np.einsum("hfx,hx->hf", frame, vertex_normals(surface.positions, surface.triangles))
    return records


class DrivenMesh(Owner):
    """The fine mesh: vertices, records of `SKINNED` in the world as of the last `write`, and their triangles."""

    def __init__(
        self,
        context: Context,
        library: ShaderLibrary,
        model: ClothModel,
        tables: ClothTables,
        surface: ClothSurface,
        records: npt.NDArray[np.void],
    ) -> None:
        self._model, self._tables, self.surface = model, tables, surface
        source = self.owns(Buffer(context, records, label="driven mesh"))
        self._source = self.owns(VertexArray(context, [Stream(source)], label="driven mesh"))
        self.vertices = self.owns(Buffer(context, SKINNED.zeros(len(records)), usage="copy", label="driven vertices"))
        texcoords = np.ascontiguousarray(surface.texcoords, np.float32).view(TEXCOORD).ravel()
        self.texcoords = self.owns(Buffer(context, texcoords, label="driven texcoords"))
        self.triangles = self.owns(Buffer(context, surface.triangles.ravel(), label="driven triangles"))
        self._kernel = Kernel(
            library, "cloth/driven.glsl", SKINNED, inputs=[DRIVEN], defines=tables.defines, records=len(records)
        )

    def write(self, state: BufferTexture) -> None:
        program = self._kernel.program
        for name, texture in self._tables.textures.items():
            program.set_if_active(name, texture)
        if self._model.grid is not None:
            program["u_size"] = (self._model.grid.columns, self._model.grid.rows)
        self._kernel.run(self._source, self.vertices, u_state=state)


def _normals(model: ClothModel) -> Float64:
    """Returns normals of the particles at rest, shape (P, 3), as `area_around` of the shaders has them."""
    if model.grid is None:
        return vertex_normals(model.positions, model.faces).astype(np.float64)
    sheet = np.pad(model.positions.reshape(model.grid.rows, model.grid.columns, 3), ((1, 1), (1, 1), (0, 0)), "edge")
    across, down = sheet[1:-1, 2:] - sheet[1:-1, :-2], sheet[:-2, 1:-1] - sheet[2:, 1:-1]
    return _unit(np.cross(across, down).reshape(-1, 3))


def _unit(vectors: Float64) -> Float64:
    found: Float64 = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)
    return found
