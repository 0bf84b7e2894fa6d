"""Strands that the user pulls: as in double precision, to the hand and at their lengths, and free again."""

from typing import Any

import numpy as np
import pytest

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.hair.settings import HairSolver
from sinew.sim.kinds.hair.solver import StrandDrag
from tests.gl.back_ends import ON_BOTH
from tests.gl.hair.hair_cases import GpuStrands, groom_of, settings_of, still
from tests.gl.hair.test_hair_reference import CASES, SOLIDS, built
from tests.oracles.hair import Strands

SOLVERS = pytest.mark.parametrize("solver", list(HairSolver))


@ON_BOTH
@pytest.mark.parametrize("name", CASES)
def test_a_pull_is_that_of_double_precision(context: Context, library: ShaderLibrary, name: str) -> None:
    strands = built(context, library, SOLIDS[:1], **CASES[name], turbulence=0.0)
    worst = 0.0
    for step in range(40):
        strands.oracle.pulled = StrandDrag(1, 4, (0.03 + 0.0005 * step, 0.02, 0.01), 0.05) if 5 <= step < 30 else None
        strands.step(SOLIDS[:1])
        strands.oracle.step()
        worst = max(worst, float(np.abs(strands.knots() - strands.oracle.now).max()))
    assert worst < 5e-5
    strands.release()


def pulled(context: Context, library: ShaderLibrary, solver: HairSolver, hand: Any, **changes: Any) -> Any:
    """Strands along x that a hand held for a second at their last knot, and the knots then."""
    more = {"solver": solver, "length": 0.2, "knots": 9, "drag": 2.0, "collide": False, "damping": 0.01} | changes
    settings = settings_of(**more)
    groom = groom_of(settings, [(1.0, 0.2, 0.0), (1.0, 0.2, 0.0), (1.0, 0.2, 0.0)])
    strands = GpuStrands(context, library, Strands(settings, groom, still(groom)))
    strands.oracle.pulled = StrandDrag(1, 8, hand, 0.0)
    for _ in range(60):
        strands.step()
    return strands, strands.knots()


@SOLVERS
def test_the_pulled_knot_is_in_the_hand_until_it_is_let_go(
    context: Context, library: ShaderLibrary, solver: HairSolver
) -> None:
    hand = (0.05, 0.06, 0.11)
    strands, knots = pulled(context, library, solver, hand, knot_mass=0.01, knot_drag=0.05)
    assert np.linalg.norm(knots[1, 8] - hand) < 2e-3
    np.testing.assert_allclose(knots[0], knots[1], atol=1e-4)  # it grows where the pulled one does, and comes along
    strands.oracle.pulled = None
    for _ in range(240):
        strands.step()
    assert np.linalg.norm(strands.knots()[1, 8] - hand) > 0.02
    strands.release()


@pytest.mark.parametrize("solver", [HairSolver.ROD, HairSolver.LAYERS])
@pytest.mark.parametrize("bending", [1e-3, 5.0])
def test_a_hand_out_of_reach_stretches_nothing(
    context: Context, library: ShaderLibrary, solver: HairSolver, bending: float
) -> None:
    strands, knots = pulled(context, library, solver, (0.0, 3.0, 4.0), bending_length=bending)
    edges = np.linalg.norm(np.diff(knots, axis=1), axis=2)
    np.testing.assert_allclose(edges, 0.2 / 8, rtol=1e-5)
    np.testing.assert_allclose(knots[1, 8], (0.0, 0.12, 0.16), atol=0.01)
    strands.release()


def test_the_same_pull_gives_the_same_bits(context: Context, library: ShaderLibrary) -> None:
    found = []
    for _ in range(2):
        strands, knots = pulled(context, library, HairSolver.ROD, (0.1, 0.1, 0.0))
        found.append(knots.tobytes())
        strands.release()
    assert found[0] == found[1]
