import numpy as np
import pytest

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.driven import driven_records
from sinew.sim.kinds.cloth.grid import GridShape, grid_surface
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings, ClothSource
from sinew.sim.kinds.cloth.surface import ClothSurface
from tests.gl.back_ends import ON_BOTH

CURVATURE = 4.0


def sheet(side: int) -> ClothSurface:
    return grid_surface(GridShape(side, side, 1.0 / (side - 1), 1.0 / (side - 1)), ClothPlacement.FREE)


def rolled(places: np.ndarray) -> np.ndarray:
    """Wraps the plane z = 0 around a cylinder, in millimetres exactly."""
    angle, radius = CURVATURE * places[:, 0], 1.0 / CURVATURE
    away = radius + places[:, 2]
    return np.stack([away * np.sin(angle), places[:, 1], away * np.cos(angle) - radius], axis=1)


def errors(context: Context, library: ShaderLibrary, side: int, height: float, *, is_mesh: bool) -> np.ndarray:
    """Distances of a fine mesh, four times as dense, from where it belongs [mm], and of its normals."""
    source = ClothSource.MESH if is_mesh else ClothSource.GRID
    settings = ClothSettings(
        source=source, columns=side, rows=side, width=1.0, height=1.0, placement=ClothPlacement.FREE
    )
    cloth = Cloth(context, library, settings, sheet(side))
    flat = sheet(4 * (side - 1) + 1)
    fine = ClothSurface(flat.positions + np.array([0.0, 0.0, height]), flat.texcoords, flat.triangles)
    cloth.drive(fine, driven_records(cloth.model, fine))
    assert cloth.driven is not None
    cloth.refresh()
    np.testing.assert_allclose(cloth.driven.vertices.read()["position"][:, :3], fine.positions, atol=1e-6)
    cloth.write(rolled(cloth.model.positions), np.zeros(3))
    cloth.refresh()
    found = cloth.driven.vertices.read()
    cloth.release()
    apart = 1e3 * np.linalg.norm(found["position"][:, :3] - rolled(fine.positions), axis=1)
    angle = CURVATURE * fine.positions[:, 0]
    normals = np.stack([np.sin(angle), np.zeros(len(angle)), np.cos(angle)], axis=1)
    assert np.sum(found["normal"][:, :3] * normals, axis=1).min() > 0.99
    return apart


@pytest.mark.slow
@ON_BOTH
def test_a_fine_mesh_on_a_rolled_mesh_has_the_known_errors(context: Context, library: ShaderLibrary) -> None:
    apart = errors(context, library, 21, 0.0, is_mesh=True)
    assert apart.max() == pytest.approx(0.835, abs=0.002)  # at the border; flat triangles have h² κ / 8 = 1.249
    assert np.sqrt(np.mean(apart**2)) == pytest.approx(0.151, abs=0.001)  # 0.909
    assert np.sqrt(np.mean(errors(context, library, 41, 0.0, is_mesh=True) ** 2)) == pytest.approx(0.026, abs=0.001)
    assert errors(context, library, 21, 0.005, is_mesh=True).max() == pytest.approx(0.86, abs=0.005)


@ON_BOTH
def test_a_fine_mesh_on_a_rolled_sheet_is_nearer(context: Context, library: ShaderLibrary) -> None:
    apart = errors(context, library, 21, 0.0, is_mesh=False)
    assert apart.max() == pytest.approx(0.632, abs=0.002)
    assert np.sqrt(np.mean(apart**2)) == pytest.approx(0.146, abs=0.001)


@ON_BOTH
def test_a_fine_mesh_rests_on_a_curved_cloth(context: Context, library: ShaderLibrary) -> None:
    coarse, fine = sheet(11), sheet(41)
    curved = ClothSurface(rolled(coarse.positions), coarse.texcoords, coarse.triangles)
    over = ClothSurface(rolled(fine.positions + np.array([0.0, 0.0, 0.004])), fine.texcoords, fine.triangles)
    cloth = Cloth(context, library, ClothSettings(source=ClothSource.MESH), curved)
    cloth.drive(over, driven_records(cloth.model, over))
    cloth.refresh()
    assert cloth.driven is not None
    np.testing.assert_allclose(cloth.driven.vertices.read()["position"][:, :3], over.positions, atol=1e-6)
    cloth.release()
