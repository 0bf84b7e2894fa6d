"""What goes wrong with one node is told once and ends that node's part of the picture, not the program."""

from collections.abc import Iterator

import msgspec
import numpy as np
import pytest

from sim.engine import Engine
from sim.gl.context import Context
from sim.gl.errors import GLLimitError
from sim.gl.framebuffer import Framebuffer
from sim.kinds.cloth.settings import ClothSettings
from sim.kinds.cloth.system import ClothSystem
from sim.kinds.cloth.view import ClothView
from sim.kinds.collider.settings import ColliderSettings
from sim.render.mesh_pass import SurfaceItem
from sim.scene.camera import Camera
from sim.scene.scene import Node, Scene
from sim.scene.transform import Transform

CLOTH = Node(
    id="sheet", name="Sheet", settings=ClothSettings(columns=4, rows=4), transform=Transform(position=(0, 2, 0))
)
BALL = Node(id="ball", name="Ball", settings=ColliderSettings())
SCENE = Scene(nodes=(CLOTH, BALL))


@pytest.fixture
def engine(context: Context) -> Iterator[Engine]:
    made = Engine(context)
    yield made
    made.release()


def faulty(*_: object, **__: object) -> None:
    raise ZeroDivisionError("float division by zero")


def picture(engine: Engine) -> np.ndarray:
    output = Framebuffer(engine.context, (64, 48))
    engine.refresh(0.0)
    engine.draw(output, Camera())
    pixels = output.read_pixels().copy()
    output.release()
    return pixels


def reported(engine: Engine) -> list[tuple[str, str]]:
    return [(problem.node, problem.text) for problem in engine.simulation.take_problems()]


@pytest.mark.parametrize(
    ("cls", "name"),
    [(SurfaceItem, "draw"), *((ClothView, name) for name in ("apply", "parts", "bounds", "marks", "counts"))],
)
def test_a_view_that_fails_is_left_out_and_told_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, survived: list[BaseException], cls: type, name: str
) -> None:
    engine.apply(Scene(nodes=(BALL,)))
    alone = picture(engine)
    with monkeypatch.context() as patch:
        patch.setattr(cls, name, faulty)
        engine.apply(SCENE)
        for _ in range(3):
            engine.statistics(), engine.marks(), engine.bounds()
            shown = picture(engine)
        (node, text), *more = reported(engine)
    assert (node, more) == ("sheet", [])
    assert "ZeroDivisionError: float division by zero" in text
    if name in ("draw", "apply", "parts"):
        assert np.array_equal(shown, alone), "what is left is drawn as ever"
    assert {type(error) for error in survived} == {ZeroDivisionError}
    survived.clear()
    moved = msgspec.structs.replace(CLOTH, transform=Transform(position=(0.0, 2.1, 0.0)))
    engine.apply(Scene(nodes=(moved, BALL)))
    assert not np.array_equal(picture(engine), alone), "a change brings it back"
    assert reported(engine) == []


@pytest.mark.parametrize("name", ["apply", "step", "poll", "reset", "teleport"])
def test_a_system_that_fails_stops_alone(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, survived: list[BaseException], name: str
) -> None:
    other = msgspec.structs.replace(CLOTH, id="other", name="Other")
    true = getattr(ClothSystem, name)

    def fails(system: ClothSystem, *arguments: object) -> object:
        is_first = system._node is None or system._node.id == "sheet"
        return faulty() if is_first else true(system, *arguments)

    if name != "apply":
        engine.apply(Scene(nodes=(CLOTH, other)))
    with monkeypatch.context() as patch:
        patch.setattr(ClothSystem, name, fails)
        engine.apply(Scene(nodes=(CLOTH,) if name == "apply" else (CLOTH, other)))
        engine.simulation.reset()
        engine.teleport(0.0)
        for step in range(3):
            engine.step(step / 60)
            engine.refresh(0.0)
        found = reported(engine)
    assert [node for node, _ in found] == ["sheet"]
    if name != "apply":
        moved = engine.simulation.systems["other"].arrays()["velocities"].read()
        assert np.abs(moved).max() > 0.0
    survived.clear()


def test_what_a_driver_refuses_is_told_as_it_is(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> None:
        raise GLLimitError("buffer texture 'near': 131136 texels, the driver allows 65536")

    monkeypatch.setattr(ClothSystem, "apply", refuses)
    engine.apply(SCENE)
    assert reported(engine) == [("sheet", "buffer texture 'near': 131136 texels, the driver allows 65536")]
