"""Modifiers of bones: known answers, exactness, limits, planted feet, and every value that a setting allows."""

import dataclasses
import enum
import functools
import itertools
import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from pyglm import glm

from sinew.resources import path
from sinew.sim.animation.pose import Pose
from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.clip import UniformClip
from sinew.sim.assets.humanoid import SIDES, bones_of
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Bounds, CharacterModel, LocalPose, Mesh
from sinew.sim.assets.rig import Constraint, ConstraintType, Rig, ordered
from sinew.sim.characters.contacts import contacts
from sinew.sim.characters.modifiers.evaluation import BoneModifiers, ModifierInputs
from sinew.sim.characters.modifiers.feet import top_of
from sinew.sim.characters.modifiers.functions import rolled, softened, two_bones
from sinew.sim.characters.modifiers.joints import PosedJoints, RestPose, arc, twist_angle
from sinew.sim.characters.modifiers.settings import (
    Aim,
    AnyModifier,
    ArmSpace,
    BoneAxis,
    CopyRoll,
    CopyRotation,
    FootPlanting,
    LimitRotation,
    LookAt,
    Modifier,
    TwistDistribution,
    TwoBoneIK,
)
from sinew.sim.characters.playing import pose_of
from sinew.sim.characters.settings import MODIFIERS_MAX, ModelSettings
from sinew.sim.colliders.state import RIGID_SHAPES, ColliderShape
from sinew.sim.maths import quaternion
from sinew.sim.maths.hierarchy import model_from_local
from sinew.sim.maths.transform import compose
from sinew.sim.scene.params import Role, params_of
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.strips import Strip
from sinew.sim.scene.transform import Transform, node_matrix
from tests.conftest import slow

TYPES: tuple[type[Modifier], ...] = AnyModifier.__args__  # type: ignore[attr-defined]
NO_RUN_UP = (0.0, 0.0)


@functools.cache
def human() -> CharacterModel:
    return load_model(path("models") / "humanoid" / "humanoid.ezm")


def flat(matrix: np.ndarray) -> tuple[float, ...]:
    return tuple(np.asarray(matrix, float).ravel().tolist())


def at(x: float, y: float, z: float, rotation: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> tuple[float, ...]:
    return flat(node_matrix(Transform(position=(x, y, z), rotation=rotation)))


def posed(
    model: CharacterModel, *modifiers: Modifier, time: float = 0.3, inputs: ModifierInputs | None = None,
    evaluator: BoneModifiers | None = None, **settings: Any,
) -> tuple[Pose, Pose]:  # fmt: skip
    """The pose before and after modifiers."""
    chosen = ModelSettings(modifiers=modifiers, **settings)
    before = pose_of(model, chosen, time, NO_RUN_UP)
    evaluator = evaluator or BoneModifiers(model)
    after = evaluator.applied(before, chosen, time, NO_RUN_UP, inputs or ModifierInputs(placement=flat(np.eye(4))))
    return before, after


def towards(**targets: tuple[float, ...]) -> ModifierInputs:
    return ModifierInputs(tuple(targets.items()), flat(np.eye(4)))


def joint(name: str) -> int:
    skeleton = human().skeleton
    assert skeleton is not None
    return skeleton.index(name)


def place(pose: Pose, name: str) -> np.ndarray:
    return pose.model_from_joint[joint(name), :3, 3]


def assert_is_whole(model: CharacterModel, pose: Pose) -> None:
    """Local transforms, model transforms and palette belong to one another."""
    assert model.skeleton is not None
    local = compose(pose.local.positions, pose.local.orientations, pose.local.scales)
    np.testing.assert_allclose(model_from_local(local, model.skeleton.hierarchy), pose.model_from_joint, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(pose.local.orientations, axis=1), 1.0, atol=1e-12)


# --- two bones ------------------------------------------------------------------------------------------------------

ORIGIN, RIGHT, UP = glm.dvec3(0.0), glm.dvec3(1.0, 0.0, 0.0), glm.dvec3(0.0, 1.0, 0.0)


def test_two_bones_bend_to_the_pole() -> None:
    middle, end = two_bones(ORIGIN, RIGHT, 2.0 * RIGHT, math.sqrt(2.0) * RIGHT, pole=UP)
    half = math.sqrt(0.5)
    np.testing.assert_allclose(middle, (half, half, 0.0), atol=1e-15)
    np.testing.assert_allclose(end, (math.sqrt(2.0), 0.0, 0.0), atol=1e-15)


def test_soft_reach_has_the_known_values_and_no_jolt() -> None:
    assert softened(2.0, 2.0, 0.97) == pytest.approx(1.9779272335, abs=1e-10)
    assert softened(3.0, 2.0, 0.97) == pytest.approx(1.9999999987, abs=1e-10)
    distances = np.linspace(0.5, 6.0, 200_001)
    reached = np.array([softened(one, 2.0, 0.97) for one in distances])
    slopes = np.diff(reached) / np.diff(distances)
    assert np.abs(np.diff(slopes)).max() < 1e-3  # the slope has no step
    assert reached.max() <= 2.0
    knees = np.array([math.acos((2.0 - d * d) / 2.0) for d in np.minimum(reached, 2.0 - 1e-12)])
    assert np.abs(np.diff(knees) / np.diff(distances)).max() <= 4.1135


def test_the_reach_is_never_left_nor_lost_between_two_bones() -> None:
    random = np.random.default_rng(1)
    for _ in range(2000):
        root, middle, end, target, pole = (glm.dvec3(*random.normal(size=3)) for _ in range(5))
        soft = float(random.choice([1.0, 0.97, 0.5]))
        new_middle, new_end = two_bones(root, middle, end, target, pole, soft)
        upper, lower = glm.length(middle - root), glm.length(end - middle)
        assert glm.length(new_middle - root) == pytest.approx(upper, rel=1e-9)
        assert glm.length(new_end - new_middle) == pytest.approx(lower, rel=1e-6)
        distance = glm.length(target - root)
        if soft == 1.0 or abs(upper - lower) <= distance <= soft * (upper + lower):
            reached = min(max(distance, abs(upper - lower)), upper + lower)
            expected = root + glm.normalize(target - root) * reached
            assert glm.length(new_end - expected) < 1e-12
        # the middle is on the side of the pole
        along = glm.normalize(new_end - root)
        off, wanted = ((point - along * glm.dot(point, along)) for point in (new_middle - root, pole - root))
        assert glm.dot(off, wanted) >= -1e-9


@pytest.mark.parametrize("pole", ["", "p"])
def test_a_hand_reaches_its_target(pole: str) -> None:
    goal, bend = at(0.35, 1.25, 0.3), at(0.6, 0.6, -0.4)
    ik = TwoBoneIK(bone="hand_l", target="t", pole=pole)
    before, after = posed(human(), ik, inputs=towards(t=goal, p=bend))
    np.testing.assert_allclose(place(after, "hand_l"), (0.35, 1.25, 0.3), atol=1e-9)
    np.testing.assert_array_equal(place(after, "upper_arm_l"), place(before, "upper_arm_l"))
    np.testing.assert_array_equal(place(after, "hand_r"), place(before, "hand_r"))
    assert_is_whole(human(), after)
    if pole:
        root, middle, end, aim = (place(after, name) for name in ("upper_arm_l", "forearm_l", "hand_l", "hand_l"))
        aim = np.array([0.6, 0.6, -0.4])
        normal = np.cross(middle - root, end - root)
        assert abs(normal @ (aim - root)) < 1e-6 * np.linalg.norm(normal)


def test_weight_mute_and_a_missing_target() -> None:
    ik, target = TwoBoneIK(bone="hand_l", target="t"), towards(t=at(0.35, 1.25, 0.3))
    before, full = posed(human(), ik, inputs=target)
    _, half = posed(human(), msgspec.structs.replace(ik, weight=0.5), inputs=target)
    arm = joint("upper_arm_l")
    expected = quaternion.slerp(before.local.orientations[arm], full.local.orientations[arm], 0.5)
    np.testing.assert_allclose(np.abs(half.local.orientations[arm] @ expected), 1.0, atol=1e-12)
    for still in (
        msgspec.structs.replace(ik, muted=True), msgspec.structs.replace(ik, weight=0.0),
        msgspec.structs.replace(ik, target="other"), msgspec.structs.replace(ik, bone="tail"),
        msgspec.structs.replace(ik, pole="other"), TwoBoneIK(), LookAt(bone="head"),
    ):  # fmt: skip
        before, after = posed(human(), still, inputs=target)
        assert after is before


# --- looking --------------------------------------------------------------------------------------------------------


def ray_of_head(pose: Pose, eye: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    bind = human().skeleton.bind_from_model[joint("head")]  # type: ignore[union-attr]
    matrix = pose.model_from_joint[joint("head")]
    front = matrix[:3, :3] @ (bind[:3, :3] @ np.array([0.0, 0.0, 1.0]))
    return matrix[:3, 3] + matrix[:3, :3] @ np.array(eye), front / np.linalg.norm(front)


@pytest.mark.parametrize("chain", [1, 2, 4])
@pytest.mark.parametrize("eye", [(0.0, 0.0, 0.0), (0.03, 0.09, 0.02)])
def test_the_eye_looks_exactly_at_the_target(chain: int, eye: tuple[float, float, float]) -> None:
    look = LookAt(bone="head", target="t", chain=chain, eye=eye, yaw=180.0, pitch=90.0, share=0.4)
    for goal in ((0.8, 1.9, 1.5), (-2.0, 0.4, 0.9), (0.1, 1.5, 0.6)):
        _, after = posed(human(), look, inputs=towards(t=at(*goal)))
        start, front = ray_of_head(after, eye)
        way = np.array(goal) - start
        assert np.linalg.norm(np.cross(front, way)) < 1e-12
        assert front @ way > 0.0
        assert_is_whole(human(), after)


def test_the_look_stays_within_its_limits() -> None:
    look = LookAt(bone="head", target="t", yaw=30.0, pitch=20.0)
    for goal, yaw, pitch in (
        ((5.0, 1.6, -1.0), 30.0, None),
        ((-5.0, 1.6, 0.3), -30.0, None),
        ((0.0, 9.0, 1.0), None, 20.0),
    ):
        before, after = posed(human(), look, bind_pose=True, inputs=towards(t=at(*goal)))
        front = ray_of_head(after, (0.0, 0.0, 0.0))[1]
        found = math.degrees(math.atan2(front[0], front[2])), math.degrees(math.asin(front[1]))
        assert yaw is None or found[0] == pytest.approx(yaw, abs=1e-9)
        assert pitch is None or found[1] == pytest.approx(pitch, abs=1e-9)
        assert before is not after


def test_bones_above_the_head_share_the_turn() -> None:
    look = LookAt(bone="head", target="t", chain=3, share=0.5, yaw=180.0, pitch=90.0)
    before, after = posed(human(), look, bind_pose=True, inputs=towards(t=at(0.6, 1.6, 0.6)))
    turns = [
        2.0 * math.acos(min(1.0, abs(float(before.local.orientations[one] @ after.local.orientations[one]))))
        for one in (joint("chest"), joint("neck"), joint("head"))
    ]
    assert turns[0] == pytest.approx(turns[1], rel=1e-9)
    assert turns[0] / sum(turns) == pytest.approx(0.25, abs=0.02)


# --- following and limits -------------------------------------------------------------------------------------------


def test_roll_takes_the_twist_alone() -> None:
    rest = glm.angleAxis(0.7, glm.normalize(glm.dvec3(1.0, 2.0, 3.0)))
    twisted = rolled(rest, glm.angleAxis(math.radians(90.0), RIGHT), RIGHT)
    half = glm.slerp(rest, twisted, 0.5)
    assert math.degrees(twist_angle(glm.conjugate(rest) * half, RIGHT)) == pytest.approx(45.0, abs=1e-12)
    swung = rolled(rest, glm.angleAxis(1.1, UP), RIGHT)
    assert abs(glm.dot(swung, rest)) == pytest.approx(1.0, abs=1e-15)


def chain_model(*, rig: Rig | None = None, clip: LocalPose | None = None) -> CharacterModel:
    """Three bones in a row, and one beside the second; all turned in their bind pose."""
    turns = quaternion.from_euler_degrees(
        np.array([(10.0, 0.0, 0.0), (0.0, 30.0, 0.0), (0.0, 0.0, 40.0), (5.0, 6.0, 7.0)])
    )
    skeleton = build_skeleton(
        ("a", "b", "c", "twist"), [-1, 0, 1, 0], [(0, 0, 0), (0, 1, 0), (0, 1, 0), (0, 0.25, 0)], turns, np.ones((4, 3))
    )
    clips = ()
    if clip is not None:
        arrays = (np.repeat(part[None], 2, 0) for part in (clip.positions, clip.orientations, clip.scales))
        clips = (UniformClip("clip", 1.0, *arrays),)
    nothing = np.zeros((0, 3), np.float32)
    mesh = Mesh(
        nothing, nothing, None, nothing[:, :2], None, nothing.astype(np.uint32), (), Bounds(np.zeros(3), np.ones(3))
    )
    return CharacterModel(
        path("models"), "", None, "", mesh, skeleton, None, clips, (), "Y", "top", (), rig=rig or Rig()
    )


def turned(**turns: glm.dquat) -> CharacterModel:
    """The chain in a clip in which some bones are turned from their bind pose."""
    model = chain_model()
    assert model.skeleton is not None
    skeleton = model.skeleton
    orientations = skeleton.bind_orientations.copy()
    for name, turn in turns.items():
        number = skeleton.index(name)
        orientations[number] = quaternion.multiply(orientations[number], np.array((*turn.to_tuple()[1:], turn.w)))
    return chain_model(clip=LocalPose(skeleton.bind_positions, orientations, skeleton.bind_scales))


def change_of(model: CharacterModel, pose: Pose, name: str) -> glm.dquat:
    """Rotation of a bone from its bind pose, in its own frame."""
    assert model.skeleton is not None
    number = model.skeleton.index(name)
    rest, joints = RestPose(model.skeleton), PosedJoints(model.skeleton, pose.local)
    return glm.conjugate(rest.turn(number)) * joints.turn(number)


def test_a_bone_copies_the_rotation_and_the_roll_of_another() -> None:
    turn = glm.angleAxis(0.8, glm.normalize(glm.dvec3(0.2, 1.0, 0.4)))
    model = turned(b=turn)
    _, after = posed(model, CopyRotation(bone="c", source="b"))
    assert abs(glm.dot(change_of(model, after, "c"), turn)) == pytest.approx(1.0, abs=1e-12)
    _, after = posed(model, CopyRoll(bone="c", source="b", axis=BoneAxis.Y))
    change = change_of(model, after, "c")
    assert np.allclose(change * UP, UP, atol=1e-12)
    rest = RestPose(model.skeleton)  # type: ignore[arg-type]
    into = glm.conjugate(rest.turn(2)) * rest.turn(1)
    assert twist_angle(change, UP) == pytest.approx(twist_of(into * turn * glm.conjugate(into), UP), abs=1e-12)


def twist_of(change: glm.dquat, axis: glm.dvec3) -> float:
    """Angle that remains of a rotation without its swing."""
    rest = glm.conjugate(arc(axis, glm.normalize(change * axis))) * change
    return math.remainder(2.0 * math.atan2(glm.dot(glm.dvec3(rest.x, rest.y, rest.z), axis), rest.w), math.tau)


def test_a_bone_takes_the_rotation_of_a_target() -> None:
    model = turned(a=glm.angleAxis(0.4, UP))
    bind = model.skeleton.model_from_bind[2, :3, :3]  # type: ignore[union-attr]
    target = node_matrix(Transform(rotation=(20.0, 50.0, -70.0), scale=(2.0, 2.0, 2.0)))
    _, after = posed(model, CopyRotation(bone="c", target="t"), inputs=towards(t=flat(target)))
    np.testing.assert_allclose(after.model_from_joint[2, :3, :3], target[:3, :3] / 2.0 @ bind, atol=1e-12)


@pytest.mark.parametrize("axis", [BoneAxis.AUTO, BoneAxis.MINUS_Z])
def test_an_axis_aims_at_a_target(axis: BoneAxis) -> None:
    model = turned(a=glm.angleAxis(0.4, UP))
    _, after = posed(model, Aim(bone="b", target="t", axis=axis), inputs=towards(t=at(3.0, -1.0, 2.0)))
    matrix = after.model_from_joint[1]
    own = np.array([0.0, 1.0, 0.0]) if axis is BoneAxis.AUTO else np.array([0.0, 0.0, -1.0])
    way = np.array([3.0, -1.0, 2.0]) - matrix[:3, 3]
    np.testing.assert_allclose(matrix[:3, :3] @ own, way / np.linalg.norm(way), atol=1e-12)


def test_rotation_is_limited_to_a_cone_and_a_twist() -> None:
    random = np.random.default_rng(4)
    limit = LimitRotation(bone="b", axis=BoneAxis.Y, swing=40.0, twist_min=-20.0, twist_max=30.0)
    changed = 0
    for _ in range(60):
        turn = glm.angleAxis(float(random.uniform(0.0, 3.1)), glm.normalize(glm.dvec3(*random.normal(size=3))))
        model = turned(b=turn)
        before, after = posed(model, limit)
        change = change_of(model, after, "b")
        swing = math.degrees(math.acos(min(1.0, glm.dot(change * UP, UP))))
        twist = math.degrees(twist_of(change, UP))
        assert swing <= 40.0 + 1e-6
        assert -20.0 - 1e-6 <= twist <= 30.0 + 1e-6
        changed += after is not before
        if (
            math.degrees(math.acos(min(1.0, glm.dot(turn * UP, UP)))) < 39.9
            and -19.9 < math.degrees(twist_of(turn, UP)) < 29.9
        ):
            assert after is before
    assert 20 < changed < 60


def test_a_twist_bone_takes_its_share() -> None:
    """It stands at a quarter of the bone, so that it takes a quarter of the twist of the next one."""
    bind = chain_model().skeleton.bind_orientations  # type: ignore[union-attr]
    along = glm.dquat(bind[1][3], *bind[1][:3])
    twist = glm.conjugate(along) * glm.angleAxis(math.radians(80.0), UP) * along
    model = turned(b=twist)
    before, after = posed(model, TwistDistribution(bone="b"))
    rest, joints = RestPose(model.skeleton), PosedJoints(model.skeleton, after.local)  # type: ignore[arg-type]
    assert math.degrees(twist_angle(joints.turn(3) * glm.conjugate(rest.turn(3)), UP)) == pytest.approx(20.0, abs=1e-9)
    assert after is not before
    _, named = posed(model, TwistDistribution(bone="b", twist_bones=" twist ; nothing"))
    np.testing.assert_array_equal(named.local.orientations, after.local.orientations)
    _, arm = posed(human(), TwistDistribution(bone="upper_arm_l"), inputs=None)
    assert_is_whole(human(), arm)


@pytest.mark.parametrize(("angle", "weight", "turn"), [(10.0, 1.0, 10.0), (40.0, 0.25, 10.0), (-25.0, 1.0, -25.0)])
@pytest.mark.parametrize("clip", ["walk", "turn"])
def test_arms_turn_away_from_the_body(clip: str, angle: float, weight: float, turn: float) -> None:
    before, after = posed(human(), ArmSpace(angle=angle, weight=weight), clip=clip, time=0.7)
    assert_is_whole(human(), after)
    rest, joints = RestPose(human().skeleton), PosedJoints(human().skeleton, before.local)
    chest = joints.orientation(joint("chest")) * glm.conjugate(rest.orientation(joint("chest")))
    for side, sign in (("l", 1.0), ("r", -1.0)):
        arms = [
            np.array([place(pose, f"{name}_{side}") - place(pose, f"upper_arm_{side}") for name in ("forearm", "hand")])
            for pose in (before, after)
        ]
        whole = glm.angleAxis(sign * math.radians(turn), chest * glm.dvec3(0.0, 0.0, 1.0))
        expected = [whole * glm.dvec3(*way) for way in arms[0].tolist()]
        np.testing.assert_allclose(arms[1], expected, atol=1e-12)
        outward = np.array(chest * glm.dvec3(sign, 0.0, 0.0))
        assert np.sign((arms[1] - arms[0]) @ outward).tolist() == [np.sign(turn)] * 2
    for name in ("head", "chest", "upper_arm_l", "upper_arm_r", "foot_l", "foot_r"):
        np.testing.assert_array_equal(place(after, name), place(before, name))


@pytest.mark.parametrize(
    "file", ["ezm/dude/dude.ezm", "ezm/clothsim_zup/ClothSim.ezm", "vrm/Godette_vrm_v4.vrm",
             "gltf/RiggedFigure/glTF-Binary/RiggedFigure.glb"],
)  # fmt: skip
@pytest.mark.parametrize("angle", [25.0, -25.0])
def test_arms_of_other_characters_turn_up_and_down_from_their_sides(assets: Path, file: str, angle: float) -> None:
    """Of files with y and with z up, that face along different axes, in the bind pose with its arms at the sides."""
    model = load_model(assets / file)
    before, after = posed(model, ArmSpace(angle=angle), bind_pose=True)
    bones, up = bones_of(model), "xyz".index(model.default_up_axis.lower())
    for side in SIDES:
        arm, hand = bones[f"{side}UpperArm"], bones[f"{side}Hand"]
        ways = [pose.model_from_joint[hand, :3, 3] - pose.model_from_joint[arm, :3, 3] for pose in (before, after)]
        across = (bones["leftUpperArm"], bones["rightUpperArm"])
        left = np.subtract(*(before.model_from_joint[one, :3, 3] for one in across))
        outward = left / np.linalg.norm(left) * (1.0 if side == "left" else -1.0)
        slopes = [math.degrees(math.atan2(way[up], way @ outward)) for way in ways]
        assert slopes[1] - slopes[0] == pytest.approx(angle, abs=1.0)


# --- constraints of files -------------------------------------------------------------------------------------------


def test_constraints_of_a_file_act_after_those_of_their_source() -> None:
    turn = glm.angleAxis(math.radians(60.0), UP)
    later = Constraint(3, 2, ConstraintType.ROTATION, weight=0.5)
    first = Constraint(2, 1, ConstraintType.ROTATION)
    notes: list[str] = []
    rig = ordered(Rig(constraints=(later, first)), ("a", "b", "c", "twist"), notes)
    assert rig.constraints == (first, later)
    assert notes == []
    model = dataclasses.replace(turned(b=turn), rig=rig)
    _, after = posed(model)
    assert math.degrees(twist_angle(change_of(model, after, "c"), UP)) == pytest.approx(60.0, abs=1e-9)
    assert math.degrees(twist_angle(change_of(model, after, "twist"), UP)) == pytest.approx(30.0, abs=1e-9)


def test_constraints_in_a_circle_are_left_out_with_a_warning() -> None:
    circle = (Constraint(1, 2, ConstraintType.AIM), Constraint(2, 1, ConstraintType.ROLL))
    good = Constraint(3, 0, ConstraintType.ROLL)
    notes: list[str] = []
    assert ordered(Rig(constraints=(*circle, good)), ("a", "b", "c", "d"), notes).constraints == (good,)
    assert notes == ["The constraints of 'b', 'c' follow each other; they are left out."]


# --- feet -----------------------------------------------------------------------------------------------------------

LEG = 0.85
FEET = ("foot_l", "foot_r")


def walking(speed: float = 1.2) -> CharacterModel:
    """The walk of the human, which goes forward so that the foot on the ground stands still."""
    model = human()
    clip = model.clips[0]
    times = clip.frame_times
    local = clip.sample_many(times.tolist(), ModelSettings().interpolation)
    positions = local.positions.copy()
    positions[:, 0, 2] += speed * times
    moved = UniformClip("walk", times[1] - times[0], positions, local.orientations, local.scales)
    return dataclasses.replace(model, clips=(moved,))


def slope(degrees: float, count: int = 9) -> tuple[Any, ...]:
    """Boxes in a row that rise along z; their tops form one plane through the origin."""
    turn = node_matrix(Transform(rotation=(-degrees, 0.0, 0.0)))
    boxes = []
    for number in range(count):
        matrix = turn.copy()
        matrix[:3, 3] = turn[:3, :3] @ np.array([0.0, -0.1, 0.5 * (number - 2)])
        boxes.append((ColliderShape.BOX, (2.0, 0.1, 0.26), flat(matrix)))
    return tuple(boxes)


def walk_speed() -> float:
    """Speed at which the standing foot of the walk does not move [m/s]."""
    model = human()
    poses = [
        pose_of(model, ModelSettings(clip="walk"), float(t), NO_RUN_UP) for t in np.arange(0.0, 1.0667, 1.0 / 60.0)
    ]
    path = np.array([place(pose, "foot_l") for pose in poses])
    low = path[:, 1] < path[:, 1].min() + 0.02
    return float(-np.median(np.gradient(path[:, 2], 1.0 / 60.0)[low]))


def test_feet_stand_on_a_slope_and_do_not_slide() -> None:
    model = walking(walk_speed())
    degrees, evaluator = 8.0, BoneModifiers(model)
    planting = FootPlanting(floor=False)
    ground = ModifierInputs((), flat(np.eye(4)), slope(degrees))
    played: dict[str, list[np.ndarray]] = {name: [] for name in FEET}
    paths: dict[str, list[np.ndarray]] = {name: [] for name in FEET}
    clear: dict[str, list[float]] = {name: [] for name in FEET}
    times = np.arange(0.0, 1.0667, 1.0 / 60.0)
    normal = np.array([0.0, math.cos(math.radians(degrees)), -math.sin(math.radians(degrees))])
    for time in times:
        before, after = posed(model, planting, time=float(time), inputs=ground, evaluator=evaluator)
        assert_is_whole(model, after)
        for name in FEET:
            played[name].append(place(before, name))
            paths[name].append(place(after, name))
            clear[name].append(float(place(after, name) @ normal) - place(before, name)[1])
    for name in FEET:
        before, path = np.array(played[name]), np.array(paths[name])
        spans = contacts(before, 1.0 / 60.0, LEG, 1, before[:, 1].min())
        assert spans
        for first, last in spans:
            inside = slice(first + 1, last)  # at its ends the whole scene counts, not these frames alone
            assert np.ptp(path[inside][:, [0, 2]], axis=0).max() < 1e-3
            # the sole is as far from the slope as from the floor in the clip
            assert np.abs(np.array(clear[name])[inside]).max() < 0.005


def test_feet_on_flat_ground_stay_as_they_are() -> None:
    for time in (0.0, 0.4, 0.77):
        before, after = posed(human(), FootPlanting(), time=time, clip="wave")
        np.testing.assert_allclose(after.model_from_joint[:, :3, 3], before.model_from_joint[:, :3, 3], atol=0.004)


def test_a_step_down_lowers_the_pelvis_and_a_step_up_bends_the_leg() -> None:
    left, right = ((sign * 0.5, -0.1) for sign in (1.0, -1.0))
    for height in (0.15, -0.15):
        boxes = (
            (ColliderShape.BOX, (0.5, 0.1, 1.0), at(left[0], left[1], 0.0)),
            (ColliderShape.BOX, (0.5, 0.1, 1.0), at(right[0], right[1] + height, 0.0)),
        )
        inputs = ModifierInputs((), flat(np.eye(4)), boxes)
        before, after = posed(human(), FootPlanting(floor=False), clip="wave", inputs=inputs)
        for name, lift in (("foot_l", 0.0), ("foot_r", height)):
            np.testing.assert_allclose(place(after, name), place(before, name) + np.array([0.0, lift, 0.0]), atol=0.002)
        drop = float(place(before, "hips")[1] - place(after, "hips")[1])
        assert drop == pytest.approx(max(-height, 0.0), abs=0.02)


def test_ground_far_away_is_no_ground() -> None:
    box = ((ColliderShape.BOX, (5.0, 0.1, 5.0), at(0.0, 0.6, 0.0)),)
    before, after = posed(human(), FootPlanting(), clip="wave", inputs=ModifierInputs((), flat(np.eye(4)), box))
    np.testing.assert_allclose(place(after, "foot_l"), place(before, "foot_l"), atol=0.004)


@pytest.mark.parametrize("shape", RIGID_SHAPES)
def test_tops_of_colliders_are_on_their_surface(shape: ColliderShape) -> None:
    size = {
        "plane": (0, 0, 0),
        "sphere": (0.7, 0, 0),
        "ellipsoid": (0.7, 0.4, 1.1),
        "capsule": (0.3, 0.6, 0),
        "box": (0.5, 0.2, 0.9),
    }
    sizes = tuple(map(float, size[shape.value]))
    matrix = node_matrix(Transform(position=(0.3, -0.2, 0.1), rotation=(30.0, 20.0, 40.0)))
    hits = 0
    for x, z in itertools.product(np.linspace(-1.5, 1.5, 13), repeat=2):
        found = top_of((shape, sizes, flat(matrix)), float(x), float(z))
        if found is None:
            continue
        hits += 1
        height, normal = found
        point = np.linalg.inv(matrix) @ np.array([x, height, z, 1.0])
        above = np.linalg.inv(matrix) @ np.array([x, height + 1e-4, z, 1.0])
        assert abs(distance(shape, sizes, point[:3])) < 1e-9
        assert distance(shape, sizes, above[:3]) > 0.0
        assert normal.y > 0.0
        assert glm.length(normal) == pytest.approx(1.0)
    assert hits > 5


def distance(shape: ColliderShape, size: tuple[float, ...], point: np.ndarray) -> float:
    """Signed distance from the surface of a shape; of an ellipsoid, only its sign and its zero are right."""
    if shape is ColliderShape.PLANE:
        return float(point[1])
    if shape is ColliderShape.SPHERE:
        return float(np.linalg.norm(point)) - size[0]
    if shape is ColliderShape.ELLIPSOID:
        return float(np.linalg.norm(point / size)) - 1.0
    if shape is ColliderShape.CAPSULE:
        return float(np.linalg.norm(point - (0.0, np.clip(point[1], -size[1], size[1]), 0.0))) - size[0]
    out = np.abs(point) - size
    return float(np.linalg.norm(np.maximum(out, 0.0)) + min(out.max(), 0.0))


# --- a pose is a function of time -----------------------------------------------------------------------------------


def full_settings(**more: Any) -> ModelSettings:
    return ModelSettings(
        clip="walk",
        modifiers=(
            FootPlanting(), TwoBoneIK(bone="hand_l", target="t"), LookAt(bone="head", target="t", chain=3),
            TwistDistribution(bone="hand_l"), LimitRotation(bone="spine_2"),
        ),
        **more,
    )  # fmt: skip


def test_poses_do_not_depend_on_those_before() -> None:
    model = walking()
    settings = full_settings(
        strips=(Strip(clip="walk", speed=0.7, repeats=2.0), Strip(clip="walk", start=2.5, speed=-1.0))
    )
    inputs = ModifierInputs((("t", at(0.3, 1.3, 0.4)),), flat(np.eye(4)), slope(5.0))
    times = np.linspace(-0.5, 6.0, 60).tolist()

    def poses(order: list[float]) -> dict[float, Pose]:
        evaluator = BoneModifiers(model)
        return {
            t: evaluator.applied(pose_of(model, settings, t, (0.2, 0.5)), settings, t, (0.2, 0.5), inputs)
            for t in order
        }

    forward, backward = poses(times), poses(times[::-1])
    for time in times:
        np.testing.assert_array_equal(forward[time].model_from_joint, backward[time].model_from_joint)
        assert_is_whole(model, forward[time])


def test_locked_feet_do_not_jump() -> None:
    model = walking(walk_speed())
    evaluator, times = BoneModifiers(model), np.arange(0.0, 1.05, 1.0 / 240.0)
    for name in FEET:
        steps, clips = [], []
        for time in times:
            before, after = posed(model, FootPlanting(), time=float(time), evaluator=evaluator)
            steps.append(place(after, name))
            clips.append(place(before, name))
        jump = np.linalg.norm(np.diff(steps, axis=0), axis=1).max()
        assert jump < 1.6 * np.linalg.norm(np.diff(clips, axis=0), axis=1).max() + 1e-4


def test_a_foot_that_passes_over_an_edge_does_not_jump() -> None:
    model, step = walking(walk_speed()), 0.15
    evaluator, times = BoneModifiers(model), np.arange(0.0, 1.05, 1.0 / 240.0)
    boxes = (
        (ColliderShape.BOX, (2.0, 0.1, 0.1), at(0.0, 0.5 * step - 0.1, 0.1)),  # one foot only passes over it
        (ColliderShape.BOX, (2.0, 0.1, 0.5), at(0.0, step - 0.1, 1.1)),
    )
    inputs = ModifierInputs((), flat(np.eye(4)), boxes)
    for name in FEET:
        lifted = []
        for time in times:
            before, after = posed(model, FootPlanting(), time=float(time), evaluator=evaluator, inputs=inputs)
            lifted.append(place(after, name) - place(before, name))
        assert np.ptp(np.array(lifted)[:, 1]) > 0.5 * step
        assert np.linalg.norm(np.diff(lifted, axis=0), axis=1).max() < 0.1 * step


def test_contacts_are_those_of_the_layers_that_are_played() -> None:
    """The body stands still, and a layer lets the legs walk in place: no foot is held at the place where it stood."""
    strips = (Strip(clip="walk", speed=0.0), Strip(clip="walk", mask="humanoid:legs"))
    evaluator, travelled = BoneModifiers(human()), []
    for time in np.arange(0.0, 2.0, 0.05):
        before, after = posed(human(), FootPlanting(), time=float(time), evaluator=evaluator, strips=strips)
        for name in FEET:
            assert np.linalg.norm(place(after, name) - place(before, name)) < 0.03
        travelled.append(place(after, "foot_l"))
    assert np.ptp(travelled, axis=0)[2] > 0.3


# --- every allowed value --------------------------------------------------------------------------------------------


def random_value(record: Any, random: np.random.Generator, bones: tuple[str, ...]) -> Any:
    declared, kind = record.declared, record.type
    if declared.role is Role.OWN_BONE:
        return str(random.choice([*bones, "", "nothing"]))
    if declared.role is Role.NODE:
        return str(random.choice(["s", "t", "u", "", "nowhere"]))
    if kind is bool:
        return bool(random.integers(2))
    if issubclass(kind, enum.Enum):
        return list(kind)[random.integers(len(kind))]
    if kind is str:
        return str(random.choice(["", ";;", "hand_l; nothing", "foot_l;root;foot_r", "root"]))
    if kind is int:
        return int(random.integers(declared.lo, declared.hi + 1))
    values = [
        declared.lo,
        declared.hi,
        0.0 if declared.lo <= 0.0 <= declared.hi else declared.lo,
        float(random.uniform(declared.lo, declared.hi)),
    ]
    return tuple(float(random.choice(values)) for _ in range(3)) if kind is tuple else float(random.choice(values))


@pytest.mark.parametrize("seed", [*range(3), *map(slow, range(3, 6))])
def test_no_allowed_value_raises(seed: int) -> None:
    random = np.random.default_rng(seed)
    model = [human(), walking(), turned(b=glm.angleAxis(1.0, UP))][seed % 3]
    assert model.skeleton is not None
    bones = model.skeleton.names
    evaluator = BoneModifiers(model)
    for _ in range(60):
        modifiers = []
        for _ in range(int(random.integers(1, 7))):
            cls = TYPES[random.integers(len(TYPES))]
            modifiers.append(cls(**{r.name: random_value(r, random, bones) for r in params_of(cls)}))
        matrices = [
            flat(node_matrix(Transform(
                position=tuple(random.choice([0.0, 1.0, -1e7, 1e-12, float(random.normal())], 3)),
                rotation=tuple(random.uniform(-1e6, 1e6, 3)), scale=tuple(random.choice([1.0, 0.0, -1.0, 1e6], 3)),
            )))
            for _ in range(4)
        ]  # fmt: skip
        inputs = ModifierInputs(tuple(zip("stu", matrices, strict=False)), matrices[3], slope(20.0))
        time = float(random.choice([0.0, -3.0, 1e6, float(random.uniform(0.0, 5.0))]))
        _, after = posed(model, *modifiers, time=time, inputs=inputs, evaluator=evaluator)
        assert np.isfinite(after.palette).all()


# --- the settings and the order of a scene --------------------------------------------------------------------------


def test_the_list_is_limited() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"modifiers": [{"modifier": "aim"}] * (MODIFIERS_MAX + 1)}, ModelSettings)
    kept = msgspec.json.decode(msgspec.json.encode(full_settings()), type=ModelSettings)
    assert kept == full_settings()


def character(name: str, *targets: str, **more: Any) -> Node:
    modifiers = tuple(LookAt(bone="head", target=target) for target in targets)
    return Node(id=name, name=name, settings=ModelSettings(modifiers=modifiers), **more)


def null(name: str, parent: str = "", bone: str = "") -> Node:
    from sinew.sim.kinds.group.kind import GroupSettings

    return Node(id=name, name=name, settings=GroupSettings(), attachment=Attachment(node=parent, bone=bone))


def test_characters_come_after_those_that_carry_their_targets() -> None:
    scene = Scene(nodes=(
        character("a", "on b"), character("b", "on c", "alone"), null("on b", "b", "x"), character("c"),
        null("between", "c", "hand"), null("on c", "between"), null("alone"),
    ))  # fmt: skip
    assert [node.id for node in scene.characters_in_order] == ["c", "b", "a"]
    assert scene.targets == {"a": ("on b",), "b": ("on c", "alone")}
    assert {node.id for node in scene.leading("a")} == {"on b", "b", "on c", "between", "c", "alone"}


def test_targets_in_a_circle_have_no_effect_and_a_reason() -> None:
    scene = Scene(nodes=(
        character("a", "on b", "on a", "missing"), character("b", "on a"), null("on a", "a", "head"), null("on b", "b"),
        character("rider", attachment=Attachment(node="b", bone="head")), character("host", "on rider"),
        null("on rider", "rider"), character("d", "on e"),
        character("e", attachment=Attachment(node="d")), null("on e", "e"),
    ))  # fmt: skip
    assert scene.targets == {"a": ("on a",), "host": ("on rider",)}
    order = [node.id for node in scene.characters_in_order]
    assert order.index("b") < order.index("rider") < order.index("host")
    assert BoneModifiers(human()).problems(scene.node("a"), scene) == [
        "1 · Look at: its target moves with what follows this character",
        "3 · Look at: its target is not in the scene",
    ]


def test_problems_name_what_is_missing() -> None:
    modifiers = (
        TwoBoneIK(), TwoBoneIK(bone="hand_l"), Aim(bone="tail", source="head"), CopyRoll(bone="head"),
        FootPlanting(feet="paw"), FootPlanting(), TwoBoneIK(muted=True),
    )  # fmt: skip
    node = Node(id="a", settings=ModelSettings(modifiers=modifiers))
    assert BoneModifiers(human()).problems(node, Scene(nodes=(node,))) == [
        "1 · Two-bone IK: choose a bone",
        "2 · Two-bone IK: choose a target",
        "3 · Aim: there is no bone 'tail'",
        "4 · Copy roll: choose a target",
        "5 · Foot planting: no feet are found; name them",
    ]
    node = Node(id="a", settings=ModelSettings(modifiers=(ArmSpace(),)))
    assert BoneModifiers(human()).problems(node, Scene(nodes=(node,))) == []
    assert BoneModifiers(chain_model()).problems(node, Scene(nodes=(node,))) == [
        "1 · Arm space: no upper arms are found; choose them in the Humanoid Map"
    ]
