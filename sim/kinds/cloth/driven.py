"""A fine mesh that a coarse cloth moves, drawn in its place; each vertex follows the nearest triangle of the cloth."""

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.build_mesh import vertex_normals
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
