"""Morph targets on the GPU, before skinning in the same pass, against the reference in double precision."""

import dataclasses

import msgspec
import numpy as np
import pytest

from sinew.sim.animation.pose import Pose
from sinew.sim.assets.model import Mesh, Targets
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.characters.skinning import SkinnedMesh
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from tests.gl.skinning_cases import assert_equals_reference, cloud, random_pose, random_skin

VERTICES, JOINTS = 4000, 10
RUNS = [(0, VERTICES), (0, 1), (VERTICES - 1, 1), (100, 700), (500, 2000), (3000, 1000)]


def morphing(random: np.random.Generator, *, tangents: bool) -> Mesh:
    """A cloud with targets that overlap; two of them share a weight."""
    firsts, counts = np.array(RUNS, np.int32).T
    starts = (np.cumsum(counts) - counts).astype(np.int32)
    deltas = np.zeros((int(counts.sum()), 3 if tangents else 2, 4), np.float32)
    deltas[..., :3] = 0.5 * random.normal(size=(*deltas.shape[:2], 3))
    names = tuple("abcde")
    targets = Targets(
        firsts, counts, starts, np.array([0, 1, 2, 3, 4, 3], np.int32), deltas, names, np.zeros(len(names))
    )
    return dataclasses.replace(cloud(VERTICES, random, tangents=tangents), targets=targets)


def weighed(pose: Pose, weights: list[float]) -> Pose:
    """The pose with weights of the targets."""
    return msgspec.structs.replace(pose, local=msgspec.structs.replace(pose.local, weights=np.array(weights)))


@pytest.mark.parametrize("tangents", [False, True])
@pytest.mark.parametrize("method", SkinningMethod)
def test_targets_act_before_joints(
    context: Context, library: ShaderLibrary, method: SkinningMethod, tangents: bool
) -> None:
    random = np.random.default_rng(4)
    mesh, skin = morphing(random, tangents=tangents), random_skin(VERTICES, JOINTS, 4, random)
    skinned = SkinnedMesh(context, library, mesh, skin)
    for weights in ([0.0] * 5, [1.0, 0, 0, 0, 0], [0.3, 1.0, -1.0, 0.25, 0.5], [-0.5, 2.0, 0, 1e-9, 1.5]):
        assert_equals_reference(skinned, mesh, skin, weighed(random_pose(JOINTS, random), weights), method)


def test_targets_without_weight_change_no_bit(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(4)
    mesh, skin = morphing(random, tangents=False), random_skin(VERTICES, JOINTS, 4, random)
    plain = SkinnedMesh(context, library, dataclasses.replace(mesh, targets=None), skin)
    skinned = SkinnedMesh(context, library, mesh, skin)
    pose = random_pose(JOINTS, random)
    plain.skin(pose)
    skinned.skin(weighed(pose, [0.0] * 5))
    np.testing.assert_array_equal(skinned.read()["position"], plain.read()["position"])
