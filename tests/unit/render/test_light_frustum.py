"""Projection of the shadow map: holds the subject whatever the light."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

from sinew.sim.render.shadow_projection import shadow_clip_from_world, texture_from_world

numbers = st.integers(-1000, 1000).map(lambda value: value / 100.0)
points = st.tuples(numbers, numbers, numbers)
directions = st.sampled_from(
    [(0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.3, 0.95, 0.1), (-0.5, 0.2, 0.8)]
)


def projected(matrix: glm.dmat4, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Divided coordinates (N, 3), and w (N,)."""
    clip = np.column_stack([places, np.ones(len(places))]) @ np.asarray(matrix).T
    return clip[:, :3] / clip[:, 3:], clip[:, 3]


def sphere(centre: np.ndarray, radius: float) -> np.ndarray:
    spread = np.random.default_rng(3).normal(size=(400, 3))
    return centre + radius * spread / np.linalg.norm(spread, axis=1, keepdims=True)


@given(points, directions, st.floats(1.2, 100.0), st.sampled_from([1e-3, 0.5, 1.0, 40.0, 1e4]))
def test_the_subject_is_inside_for_every_light_outside_of_it(centre, direction, away, radius):
    middle = np.array(centre)
    unit = np.array(direction) / np.linalg.norm(direction)
    matrix = shadow_clip_from_world(middle + unit * away * radius, middle, radius)
    seen, w = projected(matrix, sphere(middle, radius))
    assert (w > 0.0).all()
    assert (np.abs(seen) <= 1.0 + 1e-6).all()
    assert np.abs(seen[:, :2]).max() > 0.9, "the subject fills the map"


@given(points, directions, st.floats(0.0, 1.2))
def test_a_light_inside_the_subject_looks_at_its_centre_with_an_open_cone(centre, direction, away):
    middle = np.array(centre)
    unit = np.array(direction) / np.linalg.norm(direction)
    light = middle + unit * away
    matrix = shadow_clip_from_world(light, middle, 1.0)
    assert np.isfinite(matrix).all()
    assert np.linalg.matrix_rank(matrix) == 4
    beyond = light - (unit if away > 1e-6 else np.array([0.0, 1.0, 0.0])) * 0.8
    seen, w = projected(matrix, beyond[None])
    assert w[0] > 0.0
    np.testing.assert_allclose(seen[0, :2], 0.0, atol=1e-6)
    assert -1.0 < seen[0, 2] < 1.0


def test_texture_space_runs_from_0_to_1():
    matrix = shadow_clip_from_world((3.0, 5.0, 1.0), (0.0, 1.0, 0.0), 1.0)
    places = sphere(np.array([0.0, 1.0, 0.0]), 1.0)
    seen, _ = projected(matrix, places)
    textured, _ = projected(texture_from_world(matrix), places)
    np.testing.assert_allclose(textured, seen * 0.5 + 0.5, atol=1e-12)


@pytest.mark.parametrize("height", [2.0, 5.0])
def test_straight_from_above(height):
    seen, _ = projected(shadow_clip_from_world((0.0, height, 0.0), (0.0, 0.0, 0.0), 1.0), np.zeros((1, 3)))
    np.testing.assert_allclose(seen[0, :2], 0.0, atol=1e-12)


def test_nearer_to_the_light_is_a_smaller_depth():
    matrix = shadow_clip_from_world((0.0, 6.0, 0.0), (0.0, 0.0, 0.0), 2.0)
    seen, _ = projected(matrix, np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, -1.0, 0.0]]))
    assert (np.diff(seen[:, 2]) > 0.0).all()


@pytest.mark.parametrize("away", [1e5, 1e20, 1e160, 1e300])
def test_a_light_beyond_all_measure_still_sees_the_subject_fill_the_map(away):
    matrix = shadow_clip_from_world((away, 2.0 * away, 0.0), (0.0, 1.0, 0.0), 1.5)
    seen, w = projected(matrix, sphere(np.array([0.0, 1.0, 0.0]), 1.5))
    assert (w > 0.0).all()
    assert 0.9 < np.abs(seen[:, :2]).max() <= 1.0 + 1e-6
    assert np.abs(seen[:, 2]).max() <= 1.0 + 1e-6
