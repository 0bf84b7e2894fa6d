"""Affine matrices: composition, inverse and decompositions."""

import numpy as np
import pytest

from sinew.sim.maths import quaternion as Q
from sinew.sim.maths import transform as T
from sinew.sim.scene.transform import Transform, node_matrix

ROUNDING = 1e-14
"""Products of one matrix and of many may be summed in another order."""


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
    parts = random_parts(10, 4)
    position, turn, scale = T.decompose(T.compose(*parts))
    np.testing.assert_allclose(position, parts[0])
    np.testing.assert_allclose(scale, parts[2], atol=1e-13)
    np.testing.assert_allclose(np.abs(np.sum(turn * parts[1], axis=1)), 1.0, atol=1e-13)


def test_decompose_of_a_mirroring_matrix_composes_again():
    mirror = T.compose(np.zeros(3), Q.from_euler_degrees((10, 20, 30)), np.array([-2.0, 2.0, 2.0]))
    np.testing.assert_allclose(T.compose(*T.decompose(mirror)), mirror, atol=1e-13)


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


def test_polar_of_a_rotation_is_that_rotation():
    rotation = Q.to_matrix(Q.from_euler_degrees((30, 40, 50)))
    turned, stretch = T.polar(rotation)
    np.testing.assert_allclose(turned, rotation, atol=1e-14)
    np.testing.assert_allclose(stretch, np.eye(3), atol=1e-14)


def test_polar_is_steady_near_a_mirror():
    mirror = np.diag([-1.0, 1.0, 1.0])
    nudged, _ = T.polar(mirror + 1e-6 * np.random.default_rng(0).normal(size=(20, 3, 3)))
    np.testing.assert_allclose(nudged, np.broadcast_to(np.diag([1.0, -1.0, -1.0]), (20, 3, 3)), atol=1e-5)


def test_node_matrix_scales_then_turns_about_x_y_z_then_moves():
    matrix = node_matrix(Transform(position=(1.0, 2.0, 3.0), rotation=(-90.0, 0.0, 0.0), scale=(1.0, 1.0, 2.0)))
    moved = T.transform_points(matrix, np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    np.testing.assert_allclose(moved, [[1, 4, 3], [1, 2, 2]], atol=1e-15)
