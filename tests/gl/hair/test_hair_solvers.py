from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.oracle import air_velocity
from sinew.sim.kinds.hair.settings import HairSolver
from sinew.sim.kinds.hair.solver import StrandDrag, longest_substep, stability
from sinew.sim.maths import quaternion
from sinew.sim.maths.gusts import gusts_at
from sinew.sim.scene.clock import STEP_TIME
from tests.conftest import slow
from tests.gl.hair.hair_cases import GpuStrands, groom_of, settings_of, still
from tests.oracles.hair import Strands, touched

TF, COMPUTE = BackEndChoice.TF, BackEndChoice.COMPUTE
DIRECTIONS = [[0.2, 1.0, 0.1], [1.0, 0.3, 0.0], [0.0, 0.2, -1.0], [-0.7, -0.4, 0.3]]
MOVING: dict[str, Any] = {"wind": (2.0, 0.3, -1.0), "turbulence": 1.5, "drag": 2.0, "damping": 0.01, "carried": 0.7}
CASES = {
    "rod": {"solver": HairSolver.ROD, "hold": 50.0, "bending_length": 0.08},
    "springs": {"solver": HairSolver.SPRINGS, "knot_mass": 0.01, "spring_stiffness": 100.0, "knot_drag": 0.1},
    "layers": {"solver": HairSolver.LAYERS, "length": 0.05, "knots": 6, "fur_damping": 2.0},
}


def shaken(groom: Any) -> Any:
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
    for _ in range(60):
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


COLLIDERS = (
    placed(ColliderShape.PLANE, (0.0, 0.0, 0.0), (0.0, -0.06, 0.0), 0.5, 0.0),
    placed(ColliderShape.ELLIPSOID, (0.08, 0.05, 0.06), (0.0, -0.04, 0.0), 0.4, 0.0),
    placed(ColliderShape.CAPSULE, (0.03, 0.05, 0.0), (0.15, 0.0, 0.0), 0.3, np.pi / 2.0),
)


@pytest.mark.parametrize(("name", "steps"), [("rod", 8), ("layers", 8), *(slow(name, 30) for name in CASES)])
def test_strands_collide_as_in_double_precision(
    context: Context, library: ShaderLibrary, name: str, steps: int
) -> None:
    """Roots begin within an ellipsoid, whose skin they come out of; each step begins where the oracle stands."""
    strands = built(context, library, COLLIDERS, **CASES[name], turbulence=0.0)
    worst = 0.0
    for _ in range(steps):
        strands.step(COLLIDERS)
        strands.oracle.step()
        worst = max(worst, float(np.abs(strands.knots() - strands.oracle.now).max()))
    assert worst < 1e-4
    strands.release()


@pytest.mark.parametrize("name", CASES)
def test_compute_has_the_bits_of_transform_feedback(context: Context, library: ShaderLibrary, name: str) -> None:
    """With colliders and a dragged knot; also if the back end changes during the simulation."""
    if not (context.back_ends.has_compute and context.capabilities.is_software):
        pytest.skip("compilers of cards may contract sums of products differently")
    found = []
    for choices in ((TF, TF, TF), (COMPUTE, COMPUTE, COMPUTE), (TF, COMPUTE, TF)):
        strands = built(context, library, COLLIDERS, **CASES[name], substeps=3)
        for step in range(18):
            context.back_ends.choice = choices[step // 6]
            strands.oracle.pulled = StrandDrag(1, 4, (0.03, 0.02, 0.01), 0.05) if 4 <= step < 14 else None
            strands.step(COLLIDERS)
        found.append((strands.state.now.read().tobytes(), strands.state.before.read().tobytes()))
        strands.release()
    assert found[1] == found[0]
    assert found[2] == found[0]


@pytest.mark.parametrize("context", ["tf", slow("compute")], indirect=True)
@pytest.mark.parametrize("name", CASES)
def test_strands_are_dragged_as_in_double_precision(context: Context, library: ShaderLibrary, name: str) -> None:
    strands = built(context, library, COLLIDERS[:1], **CASES[name], turbulence=0.0)
    worst = 0.0
    for step in range(20):
        strands.oracle.pulled = StrandDrag(1, 4, (0.03 + 0.001 * step, 0.02, 0.01), 0.05) if 3 <= step < 15 else None
        strands.step(COLLIDERS[:1])
        strands.oracle.step()
        worst = max(worst, float(np.abs(strands.knots() - strands.oracle.now).max()))
    assert worst < 5e-5
    strands.release()


def dragged(context: Context, library: ShaderLibrary, solver: HairSolver, mouse: Any, **changes: Any) -> Any:
    """Strands along x whose last knot was dragged for a second, and the knots then."""
    more = {"solver": solver, "length": 0.2, "knots": 9, "drag": 2.0, "collide": False, "damping": 0.01} | changes
    settings = settings_of(**more)
    groom = groom_of(settings, [(1.0, 0.2, 0.0), (1.0, 0.2, 0.0), (1.0, 0.2, 0.0)])
    strands = GpuStrands(context, library, Strands(settings, groom, still(groom)))
    strands.oracle.pulled = StrandDrag(1, 8, mouse, 0.0)
    for _ in range(60):
        strands.step()
    return strands, strands.knots()


@pytest.mark.parametrize("solver", list(HairSolver))
def test_a_dragged_knot_is_at_the_mouse(context: Context, library: ShaderLibrary, solver: HairSolver) -> None:
    mouse = (0.05, 0.06, 0.11)
    strands, knots = dragged(context, library, solver, mouse, knot_mass=0.01, knot_drag=0.05)
    assert np.linalg.norm(knots[1, 8] - mouse) < 2e-3
    np.testing.assert_allclose(knots[0], knots[1], atol=1e-4)  # its root is beside the dragged one, and it follows
    strands.oracle.pulled = None
    for _ in range(60):
        strands.step()
    assert np.linalg.norm(strands.knots()[1, 8] - mouse) > 0.02
    strands.release()


@pytest.mark.parametrize(("solver", "bending"), [(HairSolver.ROD, 1e-3), (HairSolver.LAYERS, 5.0)])
def test_a_drag_out_of_reach(context: Context, library: ShaderLibrary, solver: HairSolver, bending: float) -> None:
    strands, knots = dragged(context, library, solver, (0.0, 3.0, 4.0), bending_length=bending)
    edges = np.linalg.norm(np.diff(knots, axis=1), axis=2)
    np.testing.assert_allclose(edges, 0.2 / 8, rtol=1e-5)
    np.testing.assert_allclose(knots[1, 8], (0.0, 0.12, 0.16), atol=0.01)
    strands.release()


LEVEL, UP, DOWN = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)


def hung(
    context: Context, library: ShaderLibrary, directions: Any, lengths: Any = None, *, head: Any = None, **changes: Any
) -> GpuStrands:
    settings = settings_of(**changes)
    groom = groom_of(settings, directions, lengths=lengths)
    return GpuStrands(context, library, Strands(settings, groom, still(groom), head=head))


def run(strands: GpuStrands, steps: int) -> npt.NDArray[np.float64]:
    for _ in range(steps):
        strands.step()
    return strands.knots()


def test_rods_hang_as_the_elastica(context: Context, library: ShaderLibrary) -> None:
    """From horizontal, drop and reach over the length; numbers of the boundary value problem."""
    lengths = np.array([0.05, 0.1, 0.2, 0.015])
    strands = hung(context, library, [LEVEL] * 4, lengths, knots=16, bending_length=0.05, drag=6.0)
    tips = run(strands, 500)[:, -1] / lengths[:, None]
    expected = [[0.99125, -0.12347], [0.72442, -0.64063], [0.20920, -0.92011]]
    np.testing.assert_allclose(tips[:3, :2], expected, atol=0.01)
    # A short one is a small cantilever, L^3 / (8 B) of g, and a little more for its few segments.
    assert -tips[3, 1] == pytest.approx(0.3**3 / 8.0 * (1.0 + 1.0 / 15.0**2), rel=0.02)
    strands.release()


@pytest.mark.parametrize("bending", [1e-3, 10.0])
def test_rods_keep_their_lengths_among_random_roots(context: Context, library: ShaderLibrary, bending: float) -> None:
    """Roots jump about and turn at random, then rest: lengths stay and the strands come to rest."""
    settings = settings_of(bending_length=bending, damping=2.0 / 240.0, drag=3.0, length=0.25)
    groom = groom_of(settings, [LEVEL, UP, DOWN, (1.0, 2.0, 3.0)], bow=0.2)
    random = np.random.default_rng(5)
    places = random.normal(size=(61, 4, 3)) * 0.1
    turns = quaternion.normalised(random.normal(size=(61, 4, 4)))

    def path(time: float) -> Any:
        index = min(round(time / STEP_TIME), 60)
        return places[index], turns[index]

    strands = GpuStrands(context, library, Strands(settings, groom, path))
    worst = 0.0
    for _ in range(60):
        edges = np.linalg.norm(np.diff(run(strands, 1), axis=1), axis=2)
        worst = max(worst, float(np.abs(edges / (0.25 / settings.segments) - 1.0).max()))
    assert worst < 1e-5
    before = run(strands, 300)
    assert np.abs(run(strands, 10) - before).max() < 1e-3
    strands.release()


SPRINGS: dict[str, Any] = {
    "solver": HairSolver.SPRINGS, "knots": 11, "length": 1.0, "spring_stiffness": 100.0, "knot_mass": 0.05,
    "knot_drag": 1.0, "gravity": (0.0, -9.8, 0.0), "substeps": 1,
}  # fmt: skip


def test_springs_are_stable_up_to_their_longest_substep(context: Context, library: ShaderLibrary) -> None:
    settings = settings_of(**SPRINGS)
    assert 1e3 * longest_substep(settings) == pytest.approx(20.2, abs=0.4)
    tips = []
    for ratio in (0.98, 1.03):
        # The bound is that of the highest frequency of a long chain; stiffness moves it to a step.
        found = (stiffness for stiffness in np.geomspace(10.0, 1e4, 20000)
                 if stability(settings_of(**(SPRINGS | {"spring_stiffness": stiffness}))).ratio >= ratio)  # fmt: skip
        strands = hung(
            context, library, [(0.1, -1.0, 0.0)], **(SPRINGS | {"spring_stiffness": next(found), "knots": 16})
        )
        first = run(strands, 1200)
        tips.append(float(np.abs(run(strands, 1) - first).max()))
        strands.release()
    assert tips[0] < 1e-3 < 1e-2 < tips[1]


def test_a_colliding_knot_is_on_the_surface_at_its_length() -> None:
    """The numbers of the design: a knot before at a height of 5 mm, a segment of 2 cm, a floor."""
    former, place = np.array([[0.0, 0.005, 0.0]]), np.array([[0.01, -0.0123, 0.0]])
    found = touched(
        former, place, np.array([[0.02]]), np.array([[0.0, 1.0, 0.0]]), np.array([[0.0123]]), np.zeros((1, 3))
    )
    np.testing.assert_allclose(found, [[0.019365, 0.0, 0.0]], atol=1e-6)
