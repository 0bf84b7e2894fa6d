"""Topology, shares and springs of sheets and meshes."""

import numpy as np
import pytest

from sinew.sim.kinds.cloth.grid import GridShape, grid_surface
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.settings import ClothMode, ClothPlacement, ClothSettings, ClothSource
from sinew.sim.kinds.cloth.springs import WIDTH_MAX, SpringKind, face_table, neighbour_table
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.maths.transform import compose
from sinew.sim.scene.params import SettingsError


@pytest.mark.parametrize(("columns", "rows"), [(2, 2), (3, 2), (7, 5), (40, 3)])
def test_a_sheet_has_all_its_springs_once(columns: int, rows: int) -> None:
    springs = build_cloth(ClothSettings(columns=columns, rows=rows)).springs
    counts = np.bincount(springs.kinds, minlength=3)
    assert counts[SpringKind.STRUCTURAL] == (columns - 1) * rows + columns * (rows - 1)
    assert counts[SpringKind.SHEAR] == 2 * (columns - 1) * (rows - 1)
    assert counts[SpringKind.BEND] == max(columns - 2, 0) * rows + columns * max(rows - 2, 0)
    ordered = np.sort(springs.pairs, axis=1)
    assert len(np.unique(ordered, axis=0)) == springs.count
    assert (ordered[:, 0] != ordered[:, 1]).all()


@pytest.mark.parametrize("placement", ClothPlacement)
@pytest.mark.parametrize("mode", ClothMode)
def test_rest_lengths_are_the_distances_at_the_start(placement: ClothPlacement, mode: ClothMode) -> None:
    settings = ClothSettings(columns=6, rows=9, width=0.7, height=1.9, placement=placement, mode=mode)
    placed = compose(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.6, 0.0, 0.8]), np.array([2.0, 0.5, 3.0]))
    model = build_cloth(settings, None, placed)
    first, second = model.positions[model.springs.pairs].swapaxes(0, 1)
    np.testing.assert_allclose(np.linalg.norm(first - second, axis=1), model.springs.rest, rtol=1e-12)


def test_the_mass_of_a_sheet_is_its_area_times_the_density_at_every_resolution() -> None:
    for size in (2, 5, 33):
        model = build_cloth(ClothSettings(columns=size, rows=size + 3, width=0.7, height=1.9))
        assert model.shares.sum() == pytest.approx(0.7 * 1.9, rel=1e-12)
        assert model.shares.min() == pytest.approx(model.shares.max() / 4.0 if size > 2 else model.shares.max() / 2.0)


def test_a_sheet_is_antisymmetric_to_the_bit() -> None:
    for columns in (6, 7):
        surface = grid_surface(GridShape(columns, 3, 1.3 / (columns - 1), 0.1), ClothPlacement.HANGING)
        x = surface.positions[:, 0].reshape(3, columns)
        np.testing.assert_array_equal(x, -x[:, ::-1])


def test_placements() -> None:
    box = {}
    for placement in ClothPlacement:
        positions = build_cloth(ClothSettings(columns=3, rows=3, width=2.0, height=4.0, placement=placement)).positions
        box[placement] = positions.min(axis=0).tolist(), positions.max(axis=0).tolist()
    assert box[ClothPlacement.HANGING] == ([-1.0, -4.0, 0.0], [1.0, 0.0, 0.0])
    assert box[ClothPlacement.FLAT] == ([-1.0, 0.0, -2.0], [1.0, 0.0, 2.0])
    assert box[ClothPlacement.FREE] == ([-1.0, -2.0, 0.0], [1.0, 2.0, 0.0])


def uniform_stretch_energy(model, strain: np.ndarray) -> float:
    """Energy for stiffness 1 of structural springs under a uniform strain of the plane."""
    moved = model.positions + model.positions @ strain
    springs = model.springs.of_kind(SpringKind.STRUCTURAL)
    length = np.linalg.norm(moved[springs.pairs[:, 0]] - moved[springs.pairs[:, 1]], axis=1)
    return float(0.5 * np.sum(springs.factors * (length - springs.rest) ** 2))


@pytest.mark.parametrize(("columns", "rows"), [(4, 4), (16, 9), (40, 33)])
def test_stretching_a_sheet_costs_the_same_at_every_resolution(columns: int, rows: int) -> None:
    model = build_cloth(ClothSettings(columns=columns, rows=rows, width=0.8, height=1.1))
    energy = uniform_stretch_energy(model, np.diag([0.01, 0.0, 0.0]))
    assert energy == pytest.approx(0.5 * 0.01**2 * 0.8 * 1.1, rel=1e-9)


def test_stretching_a_regular_mesh_is_even_in_all_directions() -> None:
    # Equilateral triangles: Van Gelder's factors make their plane isotropic.
    rows, columns, edge = 30, 30, 0.1
    row, column = np.divmod(np.arange(rows * columns), columns)
    positions = np.stack([(column + 0.5 * (row % 2)) * edge, row * edge * np.sqrt(0.75), 0.0 * row], axis=1)
    numbers = np.arange(rows * columns).reshape(rows, columns)
    faces = []
    for r in range(rows - 1):
        for c in range(columns - 1):
            a, b, d, e = numbers[r, c], numbers[r, c + 1], numbers[r + 1, c], numbers[r + 1, c + 1]
            faces += [[a, b, d], [b, e, d]] if r % 2 == 0 else [[a, b, e], [a, e, d]]
    surface = ClothSurface(positions, np.zeros((900, 2), np.float32), np.array(faces, np.uint32))
    model = build_cloth(ClothSettings(source=ClothSource.MESH), surface)
    along = uniform_stretch_energy(model, np.diag([0.001, 0.0, 0.0]))
    across = uniform_stretch_energy(model, np.diag([0.0, 0.001, 0.0]))
    assert along == pytest.approx(across, rel=0.01)
    assert model.shares.sum() == pytest.approx(len(faces) * np.sqrt(3.0) / 4.0 * edge**2, rel=0.01)


def fan(blades: int) -> ClothSurface:
    """Triangles around vertex 0."""
    angle = np.linspace(0.0, 2.0 * np.pi, blades, endpoint=False)
    rim = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    around = np.arange(blades)
    faces = np.stack([np.zeros(blades, int), 1 + around, 1 + (around + 1) % blades], axis=1)
    positions = np.concatenate([np.zeros((1, 3)), rim])
    return ClothSurface(positions, np.zeros((blades + 1, 2), np.float32), faces.astype(np.uint32))


MESH = ClothSettings(source=ClothSource.MESH)


def test_a_mesh_has_edges_and_opposite_corners() -> None:
    springs = build_cloth(MESH, fan(6)).springs
    threads = {tuple(pair) for pair in np.sort(springs.of_kind(SpringKind.STRUCTURAL).pairs, axis=1).tolist()}
    assert threads == {(0, i) for i in range(1, 7)} | {(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (1, 6)}
    bends = {tuple(pair) for pair in np.sort(springs.of_kind(SpringKind.BEND).pairs, axis=1).tolist()}
    assert bends == {(1, 3), (2, 4), (3, 5), (4, 6), (1, 5), (2, 6)}


def test_a_fan_that_is_too_wide_is_refused() -> None:
    model = build_cloth(MESH, fan(WIDTH_MAX + 1))
    with pytest.raises(SettingsError, match="particle 0"):
        neighbour_table(model.springs, (SpringKind.STRUCTURAL,), model.particle_count)
    with pytest.raises(SettingsError, match="neighbours"):
        face_table(model.faces, model.particle_count)


def test_an_edge_with_three_faces_is_allowed() -> None:
    positions = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0.1], [0, 0, 1]])
    faces = np.array([[0, 1, 2], [1, 0, 3], [0, 1, 4]], np.uint32)
    model = build_cloth(MESH, ClothSurface(positions, np.zeros((5, 2), np.float32), faces))
    assert np.isfinite(model.springs.factors).all()
    assert (model.springs.rest > 0.0).all()
    assert len(model.springs.of_kind(SpringKind.BEND).pairs) == 2


@pytest.mark.parametrize("kind", ["none", "flat", "point"])
def test_triangles_without_area_are_refused(kind: str) -> None:
    positions = {
        "none": np.eye(3),
        "flat": np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]]),
        "point": np.zeros((3, 3)),
    }[kind]
    faces = np.zeros((0, 3), np.uint32) if kind == "none" else np.array([[0, 1, 2]], np.uint32)
    with pytest.raises(SettingsError, match="area"):
        build_cloth(MESH, ClothSurface(positions, np.zeros((3, 2), np.float32), faces))


def test_a_mesh_without_its_file_is_refused() -> None:
    with pytest.raises(SettingsError, match="file"):
        build_cloth(MESH)


def test_a_sheet_scaled_to_nothing_is_refused() -> None:
    with pytest.raises(SettingsError, match="scaled"):
        build_cloth(ClothSettings(), None, np.diag([1.0, 0.0, 1.0, 1.0]))


def test_tables_and_springs_say_the_same() -> None:
    model = build_cloth(MESH, fan(7))
    table = neighbour_table(model.springs, (SpringKind.STRUCTURAL,), model.particle_count)
    threads = model.springs.of_kind(SpringKind.STRUCTURAL)
    for particle in range(model.particle_count):
        filled = table.rest[particle] > 0.0
        mine = (threads.pairs == particle).any(axis=1)
        others = threads.pairs[mine].sum(axis=1) - particle
        assert sorted(table.index[particle][filled]) == sorted(others)
        assert (table.index[particle][~filled] == particle).all()
        assert table.rest[particle].sum() == pytest.approx(threads.rest[mine].sum())
