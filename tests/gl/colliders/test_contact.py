"""Contacts on the GPU against the reference in double precision."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from sinew.sim.colliders.state import ColliderShape, ColliderState, bounding_radius
from sinew.sim.gl.context import Context
from tests.gl.colliders.probe import ANSWER, FRAME_TIME, PROBE, SUBSTEP, float64, random_states, run_kernel
from tests.oracles.collider_motion import world_points
from tests.oracles.contact import bounce, collider_contact, resolve

POINTS = 400
"""Points for each collider."""

# Colliders of 0.05 to 2 m with aspects of up to 40 : 1 within 2 m of the origin, turning by up to 2 rad in a step.
DISTANCE_ERROR = 2e-6
ERRORS = {"normal": 1e-4, "surface_velocity": 2e-3, "position": 1e-4, "previous": 1e-4, "velocity": 2e-3}
HAIR = 1e-5


def probes(states: list[ColliderState], random: np.random.Generator) -> np.ndarray:
    """Points all around and inside every collider, at random moments."""
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


@pytest.mark.parametrize("shape", ColliderShape)
def test_contacts_equal_the_reference(context: Context, tmp_path: Path, shape: ColliderShape) -> None:
    random = np.random.default_rng(11)
    states = random_states(shape, 24, random)
    data = probes(states, random)
    got = run_kernel(context, tmp_path, "probe.glsl", (PROBE, data), ANSWER, states, u_substep=SUBSTEP)
    for index, state in enumerate(states):
        mine = slice(index * POINTS, (index + 1) * POINTS)
        expected, sent = _expected(state, data[mine]), got[mine]
        steady = _is_steady(state, data[mine])
        assert steady.mean() > 0.8
        assert np.abs(sent["distance"] - expected["distance"]).max() < DISTANCE_ERROR
        for field, tolerance in ERRORS.items():
            assert np.abs(sent[field] - expected[field])[steady].max() < tolerance, field
        np.testing.assert_allclose(sent["friction"], state.friction, rtol=1e-6)
        np.testing.assert_allclose(sent["restitution"], state.restitution, rtol=1e-6)


@pytest.mark.parametrize("shape", ColliderShape)
def test_no_contact_is_culled(context: Context, tmp_path: Path, shape: ColliderShape) -> None:
    """The search for the next near collider stops at every collider within reach, and passes most that are not."""
    random = np.random.default_rng(12)
    states = random_states(shape, 24, random)
    data = probes(states, random)
    got = run_kernel(context, tmp_path, "probe.glsl", (PROBE, data), ANSWER, states, u_substep=SUBSTEP)
    stops = got["next"] == data["collider"]
    np.testing.assert_array_equal(got["next"][~stops], data["collider"][~stops] + 1)
    assert stops[got["distance"] < data["thickness"]].all()
    data["point"] *= 20.0
    away = run_kernel(context, tmp_path, "probe.glsl", (PROBE, data), ANSWER, states, u_substep=SUBSTEP)
    assert (away["next"] == data["collider"])[away["distance"] < data["thickness"]].all()
    if shape is not ColliderShape.PLANE:  # these turn, and a turning plane is always near
        assert (away["next"] == data["collider"] + 1).mean() > 0.8


@pytest.mark.parametrize("moves", [False, True])
def test_a_plane_that_does_not_turn_is_culled(context: Context, tmp_path: Path, moves: bool) -> None:
    random = np.random.default_rng(13)
    states = []
    for state in random_states(ColliderShape.PLANE, 8, random):
        end = state.world_from_start.copy()
        end[:3, 3] += moves * random.normal(size=3)
        states.append(msgspec.structs.replace(state, world_from_end=end))
    data = probes(states, random)
    got = run_kernel(context, tmp_path, "probe.glsl", (PROBE, data), ANSWER, states, u_substep=SUBSTEP)
    margin = got["distance"] - data["thickness"]
    clear = np.abs(margin) > 1e-5
    np.testing.assert_array_equal((got["next"] == data["collider"])[clear], (margin < 0.0)[clear])


@pytest.mark.parametrize("shapes", [(ColliderShape.SPHERE, ColliderShape.BOX), tuple(ColliderShape)])
def test_leaving_out_what_is_not_needed_changes_nothing(
    context: Context, tmp_path: Path, shapes: tuple[ColliderShape, ...]
) -> None:
    random = np.random.default_rng(14)
    states = [
        msgspec.structs.replace(state, world_from_end=state.world_from_start)
        for shape in shapes for state in random_states(shape, 4, random)
    ]  # fmt: skip
    data = probes(states, random)
    defines = {"COLLIDE_STILL": True, "COLLIDE_NO_ELLIPSOID": ColliderShape.ELLIPSOID not in shapes}
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
