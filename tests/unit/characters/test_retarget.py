import dataclasses
from pathlib import Path

import numpy as np
import pytest

from sinew import resources
from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.humanoid import find_bones, is_humanoid
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Interpolation, LocalPose
from sinew.sim.characters.contacts import contacts
from sinew.sim.characters.retarget import (
    Body,
    LocalMotion,
    RetargetError,
    _world,
    ball,
    body_of,
    retarget,
    retargeted_clip,
)
from sinew.sim.maths import quaternion
from tests import vrm_samples

LIMBS = [(f"{side}{a}", f"{side}{b}") for side in ("left", "right") for a, b in (
    ("UpperArm", "LowerArm"), ("LowerArm", "Hand"), ("UpperLeg", "LowerLeg"), ("LowerLeg", "Foot"))]  # fmt: skip


@pytest.fixture(scope="module")
def walk(assets: Path) -> CharacterModel:
    path = assets / "bvh" / "cmu_12_01_walk.bvh"
    if not path.is_file():
        pytest.skip("no motion")
    return load_model(path)


def motion_of(model: CharacterModel) -> LocalMotion:
    (clip, *_) = model.clips
    poses = clip.sample_many([float(time) for time in clip.key_times], "linear")  # type: ignore[arg-type]
    return LocalMotion(poses.positions, poses.orientations, float(clip.key_times[1]))


def test_bones_are_found_by_name_and_hierarchy(humanoid: CharacterModel, assets: Path) -> None:
    assert humanoid.skeleton is not None
    assert len(find_bones(humanoid.skeleton)) == 52
    for name, count in (
        ("ezm/dude/dude.ezm", 54), ("bvh/cmu_12_01_walk.bvh", 26),
        ("gltf/CesiumMan/glTF-Binary/CesiumMan.glb", 19), ("gltf/RiggedFigure/glTF-Binary/RiggedFigure.glb", 19),
    ):  # fmt: skip
        if (assets / name).is_file():
            skeleton = load_model(assets / name).skeleton
            assert skeleton is not None
            bones = find_bones(skeleton)
            assert (name, len(bones), is_humanoid(bones)) == (name, count, True)
            joints = {bone: skeleton.names[joint] for bone, joint in bones.items()}
            if "dude" in name:
                assert joints["hips"] == "Pelvis"
            if "cmu" in name:
                assert [joints[bone] for bone in ("spine", "chest", "upperChest")] == ["LowerBack", "Spine", "Spine1"]


def test_limbs_point_as_in_the_source_and_standing_feet_stand(humanoid: CharacterModel, walk: CharacterModel) -> None:
    source, target, motion = body_of(walk), body_of(humanoid), motion_of(walk)
    turned = target.frame() @ source.frame().T
    _, points = _world(source.skeleton, motion)
    _, plain = _world(target.skeleton, retarget(motion, source, target, pin=False))
    for upper, lower in LIMBS:
        theirs = points[:, source.bones[lower]] - points[:, source.bones[upper]]
        ours = plain[:, target.bones[lower]] - plain[:, target.bones[upper]]
        theirs, ours = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (theirs @ turned.T, ours))
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
    _, pinned = _world(target.skeleton, retarget(motion, source, target))
    stands = 0
    for side in ("left", "right"):
        at, path = pinned[:, ball(target, side)], points[:, ball(source, side)]
        for first, last in contacts(path, motion.step, source.leg, source.up, np.percentile(path[:, source.up], 2.0)):
            stands += 1
            apart = at[first : last + 1, [0, 2]] - at[first, [0, 2]]
            assert np.linalg.norm(apart, axis=-1).max() < 1e-4
    assert stands >= 8
    balls = [pinned[:, ball(target, side), target.up] for side in ("left", "right")]
    floor = min(target.skeleton.model_from_bind[ball(target, side), target.up, 3] for side in ("left", "right"))
    assert (
        abs(np.percentile(np.minimum(*balls), 2.0) - floor) < 0.01
    )  # although the legs of the source are not straight at rest


def test_there_and_back_is_the_same_motion(humanoid: CharacterModel, walk: CharacterModel) -> None:
    source, target, motion = body_of(walk), body_of(humanoid), motion_of(walk)
    back = retarget(retarget(motion, source, target, pin=False), target, source, pin=False)
    before, after = (_world(source.skeleton, one)[0] for one in (motion, back))
    joints = [source.bones[bone] for bone in source.bones if bone in target.bones]
    np.testing.assert_allclose(after[:, joints], before[:, joints], atol=1e-9)


def test_size_and_axes_of_the_joints_do_not_matter(humanoid: CharacterModel, walk: CharacterModel) -> None:
    source, target, motion = body_of(walk), body_of(humanoid), motion_of(walk)
    expected = _world(target.skeleton, retarget(motion, source, target))[1]
    skeleton = target.skeleton
    large = dataclasses.replace(
        skeleton, bind_positions=37.0 * skeleton.bind_positions,
        model_from_bind=np.concatenate([skeleton.model_from_bind[:, :, :3], np.concatenate(
            [37.0 * skeleton.model_from_bind[:, :3, 3:], skeleton.model_from_bind[:, 3:, 3:]], axis=1)], axis=2),
    )  # fmt: skip
    found = _world(large, retarget(motion, source, Body(large, target.bones)))[1]
    np.testing.assert_allclose(found / 37.0, expected, atol=1e-9)
    # Joints with other axes at rest: the same points.
    random = np.random.default_rng(5)
    twist = quaternion.normalised(random.normal(size=(skeleton.joint_count, 4)))
    above = np.array([twist[parent] if parent >= 0 else quaternion.IDENTITY for parent in skeleton.parents])
    matrices = quaternion.to_matrix(twist)
    turned = dataclasses.replace(
        skeleton,
        bind_orientations=quaternion.multiply(
            quaternion.multiply(quaternion.conjugate(above), skeleton.bind_orientations), twist
        ),
        bind_positions=quaternion.rotate(quaternion.conjugate(above), skeleton.bind_positions),
        model_from_bind=np.concatenate([np.concatenate(
            [skeleton.model_from_bind[:, :3, :3] @ matrices, skeleton.model_from_bind[:, :3, 3:]], axis=2),
            skeleton.model_from_bind[:, 3:]], axis=1),
    )  # fmt: skip
    found = _world(turned, retarget(motion, source, Body(turned, target.bones)))[1]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_body_that_is_not_human_is_refused(walk: CharacterModel) -> None:
    arm = load_model(resources.path("models") / "arm" / "arm.ezm")
    with pytest.raises(RetargetError, match="no human body: hips"):
        retargeted_clip(walk.clips[0], walk, arm)


def turns(seed: int) -> dict[str, np.ndarray]:
    """A random rotation for each bone, which its rest pose has."""
    generator = np.random.default_rng(seed)
    return {name: quaternion.to_matrix(quaternion.normalised(generator.normal(size=4))) for name in vrm_samples.PLACES}


def expected_locals(source: CharacterModel, target: CharacterModel, pose: LocalPose, bone: str) -> np.ndarray:
    """L' inv(W') N W' with N = W inv(L) q inv(W), of one bone."""
    parts = []
    for model in (source, target):
        joint = model.rig.humanoid[bone]
        world = quaternion.from_matrix(model.skeleton.model_from_bind[joint, :3, :3])
        parts.append((joint, world, model.skeleton.bind_orientations[joint]))
    (joint, world, local), (_, own_world, own_local) = parts
    product, inverse = quaternion.multiply, quaternion.conjugate
    turn = product(product(product(world, inverse(local)), pose.orientations[joint]), inverse(world))
    return product(product(product(own_local, inverse(own_world)), turn), own_world)


@pytest.mark.parametrize(("source_turns", "target_turns"), [(None, None), (1, None), (None, 2), (1, 2)])
def test_vrm_animations_keep_rotations_away_from_the_rest(
    tmp_path: Path, source_turns: int | None, target_turns: int | None
) -> None:
    own = turns(source_turns) if source_turns else None
    source = vrm_samples.vrm_animation(own, size=2.0).load(tmp_path)
    target = vrm_samples.vrm(turns=turns(target_turns) if target_turns else None).load(tmp_path)
    (clip,) = source.clips
    made = retargeted_clip(clip, source, target)
    for time in (0.0, 0.5, 1.0):
        was, found = (one.sample(time, Interpolation.LINEAR) for one in (clip, made))
        for bone, joint in target.rig.humanoid.items():
            wanted = expected_locals(source, target, was, bone)
            assert abs(abs(wanted @ found.orientations[joint]) - 1.0) < 1e-12
        hips = target.rig.humanoid["hips"]
        np.testing.assert_allclose(found.positions[hips], was.positions[hips] / 2.0, atol=1e-12)
        still = target.skeleton.bind_positions
        np.testing.assert_allclose(np.delete(found.positions, hips, 0), np.delete(still, hips, 0))
        np.testing.assert_allclose(found.weights, [0.0, 0.0, {0.0: 0.0, 0.5: 0.5, 1.0: 0.25}[time]])
    back = retargeted_clip(dataclasses.replace(target, clips=(made,)).clips[0], target, source)
    for time in (0.0, 0.5, 1.0):
        was, again = (one.sample(time, Interpolation.LINEAR) for one in (clip, back))
        mapped = list(source.rig.humanoid.values())
        agreement = np.abs(np.sum(was.orientations[mapped] * again.orientations[mapped], axis=-1))
        np.testing.assert_allclose(agreement, 1.0, atol=1e-12)


def test_the_rotation_of_a_missing_bone_acts_on_those_below(tmp_path: Path) -> None:
    source, sample = vrm_samples.vrm_animation().load(tmp_path), vrm_samples.vrm()
    del sample.document["extensions"]["VRMC_vrm"]["humanoid"]["humanBones"]["chest"]
    target = sample.load(tmp_path)
    made = retargeted_clip(source.clips[0], source, target)
    worlds = []
    for model, clip in ((source, source.clips[0]), (target, made)):
        pose = evaluate_pose(model, clip, 0.5)
        worlds.append({bone: pose.model_from_joint[joint] for bone, joint in model.rig.humanoid.items()})
    for bone in ("neck", "leftUpperArm", "leftLowerArm", "head"):
        np.testing.assert_allclose(worlds[1][bone][:3, :3], worlds[0][bone][:3, :3], atol=1e-12)


def test_a_vrm_0_model_takes_a_vrm_animation_facing_forward(tmp_path: Path) -> None:
    source, old = vrm_samples.vrm_animation().load(tmp_path), vrm_samples.old_vrm().load(tmp_path)
    made = retargeted_clip(source.clips[0], source, old)
    pose, other = evaluate_pose(old, made, 0.5), evaluate_pose(source, source.clips[0], 0.5)
    half = np.diag([-1.0, 1.0, -1.0])
    for bone in ("hips", "leftLowerArm", "head"):
        found = pose.model_from_joint[old.rig.humanoid[bone], :3, :3]
        np.testing.assert_allclose(found, other.model_from_joint[source.rig.humanoid[bone], :3, :3] @ half, atol=1e-12)


def test_a_vrm_animation_without_a_height_keeps_the_hips(assets: Path) -> None:
    path = assets / "vrm" / "hips_spine_twisting.vrma"
    if not path.is_file():
        pytest.skip("no VRM animation")
    source, target = load_model(path), load_model(path.with_name("Godette_vrm_v4.vrm"))
    made = retargeted_clip(source.clips[0], source, target)
    hips = target.rig.humanoid["hips"]
    pose = evaluate_pose(target, made, 0.0)
    np.testing.assert_allclose(
        pose.model_from_joint[hips, :3, 3], target.skeleton.model_from_bind[hips, :3, 3], atol=1e-9
    )
