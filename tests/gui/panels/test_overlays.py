import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from sinew.app.kinds.cloth.stability_meter import (
    StabilityMeterWidget,
    StabilityOverlay,
    meter_colour,
    meter_text,
    meter_word,
)
from sinew.sim.kinds.cloth.line_solver import LineMeasures
from sinew.sim.kinds.cloth.settings import ClothSettings, ClothSolving
from sinew.sim.kinds.cloth.stability import ClothStability, line_stability
from sinew.sim.maths.ramps import Ramp, ramp_colours
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.widgets.axis_gizmo import VIEWS, AxisGizmo
from sinew.widgets.overlay import Divider, Legend, StatisticsOverlay
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
    assert legend.labels == ("-2", "0", "2"), "zero has no sign"
    legend.show_ramp(Ramp.VIRIDIS, "Distance", 0.0, 0.0325, "m")
    assert legend.labels == ("0", "0.0163", "0.0325")
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


def test_small_overlays_are_painted_anew_only_after_a_change(ground, monkeypatch):
    painted = []
    paint = StatisticsOverlay.paint
    monkeypatch.setattr(StatisticsOverlay, "paint", lambda self, painter: painted.append(1) or paint(self, painter))
    overlay = put(StatisticsOverlay(ground))
    overlay.set_rows([("vertices", "1000")])
    first = overlay.grab().toImage()
    count = len(painted)
    assert count > 0
    assert overlay.grab().toImage() == first
    assert len(painted) == count
    overlay.set_rows([("vertices", "1001")])
    assert overlay.grab().toImage() != first
    font = overlay.font()
    font.setBold(True)
    count = len(painted)
    overlay.setFont(font)
    overlay.grab()
    assert len(painted) > count


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


def measured(ratio, substeps=20):
    """A cloth of 10 substeps that are `ratio` of the longest stable one."""
    return ClothStability(
        h_max=STEP_TIME / 10 / ratio, ratio=ratio, substeps=substeps, softening=min(0.64 / ratio**2, 1.0)
    )


@pytest.fixture
def meter(show):
    return show(StabilityMeterWidget(), 300, 40)


def test_word_colour_and_button_change_at_the_margin_and_at_the_limit(meter):
    colours = {meter_word(measured(r)): meter_colour(measured(r)).name() for r in (0.1, 0.9, 2.0)}
    assert len(set(colours.values())) == 3
    for ratio, word in (
        (0.5, "stable"), (0.79, "stable"), (0.8, "near the limit"), (0.99, "near the limit"), (1.0, "unstable"),
        (400.0, "unstable"),
    ):  # fmt: skip
        meter.show_stability(measured(ratio, 2000))
        assert meter_word(meter.stability) == word
        assert meter.button.isVisible() is (word != "stable")
        assert meter_colour(meter.stability).name() == colours[word]
    assert meter.accessibleName() == "Stability: dt / dt max > 99, unstable"
    meter.show_stability(None)
    assert meter_text(None) == "dt / dt max –"
    assert not meter.button.isVisible()
    meter.bar.repaint()


def test_both_remedies_name_their_cost(meter, qtbot):
    meter.show_stability(measured(1.6, 20))
    assert meter.button.menu().actions() == [meter.substeps_action, meter.softer_action]
    assert meter.substeps_action.text() == "Substeps 10 → 20: 2 × the time of a step"
    assert meter.softer_action.text() == "Soften the fabric to 25 % of its stiffness"
    with qtbot.waitSignal(meter.stable_requested) as asked:
        meter.substeps_action.trigger()
    assert asked.args == [20]
    with qtbot.waitSignal(meter.soft_requested) as asked:
        meter.softer_action.trigger()
    assert asked.args == pytest.approx([0.25])


def test_the_meter_of_lines_shows_load_and_error(meter):
    settings = ClothSettings(solver=ClothSolving.LINES, substeps=16)
    shown = {}
    for load, error in ((0.25, 0.003), (0.25, 0.04), (4.0, 0.003)):
        found = line_stability(settings, LineMeasures(load, 3.0 * error, error))
        meter.show_stability(found, holds_load=True)
        shown[load, error] = meter.accessibleName(), found.substeps, meter.button.isVisible()
    assert shown == {
        (0.25, 0.003): ("Stability: load 0.50, error 0.3 %, holds", 13, False),
        (0.25, 0.04): ("Stability: load 0.50, error 4 %, inaccurate", 57, True),
        (4.0, 0.003): ("Stability: load 2.00, error 0.3 %, overloaded", 50, True),
    }
    assert meter.substeps_action.isEnabled()
    assert "99 % of the particles have an error of at most 0.3 %; the largest is 0.9 %" in meter.toolTip()


def test_a_remedy_that_does_not_help_is_disabled(meter):
    meter.show_stability(measured(900.0, 4096))
    assert not meter.substeps_action.isEnabled()
    assert "4,096 substeps are not enough" in meter.substeps_action.text()
    assert meter.softer_action.isEnabled()
    meter.show_stability(ClothStability(h_max=STEP_TIME / 40, ratio=4.0, substeps=50, softening=0.0))
    assert not meter.softer_action.isEnabled()
    assert "air drag" in meter.softer_action.text()
    assert meter.substeps_action.isEnabled()


def test_the_overlay_hides_without_a_cloth_and_reports_a_new_size(qtbot):
    overlay = StabilityOverlay()
    qtbot.addWidget(overlay)
    overlay.show_stability(measured(0.3))
    assert overlay.isVisible()
    with qtbot.waitSignal(overlay.resized):
        overlay.show_stability(measured(3.0, 50))
    overlay.show_stability(None)
    assert not overlay.isVisible()
