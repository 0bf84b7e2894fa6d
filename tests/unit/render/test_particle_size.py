"""How large particles become in a picture."""

import numpy as np
import pytest

from sinew.sim.assets.model import Bounds
from sinew.sim.render.projection import SPRITE_PIXELS, Projection
from sinew.sim.scene.camera import Camera

BOX = Bounds(np.full(3, -1.0), np.full(3, 1.0))


def projection(camera: Camera) -> Projection:
    return Projection(camera.clip_from_world(1.5, 0.1, 50.0), (900, 600))


@pytest.mark.parametrize("orthographic", [False, True])
def test_pixels_are_those_between_projected_points(orthographic: bool) -> None:
    camera = Camera(target=(0.3, 0.2, 0.1), yaw=40.0, pitch=25.0, distance=5.0, orthographic=orthographic)
    shown = projection(camera)
    right, up, _ = camera.rotation()
    ends = [np.append(np.asarray(camera.target) + sign * 0.2 * up, 1.0) for sign in (-1.0, 1.0)]
    clips = [shown.clip_from_world @ end for end in ends]
    apart = (clips[1][1] / clips[1][3] - clips[0][1] / clips[0][3]) * 300.0
    assert shown.pixels(0.4, float(clips[0][3])) == pytest.approx(apart, rel=1e-9)
    assert shown.scale[0] * 1.5 == pytest.approx(shown.scale[1])
    assert len(right) == 3


def test_the_nearest_corner_counts() -> None:
    camera = Camera(target=(0.0, 0.0, 0.0), yaw=0.0, pitch=0.0, distance=5.0)
    assert projection(camera).nearest(BOX) == pytest.approx(4.0)
    flat = Camera(target=(0.0, 0.0, 0.0), yaw=0.0, pitch=0.0, distance=5.0, orthographic=True)
    assert projection(flat).nearest(BOX) == 1.0


def test_sprites_are_for_what_stays_small_all_over_its_box() -> None:
    shown = projection(Camera(target=(0.0, 0.0, 0.0), yaw=0.0, pitch=0.0, distance=5.0))
    fits = SPRITE_PIXELS / shown.pixels(1.0, 4.0)
    assert shown.takes_sprites(0.99 * fits, BOX, 255.0)
    assert not shown.takes_sprites(1.01 * fits, BOX, 255.0)
    assert not shown.takes_sprites(0.99 * fits, BOX, 20.0)
    assert not shown.takes_sprites(1e-5, None, 255.0)
    around_the_eye = Bounds(np.full(3, -9.0), np.full(3, 9.0))
    assert not shown.takes_sprites(1e-5, around_the_eye, 255.0)
