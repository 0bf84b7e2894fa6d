"""Dual quaternions against rigid matrices."""

import numpy as np

from sinew.sim.maths import dual_quaternion as DQ
from sinew.sim.maths import quaternion as Q
from sinew.sim.maths.transform import compose


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


def test_blend_of_one_is_that_one():
    motions, _ = random_motions(5, 5)
    weights = np.eye(4)[[0, 1, 2, 3, 0]]
    blended = DQ.normalised(DQ.blend(np.repeat(motions[:, None], 4, axis=1), weights))
    np.testing.assert_allclose(np.abs(blended), np.abs(motions), atol=1e-13)


def test_blend_does_not_depend_on_signs():
    motions, _ = random_motions(4, 6)
    weights = np.array([0.2, 0.4, 0.3, 0.1])
    plain = DQ.to_matrix(DQ.normalised(DQ.blend(motions, weights)))
    for signs in ([1, -1, 1, 1], [-1, -1, 1, -1], [-1, 1, -1, -1]):
        flipped = motions * np.array(signs, dtype=float)[:, None, None]
        np.testing.assert_allclose(DQ.to_matrix(DQ.normalised(DQ.blend(flipped, weights))), plain, atol=1e-12)
    np.testing.assert_allclose(plain[:3, :3] @ plain[:3, :3].T, np.eye(3), atol=1e-13)


def test_blend_of_two_turns_about_one_axis_is_half_way():
    turn = Q.from_axis_angle(np.array([[0.0, 0, 1], [0, 0, 1]]), np.array([0.2, 1.4]))
    motions = DQ.from_rotation_translation(turn, np.zeros((2, 3)))
    half = DQ.normalised(DQ.blend(motions, np.array([0.5, 0.5])))
    np.testing.assert_allclose(half[0], Q.from_axis_angle([0.0, 0.0, 1.0], 0.8), atol=1e-14)


def test_blend_follows_a_screw_about_a_distant_axis():
    # A turn about (3, 0, 0) keeps every point's distance from that axis, however it is blended.
    axis_point, turn = np.array([3.0, 0.0, 0.0]), Q.from_axis_angle([0.0, 0.0, 1.0], 2.0)
    motions = DQ.from_rotation_translation(
        np.stack([Q.IDENTITY, turn]), np.stack([np.zeros(3), axis_point - Q.rotate(turn, axis_point)])
    )
    point = np.array([3.0, 5.0, 0.0])
    for share in (0.1, 0.3, 0.5, 0.9):
        moved = DQ.transform_points(DQ.normalised(DQ.blend(motions, np.array([1 - share, share]))), point)
        np.testing.assert_allclose(np.linalg.norm(moved - axis_point), 5.0, atol=1e-13)
