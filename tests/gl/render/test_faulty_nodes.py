import shutil

import msgspec
import numpy as np
import pytest

from sinew import shaders
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.system import ClothSystem
from sinew.sim.kinds.cloth.view import ClothView
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.render.mesh_pass import SurfaceItem
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform

CLOTH = Node(
    id="sheet", name="Sheet", settings=ClothSettings(columns=4, rows=4), transform=Transform(position=(0, 2, 0))
)
BALL = Node(id="ball", name="Ball", settings=ColliderSettings())
SCENE = Scene(nodes=(CLOTH, BALL))


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
def test_a_failing_view_is_left_out_and_reported_once(engine, monkeypatch, survived, cls, name):
    engine.apply(Scene(nodes=(BALL,)))
    alone = picture(engine)
    with monkeypatch.context() as patch:
        patch.setattr(cls, name, faulty)
        engine.apply(SCENE)
        for _ in range(3):
            engine.views.counts(), engine.views.marks(), engine.views.bounds()
            shown = picture(engine)
        (node, text), *more = reported(engine)
    assert (node, more) == ("sheet", [])
    assert "ZeroDivisionError: float division by zero" in text
    if name in ("draw", "apply", "parts"):
        assert np.array_equal(shown, alone), "the other nodes are drawn"
    assert {type(error) for error in survived} == {ZeroDivisionError}
    survived.clear()
    moved = msgspec.structs.replace(CLOTH, transform=Transform(position=(0.0, 2.1, 0.0)))
    engine.apply(Scene(nodes=(moved, BALL)))
    assert not np.array_equal(picture(engine), alone), "a change includes it again"
    assert reported(engine) == []


@pytest.mark.parametrize("name", ["apply", "step", "poll", "reset", "teleport"])
def test_a_failing_system(engine, monkeypatch, survived, name):
    other = msgspec.structs.replace(CLOTH, id="other", name="Other")
    true = getattr(ClothSystem, name)

    def fails(system: ClothSystem, *arguments: object) -> object:
        is_first = system.node.id in ("", "sheet")
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


@pytest.mark.parametrize("cls", [ClothSystem, ClothView])
def test_a_node_with_a_failing_constructor_is_tried_again_after_a_change(engine, monkeypatch, survived, cls):
    glow = Node(id="glow", name="Glow", settings=EmitterSettings())
    with monkeypatch.context() as patch:
        patch.setattr(cls, "__init__", faulty)
        for step in (1, 2):
            engine.apply(Scene(nodes=(CLOTH, glow, BALL)))
            engine.step(step / 60)
        assert [node for node, _ in reported(engine)] == ["sheet"], "once"
        assert engine.simulation.systems["glow"].is_ready
        assert ("sheet" in engine.simulation.systems) is (cls is ClothView)
        assert (engine.views.view("sheet") is None) is (cls is ClothView)
    moved = msgspec.structs.replace(CLOTH, transform=Transform(position=(0.0, 2.1, 0.0)))
    engine.apply(Scene(nodes=(moved, glow, BALL)))
    engine.step(3 / 60)
    assert engine.simulation.systems["sheet"].is_ready
    assert engine.views.view("sheet") is not None
    assert reported(engine) == []
    survived.clear()


def test_a_typo_in_a_shader_leaves_out_its_nodes_until_it_is_repaired(context, tmp_path, survived, caplog):
    root = tmp_path / "shaders"
    shutil.copytree(shaders.ROOT, root)
    library = ShaderLibrary(context, root)
    engine = Engine(context, library)
    sound = {path: path.read_text() for path in (root / "cloth").rglob("*.glsl")}
    for path, text in sound.items():
        path.write_text(text + "\nthis is a typo;\n")
    glow = Node(id="glow", name="Glow", settings=EmitterSettings())
    engine.apply(Scene(nodes=(CLOTH, glow)))
    engine.step(1 / 60)
    assert {node for node, _ in reported(engine)} == {"sheet"}
    assert engine.simulation.systems["glow"].is_ready
    for path, text in sound.items():
        path.write_text(text)
    engine.reload_shaders([path.relative_to(root).as_posix() for path in sound])
    engine.apply(Scene(nodes=(CLOTH, glow)))
    engine.simulation.reset()
    engine.teleport(0.0)
    for step in range(3):
        engine.step(step / 60)
    assert np.abs(engine.simulation.systems["sheet"].arrays()["velocities"].read()).max() > 0.0
    assert reported(engine) == []
    engine.release()
    library.release()
    survived.clear()
    caplog.clear()  # its records hold the half made cloth


def test_a_failing_restore(engine: Engine, monkeypatch: pytest.MonkeyPatch, survived: list[BaseException]) -> None:
    other = msgspec.structs.replace(CLOTH, id="other", name="Other")
    engine.apply(Scene(nodes=(CLOTH, other)))
    engine.teleport(0.0)
    engine.step(1 / 60)
    state, places = engine.simulation.state(), engine.simulation.systems["other"].snapshot().packed()
    engine.step(2 / 60)
    true = ClothSystem.restore

    def fails(system: ClothSystem, *arguments: object) -> object:
        return faulty() if system is engine.simulation.systems["sheet"] else true(system, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(ClothSystem, "restore", fails)
        assert engine.restore(state, 1 / 60) == {"sheet"}
    assert [node for node, _ in reported(engine)] == ["sheet"]
    assert engine.simulation.systems["other"].snapshot().packed() == places
    assert engine.restore(state, 1 / 60) == frozenset(), "the node takes part again once a state can be restored"
    before = engine.simulation.systems["sheet"].snapshot().packed()
    engine.step(2 / 60)
    assert engine.simulation.systems["sheet"].snapshot().packed() != before
    survived.clear()
