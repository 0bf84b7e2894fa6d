import dataclasses

import msgspec
import numpy as np
import pytest

from sinew.sim.animation.pose import Pose, Warps
from sinew.sim.assets.model import Mesh, Skin
from sinew.sim.characters.deformers.settings import Bend, Bulge, Deformer, Extent, Taper, Twist, Wave
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.characters.skinning import SkinnedMesh
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from tests.gl.skinning_cases import assert_equals_reference, cloud, pose_of, random_pose, random_skin
from tests.model_samples import mesh_of

VERTICES, JOINTS = 3000, 6
LISTS: list[list[Deformer]] = [
    [Bulge()], [Twist()], [Bend()], [Bend(angle=0.2)], [Taper()], [Wave()],
    [Twist(angle=120.0, start=20.0, end=60.0), Bulge(height=6.0), Bend(angle=-40.0), Taper(factor=1.5), Wave()],
]  # fmt: skip


def warped(pose: Pose, mesh: Mesh, deformers: list[Deformer], bones: tuple[int, ...] | None = None) -> Pose:
    extent = Extent(mesh.bounds, is_z_up=False)
    functions = tuple(deformer.function for deformer in deformers)
    values = np.array([deformer.values(extent, 0.3) for deformer in deformers])
    warps = Warps(functions, values, bones or (-1,) * len(deformers), np.zeros(3))
    return msgspec.structs.replace(pose, warps=warps)


def sheet(random: np.random.Generator) -> tuple[Mesh, Skin]:
    mesh = cloud(VERTICES, random, tangents=True)
    corners = np.sort(random.integers(0, VERTICES, (2 * VERTICES, 3)), axis=1).astype(np.uint32)
    return dataclasses.replace(mesh, triangles=corners), random_skin(VERTICES, JOINTS, 4, random)


@pytest.mark.parametrize("deformers", LISTS, ids=lambda case: "+".join(deformer.function for deformer in case))
def test_deformers_before_skinning(context: Context, library: ShaderLibrary, deformers: list[Deformer]) -> None:
    random = np.random.default_rng(8)
    mesh, skin = cloud(VERTICES, random, tangents=True), random_skin(VERTICES, JOINTS, 4, random)
    skinned = SkinnedMesh(context, library, mesh, skin)
    pose = warped(random_pose(JOINTS, random), mesh, deformers)
    assert_equals_reference(skinned, mesh, skin, pose, SkinningMethod.LBS)


def test_deformers_limited_to_a_bone(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(8)
    mesh, skin = sheet(random)
    skinned = SkinnedMesh(context, library, mesh, skin)
    pose = random_pose(JOINTS, random)
    for bones in ((2, -1, 4), (5, 5, 2)):
        posed = warped(pose, mesh, [Twist(angle=60.0), Bulge(height=2.0), Taper(factor=1.3)], bones)
        assert_equals_reference(skinned, mesh, skin, posed, SkinningMethod.LBS)


def box() -> Mesh:
    """A box of hard edges: four vertices a side, so three at every corner."""
    corners, normals, triangles = [], [], []
    for axis in range(3):
        for side in (-1.0, 1.0):
            first, normal = len(corners), side * np.eye(3)[axis]
            for one, other in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                corners.append(normal + one * np.eye(3)[(axis + 1) % 3] + other * np.eye(3)[(axis + 2) % 3])
                normals.append(normal)
            order = (0, 1, 2, 0, 2, 3) if side > 0 else (0, 2, 1, 0, 3, 2)
            triangles += [[first + order[0], first + order[1], first + order[2]],
                          [first + order[3], first + order[4], first + order[5]]]  # fmt: skip
    return mesh_of(corners, triangles, normals=normals)


@pytest.mark.parametrize("before", [[], [Twist(angle=50.0)], [Taper(factor=1.4), Bend(angle=30.0)]])
def test_a_bulge_does_not_tear_hard_edges(context: Context, library: ShaderLibrary, before: list[Deformer]) -> None:
    mesh = box()
    skinned = SkinnedMesh(context, library, mesh, None)
    pose = warped(pose_of(np.zeros((0, 4, 4))), mesh, [*before, Bulge(height=20.0)])
    assert_equals_reference(skinned, mesh, None, pose, SkinningMethod.LBS)
    skinned.skin(pose)
    places = skinned.read()["position"][:, :3]
    _, corner_of = np.unique(mesh.positions, axis=0, return_inverse=True)
    for corner in range(8):
        three = places[corner_of.ravel() == corner]
        assert len(three) == 3
        np.testing.assert_allclose(three, three[:1].repeat(3, axis=0), atol=1e-6)
    if not before:
        moved = places - mesh.positions
        assert (np.linalg.norm(moved, axis=1) > 0.01).all()
        np.testing.assert_allclose(moved / np.linalg.norm(moved, axis=1, keepdims=True),
                                   mesh.positions / np.sqrt(3.0), atol=1e-4)  # fmt: skip
        normals = skinned.read()["normal"][:, :3][corner_of.ravel() == 0]
        assert (np.abs(normals[[0, 1, 2]] - normals[[1, 2, 0]]).max(axis=1) > 0.1).all(), "edges stay hard"
