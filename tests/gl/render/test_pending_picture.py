"""A picture that is begun now and copied later is the same picture."""

import gc

import numpy as np
import pytest

from sim.gl.context import Context
from sim.render.shot import Overlay
from tests.gl.render.worlds import FRONT, Stage, light_node, model_node, twisted_bar


@pytest.mark.parametrize("samples", [0, 4])
def test_it_is_what_drawing_at_once_gives(stage: Stage, context: Context, samples: int) -> None:
    view = {"samples": samples, "grid": True, "bones": True}
    stage.show({"model": twisted_bar()}, model_node(), light_node((3.0, 6.0, 4.0)), time=0.5, **view)
    overlay = Overlay(marks=True)
    expected = stage.picture(overlay=overlay)
    stage.output.clear()
    pending = stage.engine.begin(stage.output.size, FRONT, overlay)
    context.finish()
    assert pending.done
    assert pending.size == stage.output.size
    pending.show(stage.output)
    np.testing.assert_array_equal(stage.output.read_pixels(flip=True)[:, :, :3], expected)
    assert expected.std() > 1.0


def test_showing_it_early_waits_for_it(stage: Stage) -> None:
    stage.show({"model": twisted_bar()}, samples=4)
    expected = stage.picture()
    stage.output.clear()
    stage.engine.begin(stage.output.size, FRONT).show(stage.output)
    np.testing.assert_array_equal(stage.output.read_pixels(flip=True)[:, :, :3], expected)


def test_one_that_is_given_up_leaves_nothing(stage: Stage, context: Context) -> None:
    stage.show({"model": twisted_bar()}, samples=4)
    expected = stage.picture()
    context.collect()
    before = sorted(context.live)
    pending = stage.engine.begin(stage.output.size, FRONT)
    del pending
    gc.collect()
    context.collect()
    assert sorted(context.live) == before
    np.testing.assert_array_equal(stage.picture(), expected)
