"""Cylinders along y with two bones that meet at the origin."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.build import build_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.raw import RawBone, RawMesh, RawModel, RawSection, RawSkeleton, RawVertices

AROUND, RADIUS = 24, 0.2


def cylinder(
    rings: int = 41,
    *,
    radius: float = RADIUS,
    place: tuple[float, float, float] = (0.0, 0.0, 0.0),
    scale: float = 1.0,
    weights: npt.NDArray[np.float64] | None = None,
    names: tuple[str, str] = ("lower", "upper"),
    extra: npt.NDArray[np.float64] | None = None,
) -> CharacterModel:
    """Returns a model of rings × `AROUND` vertices; `weights` (V,) are those of the upper bone, `extra` (N, 3, 3)
    loose triangles."""
    angle = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    heights = np.repeat(np.linspace(-1.0, 1.0, rings), AROUND)
    normals = np.tile(np.stack([np.cos(angle), np.zeros(AROUND), np.sin(angle)], axis=1), (rings, 1))
    positions = radius * normals
    positions[:, 1] = heights
    row, column = np.divmod(np.arange((rings - 1) * AROUND), AROUND)
    a, b = row * AROUND + column, row * AROUND + (column + 1) % AROUND
    triangles = np.concatenate([np.stack([a, a + AROUND, b], 1), np.stack([b, a + AROUND, b + AROUND], 1)])
    if extra is not None:
        loose = len(positions) + np.arange(3 * len(extra)).reshape(-1, 3)
        triangles = np.concatenate([triangles, loose])
        positions = np.concatenate([positions, extra.reshape(-1, 3)])
        normals = np.concatenate([normals, np.tile((0.0, 1.0, 0.0), (3 * len(extra), 1))])
    upper = np.zeros(len(positions)) if weights is None else weights
    pair = np.stack([1.0 - upper, upper], axis=1).astype(np.float32)
    where = np.asarray(place)
    vertices: dict[str, npt.NDArray[np.generic]] = {
        "position": (scale * positions + where).astype(np.float32), "normal": normals.astype(np.float32),
        "blendweights": pair, "blendindices": np.tile(np.array([0, 1], np.uint16), (len(positions), 1)),
    }  # fmt: skip
    turn, ones = np.array((0.0, 0.0, 0.0, 1.0)), np.ones(3)
    bones = [
        RawBone(names[0], -1, where + np.array((0.0, -scale, 0.0)), turn, ones),
        RawBone(names[1], 0, np.array((0.0, scale, 0.0)), turn, ones),
    ]
    return build_model(
        RawModel(
            Path("cylinder"), "ezm", "MeshSystem", skeletons=[RawSkeleton("bones", bones)],
            meshes=[
                RawMesh("cylinder", "bones", [RawVertices(len(positions), vertices)], [
                    RawSection("skin", "", 0, triangles.astype(np.uint32))])
            ],
        )
    )  # fmt: skip


def upper_weights(model: CharacterModel) -> npt.NDArray[np.float64]:
    assert model.skin is not None
    return model.skin.weights_of(1)
