from collections.abc import Callable
from dataclasses import replace

import pytest

from sinew.sim.gl import timer
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.context import Context
from sinew.sim.gl.timer import Timers
from sinew.sim.profile.calibration import Trial
from sinew.sim.profile.recorder import NO_RUN, WARM_UP
from sinew.sim.profile.sample import Calibration, FrameSample, SceneMoment, TimeSource, Vsync
from tests.gl.gl_errors import pending_errors

QUERY_CALLS = (
    "glGenQueries", "glDeleteQueries", "glQueryCounter", "glBeginQuery", "glEndQuery", "glGetInteger64v", "glFinish",
)  # fmt: skip
RAW_CALLS = ("glGetQueryiv", "glGetQueryObjectiv", "glGetQueryObjectui64v")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    made: list[str] = []

    def counted(name: str, function: Callable) -> Callable:
        def call(*arguments: object) -> object:
            made.append(name)
            return function(*arguments)

        return call

    for name in QUERY_CALLS:
        monkeypatch.setattr(GL, name, counted(name, getattr(GL, name)))
    for name in RAW_CALLS:
        monkeypatch.setattr(timer, name, counted(name, getattr(timer, name)))
    return made


@pytest.fixture
def timers(context: Context):
    context.timers.calibration = Calibration(TimeSource.CLOCK, "a test", 0.5, "renderer")
    yield context.timers
    context.timers.switch(False)


def frames(timers: Timers, count: int, draw: Callable[[], object]) -> list[FrameSample]:
    samples: list[FrameSample] = []
    for index in range(WARM_UP + count):
        draw()
        timers.finish_frame(SceneMoment(step=index))
        samples += timers.poll()
    return samples


def test_switched_off_they_make_no_calls(context: Context, calls: list[str]) -> None:
    timers = context.timers
    assert not timers.enabled
    assert timers.scope("draw") is timers.scope("cloth", "Cape") is timers.host_scope("pose") is NO_RUN
    with timers.scope("draw"), timers.scope("cloth", "Cape"):
        pass
    assert timers.finish_frame(SceneMoment()) is None
    assert timers.poll() == []
    assert calls == []
    assert context.live == []


def test_switching_on_and_off_leaves_nothing(context: Context, timers: Timers, calls: list[str]) -> None:
    def draw() -> None:
        with timers.scope("draw"), timers.scope("ground"):
            GL.glClear(GL.GL_COLOR_BUFFER_BIT)

    timers.switch(True, TimeSource.TIMER)
    samples = frames(timers, 4, draw)
    assert calls.count("glQueryCounter") == 4 * (WARM_UP + 4)
    assert calls.count("glFinish") == 0
    context.finish()
    samples += timers.poll()
    assert any(label.startswith("Query:") for label in context.live)
    assert [sample.number for sample in samples] == [0, 1, 2, 3]
    assert {one.path for sample in samples for one in sample.slices} == {"draw", "draw/ground"}
    timers.switch(False)
    assert context.live == []
    calls.clear()
    draw()
    assert calls == []
    assert pending_errors() == []
    timers.switch(True)
    assert frames(timers, 1, draw)[0].number == timers.number - 1 == 4
    assert "glQueryCounter" not in calls


def test_status(timers: Timers) -> None:
    timers.vsync = Vsync.ON
    assert not timers.status.enabled
    timers.switch(True)

    def draw() -> None:
        with timers.scope("draw"):
            GL.glClear(GL.GL_COLOR_BUFFER_BIT)

    frames(timers, 3, draw)
    timers.warm_up()
    frames(timers, 1, draw)
    status = timers.status
    assert (status.enabled, status.source, status.reason, status.renderer) == (
        True, TimeSource.CLOCK, "a test", "renderer"
    )  # fmt: skip
    assert (status.latency_frames, status.dropped, status.warmup_discarded) == (0, 0, 2 * WARM_UP)
    assert status.vsync is Vsync.ON
    assert 0.0 < status.waiting_us_per_frame < status.own_cost_us_per_frame


def test_calibration_chooses_a_source(context: Context) -> None:
    found = context.timers.calibrate()
    assert context.timers.calibrate() is found
    assert found.renderer == context.capabilities.renderer
    if context.capabilities.is_software:
        assert found.source is TimeSource.CLOCK
        assert "its timer reported" in found.reason
        assert found.ratio < 0.5
    context.bind_default_framebuffer()
    assert context.live == []


def test_a_correct_driver_timer_is_chosen(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context.timers, "_run_trials", lambda _: [Trial("a filled picture", 0.98)])
    context.capabilities = replace(context.capabilities, renderer="Card 9000")
    found = context.timers.calibrate()
    assert (found.source, found.reason) == (TimeSource.TIMER, "Card: its timer reported 98 % of a filled picture")
