"""Continuous collision on the GPU against the reference in double precision."""

from pathlib import Path

import numpy as np
import pytest

from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.context import Context
from sinew.sim.gl.record import record
from tests.gl.colliders.probe import FRAME_TIME, SUBSTEP, float64, random_states, run_kernel
from tests.oracles.collider_motion import local_points, world_points
from tests.oracles.contact import resolve
from tests.oracles.shapes import signed_distance
from tests.oracles.sweep import sweep, swept_contact

PATH = record(
    "Path", start=(3, "f4"), collider="f4", end=(3, "f4"), thickness="f4", fractions=(2, "f4"), spare=(2, "f4")
)
ENTRY = record(
    "Entry",
    point=(3, "f4"), time="f4", entry_normal=(3, "f4"), found="f4", normal=(3, "f4"), distance="f4",
    velocity=(3, "f4"), spare="f4", position=(3, "f4"), more="f4",
)  # fmt: skip
PATHS = 400
FRACTIONS = (0.3, 0.4)

# Paths of up to 5 m within 3 m of the origin, in single precision.
TOLERANCE = 4e-5
CLEAR = 1e-3
"""Entries shallower or flatter than this hang on the last digits of the path."""


def paths(states: list[ColliderState], random: np.random.Generator) -> np.ndarray:
    """Fast paths from outside the colliders past and through them."""
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


@pytest.mark.parametrize("shape", ColliderShape)
def test_sweeps_equal_the_reference(context: Context, tmp_path: Path, shape: ColliderShape) -> None:
    random = np.random.default_rng(21)
    states = random_states(shape, 20, random)
    data = paths(states, random)
    got = run_kernel(context, tmp_path, "sweep.glsl", (PATH, data), ENTRY, states, u_substep=SUBSTEP)
    entering = 0
    for index, state in enumerate(states):
        mine = slice(index * PATHS, (index + 1) * PATHS)
        entering += _compare(state, data[mine], got[mine])
    assert entering > 0.2 * len(data)


def _compare(state: ColliderState, sent: np.ndarray, got: np.ndarray) -> int:
    """Checks the rows of one collider; returns how many paths clearly enter it."""
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
