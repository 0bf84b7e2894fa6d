"""Continuous collision: entries against dense sampling of the path, and nothing gets through."""

import numpy as np
import pytest

from sinew.sim.colliders.state import ColliderShape, ColliderState
from tests.oracles.collider_motion import local_points, world_points
from tests.oracles.contact import collider_contact, resolve
from tests.oracles.shapes import outward_normal, safe_depth, signed_distance
from tests.oracles.sweep import NEVER, SWEEP_SLOP, sweep, swept_contact
from tests.unit.colliders.cases import SOLIDS, collider, placed

FRAME = SUBSTEP = 1.0 / 60.0
EVERY_SHAPE = pytest.mark.parametrize("shape", ColliderShape)
STILL = placed((0.1, -0.1, 0.2), (0.3, 1.0, 0.4), 0.9)


def moving(shape: ColliderShape, turn: float = 0.0) -> ColliderState:
    """Travels 0.9 m within the frame, 54 m/s."""
    return collider(shape, placed((0.4, 0.1, 0.0), (1, 0, 1), 0.5), placed((-0.4, 0.3, 0.3), (1, 0, 1), 0.5 + turn))


def paths(state: ColliderState, count: int = 500, length: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    """Paths from outside through the neighbourhood of the collider, up to 360 m/s; world, at both ends of the step."""
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
@pytest.mark.parametrize("travels", [False, True])
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
def test_the_entry_lies_on_the_surface_and_faces_the_path(shape: ColliderShape) -> None:
    state = moving(shape)
    start, end = paths(state)
    hit = sweep(state, start, end, 0.0, 1.0)
    contact = collider_contact(state, hit.point[hit.found], 1.0, FRAME, SUBSTEP)
    np.testing.assert_allclose(contact.distance, 0.0, atol=1e-9)
    np.testing.assert_allclose(contact.normal, hit.normal[hit.found], atol=1e-6)
    behind = np.sum((end - hit.point) * hit.normal, axis=1)[hit.found]
    assert np.all(behind < 0.0)


@EVERY_SHAPE
@pytest.mark.parametrize("travels", [False, True])
def test_nothing_passes_through_at_any_speed(shape: ColliderShape, travels: bool) -> None:
    """Up to 360 m/s against a collider at 54 m/s, 60 steps a second: every path that enters ends on its own side."""
    state = moving(shape) if travels else collider(shape, STILL)
    start, end = paths(state, length=6.0)
    contact = swept_contact(state, start, end, 0.0, 1.0, FRAME, SUBSTEP)
    position, _ = resolve(end, start, contact, 0.005, SUBSTEP)
    hit = sweep(state, start, end, 0.0, 1.0)
    side = np.sum((position - hit.point) * hit.normal, axis=1)
    np.testing.assert_allclose(side[hit.found], 0.005, atol=1e-9)
    distance = collider_contact(state, position, 1.0, FRAME, SUBSTEP).distance
    assert distance.min() > 0.005 - 1e-9  # the tangent plane of a convex solid lies outside it


@pytest.mark.parametrize("shape", SOLIDS)
def test_without_the_path_less_than_the_safe_depth_in_a_substep_is_safe(shape: ColliderShape) -> None:
    """The bound that holds where each point is only pushed out where it is found."""
    state = collider(shape, STILL)
    random = np.random.default_rng(9)
    step = 0.999 * safe_depth(shape, state.size)
    # In through the surface at every place, as deep as one substep goes, straight down.
    outside = random.normal(size=(4000, 3)) * 1.5
    near = collider_contact(state, outside, 0.0, FRAME, SUBSTEP)
    surface = outside - near.distance[:, None] * near.normal
    depth = random.uniform(0.0, step, (len(surface), 1))
    contact = collider_contact(state, surface - depth * near.normal, 0.0, FRAME, SUBSTEP)
    inside = contact.distance < 0.0
    returned = np.sum(contact.normal * near.normal, axis=1)[inside]
    assert returned.min() > -1e-9


@EVERY_SHAPE
def test_a_path_that_begins_inside_or_leaves_does_not_enter(shape: ColliderShape) -> None:
    state = collider(shape)
    inside = np.random.default_rng(4).normal(size=(400, 3)) * 0.2
    inside = inside[signed_distance(shape, state.size, inside) < -2.0 * SWEEP_SLOP]
    assert len(inside) > 20
    assert not sweep(state, inside, inside * 20.0, 0.0, 1.0).found.any()
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
    near = collider_contact(state, outside, 0.0, FRAME, SUBSTEP)
    for lift in (1e-8, 0.0, -1e-8):
        start = outside + (lift - near.distance)[:, None] * near.normal
        across = np.cross(near.normal, [0.36, 0.48, 0.8])
        end = start + 0.02 * across - 3e-4 * near.normal
        contact = swept_contact(state, start, end, 0.0, 1.0, FRAME, SUBSTEP)
        position, previous = resolve(end, start, contact, 0.0, SUBSTEP)
        slid = np.sum((position - start) * across, axis=1) / np.sum(across * across, axis=1)
        assert slid.min() > 0.0199
        cached = np.sum((position - previous) * across, axis=1) / np.sum(across * across, axis=1)
        assert cached.min() > 0.0199


def test_a_swatting_box_takes_the_point_with_it() -> None:
    """A thin wall at 120 m/s over a point at rest: it gets through in one step, and the point must be before it."""
    size = np.array([0.01, 1.0, 1.0])
    wall = ColliderState(ColliderShape.BOX, size, placed((-1.0, 0.0, 0.0)), placed((1.0, 0.0, 0.0)))
    point = np.array([[0.3, 0.2, -0.1]])
    contact = swept_contact(wall, point, point, 0.0, 1.0, FRAME, SUBSTEP)
    position, previous = resolve(point, point, contact, 0.002, SUBSTEP)
    np.testing.assert_allclose(position, [[1.012, 0.2, -0.1]], atol=1e-12)
    np.testing.assert_allclose((position - previous) / SUBSTEP, [[120.0, 0.0, 0.0]], atol=1e-9)


def test_a_path_of_no_length_does_not_enter() -> None:
    for shape in ColliderShape:
        point = np.array([[0.1, 3.0, 0.2]])
        assert not sweep(collider(shape), point, point, 0.0, 1.0).found.any()
