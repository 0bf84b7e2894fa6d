"""Memory does not grow when actions are repeated a thousand times."""

import ctypes
import gc

import psutil
import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QPixmapCache
from PySide6.QtWidgets import QApplication

from sinew.resources import path as resource
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view_state import Selection

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(1800)]
MOST = 10 << 20  # growth that counts as none: pieces of memory that the allocator keeps [byte]


@pytest.fixture
def editor(session):
    return session.open(resource("projects") / "sparks.sinew", drawn=True)


def spin() -> None:
    QApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def memory() -> int:
    for _ in range(3):
        spin()
        gc.collect()
    QPixmapCache.clear()  # Qt fills it to its limit, then it stays
    ctypes.CDLL(None).malloc_trim(0)
    return psutil.Process().memory_info().rss


def growth(act, times: int) -> int:
    """Bytes that doing something so often leaves, once it was done a tenth as often to fill caches."""
    for index in range(times // 10):
        act(index)
        spin()
    before = memory()
    for index in range(times):
        act(index)
        spin()
        if index % 10 == 0:
            gc.collect()  # as the program does now and then; too much garbage at once leaves memory in pieces
    return memory() - before


def test_selections_leave_nothing(editor):
    nodes = [node.id for node in editor.document.scene.nodes[:6]]

    def act(index):
        editor.document.select(Selection(node=nodes[index % len(nodes)]))

    assert growth(act, 1000) < MOST


def test_undo_and_redo_leave_nothing(editor):
    light = editor.document.scene.of_kind("light")[0]
    for intensity in (1.0, 2.0, 3.0):
        editor.document.set_value(ParamRef(light.id, light.kind, "intensity"), intensity)

    def act(index):
        getattr(editor.document.undo_stack, "undo" if index % 4 < 2 else "redo")()

    assert growth(act, 2000) < MOST


def test_opening_projects_leaves_nothing(session, editor):
    names = ("sparks", "cape", "fountain")
    assert growth(lambda index: session.load(editor, resource("projects") / f"{names[index % 3]}.sinew"), 200) < MOST
