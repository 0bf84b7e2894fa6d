import itertools
import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyglm import glm

from sinew.shaders import ROOT
from sinew.sim.assets.model import Bounds
from sinew.sim.render.frame import FIELDS, LIGHT_LIMIT, BoundingSphere, Frame, PointLight
from sinew.sim.render.shadow_projection import NO_SHADOW, shadow_clip_from_world, shadow_rectangle, texture_from_world
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.view import ViewSettings

numbers = st.integers(-500, 500).map(lambda value: value / 100.0)


@st.composite
def frames(draw):
    camera = Camera(
        target=(draw(numbers), draw(numbers), draw(numbers)),
        yaw=draw(st.integers(-180, 180)),
        pitch=draw(st.integers(-90, 90)),
        distance=draw(st.sampled_from([0.05, 0.5, 2.0, 6.0, 50.0, 900.0])),
        orthographic=draw(st.booleans()),
        field_of_view=draw(st.sampled_from([5.0, 40.0, 120.0])),
    )
    subject = BoundingSphere(
        glm.dvec3(*draw(st.tuples(numbers, numbers, numbers))), draw(st.sampled_from([0.1, 1.0, 60.0]))
    )
    places = draw(st.lists(st.tuples(numbers, numbers, numbers), max_size=LIGHT_LIMIT))
    lights = tuple(PointLight(place, 4.0, shadow=draw(st.booleans())) for place in places)
    return Frame(camera, ViewSettings(), lights, subject, draw(st.sampled_from([1, 320, 1920])), 200)


def test_the_block_is_declared_alike_in_python_and_glsl():
    """Names, types, lengths and order; nothing else would be noticed before the image is wrong."""
    text = (ROOT / "viewport" / "frame.glsl").read_text(encoding="utf-8")
    block = re.search(r"layout\(std140\) uniform Frame \{(.*?)\} frame;", text, re.DOTALL)
    body = re.sub(r"//[^\n]*", "", block[1])
    declared = re.findall(r"(\w+)\s+(\w+)\s*(?:\[(\d+)\])?\s*;", body)
    assert re.sub(r"[\w\s;\[\]]", "", body) == ""
    expected = [
        (kind, name, "") if isinstance(kind, str) else (kind[0], name, str(kind[1])) for name, kind in FIELDS.items()
    ]
    assert declared == expected


@given(frames())
def test_members_fit_their_declaration_and_are_finite(frame):
    members = frame.members()
    assert list(members) == list(FIELDS)
    for name, kind in FIELDS.items():
        base, count = (kind, None) if isinstance(kind, str) else kind
        shape = {"mat4": (4, 4), "vec4": (4,)}[base]
        value = np.asarray(members[name], dtype=np.float64)
        assert value.shape == (shape if count is None else (count, *shape)), name
        assert np.isfinite(value.astype(np.float32)).all(), name


@given(frames(), st.integers(0, 10**6))
def test_the_depth_range_holds_the_subject(frame, seed):
    """All of the subject that is before the camera, apart from what is within a fiftieth of its distance."""
    near, far = frame.depth_range
    assert near < far
    spread = np.random.default_rng(seed).normal(size=(100, 3))
    points = frame.subject.centre + frame.subject.radius * spread / np.linalg.norm(spread, axis=1, keepdims=True)
    depths = (points - frame.camera.position()) @ -frame.camera.rotation()[2]
    assert (depths < far).all()
    if frame.camera.orthographic:
        assert (depths > near).all()
    else:
        offset = np.linalg.norm(frame.camera.position() - frame.subject.centre)
        floor = max(0.02 * frame.camera.distance, 1e-3 * (4.0 * offset + 14.0 * frame.subject.radius))
        assert (depths[depths > floor] >= near).all()


@given(frames(), st.integers(-100, 100), st.integers(-100, 100))
def test_the_ground_is_not_cut_off_before_the_camera(frame, x, y):
    near, far = frame.depth_range
    origin, direction = frame.camera.ray(x / 100.0, y / 100.0, frame.aspect)
    assume(abs(direction[1]) > 1e-3)
    reach = -origin[1] / direction[1]
    depth = reach * float(direction @ -frame.camera.rotation()[2])
    floor = max(0.02 * frame.camera.distance, 1e-5 * far)
    assume(frame.camera.orthographic or depth > floor)
    met = origin + direction * reach
    assume(np.linalg.norm(met - frame.subject.centre) < 9.0 * frame.subject.radius)
    assert near < depth < far


def test_lights_beyond_the_given_ones_are_dark_and_the_first_casts_the_shadow():
    lights = (PointLight((1.0, 2.0, 3.0), 3.0, (1.0, 0.5, 0.0), 2.0),)
    frame = Frame(Camera(), ViewSettings(), lights, BoundingSphere(glm.dvec3(), 1.0), 100, 100)
    members = frame.members()
    np.testing.assert_allclose(members["light_position"][0], [1.0, 2.0, 3.0, 3.0])
    np.testing.assert_allclose(members["light_colour"][0], [2.0, 2.0 * 0.21404114, 0.0, 1.0], rtol=1e-6)
    assert not np.any(members["light_colour"][1:])
    assert frame.casts_shadow
    assert not Frame(Camera(), ViewSettings(), (), frame.subject, 100, 100).casts_shadow


SUBJECT = np.array([0.0, 40.0, 0.0])


def frame_around(camera: Camera, around: Bounds | None) -> Frame:
    return Frame(camera, ViewSettings(), (), BoundingSphere(glm.dvec3(SUBJECT), 0.5, None, around), 300, 200)


@pytest.mark.parametrize("orthographic", [False, True])
@pytest.mark.parametrize("shift", [(0.0, 0.0, 3.0), (1.0, -2.0, -400.0), (0.0, 200.0, -90.0)])
def test_a_box_before_the_eye_is_not_cut_off(orthographic: bool, shift: tuple[float, float, float]) -> None:
    camera = Camera(target=(0.0, 40.0, 0.0), yaw=0.0, pitch=0.0, distance=6.0, orthographic=orthographic)
    middle = SUBJECT + shift
    found = frame_around(camera, Bounds(middle - 0.5, middle + 0.5))
    for corner in itertools.product(*zip(middle - 0.5, middle + 0.5, strict=True)):
        clip = found.clip_from_world @ np.append(corner, 1.0)
        assert abs(clip[2]) <= clip[3] * (1.0 + 1e-9)


@pytest.mark.parametrize("orthographic", [False, True])
def test_depth_follows_from_window_depth(orthographic: bool) -> None:
    found = frame_around(Camera(target=(0.0, 40.0, 0.0), yaw=20.0, distance=6.0, orthographic=orthographic), None)
    point = SUBJECT + np.array([0.2, 0.1, 0.4])
    clip = found.clip_from_world @ np.append(point, 1.0)
    ndc = clip[2] / clip[3]
    scale, shift = found.depth_terms
    depth = (shift - ndc) / scale if orthographic else shift / (ndc + scale)
    expected = (np.asarray(found.eye) - point) @ found.camera.rotation()[2]
    assert depth == pytest.approx(expected, rel=1e-6)


coordinates = st.integers(-300, 300).map(lambda value: value / 100.0)
points = st.tuples(coordinates, coordinates, coordinates)
box_sizes = st.tuples(*[st.integers(0, 300).map(lambda value: value / 100.0)] * 3)


@given(st.tuples(coordinates, st.floats(0.05, 20.0), coordinates), points, box_sizes, st.integers(0, 10**6))
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
    lo, hi = rectangle.clipped((4.0, 4.0), (9.0, 9.0))
    assert hi == lo
    below = shadow_rectangle((0.0, 3.0, 0.0), (-1.0, -3.0, -1.0), (1.0, -0.5, 1.0))
    assert below.hi == below.lo


@pytest.mark.parametrize("light", [(3.0, 1.5, 0.0), (3.0, 2.0, 0.0), (3.0, -1.0, 0.0), (0.0, 0.0, 0.0)])
def test_a_light_that_is_not_above_the_box_throws_without_end(light):
    rectangle = shadow_rectangle(light, (-1.0, 0.0, -1.0), (1.0, 2.0, 1.0))
    assert np.isneginf(rectangle.lo).all()
    assert np.isposinf(rectangle.hi).all()
    assert rectangle.clipped((-3.0, -4.0), (5.0, 6.0)) == ((-3.0, -4.0), (5.0, 6.0))


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


metres = st.integers(-1000, 1000).map(lambda value: value / 100.0)
places = st.tuples(metres, metres, metres)
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


@given(places, directions, st.floats(1.2, 100.0), st.sampled_from([1e-3, 0.5, 1.0, 40.0, 1e4]))
def test_the_subject_is_inside_for_every_light_outside_of_it(centre, direction, away, radius):
    middle = np.array(centre)
    unit = np.array(direction) / np.linalg.norm(direction)
    matrix = shadow_clip_from_world(middle + unit * away * radius, middle, radius)
    seen, w = projected(matrix, sphere(middle, radius))
    assert (w > 0.0).all()
    assert (np.abs(seen) <= 1.0 + 1e-6).all()
    assert np.abs(seen[:, :2]).max() > 0.9, "the subject fills the map"
    textured, _ = projected(texture_from_world(matrix), sphere(middle, radius))
    np.testing.assert_allclose(textured, seen * 0.5 + 0.5, atol=1e-9)


@given(places, directions, st.floats(0.0, 1.2))
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


@pytest.mark.parametrize("away", [1e5, 1e300])
def test_a_light_beyond_all_measure_still_sees_the_subject_fill_the_map(away):
    matrix = shadow_clip_from_world((away, 2.0 * away, 0.0), (0.0, 1.0, 0.0), 1.5)
    seen, w = projected(matrix, sphere(np.array([0.0, 1.0, 0.0]), 1.5))
    assert (w > 0.0).all()
    assert 0.9 < np.abs(seen[:, :2]).max() <= 1.0 + 1e-6
    assert np.abs(seen[:, 2]).max() <= 1.0 + 1e-6
