import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from sinew.sim.scene.playback import PlaybackSettings

TOP = 4.0
FRAME = 1.0 / 30.0


def test_a_press_anywhere_on_the_ruler_scrubs(timeline, log, mouse, x_of):
    mouse.press(x_of(0.5), TOP)
    mouse.release(x_of(0.5), TOP)
    assert log.names() == ["scrub_started", "scrubbed", "scrub_finished"]
    assert log.values("scrubbed") == [pytest.approx(0.5)]
    assert timeline.fields.frame.value() == pytest.approx(15.0)


def test_a_drag_scrubs_within_the_clip_on_frames_with_shift(timeline, log, mouse, x_of):
    mouse.drag(x_of(0.2), x_of(0.2) + 50.0, TOP)
    assert log.names() == ["scrub_started", *["scrubbed"] * 5, "scrub_finished"]
    assert log.values("scrubbed")[-1] == pytest.approx(0.2 + 50.0 * timeline.ruler.scale.seconds_per_pixel)
    mouse.drag(x_of(0.5), -500.0, TOP)
    mouse.drag(x_of(0.5), 5000.0, TOP)
    assert (min(log.values("scrubbed")), max(log.values("scrubbed"))) == (0.0, 1.0)
    mouse.modifiers = Qt.KeyboardModifier.ShiftModifier
    mouse.drag(x_of(0.2), x_of(0.514), TOP)
    assert log.values("scrubbed")[-1] == pytest.approx(0.5)


def test_escape_cancels_a_scrub(timeline, log, mouse, x_of):
    timeline.set_time(0.1)
    mouse.drag(x_of(0.2), x_of(0.8), TOP, release=False)
    QTest.keyClick(timeline.ruler, Qt.Key.Key_Escape)
    mouse.move(x_of(0.9), TOP)
    mouse.release(x_of(0.9), TOP)
    assert log[-2:] == [("scrubbed", 0.1), ("scrub_finished",)]
    assert timeline.ruler.time == 0.1


@pytest.mark.parametrize(("name", "start", "target"), [("in_point", 0.0, 0.31), ("out_point", 1.0, 0.71)])
def test_a_marker_drag_is_one_gesture_on_whole_frames(timeline, log, mouse, x_of, lane_y, name, start, target):
    mouse.drag(x_of(start), x_of(target), lane_y)
    assert log.names()[0] == "edit_started"
    assert log.names()[-1] == "edit_finished"
    assert log.names().count("edit_started") == log.names().count("edit_finished") == 1
    assert {entry[1] for entry in log} == {name}
    values = log.values("edited")
    assert all(value / FRAME == pytest.approx(round(value / FRAME)) for value in values)
    assert values[-1] == pytest.approx(round(target / FRAME) * FRAME)
    assert timeline.ruler.points[name] == values[-1]
    assert timeline.fields.ends[name].value() == pytest.approx(values[-1] / FRAME)


def test_markers_stay_a_frame_apart_and_control_leaves_the_frames(timeline, log, mouse, x_of, lane_y):
    mouse.modifiers = Qt.KeyboardModifier.ControlModifier
    mouse.drag(x_of(0.0), x_of(0.0) + 101.0, lane_y)
    assert log.values("edited")[-1] == pytest.approx(101.0 * timeline.ruler.scale.seconds_per_pixel)
    mouse.modifiers = Qt.KeyboardModifier.NoModifier
    timeline.set_playback(PlaybackSettings(in_point=0.2, out_point=0.5))
    mouse.drag(x_of(0.2), x_of(0.9), lane_y)
    assert log.values("edited")[-1] == pytest.approx(0.5 - FRAME)
    timeline.set_playback(PlaybackSettings(in_point=0.2, out_point=0.5))
    mouse.drag(x_of(0.5), x_of(0.0), lane_y)
    assert log.values("edited")[-1] == pytest.approx(0.2 + FRAME)


def test_a_click_on_a_marker_and_one_that_cannot_move_change_nothing(timeline, log, mouse, x_of, lane_y):
    mouse.press(x_of(1.0) + 4.0, lane_y)
    mouse.release(x_of(1.0) + 4.0, lane_y)
    timeline.set_playback(PlaybackSettings(in_point=0.0))
    mouse.drag(x_of(0.0), x_of(-0.5), lane_y)
    assert log == []


def test_escape_cancels_the_drag_of_a_marker(timeline, log, mouse, x_of, lane_y):
    timeline.set_playback(PlaybackSettings(out_point=0.8))
    mouse.drag(x_of(0.8), x_of(0.4), lane_y, release=False)
    QTest.keyClick(timeline.ruler, Qt.Key.Key_Escape)
    mouse.release(x_of(0.4), lane_y)
    assert log[-2:] == [("edited", "out_point", 0.8), ("edit_cancelled", "out_point")]
    assert "edit_finished" not in log.names()
    assert timeline.ruler.points["out_point"] == 0.8


def test_a_double_click_on_a_marker_clears_it(timeline, log, mouse, x_of, lane_y):
    timeline.set_playback(PlaybackSettings(in_point=0.2, out_point=0.8))
    mouse.double_click(x_of(0.2), lane_y)
    assert log == [("edit_started", "in_point"), ("edited", "in_point", None), ("edit_finished", "in_point")]
    assert timeline.ruler.points["in_point"] is None
    log.clear()
    mouse.double_click(x_of(0.0), lane_y)
    assert log == []


def test_markers_outside_the_clip_or_in_the_wrong_order_can_be_moved(timeline, log, mouse, x_of, lane_y):
    timeline.set_playback(PlaybackSettings(in_point=0.5, out_point=7.0))
    mouse.drag(x_of(1.0), x_of(0.8), lane_y)
    assert log.values("edited")[-1] == pytest.approx(0.8)
    timeline.set_playback(PlaybackSettings(in_point=0.8, out_point=0.2))
    mouse.drag(x_of(0.8), x_of(0.7), lane_y)
    assert log.values("edited")[-1] == pytest.approx(0.2 - FRAME)


def test_the_view_is_zoomed_and_panned_and_a_double_click_fits_it(timeline, log, mouse, clips):
    whole = timeline.ruler.scale
    assert mouse.wheel(400.0, TOP, 3)
    closer = timeline.ruler.scale
    assert closer.seconds_per_pixel == pytest.approx(whole.seconds_per_pixel * 0.8**3)
    assert closer.time_of(400.0) == pytest.approx(whole.time_of(400.0)), "around the mouse"
    timeline.set_clips(clips, "walk")
    assert timeline.ruler.scale == closer, "the same clips again"
    mouse.drag(600.0, 540.0, TOP, Qt.MouseButton.MiddleButton)
    assert timeline.ruler.scale.start == pytest.approx(closer.start + 60.0 * closer.seconds_per_pixel)
    assert log == []
    mouse.double_click(600.0, TOP)
    assert timeline.ruler.scale == whole
    mouse.wheel(200.0, TOP, 6)
    start = timeline.ruler.scale.start
    mouse.drag(600.0, timeline.ruler.width() + 80.0, TOP)
    assert timeline.ruler.scale.start > start, "a scrub beyond the edge pulls the view along"


def test_the_view_turns_the_page_while_playing_only(timeline, mouse):
    mouse.wheel(50.0, TOP, 8)
    shown = timeline.ruler.scale
    assert shown.end < 0.9
    timeline.set_time(shown.end - 0.01)
    timeline.set_time(0.9)
    assert timeline.ruler.scale == shown
    timeline.set_time(shown.end - 0.01)
    timeline.set_playing(True, 1)
    timeline.set_time(0.9)
    assert timeline.ruler.scale.shows(0.9)


def test_a_clip_of_one_pose_has_one_time(timeline, log, mouse, lane_y):
    from sinew.widgets.timeline.ruler_scale import ClipEntry

    timeline.set_clips([ClipEntry("pose", 1, 0.0, (0.0,))], "pose")
    mouse.drag(timeline.ruler.scale.x_of(0.0), 500.0, lane_y)
    mouse.drag(300.0, 500.0, TOP)
    mouse.wheel(100.0, TOP, 20)
    assert all(value == 0.0 for value in log.values("edited") + log.values("scrubbed"))
    assert not timeline.grab().isNull()
