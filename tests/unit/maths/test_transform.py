import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.maths import dual_quaternion as DQ
from sinew.sim.maths import quaternion as Q
from sinew.sim.maths import transform as T
from sinew.sim.maths.hierarchy import CycleError, build_hierarchy, model_from_local
from sinew.sim.maths.ramps import Ramp, ramp_colours
from sinew.sim.maths.srgb import linear_from_srgb, srgb_from_linear
from sinew.sim.maths.transform import compose
from sinew.sim.scene.transform import Transform, node_matrix

ROUNDING = 1e-14  # products of one matrix and of many may be summed in another order


def random_parts(count: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    scales = random.uniform(0.3, 3.0, size=(count, 3))
    return random.normal(size=(count, 3)) * 5, Q.normalised(random.normal(size=(count, 4))), scales


def explicit(position: np.ndarray, q: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """T R S written out as three matrices, with the textbook rotation."""
    x, y, z, w = q
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    translate, turn = np.eye(4), np.eye(4)
    translate[:3, 3], turn[:3, :3] = position, rotation
    return translate @ turn @ np.diag([*scale, 1.0])


def test_compose_equals_explicit_matrices_batched_and_alone():
    parts = random_parts(10, 1)
    batch = T.compose(*parts)
    for index in range(10):
        one = tuple(part[index] for part in parts)
        np.testing.assert_allclose(batch[index], explicit(*one), atol=1e-14)
        np.testing.assert_allclose(T.compose(*one), batch[index], rtol=0.0, atol=ROUNDING)
    grid = T.compose(*(part.reshape(2, 5, -1) for part in parts))
    np.testing.assert_allclose(grid.reshape(10, 4, 4), batch, rtol=0.0, atol=ROUNDING)


def test_inverse_undoes_and_stays_affine():
    matrices = T.compose(*random_parts(10, 2))
    inverse = T.inverse_affine(matrices)
    np.testing.assert_allclose(inverse @ matrices, np.broadcast_to(np.eye(4), (10, 4, 4)), atol=1e-12)
    np.testing.assert_array_equal(inverse[:, 3], np.broadcast_to([0, 0, 0, 1], (10, 4)))


def test_inverse_of_a_flat_matrix_is_finite_and_does_not_spoil_the_others():
    positions, turns, scales = random_parts(3, 3)
    scales[1, 2] = 0.0
    matrices = T.compose(positions, turns, scales)
    inverse = T.inverse_affine(matrices)
    np.testing.assert_allclose((inverse @ matrices)[[0, 2]], np.broadcast_to(np.eye(4), (2, 4, 4)), atol=1e-12)
    flat = matrices[1]
    np.testing.assert_allclose(flat @ inverse[1] @ flat, flat, atol=1e-12)


def test_decompose_and_compose_again():
    mirror = T.compose(np.zeros(3), Q.from_euler_degrees((10, 20, 30)), np.array([-2.0, 2.0, 2.0]))
    np.testing.assert_allclose(T.compose(*T.decompose(mirror)), mirror, atol=1e-13)
    parts = random_parts(10, 4)
    position, turn, scale = T.decompose(T.compose(*parts))
    np.testing.assert_allclose(position, parts[0])
    np.testing.assert_allclose(scale, parts[2], atol=1e-13)
    np.testing.assert_allclose(np.abs(np.sum(turn * parts[1], axis=1)), 1.0, atol=1e-13)


def stretched(seed: int, singular: list[float], mirrored: bool = False) -> np.ndarray:
    random = np.random.default_rng(seed)
    u, v = (Q.to_matrix(Q.normalised(random.normal(size=4))) for _ in range(2))
    return u @ np.diag(singular) @ v * (-1.0 if mirrored else 1.0)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("singular", [[1.0, 1.0, 1.0], [3.0, 2.0, 0.5], [2.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0, 0, 0]])
def test_polar_gives_a_proper_rotation_and_a_symmetric_stretch(singular, mirrored):
    linear = np.stack([stretched(seed, singular, mirrored) for seed in range(8)])
    rotation, stretch = T.polar(linear)
    np.testing.assert_allclose(rotation @ stretch, linear, atol=1e-13)
    np.testing.assert_allclose(
        rotation @ np.swapaxes(rotation, 1, 2), np.broadcast_to(np.eye(3), (8, 3, 3)), atol=1e-13
    )
    np.testing.assert_allclose(np.linalg.det(rotation), 1.0, atol=1e-13)
    np.testing.assert_allclose(stretch, np.swapaxes(stretch, 1, 2), atol=1e-13)


def test_node_matrix_scales_then_turns_about_x_y_z_then_moves():
    matrix = node_matrix(Transform(position=(1.0, 2.0, 3.0), rotation=(-90.0, 0.0, 0.0), scale=(1.0, 1.0, 2.0)))
    moved = T.transform_points(matrix, np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    np.testing.assert_allclose(moved, [[1, 4, 3], [1, 2, 2]], atol=1e-15)


@st.composite
def forests(draw):
    count = draw(st.integers(1, 40))
    sorted_parents = [draw(st.integers(-1, joint - 1)) for joint in range(count)]
    order = draw(st.permutations(range(count)))
    parents = np.full(count, -1)
    for joint, parent in enumerate(sorted_parents):
        parents[order[joint]] = order[parent] if parent >= 0 else -1
    return parents


def random_local(count: int) -> np.ndarray:
    random = np.random.default_rng(count)
    turns = Q.normalised(random.normal(size=(count, 4)))
    return compose(random.normal(size=(count, 3)), turns, random.uniform(0.8, 1.2, (count, 3)))


def by_recursion(local: np.ndarray, parents: np.ndarray, joint: int) -> np.ndarray:
    parent = int(parents[joint])
    return local[joint] if parent < 0 else by_recursion(local, parents, parent) @ local[joint]


@given(forests())
def test_levels_hold_every_joint_once_with_its_parent_a_level_earlier(parents):
    hierarchy = build_hierarchy(parents)
    roots = np.flatnonzero(parents < 0)
    levels = [roots, *hierarchy.levels]
    assert sorted(np.concatenate(levels).tolist()) == list(range(len(parents)))
    for earlier, level in itertools.pairwise(levels):
        assert set(parents[level].tolist()) <= set(earlier.tolist())
    np.testing.assert_array_equal(hierarchy.order[hierarchy.places], np.arange(len(parents)))


@given(forests())
def test_model_matrices_are_products_along_the_ancestors(parents):
    local = random_local(len(parents))
    before = local.copy()
    model = model_from_local(local, build_hierarchy(parents))
    np.testing.assert_array_equal(local, before)
    together = model_from_local(np.stack([local, local @ local], axis=1), build_hierarchy(parents))
    np.testing.assert_allclose(together[:, 0], model, atol=1e-12)
    for joint in range(len(parents)):
        np.testing.assert_allclose(model[joint], by_recursion(local, parents, joint), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("parents", "joint"), [([0], 0), ([-1, 2, 1], 1), ([-1, 0, 4, 2, 3], 2)])
def test_a_cycle_is_refused_and_named(parents, joint):
    with pytest.raises(CycleError) as caught:
        build_hierarchy(parents)
    assert caught.value.joint == joint


@pytest.mark.parametrize("parents", [[-2], [-1, 2], [5]])
def test_a_parent_out_of_range_is_refused(parents):
    with pytest.raises(ValueError, match="out of range"):
        build_hierarchy(parents)


component = st.floats(-1.0, 1.0).map(lambda value: round(value, 5))
unit = st.tuples(*[component] * 4).map(np.array).filter(lambda q: np.linalg.norm(q) > 0.1).map(Q.normalised)
vector = st.tuples(*[st.floats(-100.0, 100.0).map(lambda value: round(value, 3))] * 3).map(np.array)
fraction = st.integers(0, 1000).map(lambda value: value / 1000.0)


def same_turn(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.all(np.abs(np.abs(np.sum(a * b, axis=-1)) - 1.0) < 1e-12))


@given(unit, unit, vector)
def test_product_turns_by_the_right_factor_first(a, b, v):
    np.testing.assert_allclose(Q.rotate(Q.multiply(a, b), v), Q.rotate(a, Q.rotate(b, v)), atol=1e-10)


@given(unit, vector)
def test_conjugate_undoes_and_length_stays(q, v):
    np.testing.assert_allclose(Q.rotate(Q.conjugate(q), Q.rotate(q, v)), v, atol=1e-10)
    assert np.linalg.norm(Q.rotate(q, v)) == pytest.approx(np.linalg.norm(v), abs=1e-10)


@given(unit, vector)
def test_matrix_is_a_rotation_and_turns_alike(q, v):
    matrix = Q.to_matrix(q)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(matrix) == pytest.approx(1.0, abs=1e-13)
    np.testing.assert_allclose(matrix @ v, Q.rotate(q, v), atol=1e-10)
    back = Q.from_matrix(matrix)
    assert back[3] >= 0.0
    assert same_turn(back, q)
    again = Q.to_matrix(Q.from_euler_degrees(Q.degrees_from_matrix(matrix)))
    np.testing.assert_allclose(again, matrix, atol=1e-7)
    np.testing.assert_allclose(Q.to_matrix(Q.from_euler_degrees(Q.to_euler_degrees(q))), matrix, atol=1e-7)


@pytest.mark.parametrize("axis", [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, -1, 1]])
@pytest.mark.parametrize("degrees", [179.999999, 180.0, 1e-6, 90.0])
def test_matrix_and_back_at_half_turns_and_tiny_ones(axis, degrees):
    q = Q.from_axis_angle(axis, np.radians(degrees))
    back = Q.from_matrix(Q.to_matrix(q))
    np.testing.assert_allclose(back * np.sign(back @ q), q, atol=1e-14)


def test_zero_quaternion_is_the_identity_alone_and_in_a_batch():
    np.testing.assert_array_equal(Q.normalised(np.zeros(4)), [0, 0, 0, 1])
    batch = Q.normalised(np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, 4.0]]))
    np.testing.assert_allclose(batch, [[0, 0, 0, 1], [0, 0.6, 0, 0.8]])


@given(unit, unit, fraction)
def test_slerp_takes_the_shortest_arc_whatever_the_signs(a, b, t):
    middle = Q.slerp(a, b, t)
    assert np.linalg.norm(middle) == pytest.approx(1.0, abs=1e-13)
    assert middle @ a >= -1e-12
    if abs(a @ b) > 1e-9:  # at exactly half a turn both ways are equally short
        assert same_turn(middle, Q.slerp(a, -b, t))
    whole = Q.arc(a, Q.aligned(b, a))
    assert Q.arc(a, middle) <= whole + 1e-7


@given(unit, unit)
def test_slerp_has_constant_angular_velocity(a, b):
    steps = Q.slerp(a, b, np.linspace(0.0, 1.0, 9))
    np.testing.assert_allclose(steps[0], a, atol=1e-12)
    assert same_turn(steps[-1], b)
    arcs = Q.arc(steps[:-1], steps[1:])
    np.testing.assert_allclose(arcs, arcs.mean(), atol=1e-7)


@pytest.mark.parametrize("angle", [0.0, 1e-140, 1e-12, 1e-9, 1e-8, 1e-6, 1e-3])
def test_slerp_between_nearly_equal_turns(angle):
    a, b = Q.IDENTITY, Q.from_axis_angle([0.0, 0.0, 1.0], angle)
    middle = Q.slerp(a, b, 0.25)
    np.testing.assert_allclose(middle, [0.0, 0.0, angle / 8.0, 1.0], rtol=1e-6, atol=1e-16)


def test_euler_angles_turn_about_fixed_x_then_y_then_z_and_come_back():
    for angles in ((30.0, 90.0, 0.0), (-70.0, -90.0, 20.0), (0.0, 0.0, 0.0), (180.0, 0.0, 90.0)):
        q = Q.from_euler_degrees(angles)
        for again in (Q.degrees_from_matrix(Q.to_matrix(q)), Q.to_euler_degrees(q)):
            np.testing.assert_allclose(Q.to_matrix(Q.from_euler_degrees(again)), Q.to_matrix(q), atol=1e-7)
    assert Q.to_euler_degrees(Q.from_euler_degrees((10.0, 20.0, 30.0))) == pytest.approx((10.0, 20.0, 30.0), abs=1e-9)
    v = np.array([1.0, 2.0, 3.0])
    x, y, z = (Q.from_axis_angle(np.eye(3)[i], np.radians(angle)) for i, angle in enumerate((20.0, -50.0, 130.0)))
    expected = Q.rotate(z, Q.rotate(y, Q.rotate(x, v)))
    np.testing.assert_allclose(Q.rotate(Q.from_euler_degrees((20.0, -50.0, 130.0)), v), expected, atol=1e-14)
    np.testing.assert_allclose(Q.rotate(Q.from_euler_degrees((-90.0, 0.0, 0.0)), v), [1, 3, -2], atol=1e-15)


def test_cross_products_are_those_of_numpy_to_the_bit():
    random = np.random.default_rng(5)
    for first, second in (((3,), (3,)), ((1, 3), (7, 3)), ((4, 1, 3), (5, 3))):
        a, b = random.normal(size=first), random.normal(size=second)
        np.testing.assert_array_equal(Q.cross(a, b), np.cross(a, b))


def test_known_pairs():
    assert srgb_from_linear([0.0, 0.0031308, 0.2158605, 1.0]) == pytest.approx([0.0, 0.04045, 0.5019608, 1.0], abs=1e-6)
    assert linear_from_srgb(128 / 255) == pytest.approx(0.2158605, abs=1e-7)


def test_there_and_back():
    codes = np.linspace(0.0, 1.0, 1001)
    np.testing.assert_allclose(srgb_from_linear(linear_from_srgb(codes)), codes, atol=1e-7)
    assert np.all(np.diff(linear_from_srgb(codes)) > 0.0)


def random_motions(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Dual quaternions (count, 2, 4) and their matrices."""
    random = np.random.default_rng(seed)
    rotations, translations = Q.normalised(random.normal(size=(count, 4))), random.normal(size=(count, 3)) * 10
    return DQ.from_rotation_translation(rotations, translations), compose(translations, rotations, np.ones((count, 3)))


def test_matrix_translation_and_points_agree_with_the_rigid_matrix():
    motions, matrices = random_motions(20, 1)
    points = np.random.default_rng(2).normal(size=(20, 3))
    np.testing.assert_allclose(DQ.to_matrix(motions), matrices, atol=1e-12)
    np.testing.assert_allclose(DQ.translation(motions), matrices[:, :3, 3], atol=1e-12)
    expected = (matrices[:, :3, :3] @ points[..., None])[..., 0] + matrices[:, :3, 3]
    np.testing.assert_allclose(DQ.transform_points(motions, points), expected, atol=1e-12)


def test_product_is_the_product_of_the_matrices():
    (a, a_matrix), (b, b_matrix) = random_motions(20, 3), random_motions(20, 4)
    np.testing.assert_allclose(DQ.to_matrix(DQ.multiply(a, b)), a_matrix @ b_matrix, atol=1e-11)


def test_blend_does_not_depend_on_signs():
    motions, _ = random_motions(4, 6)
    weights = np.array([0.2, 0.4, 0.3, 0.1])
    plain = DQ.to_matrix(DQ.normalised(DQ.blend(motions, weights)))
    for signs in ([1, -1, 1, 1], [-1, -1, 1, -1], [-1, 1, -1, -1]):
        flipped = motions * np.array(signs, dtype=float)[:, None, None]
        np.testing.assert_allclose(DQ.to_matrix(DQ.normalised(DQ.blend(flipped, weights))), plain, atol=1e-12)
    np.testing.assert_allclose(plain[:3, :3] @ plain[:3, :3].T, np.eye(3), atol=1e-13)


# Lowest, middle and highest colour as published.
PUBLISHED = {
    Ramp.VIRIDIS: [(68, 1, 84), (33, 145, 140), (253, 231, 37)],
    Ramp.CIVIDIS: [(0, 34, 78), (124, 123, 120), (254, 232, 56)],
}
# Source: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes 2009, table 1, severity 1.0; linear RGB.
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)


def linear_light(colours):
    share = colours.astype(np.float64) / 255.0
    return np.where(share <= 0.04045, share / 12.92, ((np.maximum(share, 0.04045) + 0.055) / 1.055) ** 2.4)


def lightness(colours, sight=None):
    rgb = linear_light(colours)
    rgb = np.clip(rgb if sight is None else rgb @ sight.T, 0.0, 1.0)
    return 116.0 * np.cbrt(rgb @ np.array([0.2126, 0.7152, 0.0722])) - 16.0


@pytest.mark.parametrize("ramp", PUBLISHED)
def test_published_colours(ramp):
    colours = ramp_colours(ramp).astype(int)
    for index, wanted in zip((0, 127, 255), PUBLISHED[ramp], strict=True):
        assert np.abs(colours[index] - wanted).max() <= 16


@pytest.mark.parametrize("ramp", PUBLISHED)
@pytest.mark.parametrize("sight", [None, DEUTERANOPIA], ids=["full", "deuteranopia"])
def test_lightness_rises_steadily(ramp, sight):
    steps = np.diff(lightness(ramp_colours(ramp)[::8], sight))
    assert steps.min() > 0.5
    assert steps.max() < 5.5
