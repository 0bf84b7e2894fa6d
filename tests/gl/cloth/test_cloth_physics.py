"""Cloth on the GPU against answers that are known."""

import itertools

import msgspec
import numpy as np
import pytest

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, PinPreset
from sinew.sim.kinds.cloth.stability import stability
from tests.gl.back_ends import ON_BOTH
from tests.gl.cloth.cloth_cases import STILL, masses, run, springs


def random_start(cloth: Cloth, speed: float, seed: int = 3) -> None:
    random = np.random.default_rng(seed)
    cloth.write(cloth.model.positions, random.normal(scale=speed, size=cloth.model.positions.shape))


def energy(cloth: Cloth) -> float:
    found = cloth.check()
    return found.kinetic + found.elastic


def test_at_rest_it_stays_at_rest_to_the_bit(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, springs(**STILL))
    before = cloth.positions()
    run(cloth, 100)
    np.testing.assert_array_equal(cloth.positions(), before)
    np.testing.assert_array_equal(cloth.velocities(), 0.0)


@pytest.mark.parametrize("placement", ClothPlacement)
def test_a_material_of_any_size_stays_at_rest(
    context: Context, library: ShaderLibrary, placement: ClothPlacement
) -> None:
    settings = ClothSettings(columns=20, rows=13, width=1.37, height=0.9, placement=placement, **STILL)
    cloth = Cloth(context, library, settings)
    before = cloth.positions()
    run(cloth, 100)
    np.testing.assert_allclose(cloth.positions(), before, rtol=0, atol=2e-6)


def test_free_fall_is_that_of_the_scheme(context: Context, library: ShaderLibrary) -> None:
    settings = springs(**(STILL | {"gravity": (0.3, -9.81, 0.1)}), substeps=16)
    cloth = Cloth(context, library, settings)
    run(cloth, 60)
    count, h = 60 * 16, settings.substep_time
    fallen = np.array(settings.gravity) * h * h * count * (count + 1) / 2.0
    expected = cloth.model.positions + fallen
    # Each of the additions may round by half a unit of the place's last bit, which at 5 m is 2.4e-7 m.
    np.testing.assert_allclose(cloth.positions(), expected, rtol=0, atol=3e-5)
    # What the places round, the springs between them feel.
    np.testing.assert_allclose(cloth.velocities() - np.array(settings.gravity) * h * count, 0.0, rtol=0, atol=2e-4)


def test_gravity_is_not_lost_in_very_short_substeps(context: Context, library: ShaderLibrary) -> None:
    settings = springs(**(STILL | {"gravity": (0.0, -9.81, 0.0)}), columns=3, rows=3, substeps=4096)
    cloth = Cloth(context, library, settings)
    run(cloth, 6)
    count, h = 6 * 4096, settings.substep_time
    fallen = -9.81 * h * h * count * (count + 1) / 2.0
    np.testing.assert_allclose(cloth.positions()[:, 1] - cloth.model.positions[:, 1], fallen, rtol=2e-2)
    np.testing.assert_allclose(cloth.velocities()[:, 1], -9.81 * h * count, rtol=1e-3)


@pytest.mark.parametrize("damping", [0.0, 0.02])
def test_momentum_stays_without_outer_forces(context: Context, library: ShaderLibrary, damping: float) -> None:
    settings = springs(**STILL, structural_damping=damping, shear_damping=damping, bend_damping=damping)
    cloth = Cloth(context, library, settings)
    random_start(cloth, 0.5)
    mass = masses(cloth)

    def momenta() -> tuple[np.ndarray, np.ndarray]:
        velocity, place = cloth.velocities().astype(np.float64), cloth.positions().astype(np.float64)
        # The velocity is that of half a substep before.
        middle = place - 0.5 * settings.substep_time * velocity
        return (mass * velocity).sum(axis=0), np.cross(middle, mass * velocity).sum(axis=0)

    linear, angular = momenta()
    run(cloth, 200)
    later_linear, later_angular = momenta()
    size = float((mass * np.abs(cloth.velocities())).sum())
    np.testing.assert_allclose(later_linear, linear, rtol=0, atol=1e-5 * size)
    np.testing.assert_allclose(later_angular, angular, rtol=0, atol=2e-2 * np.linalg.norm(angular))


def test_energy_without_damping_stays_near_its_start(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, springs(**STILL))
    random_start(cloth, 0.2)
    first = energy(cloth)
    found = []
    for _ in range(30):
        run(cloth, 10)
        found.append(energy(cloth))
    assert first > 0.0
    assert 0.85 * first < min(found)
    assert max(found) < 1.15 * first


@pytest.mark.parametrize("kind", ["springs", "air"])
def test_damping_takes_energy_away(context: Context, library: ShaderLibrary, kind: str) -> None:
    changes = {"air_drag": 1.0} if kind == "air" else {"structural_damping": 0.02, "shear_damping": 0.02}
    cloth = Cloth(context, library, springs(**(STILL | changes)))
    random_start(cloth, 0.2)
    found = [energy(cloth)]
    for _ in range(10):
        run(cloth, 12)
        found.append(energy(cloth))
    assert all(later < before for before, later in itertools.pairwise(found))
    assert found[-1] < 0.5 * found[0]


def test_a_hanging_chain_stretches_by_the_weight_below(context: Context, library: ShaderLibrary) -> None:
    settings = springs(
        placement=ClothPlacement.HANGING,
        pins=PinPreset.TOP,
        structural_stiffness=60.0,
        shear_stiffness_spring=0.0,
        bend_stiffness_spring=0.0,
        structural_damping=0.2,
        air_drag=2.0,
        normal_drag=0.0,
        tangent_drag=0.0,
    )
    cloth = Cloth(context, library, settings)
    run(cloth, 600)
    heights = cloth.positions().reshape(9, 9, 3)[..., 1]
    below = np.arange(8, 0, -1)[:, None]
    expected = below * 0.01 * 9.81 / 60.0
    np.testing.assert_allclose(-np.diff(heights, axis=0) - 0.125, np.broadcast_to(expected, (8, 9)), rtol=1e-3)


@pytest.mark.parametrize("rows", [9, 17, 33])
def test_a_hanging_material_stretches_alike_at_every_resolution(
    context: Context, library: ShaderLibrary, rows: int
) -> None:
    settings = ClothSettings(
        columns=rows,
        rows=rows,
        width=1.0,
        height=1.0,
        density=0.3,
        stretch_stiffness=40.0,
        shear_stiffness=0.0,
        bend_stiffness=0.0,
        internal_damping=2e-3,
        air_drag=3.0,
        normal_drag=0.0,
        tangent_drag=0.0,
        pins=PinPreset.TOP,
        substeps=24,
    )
    cloth = Cloth(context, library, settings)
    run(cloth, 400)
    heights = cloth.positions().reshape(rows, rows, 3)[..., 1]
    # Weight of half the fabric on its own stiffness; the last half row hangs at the end of the chain.
    cells = rows - 1
    below = (np.arange(cells, 0, -1) - 0.5) / cells
    expected = -(1.0 + 0.3 * 9.81 / 40.0 * below.sum() / cells)
    np.testing.assert_allclose(heights[-1], expected, rtol=2e-4)
    assert abs(expected + 1.0 + 0.5 * 0.3 * 9.81 / 40.0) < 1e-9


def test_two_masses_swing_with_the_frequency_of_the_scheme(context: Context, library: ShaderLibrary) -> None:
    settings = springs(
        **STILL, columns=2, rows=2, shear_stiffness_spring=0.0, bend_stiffness_spring=0.0, substeps=1,
        structural_stiffness=5.0,
    )  # fmt: skip
    cloth = Cloth(context, library, settings)
    outwards = np.sign(cloth.model.positions) * [0.3, 0.0, 0.0]
    cloth.write(cloth.model.positions, outwards)
    lengths = []
    for _ in range(40):
        run(cloth, 1)
        place = cloth.positions().astype(np.float64)
        lengths.append(np.linalg.norm(place[1] - place[0]) - 1.0)
    x = np.array(lengths)
    cosine = 1.0 - settings.substep_time**2 * 5.0 * (2.0 / 0.01) / 2.0
    assert abs(cosine) < 1.0
    np.testing.assert_allclose(x[2:] + x[:-2], 2.0 * cosine * x[1:-1], rtol=0, atol=1e-6)
    assert np.abs(x).max() > 0.01


@pytest.mark.parametrize("columns", [12, 13])
def test_a_mirrored_sheet_stays_its_mirror_image_to_the_bit(
    context: Context, library: ShaderLibrary, columns: int
) -> None:
    settings = ClothSettings(columns=columns, rows=11, width=1.3, wind=(0.0, 0.4, 3.0), substeps=20)
    cloth = Cloth(context, library, settings)
    run(cloth, 120)
    place = cloth.positions().reshape(11, columns, 3)
    mirrored = place[:, ::-1] * np.array([-1.0, 1.0, 1.0], np.float32)
    assert np.ptp(place[..., 2]) > 0.05
    np.testing.assert_array_equal(place, mirrored)


@ON_BOTH
def test_a_sheet_of_any_motion_gives_the_same_bits_twice(context: Context, library: ShaderLibrary) -> None:
    settings = ClothSettings(columns=14, rows=14, wind=(3.0, 0.0, 2.0), turbulence=3.0, substeps=20)
    results = []
    for _ in range(2):
        cloth = Cloth(context, library, settings)
        run(cloth, 90)
        results.append((cloth.positions(), cloth.velocities()))
        cloth.reset()
        run(cloth, 90)
        results.append((cloth.positions(), cloth.velocities()))
    for place, velocity in results[1:]:
        np.testing.assert_array_equal(place, results[0][0])
        np.testing.assert_array_equal(velocity, results[0][1])


@pytest.mark.parametrize("damped", [False, True])
@pytest.mark.parametrize(("part", "calm"), [(0.98, True), (1.02, False)])
def test_the_bound_on_the_substep_is_where_it_blows_up(
    context: Context, library: ShaderLibrary, damped: bool, part: float, calm: bool
) -> None:
    damping = 0.02 if damped else 0.0
    settings = springs(**STILL, columns=22, rows=22, substeps=10, structural_damping=damping, shear_damping=damping)
    settings = at_ratio(settings, part)
    cloth = Cloth(context, library, settings)
    random_start(cloth, 1e-5)
    strain = 0.0
    for _ in range(30):
        for _ in range(10):
            cloth.step()
        strain = max(strain, cloth.check().strain)
    assert (strain < 1e-3) is calm
    assert (strain > 0.05) is not calm


def at_ratio(settings: ClothSettings, ratio: float) -> ClothSettings:
    """Settings whose masses are such that the substep is `ratio` times the largest stable one."""
    model = build_cloth(settings)
    low, high = 1e-6, 1e3
    for _ in range(60):
        middle = float(np.sqrt(low * high))
        tried = msgspec.structs.replace(settings, particle_mass=middle)
        low, high = (middle, high) if stability(model, tried).ratio > ratio else (low, middle)
    return msgspec.structs.replace(settings, particle_mass=float(np.sqrt(low * high)))


def test_springs_of_no_length_are_no_error(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, springs(columns=5, rows=5, **(STILL | {"normal_drag": 1.0})))
    cloth.write(np.zeros((25, 3)), np.zeros((25, 3)))
    run(cloth, 20)
    assert np.isfinite(cloth.positions()).all()
    place = cloth.model.positions.copy()
    place[0] = place[1]
    cloth.write(place, np.zeros((25, 3)))
    run(cloth, 20)
    assert np.isfinite(cloth.positions()).all()
    assert cloth.check().is_finite


@pytest.mark.parametrize("sizes", [(9, 17), pytest.param((16, 32, 64), marks=pytest.mark.slow)])
def test_refining_the_sheet_does_not_change_the_fabric(
    context: Context, library: ShaderLibrary, sizes: tuple[int, ...]
) -> None:
    lowest = []
    for size in sizes:
        settings = ClothSettings(columns=size, rows=size, width=1.0, height=1.0, air_drag=3.0, internal_damping=1e-4)
        model = build_cloth(settings)
        settings = msgspec.structs.replace(settings, substeps=stability(model, settings).substeps)
        cloth = Cloth(context, library, settings)
        run(cloth, 240)
        middle = cloth.positions().reshape(size, size, 3)[-1, size // 2 - 1 : (size + 2) // 2, 1]
        lowest.append(float(middle.mean()))
        assert cloth.check().kinetic < 1e-3
        cloth.release()
    changes = np.abs(np.diff(lowest))
    assert changes[0] < 0.03
    assert (changes[1:] < changes[:-1]).all()
