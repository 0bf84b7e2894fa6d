from pathlib import Path

import msgspec
import numpy as np
import pytest
from msgspec import structs

from sinew.sim.colliders.oracle import bounce, collider_contact, local_points
from sinew.sim.colliders.pack import pack_colliders
from sinew.sim.colliders.scene_colliders import Colliders, SceneColliders
from sinew.sim.colliders.state import RIGID_SHAPES, ColliderPlacement, ColliderShape, ColliderState, bounding_radius
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.record import record
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene
from tests.gl.colliders.probe import ANSWER, FRAME_TIME, PROBE, SUBSTEP, float64, random_states, run_kernel
from tests.oracles.collider_motion import world_points
from tests.oracles.contact import resolve
from tests.oracles.shapes import signed_distance
from tests.oracles.sweep import sweep, swept_contact

POINTS = 200  # points for each collider
# Colliders of 0.05 to 2 m with aspects of up to 40 : 1 within 2 m of the origin, turning by up to 2 rad in a step.
DISTANCE_ERROR = 3e-6  # cards turn with less exact sines than a software renderer
ERRORS = {"normal": 1e-4, "surface_velocity": 2e-3, "position": 1e-4, "previous": 1e-4, "velocity": 2e-3}
HAIR = 1e-5


def probes(states: list[ColliderState], random: np.random.Generator) -> np.ndarray:
    data = PROBE.zeros(len(states) * POINTS)
    data["fraction"] = np.repeat(random.uniform(0.0, 1.0, len(states)), POINTS)
    data["collider"] = np.repeat(np.arange(len(states)), POINTS)
    data["thickness"] = random.uniform(0.0, 0.5, len(data))
    data["velocity"] = random.normal(size=(len(data), 3)) * 3.0
    for index, state in enumerate(states):
        mine = slice(index * POINTS, (index + 1) * POINTS)
        spread = min(bounding_radius(state.shape, state.size), 2.0)
        local = random.uniform(-1.2, 1.2, (POINTS, 3)) * spread * random.uniform(0.0, 1.0, (POINTS, 1))
        data["point"][mine] = world_points(state, local, float(data["fraction"][mine.start]))
    return data


@pytest.mark.parametrize("shape", RIGID_SHAPES)
def test_contacts_are_those_of_the_reference(context: Context, tmp_path: Path, shape: ColliderShape) -> None:
    random = np.random.default_rng(11)
    states = random_states(shape, 24, random)
    data = probes(states, random)
    got = run_kernel(context, tmp_path, "probe.glsl", (PROBE, data), ANSWER, states, u_substep=SUBSTEP)
    for index, state in enumerate(states):
        mine = slice(index * POINTS, (index + 1) * POINTS)
        expected, sent = _expected(state, data[mine]), got[mine]
        steady = _is_steady(state, data[mine])
        assert steady.mean() > 0.7
        assert np.abs(sent["distance"] - expected["distance"]).max() < DISTANCE_ERROR
        for field, tolerance in ERRORS.items():
            assert np.abs(sent[field] - expected[field])[steady].max() < tolerance, field
        np.testing.assert_allclose(sent["friction"], state.friction, rtol=1e-6)
        np.testing.assert_allclose(sent["restitution"], state.restitution, rtol=1e-6)
    # The search for the next near collider stops at each one in reach, and passes most others.
    stops = got["next"] == data["collider"]
    np.testing.assert_array_equal(got["next"][~stops], data["collider"][~stops] + 1)
    assert stops[got["distance"] < data["thickness"]].all()
    data["point"] *= 20.0
    away = run_kernel(context, tmp_path, "probe.glsl", (PROBE, data), ANSWER, states, u_substep=SUBSTEP)
    assert (away["next"] == data["collider"])[away["distance"] < data["thickness"]].all()
    if shape is not ColliderShape.PLANE:  # these turn, and a turning plane is always near
        assert (away["next"] == data["collider"] + 1).mean() > 0.8


def test_a_plane_that_does_not_turn_is_culled(context: Context, tmp_path: Path) -> None:
    random = np.random.default_rng(13)
    states = []
    for state in random_states(ColliderShape.PLANE, 8, random):
        end = state.world_from_start.copy()
        end[:3, 3] += random.normal(size=3)
        states.append(msgspec.structs.replace(state, world_from_end=end))
    data = probes(states, random)
    got = run_kernel(context, tmp_path, "probe.glsl", (PROBE, data), ANSWER, states, u_substep=SUBSTEP)
    margin = got["distance"] - data["thickness"]
    clear = np.abs(margin) > 1e-5
    np.testing.assert_array_equal((got["next"] == data["collider"])[clear], (margin < 0.0)[clear])


def test_kernels_without_moving_colliders_and_ellipsoids_give_the_same(context: Context, tmp_path: Path) -> None:
    shapes = (ColliderShape.SPHERE, ColliderShape.BOX)
    random = np.random.default_rng(14)
    states = [
        msgspec.structs.replace(state, world_from_end=state.world_from_start)
        for shape in shapes for state in random_states(shape, 4, random)
    ]  # fmt: skip
    data = probes(states, random)
    defines = {"COLLIDE_STILL": True, "COLLIDE_NO_ELLIPSOID": True}
    args = (context, tmp_path, "probe.glsl", (PROBE, data), ANSWER, states)
    full = run_kernel(*args, u_substep=SUBSTEP)
    lean = run_kernel(*args, defines=defines, u_substep=SUBSTEP)
    for field in ANSWER.dtype.names:
        np.testing.assert_array_equal(lean[field], full[field], err_msg=field)


def _is_steady(state: ColliderState, sent: np.ndarray) -> np.ndarray:
    """Where a hair's difference in place leaves the normal as it is, that is, away from points between two sides."""
    point, fraction = float64(sent["point"]), float(sent["fraction"][0])
    steady = np.ones(len(point), dtype=bool)
    here = collider_contact(state, point, fraction, FRAME_TIME, SUBSTEP).normal
    for offset in np.concatenate([np.eye(3), -np.eye(3)]) * HAIR:
        there = collider_contact(state, point + offset, fraction, FRAME_TIME, SUBSTEP).normal
        steady &= np.linalg.norm(there - here, axis=1) < 100.0 * HAIR
    return steady


def _expected(state: ColliderState, sent: np.ndarray) -> dict[str, np.ndarray]:
    point, velocity, thickness = float64(sent["point"]), float64(sent["velocity"]), float64(sent["thickness"])
    contact = collider_contact(state, point, float(sent["fraction"][0]), FRAME_TIME, SUBSTEP)
    previous = point - SUBSTEP * velocity
    position, previous = resolve(point, previous, contact, thickness, SUBSTEP)
    _, bounced = bounce(point, velocity, contact, thickness, SUBSTEP)
    return {
        "distance": contact.distance, "normal": contact.normal, "surface_velocity": contact.velocity,
        "position": position, "previous": previous, "velocity": bounced,
    }  # fmt: skip


PATH = record(
    "Path", start=(3, "f4"), collider="f4", end=(3, "f4"), thickness="f4", fractions=(2, "f4"), spare=(2, "f4")
)
ENTRY = record(
    "Entry",
    point=(3, "f4"), time="f4", entry_normal=(3, "f4"), found="f4", normal=(3, "f4"), distance="f4",
    velocity=(3, "f4"), spare="f4", position=(3, "f4"), more="f4",
)  # fmt: skip
PATHS = 200
FRACTIONS = (0.3, 0.4)

# Paths of up to 5 m within 3 m of the origin, in single precision.
TOLERANCE = 4e-5
CLEAR = 1e-3  # entries shallower or flatter than this hang on the last digits of the path


def paths(states: list[ColliderState], random: np.random.Generator) -> np.ndarray:
    data = PATH.zeros(len(states) * PATHS)
    data["collider"] = np.repeat(np.arange(len(states)), PATHS)
    data["thickness"], data["fractions"] = 0.01, FRACTIONS
    for index, state in enumerate(states):
        begin = random.normal(size=(8 * PATHS, 3)) * 1.5
        begin = begin[signed_distance(state.shape, state.size, begin) > 0.01][:PATHS]
        aim = random.normal(size=(PATHS, 3)) * 0.3
        finish = begin + (aim - begin) * random.uniform(0.5, 3.0, (PATHS, 1))
        mine = slice(index * PATHS, (index + 1) * PATHS)
        data["start"][mine] = world_points(state, begin, FRACTIONS[0])
        data["end"][mine] = world_points(state, finish, FRACTIONS[1])
    return data


@pytest.mark.parametrize("shape", RIGID_SHAPES)
def test_sweeps_equal_the_reference(context: Context, tmp_path: Path, shape: ColliderShape) -> None:
    random = np.random.default_rng(21)
    states = random_states(shape, 12, random)
    data = paths(states, random)
    got = run_kernel(context, tmp_path, "sweep.glsl", (PATH, data), ENTRY, states, u_substep=SUBSTEP)
    entering = 0
    for index, state in enumerate(states):
        mine = slice(index * PATHS, (index + 1) * PATHS)
        entering += _compare(state, data[mine], got[mine])
    assert entering > 0.2 * len(data)


def _compare(state: ColliderState, sent: np.ndarray, got: np.ndarray) -> int:
    start, end = float64(sent["start"]), float64(sent["end"])
    fractions = tuple(float(value) for value in sent["fractions"][0])
    hit = sweep(state, start, end, *fractions)
    contact = swept_contact(state, start, end, *fractions, FRAME_TIME, SUBSTEP)
    steep = -np.sum((end - start) * hit.normal, axis=1) > 0.05 * np.linalg.norm(end - start, axis=1)
    clear = hit.found & steep & (hit.time < 1.0 - CLEAR)
    np.testing.assert_array_equal(got["found"][clear], 1.0)
    np.testing.assert_allclose(got["time"][clear], hit.time[clear], atol=TOLERANCE)
    np.testing.assert_allclose(got["point"][clear], hit.point[clear], atol=10.0 * TOLERANCE)
    position, _ = resolve(end, start, contact, 0.01, SUBSTEP)
    through = np.sum((got["position"] - hit.point) * hit.normal, axis=1)[clear]
    assert through.min(initial=1.0) > -CLEAR  # nothing is left behind the surface it entered
    smooth = clear & (np.sum(got["entry_normal"] * hit.normal, axis=1) > 0.999)
    assert smooth.sum() >= 0.98 * clear.sum()
    np.testing.assert_allclose(got["distance"][smooth], contact.distance[smooth], atol=CLEAR, rtol=CLEAR)
    np.testing.assert_allclose(got["position"][smooth], position[smooth], atol=3.0 * CLEAR, rtol=CLEAR)
    begin, finish = local_points(state, start, fractions[0]), local_points(state, end, fractions[1])
    along = [signed_distance(state.shape, state.size, begin + t * (finish - begin)) for t in np.linspace(0.0, 1.0, 60)]
    apart = np.min(along, axis=0) - 0.5 * np.linalg.norm(finish - begin, axis=1) / 59.0
    np.testing.assert_array_equal(got["found"][apart > CLEAR], 0.0)
    return int(clear.sum())


SIZE = np.array([0.5, 0.0, 0.0])


def at(x: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[0, 3] = x
    return matrix


def ball(x: float) -> ColliderPlacement:
    return ColliderPlacement(ColliderShape.SPHERE, SIZE, at(x), 0.3, 0.1)


def assert_holds(colliders: Colliders, *moves: tuple[float, float]) -> None:
    expected = pack_colliders(
        [ColliderState(ColliderShape.SPHERE, SIZE, at(a), at(b), 0.3, 0.1) for a, b in moves], STEP_TIME
    )
    assert colliders
    assert colliders.count == len(moves)
    assert colliders.shapes == {ColliderShape.SPHERE}
    assert colliders.texture is not None
    np.testing.assert_array_equal(colliders.texture.buffer.read(np.float32).reshape(expected.shape), expected)


def test_a_step_begins_where_the_last_ended_except_after_a_teleport(context: Context) -> None:
    library = ShaderLibrary(context)
    colliders = SceneColliders(context, library)
    assert not colliders.now
    assert_holds(colliders.advance({"a": ball(1.0)}), (1.0, 1.0))
    assert_holds(colliders.advance({"a": ball(1.5), "b": ball(4.0)}), (1.0, 1.5), (4.0, 4.0))
    assert_holds(colliders.advance({"b": ball(5.0)}), (4.0, 5.0))
    colliders.teleport()
    assert_holds(colliders.now, (4.0, 5.0))
    assert_holds(colliders.advance({"b": ball(9.0)}), (9.0, 9.0))
    assert not colliders.advance({})
    colliders.advance({"b": ball(0.0)})
    colliders.reset()
    assert not colliders.now
    colliders.release()
    colliders.release()
    library.release()


def test_muted_colliders_are_left_out(context: Context) -> None:
    engine = Engine(context)
    balls = [Node(id=name, settings=ColliderSettings(radius=0.5, friction=0.3, restitution=0.1)) for name in "ab"]

    def count(*changed: Node) -> int:
        engine.apply(Scene(nodes=changed))
        engine.step(0.0)
        return engine.simulation.colliders.now.count

    a, b = balls
    assert count(a, b) == 2
    assert count(a, structs.replace(b, muted=True)) == 1
    assert count(structs.replace(a, muted=True), structs.replace(b, muted=True)) == 0
    assert count(structs.replace(a, solo=True), b) == 1
    assert count(structs.replace(a, visible=False), b) == 2
    engine.release()
