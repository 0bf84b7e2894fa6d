"""What a touch does to a point: positions, bounces, friction and rest, by known answers."""

import numpy as np
import pytest

from sinew.sim.colliders.state import ColliderShape, ColliderState
from tests.oracles.collider_motion import world_points
from tests.oracles.contact import RESTING_ACCELERATION, Contact, bounce, collider_contact, contact_velocity, resolve
from tests.unit.colliders.cases import SIZES, collider, placed

FRAME, SUBSTEP, GRAVITY = 1.0 / 60.0, 1.0 / 600.0, np.array([0.0, -9.81, 0.0])
UP = np.array([[0.0, 1.0, 0.0]])


def touch(friction: float = 0.0, restitution: float = 0.0, velocity: tuple[float, ...] = (0.0, 0.0, 0.0)) -> Contact:
    return Contact(np.array([-0.01]), UP, np.array([velocity]), friction, restitution)


def settle(
    states: list[ColliderState], position: np.ndarray, seconds: float, thickness: float, substep: float = SUBSTEP
) -> list[np.ndarray]:
    """Position Verlet under gravity with nothing but the colliders; the points of every substep."""
    previous, path = position.copy(), [position]
    for _ in range(round(seconds / substep)):
        position, previous = 2.0 * position - previous + substep**2 * GRAVITY, position
        for state in states:
            contact = collider_contact(state, position, 1.0, FRAME, substep)
            position, previous = resolve(position, previous, contact, thickness, substep)
        path.append(position)
    return path


@pytest.mark.parametrize("shape", ColliderShape)
def test_a_point_inside_is_put_on_the_surface_along_its_true_normal(shape: ColliderShape) -> None:
    state = collider(shape, placed((0.2, 0.1, -0.3), (1.0, 1.0, 0.2), 0.8))
    local = np.random.default_rng(2).normal(size=(300, 3)) * 0.4
    points = world_points(state, local, 0.0)
    contact = collider_contact(state, points, 0.0, FRAME, SUBSTEP)
    position, _ = resolve(points, points, contact, 0.005, SUBSTEP)
    after = collider_contact(state, position, 0.0, FRAME, SUBSTEP)
    moved = contact.distance < 0.005
    assert moved.any()
    np.testing.assert_allclose(after.distance[moved], 0.005, atol=1e-11)
    np.testing.assert_allclose(after.normal[moved], contact.normal[moved], atol=1e-6)
    np.testing.assert_array_equal(position[~moved], points[~moved])


def test_points_out_of_reach_keep_position_and_velocity() -> None:
    contact = Contact(np.array([0.02]), UP, np.zeros((1, 3)), 0.5, 0.5)
    position, previous = np.array([[1.0, 0.02, 0.0]]), np.array([[0.9, 0.1, 0.0]])
    for got, sent in zip(resolve(position, previous, contact, 0.01, SUBSTEP), (position, previous), strict=True):
        np.testing.assert_array_equal(got, sent)
    for got, sent in zip(bounce(position, previous, contact, 0.01, SUBSTEP), (position, previous), strict=True):
        np.testing.assert_array_equal(got, sent)


@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
def test_an_impact_gives_back_its_part_of_the_speed(restitution: float) -> None:
    velocity = contact_velocity(np.array([[1.0, -3.0, 2.0]]), touch(0.0, restitution), SUBSTEP)
    np.testing.assert_allclose(velocity, [[1.0, 3.0 * restitution, 2.0]], atol=1e-14)


def test_what_leaves_is_left_alone() -> None:
    """No sticking: friction too acts only while pressing."""
    velocity = np.array([[1.0, 0.5, 2.0]])
    np.testing.assert_array_equal(contact_velocity(velocity, touch(10.0, 0.5), SUBSTEP), velocity)


def test_friction_takes_its_part_of_the_impulse_and_never_turns_the_motion_round() -> None:
    sliding = np.array([[3.0, -2.0, 4.0]])  # 5 m/s along, 2 m/s into the surface
    np.testing.assert_allclose(contact_velocity(sliding, touch(0.5), SUBSTEP), [[2.4, 0.0, 3.2]], atol=1e-14)
    np.testing.assert_allclose(contact_velocity(sliding, touch(0.5, 0.5), SUBSTEP), [[2.1, 1.0, 2.8]], atol=1e-14)
    np.testing.assert_allclose(contact_velocity(sliding, touch(9.0), SUBSTEP), np.zeros((1, 3)), atol=1e-14)


def test_everything_is_relative_to_the_surface() -> None:
    velocity = np.array([[4.0, 3.0, 2.0]])  # the slide of the test above, seen from elsewhere
    moving = contact_velocity(velocity, touch(0.5, 0.5, (1.0, 5.0, -2.0)), SUBSTEP)
    np.testing.assert_allclose(moving, [[3.1, 6.0, 0.8]], atol=1e-14)


def test_a_series_of_bounces_loses_the_same_part_of_the_energy_each_time() -> None:
    restitution, height = 0.8, 1.0
    path = np.array([p[0, 1] for p in settle([collider(ColliderShape.PLANE, restitution=restitution)],
                                              np.array([[0.0, height, 0.0]]), 4.0, 0.0)])  # fmt: skip
    tops = path[1:-1][(path[1:-1] > path[:-2]) & (path[1:-1] >= path[2:])]
    assert len(tops) >= 4
    np.testing.assert_allclose(tops[1:4] / tops[:3], restitution**2, rtol=0.03)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9])
def test_rest_is_quiet(restitution: float) -> None:
    """Ten seconds after a drop of 1 m the kinetic energy is under 1e-6 of that of the drop, whatever the bounce."""
    state = collider(ColliderShape.BOX, placed((0.0, -0.2, 0.0)), restitution=restitution, friction=0.4)
    path = settle([state], np.array([[0.3, 1.0, 0.1]]), 10.0, 0.01, 1.0 / 120.0)
    speeds = np.linalg.norm(np.diff(np.array(path[-100:])[:, 0], axis=0), axis=1) * 120.0
    assert 0.5 * speeds.max() ** 2 < 1e-6 * 9.81
    np.testing.assert_allclose(path[-1][0, 1], 0.01, atol=1e-9)


@pytest.mark.parametrize(("friction", "slides"), [(0.6, False), (0.5, True)])
def test_a_point_on_a_slope_slides_if_and_only_if_the_slope_is_steeper_than_the_friction(
    friction: float, slides: bool
) -> None:
    angle = np.radians(30.0)  # tan = 0.577
    state = collider(ColliderShape.PLANE, placed((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), angle), friction=friction)
    path = np.array(settle([state], np.zeros((1, 3)), 1.0, 0.0))[:, 0]
    travelled = np.linalg.norm(path[-1] - path[0])
    expected = 0.5 * 9.81 * (np.sin(angle) - friction * np.cos(angle)) if slides else 0.0
    assert travelled == pytest.approx(expected, rel=0.01, abs=1e-4)


def test_a_moving_belt_carries_what_lies_on_it() -> None:
    """Friction brings a point to the speed of the surface, and not beyond."""
    speed, position = 2.0, np.array([[0.0, 0.0, 0.0]])
    previous, last = position.copy(), position
    for step in range(600):
        start, end = placed((speed * step * FRAME, 0.0, 0.0)), placed((speed * (step + 1) * FRAME, 0.0, 0.0))
        belt = collider(ColliderShape.PLANE, start, end, friction=0.5)
        last = position
        position, previous = 2.0 * position - previous + FRAME**2 * GRAVITY, position
        contact = collider_contact(belt, position, 1.0, FRAME, FRAME)
        position, previous = resolve(position, previous, contact, 0.0, FRAME)
        assert (position - last)[0, 0] / FRAME <= speed + 1e-9
    np.testing.assert_allclose((position - last)[0] / FRAME, [speed, 0.0, 0.0], atol=1e-9)


def test_a_rising_floor_lifts_and_lets_go() -> None:
    position = np.zeros((1, 3))
    previous = position.copy()
    for step in range(30):
        floor = collider(ColliderShape.PLANE, placed((0.0, step * 0.05, 0.0)), placed((0.0, (step + 1) * 0.05, 0.0)))
        position, previous = 2.0 * position - previous + FRAME**2 * GRAVITY, position
        position, previous = resolve(
            position, previous, collider_contact(floor, position, 1.0, FRAME, FRAME), 0.0, FRAME
        )
        assert position[0, 1] == pytest.approx((step + 1) * 0.05, abs=1e-12)
    assert (position - previous)[0, 1] / FRAME == pytest.approx(3.0, abs=1e-9)


def test_both_answers_agree() -> None:
    random = np.random.default_rng(8)
    state = collider(ColliderShape.ELLIPSOID, placed((0.1, 0.0, 0.0)), placed((0.2, 0.1, 0.0)), friction=0.4,
                     restitution=0.6)  # fmt: skip
    points, velocity = random.normal(size=(200, 3)) * 0.6, random.normal(size=(200, 3)) * 4.0
    contact = collider_contact(state, points, 0.5, FRAME, SUBSTEP)
    position, previous = resolve(points, points - SUBSTEP * velocity, contact, 0.01, SUBSTEP)
    other, answered = bounce(points, velocity, contact, 0.01, SUBSTEP)
    np.testing.assert_allclose(position, other, atol=1e-12)
    np.testing.assert_allclose((position - previous) / SUBSTEP, answered, atol=1e-9)


def test_slow_approach_does_not_bounce() -> None:
    limit = RESTING_ACCELERATION * SUBSTEP
    below = contact_velocity(np.array([[0.0, -0.99 * limit, 0.0]]), touch(0.0, 1.0), SUBSTEP)
    above = contact_velocity(np.array([[0.0, -1.01 * limit, 0.0]]), touch(0.0, 1.0), SUBSTEP)
    assert below[0, 1] == pytest.approx(0.0, abs=1e-15)
    assert above[0, 1] == pytest.approx(1.01 * limit)


def test_sizes_of_the_cases_fit_the_shapes() -> None:
    assert set(SIZES) == set(ColliderShape)
