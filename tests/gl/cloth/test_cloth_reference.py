from functools import cache

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
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, ClothSource, PinPreset
from sinew.sim.kinds.cloth.stability import stability
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.maths.transform import compose
from tests.gl.back_ends import ON_BOTH
from tests.gl.cloth.cloth_cases import collider_inputs, reference_run, run, springs
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


@ON_BOTH
@pytest.mark.parametrize("name", CASES)
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
@pytest.mark.parametrize("windy", [False, True])
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


@ON_BOTH
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
