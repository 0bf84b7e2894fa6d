import pytest

from sinew.widgets.timings.view import TimingsView
from tests.gui.timings.fake_frames import STATUS, history_of, walk


@pytest.fixture(scope="session")
def samples():
    """Ten seconds of a walk, with spikes in frames 200 and 440."""
    return walk(600)


@pytest.fixture
def history(samples):
    """These frames as columns."""
    return history_of(samples)


@pytest.fixture
def view(show, history):
    """The panel with these frames; it draws when told to."""
    view = show(TimingsView(), 1200, 320)
    view._timer.stop()
    view.set_status(STATUS)
    view.set_history(history)
    return view
