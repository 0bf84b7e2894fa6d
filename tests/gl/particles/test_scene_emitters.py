from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.characters.deformers.settings import Twist, Wave
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.emitter.emitter import Emitter
from sinew.sim.kinds.emitter.settings import EmissionAim, EmissionMode, EmitterSettings, EmitterSource
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform
from tests.conftest import slow

CHARACTER = Node(id="character", name="Character", settings=ModelSettings(path="humanoid.ezm", clip="walk"))
STILL: dict[str, Any] = {
    "capacity": 600, "rate": 600.0, "lifetime": 4.0, "speed": 0.0, "gravity": (0.0, 0.0, 0.0), "drag": 0.0,
}  # fmt: skip
"""Particles that stay where they are born, or fly straight on with what they inherit."""

BRIEF: dict[str, Any] = {"lifetime": 1.01 * STEP_TIME, "lifetime_variance": 0.0}
"""At the end of a step those live that were born in it, ten of them."""

FLOOR = Node(id="floor", settings=ColliderSettings(shape=ColliderShape.PLANE))


@pytest.fixture
def engine(engine: Engine, humanoid: CharacterModel) -> Engine:
    engine.set_model("character", humanoid, {})
    return engine


ON_CHARACTER, ON_HAND, ON_TAIL = (Attachment(node="character", bone=bone) for bone in ("", "hand_l", "tail"))


def emitter(
    node_id: str = "e",
    *,
    position: tuple[float, float, float] = (0.0, 0.0, 0.0),
    on: Attachment = Attachment(),  # noqa: B008  a value
    muted: bool = False,
    solo: bool = False,
    **settings: Any,
) -> Node:
    values, place = EmitterSettings(**(STILL | settings)), Transform(position=position)
    return Node(
        id=node_id, name=node_id.upper(), muted=muted, solo=solo, transform=place, attachment=on, settings=values
    )


def changed(node: Node, **settings: Any) -> Node:
    return msgspec.structs.replace(node, settings=msgspec.structs.replace(node.settings, **settings))


def moved(node: Node, *position: float) -> Node:
    return msgspec.structs.replace(node, transform=Transform(position=position))


def take(engine: Engine, *nodes: Node) -> None:
    engine.apply(Scene(nodes=nodes))


def run(engine: Engine, first: int, last: int) -> None:
    for step in range(first, last):
        engine.step((step + 1) * STEP_TIME)


def system(engine: Engine, node_id: str = "e") -> Emitter:
    return engine.simulation.systems[node_id].emitter


def ready(engine: Engine) -> set[str]:
    return {node_id for node_id, one in engine.simulation.systems.items() if one.is_ready}


def alive(engine: Engine, node_id: str = "e") -> np.ndarray:
    records = system(engine, node_id).read()
    return records[records["position"][:, 3] >= 0.0]


def texts(engine: Engine) -> list[str]:
    return [problem.text for problem in engine.simulation.take_problems()]


def test_particles_inherit_the_velocity_of_a_moved_node_but_not_of_a_teleport(engine: Engine) -> None:
    node = emitter(inherited_velocity=1.0)
    take(engine, node)
    run(engine, 0, 1)
    take(engine, moved(node, 0.6, 0.0, 0.0))
    run(engine, 1, 2)
    born = alive(engine)[10:]
    np.testing.assert_allclose(born["velocity"][:, :3], np.tile([36.0, 0.0, 0.0], (10, 1)), rtol=1e-5)
    engine.simulation.reset()
    take(engine, moved(node, 5.0, 0.0, 0.0))
    run(engine, 0, 1)
    np.testing.assert_array_equal(alive(engine)["velocity"][:, :3], 0.0)
    take(engine, moved(node, -5.0, 0.0, 0.0))
    engine.teleport(1.0)
    run(engine, 60, 61)
    np.testing.assert_array_equal(alive(engine)["velocity"][:, :3], 0.0)


def test_an_emitter_follows_its_bone_and_inherits_its_velocity(engine: Engine) -> None:
    node = emitter(position=(0.0, 0.1, 0.0), on=ON_HAND, inherited_velocity=1.0, **BRIEF)
    take(engine, CHARACTER, node)
    run(engine, 0, 10)
    places = []
    for step in (10, 11):
        run(engine, step, step + 1)
        frame = engine.views.characters["character"].joint_frame("hand_l")
        places.append((frame @ [0.0, 0.1, 0.0, 1.0])[:3])
    np.testing.assert_allclose(engine.views.view("e").placement[:3, 3], places[1], atol=1e-9)
    found = alive(engine)
    speed = (places[1] - places[0]) / STEP_TIME
    assert np.linalg.norm(speed) > 0.1
    np.testing.assert_allclose(found["velocity"][:, :3], np.tile(speed, (len(found), 1)), atol=2e-4)
    box = engine.views.bounds("e")
    assert box is not None
    assert np.all(box.lo <= places[1])
    assert np.all(box.hi >= places[1])
    parent = engine.views.places.world_from_parent(node)
    np.testing.assert_allclose(parent @ [0.0, 0.1, 0.0, 1.0], [*places[1], 1.0], atol=1e-9)


def test_a_deformed_skin_emits_with_its_position_and_velocity(engine: Engine) -> None:
    deformers = (Twist(), Wave(height=20.0, frequency=0.5))
    node = emitter(source=EmitterSource.VERTICES, on=ON_CHARACTER, inherited_velocity=1.0, **BRIEF)
    take(engine, changed(CHARACTER, deformers=deformers), node)
    run(engine, 0, 5)
    before = skin(engine)
    run(engine, 5, 6)
    after, found = skin(engine), alive(engine)
    assert len(found) == 10
    velocities = (after - before) / STEP_TIME
    assert np.linalg.norm(velocities, axis=1).max() > 0.3
    for record in found:
        # A vertex whose straight way over the step the particle is born on, and goes on along.
        place, velocity = record["position"][:3], record["velocity"][:3]
        errors = np.linalg.norm(after - place, axis=1) + np.linalg.norm(velocities - velocity, axis=1)
        assert errors.min() < 1e-3


def skin(engine: Engine) -> np.ndarray:
    character = engine.views.characters.get("character")
    places = character.primary.read()["position"][:, :3].astype(np.float64)
    return places @ character.world_from_model[:3, :3].T + character.world_from_model[:3, 3]


def test_emission_can_be_limited_by_an_image_that_loads_later(engine: Engine, humanoid: CharacterModel) -> None:
    path = Path("/images/left.png")
    node = emitter(source=EmitterSource.VERTICES, on=ON_CHARACTER, density_texture=str(path))
    take(engine, CHARACTER, node)
    run(engine, 0, 10)
    assert len(alive(engine)) == 100
    assert texts(engine) == []
    pixels = np.zeros((4, 64, 4), np.uint8)
    pixels[:, :32, :3] = 255
    engine.set_assets(SceneAssets(images={path: pixels}))
    take(engine, CHARACTER, node)
    engine.teleport(0.0)
    run(engine, 0, 30)
    rest = engine.views.characters.get("character")
    places = alive(engine)["position"][:, :3]
    chosen = humanoid.mesh.texcoords[:, 0] % 1.0 < 0.5
    assert 0.1 < chosen.mean() < 0.9
    assert len(places) == 300
    engine.teleport(0.0)
    skinned = skin(engine)
    assert rest.model is humanoid
    run(engine, 0, 1)
    born = alive(engine)[-10:]["position"][:, :3]
    nearest = [int(np.argmin(np.linalg.norm(skinned - place, axis=1))) for place in born]
    assert np.mean(chosen[nearest]) > 0.7
    engine.set_assets(SceneAssets(images={path: np.zeros_like(pixels)}))
    take(engine, CHARACTER, node)
    assert texts(engine) == ["no vertex of the surface is left where the image would have it"]


def test_a_missing_model_or_bone_is_reported_once(engine: Engine) -> None:
    on_skin = emitter("skin", source=EmitterSource.FACES, on=Attachment(node="gone"))
    on_bone = emitter("bone", position=(1.0, 2.0, 3.0), on=ON_TAIL)
    take(engine, CHARACTER, on_skin, on_bone)
    assert texts(engine) == [
        "SKIN: the model whose surface emits is not in the scene; nothing comes out of it",
        "BONE: Character has no bone 'tail'; its transform is relative to the world",
    ]
    take(engine, CHARACTER, on_skin, changed(on_bone, rate=50.0))
    run(engine, 0, 3)
    assert texts(engine) == []
    assert ready(engine) == {"bone"}
    np.testing.assert_allclose(alive(engine, "bone")["position"][:, :3], [[1.0, 2.0, 3.0]] * 3)
    np.testing.assert_allclose(engine.views.view("bone").placement[:3, 3], [1.0, 2.0, 3.0])
    take(
        engine,
        CHARACTER,
        changed(msgspec.structs.replace(on_skin, attachment=ON_CHARACTER), density_bone="tail"),
        on_bone,
    )
    assert texts(engine) == ["SKIN: Character has no bone 'tail' to say where it emits; it emits everywhere"]
    run(engine, 3, 4)
    assert len(alive(engine, "skin")) == 10
    take(engine, on_skin, on_bone)
    assert texts(engine) == [
        "SKIN: the model whose surface emits is not in the scene; nothing comes out of it",
        "BONE: its parent is not in the scene; its transform is relative to the world",
    ]


def test_emission_begins_and_ends_with_the_model(engine: Engine, humanoid: CharacterModel) -> None:
    engine.remove_model("character")
    node = emitter(source=EmitterSource.FACES, on=ON_CHARACTER)
    take(engine, CHARACTER, node)
    run(engine, 0, 3)
    assert not ready(engine)
    assert texts(engine) == []
    engine.set_model("character", humanoid, {})
    take(engine, CHARACTER, node)
    run(engine, 3, 6)
    assert len(alive(engine)) == 30
    engine.set_model("character", humanoid, {})
    take(engine, CHARACTER, node)
    run(engine, 6, 8)
    take(engine, node)
    run(engine, 8, 10)
    assert not ready(engine)
    assert len(texts(engine)) == 1


def test_invalid_settings_are_reported_with_their_node(engine: Engine) -> None:
    take(engine, emitter(bursts="often"))
    (problem,) = engine.simulation.take_problems()
    assert problem.node == "e"
    assert "often" in problem.text
    take(engine, emitter())
    run(engine, 0, 3)
    take(engine, emitter(bursts="often"))
    assert [problem.node for problem in engine.simulation.take_problems()] == ["e"]
    run(engine, 3, 6)
    assert len(alive(engine)) == 60


def test_an_unmuted_emitter_is_empty_and_emits_from_its_step(engine: Engine) -> None:
    node = emitter(bursts="0.5:7")
    muted, other = msgspec.structs.replace(node, muted=True), emitter("o", seed=2)
    take(engine, node, other)
    run(engine, 0, 10)
    assert system(engine).count() == 100
    take(engine, muted, other)
    run(engine, 10, 20)
    assert system(engine).count() == 0
    assert np.all(system(engine).read()["position"][:, 3] < 0.0)
    take(engine, node, other)
    run(engine, 20, 40)
    cached = alive(engine)
    assert len(cached) == 207
    engine.simulation.reset()
    run(engine, 0, 40)
    played = alive(engine)
    assert cached.tobytes() == played[-207:].tobytes()
    assert system(engine, "o").count() == 400


def test_stateless_emitters_follow_the_time_in_both_directions(engine: Engine) -> None:
    node = emitter(stateless=True, speed=2.0, gravity=(0.0, -9.81, 0.0))
    take(engine, CHARACTER, node)
    played = {}
    for step in range(1, 41):
        run(engine, step - 1, step)
        played[step] = system(engine).read().tobytes()
    for step in (5, 40, 17, 0):
        engine.advance(step * STEP_TIME)
        engine.refresh(0.0)
        assert system(engine).step_count == step
        assert system(engine).read().tobytes() == played.get(step, b"")
    engine.teleport(20 * STEP_TIME)
    engine.step(21 * STEP_TIME)
    assert system(engine).read().tobytes() == played[21]
    # The clip begins again, the particles do not.
    engine.step(1 * STEP_TIME)
    engine.advance(1 * STEP_TIME)
    engine.refresh(0.0)
    assert system(engine).read().tobytes() == played[22]
    engine.stage.start_time = 10 * STEP_TIME
    engine.advance(15 * STEP_TIME)
    engine.refresh(0.0)
    assert system(engine).step_count == 5
    engine.simulation.reset()
    engine.refresh(0.0)
    assert system(engine).step_count == 0


def test_frames_do_not_change_the_simulation(engine: Engine) -> None:
    nodes = (
        CHARACTER,
        emitter("skin", source=EmitterSource.FACES, aim=EmissionAim.OUTWARD, on=ON_CHARACTER, speed=0.5),
        emitter("bone", on=ON_HAND, inherited_velocity=1.0, gravity=(0.0, -9.81, 0.0)),
        emitter("air", turbulence=1.0, drag=1.0, mode=EmissionMode.FULL, source=EmitterSource.BOX),
        emitter("time", stateless=True, speed=1.0),
        Node(id="ball", attachment=ON_HAND, settings=ColliderSettings(shape=ColliderShape.SPHERE, radius=0.2)),
        FLOOR,
    )
    found = []
    for pictures in (0, 1, 3):
        take(engine, *nodes)
        engine.simulation.reset()
        engine.teleport(0.0)
        for step in range(16):
            if pictures and step % pictures == 0:
                take(engine, *nodes)
                engine.advance(step * STEP_TIME)
                engine.refresh(step * 0.3)
            run(engine, step, step + 1)
        found.append({name: system(engine, name).read().tobytes() for name in ("skin", "bone", "air", "time")})
    assert found[0] == found[1] == found[2]


@pytest.fixture
def unbounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sinew.sim.kinds.emitter.births.check", lambda *_: None)


@pytest.mark.usefixtures("unbounded")
def test_an_unstable_emitter_stops_without_invalid_particles(engine: Engine) -> None:
    wild = emitter(gravity=(1e30, 0.0, 0.0), speed=1.0)
    calm = emitter("calm")
    take(engine, wild, calm)
    run(engine, 0, 5)
    records = system(engine).read()
    assert np.isfinite(records["position"]).all()
    assert np.isfinite(records["velocity"]).all()
    assert np.all(records["position"][:, 3] < 0.0)
    engine.simulation.check()
    (problem,) = engine.simulation.take_problems()
    assert problem.node == "e"
    assert problem.text == system(engine).stopped
    assert "stopped at 0.08 s: 50 particles left the world" in problem.text
    run(engine, 5, 8)
    assert (system(engine).step_count, system(engine, "calm").count()) == (5, 80)
    take(engine, emitter(), calm)
    assert system(engine).stopped
    system(engine).resume()
    run(engine, 8, 10)
    assert (system(engine).stopped, system(engine).count()) == ("", 20)


def busy(index: int) -> tuple[Node, ...]:
    return (
        CHARACTER,
        emitter("skin", source=EmitterSource.FACES, on=ON_CHARACTER, capacity=90, rate=100.0 + index % 7),
        emitter("bone", on=ON_HAND, capacity=90, muted=index % 11 == 3),
        emitter("time", stateless=True, capacity=90 + 30 * (index % 2)),
        emitter("full", mode=EmissionMode.FULL, capacity=60, seed=index % 5),
        FLOOR,
    )


def simulate(engine: Engine, steps: int, every: int) -> list[list[str]]:
    """Names alive after the first tenth, and at the end; pictures and changes in between."""
    live = []
    for step in range(steps):
        if step % every == 0:
            take(engine, *busy(step // every))
            engine.refresh(step * STEP_TIME)
        engine.step((step % 64 + 1) * STEP_TIME)
        if step in (steps // 10, steps - 1):
            take(engine, *busy(0))
            engine.step(0.0)
            engine.simulation.check()
            engine.context.collect()
            live.append(sorted(engine.context.live))
    return live


@pytest.mark.parametrize("steps", [120, slow(300)])
def test_steps_and_edits_leave_no_objects(engine: Engine, steps: int) -> None:
    first, last = simulate(engine, steps, every=10)
    assert first == last
