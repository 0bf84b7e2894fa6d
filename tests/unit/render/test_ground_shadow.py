"""Part of the ground that the shadow can reach."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

from sinew.sim.assets.model import Bounds
from sinew.sim.render.frame import BoundingSphere, Frame, PointLight
from sinew.sim.render.shadow_projection import NO_SHADOW, shadow_rectangle
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.view import ViewSettings

numbers = st.integers(-300, 300).map(lambda value: value / 100.0)
points = st.tuples(numbers, numbers, numbers)
sizes = st.tuples(*[st.integers(0, 300).map(lambda value: value / 100.0)] * 3)


@given(st.tuples(numbers, st.floats(0.05, 20.0), numbers), points, sizes, st.integers(0, 10**6))
def test_every_point_of_the_box_throws_its_shadow_inside(light, low, size, seed):
    light, lo, hi = np.array(light), np.array(low), np.array(low) + size
    rectangle = shadow_rectangle(light.tolist(), lo.tolist(), hi.tolist())
    assert np.linalg.norm(rectangle.axis) == pytest.approx(1.0)
    inside = lo + np.random.default_rng(seed).uniform(0.0, 1.0, (200, 3)) * (hi - lo)
    inside = inside[(inside[:, 1] >= 0.0) & (inside[:, 1] < 0.99 * light[1])]
    for point in inside:
        thrown = light + (point - light) * light[1] / (light[1] - point[1])
        place = np.array(rectangle.within(thrown[0], thrown[2]))
        slack = 1e-9 * (1.0 + np.abs(place))
        assert (place >= np.array(rectangle.lo) - slack).all()
        assert (place <= np.array(rectangle.hi) + slack).all()


def test_the_rectangle_lies_along_the_light_and_is_tight():
    """A flat square of edge 1 at height 1 under a light at (2, 4, 0) is thrown to x from -4/3 to 0, |z| to 2/3."""
    rectangle = shadow_rectangle((2.0, 4.0, 0.0), (-0.5, 1.0, -0.5), (0.5, 1.0, 0.5))
    np.testing.assert_allclose(rectangle.axis, [-1.0, 0.0])
    np.testing.assert_allclose(rectangle.lo, [0.0, -2.0 / 3.0], atol=1e-12)
    np.testing.assert_allclose(rectangle.hi, [4.0 / 3.0, 2.0 / 3.0])


@pytest.mark.parametrize("light", [(3.0, 1.5, 0.0), (3.0, 2.0, 0.0), (3.0, -1.0, 0.0), (0.0, 0.0, 0.0)])
def test_a_light_that_is_not_above_the_box_throws_without_end(light):
    rectangle = shadow_rectangle(light, (-1.0, 0.0, -1.0), (1.0, 2.0, 1.0))
    assert np.isneginf(rectangle.lo).all()
    assert np.isposinf(rectangle.hi).all()
    assert rectangle.clipped((-3.0, -4.0), (5.0, 6.0)) == ((-3.0, -4.0), (5.0, 6.0))


def test_what_is_below_the_ground_throws_nothing_on_it():
    rectangle = shadow_rectangle((0.0, 3.0, 0.0), (-1.0, -3.0, -1.0), (1.0, -0.5, 1.0))
    assert rectangle.hi == rectangle.lo


def test_straight_above_and_clipping_to_nothing():
    rectangle = shadow_rectangle((0.0, 2.0, 0.0), (-0.5, 0.0, -0.5), (0.5, 1.0, 0.5))
    np.testing.assert_allclose(rectangle.hi, [1.0, 1.0])
    lo, hi = rectangle.clipped((4.0, 4.0), (9.0, 9.0))
    assert hi == lo


@given(points)
def test_coordinates_along_and_across_are_a_rotation(place):
    rectangle = shadow_rectangle((3.0, 9.0, 4.0), (-1.0, 0.0, -1.0), (1.0, 1.0, 1.0))
    x, z = place[:2]
    along, across = rectangle.within(x, z)
    right, near = rectangle.axis
    back = np.array([right, near]) * along + np.array([-near, right]) * across
    np.testing.assert_allclose(back, [x, z], atol=1e-12)


def test_no_shadow_without_a_light_that_casts_one_or_anything_to_cast():
    box = Bounds(np.array([-1.0, 0.0, -1.0]), np.ones(3))
    light = PointLight((2.0, 5.0, 1.0), 4.0)
    dark = PointLight((2.0, 5.0, 1.0), 4.0, shadow=False)

    def rectangle(lights, box):
        return Frame(Camera(), ViewSettings(), lights, BoundingSphere(glm.dvec3(), 1.0, box), 100, 100).ground_shadow()

    assert rectangle((light,), None) is NO_SHADOW
    assert rectangle((dark,), box) is NO_SHADOW
    assert rectangle((), box) is NO_SHADOW
    assert (np.array(rectangle((light,), box).hi) > rectangle((light,), box).lo).all()
