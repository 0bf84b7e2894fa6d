"""The line solver in double precision against known answers."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sinew.sim.kinds.cloth.grid import GridShape, grid_surface
from sinew.sim.kinds.cloth.lines import mesh_bending, mesh_families
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, ClothSolving, ClothSource, PinPreset
from sinew.sim.kinds.cloth.springs import SpringKind, mesh_springs
from sinew.sim.kinds.cloth.surface import ClothSurface
from tests.conftest import campaign
from tests.oracles.cloth import Actions, Particles
from tests.oracles.cloth_lines import bending_matrix, run, strains, thomas

GRAVITY = 9.81

STRIP: dict[str, Any] = {
    "solver": ClothSolving.LINES, "columns": 3, "rows": 33, "width": 0.0625, "height": 1.0, "density": 0.3,
    "stretch_stiffness": 40.0, "shear_stiffness": 0.0, "bend_stiffness": 0.0, "pins": PinPreset.TOP,
    "internal_damping": 0.0, "normal_drag": 0.0, "tangent_drag": 0.0, "air_drag": 8.0, "substeps": 4,
}  # fmt: skip


def elastica(length: float, load: float) -> float:
    """Drop of the free end of a level beam of a length [m], B θ'' = -load (ℓ - s) cos θ, by shooting."""
    count = 2000
    step = length / count

    def shoot(curvature: float) -> tuple[float, float]:
        state, drop = np.array([0.0, curvature]), 0.0
        for i in range(count):
            middle = length - (i + 0.5) * step
            half = state + 0.5 * step * np.array([state[1], -load * (length - i * step) * np.cos(state[0])])
            state = state + step * np.array([half[1], -load * middle * np.cos(half[0])])
            drop += step * np.sin(half[0])
        return float(state[1]), drop

    low, high = 0.0, load * length**2
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if shoot(middle)[0] < 0.0 else (low, middle)
    return shoot(0.5 * (low + high))[1]


@pytest.mark.slow
def test_a_strip_hangs_as_long_as_its_weight_makes_it() -> None:
    settings = ClothSettings(**STRIP)
    model = build_cloth(settings)
    found = run(model, settings, 400)
    assert found.positions[:, 1].min() == pytest.approx(-1.0367875, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("stiffness", [campaign(2e-5), 2e-4])
def test_a_cantilever_bends_as_the_elastica(stiffness: float) -> None:
    cell = 0.2 / 32
    settings = ClothSettings(**STRIP | {
        "columns": 33, "rows": 3, "width": 0.2, "height": 2.0 * cell, "placement": ClothPlacement.FLAT, "density": 0.2,
        "pins": PinPreset.NONE, "pin_list": "0 1 33 34 66 67", "stretch_stiffness": 1e5, "shear_stiffness": 1e3,
        "bend_stiffness": stiffness, "air_drag": 6.0, "substeps": 12,
    })  # fmt: skip
    found = run(build_cloth(settings), settings, 150)
    expected = elastica(0.2 - 0.5 * cell, 0.2 * GRAVITY / stiffness)
    assert -found.positions[:, 1].min() == pytest.approx(expected, rel=0.005)


def test_a_free_fall_and_momentum() -> None:
    settings = ClothSettings(**STRIP | {"pins": PinPreset.NONE, "air_drag": 0.0, "shear_stiffness": 5.0})
    model = build_cloth(settings)
    steps, count = 20, 20 * settings.substeps
    fallen = run(model, settings, steps).positions - model.positions
    assert fallen[:, 1] == pytest.approx(-0.5 * GRAVITY * settings.substep_time**2 * count * (count + 1), abs=1e-9)
    assert np.abs(fallen[:, [0, 2]]).max() < 1e-9


@pytest.mark.slow
def test_a_shaken_free_sheet_keeps_its_momenta() -> None:
    settings = ClothSettings(**STRIP | {
        "columns": 16, "rows": 16, "width": 1.0, "pins": PinPreset.NONE, "gravity": (0.0, 0.0, 0.0), "air_drag": 0.0,
        "stretch_stiffness": 1e4, "shear_stiffness": 1e3, "bend_stiffness": 1e-5, "substeps": 24,
        "placement": ClothPlacement.FREE,
    })  # fmt: skip
    model = build_cloth(settings)
    random = np.random.default_rng(3)
    spin = np.cross([0.4, 1.5, 2.0], model.positions)
    start = Particles(model.positions.copy(), spin + random.normal(scale=0.3, size=model.positions.shape))
    masses = (model.shares * settings.density)[:, None]
    found = run(model, settings, 20, start=start)
    linear = (masses * start.velocities).sum(axis=0)
    assert (masses * found.velocities).sum(axis=0) == pytest.approx(linear, abs=1e-9)
    before, after = ((masses * np.cross(one.positions, one.velocities)).sum(axis=0) for one in (start, found))
    assert np.linalg.norm(after - before) < 5e-3 * np.linalg.norm(before)


@pytest.mark.parametrize(
    ("stiffness", "substeps"),
    [
        (1e2, 1), (1e5, 8), (1e8, 1),
        *(campaign(*pair) for pair in ((1e2, 8), (1e2, 32), (1e5, 1), (1e5, 32), (1e8, 8), (1e8, 32))),
    ],
)  # fmt: skip
def test_it_stays_finite_from_any_state(stiffness: float, substeps: int) -> None:
    settings = ClothSettings(**STRIP | {
        "columns": 10, "rows": 10, "width": 1.0, "pins": PinPreset.CORNERS, "air_drag": 0.0,
        "stretch_stiffness": min(stiffness, 1e7), "shear_stiffness": 0.1 * min(stiffness, 1e7), "substeps": substeps,
    })  # fmt: skip
    model = build_cloth(settings)
    random = np.random.default_rng(1)
    model = replace(model, shares=model.shares * random.choice([1.0, 100.0], model.particle_count))
    start = Particles(model.positions.copy(), random.normal(size=model.positions.shape))
    found = run(model, settings, 12, start=start)
    assert np.abs(found.positions).max() < 20.0


@pytest.mark.slow
def test_a_held_edge_carries_the_weight_of_the_sheet() -> None:
    settings = ClothSettings(**STRIP | {
        "columns": 17, "rows": 17, "width": 1.0, "density": 0.12, "stretch_stiffness": 1e4, "shear_stiffness": 40.0,
        "substeps": 12, "air_drag": 30.0,
    })  # fmt: skip
    model = build_cloth(settings)
    found = strains(model, run(model, settings, 60).positions)
    expected = 0.12 * GRAVITY * (1.0 - 1.0 / 32.0) / 1e4
    assert float(found.max()) == pytest.approx(expected, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(("most", "fewer"), [(40, (5, 10, 20)), campaign(128, (10, 20, 40))])
def test_the_swing_converges_with_the_substeps(most: int, fewer: tuple[int, ...]) -> None:
    def swing(substeps: int) -> np.ndarray:
        settings = ClothSettings(**STRIP | {
            "columns": 13, "rows": 13, "width": 1.0, "placement": ClothPlacement.FLAT, "pins": PinPreset.CORNERS,
            "density": 0.15, "stretch_stiffness": 2e3, "shear_stiffness": 200.0, "air_drag": 0.0, "substeps": substeps,
        })  # fmt: skip
        return run(build_cloth(settings), settings, 12).positions

    exact = swing(most)
    apart = [float(np.sqrt(np.mean((swing(count) - exact) ** 2))) for count in fewer]
    assert apart[0] > 1.5 * apart[1] > 2.0 * apart[2]


def test_systems_of_many_sizes_are_solved() -> None:
    random = np.random.default_rng(2)
    for size in (1, 2, 63, 1000):
        lower, upper = random.uniform(-1.0, 1.0, (2, 3, size))
        diagonal, right = random.uniform(2.1, 5.0, (3, size)), random.normal(size=(3, size))
        found = thomas(lower, diagonal, upper, right)
        for row in range(3):
            matrix = np.diag(diagonal[row]) + np.diag(lower[row, 1:], -1) + np.diag(upper[row, :-1], 1)
            assert matrix @ found[row] == pytest.approx(right[row], abs=1e-12)


# --- meshes -----------------------------------------------------------------------------------------------


def uneven(scale: float = 0.02) -> ClothSurface:
    flat = grid_surface(GridShape(9, 8, 0.1, 0.1), ClothPlacement.FREE)
    random = np.random.default_rng(1)
    moved = flat.positions + random.normal(scale=scale, size=(72, 3)) * [1.0, 1.0, 0.0]
    return ClothSurface(moved, flat.texcoords, flat.triangles)


def test_families_of_a_mesh_cover_every_thread_once_without_common_particles() -> None:
    surface = uneven()
    threads = mesh_springs(surface.positions, surface.triangles, material=True).of_kind(SpringKind.STRUCTURAL)
    families = mesh_families(threads, surface.positions)
    covered = []
    for family in families:
        assert len(np.unique(family.particles)) == len(family.particles)
        at = np.flatnonzero(family.factors)
        covered += [tuple(sorted(pair)) for pair in zip(family.particles[at], family.particles[at + 1], strict=True)]
        assert np.all((family.rest > 0.0) == (family.factors > 0.0))
    assert sorted(covered) == sorted(tuple(sorted(pair)) for pair in threads.pairs)
    assert len(families) <= 8
    assert families[0].longest >= 7


@pytest.mark.parametrize("mesh", [False, True])
def test_a_sheet_on_a_cylinder_has_its_bending_energy(mesh: bool) -> None:
    settings = ClothSettings(columns=41, rows=9, width=1.0, height=0.2, placement=ClothPlacement.FREE)
    flat = build_cloth(settings)
    if mesh:
        flat = build_cloth(ClothSettings(source=ClothSource.MESH), flat.surface)
    curvature, (x, y, _) = 1.3, flat.positions.T
    bent = np.stack([np.sin(curvature * x) / curvature, y, (1.0 - np.cos(curvature * x)) / curvature], axis=1)
    matrix = bending_matrix(flat, np.ones(flat.particle_count))
    energy = 0.5 * np.sum(bent * (matrix @ bent))
    # A cell along the border resists no bending across it, and on a mesh half a cell along it neither.
    area = 1.0 * 39.0 / 40.0 * 0.2 * (7.0 / 8.0 if mesh else 1.0)
    assert energy == pytest.approx(0.5 * curvature**2 * area, rel=1e-3)
    straight = flat.positions
    assert np.sum(straight * (matrix @ straight)) == pytest.approx(0.0, abs=1e-9)


def test_bending_of_a_mesh_ignores_how_it_lies() -> None:
    surface = uneven()
    rows = mesh_bending(surface.positions, surface.triangles)
    turned = mesh_bending(surface.positions[:, [1, 2, 0]] + 3.0, surface.triangles)
    assert rows.weights == pytest.approx(turned.weights, rel=1e-6, abs=1e-6 * np.abs(rows.weights).max())


@pytest.mark.campaign
def test_a_mesh_hangs() -> None:
    settings = ClothSettings(
        solver=ClothSolving.LINES, source=ClothSource.MESH, pin_list="0-8", stretch_stiffness=1e4, density=0.2,
        air_drag=10.0, normal_drag=0.0, tangent_drag=0.0, substeps=32,
    )  # fmt: skip
    model = build_cloth(settings, uneven())
    found = run(model, settings, 60, Actions(model.pinned(settings), model.positions))
    assert 0.0 < float(strains(model, found.positions).max()) < 0.01
