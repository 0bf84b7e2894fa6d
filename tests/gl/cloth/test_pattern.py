"""Rest lengths from texture coordinates: the pattern of a garment is its rest shape."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.pattern import SEAM
from sinew.sim.kinds.cloth.settings import ClothSettings, ClothSource
from sinew.sim.kinds.cloth.solver import ClothInputs
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.scene.params import SettingsError, validated
from tests.conftest import slow
from tests.gl.back_ends import COMPUTE_IN_CAMPAIGN
from tests.gl.cloth.test_pressure import SOLVERS, STILL, flat, made


def cut(surface: ClothSurface, factor: float, turn: float = 0.7) -> ClothSurface:
    """A flat surface with its own shape as texture coordinates, smaller and turned."""
    c, s = np.cos(turn), np.sin(turn)
    places = surface.positions[:, :2] @ np.array([[c, s], [-s, c]])
    return replace(surface, texcoords=(factor * places + 0.3).astype(np.float32))


SIZES = ((1.0, 1.0), (0.1, 5.0), (10.0, 0.2))


@COMPUTE_IN_CAMPAIGN
@pytest.mark.parametrize(
    ("solver", "size", "unit"),
    [
        *(("springs", size, unit) for size, unit in SIZES),
        *(("lines", size, unit) if size < 1.0 else slow("lines", size, unit) for size, unit in SIZES),
    ],
)
def test_a_free_sheet_takes_the_size_of_its_pattern(
    context: Context, library: ShaderLibrary, solver: str, size: float, unit: float
) -> None:
    values = STILL | SOLVERS[solver] | {
        "pattern": True, "pattern_scale": unit, "substeps": 64, "air_drag": 4.0, "bend_stiffness": 0.0,
        "internal_damping": 1e-2, "density": 0.2, "stretch_stiffness": 30.0 * size**2,
    }  # fmt: skip
    cloth = made(context, library, values, cut(flat(size), 0.9 / unit))
    for _ in range(180):
        assert cloth.step(ClothInputs())
    found = np.ptp(cloth.positions(), axis=0)[:2] / size
    cloth.release()
    np.testing.assert_allclose(found, 0.9, atol=1e-3)


def settings(**values: object) -> ClothSettings:
    return validated(ClothSettings(), source=ClothSource.MESH, pattern=True, **values)


def test_the_pattern_of_a_flat_mesh_gives_the_springs_of_the_mesh() -> None:
    own = build_cloth(validated(settings(), pattern=False), flat(1.0))
    cut_out = build_cloth(settings(pattern_scale=2.0), cut(flat(1.0), 0.5))
    assert (cut_out.springs.pairs == own.springs.pairs).all()
    np.testing.assert_allclose(cut_out.springs.rest, own.springs.rest, rtol=1e-5)
    np.testing.assert_allclose(cut_out.springs.factors, own.springs.factors, rtol=1e-4)
    np.testing.assert_allclose(cut_out.shares, own.shares, rtol=1e-5)
    assert cut_out.seams < 1e-5
    twice = build_cloth(settings(pattern_scale=2.0), cut(flat(1.0), 0.5), 3.0 * np.eye(4))
    np.testing.assert_allclose(twice.springs.rest, 3.0 * own.springs.rest, rtol=1e-5)


def test_seams_take_the_mean_of_their_sides_and_are_noted() -> None:
    """Two triangles on one edge, of which the second has a larger piece."""
    positions = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], np.float64)
    places = np.array([(0, 0), (1, 0), (0, 1), (1.1, 0), (1.1, 1.1), (0, 1.1)], np.float32)
    model = build_cloth(settings(), ClothSurface(positions, places, np.array([(0, 1, 2), (3, 4, 5)], np.uint32)))
    assert model.particle_count == 4
    seam = 2.0**0.5
    assert sorted(model.springs.rest[:5].tolist()) == pytest.approx([1.0, 1.0, 1.1, 1.1, 1.05 * seam], rel=1e-5)
    assert model.seams == pytest.approx(0.2 / 2.1, rel=1e-5)
    assert model.seams > SEAM
    assert model.shares.sum() == pytest.approx(0.5 + 0.5 * 1.21, rel=1e-5)
    across = 0.5 * 1.05 * seam
    heights = [(1.0 - across**2) ** 0.5, (1.21 - across**2) ** 0.5]
    assert model.springs.rest[5] == pytest.approx(sum(heights), rel=1e-5)


def test_triangles_without_area_are_named() -> None:
    surface = cut(flat(1.0), 1.0)
    places = surface.texcoords.copy()
    places[surface.triangles[7]] = 0.5
    with pytest.raises(SettingsError, match=r"triangle \d+ has no area in the texture coordinates"):
        build_cloth(settings(), replace(surface, texcoords=places))
    with pytest.raises(SettingsError, match="have none"):
        build_cloth(settings(), flat(1.0))
