"""The hand that pulls a particle: exact where it can be, and never stronger than the fabric."""

import msgspec
import numpy as np
import pytest

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.kind import PRESETS, with_preset
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.solver import ClothInputs
from sinew.sim.kinds.cloth.stability import stable_substeps


def settled(context: Context, library: ShaderLibrary, settings: ClothSettings) -> Cloth:
    cloth = Cloth(context, library, settings)
    substeps = stable_substeps(cloth.model, settings)
    cloth.apply(msgspec.structs.replace(settings, substeps=substeps))
    for _ in range(40):
        cloth.step()
    return cloth


def pull(cloth: Cloth, particle: int, hand: np.ndarray, steps: int = 40) -> np.ndarray:
    x, y, z = (float(value) for value in hand)
    for _ in range(steps):
        cloth.step(ClothInputs(grabbed=particle, hand=(x, y, z)))
    return cloth.positions()[particle]


@pytest.mark.parametrize("name", list(PRESETS))
def test_no_hand_tears_a_fabric_and_it_comes_back_into_it(context: Context, library: ShaderLibrary, name: str) -> None:
    settings = with_preset(msgspec.structs.replace(ClothSettings(), columns=20, rows=20), name)
    cloth = settled(context, library, settings)
    particle = cloth.model.particle_count - 1
    start = cloth.positions()[particle].astype(np.float64)
    for way in ((4.0, 0.0, 0.0), (-4.0, 2.0, 3.0), (0.0, -5.0, 0.0)):
        reached = pull(cloth, particle, start + way)
        assert np.linalg.norm(reached - start - way) > 0.5  # out of reach for every fabric
        strain = cloth.check().strain
        assert strain < cloth.settings.stretch_limit - 1.0
        assert cloth.stopped == ""


def test_within_reach_the_particle_is_exactly_in_the_hand(context: Context, library: ShaderLibrary) -> None:
    cloth = settled(context, library, ClothSettings(columns=20, rows=20))
    particle = cloth.model.particle_count - 1
    hand = cloth.positions()[particle] + np.array([0.2, 0.1, 0.4])
    np.testing.assert_allclose(pull(cloth, particle, hand), hand, rtol=0, atol=1e-6)


def test_places_of_a_few_particles_are_those_of_all(context: Context, library: ShaderLibrary) -> None:
    cloth = settled(context, library, ClothSettings(columns=20, rows=20))
    chosen = np.array([399, 0, 57])
    np.testing.assert_array_equal(cloth.positions_of(chosen), cloth.positions()[chosen])
    assert cloth.positions_of(np.zeros(0, np.intp)).shape == (0, 3)
