"""Quaternion algebra against matrices and its own laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.maths import quaternion as Q

component = st.floats(-1.0, 1.0).map(lambda value: round(value, 5))
unit = st.tuples(*[component] * 4).map(np.array).filter(lambda q: np.linalg.norm(q) > 0.1).map(Q.normalised)
vector = st.tuples(*[st.floats(-100.0, 100.0).map(lambda value: round(value, 3))] * 3).map(np.array)
fraction = st.integers(0, 1000).map(lambda value: value / 1000.0)


def same_turn(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.all(np.abs(np.abs(np.sum(a * b, axis=-1)) - 1.0) < 1e-12))


@given(unit, unit, vector)
def test_product_turns_by_the_right_factor_first(a, b, v):
    np.testing.assert_allclose(Q.rotate(Q.multiply(a, b), v), Q.rotate(a, Q.rotate(b, v)), atol=1e-10)


@given(unit, unit, unit)
def test_product_is_associative(a, b, c):
    left, right = Q.multiply(Q.multiply(a, b), c), Q.multiply(a, Q.multiply(b, c))
    np.testing.assert_allclose(left, right, atol=1e-13)


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


@given(unit)
def test_matrix_and_back(q):
    back = Q.from_matrix(Q.to_matrix(q))
    assert back[3] >= 0.0
    assert same_turn(back, q)


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


@given(unit, unit)
def test_slerp_ends_are_its_arguments(a, b):
    np.testing.assert_allclose(Q.slerp(a, b, 0.0), a, atol=1e-12)
    assert same_turn(Q.slerp(a, b, 1.0), b)


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
    arcs = Q.arc(steps[:-1], steps[1:])
    np.testing.assert_allclose(arcs, arcs.mean(), atol=1e-7)


@pytest.mark.parametrize("angle", [0.0, 1e-140, 1e-12, 1e-9, 1e-8, 1e-6, 1e-3])
def test_slerp_between_nearly_equal_turns(angle):
    a, b = Q.IDENTITY, Q.from_axis_angle([0.0, 0.0, 1.0], angle)
    middle = Q.slerp(a, b, 0.25)
    np.testing.assert_allclose(middle, [0.0, 0.0, angle / 8.0, 1.0], rtol=1e-6, atol=1e-16)


def test_slerp_of_batches_broadcasts():
    random = np.random.default_rng(3)
    a, b = (Q.normalised(random.normal(size=(7, 1, 4))) for _ in range(2))
    many = Q.slerp(a, b, np.linspace(0.0, 1.0, 5))
    assert many.shape == (7, 5, 4)
    np.testing.assert_allclose(many[3, 2], Q.slerp(a[3, 0], b[3, 0], 0.5), atol=1e-15)


def test_axis_angle_turns_counter_clockwise_and_ignores_the_length_of_the_axis():
    quarter = Q.from_axis_angle([0.0, 0.0, 7.0], np.pi / 2)
    np.testing.assert_allclose(Q.rotate(quarter, np.array([1.0, 0.0, 0.0])), [0, 1, 0], atol=1e-15)
    np.testing.assert_array_equal(Q.from_axis_angle([0.0, 0.0, 0.0], 2.0), [0, 0, 0, 1])


def test_euler_angles_turn_about_fixed_x_then_y_then_z():
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
