import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from sinew.sim.maths.ramps import Ramp, ramp_colours
from sinew.sim.scene.camera import Camera
from sinew.widgets.axis_gizmo import VIEWS, AxisGizmo
from sinew.widgets.overlay import Divider, Legend
from tests.gui.panels.fakes import SignalLog, drag, mouse


@pytest.fixture
def ground(show):
    return show(QWidget(), 400, 300)


def put(overlay):
    overlay.show()
    return overlay


def test_the_legend_shows_the_ramp_and_its_ends(ground):
    legend = put(Legend(ground))
    legend.show_ramp(Ramp.CIVIDIS, "Difference", -2.0, 2.0)
    assert legend.labels() == ("-2", "0", "2"), "zero has no sign"
    legend.show_ramp(Ramp.VIRIDIS, "Distance", 0.0, 0.0325, "m")
    assert legend.labels() == ("0", "0.0163", "0.0325")
    picture = legend.grab().toImage()
    ratio = picture.devicePixelRatio()
    row = round((legend.fontMetrics().height() + 4 + 4 + 5) * ratio)
    left, right = (picture.pixelColor(round(x * ratio), row) for x in (9, legend.width() - 10))
    for seen, wanted in ((left, ramp_colours(Ramp.VIRIDIS)[0]), (right, ramp_colours(Ramp.VIRIDIS)[255])):
        assert np.abs(np.array([seen.red(), seen.green(), seen.blue()]) - wanted.astype(int)).max() <= 8


def test_axes_are_shown_as_the_camera_sees_them_and_a_click_asks_for_a_view(ground):
    gizmo = put(AxisGizmo(ground))
    middle = QPointF(gizmo.width() / 2, gizmo.height() / 2)
    for yaw, pitch, nearest in (
        (90.0, 0.0, "right"), (180.0, 0.0, "back"), (-90.0, 0.0, "left"), (0.0, 90.0, "top"), (0.0, -90.0, "bottom"),
        (0.0, 0.0, "front"),
    ):  # fmt: skip
        gizmo.set_rotation(Camera(yaw=yaw, pitch=pitch).rotation())
        assert VIEWS[gizmo.direction_at(middle)] == nearest
    assert gizmo.knob_place((1, 0, 0))[0].x() > middle.x()
    assert gizmo.knob_place((0, 1, 0))[0].y() < middle.y()
    log = SignalLog(gizmo, "view_requested")
    for direction in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0)):
        QTest.mouseClick(gizmo, Qt.MouseButton.LeftButton, pos=gizmo.knob_place(direction)[0].toPoint())
    assert not mouse(gizmo, QEvent.Type.MouseButtonPress, 2, 2).isAccepted(), "the viewport gets it"
    assert log == [("view_requested", name) for name in ("right", "top", "front", "left")]


DIVIDER = ("edit_started", "edited", "edit_finished", "edit_cancelled")


def test_a_drag_of_the_divider_is_one_gesture(ground):
    divider = put(Divider(ground))
    divider.set_value(0.25)
    assert divider.geometry().center().x() == pytest.approx(100, abs=1)
    assert divider.height() == 300
    ground.resize(800, 200)
    divider.place()
    assert divider.geometry().center().x() == pytest.approx(200, abs=1)
    log = SignalLog(divider, *DIVIDER)
    QTest.mouseClick(divider, Qt.MouseButton.LeftButton, pos=QPoint(9, 50))
    assert log == [("edit_started",), ("edit_finished",)], "a press alone moves nothing"
    log.clear()
    mouse(divider, QEvent.Type.MouseButtonPress, 6, 50)
    for _ in range(10):
        mouse(divider, QEvent.Type.MouseMove, 16, 50, Qt.MouseButton.NoButton)
    mouse(divider, QEvent.Type.MouseButtonRelease, 6, 50, held=Qt.MouseButton.NoButton)
    assert log.names() == ["edit_started", *["edited"] * 10, "edit_finished"]
    assert divider.value == pytest.approx(0.375)
    drag(divider, 6, 900, 50)
    assert divider.value == 1.0
