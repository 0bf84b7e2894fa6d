import numpy as np
import pytest

from sinew.sim.animation.palette import dual_quaternions, lbs_rows, rigid_and_scale
from sinew.sim.assets.model import Mesh, Skin
from sinew.sim.characters.reference import enclosed_volume, method_difference, skin
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.maths import dual_quaternion as DQ
from sinew.sim.maths import quaternion as Q
from sinew.sim.maths.transform import compose
from tests.model_samples import mesh_of

LBS, DQS, DQS_SCALE = SkinningMethod.LBS, SkinningMethod.DQS, SkinningMethod.DQS_SCALE
RING = 24


def ring(x: float = 0.0) -> Mesh:
    """A circle of radius 1 about the x axis with outward normals; tangents run along the axis."""
    angle = np.arange(RING) * (2.0 * np.pi / RING)
    outward = np.stack([np.zeros(RING), np.cos(angle), np.sin(angle)], axis=1)
    return mesh_of(
        outward + np.array([x, 0.0, 0.0]), normals=outward, tangents=np.tile([1.0, 0.0, 0.0, -1.0], (RING, 1))
    )


def cloud(count: int, seed: int) -> Mesh:
    random = np.random.default_rng(seed)
    normals = random.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    across = np.cross(normals, random.normal(size=(count, 3)))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    signs = random.choice([-1.0, 1.0], size=(count, 1))
    return mesh_of(random.normal(size=(count, 3)), normals=normals, tangents=np.concatenate([across, signs], axis=1))


def weighted(weights: list[float], count: int) -> Skin:
    slots = [joint if weight > 0.0 else 0 for joint, weight in enumerate(weights)]
    joints = np.tile(np.array(slots, dtype=np.uint16), (count, 1))
    return Skin(joints, np.tile(np.array(weights, dtype=np.float32), (count, 1)), sum(w > 0 for w in weights))


def random_skin(count: int, joints: int, influences: int, seed: int) -> Skin:
    random = np.random.default_rng(seed)
    weights = -np.sort(-random.dirichlet(np.ones(influences), size=count), axis=1)
    chosen = np.stack([random.permutation(joints)[:influences] for _ in range(count)])
    return Skin(chosen.astype(np.uint16), weights.astype(np.float32), influences)


def turning(*turns: np.ndarray) -> np.ndarray:
    return compose(np.zeros((len(turns), 3)), np.stack(turns), np.ones((len(turns), 3)))


def near_palette(count: int, seed: int, spread: float = 0.0) -> np.ndarray:
    random = np.random.default_rng(seed)
    turns = Q.normalised(random.normal(scale=0.4, size=(count, 4)) + Q.IDENTITY)
    return compose(random.normal(size=(count, 3)), turns, random.uniform(1 - spread, 1 + spread, (count, 3)))


@pytest.mark.parametrize("degrees", [90.0, 179.0])
def test_twist_collapses_the_linear_blend_and_not_the_dual_quaternions(degrees):
    palette = turning(Q.IDENTITY, Q.from_axis_angle([1.0, 0.0, 0.0], np.radians(degrees)))
    half = weighted([0.5, 0.5, 0.0, 0.0], RING)
    linear, dual = (skin(ring(), half, palette, method).positions for method in (LBS, DQS))
    radius = np.cos(np.radians(degrees) / 2.0)
    np.testing.assert_allclose(np.linalg.norm(linear[:, 1:], axis=1), radius, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(dual[:, 1:], axis=1), 1.0, atol=1e-6)
    middle = Q.from_axis_angle([1.0, 0.0, 0.0], np.radians(degrees) / 2.0)
    np.testing.assert_allclose(dual, Q.rotate(middle, ring().positions.astype(float)), atol=1e-6)


@pytest.mark.parametrize("influences", [1, 8])
def test_single_rigid_influence_is_that_transform_in_every_method(influences):
    mesh, palette = cloud(40, 1), near_palette(12, 2)
    joints = np.random.default_rng(3).integers(0, 12, size=(40, influences)).astype(np.uint16)
    weights = np.zeros((40, influences), np.float32)
    weights[:, 0] = 1.0
    own = palette[joints[:, 0]]
    expected = (own[:, :3, :3] @ mesh.positions.astype(float)[..., None])[..., 0] + own[:, :3, 3]
    for method in SkinningMethod:
        vertices = skin(mesh, Skin(joints, weights, 1), palette, method)
        np.testing.assert_allclose(vertices.positions, expected, atol=1e-12)
        turned = (own[:, :3, :3] @ mesh.normals.astype(float)[..., None])[..., 0]
        np.testing.assert_allclose(vertices.normals, turned, atol=1e-6)


@pytest.mark.parametrize("method", SkinningMethod)
@pytest.mark.parametrize("influences", [4, 8])
def test_a_rigid_motion_of_the_skeleton_moves_the_skin_alike(method, influences):
    mesh, palette = cloud(50, 4), near_palette(9, 5, spread=0.2 if method is not DQS else 0.0)
    influence = random_skin(50, 9, influences, 6)
    centres = np.random.default_rng(8).normal(size=(9, 3))
    whole = compose(np.array([3.0, -2.0, 7.0]), Q.from_euler_degrees((40.0, 170.0, -20.0)), np.ones(3))
    before = skin(mesh, influence, palette, method, centres)
    after = skin(mesh, influence, whole @ palette, method, centres)
    np.testing.assert_allclose(after.positions, before.positions @ whole[:3, :3].T + whole[:3, 3], atol=2e-6)
    np.testing.assert_allclose(after.normals, before.normals @ whole[:3, :3].T, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(before.normals, axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(before.tangents[:, :3], axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(before.tangents[:, 3], mesh.tangents[:, 3])
    np.testing.assert_allclose(after.tangents[:, :3], before.tangents[:, :3] @ whole[:3, :3].T, atol=1e-9)


def test_turns_more_than_half_a_turn_apart_meet_on_the_shorter_way():
    # More than half a turn apart: the palette's quaternions lie in opposite half spaces.
    turns = [Q.from_axis_angle([1.0, 0.0, 0.0], np.radians(a)) for a in (170.0, -170.0)]
    vertices = skin(ring(), weighted([0.5, 0.5, 0.0, 0.0], RING), turning(*turns), DQS).positions
    expected = Q.rotate(Q.from_axis_angle([1.0, 0.0, 0.0], np.pi), ring().positions.astype(float))
    np.testing.assert_allclose(vertices, expected, atol=1e-6)
    collapsed = turning(Q.IDENTITY, Q.from_axis_angle([1.0, 0.0, 0.0], np.pi))
    assert np.isfinite(skin(ring(), weighted([0.5, 0.5, 0.0, 0.0], RING), collapsed, LBS).normals).all()
    still = skin(ring(), None, np.zeros((0, 4, 4)), LBS)
    np.testing.assert_array_equal(still.positions, ring().positions)


@pytest.mark.parametrize("method", [LBS, DQS_SCALE])
def test_one_influence_with_uneven_scale_is_the_whole_affine_map(method):
    mesh = cloud(40, 10)
    palette = compose(np.array([1.0, 2.0, 3.0]), Q.from_euler_degrees((20, 30, 40)), np.array([2.0, 0.5, 1.5]))[None]
    centre = np.array([[5.0, -3.0, 1.0]])
    vertices = skin(mesh, weighted([1.0], 40), palette, method, centre)
    linear = palette[0, :3, :3]
    np.testing.assert_allclose(vertices.positions, mesh.positions @ linear.T + palette[0, :3, 3], atol=1e-5)
    normals = mesh.normals @ np.linalg.inv(linear)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    np.testing.assert_allclose(vertices.normals, normals, atol=1e-6)
    tangents = mesh.tangents[:, :3] @ linear.T
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    np.testing.assert_allclose(vertices.tangents[:, :3], tangents, atol=1e-6)


def test_pure_scales_about_their_joints_blend_like_matrices():
    mesh, influence = cloud(50, 11), random_skin(50, 5, 4, 12)
    random = np.random.default_rng(13)
    centres, factors = random.normal(size=(5, 3)) * 4.0, random.uniform(0.5, 2.0, size=5)
    palette = np.tile(np.eye(4), (5, 1, 1))
    palette[:, :3, :3] *= factors[:, None, None]
    palette[:, :3, 3] = centres * (1.0 - factors[:, None])
    for given in (centres, None):
        linear, scaled = (skin(mesh, influence, palette, method, given).positions for method in (LBS, DQS_SCALE))
        np.testing.assert_allclose(scaled, linear, atol=1e-5)


CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
CUBE_TRIANGLES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
     [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


def test_volume_of_a_cube_wherever_it_lies():
    assert enclosed_volume(CUBE, CUBE_TRIANGLES) == pytest.approx(1.0)
    assert enclosed_volume(CUBE * [2.0, 3.0, 4.0] + 1e4, CUBE_TRIANGLES) == pytest.approx(24.0)
    assert enclosed_volume(CUBE, CUBE_TRIANGLES[:, ::-1]) == pytest.approx(-1.0)
    assert enclosed_volume(CUBE, CUBE_TRIANGLES[:0]) == 0.0


def test_difference_of_two_deformations():
    first = np.zeros((4, 3))
    second = np.array([[0.0, 0, 0], [3.0, 4.0, 0], [0, 1.0, 0], [0, 0, 2.0]])
    found = method_difference(first, second)
    assert (found.maximum, found.mean, found.vertex) == (5.0, 2.0, 1)
    assert method_difference(np.zeros((0, 3)), np.zeros((0, 3))).maximum == 0.0


def random_palette(count: int, spread: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Palette (count, 4, 4) with scales 1 - spread to 1 + spread and shear by the order of factors, and centres."""
    random = np.random.default_rng(seed)
    turns = Q.normalised(random.normal(size=(2, count, 4)))
    scales = random.uniform(1.0 - spread, 1.0 + spread, size=(count, 3))
    first = compose(random.normal(size=(count, 3)) * 9.0, turns[0], scales)
    return first @ compose(np.zeros((count, 3)), turns[1], np.ones((count, 3))), random.normal(size=(count, 3)) * 9.0


def homogeneous(points: np.ndarray) -> np.ndarray:
    return np.concatenate([points, np.ones((len(points), 1))], axis=1)[..., None]


@pytest.mark.parametrize("with_centres", [False, True])
def test_motion_after_scale_is_the_palette(with_centres):
    palette, centres = random_palette(12, 0.5)
    motions, scales = rigid_and_scale(palette, centres if with_centres else None)
    if with_centres:
        np.testing.assert_allclose((scales @ homogeneous(centres))[..., 0], centres, atol=1e-12)
        expected = (palette @ homogeneous(centres))[:, :3, 0]
        np.testing.assert_allclose(DQ.transform_points(motions, centres), expected, atol=1e-11)
    rows = lbs_rows(palette)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, palette[:, :3].astype(np.float32))
    full = np.tile(np.eye(4), (12, 1, 1))
    full[:, :3] = scales
    np.testing.assert_allclose(DQ.to_matrix(motions) @ full, palette, atol=1e-11)


def test_rigid_palettes_have_no_scale_and_one_sign():
    palette, centres = random_palette(12, 0.0)
    np.testing.assert_array_equal(rigid_and_scale(palette, centres)[1], np.tile(np.eye(3, 4), (12, 1, 1)))
    packed = dual_quaternions(palette)
    assert packed.dtype == np.float32
    assert packed.shape == (12, 2, 4)
    assert (packed[:, 0, 3] >= 0.0).all()
    np.testing.assert_allclose(DQ.to_matrix(packed.astype(float)), palette, atol=2e-5)
