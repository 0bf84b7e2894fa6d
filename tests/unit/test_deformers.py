import math
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.animation.pose import Warps
from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.clip import UniformClip
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import Bounds, CharacterModel, Skeleton, Skin
from sinew.sim.characters.deformers.functions import MOVES, mask_of, warped, warped_boxes
from sinew.sim.characters.deformers.settings import (
    Bend,
    Bulge,
    BulgeMode,
    Deformer,
    DeformerAxis,
    EmissionPulse,
    Extent,
    Taper,
    Twist,
    Wave,
)
from sinew.sim.characters.playing import (
    active_clip,
    facing,
    front_at_first,
    texture_origin_bottom,
    up_axis,
    world_from_model,
)
from sinew.sim.characters.prepared import bone_segments
from sinew.sim.characters.settings import FlipV, ModelSettings, UpAxis
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Adds
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform, node_matrix
from tests.model_samples import mesh_of, model_of

EXTENT = Extent(Bounds(np.array([-1.0, 0.0, -0.5]), np.array([1.0, 4.0, 0.5])), is_z_up=False)
STEP = 1e-5
# Parts of the model below the start, within, and beyond the end; bends of every sign.
CASES = [
    Bulge(height=8.0, wavelength=30.0, phase=20.0),
    Bulge(mode=BulgeMode.STANDING, height=-5.0, axis=DeformerAxis.X),
    Bulge(mode=BulgeMode.PULSE),
    Twist(angle=200.0, start=20.0, end=70.0),
    Twist(axis=DeformerAxis.Z, angle=-90.0, frequency=0.3),
    Bend(angle=120.0, start=10.0, end=60.0),
    Bend(angle=-0.4, towards=DeformerAxis.Y),
    Bend(axis=DeformerAxis.X, towards=DeformerAxis.Y, angle=-75.0, start=70.0, end=90.0),
    Taper(factor=0.2, start=10.0, end=80.0),
    Taper(factor=-1.0, axis=DeformerAxis.Z),
    Wave(height=10.0, towards=DeformerAxis.Y, axis=DeformerAxis.X),
]


def warps_of(*deformers: Deformer, time: float = 0.7, extent: Extent = EXTENT) -> Warps:
    values = np.array([deformer.values(extent, time) for deformer in deformers])
    return Warps(tuple(deformer.function for deformer in deformers), values, (-1,) * len(deformers), np.zeros(3))


def moved(deformer: Deformer, points: np.ndarray, normals: np.ndarray | None = None, time: float = 0.0) -> np.ndarray:
    normals = np.zeros_like(points) if normals is None else normals
    return warped(warps_of(deformer, time=time), points, normals, None, {})[0]


def cloud(count: int = 200) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    normals = random.normal(size=(count, 3))
    box = EXTENT.box
    return random.uniform(box.lo, box.hi, (count, 3)), normals / np.linalg.norm(normals, axis=1, keepdims=True)


@pytest.mark.parametrize("deformer", CASES, ids=lambda case: case.label)
@pytest.mark.parametrize("has_mask", [False, True])
def test_derivatives_are_finite_differences(deformer: Deformer, has_mask: bool) -> None:
    points, normals = cloud()
    tilt = np.array([0.05, 0.1, -0.08]) if has_mask else np.zeros(3)
    values = deformer.values(EXTENT, 0.7)

    def at(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slopes = np.broadcast_to(tilt, places.shape)
        return MOVES[deformer.function](values, places, normals, 0.5 + places @ tilt, slopes)

    _, jacobian = at(points)
    for axis in range(3):
        shift = STEP * np.eye(3)[axis]
        difference = (at(points + shift)[0] - at(points - shift)[0]) / (2 * STEP)
        # A kink at the end of a part gives nothing in between.
        off = np.abs(np.broadcast_to(jacobian, (len(points), 3, 3))[:, :, axis] - difference).max(axis=1)
        assert np.quantile(off, 0.99) < 1e-6


def test_a_twist_turns_the_top_by_its_angle_and_leaves_the_bottom() -> None:
    points = np.array([[1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [1.0, 4.0, 0.0], [1.0, 9.0, 0.0]])
    expected = [[1, 0, 0], [math.sqrt(0.5), 2, -math.sqrt(0.5)], [0, 4, -1], [0, 9, -1]]
    np.testing.assert_allclose(moved(Twist(angle=90.0), points), expected, atol=1e-12)


def test_a_bend_makes_an_arc_of_the_same_length() -> None:
    line = np.column_stack([np.zeros(401), np.linspace(0.0, 4.0, 401), np.zeros(401)])
    arc = moved(Bend(angle=90.0), line)
    radius = 4.0 / (math.pi / 2.0)
    np.testing.assert_allclose(arc[-1], [0.0, radius, radius], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(np.diff(arc, axis=0), axis=1).sum(), 4.0, rtol=1e-5)


def test_a_taper_scales_the_far_end_alone() -> None:
    points = np.array([[1.0, 0.0, 0.5], [1.0, 4.0, 0.5]])
    np.testing.assert_allclose(moved(Taper(factor=0.25), points), [[1.0, 0.0, 0.5], [0.25, 4.0, 0.125]])


def test_a_wave_travels_and_a_pulse_breathes() -> None:
    points, normals = np.array([[0.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 1.0]])
    wave = Wave(height=10.0, wavelength=50.0, frequency=1.0)
    np.testing.assert_allclose(moved(wave, points, time=0.25), [[0.4, 0.0, 0.0]], atol=1e-12)
    # A quarter of a period later the wave has moved on by a quarter of its length.
    ahead = np.array([0.0, 0.5, 0.0])
    np.testing.assert_allclose(moved(wave, points, time=0.25), moved(wave, points + ahead) - ahead, atol=1e-12)
    light = EmissionPulse(colour=(1.0, 0.5, 0.0), strength=2.0)
    np.testing.assert_allclose([light.light(0.0), light.light(0.5)], [[0.0] * 3, [2.0, 1.0, 0.0]], atol=1e-12)
    pulse = Bulge(mode=BulgeMode.PULSE, height=5.0, frequency=1.0, phase=-90.0)
    np.testing.assert_allclose(moved(pulse, points, normals, time=0.0), points, atol=1e-12)
    np.testing.assert_allclose(moved(pulse, points, normals, time=0.5), [[0.0, 0.0, 0.2]], atol=1e-12)


def test_files_with_z_up_bend_about_what_is_up_on_the_screen() -> None:
    lying = Extent(Bounds(np.array([-1.0, -0.5, 0.0]), np.array([1.0, 0.5, 4.0])), is_z_up=True)
    points, _ = cloud(50)
    stored = np.column_stack([points[:, 0], -points[:, 2], points[:, 1]])
    for case in (Twist(angle=70.0), Bend(angle=40.0), Wave(towards=DeformerAxis.Z)):
        there = warped(warps_of(case, extent=lying), stored, np.zeros_like(stored), None, {})[0]
        here = warped(warps_of(case), points, np.zeros_like(points), None, {})[0]
        np.testing.assert_allclose(np.column_stack([there[:, 0], there[:, 2], -there[:, 1]]), here, atol=1e-12)


def test_boxes_hold_their_deformed_content() -> None:
    points, normals = cloud(2000)
    for case in CASES:
        warps = warps_of(case)
        lo, hi = warped_boxes(warps, EXTENT.box.lo[None], EXTENT.box.hi[None])
        places = warped(warps, points, normals, None, {})[0]
        assert (places >= lo).all(), case
        assert (places <= hi).all(), case


def test_the_slope_of_a_weight_that_grows_evenly_is_even() -> None:
    x, y = np.meshgrid(np.linspace(0, 1, 9), np.linspace(0, 1, 9))
    points = np.column_stack([x.ravel(), y.ravel(), np.zeros(81)]).astype(np.float32)
    corner = (np.arange(8)[:, None] * 9 + np.arange(8)).ravel()
    faces = np.concatenate([np.column_stack([corner, corner + 1, corner + 10]),
                            np.column_stack([corner, corner + 10, corner + 9])]).astype(np.uint32)  # fmt: skip
    weights = np.column_stack([points[:, 0], 1.0 - points[:, 0], np.zeros((81, 2))]).astype(np.float32)
    skin = Skin(np.tile(np.array([0, 1, 0, 0], np.uint16), (81, 1)), weights, 2)
    mask = mask_of(mesh_of(points, faces), skin, 0)
    np.testing.assert_allclose(mask[:, :3], np.tile([1.0, 0.0, 0.0], (81, 1)), atol=1e-6)
    np.testing.assert_allclose(mask[:, 3], points[:, 0], atol=1e-7)


NAMES = ["scene", "camera", "root", "spine", "helper", "arm", "finger", "mesh node"]
PARENTS = [-1, 0, 0, 2, 3, 4, 5, 0]


@pytest.fixture
def skeleton() -> Skeleton:
    count = len(NAMES)
    turns = np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))
    return build_skeleton(NAMES, PARENTS, np.ones((count, 3)), turns, np.ones((count, 3)))


def skin_of(*joints: int) -> Skin:
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


@pytest.mark.parametrize("skin", [None, Skin(np.zeros((0, 4), np.uint16), np.zeros((0, 4), np.float32), 0)])
def test_all_joints_are_drawn_where_nothing_is_weighted(skeleton, skin):
    segments = bone_segments(skeleton, skin)
    assert len(segments.heads) == len(NAMES) - 1
    assert segments.joints.tolist() == list(range(len(NAMES)))


def test_a_bulge_turns_the_normals_of_a_sphere() -> None:
    """Against those of the faces of a fine grid: half a degree off; unturned ones 4 degrees."""
    across, along = np.meshgrid(np.linspace(0.3, 2.8, 400), np.linspace(0.0, 2.0, 400), indexing="ij")
    sphere = np.stack([np.sin(across) * np.cos(along), np.cos(across), np.sin(across) * np.sin(along)], axis=-1)
    points = sphere.reshape(-1, 3)
    values = np.array([0.0, 1.0, 0.0, 6.0, 0.05, 0.4, 1.0, 0, 0, 0, 0, 0])
    warps = Warps(("bulge",), values[None], (-1,), np.zeros(3))
    places, normals, _ = warped(warps, points, points, None, {})
    grid = places.reshape(sphere.shape)
    true = np.cross(np.gradient(grid, axis=1), np.gradient(grid, axis=0))[2:-2, 2:-2]
    true /= np.linalg.norm(true, axis=-1, keepdims=True)

    def off(got: np.ndarray) -> float:
        cosines = np.sum(true * got.reshape(sphere.shape)[2:-2, 2:-2], axis=-1)
        return math.degrees(np.arccos(np.clip(np.abs(cosines), 0.0, 1.0)).max())

    assert off(normals) < 0.5
    assert off(points) > 4.0


STYLES = [
    ("thigh_l", "thigh_r", "hand.L", "hand.R"),
    ("L_Hand", "R_Hand", "L_Ball", "R_Ball"),
    ("Bip01 L Foot", "Bip01 R Foot", "Bip01-L-Toe0", "Bip01-R-Toe0"),
    ("mixamorig:LeftArm", "mixamorig:RightArm", "mixamorig:LeftLeg", "mixamorig:RightLeg"),
    ("leftEye", "rightEye", "ArmLeft", "ArmRight"),
]


@pytest.mark.parametrize(("names", "yaw"), list(zip(STYLES, [0.0, 90.0, 180.0, 270.0, 0.0], strict=True)))
def test_the_left_side_gives_the_front(names: tuple[str, ...], yaw: float) -> None:
    turn = np.radians(yaw + 20.0)  # a shoulder swings
    left = np.array([np.cos(turn), 0.0, -np.sin(turn)])  # +x of who looks along +z, turned about y
    places = np.array([0.2 * left, -0.2 * left, 0.5 * left + [0, 1, 0], -0.5 * left + [0, 1.1, 0], np.zeros(3)])
    assert facing((*names, "lower_back"), np.full(5, -1), places) == yaw


def test_names_or_places_without_sides_have_no_front() -> None:
    for names, places in (
        ((), np.zeros((0, 3))),
        (("root", "bright", "cleft", "lower"), np.ones((4, 3))),
        (("hand_l", "hand_r", "root", "tip"), np.array([[0, 1, 0.1], [0, -1, 0], [0, 0, 0], [0, 0, 0]])),
        (("hand_l", "hand_r", "foot_l", "foot_r"), np.array([[1.0, 0, 0], [-1, 0, 0], [-1, 0, 0], [1, 0, 0]])),
        (("hand_l", "hand_r", "foot_l", "foot_r"), np.zeros((4, 3))),
        (("hand_l", "hand_r", "foot_l", "foot_r"), np.full((4, 3), np.nan)),
    ):
        assert facing(names, np.full(len(names), -1), places) is None


def test_arms_that_swing_do_not_count() -> None:
    names = ("root", "thigh_l", "thigh_r", "hand_l", "hand_r", "finger_l", "finger_r")
    places = np.array([[0, 0, 0], [0.1, 0, 0], [-0.1, 0, 0], [0, 0, 1], [0, 0, -1], [0, 0, 1.1], [0, 0, -1.1]])
    assert facing(names, np.array([-1, 0, 0, 1, 2, 3, 4]), places) == 0.0


@pytest.mark.parametrize(
    ("name", "yaw"), [("dude/dude", 180.0), ("character/character", 180.0), ("clothsim_zup/ClothSim", 0.0)]
)
def test_real_characters_are_lit_and_seen_from_their_front(assets: Path, name: str, yaw: float) -> None:
    model = load_model(assets / "ezm" / f"{name}.ezm")
    assert front_at_first(model) == yaw
    (light,) = KINDS["light"].part(Adds).companions(model, Node(id="m", settings=ModelSettings()), Scene())
    assert light.transform.position[2] * (1.0 if yaw == 0.0 else -1.0) > 0.0


def model(*clips: str, up: str = "Y", origin: str = "bottom", skeleton: bool = True) -> CharacterModel:
    still = [[0.0, 0.0, 0.0, 1.0]]
    made = tuple(UniformClip(name, 1.0, [[[0, 0, 0]]], [still], [[[1, 1, 1]]]) for name in clips)
    joints = build_skeleton(["root"], [-1], [[0, 0, 0]], still, [[1, 1, 1]]) if skeleton else None
    return model_of(mesh_of([]), skeleton=joints, clips=made, default_up_axis=up, default_texture_origin=origin)


def unit_vectors(model: CharacterModel, transform: Transform | None = None, **settings: object) -> np.ndarray:
    matrix = world_from_model(ModelSettings(**settings), model, node_matrix(transform or Transform()))
    return (matrix[:3, :3] @ np.eye(3) + matrix[:3, 3:]).T


@pytest.mark.parametrize("default", ["Z", "z"])
def test_z_up_becomes_y_up_by_a_rotation(default):
    """The file's up is the world's up, and its front, -y, faces the camera at +z."""
    x, y, z = unit_vectors(model(up=default))
    np.testing.assert_array_equal([x, y, z], [[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    np.testing.assert_array_equal(np.cross(x, y), z)


def test_the_choice_goes_before_the_rule_of_the_importer():
    for setting, default, expected in (
        (UpAxis.AUTO, "Y", "y"),
        (UpAxis.AUTO, "Z", "z"),
        (UpAxis.Y, "Z", "y"),
        (UpAxis.Z, "Y", "z"),
        (UpAxis.Z, "Z", "z"),
    ):
        assert up_axis(ModelSettings(up_axis=setting), model(up=default)) == expected
        assert (unit_vectors(model(up=default), up_axis=setting)[2] == [0, 1, 0]).all() == (expected == "z")


def test_the_model_is_turned_upright_before_the_node_is_placed():
    """A quarter turn of the node about y takes the file's up nowhere, and its -y, the front, to +x."""
    moved = unit_vectors(model(), Transform(position=(1.0, 2.0, 3.0)), unit_scale=0.01)
    np.testing.assert_allclose(moved, np.array([1.0, 2.0, 3.0]) + 0.01 * np.eye(3))
    _, y, z = unit_vectors(model(up="Z"), Transform(rotation=(0.0, 90.0, 0.0), scale=(1.0, 2.0, 1.0)), unit_scale=0.5)
    np.testing.assert_allclose(z, [0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(-y, [0.5, 0.0, 0.0], atol=1e-12)


def test_the_named_clip_else_the_first_drives_the_model():
    two = model("walk", "run")
    assert active_clip(ModelSettings(), two).name == "walk"
    assert active_clip(ModelSettings(clip="run"), two).name == "run"
    assert active_clip(ModelSettings(clip="gone"), two).name == "walk"
    assert active_clip(ModelSettings(), model("wave", skeleton=False)).name == "wave"
    assert active_clip(ModelSettings(bind_pose=True), two) is None
    assert active_clip(ModelSettings(clip="walk"), model()) is None
    for flip, origin, bottom in (
        (FlipV.AUTO, "bottom", True), (FlipV.AUTO, "top", False), (FlipV.OFF, "top", True), (FlipV.ON, "bottom", False),
    ):  # fmt: skip
        assert texture_origin_bottom(ModelSettings(flip_v=flip), model(origin=origin)) is bottom
