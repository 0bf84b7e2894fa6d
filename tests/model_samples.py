from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sinew.sim.assets.model import Bounds, CharacterModel, Clip, Material, Mesh, Section


def mesh_of(
    positions: ArrayLike,
    triangles: ArrayLike = (),
    *,
    normals: ArrayLike | None = None,
    tangents: ArrayLike | None = None,
    texcoords: ArrayLike | None = None,
    material: int = -1,
) -> Mesh:
    """One section, where there are triangles; normals towards +z and texture coordinates 0 unless given."""
    places = np.asarray(positions, np.float32).reshape(-1, 3)
    count = len(places)
    ends = (places.min(axis=0), places.max(axis=0)) if count else np.zeros((2, 3))
    faces = np.asarray(triangles, np.uint32).reshape(-1, 3)
    return Mesh(
        positions=places,
        normals=np.asarray(np.tile([0.0, 0.0, 1.0], (count, 1)) if normals is None else normals, np.float32),
        tangents=None if tangents is None else np.asarray(tangents, np.float32),
        texcoords=np.asarray(np.zeros((count, 2)) if texcoords is None else texcoords, np.float32),
        colours=None,
        triangles=faces,
        sections=(Section("all", material, 0, len(faces)),) if len(faces) else (),
        bounds=Bounds(*(np.asarray(end, np.float64) for end in ends)),
    )


def model_of(
    mesh: Mesh, *, clips: Sequence[Clip] = (), materials: Sequence[Material] = (), **fields: Any
) -> CharacterModel:
    """Other fields of `CharacterModel` may be given."""
    made = {
        "path": Path("made.ezm"), "format": "ezm", "dialect": None, "asset_name": "made", "skeleton": None,
        "skin": None, "default_up_axis": "y", "default_texture_origin": "bottom", "warnings": (),
    }  # fmt: skip
    return CharacterModel(mesh=mesh, clips=tuple(clips), materials=tuple(materials), **(made | fields))
