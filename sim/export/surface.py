"""A posed mesh ready to be written: what every export format needs, and nothing of how it was made."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.assets.model import CharacterModel

Float32 = npt.NDArray[np.float32]
UInt32 = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Surface:
    """A triangle mesh at one moment, in file order and file space.

    Attributes:
        name: Name of the mesh.
        positions: shape (V, 3).
        normals: Unit vectors, shape (V, 3).
        texcoords: v = 0 at the bottom row of the image, shape (V, 2).
        triangles: Counter-clockwise from outside, shape (T, 3).
        ranges: Material name, first triangle and triangle count of each section, in file order.
    """

    name: str
    positions: Float32
    normals: Float32
    texcoords: Float32
    triangles: UInt32
    ranges: tuple[tuple[str, int, int], ...]


def surface_of(model: CharacterModel, positions: Float32, normals: Float32) -> Surface:
    """The mesh of `model` with other positions and normals, as skinning gives them, both (V, 3)."""
    mesh = model.mesh
    texcoords = mesh.texcoords
    if model.default_texture_origin == "top":
        texcoords = np.column_stack((texcoords[:, 0], np.float32(1.0) - texcoords[:, 1]))
    ranges = tuple(
        (_material_name(model, part.material, part.name), part.first_triangle, part.triangle_count)
        for part in mesh.sections
    )
    return Surface(model.path.stem, positions, normals, texcoords, mesh.triangles, ranges)


def _material_name(model: CharacterModel, index: int, fallback: str) -> str:
    return model.materials[index].name if index >= 0 else fallback
