"""Telling Python's part of a frame from the time inside OpenGL calls."""

import pytest

from sinew.sim.bench.frames import muted_gl
from sinew.sim.bench.runner import rows_of
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer


def test_silent_calls_do_nothing_and_come_back() -> None:
    before = GL.glClear
    with Context.headless() as context:
        picture = Framebuffer(context, (1, 1))
        picture.clear((1.0, 1.0, 1.0, 1.0))
        with muted_gl():
            assert GL.glClear(GL.GL_COLOR_BUFFER_BIT) is None
            picture.clear((0.0, 0.0, 0.0, 0.0))
        assert picture.read_pixels().tolist() == [[[255, 255, 255, 255]]]
        picture.clear((0.0, 0.0, 0.0, 0.0))
        assert picture.read_pixels().tolist() == [[[0, 0, 0, 0]]]
    assert GL.glClear is before


def test_functions_come_back_after_a_failure() -> None:
    before = GL.glFlush

    def fail() -> None:
        with muted_gl():
            raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        fail()
    assert GL.glFlush is before


def test_a_frame_costs_more_than_its_part_in_python() -> None:
    whole, python = rows_of("frame", 1, (50,))
    assert (whole.system, whole.variant, whole.size) == ("frame", "whole", 50)
    assert python.variant == "Python alone"
    assert 0.0 < python.ms_per_step_min < whole.ms_per_step_min
