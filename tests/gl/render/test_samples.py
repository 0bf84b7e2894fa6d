"""Images that are the mean of samples."""

from dataclasses import replace

import numpy as np
import pytest

from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.maths.srgb import linear_from_srgb
from sinew.sim.render.sample import ImageSample, Lens
from sinew.sim.scene.camera import Camera
from tests.gl.render.worlds import FRONT, Stage, floating_square, light_node, model_of, quad


def mean(stage: Stage, camera: Camera = FRONT, count: int = 16, lens: Lens = Lens()) -> np.ndarray:  # noqa: B008
    """The mean of the samples in linear light, (H, W, 3)."""
    image, light = object(), 0.0
    for number in range(count):
        stage.engine.draw(stage.output, camera, sample=ImageSample(number, count, image, lens))
        light = light + linear_from_srgb(stage.output.read_pixels(flip=True)[..., :3] / 255.0) / count
    return light


@pytest.mark.parametrize("part", [0.1, 0.4, 0.5, 0.8])
def test_an_edge_covers_its_part_of_a_pixel(stage: Stage, part: float) -> None:
    """The left edge of a quad, in an orthographic view of 0.02 m a pixel."""
    camera = Camera(target=(0.0, 1.5, 0.0), yaw=0.0, pitch=0.0, distance=1.2 / FRONT.tangent, orthographic=True)
    stage.show({"q": model_of(quad(centre=(0.02 * (1.0 - part), 1.5, 0.0)))})
    row = mean(stage, camera)[60, :, 0]
    column = 80 - 50
    inside, outside = row[column + 2], row[column - 2]
    share = (row - outside) / (inside - outside)
    assert share[column] == pytest.approx(part, abs=0.125)
    assert share[column - 1] == pytest.approx(0.0, abs=0.02)
    assert share[column + 1] == pytest.approx(1.0, abs=0.02)


def test_the_shadow_of_a_near_edge_is_sharper_than_that_of_a_far_one(stage: Stage) -> None:
    """Squares above the ground, seen from above; the penumbra grows with their height."""
    above = Camera(target=(0.0, 0.0, 0.0), yaw=0.0, pitch=90.0, distance=6.0, orthographic=True)
    changed = []
    for height in (0.3, 2.0):
        stage.show({"q": model_of(floating_square(1.0, height))}, light_node((1.5, 4.0, 0.0), reach=12.0))
        sharp = linear_from_srgb(stage.picture(above) / 255.0)
        changed.append(np.count_nonzero(np.abs(mean(stage, above) - sharp).max(axis=2) > 0.001))
    assert 0 < 1.5 * changed[0] < changed[1]


def test_a_lens_blurs_what_is_out_of_focus(stage: Stage) -> None:
    stage.show({"q": model_of(quad())})
    lens = Lens.of(FRONT.tangent, 0.5, 6.0)
    row = mean(stage, lens=lens)[60, :, 0]
    sharp = np.count_nonzero(np.abs(np.diff(row)) > 0.02)
    row = mean(stage, lens=replace(lens, focus=1.5))[60, :, 0]
    assert np.count_nonzero(np.abs(np.diff(row)) > 0.02) > sharp + 4
    assert CameraSettings().aperture == 0.0
