import numpy as np
import pytest

from sinew.sim.assets.model import Mesh
from sinew.sim.colliders.skin_mesh import skin_corners
from tests.gl.colliders.test_skin import ball, box
from tests.model_samples import mesh_of
from tests.oracles.skin import winding_numbers


def joined(*meshes: Mesh) -> Mesh:
    firsts = np.cumsum([0, *(mesh.vertex_count for mesh in meshes)])
    positions, normals = (np.concatenate([getattr(mesh, name) for mesh in meshes]) for name in ("positions", "normals"))
    triangles = [mesh.triangles + np.uint32(first) for mesh, first in zip(meshes, firsts, strict=False)]
    return mesh_of(positions, np.concatenate(triangles), normals=normals)


def shifted(mesh: Mesh, x: float, *, inward: bool) -> Mesh:
    triangles = mesh.triangles[:, ::-1] if inward else mesh.triangles
    return mesh_of(mesh.positions + np.array([x, 0.0, 0.0], np.float32), triangles, normals=mesh.normals)


@pytest.mark.parametrize("inward", [(False, False), (True, False), (False, True), (True, True)])
def test_each_part_is_counter_clockwise_from_outside(inward: tuple[bool, bool]) -> None:
    """The coarse ball has smooth normals, of which many point to the wrong side of single triangles."""
    coarse = ball(0.3, 5)
    normals = coarse.normals + np.random.default_rng(1).normal(scale=0.8, size=coarse.normals.shape)
    coarse = mesh_of(coarse.positions, coarse.triangles, normals=normals)
    mesh = joined(shifted(coarse, -1.0, inward=inward[0]), shifted(box((0.2, 0.3, 0.1), 3), 1.0, inward=inward[1]))
    corners = skin_corners(mesh, ())[:, :3]
    triangles = mesh.positions[corners].astype(np.float64)
    found = winding_numbers(np.array([[-1.0, 0.0, 0.0], [1.0, 0.05, 0.0], [0.0, 0.0, 0.0]]), triangles)
    np.testing.assert_allclose(found, [1.0, 1.0, 0.0], atol=1e-6)
