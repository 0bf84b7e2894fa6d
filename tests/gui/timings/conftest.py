import pytest

from sinew.widgets.timings.view import TimingsView
from tests.gui.timings.fake_frames import STATUS, history_of, walk


@pytest.fixture(scope="session")
def samples():
    return walk(600)


@pytest.fixture
def history(samples):
    return history_of(samples)


@pytest.fixture
def view(show, history):
    view = show(TimingsView(), 1200, 320)
    view._timer.stop()
    view.set_status(STATUS)
    view.set_history(history)
    return view
