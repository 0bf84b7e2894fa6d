import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from sinew.sim.scene.playback import LoopMode, PlaybackSettings


def press(button):
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_setters_emit_nothing(timeline, log, clips):
    timeline.set_clips(clips, "run")
    timeline.set_current_clip("walk")
    timeline.set_time(0.5)
    timeline.set_playing(True, -1)
    timeline.set_playback(PlaybackSettings(loop=LoopMode.ONCE, speed=-2.0, in_point=0.2, out_point=0.8))
    timeline.set_bind_pose(True)
    timeline.set_realtime("real time")
    timeline.ruler.set_empty_text("Nothing here")
    timeline.set_clips([], "")
    QApplication.processEvents()
    assert log == []


def test_setters_show_their_values(timeline):
    timeline.set_playback(PlaybackSettings(loop=LoopMode.PING_PONG, speed=-2.0, in_point=0.2))
    timeline.set_time(0.78)
    assert timeline.fields.frame.text() == "23.4"
    assert timeline.fields.time.text() == "0.780 s"
    assert timeline.fields.ends["in_point"].text() == "6"
    assert timeline.fields.ends["out_point"].text() == "30"
    assert timeline.speed_field.text() == "-2.0 ×"
    assert "ping-pong" in timeline.loop_button.accessibleName()


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (0, ("jump_requested", "first")),
        (1, ("key_requested", -1)),
        (2, ("step_requested", -1)),
        (3, ("play_toggled", -1)),
        (4, ("play_toggled", 1)),
        (5, ("step_requested", 1)),
        (6, ("key_requested", 1)),
        (7, ("jump_requested", "last")),
    ],
)
def test_each_transport_button_tells_one_thing(timeline, log, index, expected):
    press(timeline.transport.buttons[index])
    assert log == [expected]


def test_the_button_of_the_running_direction_becomes_pause(timeline):
    backwards, forwards = timeline.transport.buttons[3:5]
    timeline.set_playing(True, 1)
    assert (backwards.accessibleName(), forwards.accessibleName()) == ("Play backwards", "Pause")
    timeline.set_playing(True, -1)
    assert (backwards.accessibleName(), forwards.accessibleName()) == ("Pause", "Play")
    timeline.set_playing(False, -1)
    assert (backwards.accessibleName(), forwards.accessibleName()) == ("Play backwards", "Play")


def test_the_loop_button_asks_for_the_next_mode_as_one_gesture(timeline, log):
    timeline.set_playback(PlaybackSettings(loop=LoopMode.PING_PONG))
    press(timeline.loop_button)
    assert log == [("edit_started", "loop"), ("edited", "loop", LoopMode.LOOP), ("edit_finished", "loop")]


def test_the_speed_field_edits_as_one_gesture_and_resets(timeline, log, mouse_on):
    mouse = mouse_on(timeline.speed_field)
    mouse.drag(20.0, 40.0, 8.0)
    assert log.names()[0] == "edit_started"
    assert log.names()[-1] == "edit_finished"
    assert log.names().count("edit_finished") == 1
    assert {entry[1] for entry in log} == {"speed"}
    log.clear()
    QTest.mouseDClick(timeline.speed_field, Qt.MouseButton.LeftButton)
    assert log.values("edited") == [1.0]


def test_choosing_a_clip_shows_it_and_tells(timeline, log):
    timeline.clip_chooser.setCurrentIndex(1)
    timeline.clip_chooser.clip_chosen.emit("run")
    assert log == [("clip_chosen", "run")]
    assert timeline.ruler.clip.name == "run"
    assert timeline.ruler.scale.x_of(2.0) < timeline.ruler.width()


def test_the_wheel_over_the_chooser_changes_nothing(timeline, log, mouse_on):
    timeline.clip_chooser.setFocus()
    mouse_on(timeline.clip_chooser).wheel(10.0, 10.0, -1)
    assert timeline.clip_chooser.currentText() == "walk"
    assert log == []


def test_the_bind_pose_button_tells_its_new_state(timeline, log):
    press(timeline.bind_pose_button)
    assert log == [("bind_pose_toggled", True)]


def test_typing_a_fractional_frame_scrubs_there(timeline, log):
    timeline.fields.frame.setFocus()
    QTest.keyClicks(timeline.fields.frame, "23.4")
    QTest.keyClick(timeline.fields.frame, Qt.Key.Key_Return)
    assert log.names() == ["scrub_started", "scrubbed", "scrub_finished"]
    assert log.values("scrubbed") == [pytest.approx(0.78)]
    assert timeline.ruler.time == pytest.approx(0.78)


def test_typing_a_time_beyond_the_clip_stops_at_its_end(timeline, log):
    timeline.fields.time.begin_edit()
    QTest.keyClicks(timeline.fields.time, "99")
    QTest.keyClick(timeline.fields.time, Qt.Key.Key_Return)
    assert log.values("scrubbed") == [1.0]


def test_the_range_fields_edit_in_frames_and_clear(timeline, log):
    field = timeline.fields.ends["out_point"]
    field.begin_edit()
    QTest.keyClicks(field, "21")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert log.values("edited") == [pytest.approx(0.7)]
    field.begin_edit()
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert log.values("edited")[-1] is None
    assert log.names().count("edit_started") == log.names().count("edit_finished") == 2


def test_an_in_point_typed_beyond_the_out_point_stops_before_it(timeline, log):
    timeline.set_playback(PlaybackSettings(out_point=0.5))
    field = timeline.fields.ends["in_point"]
    field.begin_edit()
    QTest.keyClicks(field, "29")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert log.values("edited") == [pytest.approx(0.5 - 1.0 / 30.0)]
    assert field.text() == "14"


@pytest.mark.parametrize("where", ["ruler", "frame", "button", "chooser"])
@pytest.mark.parametrize(
    ("key", "modifier", "expected"),
    [
        (Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier, ("step_requested", -1)),
        (Qt.Key.Key_Right, Qt.KeyboardModifier.NoModifier, ("step_requested", 1)),
        (Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier, ("key_requested", -1)),
        (Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier, ("key_requested", 1)),
        (Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier, ("jump_requested", "first")),
        (Qt.Key.Key_End, Qt.KeyboardModifier.NoModifier, ("jump_requested", "last")),
    ],
)
def test_the_keys_work_wherever_the_focus_is_in_the_timeline(timeline, log, where, key, modifier, expected):
    focus = {
        "ruler": timeline.ruler,
        "frame": timeline.fields.frame,
        "button": timeline.transport.buttons[0],
        "chooser": timeline.clip_chooser,
    }[where]
    focus.setFocus()
    QTest.keyClick(focus, key, modifier)
    assert log == [expected]


def test_the_keys_are_kept_from_the_shortcuts_of_the_window(timeline):
    event = QKeyEvent(QKeyEvent.Type.ShortcutOverride, Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier)
    event.ignore()
    QApplication.sendEvent(timeline.ruler, event)
    assert event.isAccepted()
    other = QKeyEvent(QKeyEvent.Type.ShortcutOverride, Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
    other.ignore()
    QApplication.sendEvent(timeline.ruler, other)
    assert not other.isAccepted()


def test_a_click_on_a_button_leaves_the_focus_where_it_was(timeline):
    timeline.ruler.setFocus()
    press(timeline.transport.buttons[4])
    assert QApplication.focusWidget() is timeline.ruler


def test_without_a_clip_nothing_can_be_done_and_the_ruler_says_why(timeline, log, clips):
    timeline.set_clips([], "")
    assert timeline.clip_chooser.currentText() == "No animation"
    for widget in (timeline.transport, timeline.loop_button, timeline.speed_field, *timeline.fields.all):
        assert not widget.isEnabled()
    timeline.ruler.setFocus()
    QTest.keyClick(timeline.ruler, Qt.Key.Key_Left)
    assert log == []
    timeline.set_clips(clips[:1], "walk")
    assert timeline.transport.isEnabled()


def test_setting_the_same_clips_again_keeps_the_zoom(timeline, mouse, clips):
    mouse.wheel(300.0, 4.0, 4)
    closer = timeline.ruler.scale
    timeline.set_clips(clips, "walk")
    assert timeline.ruler.scale == closer


def test_everything_that_takes_focus_has_a_name_and_a_hint(timeline):
    for widget in timeline.findChildren(QWidget):
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.parent() is not timeline.clip_chooser.view():
            if widget in timeline.clip_chooser.findChildren(QWidget):
                continue
            assert widget.accessibleName(), widget
            assert widget.toolTip() or widget is timeline.ruler, widget
