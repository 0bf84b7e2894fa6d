"""Modifiers of bones in an engine: order of characters, cloth on a moved hand, scrubbing, and exported poses."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew.resources import path
from sinew.sim.assets.load import load_model
from sinew.sim.assets.rig import Constraint, ConstraintType, Rig
from sinew.sim.cache.step_store import StepStore
from sinew.sim.characters.modifiers.settings import CopyRotation, FootPlanting, Modifier, TwoBoneIK
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.gl.context import Context
from sinew.sim.kinds.cloth.settings import ClothSettings, PinPreset, PinTarget
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.group.kind import GroupSettings
from sinew.sim.maths import quaternion
from sinew.sim.run.engine import Engine
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform

MODEL = path("models") / "humanoid" / "humanoid.ezm"
REACH = TwoBoneIK(bone="hand_l", target="target")
GOAL = (0.35, 1.25, 0.3)


def human(name: str, *modifiers: Modifier, place: tuple[float, float, float] = (0.0, 0.0, 0.0), **more: Any) -> Node:
    settings = ModelSettings(path=str(MODEL), clip="wave", modifiers=modifiers)
    return Node(id=name, name=name, transform=Transform(position=place), settings=settings, **more)


def null(name: str, position: tuple[float, float, float] = (0.0, 0.0, 0.0), node: str = "", bone: str = "") -> Node:
    attachment = Attachment(node=node, bone=bone)
    return Node(
        id=name, name=name, transform=Transform(position=position), attachment=attachment, settings=GroupSettings()
    )


@pytest.fixture
def engine(context: Context) -> Iterator[Engine]:
    made, model = Engine(context), load_model(MODEL)
    for name in ("a", "b"):
        made.set_model(name, model, {})
    yield made
    made.release()


def hand(engine: Engine, name: str, bone: str = "hand_l") -> np.ndarray:
    frame = engine.views.characters[name].joint_frame(bone)
    assert frame is not None
    return frame[:3, 3]


def test_a_hand_follows_a_moved_target(engine: Engine) -> None:
    for goal in (GOAL, (0.3, 1.15, 0.35)):
        engine.apply(Scene(nodes=(human("a", REACH), null("target", goal))))
        engine.advance(0.2)
        np.testing.assert_allclose(hand(engine, "a"), goal, atol=1e-9)
    moved = human("a", REACH, place=(0.05, 0.02, 0.0))
    engine.apply(Scene(nodes=(moved, null("target", goal))))
    engine.advance(0.2)
    np.testing.assert_allclose(hand(engine, "a"), goal, atol=1e-9)
    skinned = engine.views.characters["a"].primary.read()["position"]
    engine.apply(Scene(nodes=(human("a", place=(0.05, 0.02, 0.0)), null("target", goal))))
    engine.advance(0.2)
    assert np.abs(engine.views.characters["a"].primary.read()["position"] - skinned).max() > 0.1


def test_a_target_on_another_character_is_where_that_is_now(engine: Engine) -> None:
    """The follower is first in the scene, and the hand that it holds moves itself by a modifier."""
    nodes = (
        human("a", REACH), human("b", TwoBoneIK(bone="hand_r", target="goal"), place=(0.6, 0.0, 0.6)),
        null("target", node="b", bone="hand_r"), null("goal", (0.3, 1.2, 0.35)),
    )  # fmt: skip
    engine.apply(Scene(nodes=nodes))
    for time in (0.0, 1.3, 0.4):
        engine.advance(time)
        np.testing.assert_allclose(hand(engine, "b", "hand_r"), (0.3, 1.2, 0.35), atol=1e-9)
        np.testing.assert_allclose(hand(engine, "a"), (0.3, 1.2, 0.35), atol=1e-9)


def test_poses_of_other_times_use_targets_of_those_times(engine: Engine) -> None:
    waving = (human("a", REACH), human("b", place=(0.75, 0.0, 0.35)), null("target", node="b", bone="hand_r"))
    riding = (human("a", REACH), null("target", (0.1, 0.05, 0.1), node="a", bone="hand_r"))
    for nodes in (waving, riding):
        engine.apply(Scene(nodes=nodes))
        engine.advance(1.5)
        expected = engine.views.characters["a"].pose.model_from_joint.copy()
        engine.advance(0.1)
        character = engine.views.characters["a"]
        np.testing.assert_array_equal(character.pose_at(1.5).model_from_joint, expected)
        assert np.abs(expected - character.pose.model_from_joint).max() > 1e-3


def test_a_target_on_the_character_itself_is_taken_before_the_modifiers(engine: Engine) -> None:
    engine.apply(Scene(nodes=(human("a"), null("target", (0.0, 0.1, 0.1), node="a", bone="head"))))
    engine.advance(0.3)
    wanted = engine.views.places.world_from_node(engine.views.scene.node("target"))[:3, 3]
    chin = TwoBoneIK(bone="hand_l", target="target", softness=1.0)
    engine.apply(Scene(nodes=(human("a", chin), null("target", (0.0, 0.1, 0.1), node="a", bone="head"))))
    for _ in range(3):
        engine.advance(0.3)
        np.testing.assert_allclose(hand(engine, "a"), wanted, atol=1e-6)


def test_feet_find_the_colliders_of_the_scene_but_not_those_of_characters(engine: Engine) -> None:
    box = ColliderSettings(shape=ColliderShape.BOX, half_sizes=(1.0, 0.1, 1.0))
    block = Node(id="block", transform=Transform(position=(0.0, 0.02, 0.0)), settings=box)
    engine.apply(Scene(nodes=(human("a"), block)))
    engine.advance(0.3)
    before = hand(engine, "a", "foot_l").copy()
    muted = msgspec.structs.replace(block, muted=True)
    carried = msgspec.structs.replace(block, attachment=Attachment(node="a", bone="root"))
    for node, lift in ((block, 0.12), (muted, 0.0), (carried, 0.0)):
        engine.apply(Scene(nodes=(human("a", FootPlanting()), node)))
        engine.advance(0.3)
        np.testing.assert_allclose(hand(engine, "a", "foot_l"), before + np.array([0.0, lift, 0.0]), atol=0.004)


def test_constraints_of_a_file_act_after_the_modifiers(context: Context) -> None:
    model = load_model(MODEL)
    assert model.skeleton is not None
    source, follower = model.skeleton.index("hand_l"), model.skeleton.index("hand_r")
    rig = Rig(constraints=(Constraint(follower, source, ConstraintType.ROTATION),))
    engine = Engine(context)
    engine.set_model("a", dataclasses.replace(model, rig=rig), {})
    turned = CopyRotation(bone="hand_l", target="target")
    target = msgspec.structs.replace(null("target"), transform=Transform(rotation=(20.0, 30.0, 40.0)))
    engine.apply(Scene(nodes=(human("a", turned), target)))
    engine.advance(0.5)
    bind, now = model.skeleton.bind_orientations, engine.views.characters["a"].pose.local.orientations
    changes = [quaternion.multiply(quaternion.conjugate(bind[one]), now[one]) for one in (source, follower)]
    assert abs(changes[0] @ changes[1]) == pytest.approx(1.0, abs=1e-12)
    assert abs(changes[0][3]) < 0.99
    engine.release()


def sheet() -> Node:
    settings = ClothSettings(
        columns=6, rows=6, width=0.2, height=0.2, pins=PinPreset.TOP, pin_target=PinTarget.BONE, pin_bone="hand_l"
    )
    attachment = Attachment(node="a", bone="hand_l")
    return Node(id="cloth", name="cloth", attachment=attachment, settings=settings)


def test_cloth_on_a_moved_hand_follows_and_scrubbing_gives_the_same_bits(engine: Engine) -> None:
    target = null("target", (0.1, 0.1, 0.15), node="b", bone="hand_r")
    scene = Scene(nodes=(human("a", REACH, FootPlanting()), human("b", place=(0.7, 0.0, 0.35)), target, sheet()))
    runner = SimulationRunner(engine, StepStore(10**9))
    engine.apply(msgspec.structs.replace(scene, nodes=scene.nodes[:3]))
    engine.advance(0.0)
    engine.apply(scene)
    runner.take(0.0)
    runner.reset()
    places: dict[int, np.ndarray] = {}
    bits: dict[int, bytes] = {}

    def scrub(step: int) -> None:
        engine.advance(runner.show(runner.time_of(step)))
        found = hand(engine, "a"), positions().tobytes()
        np.testing.assert_array_equal(found[0], places.setdefault(step, found[0].copy()))
        assert found[1] == bits.setdefault(step, found[1])

    def positions() -> np.ndarray:
        system: Any = engine.simulation.systems["cloth"]
        found: np.ndarray = system.cloth.positions()
        return found

    for step in range(1, 41):
        assert runner.advance(step)
        scrub(step)
        assert np.linalg.norm(positions() - places[step], axis=1).min() < 0.03
    assert np.ptp([places[step] for step in places], axis=0).max() > 0.05
    for step in (40, 12, 31, 3):
        scrub(step)
    runner.release()
