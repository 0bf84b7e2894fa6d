from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.model import CharacterModel, Mesh
from sinew.sim.kinds.contract import Service
from sinew.sim.maths.arrays import Float64, UInt8, UInt32
from sinew.sim.maths.points import triangle_areas
from sinew.sim.memo import same_objects
from sinew.sim.scene.params import SettingsError
from sinew.sim.skin.scalp import scalp

_WHOLE = 2.0**32 - 1.0


def face_table(
    positions: npt.ArrayLike,
    triangles: npt.ArrayLike,
    density: npt.ArrayLike | None = None,
    face_density: npt.ArrayLike | None = None,
) -> UInt32:
    """Returns threshold and corners of each face that emits, shape (F, 4), by area times density.

    Args:
        positions: Vertices in the bind pose [m], shape (V, 3).
        triangles: Shape (F, 3).
        density: Of every vertex, shape (V,), not negative; a face has the mean of its corners.
        face_density: Of every face, shape (F,), not negative; both are multiplied.

    Raises:
        SettingsError: If no face has an area and a density.
    """
    corners = np.asarray(triangles, np.int64).reshape(-1, 3)
    weights = triangle_areas(positions, corners)
    if density is not None:
        weights = weights * _checked(density)[corners].mean(axis=1)
    if face_density is not None:
        weights = weights * _checked(face_density)
    return _table(corners, weights, "no face with an area is left")


def vertex_table(vertex_count: int, density: npt.ArrayLike | None = None) -> UInt32:
    """Returns a `face_table` in which each vertex is a face with three equal corners, chosen by its density.

    Raises:
        SettingsError: If no vertex has a density.
    """
    weights = np.ones(vertex_count) if density is None else _checked(density)
    corners = np.repeat(np.arange(vertex_count)[:, None], 3, axis=1)
    return _table(corners, weights, "no vertex of the surface is left")


def texture_density(pixels: npt.NDArray[np.generic], texcoords: npt.ArrayLike) -> Float64:
    """Returns the brightness at each vertex, 0 to 1, shape (V,).

    Args:
        pixels: 8-bit image, shape (height, width) or (height, width, channels); of four channels alpha is ignored.
        texcoords: Shape (V, 2); v = 0 is row 0, the image repeats.
    """
    place = np.asarray(texcoords, np.float64) % 1.0
    height, width = pixels.shape[:2]
    rows = np.minimum((place[:, 1] * height).astype(np.intp), height - 1)
    columns = np.minimum((place[:, 0] * width).astype(np.intp), width - 1)
    # An image has more pixels than are sampled: only those are converted.
    samples = pixels[rows, columns].astype(np.float64) / 255.0
    density: Float64 = samples[:, :3].mean(axis=1) if samples.ndim == 2 else samples
    return density


def triangle_shares(random: Float64) -> Float64:
    """Returns shares of the corners of a triangle (N, 3), uniform over its area.

    Source: R. Osada et al. 2002, "Shape distributions", eq. 1.
    """
    root = np.sqrt(random[:, 0])
    return np.stack([1.0 - root, root * (1.0 - random[:, 1]), root * random[:, 1]], axis=1)


def face_at(thresholds: UInt32, bits: UInt32) -> npt.NDArray[np.intp]:
    return np.minimum(np.searchsorted(thresholds, bits, side="right"), len(thresholds) - 1)


def _checked(density: npt.ArrayLike) -> Float64:
    values = np.asarray(density, np.float64)
    if not np.all(np.isfinite(values)) or np.any(values < 0.0):
        raise SettingsError("densities must be finite and not negative")
    return values


def _table(corners: npt.NDArray[np.int64], weights: Float64, empty: str) -> UInt32:
    emitting = np.isfinite(weights) & (weights > 0.0)
    cached, total = weights[emitting], np.sum(weights[emitting])
    if not total > 0.0:
        raise SettingsError(empty)
    out = np.empty((len(cached), 4), np.uint32)
    out[:, 0] = np.rint(np.cumsum(cached / total).clip(0.0, 1.0) * _WHOLE)
    out[-1, 0] = _WHOLE
    out[:, 1:] = corners[emitting]
    return out


_SAMPLES = np.array([[2, 2, 2], [4, 1, 1], [1, 4, 1], [1, 1, 4], [4, 4, 1], [1, 4, 4], [4, 1, 4]], np.float64)
SAMPLES = _SAMPLES / _SAMPLES.sum(axis=1, keepdims=True)
"""Positions of image samples within a face, as shares of its corners."""


def surface_table(
    model: CharacterModel,
    vertices: bool = False,
    bone: str = "",
    pixels: UInt8 | None = None,
    is_bottom_up: bool = False,
    section: str = "",
    scalp_up: str = "",
) -> UInt32:
    """Returns the `face_table` of a model in its bind pose, shape (F, 4).

    Args:
        vertices: Emit from vertices, not from faces by their areas.
        bone: Joint whose weights are the density; everywhere if it is missing.
        pixels: Image whose brightness is the density, shape (height, width, channels), row 0 at the top.
        is_bottom_up: Texture coordinate v = 0 is the bottom row of the image.
        section: The only section that emits; all if it is missing.
        scalp_up: Axis of the file that points up, to emit only from the scalp; "" for everywhere.

    Raises:
        SettingsError: If nothing emits.
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
    """Returns the area in the bind pose [m²], weighted by a joint or limited to a section.

    Args:
        within: Share of every vertex that counts, shape (V,); None for 1.
    """
    mesh = model.mesh
    areas = triangle_areas(mesh.positions @ world_from_model[:3, :3].T, mesh.triangles)
    weights, chosen = _product(bone_density(model, bone), within), section_faces(mesh, section)
    if weights is not None:
        areas = areas * weights[mesh.triangles].mean(axis=1)
    return float((areas if chosen is None else areas * chosen).sum())


def bone_density(model: CharacterModel, bone: str) -> Float64 | None:
    """Returns the weight of a joint at every vertex, shape (V,); None if the joint is missing."""
    if model.skeleton is None or model.skin is None or bone not in model.skeleton.names:
        return None
    return model.skin.weights_of(model.skeleton.index(bone))


def section_faces(mesh: Mesh, section: str) -> Float64 | None:
    """Returns 1 for faces of sections with this name and 0 for others, shape (F,); None without any."""
    ranges = [part for part in mesh.sections if section and part.name == section]
    if not ranges:
        return None
    out = np.zeros(mesh.triangle_count)
    for part in ranges:
        out[part.first_triangle : part.first_triangle + part.triangle_count] = 1.0
    return out


def face_brightness(pixels: UInt8, corners: Float64) -> Float64:
    """Returns the mean brightness of an image within faces, 0 to 1, shape (F,).

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


class TableKey(NamedTuple):
    """Arguments of `surface_table`; models and images are compared by identity."""

    model: CharacterModel
    vertices: bool = False
    bone: str = ""
    pixels: UInt8 | None = None
    is_bottom_up: bool = False
    section: str = ""
    scalp_up: str = ""


class SurfaceTables(Service):
    """Tables of surfaces; users with equal keys share one."""

    def __init__(self, *_: object) -> None:
        self._tables: dict[object, tuple[TableKey, UInt32]] = {}

    def table(self, user: object, key: TableKey) -> UInt32:
        """Returns the table of a user, the same array until the key changes.

        Raises:
            SettingsError: If nothing emits.
        """
        own = self._tables.get(user)
        if own is not None and same_objects(own[0], key):
            return own[1]
        equal = (table for other, table in self._tables.values() if same_objects(other, key))
        table = next(equal, None)
        self._tables[user] = key, surface_table(*key) if table is None else table
        return self._tables[user][1]

    def forget(self, user: object) -> None:
        self._tables.pop(user, None)
