"""Pressure: closed forms in both solvers, on sheets and meshes, far away, at several scales and substeps."""

from typing import Any

import numpy as np
import pytest

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth import line_oracle, oracle
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, ClothSolving, ClothSource, PinPreset
from sinew.sim.kinds.cloth.solver import ClothInputs
from sinew.sim.kinds.cloth.stability import stability
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import validated
from tests.conftest import slow
from tests.gl.back_ends import COMPUTE_IN_CAMPAIGN, ON_BOTH

STILL: dict[str, Any] = {
    "gravity": (0.0, 0.0, 0.0), "air_drag": 0.0, "normal_drag": 0.0, "tangent_drag": 0.0, "pins": PinPreset.NONE,
}  # fmt: skip
SOLVERS = {
    "springs": {"solver": ClothSolving.SPRINGS, "stretch_stiffness": 30.0, "shear_stiffness": 5.0},
    "lines": {"solver": ClothSolving.LINES, "stretch_stiffness": 1e3, "shear_stiffness": 50.0},
}  # fmt: skip


def flat(scale: float) -> ClothSurface:
    """An uneven flat mesh that looks along +z."""
    columns, rows = np.meshgrid(np.linspace(0.0, 1.0, 6) ** 1.3, np.linspace(0.0, 1.0, 5))
    positions = scale * np.stack([columns.ravel(), rows.ravel(), np.zeros(30)], axis=1)
    numbers = np.arange(30, dtype=np.uint32).reshape(5, 6)
    a, b, c, d = (part.ravel() for part in (numbers[:-1, :-1], numbers[:-1, 1:], numbers[1:, :-1], numbers[1:, 1:]))
    triangles = np.concatenate([np.stack([a, b, d], axis=1), np.stack([a, d, c], axis=1)])
    return ClothSurface(positions, np.zeros((30, 2), np.float32), triangles)


def ball(radius: float) -> ClothSurface:
    """A closed mesh whose faces look outwards."""
    golden = (1.0 + 5.0**0.5) / 2.0
    corners = np.array([
        (-1, golden, 0), (1, golden, 0), (-1, -golden, 0), (1, -golden, 0), (0, -1, golden), (0, 1, golden),
        (0, -1, -golden), (0, 1, -golden), (golden, 0, -1), (golden, 0, 1), (-golden, 0, -1), (-golden, 0, 1),
    ], np.float64)  # fmt: skip
    triangles = np.array([
        (0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
        (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7),
        (9, 8, 1),
    ])  # fmt: skip
    for _ in range(2):
        middles = {}
        parts = []
        points = list(corners)
        for triangle in triangles.tolist():
            own = []
            for first, second in zip(triangle, (*triangle[1:], triangle[0]), strict=True):
                key = tuple(sorted((first, second)))
                if key not in middles:
                    middles[key] = len(points)
                    points.append((corners[first] + corners[second]) / 2.0)
                own.append(middles[key])
            (a, b, c), (ab, bc, ca) = triangle, own
            parts += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        corners, triangles = np.array(points), np.array(parts)
    corners = radius * corners / np.linalg.norm(corners, axis=1, keepdims=True)
    return ClothSurface(corners, np.zeros((len(corners), 2), np.float32), triangles.astype(np.uint32))


def made(
    context: Context, library: ShaderLibrary, values: dict[str, Any], surface: ClothSurface | None, place: float = 0.0
) -> Cloth:
    settings = validated(ClothSettings(), **values | ({"source": ClothSource.MESH} if surface is not None else {}))
    cloth = Cloth(context, library, settings, surface)
    cloth.write(cloth.positions() + np.float32(place), np.zeros((cloth.model.particle_count, 3)))
    return cloth


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("is_mesh", [False, True], ids=["sheet", "mesh"])
@pytest.mark.parametrize(("place", "scale", "substeps"), [(0.0, 1.0, 8), slow(10.0, 0.1, 64), slow(100.0, 10.0, 16)])
def test_a_free_sheet_is_accelerated_evenly(
    context: Context, library: ShaderLibrary, solver: str, is_mesh: bool, place: float, scale: float, substeps: int
) -> None:
    """By pressure over density, towards the outside of its faces."""
    values = STILL | SOLVERS[solver] | {
        "pressure": 2.0, "density": 0.5, "substeps": substeps, "columns": 6, "rows": 5, "width": scale,
        "height": scale, "placement": ClothPlacement.HANGING, "bend_stiffness": 0.0,
    }  # fmt: skip
    cloth = made(context, library, values, flat(scale) if is_mesh else None, place)
    for _ in range(30):
        assert cloth.step(ClothInputs())
    speed = cloth.velocities()
    cloth.release()
    np.testing.assert_allclose(speed, np.tile((0.0, 0.0, 2.0 / 0.5 * 30 * STEP_TIME), (30, 1)), atol=4e-3)


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize("solver", ["springs", slow("lines")])
def test_a_closed_mesh_is_blown_up_and_goes_nowhere(context: Context, library: ShaderLibrary, solver: str) -> None:
    values = STILL | SOLVERS[solver] | {
        "pressure": 20.0, "density": 0.2, "substeps": 64, "bend_stiffness": 0.0, "air_drag": 2.0,
    }  # fmt: skip
    cloth = made(context, library, values, ball(0.3))
    masses, before = cloth.model.shares[:, None], cloth.positions()
    for _ in range(60):
        assert cloth.step(ClothInputs())
    speed, after = cloth.velocities().astype(np.float64), cloth.positions()
    cloth.release()
    impulse = 20.0 * 4.0 * np.pi * 0.3**2  # of all faces in a second, without their directions [N s]
    assert np.abs((0.2 * masses * speed).sum(axis=0)).max() < 1e-6 * impulse
    larger = np.linalg.norm(after, axis=1).mean() / np.linalg.norm(before, axis=1).mean()
    assert larger > (1.05 if solver == "springs" else 1.0005)
    model, constants = cloth.model, oracle.constants_of(cloth.settings)
    force = oracle.pressure_forces(model, constants, oracle.ClothParticles(after.astype(np.float64), speed))
    assert np.abs(force.sum(axis=0)).max() < 1e-5 * np.abs(force).sum()


@ON_BOTH
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("is_mesh", [False, True], ids=["sheet", "mesh"])
def test_steps_are_those_of_the_reference(context: Context, library: ShaderLibrary, solver: str, is_mesh: bool) -> None:
    values = SOLVERS[solver] | {
        "pressure": -8.0, "density": 0.3, "substeps": 12, "columns": 6, "rows": 5, "width": 0.8, "height": 0.7,
        "pins": PinPreset.NONE, "wind": (0.3, 0.1, 0.8), "bend_stiffness": 0.0,
    }  # fmt: skip
    cloth = made(context, library, values, ball(0.3) if is_mesh else None)
    start = cloth.positions().astype(np.float64)
    rough = start + np.random.default_rng(2).normal(scale=2e-3, size=start.shape)
    cloth.write(rough, np.zeros_like(rough))
    count = cloth.model.particle_count
    particles = oracle.ClothParticles(cloth.positions().astype(np.float64), np.zeros((count, 3)))
    actions = oracle.ClothActions(np.zeros(count, bool), np.zeros((count, 3)))
    step = line_oracle.step if solver == "lines" else oracle.step
    for index in range(3):
        assert cloth.step(ClothInputs())
        particles = step(cloth.model, cloth.settings, particles, actions, time=index * STEP_TIME)
    found = cloth.positions()
    cloth.release()
    np.testing.assert_allclose(found, particles.positions, atol=2e-5)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("pressure", [-1e4, slow(1e-3), slow(300.0), slow(1e4)])
def test_any_pressure_is_held_or_stops_with_a_reason(
    context: Context, library: ShaderLibrary, solver: str, pressure: float
) -> None:
    for density in (1e-4, 0.2):
        values = STILL | SOLVERS[solver] | {"pressure": pressure, "density": density, "substeps": 4}
        cloth = made(context, library, values, ball(0.3))
        for _ in range(20):
            cloth.step(ClothInputs())
        statistics = cloth.check()
        assert statistics.is_finite or "substeps" in str(cloth.stopped)
        assert np.isfinite(cloth.positions()).all()
        cloth.release()


def test_pressure_counts_for_the_stability_of_springs() -> None:
    settings = validated(ClothSettings(), source=ClothSource.MESH, stretch_stiffness=1.0, shear_stiffness=0.0)
    model = build_cloth(settings, ball(0.3))
    steps = [stability(model, validated(settings, pressure=pressure)).h_max for pressure in (0.0, 1.0, -1e4)]
    assert steps[0] > steps[1] > 10.0 * steps[2]
