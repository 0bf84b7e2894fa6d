"""Cloth surfaces. Vertices at one position are one particle: files split them at seams, where cloth must not rip."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.model import CharacterModel, Mesh
from sinew.sim.characters.playing import up_axis, world_from_model
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.maths.arrays import Float32, Float64, UInt32
from sinew.sim.maths.quaternion import degrees_from_matrix
from sinew.sim.scene.params import SettingsError
from sinew.sim.scene.scene import Node
from sinew.sim.scene.transform import Transform, node_matrix

_WELD = 1e-4
"""Part of the extent; vertices nearer than this, rounded to a lattice, are the same particle.

Real garments have slivers a thousandth of a millimetre wide, whose threads no time step could handle.
"""


@dataclass(frozen=True, slots=True)
class ClothSurface:
    positions: Float64  # Vertices [m], shape (V, 3)
    texcoords: Float32  # shape (V, 2)
    triangles: UInt32  # Corners, shape (T, 3)
    rows: int = 0  # Rows of the particles of a garment, from its top edge down; 0 for other meshes


@dataclass(frozen=True, slots=True)
class WeldedSurface:
    positions: Float64  # Particles [m], shape (P, 3)
    triangles: UInt32  # Corners as particles, without degenerate triangles, shape (T', 3)
    particle_of_vertex: npt.NDArray[np.int32]  # shape (V,)


def surface_of_mesh(mesh: Mesh, section: str = "", *, name: str = "mesh") -> ClothSurface:
    """Returns triangles of a mesh, or of one of its sections, with the vertices they use.

    Args:
        section: Empty for all of the mesh.
        name: Name of the mesh in error messages.

    Raises:
        SettingsError: If the section is missing, or has no triangles.
    """
    triangles = section_triangles(mesh, section, name=name)
    used, corners = np.unique(triangles, return_inverse=True)
    return ClothSurface(
        mesh.positions[used].astype(np.float64),
        np.ascontiguousarray(mesh.texcoords[used], np.float32),
        corners.reshape(-1, 3).astype(np.uint32),
    )


def section_triangles(mesh: Mesh, section: str = "", *, name: str = "mesh") -> UInt32:
    """Returns triangles, shape (T, 3); raises the errors of `surface_of_mesh`."""
    triangles = mesh.triangles
    if section:
        sections = [part for part in mesh.sections if part.name == section]
        if not sections:
            known = ", ".join(part.name for part in mesh.sections) or "none"
            raise SettingsError(f"{name}: no section {section!r}; it has {known}")
        ranges = [triangles[part.first_triangle : part.first_triangle + part.triangle_count] for part in sections]
        triangles = np.concatenate(ranges)
    if not len(triangles):
        raise SettingsError(f"{name}: no triangles to make a cloth of")
    return triangles


def weld(surface: ClothSurface) -> WeldedSurface:
    positions = surface.positions
    lo = positions.min(axis=0)
    extent = max(float((positions - lo).max()), np.finfo(np.float64).tiny)
    keys = np.rint((positions - lo) / (extent * _WELD)).astype(np.int64)
    _, first, particle = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    # Particles in the order in which the file names them first, so that their numbers stay near the vertex numbers.
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    particle_of_vertex = rank[particle.ravel()].astype(np.int32)
    triangles = particle_of_vertex[surface.triangles].astype(np.uint32)
    whole = (
        (triangles[:, 0] != triangles[:, 1])
        & (triangles[:, 1] != triangles[:, 2])
        & (triangles[:, 2] != triangles[:, 0])
    )
    return WeldedSurface(positions[first[order]], triangles[whole], particle_of_vertex)


_SHORTEST = 1e-12


def placed_as_model(node: Node, model: CharacterModel) -> Transform:
    """Returns the transform of a mesh at the bind pose of a model node, with unit scale and up axis.

    Raises:
        ValueError: If the scale of the node is zero.
    """
    settings = node.settings
    assert isinstance(settings, ModelSettings)
    placement = world_from_model(settings, model, node_matrix(node.transform))
    # Turning z up swaps the axes that the scale of the node belongs to.
    x, y, z = node.transform.scale
    scale = np.array([x, z, y] if up_axis(settings, model) == "z" else [x, y, z]) * settings.unit_scale
    if np.abs(scale).min() < _SHORTEST:
        raise ValueError(f"{node.name} is scaled to nothing")
    rotation = degrees_from_matrix(placement[:3, :3] / scale)
    return Transform(position=_vector(placement[:3, 3]), rotation=rotation, scale=_vector(scale))


def _vector(values: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
