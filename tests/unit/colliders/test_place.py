import re
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.shaders import ROOT
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.colliders.oracle import EARTH, REST, local_points, velocity_at
from sinew.sim.colliders.outline import outline
from sinew.sim.colliders.pack import COLLIDER_TEXELS, arranged, motion_of, pack_colliders
from sinew.sim.colliders.scene_colliders import colliders_over
from sinew.sim.colliders.state import RIGID_SHAPES, ColliderPlacement, ColliderShape, ColliderState, bounding_radius
from sinew.sim.kinds.collider.fit import (
    COLLIDERS_MAX,
    MOVED,
    FittedCollider,
    fit_colliders,
    fit_shape,
    group_weights,
)
from sinew.sim.kinds.collider.place import placements, sized
from sinew.sim.kinds.collider.settings import SIZES_OF_SHAPE, ColliderSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.maths import quaternion
from sinew.sim.maths.transform import transform_points
from sinew.sim.scene.params import params_of
from sinew.sim.scene.scene import Attachment, Node, NodeId, Scene
from sinew.sim.scene.transform import Transform, node_matrix
from sinew.sim.scene.world_transforms import PosedCharacters, WorldTransforms, rigid_frames
from tests.conftest import campaign
from tests.oracles.collider_motion import world_points
from tests.oracles.shapes import signed_distance
from tests.oracles.sweep import SWEEP_SLOP
from tests.synthetic_models import synthetic_character
from tests.unit.colliders.cases import SIZES, Posed, collider, placed
from tests.unit.colliders.cases import posed as posed_node

MODEL = synthetic_character(20)
BONE = 7
STAYS = "its transform is relative to the world"
UNMOVED = Transform()
OFFSET = Transform(position=(0.1, 0.2, -0.1), rotation=(30.0, 0.0, 10.0))
LIMB = ColliderSettings(shape=ColliderShape.CAPSULE, radius=0.1, length=0.4)
ON_BONE = Attachment(node="m", bone=f"joint {BONE}")


def scene(settings: ColliderSettings = LIMB, model: Transform = UNMOVED, attachment: Attachment = ON_BONE) -> Scene:
    return Scene(
        nodes=(
            Node(id="m", name="Walker", transform=model, settings=ModelSettings()),
            Node(id="lamp", name="Lamp", settings=LightSettings()),
            Node(id="c", name="Limb", transform=OFFSET, settings=settings, attachment=attachment),
        )
    )


def posed(made: Scene, time: float) -> dict[str, Posed]:
    return {"m": posed_node(made.node("m"), MODEL, time)}


def place(made: Scene, characters: PosedCharacters) -> tuple[dict[NodeId, ColliderPlacement], list[str]]:
    places, nodes = WorldTransforms(made, characters), made.of_kind("collider")
    return placements(nodes, places), [line for node in nodes if (line := places.missing(node))]


def test_a_collider_alone_is_where_its_node_is() -> None:
    placed, warnings = place(scene(ColliderSettings(radius=2.0), attachment=Attachment()), {})
    np.testing.assert_allclose(placed["c"].world_from_collider, node_matrix(OFFSET), atol=1e-15)
    np.testing.assert_allclose(placed["c"].size, [2.0, 0.0, 0.0])
    assert warnings == []


def test_the_unit_of_the_file_does_not_scale_it() -> None:
    made = scene()
    centimetres = msgspec.structs.replace(made.nodes[0], settings=ModelSettings(unit_scale=0.01))
    made = Scene(nodes=(centimetres, *made.nodes[1:]))
    placed, _ = place(made, posed(made, 0.0))
    np.testing.assert_allclose(placed["c"].size, [0.1, 0.2, 0.0])


def test_a_step_goes_from_the_last_placement_to_this_one_also_of_new_and_removed_colliders() -> None:
    made = scene()
    both, now = (place(made, posed(made, time))[0] for time in (0.0, 0.1))
    first, second = colliders_over({}, both)[0], colliders_over(both, now)[0]
    np.testing.assert_array_equal(first.world_from_start, first.world_from_end)
    np.testing.assert_array_equal(second.world_from_start, first.world_from_end)
    assert np.abs(second.world_from_end - second.world_from_start).max() > 1e-3
    assert colliders_over(both, {}) == []
    assert len(colliders_over({}, both)) == 1


def test_frames_become_rigid_whatever_they_were() -> None:
    """Evenly scaled ones by division, all others by the nearest rotation; flat ones too."""
    random = np.random.default_rng(2)
    turns = quaternion.to_matrix(quaternion.normalised(random.normal(size=(6, 4))))
    matrices = np.tile(np.eye(4), (6, 1, 1))
    matrices[:, :3, 3] = random.normal(size=(6, 3))
    stretches = [np.diag(d) for d in ((1, 1, 1), (2, 2, 2), (1, 2, 3), (1, 1, 0), (0, 0, 0))]
    stretches.append(np.array([[1.0, 0.4, 0.0], [0.4, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    matrices[:, :3, :3] = turns @ np.array(stretches)
    rigid = rigid_frames(matrices)
    np.testing.assert_array_equal(rigid[:, :3, 3], matrices[:, :3, 3])
    linear = rigid[:, :3, :3]
    np.testing.assert_allclose(linear @ np.swapaxes(linear, 1, 2), np.tile(np.eye(3), (6, 1, 1)), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(linear), 1.0)
    np.testing.assert_allclose(linear[[0, 1, 2, 3, 5]], turns[[0, 1, 2, 3, 5]], atol=1e-12)


SETTINGS = ColliderSettings(radius=0.5, length=2.0, semi_axes=(1.0, 2.0, 3.0), half_sizes=(0.1, 0.2, 0.3))


def test_every_shape_names_its_sizes() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"semi_axes\[1\]"):
        msgspec.json.decode(b'{"semi_axes": [1, 0, 1]}', type=ColliderSettings)
    for shape, radius in (
        ("plane", np.inf),
        ("ellipsoid", 1.3),
        ("capsule", 1.1),
        ("box", np.sqrt(0.81 + 0.04 + 0.25)),
    ):
        kind = ColliderShape(shape)
        assert bounding_radius(kind, np.array(SIZES[kind])) == pytest.approx(radius)
    names = {record.name for record in params_of(ColliderSettings)}
    assert set(SIZES_OF_SHAPE) == set(ColliderShape)
    assert {name for sizes in SIZES_OF_SHAPE.values() for name in sizes} <= names


def test_the_scale_of_the_node_multiplies_the_sizes() -> None:
    for shape, scale, becomes, size in (
        ("plane", (2, 3, 4), "plane", (0.0, 0.0, 0.0)),
        ("sphere", (2, 2, 2), "sphere", (1.0, 0.0, 0.0)),
        ("sphere", (2, 1, 4), "ellipsoid", (1.0, 0.5, 2.0)),
        ("ellipsoid", (2, 1, 0.5), "ellipsoid", (2.0, 2.0, 1.5)),
        ("capsule", (2, 3, 8), "capsule", (2.0, 3.0, 0.0)),
        ("box", (2, 1, -10), "box", (0.2, 0.2, 3.0)),
        ("box", (0, 1, 1), "box", (1e-4, 0.2, 0.3)),
    ):
        got_shape, got_size = sized(msgspec.structs.replace(SETTINGS, shape=ColliderShape(shape)), np.array(scale))
        assert got_shape is ColliderShape(becomes)
        np.testing.assert_allclose(got_size, size, rtol=1e-12)


MOVING = collider(
    ColliderShape.BOX, placed((0.1, 0.2, 0.3), (1.0, 2.0, -1.0), 0.4), placed((0.3, 0.1, 0.35), (2.0, -1.0, 0.5), 1.5)
)
POINTS = np.random.default_rng(5).normal(size=(50, 3))


@pytest.mark.parametrize(("fraction", "matrix"), [(0.0, MOVING.world_from_start), (1.0, MOVING.world_from_end)])
def test_it_begins_and_ends_at_its_placements(fraction: float, matrix: np.ndarray) -> None:
    np.testing.assert_allclose(world_points(MOVING, POINTS, fraction), transform_points(matrix, POINTS), atol=1e-14)


def test_local_and_world_are_inverse_at_every_moment() -> None:
    for fraction in np.linspace(0.0, 1.0, 7):
        there = local_points(MOVING, POINTS, fraction)
        np.testing.assert_allclose(world_points(MOVING, there, fraction), POINTS, atol=1e-14)


def test_the_turn_is_steady_and_the_shorter_one() -> None:
    turned = collider(ColliderShape.BOX, placed((0, 0, 0)), placed((0, 0, 0), (0, 0, 1), np.radians(270.0)))
    motion = motion_of(turned)
    assert motion.angle[0] == pytest.approx(np.pi / 2.0)
    for fraction in (0.25, 0.5):
        _, orientation = motion.at(fraction)
        expected = quaternion.from_axis_angle((0, 0, -1), fraction * np.pi / 2.0)
        np.testing.assert_allclose(orientation[0], expected, atol=1e-14)


def test_velocity_is_the_difference_of_positions_over_the_substep() -> None:
    """Of points that move with the solid; the error is ω³ h² r / 6 of the turn."""
    frame_time, fraction = 1.0 / 60.0, 0.7
    errors = []
    for substep in (frame_time / 10.0, frame_time / 20.0):
        now = world_points(MOVING, POINTS, fraction)
        before = world_points(MOVING, POINTS, fraction - substep / frame_time)
        velocity = velocity_at(MOVING, now, fraction, frame_time, substep)
        errors.append(np.abs(velocity - (now - before) / substep).max())
    spin, reach = motion_of(MOVING).angle[0] / frame_time, np.linalg.norm(POINTS, axis=1).max() + 0.4
    assert errors[0] <= spin**3 * (frame_time / 10.0) ** 2 * reach / 6.0
    assert errors[1] < errors[0] / 3.5


def test_a_collider_at_rest_has_no_velocity_and_does_not_move_by_rounding() -> None:
    matrix = placed((3.1, -2.7, 0.9), (1.0, 0.3, -0.7), 2.1)
    still = ColliderState(ColliderShape.SPHERE, np.array([1.0, 0.0, 0.0]), matrix, matrix)
    assert motion_of(still).angle[0] == 0.0
    np.testing.assert_array_equal(velocity_at(still, POINTS, 0.5, 1.0 / 60.0, 1.0 / 600.0), np.zeros((50, 3)))
    np.testing.assert_array_equal(world_points(still, POINTS, 0.3), world_points(still, POINTS, 0.9))


SHIFTED = placed((1.0, 2.0, 4.0))


def constant(file: str, name: str) -> float:
    found = re.search(rf"\w+ {name} = ([^;]+);", (ROOT / file).read_text(encoding="utf-8"))
    assert found is not None
    return float(found[1])


def test_both_sides_use_the_same_constants() -> None:
    assert constant("common/collide.glsl", "COLLIDER_TEXELS") == COLLIDER_TEXELS
    assert constant("common/collide.glsl", "REST") == REST
    assert constant("common/collide.glsl", "resting_acceleration") == EARTH
    assert constant("common/sweep.glsl", "SWEEP_SLOP") == SWEEP_SLOP


def test_layout_of_a_record() -> None:
    state = collider(ColliderShape.CAPSULE, placed((1, 2, 3)), SHIFTED, friction=0.25, restitution=0.5)
    packed = pack_colliders([state], 0.5)[0]
    np.testing.assert_allclose(packed[0], [1, 2, 3, 1.1 + 1.0], rtol=1e-6)
    np.testing.assert_allclose(packed[1], [0, 0, 1, 0])
    np.testing.assert_allclose(packed[2], [0, 0.8, 0, 0.3], rtol=1e-6)
    np.testing.assert_allclose(packed[3], [0, 0, 0, 1])
    assert packed[4, 3] == 0.0
    np.testing.assert_allclose(packed[5], [0.25, 0.5, 2.0, 0.0])
    assert pack_colliders([], 0.5).shape == (0, COLLIDER_TEXELS, 4)
    states = [collider(shape, placed((0, 0, 0)), SHIFTED) for shape in RIGID_SHAPES]
    assert np.isfinite(pack_colliders(states, 0.0)).all()


def test_defines_follow_what_there_is() -> None:
    still = [collider(ColliderShape.BOX), collider(ColliderShape.PLANE)]
    moving = [msgspec.structs.replace(still[0], world_from_end=SHIFTED), still[1]]
    for states, is_still in ((still, True), (moving, False), ([], True)):
        assert arranged(states)[1].defines["COLLIDE_STILL"] is is_still


TURN = quaternion.to_matrix(quaternion.normalised(np.array([0.3, -0.5, 0.2, 0.8])))
CENTRE = np.array([0.4, -1.0, 2.0])
HUMANOID = resources.path("models") / "humanoid" / "humanoid.ezm"


@cache
def fitted_to(path: Path, unit_scale: float) -> tuple[CharacterModel, list[FittedCollider]]:
    model = load_model(path)
    return model, fit_colliders(model, unit_scale=unit_scale)


def union_distance(model: CharacterModel, fitted: list[FittedCollider], unit_scale: float) -> np.ndarray:
    """Signed distance [m] of every vertex in the bind pose to the union of the colliders."""
    frames = rigid_frames(model.skeleton.model_from_bind)
    frames[:, :3, 3] *= unit_scale
    points = unit_scale * model.mesh.positions.astype(np.float64)
    distances = []
    for one in fitted:
        world = frames[model.skeleton.index(one.bone)] @ node_matrix(one.transform)
        shape, size = sized(one.settings, np.ones(3))
        distances.append(signed_distance(shape, size, (points - world[:3, 3]) @ world[:3, :3]))
    return np.min(distances, axis=0)


@pytest.mark.parametrize(
    ("shape", "size"), [(ColliderShape.CAPSULE, (0.08, 0.2, 0.0)), (ColliderShape.ELLIPSOID, (0.1, 0.3, 0.2))]
)
def test_a_known_solid_is_found_again(shape: ColliderShape, size: tuple[float, ...]) -> None:
    mesh = outline(shape, np.array(size))
    points = mesh.positions.astype(np.float64) @ TURN.T + CENTRE
    found = fit_shape(points, np.ones(len(points)))
    assert found.shape is shape
    np.testing.assert_allclose(np.sort(found.size), np.sort(size), atol=0.012)
    np.testing.assert_allclose(found.centre, CENTRE, atol=0.01)
    apart = signed_distance(found.shape, found.size, (points - found.centre) @ found.rotation)
    assert np.abs(apart).mean() < 0.01


def test_the_bone_gives_the_axis_where_the_points_do_not() -> None:
    """The skin of a short thick limb, open at both ends: its longest extent lies across the bone."""
    angle, height = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False), np.linspace(-0.07, 0.07, 8))
    round_limb = np.stack([0.1 * np.sin(angle), height, 0.1 * np.cos(angle)], axis=-1).reshape(-1, 3)
    points = round_limb @ TURN.T + CENTRE
    found = fit_shape(points, np.ones(len(points)), TURN[:, 1])
    assert found.shape is ColliderShape.CAPSULE
    assert abs(found.rotation[:, 1] @ TURN[:, 1]) > 0.99
    assert found.size[0] == pytest.approx(0.1, abs=0.02)
    assert found.error < fit_shape(points, np.ones(len(points))).error


@pytest.mark.slow
def test_few_colliders_are_close_to_the_skin() -> None:
    assert fit_colliders(synthetic_character(10)) == [], "there is no skin"
    model, fitted = fitted_to(HUMANOID, 1.0)
    assert 10 <= len(fitted) <= COLLIDERS_MAX
    assert len({one.bone for one in fitted}) == len(fitted)
    apart = union_distance(model, fitted, 1.0) / model.mesh.bounds.extent
    assert (np.abs(apart) < 0.02).mean() > 0.9
    assert (np.abs(apart) < 0.03).mean() > 0.97
    assert (apart > 0.01).mean() < 0.01
    assert apart.max() < 0.02
    arm = load_model(resources.path("models") / "arm" / "arm.ezm")
    assert fit_colliders(arm) == fit_colliders(arm), "the same every time"
    few = fit_colliders(model, count_max=12)
    assert len(few) <= 12
    assert np.abs(union_distance(model, few, 1.0)).max() < 0.25


@pytest.mark.parametrize("name", ["ezm/character/character.ezm", campaign("gltf/Fox/glTF-Binary/Fox.glb")])
def test_none_sticks_out_of_its_limb(assets: Path, name: str) -> None:
    model, fitted = fitted_to(assets / name, 1.0)
    directions = np.random.default_rng(0).normal(size=(300, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    joints = [model.skeleton.index(one.bone) for one in fitted]
    held = group_weights(model.skeleton, model.skin, joints)
    frames, positions = rigid_frames(model.skeleton.model_from_bind), model.mesh.positions.astype(np.float64)
    for one, joint, weights in zip(fitted, joints, held.T, strict=True):
        limb = positions[weights >= MOVED] @ directions.T
        world = frames[joint] @ node_matrix(one.transform)
        shape, size = sized(one.settings, np.ones(3))
        surface = outline(shape, size).positions.astype(np.float64) @ world[:3, :3].T + world[:3, 3]
        beyond = (surface @ directions.T).max(axis=0) - limb.max(axis=0)
        assert beyond.max() <= 0.1 * np.ptp(limb, axis=0).max(), one.bone
