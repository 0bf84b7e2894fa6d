import gc

import pytest
from PySide6.QtCore import QCoreApplication, QEvent

from tests.gui.panels.fakes import FakeTarget, sample_scene, sample_statuses


@pytest.fixture(autouse=True)
def deleted_widgets(qapp):
    """Deletes the widgets of a test before the next one, garbage first: Qt is slow with many widgets."""
    yield
    gc.collect()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def target(qapp):
    return FakeTarget(sample_scene())


@pytest.fixture
def statuses():
    return sample_statuses()
