"""What is known of strands without a computer: how they hang, swing, stand, stretch and stay."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.hair.settings import HairSolver
from sinew.sim.kinds.hair.solver import GRAVITY, layer_stiffness, longest_substep, stability
from sinew.sim.maths import quaternion
from sinew.sim.scene.clock import STEP_TIME
from tests.gl.hair.hair_cases import GpuStrands, groom_of, settings_of, still
from tests.oracles.hair import Strands, touched

LEVEL, UP, DOWN = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)


def hung(
    context: Context, library: ShaderLibrary, directions: Any, lengths: Any = None, *, head: Any = None, **changes: Any
) -> GpuStrands:
    """Strands whose roots stay where they are."""
    settings = settings_of(**changes)
    groom = groom_of(settings, directions, lengths=lengths)
    return GpuStrands(context, library, Strands(settings, groom, still(groom), head=head))


def run(strands: GpuStrands, steps: int) -> npt.NDArray[np.float64]:
    for _ in range(steps):
        strands.step()
    return strands.knots()


def test_heavy_rods_hang_as_the_elastica(context: Context, library: ShaderLibrary) -> None:
    """From horizontal, drop and reach over the length; numbers of the boundary value problem."""
    lengths = np.array([0.05, 0.1, 0.2, 0.015])
    strands = hung(context, library, [LEVEL] * 4, lengths, knots=16, bending_length=0.05, drag=6.0)
    tips = run(strands, 500)[:, -1] / lengths[:, None]
    expected = [[0.99125, -0.12347], [0.72442, -0.64063], [0.20920, -0.92011]]
    np.testing.assert_allclose(tips[:3, :2], expected, atol=0.01)
    # A short one is a small cantilever, L^3 / (8 B) of g, and a little more for its few segments.
    assert -tips[3, 1] == pytest.approx(0.3**3 / 8.0 * (1.0 + 1.0 / 15.0**2), rel=0.02)
    strands.release()


def test_small_bends_ring_as_the_modes_of_a_beam() -> None:
    """Each step of a mode is (2 y - y_before) / (1 + h² ω²); the slowest is 3.516 √B / L², Euler and Bernoulli."""
    settings = settings_of(knots=16, bending_length=0.1, hold=0.0, gravity=(0.0, 0.0, 0.0), substeps=1)
    groom = groom_of(settings, [LEVEL], lengths=[0.2])
    strands = Strands(settings, groom, still(groom))
    second = np.diff(np.eye(16), 2, axis=0)[:, 1:]
    clamped = np.vstack([np.sqrt(2.0) * np.eye(1, 15), second])  # the root's joint is twice as stiff
    masses = np.ones(15)
    masses[-1] = 0.5
    size = 0.2 / 15.0
    squares, modes = np.linalg.eigh(clamped.T @ clamped / np.sqrt(np.outer(masses, masses)))
    squares *= GRAVITY * settings.bending_length**3 / size**4
    assert np.sqrt(squares[0]) == pytest.approx(3.516 * np.sqrt(GRAVITY * 0.1**3) / 0.2**2, rel=0.02)
    mode = 1e-8 * modes[:, 0] / np.sqrt(masses)
    strands.now[0, 1:, 1] = strands.before[0, 1:, 1] = mode
    for _ in range(60):
        ahead = (2.0 * strands.now - strands.before)[0, 1:, 1] / (1.0 + settings.substep_time**2 * squares[0])
        strands.step()
        np.testing.assert_allclose(strands.now[0, 1:, 1], ahead, rtol=0, atol=1e-12 * np.abs(mode).max())
    assert np.abs(ahead).max() < 0.9 * np.abs(mode).max(), "it must have moved"


@pytest.mark.parametrize("substeps", [1, 4])
def test_upright_rods_buckle_at_the_critical_length(context: Context, library: ShaderLibrary, substeps: int) -> None:
    """That is 1.986 bending lengths, Greenhill 1881."""
    tilted = (0.004, 1.0, 0.0)
    strands = hung(context, library, [tilted] * 2, [0.19, 0.202], knots=16, bending_length=0.1, drag=0.5,
                   substeps=substeps)  # fmt: skip
    tips = run(strands, 1500)[:, -1]
    assert tips[0, 1] > 0.99 * 0.19
    assert tips[1, 1] < 0.9 * 0.202
    strands.release()


def test_limp_strands_swing_as_a_hanging_chain(context: Context, library: ShaderLibrary) -> None:
    """The first frequency is 1.2008 of the square root of g over the length; here from 0.5 rad."""
    strands = hung(context, library, [(np.sin(0.02), -np.cos(0.02), 0.0)], [0.3], knots=16, bending_length=0.0)
    tips = [run(strands, 1)[0, -1, 0] for _ in range(200)]
    falls = [index for index in range(1, 200) if tips[index - 1] > 0.0 >= tips[index]]
    period = (falls[-1] - falls[0]) / (len(falls) - 1) * STEP_TIME
    assert period == pytest.approx(2.0 * np.pi / (1.2008 * np.sqrt(9.81 / 0.3)), rel=0.03)
    strands.release()


def test_a_groom_that_carries_itself_stays_and_comes_back(context: Context, library: ShaderLibrary) -> None:
    directions = [LEVEL, UP, DOWN, (1.0, 1.0, 0.5), (-0.5, -0.2, 1.0)]
    settings = settings_of(carried=1.0, bending_length=0.05, length=0.2, drag=2.0, damping=0.01)
    groom = groom_of(settings, directions)
    turns = quaternion.from_matrix(groom.frames)

    def shaken(time: float) -> Any:
        swing = 0.02 * np.sin(10.0 * np.pi * time) if 1.0 < time < 2.0 else 0.0
        return np.tile([swing, 0.0, 0.0], (groom.count, 1)), turns

    strands = GpuStrands(context, library, Strands(settings, groom, shaken))
    rest = strands.oracle.now
    np.testing.assert_allclose(run(strands, 55), rest, atol=2e-5)
    assert np.abs(run(strands, 60) - rest).max() > 5e-3
    np.testing.assert_allclose(run(strands, 600), rest, atol=0.003 * 0.2)
    strands.release()


@pytest.mark.parametrize("bending", [1e-3, 10.0])
def test_rods_keep_their_lengths_whatever_happens(context: Context, library: ShaderLibrary, bending: float) -> None:
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
    before = run(strands, 600)
    assert np.abs(run(strands, 10) - before).max() < 1e-3
    strands.release()


RECIPE: dict[str, Any] = {
    "solver": HairSolver.SPRINGS, "knots": 11, "length": 1.0, "spring_stiffness": 100.0, "knot_mass": 0.05,
    "knot_drag": 1.0, "gravity": (0.0, -9.8, 0.0), "substeps": 1,
}  # fmt: skip


def test_springs_hang_rest_and_fall_as_the_recipe_says(context: Context, library: ShaderLibrary) -> None:
    strands = hung(context, library, [DOWN, LEVEL], **RECIPE)
    speeds = [-(run(strands, 1)[1, -1, 1]) for _ in range(60)]
    assert np.diff(speeds)[40:].max() / STEP_TIME == pytest.approx(0.05 * 9.8 / 1.0, rel=0.02)  # terminal speed
    knots = run(strands, 4000)
    assert -knots[0, -1, 1] == pytest.approx(1.2695, abs=2e-4)
    strands.release()


def test_springs_are_stable_up_to_their_longest_substep(context: Context, library: ShaderLibrary) -> None:
    settings = settings_of(**RECIPE)
    assert 1e3 * longest_substep(settings) == pytest.approx(20.2, abs=0.4)
    tips = []
    for ratio in (0.98, 1.03):
        # The bound is that of the highest frequency of a long chain; stiffness moves it to a step.
        found = (stiffness for stiffness in np.geomspace(10.0, 1e4, 20000)
                 if stability(settings_of(**(RECIPE | {"spring_stiffness": stiffness}))).ratio >= ratio)  # fmt: skip
        strands = hung(
            context, library, [(0.1, -1.0, 0.0)], **(RECIPE | {"spring_stiffness": next(found), "knots": 16})
        )
        first = run(strands, 1200)
        tips.append(float(np.abs(run(strands, 1) - first).max()))
        strands.release()
    assert tips[0] < 1e-3 < 1e-2 < tips[1]


def test_layers_bend_and_come_back_as_the_recipe_says(context: Context, library: ShaderLibrary) -> None:
    """At rest the second difference of the joints is gravity over the stiffness of each, whatever the damping."""
    changes: dict[str, Any] = {"solver": HairSolver.LAYERS, "length": 0.05, "knots": 6, "fur_damping": 3.0,
                               "fur_stiffness": 5.0, "gravity": (0.0, -0.1, 0.0)}  # fmt: skip
    strands = hung(context, library, [LEVEL], **changes)
    knots = run(strands, 1500)[0, :, 1]
    settings = strands.oracle.settings
    stiffness = layer_stiffness(settings, 0.05) * 5 * (10.0 - np.arange(5))
    bends = np.diff(np.concatenate([[0.0], knots]), n=2)
    np.testing.assert_allclose(bends, -0.1 / stiffness, rtol=0.03)
    assert stability(settings).ratio < 1.0 < stability(settings_of(**(changes | {"fur_stiffness": 200.0}))).ratio
    strands.release()


def test_a_touching_knot_is_on_the_surface_and_at_its_length() -> None:
    """The numbers of the design: a knot before at a height of 5 mm, a segment of 2 cm, a floor."""
    former, place = np.array([[0.0, 0.005, 0.0]]), np.array([[0.01, -0.0123, 0.0]])
    found = touched(
        former, place, np.array([[0.02]]), np.array([[0.0, 1.0, 0.0]]), np.array([[0.0123]]), np.zeros((1, 3))
    )
    np.testing.assert_allclose(found, [[0.019365, 0.0, 0.0]], atol=1e-6)


def test_mirrored_strands_move_as_mirror_images_and_every_run_alike(context: Context, library: ShaderLibrary) -> None:
    runs = []
    for _ in range(2):
        strands = hung(context, library, [(0.6, 0.5, 0.2), (-0.6, 0.5, 0.2)], bending_length=0.05, drag=1.0)
        runs.append(run(strands, 90))
        strands.release()
    assert runs[0].tobytes() == runs[1].tobytes()
    np.testing.assert_allclose(runs[0][1] * [-1.0, 1.0, 1.0], runs[0][0], atol=1e-6)


def test_damping_does_not_depend_on_the_substeps(context: Context, library: ShaderLibrary) -> None:
    """What is left of a swing after a second, with drag and bending damped, at 2, 4 and 8 substeps."""
    left = []
    for substeps in (2, 4, 8):
        strands = hung(context, library, [(0.3, -1.0, 0.0)], [0.2], bending_length=0.05, drag=1.0, damping=0.01,
                       substeps=substeps)  # fmt: skip
        swing = [abs(run(strands, 1)[0, -1, 0]) for _ in range(90)]
        left.append(max(swing[40:]))
        strands.release()
    assert np.ptp(left) < 0.15 * left[-1]
