"""Boxes around emitters, and where their sources are without a figure."""

import numpy as np
import pytest

from sinew.sim.kinds.emitter.births import schedule_of
from sinew.sim.kinds.emitter.presets import PRESETS, with_preset
from sinew.sim.kinds.emitter.settings import EmissionAim, EmitterSettings, EmitterSource
from sinew.sim.kinds.emitter.source import REACH_MAX, emitter_box, missing_source, reach_of, source_box
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.world_transforms import WorldTransforms
from tests.oracles import particles as reference

UP = np.array([0.0, 1.0, 0.0])


@pytest.mark.parametrize(
    ("source", "size"),
    [
        (EmitterSource.POINT, (0.0, 0.0, 0.0)),
        (EmitterSource.SPHERE, (0.8, 0.8, 0.8)),
        (EmitterSource.DISC, (0.0, 0.8, 0.8)),
        (EmitterSource.BOX, (2.0, 1.0, 3.0)),
        (EmitterSource.LINE, (0.0, 1.0, 0.0)),
    ],
)
def test_the_box_of_a_source_holds_its_form(source: EmitterSource, size: tuple[float, float, float]) -> None:
    settings = EmitterSettings(source=source, source_radius=0.4, source_size=(1.0, 2.0, 3.0))
    node = Node(id="e", transform=Transform(position=(1.0, 2.0, 3.0), rotation=(0.0, 0.0, 90.0)), settings=settings)
    box = source_box(settings, WorldTransforms(Scene(nodes=(node,)), {}).world_from_node(node))
    np.testing.assert_allclose(box.size, size, atol=1e-12)
    np.testing.assert_allclose((box.lo + box.hi) / 2.0, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("aim", list(EmissionAim))
@pytest.mark.parametrize("axis", [(0.0, 1.0, 0.0), (0.6, -0.8, 0.0)])
def test_particles_stay_within_their_reach(aim: EmissionAim, axis: tuple[float, float, float]) -> None:
    settings = EmitterSettings(
        stateless=True, capacity=300, rate=300.0, lifetime=0.8, speed=3.0, cone_angle=30.0, aim=aim, drag=0.5,
        wind=(2.0, 0.0, 0.0), gravity=(0.0, -3.0, 0.0),
    )  # fmt: skip
    turn = np.eye(4)
    turn[:3, :3] = np.array([[axis[1], axis[0], 0.0], [-axis[0], axis[1], 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(turn[:3, 1], axis)
    slots = reference.stateless(settings, schedule_of(settings), reference.Actions(turn, turn), 200)
    places = slots.positions[slots.lives >= 0.0]
    lo, hi = reach_of(settings, np.array(axis))
    assert len(places) > 200
    assert np.all(places >= lo - 1e-2)
    assert np.all(places <= hi + 1e-2)
    assert hi.max() < 4.0


def test_a_fall_ends_at_the_ground_and_a_flight_somewhere() -> None:
    settings = EmitterSettings(lifetime=100.0, speed=1.0, size=0.1)
    node = Node(id="e", transform=Transform(position=(0.0, 2.0, 0.0)), settings=settings)
    frame = WorldTransforms(Scene(nodes=(node,)), {}).world_from_node(node)
    box = emitter_box(settings, source_box(settings, frame), frame)
    assert box.lo[1] == pytest.approx(-0.05)
    assert box.size.max() <= 2.0 * REACH_MAX + 0.2
    lower = frame.copy()
    lower[1, 3] = -3.0
    assert emitter_box(settings, source_box(settings, lower), lower).lo[1] == pytest.approx(-3.05)


@pytest.mark.parametrize("name", PRESETS)
def test_the_boxes_of_presets_are_of_a_size_to_look_at(name: str) -> None:
    settings = with_preset(EmitterSettings(), name)
    box = emitter_box(settings, source_box(settings, np.eye(4)), np.eye(4))
    assert 0.3 < box.extent < 20.0


def missing(node: Node) -> str:
    """What an emitter lacks that is alone in its scene."""
    scene = Scene(nodes=(node,))
    return missing_source(scene, {}, WorldTransforms(scene, {}), node)


def test_what_needs_no_model_misses_none() -> None:
    for attachment in (Attachment(), Attachment(bone="hand")):
        assert missing(Node(id="e", settings=EmitterSettings(), attachment=attachment)) == ""


def test_what_is_not_there_is_told() -> None:
    lost = Attachment(node="gone", bone="hand")
    carried = Node(id="e", name="E", settings=EmitterSettings(), attachment=lost)
    assert missing(carried) == "E: its parent is not in the scene; its transform is relative to the world"
    skin = Node(id="e", name="E", settings=EmitterSettings(source=EmitterSource.FACES), attachment=lost)
    assert missing(skin) == "E: the model whose surface emits is not in the scene; nothing comes out of it"
