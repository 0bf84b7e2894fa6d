"""Simulation: pins that ride on figures, changes of settings meanwhile, placements that are none."""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.engine import Engine
from sinew.sim.gl.context import Context
from sinew.sim.kinds.cloth.pins import toggled_pin_list
from sinew.sim.kinds.cloth.settings import ClothSettings, PinPreset, PinTarget
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform

FIGURE = Node(id="figure", name="Figure", settings=ModelSettings(path="humanoid.ezm", clip="walk"))
STEP = 1.0 / 60.0


@pytest.fixture(scope="module")
def humanoid() -> CharacterModel:
    return load_model(resources.path("models") / "humanoid" / "humanoid.ezm")


@pytest.fixture
def engine(context: Context, humanoid: CharacterModel) -> Iterator[Engine]:
    made = Engine(context)
    made.set_model("figure", humanoid, {})
    yield made
    made.release()


def sheet(target: PinTarget = PinTarget.BONE, **settings: Any) -> Node:
    values: dict[str, Any] = {
        "columns": 8, "rows": 8, "width": 0.4, "height": 0.8, "substeps": 24, "pins": PinPreset.TOP,
        "pin_target": target, "pin_bone": "hand_l",
    }  # fmt: skip
    place = Transform(position=(0.3, 1.2, -0.1))
    worn = Attachment(node="figure") if target is not PinTarget.WORLD else Attachment()
    return Node(
        id="sheet", name="Sheet", transform=place, attachment=worn, settings=ClothSettings(**(values | settings))
    )


def changed(node: Node, **settings: Any) -> Node:
    return msgspec.structs.replace(node, settings=msgspec.structs.replace(node.settings, **settings))


def take(engine: Engine, *nodes: Node) -> None:
    engine.apply(Scene(nodes=nodes))


def run(engine: Engine, first: int, last: int) -> None:
    for step in range(first, last):
        engine.step((step + 1) * STEP)


def positions(engine: Engine) -> np.ndarray:
    return engine.simulation.systems["sheet"].cloth.positions().astype(np.float64)


def in_hand(engine: Engine, points: np.ndarray) -> np.ndarray:
    """Points in the frame of the hand, which is rigid."""
    frame = engine.views.characters["figure"].joint_frame("hand_l")
    assert frame is not None
    return (points - frame[:3, 3]) @ frame[:3, :3]


def test_pins_keep_their_places_in_the_frame_of_the_bone(engine: Engine) -> None:
    take(engine, FIGURE, sheet())
    engine.teleport(0.0)
    run(engine, 0, 1)
    first, places = in_hand(engine, positions(engine)[:8]), positions(engine)[:8]
    run(engine, 1, 30)
    assert np.linalg.norm(positions(engine)[:8] - places, axis=1).min() > 0.05
    np.testing.assert_allclose(in_hand(engine, positions(engine)[:8]), first, rtol=0, atol=2e-6)


@pytest.mark.parametrize("target", [PinTarget.BONE, PinTarget.SURFACE])
def test_another_fabric_does_not_move_the_pins(engine: Engine, target: PinTarget) -> None:
    node = sheet(target)
    take(engine, FIGURE, node)
    run(engine, 0, 20)
    before = positions(engine)[:8]
    take(engine, FIGURE, changed(node, density=0.5, stretch_stiffness=200.0))
    engine.step(20 * STEP)
    np.testing.assert_allclose(positions(engine)[:8], before, rtol=0, atol=2e-6)


@pytest.mark.parametrize("target", [PinTarget.BONE, PinTarget.SURFACE])
def test_a_particle_pinned_in_flight_is_tied_where_it_is(engine: Engine, target: PinTarget) -> None:
    node = sheet(target)
    take(engine, FIGURE, node)
    run(engine, 0, 20)
    before, cloth = positions(engine), engine.simulation.systems["sheet"].cloth
    assert np.linalg.norm(before[60] - cloth.model.positions[60]) > 0.05
    take(engine, FIGURE, changed(node, pin_list=toggled_pin_list("", cloth.pins.flags, [60, 3])))
    engine.step(20 * STEP)  # the pose does not change
    held = [0, 1, 2, 4, 5, 6, 7, 60]
    np.testing.assert_allclose(positions(engine)[held], before[held], rtol=0, atol=5e-6)
    assert np.linalg.norm(positions(engine)[3] - before[3]) > 1e-5
    first = in_hand(engine, positions(engine)[[60]])
    run(engine, 20, 40)
    assert not cloth.stopped
    assert np.linalg.norm(positions(engine)[60] - before[60]) > 0.005
    if target is PinTarget.BONE:
        np.testing.assert_allclose(in_hand(engine, positions(engine)[[60]]), first, rtol=0, atol=5e-6)


def test_a_start_anew_ties_anew(engine: Engine) -> None:
    take(engine, FIGURE, sheet())
    run(engine, 0, 10)
    once = positions(engine)
    engine.simulation.reset()
    engine.teleport(0.0)
    run(engine, 0, 10)
    np.testing.assert_array_equal(positions(engine), once)


def test_a_bone_that_is_not_there_is_told_once_and_again_when_it_is_gone_again(engine: Engine) -> None:
    def reported() -> list[str]:
        run(engine, 0, 3)
        return [problem.text for problem in engine.simulation.take_problems()]

    line = "Sheet: Figure has no bone 'tail' for its pins to follow; they stay where they are"
    take(engine, FIGURE, sheet(pin_bone="tail"))
    assert reported() == [line]
    assert reported() == []
    take(engine, FIGURE, sheet())
    assert reported() == []
    take(engine, FIGURE, sheet(pin_bone="tail"))
    assert reported() == [line]
    take(engine, sheet())
    assert reported() == ["Sheet: the model that its pins follow is not in the scene; they stay where they are"]


def test_a_node_scaled_to_nothing_is_told_and_comes_back(engine: Engine) -> None:
    """The cloth stays as it was; one that starts flat is made when its node has a size."""
    node = sheet(PinTarget.WORLD)
    flat = msgspec.structs.replace(node, transform=Transform(scale=(1.0, 0.0, 1.0)))
    take(engine, flat)
    assert not engine.simulation.is_active
    assert [problem.node for problem in engine.simulation.take_problems()] == ["sheet"]
    take(engine, node)
    assert engine.simulation.is_active
    before = positions(engine)
    take(engine, flat)
    assert "scaled to nothing" in engine.simulation.take_problems()[0].text
    np.testing.assert_array_equal(positions(engine), before)
    run(engine, 0, 3)
    take(engine, node)
    run(engine, 3, 6)
    assert np.isfinite(positions(engine)).all()
    assert engine.simulation.take_problems() == []
