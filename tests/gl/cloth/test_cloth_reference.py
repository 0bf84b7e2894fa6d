from functools import cache
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew.sim.colliders.pack import ANY_ORDER, arranged
from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.grid import GridShape, grid_surface
from sinew.sim.kinds.cloth.material import constants_of
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.oracle import NEIGHBOURHOOD, distant_pairs
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, ClothSource, PinPreset
from sinew.sim.kinds.cloth.stability import stability
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.maths.transform import compose
from sinew.sim.scene.params import Effect
from tests.conftest import slow
from tests.gl.back_ends import COMPUTE_IN_CAMPAIGN, ON_BOTH
from tests.gl.cloth.cloth_cases import STILL, collider_inputs, reference_run, run, springs
from tests.oracles import cloth as reference

STEPS = 60
BOUND = 1e-4  # largest distance from the reference as a part of the extent; damped motion forgets its rounding errors
GUSTY = {"wind": (0.6, 0.0, 1.5), "turbulence": 0.4, "turbulence_scale": 0.8, "air_drag": 1.0}

CASES = {
    "springs": springs(structural_damping=0.05, shear_damping=0.05, bend_damping=0.01, air_drag=0.5),
    "springs in the wind": springs(
        pins=PinPreset.TOP, structural_damping=0.1, shear_damping=0.1, bend_damping=0.02, **GUSTY
    ),
    "material": ClothSettings(columns=12, rows=10, substeps=20),
    "material in the wind": ClothSettings(
        columns=9, rows=10, substeps=16, stretch_stiffness=100.0, internal_damping=2e-3, **GUSTY
    ),
    "undamped": ClothSettings(columns=8, rows=8, internal_damping=0.0, normal_drag=0.0, tangent_drag=0.0, substeps=10),
    "no shear, no bending": ClothSettings(
        columns=8, rows=8, shear_stiffness=0.0, bend_stiffness=0.0, internal_damping=1e-3, pins=PinPreset.TOP
    ),
}


def distance(cloth: Cloth, expected: reference.Particles) -> float:
    return float(np.linalg.norm(cloth.positions() - expected.positions, axis=1).max()) / cloth.model.extent


def uneven_surface() -> ClothSurface:
    flat = grid_surface(GridShape(9, 8, 0.1, 0.1), ClothPlacement.FREE)
    random = np.random.default_rng(1)
    return ClothSurface(flat.positions + random.normal(scale=0.01, size=(72, 3)), flat.texcoords, flat.triangles)


@cache
def expected_sheet(name: str) -> reference.Particles:
    return reference_run(build_cloth(CASES[name]), CASES[name], STEPS)


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize(
    "name", [name if name in ("springs in the wind", "material") else slow(name) for name in CASES]
)
def test_a_sheet_moves_as_the_reference(context: Context, library: ShaderLibrary, name: str) -> None:
    cloth = Cloth(context, library, CASES[name])
    run(cloth, STEPS)
    expected = expected_sheet(name)
    assert np.abs(expected.positions - cloth.model.positions).max() > 0.003
    assert distance(cloth, expected) < BOUND


def mesh_settings(windy: bool) -> ClothSettings:
    return ClothSettings(
        source=ClothSource.MESH,
        pin_list="0 3-5 8",
        stretch_stiffness=80.0,
        internal_damping=1e-3,
        substeps=20,
        **(GUSTY if windy else {}),
    )


@cache
def expected_mesh(windy: bool) -> reference.Particles:
    settings = mesh_settings(windy)
    return reference_run(build_cloth(settings, uneven_surface()), settings, STEPS)


@ON_BOTH
@pytest.mark.parametrize("windy", [slow(False), True])
def test_a_mesh_moves_as_the_reference(context: Context, library: ShaderLibrary, windy: bool) -> None:
    settings = mesh_settings(windy)
    cloth = Cloth(context, library, settings, uneven_surface())
    assert stability(cloth.model, settings).is_stable
    run(cloth, STEPS)
    assert distance(cloth, expected_mesh(windy)) < BOUND


def colliders() -> list[ColliderState]:
    turn = np.array([np.sin(0.4), 0.0, 0.0, np.cos(0.4)])
    more = np.array([np.sin(0.41), 0.0, 0.0, np.cos(0.41)])
    here, ones = np.array([0.2, -0.6, 0.1]), np.ones(3)
    start, end = compose(here, turn, ones), compose(here, more, ones)
    aside = np.eye(4)
    aside[:3, 3] = 0.9, -0.9, 0.0
    box = np.eye(4)
    box[:3, 3] = -0.7, -0.75, 0.2
    floor = np.eye(4)
    floor[1, 3] = -1.0
    return [
        ColliderState(ColliderShape.BOX, np.array([0.15, 0.1, 0.2]), box, box, 0.4, 0.0),
        ColliderState(ColliderShape.ELLIPSOID, np.array([0.4, 0.3, 0.2]), start, end, 0.3, 0.1),
        ColliderState(ColliderShape.CAPSULE, np.array([0.15, 0.2, 0.0]), aside, aside, 0.2, 0.0),
        ColliderState(ColliderShape.PLANE, np.zeros(3), floor, floor, 0.5, 0.0),
    ]


FALLING = ClothSettings(
    columns=9,
    rows=9,
    width=2.0,
    height=2.0,
    placement=ClothPlacement.FLAT,
    pins=PinPreset.NONE,
    stretch_stiffness=80.0,
    shear_stiffness=20.0,
    bend_stiffness=0.0,
    internal_damping=5e-3,
    air_drag=1.0,
    wind=(0.2, 0.0, 0.1),
    turbulence=0.2,
    substeps=10,
)


@cache
def expected_fall(in_order: bool) -> reference.Particles:
    return reference_run(build_cloth(FALLING), FALLING, STEPS, arranged(colliders())[0] if in_order else colliders())


@pytest.mark.slow
@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize("in_order", [True, False])
def test_a_sheet_falls_on_colliders_as_the_reference(context: Context, library: ShaderLibrary, in_order: bool) -> None:
    states, layout = arranged(colliders()) if in_order else (colliders(), ANY_ORDER)
    cloth = Cloth(context, library, FALLING)
    assert stability(cloth.model, FALLING).is_stable
    inputs, buffer = collider_inputs(context, states, layout, FALLING)
    run(cloth, STEPS, inputs)
    expected = expected_fall(in_order)
    assert expected.positions[:, 1].min() < -0.9, "it must have reached the floor"
    errors = np.linalg.norm(cloth.positions() - expected.positions, axis=1) / cloth.model.extent
    assert np.median(errors) < 1e-3
    assert errors.max() < 2e-2
    buffer.release()
    assert inputs.colliders.texture is not None
    inputs.colliders.texture.release()


@ON_BOTH
@pytest.mark.parametrize("mesh", [False, True])
def test_statistics_are_those_of_the_reference(context: Context, library: ShaderLibrary, mesh: bool) -> None:
    settings = ClothSettings(columns=20, rows=11, pin_list="0" if mesh else "", substeps=40)
    cloth = Cloth(context, library, as_mesh(settings), uneven_surface()) if mesh else Cloth(context, library, settings)
    random = np.random.default_rng(2)
    place = cloth.model.positions + random.normal(scale=0.02, size=cloth.model.positions.shape)
    velocity = random.normal(size=place.shape)
    cloth.write(place, velocity)
    found = cloth.check()
    expected = reference.energies(cloth.model, constants_of(cloth.settings), reference.Particles(place, velocity))
    assert found.kinetic == pytest.approx(expected.kinetic, rel=1e-4)
    assert found.elastic == pytest.approx(expected.elastic, rel=1e-4)
    assert found.potential == pytest.approx(expected.potential, rel=1e-4)
    assert found.strain == pytest.approx(expected.strain, rel=1e-4)


def as_mesh(settings: ClothSettings) -> ClothSettings:
    return ClothSettings(source=ClothSource.MESH, pin_list=settings.pin_list, substeps=settings.substeps)


Float64 = np.ndarray[Any, np.dtype[np.float64]]

TOUCHING: dict[str, Any] = {"self_collision": True, "thickness": 0.1}
"""For sheets of nine by nine particles, an eighth of a metre apart."""


def folded(flat: Float64, radius: float, slant: float = 0.0) -> Float64:
    """A horizontal sheet (P, 3) about the origin, laid over itself along a line through its middle.

    The layers are two `radius` [m] apart; `slant` [radians] is the angle of the line, without it particles come to lie
    on particles.
    """
    turn = np.array([[np.cos(slant), -np.sin(slant)], [np.sin(slant), np.cos(slant)]])
    across, along = (flat[:, [0, 2]] @ turn).T
    bend = np.clip(across / radius + 0.5 * np.pi, 0.0, np.pi)
    past = across - radius * (bend - 0.5 * np.pi)
    x = radius * np.sin(bend) + np.where(bend < np.pi, past, -past)
    out = np.zeros_like(flat)
    out[:, [0, 2]] = np.stack([x, along], axis=1) @ turn.T
    out[:, 1] = radius * (1.0 - np.cos(bend))
    return out


def small(**changes: Any) -> ClothSettings:
    return springs(placement=ClothPlacement.FLAT, **(STILL | TOUCHING | changes))


def close_in(cloth: Cloth, speed: float = 1.0) -> None:
    place = folded(cloth.model.positions, 0.09, 0.4)
    random = np.random.default_rng(4)
    velocity = random.normal(scale=0.05, size=place.shape)
    velocity += np.where(place[:, 1:2] > 0.1, speed, 0.0) * np.array([0.4, -1.0, 0.2])
    cloth.write(place, velocity)


def least_distance(cloth: Cloth) -> float:
    first, second = distant_pairs(cloth.model.positions, cloth.settings.thickness)
    place = cloth.positions().astype(np.float64)
    return float(np.linalg.norm(place[first] - place[second], axis=1).min())


def overlapping(place: Float64, rest: Float64, thickness: float) -> Float64:
    """Distances, in parts of the thickness, of the pairs within 1.5 of it that are no neighbours at rest."""
    squares, found = np.sum(place**2, axis=1), []
    for start in range(0, len(place), 512):  # all against all at once would be hundreds of megabytes
        rows = slice(start, start + 512)
        near = squares[rows, None] + squares - 2.0 * place[rows] @ place.T < (1.5 * thickness) ** 2
        first, second = np.nonzero(np.triu(near, start + 1))
        first += start
        apart = np.linalg.norm(rest[first] - rest[second], axis=1) > NEIGHBOURHOOD * thickness
        found.append(np.linalg.norm(place[first[apart]] - place[second[apart]], axis=1))
    return np.concatenate(found) / thickness


def uneven_mesh() -> ClothSurface:
    flat = grid_surface(GridShape(9, 9, 0.125, 0.125), ClothPlacement.FLAT)
    shift = np.random.default_rng(1).normal(scale=0.01, size=(81, 3))
    return ClothSurface(flat.positions + shift, flat.texcoords, flat.triangles)


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize("mesh", [False, True])
def test_layers_touch_as_in_the_reference(context: Context, library: ShaderLibrary, mesh: bool) -> None:
    friction = 0.5
    if mesh:
        settings = msgspec.structs.replace(small(), source=ClothSource.MESH, density=0.6, self_friction=friction)
        cloth = Cloth(context, library, settings, uneven_mesh())
    else:
        cloth = Cloth(context, library, small(self_friction=friction))
    close_in(cloth)
    place, speed = cloth.positions().astype(np.float64), cloth.velocities().astype(np.float64)
    particles = without = reference.Particles(place, speed)
    actions = reference.Actions(np.zeros(81, np.bool_), cloth.model.positions)
    plain = msgspec.structs.replace(cloth.settings, self_collision=False)
    run(cloth, 12)
    for _ in range(12):
        particles = reference.step(cloth.model, cloth.settings, particles, actions)
        without = reference.step(cloth.model, plain, without, actions)
    assert np.abs(particles.positions - without.positions).max() > 0.03, "they must have touched"
    np.testing.assert_allclose(cloth.positions(), particles.positions, rtol=0, atol=1e-4)
    np.testing.assert_allclose(cloth.velocities(), particles.velocities, rtol=0, atol=5e-3)


@pytest.mark.slow
def test_layers_of_a_dropped_sheet_stay_apart(context: Context, library: ShaderLibrary) -> None:
    settings = ClothSettings(
        columns=64, rows=64, width=1.2, height=1.2, placement=ClothPlacement.FLAT, pins=PinPreset.NONE,
        thickness=0.02, self_collision=True,
    )  # fmt: skip
    settings = msgspec.structs.replace(settings, substeps=stability(build_cloth(settings), settings).substeps)
    floor = np.eye(4)
    floor[1, 3] = -0.05
    states, layout = arranged([ColliderState(ColliderShape.PLANE, np.zeros(3), floor, floor, 0.5, 0.0)])
    inputs, buffer = collider_inputs(context, states, layout, settings)
    parts, energies = [], []
    for touching in (True, False):
        cloth = Cloth(context, library, msgspec.structs.replace(settings, self_collision=touching))
        cloth.write(folded(cloth.model.positions, 0.06, 0.5), np.zeros((4096, 3)))
        for _ in range(60):
            run(cloth, 1, inputs)
            found = cloth.check()
            energies.append(found.kinetic + found.elastic + found.potential)
        # Of the pairs that lie near each other, so that the many far ones do not hide the others.
        distance = overlapping(cloth.positions().astype(np.float64), cloth.model.positions, settings.thickness)
        assert len(distance) > 2000
        parts.append((distance < 0.8).mean())
        cloth.release()
    assert parts[0] < 0.1 < parts[1]
    # What overlapped in the impact is lifted a little.
    touching_energies = np.array(energies[:60])
    rise = (touching_energies - np.minimum.accumulate(touching_energies)).max()
    assert rise < 2e-3 * (touching_energies[0] - touching_energies[-1])
    buffer.release()
    assert inputs.colliders.texture is not None
    inputs.colliders.texture.release()


def test_neighbours_at_rest_are_not_pushed_apart(context: Context, library: ShaderLibrary) -> None:
    for thickness in (0.05, 0.124, 0.126, 0.2, 0.6):
        cloth = Cloth(context, library, small(thickness=thickness))
        before = cloth.positions()
        run(cloth, 20)
        np.testing.assert_array_equal(cloth.positions(), before)


def test_the_same_bits_twice_after_a_reset_and_a_restore(context: Context, library: ShaderLibrary) -> None:
    settings = small(gravity=(0.0, -9.81, 0.0))
    results = []
    for _ in range(2):
        cloth = Cloth(context, library, settings)
        for _ in range(2):
            close_in(cloth)
            run(cloth, 15)
            middle = cloth.snapshot().packed()
            run(cloth, 25)
            results.append(cloth.snapshot().packed())
            cloth.restore(middle)
            run(cloth, 25)
            results.append(cloth.snapshot().packed())
            cloth.reset()
    assert len(set(results)) == 1


def test_it_is_switched_with_the_next_step(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, small(self_collision=False))
    assert cloth.apply(small()) is Effect.STEP
    close_in(cloth)
    run(cloth, 20)
    assert least_distance(cloth) > 0.05
    assert cloth.apply(small(thickness=0.0)) is Effect.STEP
    run(cloth, 1)
    library.release()
    cloth.release()
    cloth.release()
    assert context.live == []


def test_particles_at_one_position_stay_finite(context: Context, library: ShaderLibrary) -> None:
    cloth = Cloth(context, library, small(columns=20, rows=20, thickness=0.02))
    cloth.write(np.zeros((400, 3)), np.zeros((400, 3)))
    run(cloth, 20)
    assert np.isfinite(cloth.positions()).all()
