"""Offsets of joints on top of a clip, against matrices multiplied by hand."""

import msgspec
import numpy as np
import pytest

from sinew.resources import path
from sinew.sim.animation.evaluate import bind_pose, evaluate_pose
from sinew.sim.animation.pose import frame_below
from sinew.sim.assets.load import load_model
from sinew.sim.characters.settings import BONE_PART, BonePose, ModelSettings, bone_pose, with_bone_pose
from sinew.sim.maths import quaternion
from sinew.sim.maths.transform import compose
from sinew.sim.scene.params import ParamError, check
from sinew.sim.scene.scene import Node, ParamRef, Scene, value_at, with_value

OFFSETS = (
    BonePose(bone="shin_l", rotation=(0.0, 0.0, 90.0), position=(0.1, 0.2, -0.1)),
    BonePose(bone="thigh_l", rotation=(30.0, -20.0, 10.0), scale=(1.5, 1.0, 0.5)),
    BonePose(bone="a bone of another file", rotation=(9.0, 9.0, 9.0)),
)


@pytest.fixture(scope="module")
def character():
    return load_model(path("models") / "humanoid" / "humanoid.ezm")


def by_hand(character, pose, offsets):
    """Joint by joint, in file order, which has parents first."""
    skeleton, matrices = character.skeleton, []
    by_name = {offset.bone: offset for offset in offsets}
    for joint, name in enumerate(skeleton.names):
        offset = by_name.get(name, BonePose())
        p, q, s = pose.local.positions[joint], pose.local.orientations[joint], pose.local.scales[joint]
        turn = quaternion.from_euler_degrees(offset.rotation)
        move = compose(p, q, np.ones(3)) @ compose(np.array(offset.position), turn, np.ones(3))
        own = move @ compose(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), s * offset.scale)
        parent = int(skeleton.parents[joint])
        matrices.append(own if parent < 0 else matrices[parent] @ own)
    return np.array(matrices)


def offsets_of(character):
    """Offsets of two joints, a child and its parent, and of one that is not there."""
    child = next(j for j, parent in enumerate(character.skeleton.parents) if parent > 0)
    names = character.skeleton.names[child], character.skeleton.names[character.skeleton.parents[child]]
    return (*(msgspec.structs.replace(o, bone=b) for o, b in zip(OFFSETS[:2], names, strict=True)), OFFSETS[2])


@pytest.mark.parametrize("lock_root", [False, True])
def test_offsets_act_in_the_frame_that_the_clip_gives(character, lock_root):
    clip, offsets = character.clips[0], offsets_of(character)
    plain = evaluate_pose(character, clip, 0.3, lock_root=lock_root)
    posed = evaluate_pose(character, clip, 0.3, lock_root=lock_root, offsets=offsets)
    np.testing.assert_allclose(posed.model_from_joint, by_hand(character, plain, offsets), atol=1e-9)
    assert np.abs(posed.model_from_joint - plain.model_from_joint).max() > 0.1
    np.testing.assert_allclose(posed.palette, posed.model_from_joint @ character.skeleton.bind_from_model, atol=1e-9)
    for offset in offsets[:2]:
        joint = character.skeleton.index(offset.bone)
        below = frame_below(character.skeleton, posed, offset)
        turn = quaternion.from_euler_degrees(offset.rotation)
        at = below @ compose(np.array(offset.position), turn, posed.local.scales[joint])
        np.testing.assert_allclose(at, posed.model_from_joint[joint], atol=1e-9)


def test_without_a_clip_they_act_on_the_bind_pose(character):
    offsets = offsets_of(character)
    posed = evaluate_pose(character, None, 0.0, offsets=offsets)
    np.testing.assert_allclose(posed.model_from_joint, by_hand(character, bind_pose(character), offsets), atol=1e-9)


def test_offsets_of_nothing_change_no_bit(character):
    plain = evaluate_pose(character, character.clips[0], 0.3)
    for offsets in ((), OFFSETS[2:]):
        posed = evaluate_pose(character, character.clips[0], 0.3, offsets=offsets)
        np.testing.assert_array_equal(posed.palette, plain.palette)


def test_a_pose_is_a_value_of_the_scene_with_an_address():
    scene = Scene(nodes=(Node(id="m", settings=ModelSettings()),))
    turn, move = (ParamRef("m", f"{BONE_PART}hips", name) for name in ("rotation", "position"))
    assert value_at(scene, turn) == (0.0, 0.0, 0.0)
    posed = with_value(with_value(scene, turn, (1, 2, 3)), move, (0.5, 0, 0))
    assert posed.node("m").settings.pose == (BonePose(bone="hips", position=(0.5, 0, 0), rotation=(1, 2, 3)),)
    back = with_value(with_value(posed, turn, (0, 0, 0)), move, (0, 0, 0))
    assert back == scene, "a pose that does nothing is not kept"
    with pytest.raises(KeyError):
        value_at(scene, ParamRef("m", "bones", "rotation"))


def test_poses_keep_their_order_and_hard_ranges():
    bones = (BonePose(bone="a", scale=(2.0, 1.0, 1.0)), BonePose(bone="b", scale=(3.0, 1.0, 1.0)))
    assert [b.bone for b in with_bone_pose(bones, BonePose(bone="a", scale=(4.0, 1.0, 1.0)))] == ["a", "b"]
    assert bone_pose(bones, "c") == BonePose(bone="c")
    raw = [{"bone": "a", "scale": [1, 2, 3]}]
    assert check(ModelSettings, "pose", raw) == (BonePose(bone="a", scale=(1.0, 2.0, 3.0)),)
    assert check(ModelSettings, "pose", bones) == bones
    for wrong in ([{"bone": 3}], [{"scale": [1e9, 1, 1]}], [{"position": [float("inf"), 0, 0]}], "hips"):
        with pytest.raises(ParamError):
            check(ModelSettings, "pose", wrong)
