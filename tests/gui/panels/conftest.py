import gc

import pytest
from PySide6.QtCore import QCoreApplication, QEvent

from tests.gui.panels.fakes import FakeTarget, sample_scene, sample_statuses


@pytest.fixture(autouse=True)
def deleted_widgets(qapp):
    """Widgets of a test are gone before the next one; Qt takes the square of their number for a crowd.

    Garbage goes first: a collection in the middle of the deletion of a widget would free wrappers of its children.
    """
    yield
    gc.collect()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def target(qapp):
    return FakeTarget(sample_scene())


@pytest.fixture
def statuses():
    return sample_statuses()
