"""What lies around the subject is within the depth range."""

import itertools

import numpy as np
import pytest
from pyglm import glm

from sinew.sim.assets.model import Bounds
from sinew.sim.render.frame import BoundingSphere, Frame
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.view import ViewSettings

SUBJECT = np.array([0.0, 40.0, 0.0])


def frame(camera: Camera, around: Bounds | None) -> Frame:
    return Frame(camera, ViewSettings(), (), BoundingSphere(glm.dvec3(SUBJECT), 0.5, None, around), 300, 200)


@pytest.mark.parametrize("orthographic", [False, True])
@pytest.mark.parametrize("shift", [(0.0, 0.0, 3.0), (1.0, -2.0, -400.0), (0.0, 200.0, -90.0)])
def test_a_box_before_the_eye_is_not_cut_off(orthographic: bool, shift: tuple[float, float, float]) -> None:
    camera = Camera(target=(0.0, 40.0, 0.0), yaw=0.0, pitch=0.0, distance=6.0, orthographic=orthographic)
    middle = SUBJECT + shift
    found = frame(camera, Bounds(middle - 0.5, middle + 0.5))
    for corner in itertools.product(*zip(middle - 0.5, middle + 0.5, strict=True)):
        clip = found.clip_from_world @ np.append(corner, 1.0)
        assert abs(clip[2]) <= clip[3] * (1.0 + 1e-9)


def test_nothing_around_changes_nothing() -> None:
    camera = Camera(target=(0.0, 40.0, 0.0), distance=6.0)
    inside = Bounds(SUBJECT - 0.1, SUBJECT + 0.1)
    assert frame(camera, None).depth_range == frame(camera, inside).depth_range


def test_a_box_around_the_eye_leaves_a_near_plane() -> None:
    camera = Camera(target=(0.0, 40.0, 0.0), distance=6.0)
    near, far = frame(camera, Bounds(SUBJECT - 50.0, SUBJECT + 50.0)).depth_range
    assert 0.0 < near < 0.2
    assert far > 80.0


@pytest.mark.parametrize("orthographic", [False, True])
def test_depth_follows_from_window_depth(orthographic: bool) -> None:
    found = frame(Camera(target=(0.0, 40.0, 0.0), yaw=20.0, distance=6.0, orthographic=orthographic), None)
    point = SUBJECT + np.array([0.2, 0.1, 0.4])
    clip = found.clip_from_world @ np.append(point, 1.0)
    ndc = clip[2] / clip[3]
    scale, shift = found.depth_terms
    depth = (shift - ndc) / scale if orthographic else shift / (ndc + scale)
    expected = (np.asarray(found.eye) - point) @ found.camera.rotation()[2]
    assert depth == pytest.approx(expected, rel=1e-6)
