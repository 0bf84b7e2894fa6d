"""Colliders in the world: by their node, on bones of moving characters, and over a step."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from sinew.sim.bench.pose import synthetic_character
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.colliders.scene_colliders import colliders_over
from sinew.sim.colliders.state import ColliderPlacement, ColliderShape
from sinew.sim.kinds.collider.place import placements
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.maths import quaternion
from sinew.sim.scene.scene import Attachment, Node, NodeId, Scene
from sinew.sim.scene.transform import Transform, node_matrix
from sinew.sim.scene.world_transforms import PosedCharacters, WorldTransforms, rigid_frames
from tests.unit.colliders.cases import Posed
from tests.unit.colliders.cases import posed as posed_node

MODEL = synthetic_character(20)
BONE = 7
STAYS = "its transform is relative to the world"
STANDING = Transform()
OFFSET = Transform(position=(0.1, 0.2, -0.1), rotation=(30.0, 0.0, 10.0))
LIMB = ColliderSettings(shape=ColliderShape.CAPSULE, radius=0.1, length=0.4)
ON_BONE = Attachment(node="m", bone=f"joint {BONE}")


def scene(settings: ColliderSettings = LIMB, model: Transform = STANDING, attachment: Attachment = ON_BONE) -> Scene:
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
    """Placements of all colliders, and what there is not to ride on."""
    places, nodes = WorldTransforms(made, characters), made.of_kind("collider")
    return placements(nodes, places), [line for node in nodes if (line := places.missing(node))]


def test_a_collider_alone_stands_where_its_node_is() -> None:
    placed, warnings = place(scene(ColliderSettings(radius=2.0), attachment=Attachment()), {})
    np.testing.assert_allclose(placed["c"].world_from_collider, node_matrix(OFFSET), atol=1e-15)
    np.testing.assert_allclose(placed["c"].size, [2.0, 0.0, 0.0])
    assert warnings == []


def test_a_rider_follows_its_bone() -> None:
    placed_model = Transform(position=(3.0, 0.0, 1.0), rotation=(0.0, 40.0, 0.0))
    made = scene(model=placed_model)
    for time in (0.0, 0.31, 1.2):
        characters = posed(made, time)
        placed, warnings = place(made, characters)
        pose = characters["m"].pose
        assert pose is not None
        expected = node_matrix(placed_model) @ pose.model_from_joint[BONE] @ node_matrix(OFFSET)
        np.testing.assert_allclose(placed["c"].world_from_collider, expected, atol=1e-12)
        assert warnings == []


@pytest.mark.parametrize("scale", [(2.0, 2.0, 2.0), (1.0, 2.0, 4.0), (-2.0, 2.0, 2.0)])
def test_the_scale_of_the_model_scales_what_rides_on_it_and_the_frame_stays_rigid(scale: tuple[float, ...]) -> None:
    made = scene(model=Transform(scale=scale))
    characters = posed(made, 0.4)
    placed, _ = place(made, characters)
    matrix = placed["c"].world_from_collider
    np.testing.assert_allclose(matrix[:3, :3] @ matrix[:3, :3].T, np.eye(3), atol=1e-12)
    assert np.linalg.det(matrix[:3, :3]) == pytest.approx(1.0)
    np.testing.assert_allclose(placed["c"].size, [0.2, 0.4, 0.0], rtol=1e-12)
    pose = characters["m"].pose
    assert pose is not None
    bone = (characters["m"].world_from_model @ pose.model_from_joint[BONE])[:3, 3]
    assert np.linalg.norm(matrix[:3, 3] - bone) == pytest.approx(2.0 * np.linalg.norm(OFFSET.position))


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (2.0, 2.0, 2.0), (1.0, 2.0, 4.0)])
def test_what_a_rider_is_relative_to_has_its_place_and_its_axes(scale: tuple[float, ...]) -> None:
    made = scene(model=Transform(scale=scale, rotation=(0.0, 30.0, 0.0)))
    characters = posed(made, 0.4)
    placed = place(made, characters)[0]["c"].world_from_collider
    parent = WorldTransforms(made, characters).world_from_parent(made.node("c"))
    matrix = parent @ node_matrix(OFFSET)
    np.testing.assert_allclose(matrix[:3, 3], placed[:3, 3], atol=1e-12)
    np.testing.assert_allclose(matrix[:3, :3], placed[:3, :3] * np.cbrt(np.linalg.det(parent[:3, :3])), atol=1e-12)


def test_what_does_not_ride_is_relative_to_the_world() -> None:
    made = scene(attachment=Attachment(bone=ON_BONE.bone))
    for node in made.nodes:
        np.testing.assert_array_equal(WorldTransforms(made, posed(made, 0.0)).world_from_parent(node), np.eye(4))


def test_the_unit_of_the_file_does_not_scale_it() -> None:
    made = scene()
    centimetres = msgspec.structs.replace(made.nodes[0], settings=ModelSettings(unit_scale=0.01))
    made = Scene(nodes=(centimetres, *made.nodes[1:]))
    placed, _ = place(made, posed(made, 0.0))
    np.testing.assert_allclose(placed["c"].size, [0.1, 0.2, 0.0])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"bone": "tail"}, f"Limb: Walker has no bone 'tail'; {STAYS}"),
        ({"node": "gone"}, f"Limb: its parent is not in the scene; {STAYS}"),
        ({"node": "lamp"}, f"Limb: Lamp has no bone 'joint 7'; {STAYS}"),
    ],
)
def test_a_bone_that_is_not_there_is_told(change: dict[str, str], text: str) -> None:
    broken = scene(attachment=msgspec.structs.replace(ON_BONE, **change))
    placed, warnings = place(broken, posed(broken, 0.0))
    np.testing.assert_allclose(placed["c"].world_from_collider, node_matrix(OFFSET), atol=1e-15)
    assert warnings == [text]


def test_a_bone_of_nothing_is_no_choice() -> None:
    made = scene(attachment=Attachment(bone=ON_BONE.bone))
    placed, warnings = place(made, posed(made, 0.3))
    np.testing.assert_allclose(placed["c"].world_from_collider, node_matrix(OFFSET), atol=1e-15)
    assert warnings == []


def test_without_a_bone_it_rides_on_the_node() -> None:
    moved = Transform(position=(3.0, 0.0, 1.0), rotation=(0.0, 40.0, 0.0))
    made = scene(model=moved, attachment=Attachment(node="m"))
    placed, warnings = place(made, posed(made, 0.3))
    np.testing.assert_allclose(placed["c"].world_from_collider, node_matrix(moved) @ node_matrix(OFFSET), atol=1e-15)
    assert warnings == []


def test_a_model_that_is_not_loaded_yet_is_no_mistake() -> None:
    placed, warnings = place(scene(), {})
    np.testing.assert_allclose(placed["c"].world_from_collider, node_matrix(OFFSET), atol=1e-15)
    assert warnings == []


def test_a_model_without_a_skeleton_has_no_such_bone() -> None:
    static = Posed(replace(MODEL, skeleton=None), None, np.eye(4))
    _, warnings = place(scene(), {"m": static})
    assert warnings == [f"Limb: Walker has no bone 'joint 7'; {STAYS}"]


def test_a_step_goes_from_the_last_placement_to_this_one() -> None:
    made = scene()
    before, now = (place(made, posed(made, time))[0] for time in (0.0, 0.1))
    first, second = colliders_over({}, before)[0], colliders_over(before, now)[0]
    np.testing.assert_array_equal(first.world_from_start, first.world_from_end)
    np.testing.assert_array_equal(second.world_from_start, first.world_from_end)
    assert np.abs(second.world_from_end - second.world_from_start).max() > 1e-3


def test_new_and_removed_colliders() -> None:
    both, _ = place(scene(), posed(scene(), 0.0))
    assert colliders_over(both, {}) == []
    assert len(colliders_over({}, both)) == 1


def test_many_riders() -> None:
    """Nodes of one bone share its frame, and the order of the scene is kept."""
    riders = tuple(
        Node(id=f"c{i}", settings=LIMB, attachment=Attachment(node="m", bone=f"joint {i % 5}")) for i in range(10)
    )
    made = Scene(nodes=(*riders, Node(id="m", settings=ModelSettings())))
    placed, warnings = place(made, posed(made, 0.2))
    assert list(placed) == [f"c{i}" for i in range(10)]
    assert warnings == []
    for i in range(5):
        np.testing.assert_array_equal(placed[f"c{i}"].world_from_collider, placed[f"c{i + 5}"].world_from_collider)


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
