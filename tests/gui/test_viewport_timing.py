"""What the viewport tells about the cost of its pictures: numbers, moments, intervals, and how it is known."""

import math

import pytest
from PySide6.QtWidgets import QApplication

from sinew.app.viewport.frame_info import vsync_now
from sinew.sim.profile.recorder import WARM_UP
from sinew.sim.profile.sample import TimerStatus, Vsync
from tests.gui.editor_harness import Clock


class Heard:
    """Samples and numbers that a client sent."""

    def __init__(self, client):
        self.samples, self.frames = [], []
        client.measured.connect(self.samples.extend)
        client.drawn.connect(lambda drawn: self.frames.append(drawn.frame))


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def editor(session, arm, clock):
    return session.open(arm, clock=clock)


@pytest.fixture
def simulated(editor):
    return Heard(editor.client)


def draw(editor, clock, count=1):
    for _ in range(count):
        clock.now += 1 / 60
        editor.playback.tick()
        editor.viewport.repaint()
        QApplication.processEvents()


def test_off_there_is_nothing_to_tell(editor, clock, simulated):
    draw(editor, clock, 3)
    assert simulated.samples == []
    assert set(simulated.frames) == {None}
    assert editor.client.timer_status == TimerStatus(vsync=editor.client.timer_status.vsync)


def test_pictures_carry_the_numbers_of_their_samples_and_the_moment(editor, clock, simulated):
    editor.client.set_timing(True)
    editor.playback.toggle()
    draw(editor, clock, WARM_UP + 4)
    numbers = [number for number in simulated.frames if number is not None]
    assert simulated.frames[:WARM_UP] == [None] * WARM_UP
    assert numbers == list(range(len(numbers)))
    assert [sample.number for sample in simulated.samples] == numbers[: len(simulated.samples)]
    last = simulated.samples[-1]
    clip = editor.active.clip
    assert last.moment.clip == clip.name
    assert last.moment.clip_frame == pytest.approx(last.moment.time / editor.active.frame_step)
    assert {"apply", "draw", "draw/models", "draw/resolve"} <= {one.path for one in last.slices}
    assert not math.isnan(last.since)  # which tells the interval of the one before
    status = editor.client.timer_status
    assert status.enabled
    assert status.warmup_discarded == WARM_UP
    assert status.renderer == editor.client.engine.context.capabilities.renderer


def test_numbers_go_on_when_measuring_is_switched_off_and_on_and_when_the_context_is_made_anew(
    editor, clock, simulated
):
    for _ in range(2):
        editor.client.set_timing(True)
        draw(editor, clock, WARM_UP + 2)
        editor.client.set_timing(False)
        draw(editor, clock)
    with editor.viewport.gl_current():
        editor.client.gl_init()
    editor.client.set_timing(True)
    draw(editor, clock, WARM_UP + 2)
    numbers = [number for number in simulated.frames if number is not None]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= 6


def test_the_state_of_the_screen_is_what_its_surface_was_asked_for(editor):
    editor.viewport.doneCurrent()
    assert vsync_now() is Vsync.UNKNOWN
    with editor.viewport.gl_current():
        expected = Vsync.ON if editor.viewport.context().format().swapInterval() else Vsync.OFF
        assert vsync_now() is expected
