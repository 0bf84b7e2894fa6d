"""Drawn bones: the joints of the body, without the nodes around it."""

import numpy as np
import pytest

from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Skeleton, Skin
from sinew.sim.characters.prepared import bone_segments

NAMES = ["scene", "camera", "root", "spine", "helper", "arm", "finger", "mesh node"]
PARENTS = [-1, 0, 0, 2, 3, 4, 5, 0]


@pytest.fixture
def skeleton() -> Skeleton:
    count = len(NAMES)
    turns = np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))
    return build_skeleton(NAMES, PARENTS, np.ones((count, 3)), turns, np.ones((count, 3)))


def skin_of(*joints: int) -> Skin:
    """One vertex for each joint; the padding points to joint 0 with weight 0."""
    rows = np.zeros((len(joints), 4), np.uint16)
    rows[:, 0] = joints
    return Skin(rows, np.tile(np.array([1, 0, 0, 0], np.float32), (len(joints), 1)), 1)


def pairs(skeleton: Skeleton, skin: Skin | None) -> set[tuple[str, str]]:
    segments = bone_segments(skeleton, skin)
    names = skeleton.names
    return {(names[head], names[tail]) for head, tail in zip(segments.heads, segments.tails, strict=True)}


def test_nodes_outside_the_body_are_left_out(skeleton):
    """The helper between two weighted joints stays; the finger below moves nothing and neither does the scene."""
    segments = bone_segments(skeleton, skin_of(2, 3, 5))
    assert pairs(skeleton, skin_of(2, 3, 5)) == {("root", "spine"), ("spine", "helper"), ("helper", "arm")}
    assert [NAMES[joint] for joint in segments.joints] == ["root", "spine", "helper", "arm"]


def test_a_single_weighted_joint_is_a_dot_without_a_bone(skeleton):
    segments = bone_segments(skeleton, skin_of(5))
    assert len(segments.heads) == len(segments.tails) == 0
    assert segments.joints.tolist() == [5]


@pytest.mark.parametrize("skin", [None, Skin(np.zeros((0, 4), np.uint16), np.zeros((0, 4), np.float32), 0)])
def test_all_joints_are_drawn_where_nothing_is_weighted(skeleton, skin):
    segments = bone_segments(skeleton, skin)
    assert len(segments.heads) == len(NAMES) - 1
    assert segments.joints.tolist() == list(range(len(NAMES)))


def test_children_may_come_before_their_parents():
    turns = np.tile([0.0, 0.0, 0.0, 1.0], (4, 1))
    backwards = build_skeleton(["d", "c", "b", "a"], [1, 2, 3, -1], np.ones((4, 3)), turns, np.ones((4, 3)))
    assert pairs(backwards, skin_of(0, 2)) == {("b", "c"), ("c", "d")}


@pytest.mark.parametrize("name", ["dude/dude.ezm", "character/character.ezm", "clothsim_zup/ClothSim.ezm"])
def test_real_skeletons_stay_close_to_their_mesh(assets, name):
    """Helpers of the scene lie far outside; bones of the body do not leave the box by more than its size."""
    model = load_model(assets / "ezm" / name)
    segments = bone_segments(model.skeleton, model.skin)
    assert len(segments.heads) > 0
    places = model.skeleton.model_from_bind[segments.joints, :3, 3]
    margin = 0.5 * model.mesh.bounds.extent
    assert (places > model.mesh.bounds.lo - margin).all()
    assert (places < model.mesh.bounds.hi + margin).all()
