"""Boxes of what joints move: they hold the posed mesh."""

import numpy as np
import pytest

from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.clip import UniformClip
from sinew.sim.assets.influences import joint_boxes, weighted_vertex_counts
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Bounds, CharacterModel, Mesh, Skeleton, Skin
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.maths import quaternion

MODELS = ["dude/dude.ezm", "character/character.ezm", "clothsim_zup/ClothSim.ezm", "export/export.ezm"]


def posed_box(model: CharacterModel, palette: np.ndarray) -> Bounds:
    joints, corners = joint_boxes(model.mesh, model.skin)
    matrices = palette[joints]
    points = np.einsum("jab,jcb->jca", matrices[:, :3, :3], corners) + matrices[:, None, :3, 3]
    return Bounds(points.min(axis=(0, 1)), points.max(axis=(0, 1)))


def wild_clip(skeleton: Skeleton) -> UniformClip:
    """Every joint turned by up to about 40 degrees."""
    random = np.random.default_rng(8)
    turns = random.uniform(-0.3, 0.3, (3, skeleton.joint_count, 4))
    turns[..., 3] = 1.0
    orientations = quaternion.multiply(skeleton.bind_orientations, quaternion.normalised(turns))
    positions, scales = (np.stack([keys] * 3) for keys in (skeleton.bind_positions, skeleton.bind_scales))
    return UniformClip("wild", 1.0, positions, orientations, scales)


@pytest.mark.parametrize("name", MODELS)
def test_the_boxes_hold_the_mesh_skinned_linearly(assets, name):
    """And by dual quaternions, which could swing out of the joints' images, but do not in real poses."""
    model = load_model(assets / "ezm" / name)
    extent = model.mesh.bounds.extent
    clip = model.clips[0] if model.clips else wild_clip(model.skeleton)
    for share in (0.0, 0.13, 0.37, 0.61, 0.88, 1.0):
        pose = evaluate_pose(model, clip, share * clip.duration)
        box = posed_box(model, pose.palette)
        for method in (SkinningMethod.LBS, SkinningMethod.DQS):
            positions = skin(model.mesh, model.skin, pose.palette, method).positions
            assert (positions >= box.lo - 1e-6 * extent).all()
            assert (positions <= box.hi + 1e-6 * extent).all()


@pytest.mark.parametrize("name", MODELS)
def test_in_the_bind_pose_the_boxes_fit_tightly(assets, name):
    model = load_model(assets / "ezm" / name)
    box = posed_box(model, np.tile(np.eye(4), (model.skeleton.joint_count, 1, 1)))
    weighted = model.mesh.positions[model.skin.weights.sum(axis=1) > 0.0]
    np.testing.assert_allclose(box.lo, weighted.min(axis=0), atol=1e-12)
    np.testing.assert_allclose(box.hi, weighted.max(axis=0), atol=1e-12)


@pytest.fixture
def skinned() -> tuple[Mesh, Skin]:
    """Four points, the joints 2 and 0; weight 0 in the padding belongs to nobody."""
    positions = np.array([[0, 0, 0], [1, 2, 3], [-1, 5, 0], [4, 4, 4]], np.float32)
    mesh = Mesh(positions, positions, None, positions[:, :2], None, np.zeros((0, 3), np.uint32), (),
                Bounds(np.zeros(3), np.zeros(3)))  # fmt: skip
    joints = np.array([[2, 0, 0, 0], [2, 0, 0, 0], [0, 2, 1, 0], [0, 0, 0, 0]], np.uint16)
    weights = np.array([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.9, 0.1, 0, 0], [1, 0, 0, 0]], np.float32)
    return mesh, Skin(joints, weights, 2)


def test_a_box_spans_what_its_joint_moves(skinned):
    joints, corners = joint_boxes(*skinned)
    assert joints.tolist() == [0, 2]
    assert corners.shape == (2, 8, 3)
    np.testing.assert_array_equal(corners.min(axis=1), [[-1, 2, 0], [-1, 0, 0]])
    np.testing.assert_array_equal(corners.max(axis=1), [[4, 5, 4], [1, 5, 3]])
    assert len(np.unique(corners[0], axis=0)) == 8


def test_weighted_vertices_are_counted(skinned):
    assert weighted_vertex_counts(skinned[1], 4).tolist() == [3, 0, 3, 0]
    assert weighted_vertex_counts(None, 3).tolist() == [0, 0, 0]
