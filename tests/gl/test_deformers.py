"""Deformers on the GPU, between morph targets and joints, against the reference in double precision."""

import dataclasses

import msgspec
import numpy as np
import pytest

from sim.assets.model import Mesh, Skin
from sim.figures.deformers.settings import Bend, Bulge, Deformer, Extent, Taper, Twist, Wave
from sim.figures.settings import SkinningMethod
from sim.figures.skinning import SkinnedMesh
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.jobs.pose import Pose, Warps
from tests.gl.skinning_cases import assert_equals_reference, cloud, pose_of, random_pose, random_skin

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
    """A cloud whose faces join neighbours in space, so that weights have slopes."""
    mesh = cloud(VERTICES, random, tangents=True)
    corners = np.sort(random.integers(0, VERTICES, (2 * VERTICES, 3)), axis=1).astype(np.uint32)
    return dataclasses.replace(mesh, triangles=corners), random_skin(VERTICES, JOINTS, 4, random)


@pytest.mark.parametrize("deformers", LISTS, ids=lambda case: "+".join(deformer.function for deformer in case))
def test_deformers_act_before_joints(context: Context, library: ShaderLibrary, deformers: list[Deformer]) -> None:
    random = np.random.default_rng(8)
    mesh, skin = cloud(VERTICES, random, tangents=True), random_skin(VERTICES, JOINTS, 4, random)
    skinned = SkinnedMesh(context, library, mesh, skin)
    pose = warped(random_pose(JOINTS, random), mesh, deformers)
    assert_equals_reference(skinned, mesh, skin, pose, SkinningMethod.LBS)


def test_a_bone_says_where_they_act(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(8)
    mesh, skin = sheet(random)
    skinned = SkinnedMesh(context, library, mesh, skin)
    pose = random_pose(JOINTS, random)
    for bones in ((2, -1, 4), (5, 5, 2)):
        posed = warped(pose, mesh, [Twist(angle=60.0), Bulge(height=2.0), Taper(factor=1.3)], bones)
        assert_equals_reference(skinned, mesh, skin, posed, SkinningMethod.LBS)


def test_models_without_joints_are_deformed_and_return_to_rest(context: Context, library: ShaderLibrary) -> None:
    mesh = cloud(VERTICES, np.random.default_rng(8))
    skinned = SkinnedMesh(context, library, mesh, None)
    rest = pose_of(np.zeros((0, 4, 4)))
    assert_equals_reference(skinned, mesh, None, warped(rest, mesh, LISTS[-1]), SkinningMethod.LBS)
    skinned.skin(rest)
    np.testing.assert_array_equal(skinned.read()["position"][:, :3], mesh.positions)
