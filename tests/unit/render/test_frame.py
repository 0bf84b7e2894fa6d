"""Constants of a frame: declared alike in Python and GLSL, finite, with a depth range that cuts nothing off."""

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyglm import glm

from sinew.shaders import ROOT
from sinew.sim.render.frame import FIELDS, LIGHT_LIMIT, BoundingSphere, Frame, PointLight
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
    """Names, types, lengths and order; nothing else would be noticed before the picture is wrong."""
    text = (ROOT / "viewport" / "frame.glsl").read_text(encoding="utf-8")
    block = re.search(r"layout\(std140\) uniform Frame \{(.*?)\} frame;", text, re.DOTALL)
    assert block is not None
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


def test_the_ratio_of_the_depths_leaves_precision():
    """A 24-bit depth resolves a ten-thousandth of the subject at its own place."""
    for distance in (1.5, 3.0, 6.0, 20.0):
        for pitch in (-10.0, 0.0, 15.0, 60.0):
            camera = Camera(target=(0.0, 1.0, 0.0), pitch=pitch, distance=distance)
            frame = Frame(camera, ViewSettings(), (), BoundingSphere(glm.dvec3(0.0, 1.0, 0.0), 1.1), 100, 100)
            near, far = frame.depth_range
            step = distance**2 * (far - near) / (far * near) * 2.0**-24
            assert step < 1e-4


def test_lights_beyond_the_given_ones_are_dark_and_the_first_casts_the_shadow():
    lights = (PointLight((1.0, 2.0, 3.0), 3.0, (1.0, 0.5, 0.0), 2.0),)
    frame = Frame(Camera(), ViewSettings(), lights, BoundingSphere(glm.dvec3(), 1.0), 100, 100)
    members = frame.members()
    np.testing.assert_allclose(members["light_position"][0], [1.0, 2.0, 3.0, 3.0])
    np.testing.assert_allclose(members["light_colour"][0], [2.0, 2.0 * 0.21404114, 0.0, 1.0], rtol=1e-6)
    assert not np.any(members["light_colour"][1:])
    assert frame.casts_shadow
    assert not Frame(Camera(), ViewSettings(), (), frame.subject, 100, 100).casts_shadow


@pytest.mark.parametrize("orthographic", [False, True])
def test_world_from_clip_is_the_inverse(orthographic):
    frame = Frame(
        Camera(orthographic=orthographic), ViewSettings(), (), BoundingSphere(glm.dvec3(0.0, 1.0, 0.0), 1.0), 300, 200
    )
    members = frame.members()
    product = np.asarray(members["clip_from_world"]) @ np.asarray(members["world_from_clip"])
    np.testing.assert_allclose(product, np.eye(4), atol=1e-9)
