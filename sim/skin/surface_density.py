"""Where on a model's surface particles start: its table, by a bone's weights and the brightness of an image."""

import numpy as np
import numpy.typing as npt

from sim.assets.model import CharacterModel, Mesh
from sim.scene.params import SettingsError
from sim.skin.scalp import scalp
from sim.skin.surface_table import face_areas, face_table, texture_density, vertex_table

Float64 = npt.NDArray[np.float64]
UInt8 = npt.NDArray[np.uint8]
UInt32 = npt.NDArray[np.uint32]

_SAMPLES = np.array([[2, 2, 2], [4, 1, 1], [1, 4, 1], [1, 1, 4], [4, 4, 1], [1, 4, 4], [4, 1, 4]], np.float64)
SAMPLES = _SAMPLES / _SAMPLES.sum(axis=1, keepdims=True)
"""Places within a face at which the image is looked at, as shares of its corners."""


def surface_table(
    model: CharacterModel,
    *,
    vertices: bool = False,
    bone: str = "",
    section: str = "",
    pixels: UInt8 | None = None,
    is_bottom_up: bool = False,
    scalp_up: str = "",
) -> UInt32:
    """Thresholds and corners of what emits of a model in its bind pose, shape (F, 4), as `face_table` makes them.

    Args:
        model: The model.
        vertices: Whether vertices emit, not faces by their areas.
        bone: Joint whose weights are the density; everywhere for one that is not there.
        section: Section that counts alone; all for one that is not there.
        pixels: Image whose brightness is the density, shape (height, width, channels), row 0 at the top.
        is_bottom_up: Whether texture coordinate v = 0 is the bottom row of the image.
        scalp_up: Axis of the file that points up, where the scalp emits alone, see `sim.skin.scalp`; "" for everywhere.

    Raises:
        SettingsError: If nothing is left that emits.
    """
    mesh = model.mesh
    weights = bone_density(model, bone)
    if scalp_up:
        weights = _product(weights, scalp(model, scalp_up))
    texcoords = mesh.texcoords.astype(np.float64)
    if is_bottom_up:
        texcoords[:, 1] = 1.0 - texcoords[:, 1]
    chosen_faces = section_faces(mesh, section)
    try:
        if vertices:
            shades = None if pixels is None else texture_density(pixels, texcoords)
            if chosen_faces is not None:
                within = np.zeros(mesh.vertex_count)
                within[mesh.triangles[chosen_faces > 0.0]] = 1.0
                weights = _product(weights, within)
            return vertex_table(mesh.vertex_count, _product(weights, shades))
        shades = None if pixels is None else face_brightness(pixels, texcoords[mesh.triangles])
        return face_table(mesh.positions, mesh.triangles, weights, _product(shades, chosen_faces))
    except SettingsError as error:
        chosen = (
            [f"section {section!r}"] * (chosen_faces is not None)
            + [f"bone {bone!r}"] * (weights is not None)
            + ["the image"] * (pixels is not None)
        )
        by = f" where {' and '.join(chosen)} would have it" if chosen else ""
        raise SettingsError(f"{error}{by}") from None


def skin_area(
    model: CharacterModel,
    world_from_model: Float64,
    *,
    bone: str = "",
    section: str = "",
    within: Float64 | None = None,
) -> float:
    """Area of the skin of a model in its bind pose [m²], or as much of it as a joint moves, or a section has.

    Args:
        within: Share of every vertex that counts, shape (V,); None for 1.
    """
    mesh = model.mesh
    areas = face_areas(mesh.positions @ world_from_model[:3, :3].T, mesh.triangles)
    weights, chosen = _product(bone_density(model, bone), within), section_faces(mesh, section)
    if weights is not None:
        areas = areas * weights[mesh.triangles].mean(axis=1)
    return float((areas if chosen is None else areas * chosen).sum())


def bone_density(model: CharacterModel, bone: str) -> Float64 | None:
    """Weight of a joint at every vertex, shape (V,); None for a joint that is not there."""
    if model.skeleton is None or model.skin is None or bone not in model.skeleton.names:
        return None
    return model.skin.weights_of(model.skeleton.index(bone))


def section_faces(mesh: Mesh, section: str) -> Float64 | None:
    """1 for faces of the sections of a name and 0 for others, shape (F,); None where there is none of that name."""
    ranges = [part for part in mesh.sections if section and part.name == section]
    if not ranges:
        return None
    out = np.zeros(mesh.triangle_count)
    for part in ranges:
        out[part.first_triangle : part.first_triangle + part.triangle_count] = 1.0
    return out


def face_brightness(pixels: UInt8, corners: Float64) -> Float64:
    """Mean brightness of an image within faces, 0 to 1, shape (F,).

    Args:
        pixels: As `texture_density` takes them.
        corners: Texture coordinates of the corners, shape (F, 3, 2); v = 0 is row 0.
    """
    total = np.zeros(len(corners))
    for shares in SAMPLES:
        total += texture_density(pixels, np.einsum("c,fck->fk", shares, corners))
    return total / len(SAMPLES)


def _product(first: Float64 | None, second: Float64 | None) -> Float64 | None:
    if first is None or second is None:
        return second if first is None else first
    return first * second
