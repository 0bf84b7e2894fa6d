"""Motion over a step: ends, constant speed, and the velocity of the surface."""

import numpy as np
import pytest

from sinew.sim.colliders.pack import motion_of
from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.maths import quaternion
from sinew.sim.maths.transform import transform_points
from tests.oracles.collider_motion import local_points, velocity_at, world_points
from tests.unit.colliders.cases import collider, placed

MOVING = collider(
    ColliderShape.BOX, placed((0.1, 0.2, 0.3), (1.0, 2.0, -1.0), 0.4), placed((0.3, 0.1, 0.35), (2.0, -1.0, 0.5), 1.5)
)
POINTS = np.random.default_rng(5).normal(size=(50, 3))


@pytest.mark.parametrize(("fraction", "matrix"), [(0.0, MOVING.world_from_start), (1.0, MOVING.world_from_end)])
def test_it_begins_and_ends_where_it_is_told(fraction: float, matrix: np.ndarray) -> None:
    np.testing.assert_allclose(world_points(MOVING, POINTS, fraction), transform_points(matrix, POINTS), atol=1e-14)


def test_local_and_world_are_inverse_at_every_moment() -> None:
    for fraction in np.linspace(0.0, 1.0, 7):
        there = local_points(MOVING, POINTS, fraction)
        np.testing.assert_allclose(world_points(MOVING, there, fraction), POINTS, atol=1e-14)


def test_the_turn_is_steady_and_the_shorter_one() -> None:
    turned = collider(ColliderShape.BOX, placed((0, 0, 0)), placed((0, 0, 0), (0, 0, 1), np.radians(270.0)))
    motion = motion_of(turned)
    assert motion.angle[0] == pytest.approx(np.pi / 2.0)
    for fraction in (0.25, 0.5):
        _, orientation = motion.at(fraction)
        expected = quaternion.from_axis_angle((0, 0, -1), fraction * np.pi / 2.0)
        np.testing.assert_allclose(orientation[0], expected, atol=1e-14)


def test_velocity_is_the_difference_of_positions_over_the_substep() -> None:
    """Of points that move with the solid; the error is ω³ h² r / 6 of the turn."""
    frame_time, fraction = 1.0 / 60.0, 0.7
    errors = []
    for substep in (frame_time / 10.0, frame_time / 20.0):
        now = world_points(MOVING, POINTS, fraction)
        before = world_points(MOVING, POINTS, fraction - substep / frame_time)
        velocity = velocity_at(MOVING, now, fraction, frame_time, substep)
        errors.append(np.abs(velocity - (now - before) / substep).max())
    spin, reach = motion_of(MOVING).angle[0] / frame_time, np.linalg.norm(POINTS, axis=1).max() + 0.4
    assert errors[0] <= spin**3 * (frame_time / 10.0) ** 2 * reach / 6.0
    assert errors[1] < errors[0] / 3.5


def test_what_stands_still_has_no_velocity_and_does_not_move_by_rounding() -> None:
    matrix = placed((3.1, -2.7, 0.9), (1.0, 0.3, -0.7), 2.1)
    still = ColliderState(ColliderShape.SPHERE, np.array([1.0, 0.0, 0.0]), matrix, matrix)
    assert motion_of(still).angle[0] == 0.0
    np.testing.assert_array_equal(velocity_at(still, POINTS, 0.5, 1.0 / 60.0, 1.0 / 600.0), np.zeros((50, 3)))
    np.testing.assert_array_equal(world_points(still, POINTS, 0.3), world_points(still, POINTS, 0.9))


def test_no_time_means_no_velocity() -> None:
    np.testing.assert_array_equal(velocity_at(MOVING, POINTS, 0.5, 0.0, 0.001), np.zeros((50, 3)))
