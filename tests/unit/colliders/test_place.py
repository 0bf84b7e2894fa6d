"""Colliders in the world: by their node, on bones of moving characters, and over a step."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from sim.bench.pose import synthetic_character
from sim.figures.placement import world_from_model
from sim.figures.settings import ModelSettings
from sim.jobs.evaluate import evaluate_pose
from sim.kinds.collider.place import placements
from sim.kinds.collider.settings import ColliderSettings
from sim.maths import quaternion
from sim.maths.transform import node_matrix
from sim.scene.places import rigid_frames
from sim.scene.scene import Node, Scene
from sim.scene.transform import Transform
from sim.solids.scene_solids import solids_over
from sim.solids.state import SolidShape
from tests.unit.colliders.cases import Posed

MODEL = synthetic_character(20)
BONE = 7
STAYS = "it stays where its own transform puts it"
STANDING = Transform()
OFFSET = Transform(position=(0.1, 0.2, -0.1), rotation=(30.0, 0.0, 10.0))
RIDER = ColliderSettings(shape=SolidShape.CAPSULE, radius=0.1, length=0.4, bone_node="m", bone=f"joint {BONE}")


def scene(settings: ColliderSettings = RIDER, model: Transform = STANDING, offset: Transform = OFFSET) -> Scene:
    return Scene(
        nodes=(
            Node(id="m", name="Walker", transform=model, settings=ModelSettings()),
            Node(id="c", name="Limb", transform=offset, settings=settings),
        )
    )


def posed(made: Scene, time: float) -> dict[str, Posed]:
    pose = evaluate_pose(MODEL, MODEL.clips[0], time)
    return {"m": Posed(MODEL, pose, world_from_model(made.node("m"), MODEL))}


def test_a_collider_alone_stands_where_its_node_is() -> None:
    placed, warnings = placements(scene(ColliderSettings(radius=2.0)), {})
    np.testing.assert_allclose(placed["c"].world_from_solid, node_matrix(OFFSET), atol=1e-15)
    np.testing.assert_allclose(placed["c"].size, [2.0, 0.0, 0.0])
    assert warnings == []


def test_a_rider_follows_its_bone() -> None:
    placed_model = Transform(position=(3.0, 0.0, 1.0), rotation=(0.0, 40.0, 0.0))
    made = scene(model=placed_model)
    for time in (0.0, 0.31, 1.2):
        figures = posed(made, time)
        placed, warnings = placements(made, figures)
        pose = figures["m"].pose
        assert pose is not None
        expected = node_matrix(placed_model) @ pose.model_from_joint[BONE] @ node_matrix(OFFSET)
        np.testing.assert_allclose(placed["c"].world_from_solid, expected, atol=1e-12)
        assert warnings == []


@pytest.mark.parametrize("scale", [(2.0, 2.0, 2.0), (1.0, 2.0, 4.0), (-2.0, 2.0, 2.0)])
def test_the_scale_of_the_model_scales_what_rides_on_it_and_the_frame_stays_rigid(scale: tuple[float, ...]) -> None:
    made = scene(model=Transform(scale=scale))
    figures = posed(made, 0.4)
    placed, _ = placements(made, figures)
    matrix = placed["c"].world_from_solid
    np.testing.assert_allclose(matrix[:3, :3] @ matrix[:3, :3].T, np.eye(3), atol=1e-12)
    assert np.linalg.det(matrix[:3, :3]) == pytest.approx(1.0)
    np.testing.assert_allclose(placed["c"].size, [0.2, 0.4, 0.0], rtol=1e-12)
    pose = figures["m"].pose
    assert pose is not None
    bone = (figures["m"].world_from_model @ pose.model_from_joint[BONE])[:3, 3]
    assert np.linalg.norm(matrix[:3, 3] - bone) == pytest.approx(2.0 * np.linalg.norm(OFFSET.position))


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (2.0, 2.0, 2.0), (1.0, 2.0, 4.0)])
def test_what_a_rider_is_relative_to_has_its_place_and_its_axes(scale: tuple[float, ...]) -> None:
    made = scene(model=Transform(scale=scale, rotation=(0.0, 30.0, 0.0)))
    figures = posed(made, 0.4)
    placed = placements(made, figures)[0]["c"].world_from_solid
    parent = world_from_parent(made, figures, made.node("c"))
    matrix = parent @ node_matrix(OFFSET)
    np.testing.assert_allclose(matrix[:3, 3], placed[:3, 3], atol=1e-12)
    np.testing.assert_allclose(matrix[:3, :3], placed[:3, :3] * np.cbrt(np.linalg.det(parent[:3, :3])), atol=1e-12)


def test_what_does_not_ride_is_relative_to_the_world() -> None:
    made = scene(ColliderSettings(radius=2.0))
    for node in made.nodes:
        np.testing.assert_array_equal(world_from_parent(made, posed(made, 0.0), node), np.eye(4))


def test_the_unit_of_the_file_does_not_scale_it() -> None:
    made = scene()
    centimetres = msgspec.structs.replace(made.nodes[0], settings=ModelSettings(unit_scale=0.01))
    made = Scene(nodes=(centimetres, made.nodes[1]))
    placed, _ = placements(made, posed(made, 0.0))
    np.testing.assert_allclose(placed["c"].size, [0.1, 0.2, 0.0])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"bone": "tail"}, f"Limb: Walker has no bone 'tail'; {STAYS}"),
        ({"bone_node": "gone"}, f"Limb: the model it rides on is not in the scene; {STAYS}"),
        ({"bone_node": "c"}, f"Limb: Limb has no bone 'joint 7'; {STAYS}"),
    ],
)  # fmt: skip
def test_a_bone_that_is_not_there_is_told_once(change: dict[str, str], text: str) -> None:
    broken = scene(msgspec.structs.replace(RIDER, **change))
    track = ColliderTrack()
    for _ in range(3):
        states = track.advance(broken, posed(broken, 0.0))
        np.testing.assert_allclose(states[0].world_from_end, node_matrix(OFFSET), atol=1e-15)
    assert track.warnings == [text]
    track.advance(scene(), posed(broken, 0.0))
    track.advance(broken, posed(broken, 0.0))
    assert track.warnings == [text, text]


@pytest.mark.parametrize("change", [{"bone": ""}, {"bone_node": ""}])
def test_half_a_choice_is_none(change: dict[str, str]) -> None:
    made = scene(msgspec.structs.replace(RIDER, **change))
    placed, warnings = placements(made, posed(made, 0.3))
    np.testing.assert_allclose(placed["c"].world_from_solid, node_matrix(OFFSET), atol=1e-15)
    assert warnings == []


def test_a_model_that_is_not_loaded_yet_is_no_mistake() -> None:
    placed, warnings = placements(scene(), {})
    np.testing.assert_allclose(placed["c"].world_from_solid, node_matrix(OFFSET), atol=1e-15)
    assert warnings == []


def test_a_model_without_a_skeleton_has_no_such_bone() -> None:
    static = Posed(replace(MODEL, skeleton=None), None, np.eye(4))
    _, warnings = placements(scene(), {"m": static})
    assert warnings == [f"Limb: Walker has no bone 'joint 7'; {STAYS}"]


def test_a_step_goes_from_the_last_placement_to_this_one() -> None:
    made, track = scene(), ColliderTrack()
    first = track.advance(made, posed(made, 0.0))[0]
    np.testing.assert_array_equal(first.world_from_start, first.world_from_end)
    second = track.advance(made, posed(made, 0.1))[0]
    np.testing.assert_array_equal(second.world_from_start, first.world_from_end)
    assert np.abs(second.world_from_end - second.world_from_start).max() > 1e-3
    track.jump()
    third = track.advance(made, posed(made, 1.0))[0]
    np.testing.assert_array_equal(third.world_from_start, third.world_from_end)


def test_new_and_removed_colliders() -> None:
    both, _ = placements(scene(), posed(scene(), 0.0))
    assert solids_over(both, {}) == []
    assert len(solids_over({}, both)) == 1


def test_many_riders() -> None:
    """Nodes of one bone share its frame, and the order of the scene is kept."""
    riders = tuple(
        Node(id=f"c{i}", settings=msgspec.structs.replace(RIDER, bone=f"joint {i % 5}"), transform=Transform())
        for i in range(10)
    )
    made = Scene(nodes=(*riders, Node(id="m", settings=ModelSettings())))
    placed, warnings = placements(made, posed(made, 0.2))
    assert list(placed) == [f"c{i}" for i in range(10)]
    assert warnings == []
    for i in range(5):
        np.testing.assert_array_equal(placed[f"c{i}"].world_from_solid, placed[f"c{i + 5}"].world_from_solid)


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
