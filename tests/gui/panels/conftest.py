import pytest

from tests.gui.panels.fakes import FakeTarget, sample_scene, sample_statuses


@pytest.fixture
def target(qapp):
    return FakeTarget(sample_scene())


@pytest.fixture
def statuses():
    return sample_statuses()


@pytest.fixture
def show(qtbot):
    """Shows a widget in an active window of its own."""

    def show_widget(widget, width=320, height=900):
        qtbot.addWidget(widget)
        widget.resize(width, height)
        widget.show()
        qtbot.waitExposed(widget)
        widget.activateWindow()
        return widget

    return show_widget
