from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.clip import CurveClip, UniformClip
from sinew.sim.assets.content import content_sum
from sinew.sim.assets.influences import joint_boxes, weighted_vertex_counts
from sinew.sim.assets.info import influence_counts
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Bounds, CharacterModel, Interpolation, Mesh, Skeleton, Skin
from sinew.sim.assets.raw import RawChannel
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.maths import quaternion
from sinew.sim.maths import quaternion as Q
from tests.ezm_samples import bone_text, load_text, mesh_text
from tests.model_samples import mesh_of

BONES = "".join(bone_text(name) for name in "abcd")
RIG = f"<Skeletons><Skeleton>{BONES}</Skeleton></Skeletons>"


def skinned(
    folder: Path, influences: str, ctype: str = "ffff hhhh", semantic: str = "blendweights blendindices"
) -> tuple:
    rows = ",".join(f"{corner} {influences}" for corner in ("0 0 0", "1 0 0", "0 1 0"))
    text = mesh_text(rows, ctype=f"fff {ctype}", semantic=f"position {semantic}").replace("<Meshes>", RIG + "<Meshes>")
    model = load_text(folder, text)
    return model.skin, model.warnings


def test_influences(tmp_path: Path) -> None:
    for influences, weights, joints, warning in (
        ("0.5 0.3 0.2 0 3 2 1 0", [0.5, 0.3, 0.2, 0], [3, 2, 1, 0], None),
        ("0.2 0.5 0 0.3 1 2 3 0", [0.5, 0.3, 0.2, 0], [2, 0, 1, 0], None),
        ("1 0 0 0 2 3 3 3", [1, 0, 0, 0], [2, 0, 0, 0], None),
        ("1 0 0 0 2 999 65535 70000", [1, 0, 0, 0], [2, 0, 0, 0], None),
        ("0.50004 0.5 0 0 1 2 0 0", [0.50002, 0.49998, 0, 0], [1, 2, 0, 0], None),
        ("2 1 1 0 1 2 3 0", [0.5, 0.25, 0.25, 0], [1, 2, 3, 0], "did not sum to 1"),
        ("0.5 0.5 0 0 1 4 0 0", [1, 0, 0, 0], [1, 0, 0, 0], "3 influences name joints that do not exist"),
        ("0.5 0.5 0 0 1 -1 0 0", [1, 0, 0, 0], [1, 0, 0, 0], "3 influences name joints that do not exist"),
        ("1 0 0 0 9 0 0 0", [1, 0, 0, 0], [0, 0, 0, 0], "3 vertices have no weight and follow the first joint"),
        ("0 0 0 0 1 2 3 0", [1, 0, 0, 0], [0, 0, 0, 0], "3 vertices have no weight and follow the first joint"),
        ("1.5 -0.5 0 0 1 2 0 0", [1, 0, 0, 0], [1, 0, 0, 0], "3 weights are negative or not finite"),
        ("nan 0.5 0.5 0 1 2 3 0", [0.5, 0.5, 0, 0], [2, 3, 0, 0], "3 weights are negative or not finite"),
    ):
        skin, warnings = skinned(tmp_path, influences)
        np.testing.assert_allclose(skin.weights, [weights] * 3, atol=1e-6)
        assert skin.joints.tolist() == [joints] * 3
        assert skin.influence_max == np.count_nonzero(weights)
        assert any(warning in text for text in warnings) if warning else warnings == ()


@pytest.mark.parametrize(
    ("influences", "ctype", "semantic", "joint"),
    [("3 0 0 0", "hhhh", "blendindices", 3), ("1 0 0 0", "ffff", "blendweights", 0), ("7", "f", "radius", 0)],
)
def test_missing_halves_follow_the_defaults(tmp_path, influences, ctype, semantic, joint):
    skin, _ = skinned(tmp_path, influences, ctype, semantic)
    assert skin.joints[:, 0].tolist() == [joint] * 3
    np.testing.assert_array_equal(skin.weights, [[1, 0, 0, 0]] * 3)


def test_more_than_four_influences_are_read(tmp_path: Path) -> None:
    weights = "0.3 0.2 0.1 0.1 0.1 0.1 0.05 0.05"
    skin, _ = skinned(tmp_path, f"{weights} 0 1 2 3 0 1 2 3", "ffffffff hhhhhhhh")
    assert skin.weights.shape == (3, 8)
    assert skin.influence_max == 8


def test_counts() -> None:
    # The second vertex names joint 1 twice and counts once.
    joints = np.array([[0, 0, 0, 0], [1, 1, 0, 0], [2, 1, 0, 0]], np.uint16)
    weights = np.array([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.5, 0.25, 0.25, 0]], np.float32)
    skin = Skin(joints, weights, 3)
    assert influence_counts(skin) == [1, 1, 1]
    assert weighted_vertex_counts(skin, 4).tolist() == [2, 2, 1, 0]


MODELS = ["dude/dude.ezm", "character/character.ezm", "clothsim_zup/ClothSim.ezm", "export/export.ezm"]


def posed_box(model: CharacterModel, palette: np.ndarray) -> Bounds:
    joints, corners = joint_boxes(model.mesh, model.skin)
    matrices = palette[joints]
    points = np.einsum("jab,jcb->jca", matrices[:, :3, :3], corners) + matrices[:, None, :3, 3]
    return Bounds(points.min(axis=(0, 1)), points.max(axis=(0, 1)))


def wild_clip(skeleton: Skeleton) -> UniformClip:
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


@pytest.fixture
def points_and_skin() -> tuple[Mesh, Skin]:
    positions = np.array([[0, 0, 0], [1, 2, 3], [-1, 5, 0], [4, 4, 4]], np.float32)
    mesh = mesh_of(positions)
    joints = np.array([[2, 0, 0, 0], [2, 0, 0, 0], [0, 2, 1, 0], [0, 0, 0, 0]], np.uint16)
    weights = np.array([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.9, 0.1, 0, 0], [1, 0, 0, 0]], np.float32)
    return mesh, Skin(joints, weights, 2)


def test_a_box_spans_what_its_joint_moves(points_and_skin):
    assert weighted_vertex_counts(points_and_skin[1], 4).tolist() == [3, 0, 3, 0]
    assert weighted_vertex_counts(None, 3).tolist() == [0, 0, 0]
    joints, corners = joint_boxes(*points_and_skin)
    assert joints.tolist() == [0, 2]
    assert corners.shape == (2, 8, 3)
    np.testing.assert_array_equal(corners.min(axis=1), [[-1, 2, 0], [-1, 0, 0]])
    np.testing.assert_array_equal(corners.max(axis=1), [[4, 5, 4], [1, 5, 3]])
    assert len(np.unique(corners[0], axis=0)) == 8


TURN = Q.from_axis_angle([0.0, 0.0, 1.0], np.pi / 2)


def arm(**changes):
    """Hand, elbow, shoulder in that order: every parent comes after its child."""
    parts = {
        "names": ["hand", "elbow", "shoulder"],
        "parents": [1, 2, -1],
        "positions": [[2.0, 0, 0], [1.0, 0, 0], [0.0, 5, 0]],
        "orientations": [Q.IDENTITY, TURN, TURN],
        "scales": np.ones((3, 3)),
    }
    return build_skeleton(**{**parts, **changes})


def test_what_makes_no_skeleton_is_refused_in_one_line():
    for changes, text in (
        ({"names": ["hand", "elbow", "hand"]}, "'hand' is used 2 times"),
        ({"parents": [1, 0, -1]}, "'hand' has no root"),
        ({"parents": [1, 2, 2]}, "has no root"),
        ({"parents": [1, 2, 3]}, "parent 3 of joint 'shoulder'"),
        ({"parents": [1, 2]}, "parents have shape"),
        ({"positions": np.zeros((3, 2))}, r"positions have shape \(3, 2\)"),
        ({"scales": [[1, 1, 1], [1, np.nan, 1], [1, 1, 1]]}, "scale of joint 'elbow' is not finite"),
        ({"names": [], "parents": [], "positions": [], "orientations": [], "scales": []}, "at least one joint"),
    ):
        with pytest.raises(ValueError, match=text):
            arm(**changes)


def test_parents_may_follow_their_children():
    skeleton = arm()
    assert [level.tolist() for level in skeleton.hierarchy.levels] == [[1], [0]]
    np.testing.assert_allclose(skeleton.model_from_bind[:, :3, 3], [[-2, 6, 0], [0, 6, 0], [0, 5, 0]], atol=1e-15)


def test_inverse_bind_takes_every_joint_to_the_origin():
    skeleton = arm(scales=[[1, 1, 1], [0, 0, 0], [1, 1, 1]])
    assert np.isfinite(skeleton.bind_from_model).all()
    skeleton = arm(orientations=[[0, 0, 0, 0], 3.0 * TURN, TURN], scales=[[1, 2, 1], [0.5, 1, 1], [3, 3, 3]])
    np.testing.assert_allclose(skeleton.bind_orientations, [Q.IDENTITY, TURN, TURN])
    product = skeleton.bind_from_model @ skeleton.model_from_bind
    np.testing.assert_allclose(product, np.broadcast_to(np.eye(4), (3, 4, 4)), atol=1e-12)


def test_a_chain_of_ten_thousand_joints_builds():
    count = 10_000
    positions = np.tile([0.0, 1.0, 0.0], (count, 1))
    skeleton = build_skeleton(
        [str(index) for index in range(count)],
        np.arange(count) - 1,
        positions,
        np.tile(Q.IDENTITY, (count, 1)),
        np.ones((count, 3)),
    )
    np.testing.assert_allclose(skeleton.model_from_bind[-1, :3, 3], [0, count, 0])


STEP = 0.02
FRAMES, JOINTS = 7, 5
LINEAR, NEAREST = Interpolation.LINEAR, Interpolation.NEAREST


def random_keys(frames: int = FRAMES, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    turns = Q.normalised(random.normal(size=(frames, JOINTS, 4)))
    return random.normal(size=(frames, JOINTS, 3)), turns, random.uniform(0.5, 2.0, (frames, JOINTS, 3))


POSITIONS, TURNS, SCALES = random_keys()
CLIP = UniformClip("walk", STEP, POSITIONS, TURNS, SCALES)


def test_what_makes_no_clip_is_refused_in_one_line():
    for arguments, text in (
        ((STEP, POSITIONS[:0], TURNS[:0], SCALES[:0]), "no keys"),
        ((STEP, POSITIONS[:, :0], TURNS[:, :0], SCALES[:, :0]), "no keys"),
        ((STEP, POSITIONS, TURNS[:3], SCALES), "orientations have shape"),
        ((STEP, POSITIONS, TURNS, SCALES[..., :2]), "scales have shape"),
        ((0.0, POSITIONS, TURNS, SCALES), "frame step 0.0 s is not positive"),
        ((float("nan"), POSITIONS, TURNS, SCALES), "not positive"),
        ((STEP, np.where(POSITIONS[2, 3, 1] == POSITIONS, np.inf, POSITIONS), TURNS, SCALES), "key 2, joint 3"),
    ):
        with pytest.raises(ValueError, match=text):
            UniformClip("walk", *arguments)


@pytest.mark.parametrize("interpolation", Interpolation)
@pytest.mark.parametrize("frame", [0, 3, FRAMES - 1])
def test_a_key_is_met_at_its_time_and_time_is_clamped(frame, interpolation):
    pose = CLIP.sample(frame * STEP, interpolation)
    np.testing.assert_allclose(pose.positions, POSITIONS[frame], atol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(pose.orientations * TURNS[frame], axis=1)), 1.0, atol=1e-12)
    np.testing.assert_allclose(pose.scales, SCALES[frame], atol=1e-12)
    for time, end in ((-5.0, 0), (1e9, -1), (-np.inf, 0), (np.inf, -1)):
        np.testing.assert_array_equal(CLIP.sample(time, interpolation).positions, POSITIONS[end])


@given(st.integers(0, FRAMES - 2), st.integers(1, 99).map(lambda value: value / 100.0))
def test_between_keys_lines_and_shortest_arcs(frame, share):
    pose = CLIP.sample((frame + share) * STEP, LINEAR)
    expected = POSITIONS[frame] + share * (POSITIONS[frame + 1] - POSITIONS[frame])
    np.testing.assert_allclose(pose.positions, expected, atol=1e-12)
    turns = Q.slerp(TURNS[frame], TURNS[frame + 1], share)
    np.testing.assert_allclose(np.abs(np.sum(pose.orientations * turns, axis=1)), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(pose.orientations, axis=1), 1.0, atol=1e-12)


@given(st.integers(0, FRAMES - 2), st.integers(1, 99).filter(lambda value: value != 50))
def test_nearest_key(frame, percent):
    pose = CLIP.sample((frame + percent / 100.0) * STEP, NEAREST)
    np.testing.assert_array_equal(pose.positions, POSITIONS[frame + (percent > 50)])


def test_neighbouring_keys_lie_on_one_side_whatever_signs_the_file_has():
    signs = np.random.default_rng(5).choice([-1.0, 1.0], size=(FRAMES, JOINTS, 1))
    flipped = UniformClip("walk", STEP, POSITIONS, TURNS * signs, SCALES)
    for frame in range(FRAMES - 1):
        dots = np.sum(flipped.key(frame).orientations * flipped.key(frame + 1).orientations, axis=1)
        assert (dots >= 0.0).all()
    for time in np.linspace(0.0, CLIP.duration, 23):
        dots = np.sum(flipped.sample(time, LINEAR).orientations * CLIP.sample(time, LINEAR).orientations, axis=1)
        np.testing.assert_allclose(np.abs(dots), 1.0, atol=1e-12)


def test_a_pose_cannot_change_the_clip():
    with pytest.raises(ValueError, match="read-only"):
        CLIP.sample(0.0, LINEAR).positions[0, 0] = 1.0
    with pytest.raises(IndexError, match="keys 0 to 6, not 7"):
        CLIP.key(FRAMES)
    turns = TURNS.copy()
    turns[2, 1] = 0.0
    clip = UniformClip("walk", STEP, POSITIONS, turns, SCALES)
    np.testing.assert_allclose(np.abs(clip.key(2).orientations[1]), Q.IDENTITY)


def test_checksums_of_curves_are_those_of_existing_bakes():
    skeleton = build_skeleton(["a"], [-1], np.zeros((1, 3)), np.array([[0.0, 0.0, 0.0, 1.0]]), np.ones((1, 3)))
    times = np.array([0.0, 1.0])
    turns, moves = np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    channels = [RawChannel(0, "rotation", "LINEAR", times, turns), RawChannel(0, "translation", "STEP", times, moves)]
    known = "b331a98c18264228c5012478e910393d61831b3984e661e72fc9e0c989572ea0"
    assert content_sum(CurveClip("c", channels, skeleton)) == known
