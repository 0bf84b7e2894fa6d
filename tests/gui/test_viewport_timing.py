import pytest
from PySide6.QtWidgets import QApplication

from sinew.sim.profile.recorder import WARM_UP


class Received:
    def __init__(self, client):
        self.samples, self.frames = [], []
        client.measured.connect(self.samples.extend)
        client.drawn.connect(lambda drawn: self.frames.append(drawn.frame))


@pytest.fixture
def received(editor):
    return Received(editor.client)


def draw(editor, count=1):
    for _ in range(count):
        editor.playback._clock.now += 1 / 60
        editor.playback.tick()
        editor.viewport.repaint()
        QApplication.processEvents()


def test_numbers_continue_after_a_pause_and_with_a_new_context(editor, received):
    for _ in range(2):
        editor.client.set_timing(True)
        draw(editor, WARM_UP + 2)
        editor.client.set_timing(False)
        draw(editor)
    with editor.viewport.gl_current():
        editor.client.gl_init()
    editor.client.set_timing(True)
    draw(editor, WARM_UP + 2)
    numbers = [number for number in received.frames if number is not None]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= 6
    editor.client.set_timing(False)
