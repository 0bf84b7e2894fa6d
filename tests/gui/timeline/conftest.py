import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from sinew.widgets.timeline.ruler_scale import ClipEntry
from sinew.widgets.timeline.timeline import Timeline
from tests.gui.panels.fakes import SignalLog, send_wheel

WALK = ClipEntry("walk", 31, 1.0, np.arange(31) / 30.0)
RUN = ClipEntry("run", 61, 2.0, np.arange(61) / 30.0)

SIGNALS = (
    "scrub_started", "scrubbed", "scrub_finished", "play_toggled", "step_requested", "key_requested",
    "jump_requested", "clip_chosen", "bind_pose_toggled", "edit_started", "edited", "edit_finished", "edit_cancelled",
)  # fmt: skip


class Mouse:
    def __init__(self, widget):
        self.widget, self.held = widget, Qt.MouseButton.NoButton
        self.modifiers = Qt.KeyboardModifier.NoModifier

    def press(self, x, y, button=Qt.MouseButton.LeftButton):
        self.widget.setFocus(Qt.FocusReason.MouseFocusReason)
        self.held = button
        self._send(QEvent.Type.MouseButtonPress, x, y, button)

    def move(self, x, y):
        self._send(QEvent.Type.MouseMove, x, y, Qt.MouseButton.NoButton)

    def release(self, x, y):
        button, self.held = self.held, Qt.MouseButton.NoButton
        self._send(QEvent.Type.MouseButtonRelease, x, y, button)

    def drag(self, start, end, y, button=Qt.MouseButton.LeftButton, release=True):
        self.press(start, y, button)
        for share in (0.25, 0.5, 0.75, 1.0):
            self.move(start + share * (end - start), y)
        if release:
            self.release(end, y)

    def double_click(self, x, y):
        self.press(x, y)
        self.release(x, y)
        self.held = Qt.MouseButton.LeftButton
        self._send(QEvent.Type.MouseButtonDblClick, x, y, Qt.MouseButton.LeftButton)
        self.release(x, y)

    def wheel(self, x, y, notches):
        return send_wheel(self.widget, QPointF(x, y), notches, self.modifiers)

    def _send(self, kind, x, y, button):
        at = QPointF(x, y)
        event = QMouseEvent(kind, at, self.widget.mapToGlobal(at), button, self.held, self.modifiers)
        QApplication.sendEvent(self.widget, event)


@pytest.fixture
def timeline(qtbot):
    widget = Timeline()
    qtbot.addWidget(widget)
    widget.resize(1280, 154)
    widget.show()
    qtbot.waitExposed(widget)
    widget.activateWindow()
    qtbot.waitUntil(widget.isActiveWindow, timeout=60000)
    widget.set_clips([WALK, RUN], "walk")
    QApplication.processEvents()
    return widget


@pytest.fixture
def log(timeline):
    return SignalLog(timeline, *SIGNALS)


@pytest.fixture
def mouse(timeline):
    return Mouse(timeline.ruler)


@pytest.fixture
def lane_y(timeline):
    return timeline.ruler.height() / 2.0


@pytest.fixture
def x_of(timeline):
    return lambda time: timeline.ruler.scale.x_of(time)


@pytest.fixture
def mouse_on():
    return Mouse


@pytest.fixture
def clips():
    return [WALK, RUN]
