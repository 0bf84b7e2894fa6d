"""Bones of bodies whose joints have the names of usual programs, numbers, or names in no known language."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from sinew import resources
from sinew.sim.assets.body_shape import bones_by_shape
from sinew.sim.assets.humanoid import REQUIRED, Source, bone_sources, find_bones, is_humanoid
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.raw import ModelError

CORE = ("hips", "spine", "chest", "neck", "head", *(
    f"{side}{bone}" for side in ("left", "right")
    for bone in ("Shoulder", "UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot", "Toes")
))  # fmt: skip
"""Bones of the sample that get names."""


def sides(centre: str, *limbs: str) -> tuple[str, ...]:
    """Returns names for CORE, "" for a bone that a convention does not have.

    Args:
        centre: Names of hips, spine, chest, neck and head.
        limbs: Names of the left arm and leg, then those of the right.
    """
    return (*centre.split(","), *(name for limb in limbs for name in limb.split(",")))


CONVENTIONS = {
    "Biovision": sides(
        "Hips,Spine,Spine1,Neck,Head",
        "LeftShoulder,LeftArm,LeftForeArm,LeftHand,LeftUpLeg,LeftLeg,LeftFoot,LeftToeBase",
        "RightShoulder,RightArm,RightForeArm,RightHand,RightUpLeg,RightLeg,RightFoot,RightToeBase",
    ),
    "classic Biovision": sides(
        "Hips,Chest,Chest2,Neck,Head",
        "LeftCollar,LeftShoulder,LeftElbow,LeftWrist,LeftHip,LeftKnee,LeftAnkle,LeftToe",
        "RightCollar,RightShoulder,RightElbow,RightWrist,RightHip,RightKnee,RightAnkle,RightToe",
    ),
    "Biped": sides(
        "Bip01 Pelvis,Bip01 Spine,Bip01 Spine1,Bip01 Neck,Bip01 Head",
        "Bip01 L Clavicle,Bip01 L UpperArm,Bip01 L Forearm,Bip01 L Hand,"
        "Bip01 L Thigh,Bip01 L Calf,Bip01 L Foot,Bip01 L Toe0",
        "Bip01 R Clavicle,Bip01 R UpperArm,Bip01 R Forearm,Bip01 R Hand,"
        "Bip01 R Thigh,Bip01 R Calf,Bip01 R Foot,Bip01 R Toe0",
    ),
    "Unreal": sides(
        "pelvis,spine_01,spine_02,neck_01,head",
        "clavicle_l,upperarm_l,lowerarm_l,hand_l,thigh_l,calf_l,foot_l,ball_l",
        "clavicle_r,upperarm_r,lowerarm_r,hand_r,thigh_r,calf_r,foot_r,ball_r",
    ),
    "Rigify": sides(
        "DEF-spine,DEF-spine.001,DEF-spine.002,DEF-spine.004,DEF-spine.005",
        "DEF-shoulder.L,DEF-upper_arm.L,DEF-forearm.L,DEF-hand.L,DEF-thigh.L,DEF-shin.L,DEF-foot.L,DEF-toe.L",
        "DEF-shoulder.R,DEF-upper_arm.R,DEF-forearm.R,DEF-hand.R,DEF-thigh.R,DEF-shin.R,DEF-foot.R,DEF-toe.R",
    ),
    "Xsens": sides(
        "Pelvis,L5,T8,Neck,Head",
        "LeftShoulder,LeftUpperArm,LeftForeArm,LeftHand,LeftUpperLeg,LeftLowerLeg,LeftFoot,LeftToe",
        "RightShoulder,RightUpperArm,RightForeArm,RightHand,RightUpperLeg,RightLowerLeg,RightFoot,RightToe",
    ),
    "Bandai-Namco": sides(
        "Hips,Spine,Chest,Neck,Head",
        "Shoulder_L,UpperArm_L,LowerArm_L,Hand_L,UpperLeg_L,LowerLeg_L,Foot_L,Toes_L",
        "Shoulder_R,UpperArm_R,LowerArm_R,Hand_R,UpperLeg_R,LowerLeg_R,Foot_R,Toes_R",
    ),
    "iClone": sides(
        "CC_Base_Hip,CC_Base_Waist,CC_Base_Spine01,CC_Base_NeckTwist01,CC_Base_Head",
        "CC_Base_L_Clavicle,CC_Base_L_Upperarm,CC_Base_L_Forearm,CC_Base_L_Hand,"
        "CC_Base_L_Thigh,CC_Base_L_Calf,CC_Base_L_Foot,CC_Base_L_ToeBase",
        "CC_Base_R_Clavicle,CC_Base_R_Upperarm,CC_Base_R_Forearm,CC_Base_R_Hand,"
        "CC_Base_R_Thigh,CC_Base_R_Calf,CC_Base_R_Foot,CC_Base_R_ToeBase",
    ),
    "Source": sides(
        "ValveBiped.Bip01_Pelvis,ValveBiped.Bip01_Spine,ValveBiped.Bip01_Spine1,"
        "ValveBiped.Bip01_Neck1,ValveBiped.Bip01_Head1",
        *(",".join(f"ValveBiped.Bip01_{side}_{bone}" for bone in (
            "Clavicle", "UpperArm", "Forearm", "Hand", "Thigh", "Calf", "Foot", "Toe0")) for side in "LR"),
    ),
    "Auto-Rig": sides(
        "root.x,spine_01.x,spine_02.x,neck.x,head.x",
        "shoulder.l,arm_stretch.l,forearm_stretch.l,hand.l,thigh_stretch.l,leg_stretch.l,foot.l,toes_01.l",
        "shoulder.r,arm_stretch.r,forearm_stretch.r,hand.r,thigh_stretch.r,leg_stretch.r,foot.r,toes_01.r",
    ),
    "Kinect": sides(
        "SpineBase,SpineMid,SpineShoulder,Neck,Head",
        ",ShoulderLeft,ElbowLeft,WristLeft,HipLeft,KneeLeft,AnkleLeft,FootLeft",
        ",ShoulderRight,ElbowRight,WristRight,HipRight,KneeRight,AnkleRight,FootRight",
    ),
    "SMPL": sides(
        "pelvis,spine1,spine2,neck,head",
        "left_collar,left_shoulder,left_elbow,left_wrist,left_hip,left_knee,left_ankle,left_foot",
        "right_collar,right_shoulder,right_elbow,right_wrist,right_hip,right_knee,right_ankle,right_foot",
    ),
    "SMPL, short": sides(
        "Pelvis,Spine1,Spine2,Neck,Head",
        "L_Collar,L_Shoulder,L_Elbow,L_Wrist,L_Hip,L_Knee,L_Ankle,L_Foot",
        "R_Collar,R_Shoulder,R_Elbow,R_Wrist,R_Hip,R_Knee,R_Ankle,R_Foot",
    ),
    "Poser": sides(
        "hip,abdomen,chest,neck,head",
        "lCollar,lShldr,lForeArm,lHand,lThigh,lShin,lFoot,lToe",
        "rCollar,rShldr,rForeArm,rHand,rThigh,rShin,rFoot,rToe",
    ),
    "DAZ": sides(
        "hip,abdomenLower,chestLower,neckLower,head",
        "lCollar,lShldrBend,lForearmBend,lHand,lThighBend,lShin,lFoot,lToe",
        "rCollar,rShldrBend,rForearmBend,rHand,rThighBend,rShin,rFoot,rToe",
    ),
    "Second Life": sides(
        "mPelvis,mTorso,mChest,mNeck,mHead",
        "mCollarLeft,mShoulderLeft,mElbowLeft,mWristLeft,mHipLeft,mKneeLeft,mAnkleLeft,mFootLeft",
        "mCollarRight,mShoulderRight,mElbowRight,mWristRight,mHipRight,mKneeRight,mAnkleRight,mFootRight",
    ),
    "Acclaim": sides(
        "root,lowerback,thorax,lowerneck,head",
        "lclavicle,lhumerus,lradius,lhand,lfemur,ltibia,lfoot,ltoes",
        "rclavicle,rhumerus,rradius,rhand,rfemur,rtibia,rfoot,rtoes",
    ),
    "Vicon": sides(
        "Pelvis,Spine,Thorax,Neck,Head",
        "LClavicle,LHumerus,LRadius,LHand,LFemur,LTibia,LFoot,LToes",
        "RClavicle,RHumerus,RRadius,RHand,RFemur,RTibia,RFoot,RToes",
    ),
    "OptiTrack": sides(
        "Hip,Ab,Chest,Neck,Head",
        "LShoulder,LUArm,LFArm,LHand,LThigh,LShin,LFoot,LToe",
        "RShoulder,RUArm,RFArm,RHand,RThigh,RShin,RFoot,RToe",
    ),
    "Japanese": sides(
        "センター,上半身,上半身2,首,頭",
        "左肩,左腕,左ひじ,左手首,左足,左ひざ,左足首,左つま先",
        "右肩,右腕,右ひじ,右手首,右足,右ひざ,右足首,右つま先",
    ),
    "numbers": tuple(f"joint{number}" for number in range(len(CORE))),
}  # fmt: skip


def named(model: CharacterModel, names: tuple[str, ...]) -> CharacterModel:
    """Returns the sample with other names; fingers and joints that a convention does not have get numbers."""
    assert model.skeleton is not None
    assert len(names) == len(CORE)
    bones = find_bones(model.skeleton)
    wanted = {bones[bone]: name for bone, name in zip(CORE, names, strict=True) if bone in bones and name}
    joints = tuple(wanted.get(joint, f"bone_{joint}x") for joint in range(model.skeleton.joint_count))
    return dataclasses.replace(model, skeleton=dataclasses.replace(model.skeleton, names=joints))


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_usual_names_are_known(convention: str, humanoid: CharacterModel) -> None:
    assert humanoid.skeleton is not None
    right = find_bones(humanoid.skeleton)
    found = bone_sources(named(humanoid, CONVENTIONS[convention]))
    assert {bone: found[bone][0] for bone in REQUIRED if bone in found} == {bone: right[bone] for bone in REQUIRED}
    by_shape = [bone for bone in REQUIRED if found[bone][1] is Source.SHAPE]
    if convention in ("Japanese", "numbers"):
        assert len(by_shape) == len(REQUIRED)
    else:  # the hips of some have a name that means any root
        assert set(by_shape) <= {"hips", "head"}, by_shape


def test_edits_come_before_guesses_and_say_so(humanoid: CharacterModel) -> None:
    model = named(humanoid, CONVENTIONS["numbers"])
    assert model.skeleton is not None
    found = bone_sources(model, [("leftHand", "joint0")])
    assert found["leftHand"] == (model.skeleton.index("joint0"), Source.USER)
    assert found["rightHand"][1] is Source.SHAPE
    assert "hips" not in found


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_the_shape_of_a_body_is_found_at_any_scale_place_and_up_axis(
    humanoid: CharacterModel, scale: float, turn: int
) -> None:
    assert humanoid.skeleton is not None
    points = humanoid.skeleton.model_from_bind[:, :3, 3] + (3.0, 10.0, -7.0)
    if turn:  # z up: forwards is -y
        points = points @ np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]).T
    found = bones_by_shape(humanoid.skeleton.parents.tolist(), scale * points, 2 if turn else 1)
    right = find_bones(humanoid.skeleton)
    assert {bone: found.get(bone) for bone in REQUIRED} == {bone: right[bone] for bone in REQUIRED}


def test_what_is_no_body_has_no_shape() -> None:
    fox = load_model(resources.path("models") / "fox" / "fox.ezm")
    assert fox.skeleton is not None
    points = fox.skeleton.model_from_bind[:, :3, 3]
    assert bones_by_shape(fox.skeleton.parents.tolist(), points, 1) == {}
    for wrong in (0.0 * points, np.full_like(points, np.nan)):
        assert bones_by_shape(fox.skeleton.parents.tolist(), wrong, 1) == {}
    assert bones_by_shape([-1, *range(13)], np.arange(42.0).reshape(14, 3), 1) == {}, "a chain"


def test_bodies_of_files_are_found_with_hidden_names(assets: Path) -> None:
    """Of all human files; a file without a rest pose, a hat above the head and a hip above the legs are not found."""
    files = [path for path in sorted(assets.rglob("*")) if path.suffix.lower() in (".bvh", ".vrm", ".ezm")]
    files = [path for path in files if "faults" not in str(path)]
    if not files:
        pytest.skip("no files")
    right = count = 0
    for path in files:
        try:
            model = load_model(path)
        except ModelError:
            continue
        if model.skeleton is None:
            continue
        wanted = dict(model.rig.humanoid) or find_bones(model.skeleton)
        up = "xyz".index(model.default_up_axis.lower())
        points = model.skeleton.model_from_bind[:, :3, 3]
        found = bones_by_shape(model.skeleton.parents.tolist(), points, up)
        if not is_humanoid(wanted):
            assert not found, path
            continue
        count += 1
        right += all(found.get(bone) == wanted[bone] for bone in REQUIRED)
    assert right >= 0.74 * count, f"{right} of {count}"
