import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays

from sinew.sim.colliders.ellipsoid_oracle import ellipsoid_distance
from sinew.sim.colliders.oracle import (
    EARTH,
    REST,
    Contact,
    bounce,
    collider_contact,
    contact_velocity,
    local_points,
    proximity,
)
from sinew.sim.colliders.outline import Outline, outline
from sinew.sim.colliders.state import RIGID_SHAPES, ColliderShape, ColliderState
from tests.conftest import slow
from tests.oracles.collider_motion import world_points
from tests.oracles.contact import resolve
from tests.oracles.shapes import Float64, closest_point, outward_normal, signed_distance
from tests.oracles.sweep import NEVER, SWEEP_SLOP, sweep, swept_contact
from tests.unit.colliders.cases import SIZES, SOLIDS, collider, placed

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


@pytest.mark.parametrize("shape", RIGID_SHAPES)
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


def test_friction_takes_its_part_of_the_impulse_and_never_turns_the_motion_round() -> None:
    sliding = np.array([[3.0, -2.0, 4.0]])  # 5 m/s along, 2 m/s into the surface
    np.testing.assert_allclose(contact_velocity(sliding, touch(0.5), SUBSTEP), [[2.4, 0.0, 3.2]], atol=1e-14)
    np.testing.assert_allclose(contact_velocity(sliding, touch(0.5, 0.5), SUBSTEP), [[2.1, 1.0, 2.8]], atol=1e-14)
    np.testing.assert_allclose(contact_velocity(sliding, touch(9.0), SUBSTEP), np.zeros((1, 3)), atol=1e-14)
    # The same slide, seen from elsewhere.
    moving = contact_velocity(np.array([[4.0, 3.0, 2.0]]), touch(0.5, 0.5, (1.0, 5.0, -2.0)), SUBSTEP)
    np.testing.assert_allclose(moving, [[3.1, 6.0, 0.8]], atol=1e-14)
    leaving = np.array([[1.0, 0.5, 2.0]])
    np.testing.assert_array_equal(contact_velocity(leaving, touch(10.0, 0.5), SUBSTEP), leaving)
    for acceleration in (EARTH, 0.01 * EARTH, 100.0 * EARTH):
        limit = REST * acceleration * SUBSTEP
        slow, fast = np.array([[0.0, -0.99 * limit, 0.0]]), np.array([[0.0, -1.01 * limit, 0.0]])
        rests = contact_velocity(slow, touch(0.0, 1.0), SUBSTEP, acceleration)
        assert rests[0, 1] == pytest.approx(0.0, abs=1e-15)
        np.testing.assert_allclose(contact_velocity(fast, touch(0.0, 1.0), SUBSTEP, acceleration), -fast)


@pytest.mark.parametrize("restitution", [0.0, 0.9])
def test_rest_is_quiet(restitution: float) -> None:
    """Ten seconds after a drop of 1 m the kinetic energy is under 1e-6 of that of the drop, whatever the bounce."""
    state = collider(ColliderShape.BOX, placed((0.0, -0.2, 0.0)), restitution=restitution, friction=0.4)
    path = settle([state], np.array([[0.3, 1.0, 0.1]]), 10.0, 0.01, 1.0 / 120.0)
    speeds = np.linalg.norm(np.diff(np.array(path[-100:])[:, 0], axis=0), axis=1) * 120.0
    assert 0.5 * speeds.max() ** 2 < 1e-6 * 9.81
    np.testing.assert_allclose(path[-1][0, 1], 0.01, atol=1e-9)


@pytest.mark.parametrize(("friction", "slides"), [(0.6, False), (0.5, True)])
def test_a_point_on_a_slope_slides_if_and_only_if_the_slope_is_steeper_than_the_friction(friction, slides):
    angle = np.radians(30.0)  # tan = 0.577
    state = collider(ColliderShape.PLANE, placed((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), angle), friction=friction)
    path = np.array(settle([state], np.zeros((1, 3)), 1.0, 0.0))[:, 0]
    travelled = np.linalg.norm(path[-1] - path[0])
    expected = 0.5 * 9.81 * (np.sin(angle) - friction * np.cos(angle)) if slides else 0.0
    assert travelled == pytest.approx(expected, rel=0.01, abs=1e-4)


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


STEP = STEP = 1.0 / 60.0
EVERY_SHAPE = pytest.mark.parametrize("shape", RIGID_SHAPES)
STILL = placed((0.1, -0.1, 0.2), (0.3, 1.0, 0.4), 0.9)


def moving(shape: ColliderShape, turn: float = 0.0) -> ColliderState:
    return collider(shape, placed((0.4, 0.1, 0.0), (1, 0, 1), 0.5), placed((-0.4, 0.3, 0.3), (1, 0, 1), 0.5 + turn))


def paths(state: ColliderState, count: int = 500, length: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(6)
    begin = random.normal(size=(4 * count, 3))
    begin *= random.uniform(0.5, 2.0, (4 * count, 1)) / np.linalg.norm(begin, axis=1, keepdims=True)
    begin = begin[signed_distance(state.shape, state.size, begin) > 2.0 * SWEEP_SLOP][:count]
    finish = begin + random.normal(size=begin.shape) * random.uniform(0.0, length, (len(begin), 1))
    return world_points(state, begin, 0.0), world_points(state, finish, 1.0)


def sampled(state: ColliderState, start: np.ndarray, end: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Distances (T, n) along the straight paths in the frame of the collider."""
    begin, finish = local_points(state, start, 0.0), local_points(state, end, 1.0)
    return np.array([signed_distance(state.shape, state.size, begin + t * (finish - begin)) for t in times])


@EVERY_SHAPE
@pytest.mark.parametrize("travels", [slow(False), True])
def test_entries_are_found_where_sampling_finds_them(shape: ColliderShape, travels: bool) -> None:
    state = moving(shape, 0.6) if travels else collider(shape, STILL)
    start, end = paths(state)
    hit = sweep(state, start, end, 0.0, 1.0)
    times = np.linspace(0.0, 1.0, 401)
    distances = sampled(state, start, end, times)
    enters = distances.min(axis=0) < 0.0
    first = times[np.argmax(distances < 0.0, axis=0)]
    assert enters.any()
    np.testing.assert_array_equal(hit.found[enters], True)
    missed_clearly = distances.min(axis=0) > 1e-3
    np.testing.assert_array_equal(hit.found[missed_clearly], False)
    np.testing.assert_array_equal(hit.time[missed_clearly], NEVER)
    assert np.all(hit.time[enters] <= first[enters])
    assert np.all(hit.time[enters] >= first[enters] - 1.0 / 400.0)


@EVERY_SHAPE
@pytest.mark.parametrize("travels", [False, True])
def test_nothing_passes_through_at_any_speed(shape: ColliderShape, travels: bool) -> None:
    """Up to 360 m/s against a collider at 54 m/s, 60 steps a second: every path that enters ends on its own side."""
    state = moving(shape) if travels else collider(shape, STILL)
    start, end = paths(state, length=6.0)
    contact = swept_contact(state, start, end, 0.0, 1.0, STEP, STEP)
    position, _ = resolve(end, start, contact, 0.005, STEP)
    hit = sweep(state, start, end, 0.0, 1.0)
    side = np.sum((position - hit.point) * hit.normal, axis=1)
    np.testing.assert_allclose(side[hit.found], 0.005, atol=1e-9)
    distance = collider_contact(state, position, 1.0, STEP, STEP).distance
    assert distance.min() > 0.005 - 1e-9  # the tangent plane of a convex solid lies outside it


@EVERY_SHAPE
def test_a_path_that_begins_inside_or_leaves_does_not_enter(shape: ColliderShape) -> None:
    state = collider(shape)
    inside = np.random.default_rng(4).normal(size=(400, 3)) * 0.2
    inside = inside[signed_distance(shape, state.size, inside) < -2.0 * SWEEP_SLOP]
    assert len(inside) > 20
    assert not sweep(state, inside, inside * 20.0, 0.0, 1.0).found.any()
    still = np.array([[0.1, 3.0, 0.2]])
    assert not sweep(state, still, still, 0.0, 1.0).found.any()
    start, end = paths(state)
    entering = sweep(state, start, end, 0.0, 1.0).found
    assert not sweep(state, start, start + (start - world_points(state, np.zeros((1, 3)), 0.0)), 0.0, 1.0).found.any()
    assert entering.any()


@EVERY_SHAPE
def test_sliding_on_the_surface_does_not_stick(shape: ColliderShape) -> None:
    """A point at rest on the surface, a hair outside or inside by rounding, that is pushed along and slightly in."""
    state = collider(shape, STILL)
    outside = np.random.default_rng(7).normal(size=(600, 3)) * 1.5
    local = outward_normal(shape, state.size, local_points(state, outside, 0.0))
    # Across the edges of a box a tangent of one place leads into the face beside it.
    smooth = (shape is not ColliderShape.BOX) | (np.abs(local).max(axis=1) == 1.0)
    outside = outside[np.broadcast_to(smooth, len(outside))]
    near = collider_contact(state, outside, 0.0, STEP, STEP)
    for lift in (1e-8, 0.0, -1e-8):
        start = outside + (lift - near.distance)[:, None] * near.normal
        across = np.cross(near.normal, [0.36, 0.48, 0.8])
        end = start + 0.02 * across - 3e-4 * near.normal
        contact = swept_contact(state, start, end, 0.0, 1.0, STEP, STEP)
        position, previous = resolve(end, start, contact, 0.0, STEP)
        slid = np.sum((position - start) * across, axis=1) / np.sum(across * across, axis=1)
        assert slid.min() > 0.0199
        cached = np.sum((position - previous) * across, axis=1) / np.sum(across * across, axis=1)
        assert cached.min() > 0.0199


def test_a_swatting_box_takes_the_point_with_it() -> None:
    """A thin wall at 120 m/s over a point at rest: it gets through in one step, and the point must be before it."""
    size = np.array([0.01, 1.0, 1.0])
    wall = ColliderState(ColliderShape.BOX, size, placed((-1.0, 0.0, 0.0)), placed((1.0, 0.0, 0.0)))
    point = np.array([[0.3, 0.2, -0.1]])
    contact = swept_contact(wall, point, point, 0.0, 1.0, STEP, STEP)
    position, previous = resolve(point, point, contact, 0.002, STEP)
    np.testing.assert_allclose(position, [[1.012, 0.2, -0.1]], atol=1e-12)
    np.testing.assert_allclose((position - previous) / STEP, [[120.0, 0.0, 0.0]], atol=1e-9)


def points_around(shape: ColliderShape, count: int = 2000) -> Float64:
    random = np.random.default_rng(3)
    return random.normal(size=(count, 3)) * random.uniform(0.05, 1.5, (count, 1))


def implicit(shape: ColliderShape, p: Float64) -> Float64:
    size = np.array(SIZES[shape])
    if shape is ColliderShape.PLANE:
        return p[:, 1]
    if shape is ColliderShape.SPHERE:
        return np.linalg.norm(p, axis=1) - size[0]
    if shape is ColliderShape.ELLIPSOID:
        return np.sum((p / size) ** 2, axis=1) - 1.0
    if shape is ColliderShape.BOX:
        return np.max(np.abs(p) - size, axis=1)
    past_end = np.maximum(np.abs(p[:, 1]) - size[1], 0.0)
    return np.sqrt(p[:, 0] ** 2 + p[:, 2] ** 2 + past_end**2) - size[0]


@EVERY_SHAPE
def test_closest_points_lie_on_the_surface_at_that_distance(shape: ColliderShape) -> None:
    points = points_around(shape)
    size = np.array(SIZES[shape])
    distance, normal = proximity(shape, size, points)
    closest = closest_point(shape, size, points)
    np.testing.assert_array_equal(distance < 0.0, implicit(shape, points) < 0.0)
    np.testing.assert_allclose(implicit(shape, closest), 0.0, atol=1e-11)
    np.testing.assert_allclose(np.linalg.norm(points - closest, axis=1), np.abs(distance), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, atol=1e-13)


@EVERY_SHAPE
def test_no_surface_point_is_closer(shape: ColliderShape) -> None:
    size = np.array(SIZES[shape])
    cloud = closest_point(shape, size, points_around(shape, 4000))
    points = points_around(shape, 200)
    apart = np.linalg.norm(points[:, None] - cloud[None], axis=2).min(axis=1)
    distance = np.abs(signed_distance(shape, size, points))
    assert np.all(distance <= apart + 1e-12)
    assert np.quantile(apart - distance, 0.9) < 0.02


@EVERY_SHAPE
def test_normal_is_the_gradient_of_the_distance(shape: ColliderShape) -> None:
    size, points, step = np.array(SIZES[shape]), points_around(shape, 300), 1e-6
    gradient = np.stack(
        [
            (signed_distance(shape, size, points + step * axis) - signed_distance(shape, size, points - step * axis))
            / (2.0 * step)
            for axis in np.eye(3)
        ],
        axis=1,
    )
    normal = outward_normal(shape, size, points)
    smooth = np.abs(np.linalg.norm(gradient, axis=1) - 1.0) < 1e-3  # not across an edge of the distance field
    assert smooth.mean() > 0.98
    np.testing.assert_allclose(gradient[smooth], normal[smooth], atol=2e-4)


@given(arrays(np.float64, 3, elements=st.floats(-3.0, 3.0)), st.tuples(*[st.floats(0.01, 10.0)] * 3))
def test_any_ellipsoid_satisfies_the_conditions_of_the_closest_point(point: Float64, axes: tuple[float, ...]) -> None:
    size = np.array(axes)
    distance, normal = ellipsoid_distance(point[None], size)
    closest = point - distance[0] * normal[0]
    scale = max(size.max(), 3.0)
    assert np.sum((closest / size) ** 2) == pytest.approx(1.0, abs=1e-8 * scale / size.min())
    gradient = closest / size**2
    np.testing.assert_allclose(normal[0], gradient / np.linalg.norm(gradient), atol=1e-7 * scale / size.min())


def made(shape: ColliderShape) -> tuple[Outline, np.ndarray, np.ndarray]:
    """Outline, and corners (T, 3, 3) and face normals (T, 3) of its triangles."""
    mesh = outline(shape, np.array(SIZES[shape]))
    corners = mesh.positions.astype(np.float64)[mesh.triangles]
    return mesh, corners, np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


@pytest.mark.parametrize("shape", RIGID_SHAPES)
def test_vertices_lie_on_the_surface_with_its_normals(shape: ColliderShape) -> None:
    mesh, _, faces = made(shape)
    mean = mesh.normals.astype(np.float64)[mesh.triangles].mean(axis=1)
    assert np.all(np.sum(faces * mean, axis=1) > 1e-7), "triangles face outwards"
    points, normals = mesh.positions.astype(np.float64), mesh.normals.astype(np.float64)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-6)
    size, above = np.array(SIZES[shape]), points + 0.05 * normals
    np.testing.assert_allclose(closest_point(shape, size, above), points, atol=1e-6)
    np.testing.assert_allclose(signed_distance(shape, size, above), 0.05, atol=1e-6)


@pytest.mark.parametrize("shape", SOLIDS)
def test_solids_are_closed(shape: ColliderShape) -> None:
    _, corners, _ = made(shape)
    _, place = np.unique(np.round(corners.reshape(-1, 3) / 1e-5).astype(np.int64), axis=0, return_inverse=True)
    loop = place.reshape(-1, 3)
    edges = np.concatenate([loop[:, [0, 1]], loop[:, [1, 2]], loop[:, [2, 0]]])
    assert len(np.unique(edges, axis=0)) == len(edges)
    assert {tuple(edge) for edge in edges} == {tuple(edge[::-1]) for edge in edges}
