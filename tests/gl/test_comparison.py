import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

from sinew.sim.animation.pose import Pose
from sinew.sim.assets.model import Mesh, Skin
from sinew.sim.characters.comparison import INTERVAL, MethodComparison
from sinew.sim.characters.reference import enclosed_volume, method_difference
from sinew.sim.characters.reference import skin as reference_skin
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.characters.skinning import SkinnedMesh
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.maths.transform import compose
from tests.gl.skinning_cases import cloud, pose_of
from tests.model_samples import mesh_of

LBS, DQS = SkinningMethod.LBS, SkinningMethod.DQS
RINGS, SIDES = 9, 12


def tube() -> tuple[Mesh, Skin]:
    """A closed tube along x, bent in its middle by two joints with weights that pass evenly from one to the other."""
    x, angle = np.linspace(-2.0, 2.0, RINGS), np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    grid_x, grid_angle = np.meshgrid(x, angle, indexing="ij")
    sides = np.stack([grid_x, np.cos(grid_angle), np.sin(grid_angle)], axis=-1).reshape(-1, 3)
    positions = np.concatenate([sides, [[-2.0, 0.0, 0.0], [2.0, 0.0, 0.0]]]).astype(np.float32)
    triangles = []
    for ring in range(RINGS - 1):
        for side in range(SIDES):
            a, b = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
            triangles += [(a, b, a + SIDES), (b, b + SIDES, a + SIDES)]
    left, right, last = RINGS * SIDES, RINGS * SIDES + 1, (RINGS - 1) * SIDES
    for side in range(SIDES):
        triangles += [(left, (side + 1) % SIDES, side), (right, last + side, last + (side + 1) % SIDES)]
    mesh = mesh_of(positions, triangles)
    second = np.clip(positions[:, 0] / 4.0 + 0.5, 0.0, 1.0)
    weights = np.zeros((len(positions), 4), np.float32)
    joints = np.zeros((len(positions), 4), np.uint16)
    stronger = second > 0.5
    weights[:, 0], weights[:, 1] = np.where(stronger, second, 1 - second), np.where(stronger, 1 - second, second)
    joints[:, 0], joints[:, 1] = stronger, ~stronger
    return mesh, Skin(joints, weights, 2)


def twisted(angle: float) -> Pose:
    orientations = np.array([[0, 0, 0, 1], [np.sin(angle / 2), 0, 0, np.cos(angle / 2)]])
    return pose_of(compose(np.zeros((2, 3)), orientations, np.ones((2, 3))))


class Pair:
    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self.context = context
        self.mesh, self.influences = tube()
        self.lbs = SkinnedMesh(context, library, self.mesh, self.influences)
        self.dqs = SkinnedMesh(context, library, self.mesh, self.influences)
        self.comparison = MethodComparison(context, self.mesh, self.lbs, self.dqs)

    def pose(self, pose: Pose) -> None:
        self.lbs.skin(pose, LBS)
        self.dqs.skin(pose, DQS)

    def arrived(self, now: float) -> bool:
        first = self.comparison.poll(now)
        self.context.finish()
        return first or self.comparison.poll(now)


@pytest.fixture
def pair(context: Context, library: ShaderLibrary) -> Iterator[Pair]:
    made = Pair(context, library)
    yield made
    for owned in (made.comparison, made.lbs, made.dqs, made.comparison):
        owned.release()


def test_statistics_are_those_of_the_reference(pair: Pair) -> None:
    pose = twisted(np.radians(150.0))
    pair.pose(pose)
    assert pair.comparison.statistics is None
    assert pair.arrived(0.0)
    got = pair.comparison.statistics
    assert got is not None
    lbs = reference_skin(pair.mesh, pair.influences, pose.palette, LBS).positions
    dqs = reference_skin(pair.mesh, pair.influences, pose.palette, DQS).positions
    expected = method_difference(lbs, dqs)
    assert (got.maximum, got.mean) == pytest.approx((expected.maximum, expected.mean), rel=1e-5)
    assert np.linalg.norm(lbs - dqs, axis=1)[got.vertex] == pytest.approx(expected.maximum, rel=1e-5)
    assert got.bind_volume == pytest.approx(enclosed_volume(pair.mesh.positions, pair.mesh.triangles))
    # 12-sided prism of length 4: area of the polygon times the length.
    assert got.bind_volume == pytest.approx(4.0 * 0.5 * SIDES * np.sin(2.0 * np.pi / SIDES), rel=1e-6)
    assert got.lbs_volume == pytest.approx(enclosed_volume(lbs, pair.mesh.triangles), rel=1e-5)
    assert got.dqs_volume == pytest.approx(enclosed_volume(dqs, pair.mesh.triangles), rel=1e-5)
    assert got.lbs_volume_change < -0.3, "a twist collapses the tube when matrices are blended"
    assert abs(got.dqs_volume_change) < 0.1


def test_the_bind_pose_has_no_difference(pair: Pair) -> None:
    assert pair.arrived(0.0)
    got = pair.comparison.statistics
    assert got is not None
    assert (got.maximum, got.mean, got.lbs_volume_change) == (0.0, 0.0, 0.0)


def test_statistics_are_measured_again_after_an_interval_if_the_pose_changed(pair: Pair) -> None:
    pair.pose(twisted(1.0))
    assert pair.arrived(0.0)
    assert not pair.arrived(100.0)
    pair.pose(twisted(2.0))
    assert pair.arrived(200.0)
    pair.pose(twisted(3.0))
    assert not pair.arrived(200.0 + 0.5 * INTERVAL)


def test_an_empty_mesh_has_empty_statistics(context: Context, library: ShaderLibrary) -> None:
    empty = np.zeros((0, 3), np.float32)
    mesh = dataclasses.replace(cloud(1, np.random.default_rng(2)), positions=empty, normals=empty)
    skinned = SkinnedMesh(context, library, mesh, None)
    comparison = MethodComparison(context, mesh, skinned, skinned)
    context.finish()
    assert comparison.poll(0.0) or comparison.poll(0.0)
    assert comparison.statistics is not None
    assert (comparison.statistics.maximum, comparison.statistics.lbs_volume_change) == (0.0, 0.0)
