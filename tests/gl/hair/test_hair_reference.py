"""The solvers of hair against double precision, step by step, with roots that move, wind, gusts and colliders."""

from typing import Any

import numpy as np
import pytest

from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.hair.settings import HairSolver
from sinew.sim.kinds.hair.solver import StrandDrag
from sinew.sim.maths import quaternion
from sinew.sim.maths.gusts import gusts_at
from tests.gl.hair.hair_cases import GpuStrands, groom_of, settings_of
from tests.oracles.air import air_velocity
from tests.oracles.hair import Strands

TF, COMPUTE = BackEndChoice.TF, BackEndChoice.COMPUTE
DIRECTIONS = [[0.2, 1.0, 0.1], [1.0, 0.3, 0.0], [0.0, 0.2, -1.0], [-0.7, -0.4, 0.3]]
MOVING: dict[str, Any] = {"wind": (2.0, 0.3, -1.0), "turbulence": 1.5, "drag": 2.0, "damping": 0.01, "carried": 0.7}
CASES = {
    "rod": {"solver": HairSolver.ROD, "hold": 50.0, "bending_length": 0.08},
    "springs": {"solver": HairSolver.SPRINGS, "knot_mass": 0.01, "spring_stiffness": 100.0, "knot_drag": 0.1},
    "layers": {"solver": HairSolver.LAYERS, "length": 0.05, "knots": 6, "fur_damping": 2.0},
}


def shaken(groom: Any) -> Any:
    """Roots that swing by 2 cm and turn to and fro."""
    turns = quaternion.from_matrix(groom.frames)

    def path(time: float) -> tuple[Any, Any]:
        place = 0.02 * np.array([np.sin(9.0 * time), np.sin(5.0 * time), np.cos(7.0 * time) - 1.0])
        turn = quaternion.from_axis_angle(np.array([0.3, 1.0, 0.2]), 0.6 * np.sin(4.0 * time))
        return np.tile(place, (groom.count, 1)), quaternion.multiply(turn, turns)

    return path


def built(
    context: Context, library: ShaderLibrary, colliders: tuple[ColliderState, ...] = (), **changes: Any
) -> GpuStrands:
    settings = settings_of(**(MOVING | changes))
    groom = groom_of(settings, DIRECTIONS, bow=0.1)
    air = lambda places, time: air_velocity(  # noqa: E731
        np.array(settings.wind), gusts_at(settings, time), places.reshape(-1, 3)
    ).reshape(places.shape)
    return GpuStrands(context, library, Strands(settings, groom, shaken(groom), colliders, air))


@pytest.mark.parametrize("name", CASES)
def test_strands_move_as_in_double_precision(context: Context, library: ShaderLibrary, name: str) -> None:
    strands = built(context, library, **CASES[name])
    for _ in range(300):
        strands.step()
        strands.oracle.step()
    np.testing.assert_allclose(strands.knots(), strands.oracle.now, atol=2e-5)
    assert np.ptp(strands.oracle.now) > 0.05
    strands.release()


def placed(
    shape: ColliderShape, size: tuple[float, ...], place: tuple[float, ...], friction: float, turn: float
) -> ColliderState:
    matrix = np.eye(4)
    matrix[:3, :3] = quaternion.to_matrix(quaternion.from_axis_angle(np.array([0.0, 0.0, 1.0]), turn))
    matrix[:3, 3] = place
    return ColliderState(shape, np.array(size), matrix, matrix, friction=friction)


SOLIDS = (
    placed(ColliderShape.PLANE, (0.0, 0.0, 0.0), (0.0, -0.06, 0.0), 0.5, 0.0),
    placed(ColliderShape.ELLIPSOID, (0.08, 0.05, 0.06), (0.0, -0.04, 0.0), 0.4, 0.0),
    placed(ColliderShape.CAPSULE, (0.03, 0.05, 0.0), (0.15, 0.0, 0.0), 0.3, np.pi / 2.0),
)


@pytest.mark.parametrize("name", CASES)
def test_colliders_meet_strands_as_in_double_precision(context: Context, library: ShaderLibrary, name: str) -> None:
    """Roots begin within an ellipsoid, whose skin they come out of; each step begins where the oracle stands."""
    strands = built(context, library, SOLIDS, **CASES[name], turbulence=0.0)
    worst = 0.0
    for _ in range(60):
        strands.step(SOLIDS)
        strands.oracle.step()
        worst = max(worst, float(np.abs(strands.knots() - strands.oracle.now).max()))
    assert worst < 1e-4
    strands.release()


@pytest.mark.parametrize("name", CASES)
def test_whole_steps_by_compute_have_the_bits_of_substeps(context: Context, library: ShaderLibrary, name: str) -> None:
    """Both moments, among colliders and pulled for a while; also when the back end changes on the way."""
    if not (context.back_ends.has_compute and context.capabilities.is_software):
        pytest.skip("compilers of cards may contract sums of products differently")
    found = []
    for choices in ((TF, TF, TF), (COMPUTE, COMPUTE, COMPUTE), (TF, COMPUTE, TF)):
        strands = built(context, library, SOLIDS, **CASES[name], substeps=3)
        for step in range(18):
            context.back_ends.choice = choices[step // 6]
            strands.oracle.pulled = StrandDrag(1, 4, (0.03, 0.02, 0.01), 0.05) if 4 <= step < 14 else None
            strands.step(SOLIDS)
        found.append((strands.state.now.read().tobytes(), strands.state.before.read().tobytes()))
        strands.release()
    assert found[1] == found[0]
    assert found[2] == found[0]
