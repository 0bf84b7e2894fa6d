import math

import numpy as np
import pytest
from pyglm import glm

from sinew.sim.render.frame import Frame, PointLight, subject_of
from sinew.sim.render.sample import LIGHT_RADIUS, ImageSample, Lens
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.view import ViewSettings

COUNT = 256
SIZE = 640, 360


def frame_of(sample: ImageSample | None) -> Frame:
    camera = Camera(target=(0.0, 0.0, 0.0), yaw=0.0, pitch=0.0, distance=3.0, field_of_view=35.0)
    return Frame(camera, ViewSettings(), (), subject_of([], [], camera.target), *SIZE, sample=sample)


def samples(lens: Lens = Lens(), count: int = COUNT) -> list[ImageSample]:  # noqa: B008
    return [ImageSample(number, count, None, lens) for number in range(count)]


def place(frame: Frame, depth: float) -> tuple[float, float]:
    """The pixel of a point on the axis, at a depth [m]."""
    clip = frame.clip_from_world * glm.dvec4(0.0, 0.0, 3.0 - depth, 1.0)
    return 0.5 * SIZE[0] * (clip.x / clip.w), 0.5 * SIZE[1] * (clip.y / clip.w)


def test_the_first_sample_is_the_plain_image() -> None:
    assert frame_of(ImageSample(0, 16, None, Lens(0.1, 2.0))).clip_from_world == frame_of(None).clip_from_world


def test_samples_fill_the_pixel_evenly() -> None:
    for count in (16, COUNT):
        shifts = np.array([sample.shift for sample in samples(count=count)])
        assert np.abs(shifts).max() <= 0.5
        for columns in (count, 4):
            cells = np.floor((shifts + 0.5) * [columns, count // columns]) @ [count, 1]
            assert len(set(cells.tolist())) == count
    places = np.array([place(frame_of(sample), 2.0) for sample in samples()])
    np.testing.assert_allclose(places, [sample.shift for sample in samples()], atol=1e-9)


@pytest.mark.parametrize("depth", [1.0, 2.0, 8.0])
def test_the_circle_of_confusion_has_the_size_of_a_thin_lens(depth: float) -> None:
    """D |1/d - 1/f| h / (2 tan(fov/2)) pixels, with the diameter D of a focal length of 12 mm / tan(fov/2)."""
    tangent, focus = math.tan(math.radians(35.0) / 2.0), 2.0
    lens = Lens.of(tangent, 0.5, focus)
    diameter = 0.012 / tangent / 0.5
    assert 2.0 * lens.radius == pytest.approx(diameter)
    wanted = diameter * abs(1.0 / depth - 1.0 / focus) * SIZE[1] / (2.0 * tangent)
    moved = [np.subtract(place(frame_of(sample), depth), sample.shift) for sample in samples(lens)]
    found = 2.0 * np.linalg.norm(moved, axis=1).max()
    assert found == pytest.approx(wanted, rel=0.02, abs=1e-9)
    assert np.linalg.norm(np.mean(moved, axis=0)) <= 0.02 * wanted + 1e-9
    assert Lens.of(tangent, 0.0, focus).radius == 0.0


def test_a_lamp_is_a_disc_that_faces_the_subject() -> None:
    light, target = PointLight((1.0, 4.0, -2.0), reach=5.0), glm.dvec3(0.5, 0.0, 0.0)
    offsets = np.array([light.at(sample, target).position for sample in samples()]) - light.position
    radii = np.linalg.norm(offsets, axis=1)
    assert radii[0] == 0.0
    assert 0.95 * LIGHT_RADIUS * 5.0 < radii.max() <= LIGHT_RADIUS * 5.0 + 1e-12
    np.testing.assert_allclose(offsets @ (np.array(light.position) - np.array(target)), 0.0, atol=1e-12)
    assert (radii < LIGHT_RADIUS * 5.0 / math.sqrt(2.0)).mean() == pytest.approx(0.5, abs=0.05)


def test_every_strand_is_drawn_equally_often() -> None:
    total, drawn, count = 1000, 130, 64
    times = np.zeros(total, int)
    for sample in samples(count=count):
        times[(sample.first_strand(total) + np.arange(drawn)) % total] += 1
    assert np.abs(times - count * drawn / total).max() <= 2.0
