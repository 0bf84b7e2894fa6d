import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from sinew.sim.scene.playback import LoopMode, PlaybackSettings
from sinew.widgets.theme import DARK, LIGHT, palette_of


def press(button):
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_setters_show_their_values_and_emit_nothing(timeline, log, clips):
    timeline.set_playback(PlaybackSettings(loop=LoopMode.PING_PONG, speed=-2.0, in_point=0.2))
    timeline.set_time(0.78)
    assert timeline.fields.frame.text() == "23.4"
    assert timeline.fields.time.text() == "0.780 s"
    assert [field.text() for field in timeline.fields.ends.values()][:2] == ["6", "30"]
    assert timeline.speed_field.text() == "-2.0 ×"
    assert "ping-pong" in timeline.loop_button.accessibleName()
    timeline.set_clips(clips, "run")
    timeline.set_current_clip("walk")
    timeline.set_time(0.5)
    timeline.set_playing(True, -1)
    timeline.set_playback(PlaybackSettings(loop=LoopMode.ONCE, speed=-2.0, in_point=0.2, out_point=0.8))
    timeline.set_bind_pose(True)
    timeline.ruler.empty_text = "Nothing here"
    timeline.set_clips([], "")
    QApplication.processEvents()
    assert log == []


def test_each_button_emits_one_request(timeline, log):
    for button in timeline.transport.buttons:
        press(button)
    assert log == [
        ("jump_requested", "first"), ("key_requested", -1), ("step_requested", -1), ("play_toggled", -1),
        ("play_toggled", 1), ("step_requested", 1), ("key_requested", 1), ("jump_requested", "last"),
    ]  # fmt: skip
    log.clear()
    press(timeline.bind_pose_button)
    timeline.set_playback(PlaybackSettings(loop=LoopMode.PING_PONG))
    press(timeline.loop_button)
    assert log == [
        ("bind_pose_toggled", True), ("edit_started", "loop"), ("edited", "loop", LoopMode.LOOP),
        ("edit_finished", "loop"),
    ]  # fmt: skip
    backwards, forwards = timeline.transport.buttons[3:5]
    for state, names in (
        ((True, 1), ("Play backwards", "Pause")), ((True, -1), ("Pause", "Play")),
        ((False, -1), ("Play backwards", "Play")),
    ):  # fmt: skip
        timeline.set_playing(*state)
        assert (backwards.accessibleName(), forwards.accessibleName()) == names


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


def test_a_chosen_clip_is_shown_and_the_wheel_chooses_none(timeline, log, mouse_on):
    timeline.clip_chooser.setFocus()
    mouse_on(timeline.clip_chooser).wheel(10.0, 10.0, -1)
    assert timeline.clip_chooser.currentText() == "walk"
    assert log == []
    timeline.clip_chooser.setCurrentIndex(1)
    timeline.clip_chooser.clip_chosen.emit("run")
    assert log == [("clip_chosen", "run")]
    assert timeline.ruler.clip.name == "run"
    assert timeline.ruler.scale.x_of(2.0) < timeline.ruler.width()


def test_frames_and_times_are_typed(timeline, log):
    def typed(field, text):
        field.setFocus()
        field.begin_edit()
        QTest.keyClicks(field, text)
        QTest.keyClick(field, Qt.Key.Key_Return)

    typed(timeline.fields.frame, "23.4")
    assert log.names() == ["scrub_started", "scrubbed", "scrub_finished"]
    assert timeline.ruler.time == pytest.approx(0.78)
    typed(timeline.fields.time, "99")
    assert log.values("scrubbed") == [pytest.approx(0.78), 1.0], "the clip ends there"
    log.clear()
    out, into = (timeline.fields.ends[name] for name in ("out_point", "in_point"))
    typed(out, "21")
    out.begin_edit()
    out.selectAll()
    QTest.keyClick(out, Qt.Key.Key_Backspace)
    QTest.keyClick(out, Qt.Key.Key_Return)
    assert log.values("edited") == [pytest.approx(0.7), None]
    timeline.set_playback(PlaybackSettings(out_point=0.5))
    typed(into, "29")
    assert log.values("edited")[-1] == pytest.approx(0.5 - 1.0 / 30.0), "it stays before the out point"
    assert into.text() == "14"
    assert log.names().count("edit_started") == log.names().count("edit_finished") == 3


KEYS = [
    (Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier, ("step_requested", -1)),
    (Qt.Key.Key_Right, Qt.KeyboardModifier.NoModifier, ("step_requested", 1)),
    (Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier, ("key_requested", -1)),
    (Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier, ("key_requested", 1)),
    (Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier, ("jump_requested", "first")),
    (Qt.Key.Key_End, Qt.KeyboardModifier.NoModifier, ("jump_requested", "last")),
]


def test_the_keys_work_in_every_part_of_the_timeline(timeline, log):
    parts = timeline.ruler, timeline.fields.frame, timeline.transport.buttons[0], timeline.clip_chooser
    for part in parts:
        for key, modifier, expected in KEYS:
            log.clear()
            part.setFocus()
            QTest.keyClick(part, key, modifier)
            assert log == [expected], part
    for modifier in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier):
        event = QKeyEvent(QKeyEvent.Type.ShortcutOverride, Qt.Key.Key_Left, modifier)
        event.ignore()
        QApplication.sendEvent(timeline.ruler, event)
        assert event.isAccepted() == (modifier == Qt.KeyboardModifier.NoModifier), "shortcuts of the window"


def test_without_a_clip_everything_is_disabled(timeline, log, clips):
    timeline.set_clips([], "")
    assert timeline.clip_chooser.currentText() == "No animation"
    for widget in (timeline.transport, timeline.loop_button, timeline.speed_field, *timeline.fields.all):
        assert not widget.isEnabled()
    timeline.ruler.setFocus()
    QTest.keyClick(timeline.ruler, Qt.Key.Key_Left)
    assert log == []
    timeline.set_clips(clips[:1], "walk")
    assert timeline.transport.isEnabled()


def test_everything_that_takes_focus_has_a_name_and_a_tip(timeline):
    for widget in timeline.findChildren(QWidget):
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.parent() is not timeline.clip_chooser.view():
            if widget in timeline.clip_chooser.findChildren(QWidget):
                continue
            assert widget.accessibleName(), widget
            assert widget.toolTip() or widget is timeline.ruler, widget


def test_the_part_outside_the_range_is_dimmed_and_labels_contrast(timeline):
    for scheme in (LIGHT, DARK):
        timeline.setPalette(palette_of(scheme))
        image = timeline.ruler.grab().toImage()
        light = [QColor(image.pixelColor(x, y)).lightnessF() for x in range(300, 900) for y in range(14)]
        assert max(light) - min(light) > 0.4
    timeline.set_playback(PlaybackSettings(in_point=0.4))
    image = timeline.ruler.grab().toImage()
    y = round(timeline.ruler._ruler_view().bands.lane.bottom()) - 3
    inside = image.pixelColor(round(timeline.ruler.scale.x_of(0.717)), y)
    outside = image.pixelColor(round(timeline.ruler.scale.x_of(0.217)), y)
    assert inside.blue() > outside.blue() + 10


def test_nothing_is_clipped_with_larger_fonts(timeline):
    plain = timeline.font()
    for factor in (1.0, 1.5, 2.0):
        font = QFont(plain)
        font.setPointSizeF(plain.pointSizeF() * factor)
        timeline.setFont(font)
        timeline.resize(round(1280 * factor), timeline.minimumSizeHint().height())
        QApplication.processEvents()
        for field in (timeline.speed_field, *timeline.fields.all):
            if field.isVisible():
                assert field.width() >= QFontMetricsF(field.font()).horizontalAdvance(field.text()) + 8
                assert field.height() >= QFontMetricsF(field.font()).height()
        assert timeline.ruler._ruler_view().bands.bottom <= timeline.ruler.height() + 1
