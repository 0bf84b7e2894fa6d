import numpy as np

from sinew.sim.animation.pose import Pose
from sinew.sim.assets.model import LocalPose, Mesh, Skin
from sinew.sim.characters import reference
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.characters.skinning import SkinnedMesh
from sinew.sim.maths import quaternion
from sinew.sim.maths.transform import compose
from tests.model_samples import mesh_of

POSITION_TOLERANCE = 1e-5  # largest error of a position, as a part of the extent of the mesh
DIRECTION_TOLERANCE = 1e-4
"""Largest error of a component of a unit vector: single precision, and blends that nearly cancel."""


def cloud(vertex_count: int, random: np.random.Generator, *, tangents: bool = False) -> Mesh:
    positions = random.normal(size=(vertex_count, 3)).astype(np.float32)
    normals = quaternion.normalised(random.normal(size=(vertex_count, 3)))
    along = quaternion.normalised(random.normal(size=(vertex_count, 3)))
    signs = random.choice([-1.0, 1.0], (vertex_count, 1))
    return mesh_of(positions, normals=normals, tangents=np.hstack([along, signs]) if tangents else None)


def random_skin(vertex_count: int, joint_count: int, influences: int, random: np.random.Generator) -> Skin:
    """Random joints and weights, strongest first, the first one clearly so; padded to 4 or 8."""
    width = 4 if influences <= 4 else 8
    weights = np.zeros((vertex_count, width))
    weights[:, :influences] = np.sort(random.uniform(0.1, 1.0, (vertex_count, influences)), axis=1)[:, ::-1]
    weights[:, 0] *= 1.5
    weights /= weights.sum(axis=1, keepdims=True)
    joints = np.zeros((vertex_count, width), np.uint16)
    joints[:, :influences] = random.integers(0, joint_count, (vertex_count, influences))
    return Skin(joints, weights.astype(np.float32), influences)


def pose_of(matrices: np.ndarray, centres: np.ndarray | None = None) -> Pose:
    count = len(matrices)
    local = LocalPose(np.zeros((count, 3)), np.tile(quaternion.IDENTITY, (count, 1)), np.ones((count, 3)))
    return Pose(local, matrices, matrices, np.zeros((count, 3)) if centres is None else centres)


def random_pose(
    joint_count: int, random: np.random.Generator, *, spread: float = 0.6, scale: tuple[float, float] = (1.0, 1.0)
) -> Pose:
    turns = np.concatenate([spread * random.uniform(-1, 1, (joint_count, 3)), np.ones((joint_count, 1))], axis=1)
    common = quaternion.normalised(random.normal(size=4))
    orientations = quaternion.multiply(np.tile(common, (joint_count, 1)), quaternion.normalised(turns))
    matrices = compose(random.normal(size=(joint_count, 3)), orientations, random.uniform(*scale, (joint_count, 3)))
    return pose_of(matrices, random.normal(size=(joint_count, 3)))


def assert_equals_reference(
    skinned: SkinnedMesh, mesh: Mesh, skin: Skin | None, pose: Pose, method: SkinningMethod
) -> None:
    skinned.skin(pose, method)
    got = skinned.read()
    weights = None if mesh.targets is None else pose.local.weights
    expected = reference.skin(mesh, skin, pose.palette, method, pose.centres, weights, pose.warps)
    assert got.shape == (mesh.vertex_count,)
    extent = max(mesh.bounds.extent, float(np.ptp(expected.positions, axis=0).max()))
    np.testing.assert_allclose(got["position"][:, :3], expected.positions, rtol=0, atol=POSITION_TOLERANCE * extent)
    np.testing.assert_allclose(got["normal"][:, :3], expected.normals, rtol=0, atol=DIRECTION_TOLERANCE)
    assert (got["position"][:, 3] == 1.0).all()
    assert (got["normal"][:, 3] == 0.0).all()
    assert ("tangent" in (got.dtype.names or ())) == (expected.tangents is not None)
    if expected.tangents is not None:
        np.testing.assert_allclose(got["tangent"], expected.tangents, rtol=0, atol=DIRECTION_TOLERANCE)
