"""Contacts on the GPU against the reference in double precision."""

from pathlib import Path

import numpy as np
import pytest

from sim.collider_settings import ColliderShape
from sim.colliders.contact import bounce, collider_contact, resolve
from sim.colliders.motion import world_points
from sim.colliders.state import ColliderState, bounding_radius
from sim.gl.context import Context
from tests.gl.colliders.probe import ANSWER, FRAME_TIME, PROBE, SUBSTEP, float64, random_states, run_kernel

POINTS = 400
"""Points for each collider."""


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
    got = run_kernel(context, tmp_path, "probe.vert", (PROBE, data), ANSWER, states, u_substep=SUBSTEP)
    worst: dict[str, float] = {}
    for index, state in enumerate(states):
        mine = slice(index * POINTS, (index + 1) * POINTS)
        expected, sent = _expected(state, data[mine]), got[mine]
        # Where two surface points are almost equally near, rounding picks one: there only the distance is defined.
        clear = np.sum(expected["normal"] * sent["normal"], axis=1) > 0.99
        assert clear.mean() > 0.97
        for field, value in expected.items():
            rows = slice(None) if field == "distance" else clear
            error = np.abs(sent[field][rows] - value[rows]).max(initial=0.0)
            worst[field] = max(worst.get(field, 0.0), float(error))
    print(shape, worst)


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
