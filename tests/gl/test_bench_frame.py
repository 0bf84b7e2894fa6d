"""Telling the time inside OpenGL calls from the rest of a frame."""

import time

import pytest

from sim.bench.frame import frame_rows
from sim.bench.gl_clock import timed_gl_calls
from sim.gl.bootstrap import GL
from sim.gl.context import Context


def test_calls_are_counted_and_put_back() -> None:
    before = GL.glFinish
    with Context.headless() as context:
        with timed_gl_calls() as clock:
            for _ in range(7):
                GL.glFinish()
            assert clock.calls == 7
            assert clock.seconds > 0.0
            clock.reset()
            assert (clock.calls, clock.seconds) == (0, 0.0)
            context.finish()
            assert clock.calls == 1
        GL.glFinish()
        assert clock.calls == 1
    assert GL.glFinish is before


def test_functions_come_back_after_a_failure() -> None:
    before = GL.glFlush

    def fail() -> None:
        with timed_gl_calls():
            raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        fail()
    assert GL.glFlush is before


def test_only_time_inside_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def slow() -> str:
        now[0] += 2.0
        return "done"

    monkeypatch.setattr(GL, "glFlush", slow)
    with timed_gl_calls() as clock:
        now[0] += 5.0
        assert GL.glFlush() == "done"
        now[0] += 5.0
    assert (clock.seconds, clock.calls) == (2.0, 1)


def test_a_frame_costs_more_than_its_part_outside_opengl() -> None:
    whole, outside = frame_rows(1, [50])
    assert (whole.system, whole.variant, whole.size) == ("frame", "whole", 50)
    assert outside.variant == "outside OpenGL"
    assert 0.0 < outside.ms_per_step_min < whole.ms_per_step_min
