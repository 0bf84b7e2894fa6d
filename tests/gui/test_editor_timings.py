import csv
import json

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from sinew.app.timings.recordings import RECORDINGS_MAX, Recordings, TimingFiles
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.profile.csv_file import COLUMNS
from sinew.sim.profile.history import FRAMES_MAX, Quantity, TimingRecording
from sinew.sim.profile.recorder import WARM_UP
from sinew.sim.profile.sample import TimerStatus
from sinew.sim.scene.scene import PLAYBACK, ParamRef
from sinew.widgets.timings.frames import FrameTable
from tests.gui.editor_harness import Clock
from tests.unit.profile.frames import MS, frame


@pytest.fixture
def editor(editor):
    """The shared editor with the arm; nothing was measured before and nothing is measured after it."""
    yield editor
    editor.playback.pause()
    editor.timings.measure(False)
    editor.timings.recordings.stop()
    for one in editor.timings.recordings.all:
        editor.timings.recordings.remove(one.name)
    if editor.timings.view.is_held:
        editor.timings.view.go_live()
    editor.window.actions_table["timing.clear"].trigger()


@pytest.fixture
def play(editor):
    def run(frames):
        editor.playback.set_playhead(editor.playback.playhead)
        if not editor.playback.playhead.playing:
            editor.playback.toggle()
        last, count = newest(editor), 0
        for _ in range(20 * frames):
            editor.playback._clock.now += 1 / 60
            editor.playback.tick()
            editor.viewport.repaint()
            QApplication.processEvents()
            count += newest(editor) - last if last >= 0 else newest(editor) >= 0  # numbers continue after a clear
            last = newest(editor)
            if count >= frames:
                return
        raise AssertionError(f"only {count} of {frames} frames were measured")

    return run


def newest(editor):
    history = editor.timings.history
    return history[len(history) - 1].number if len(history) else -1


def method(editor):
    return editor.active.node.settings.skinning


def test_measuring_fills_history_status_and_strip(editor, play):
    timings, trigger = editor.timings, lambda name: editor.window.actions_table[name].trigger()
    height = editor.timeline.minimumSizeHint().height()
    editor.playback.toggle()
    for _ in range(5):
        editor.viewport.repaint()
    assert not timings.is_measuring, "off by default"
    assert len(timings.history) == 0
    assert editor.timeline.minimumSizeHint().height() == height
    trigger("timing.measure")
    assert editor.window.docks["timings"].isVisible()
    play(12)
    history = timings.history
    assert {"draw", "draw/skinning"} <= set(history.paths)
    assert np.nanmin(FrameTable(history).total(Quantity.GPU)) > 0.0
    assert history[0].moment.clip == "twist"
    assert timings.view.status.enabled
    assert timings.view.status.renderer
    timings.strip.refresh()
    assert 3 <= len(timings.strip.by_frame.costs().frames) <= 12
    assert editor.timeline.minimumSizeHint().height() >= height + 34
    trigger("timing.measure")
    assert not timings.is_measuring
    assert editor.timeline.minimumSizeHint().height() >= height + 34, "what is known stays"
    trigger("timing.clear")
    assert len(history) == 0
    assert editor.timeline.minimumSizeHint().height() == height


@pytest.mark.slow
def test_another_clip_clears_the_strip(editor, play):
    editor.timings.measure(True)
    play(6)
    assert len(editor.timings.strip.by_frame.costs().frames) > 0
    editor.timeline.clip_chosen.emit("bend")
    assert editor.active.clip.name == "bend"
    editor.timings.strip.refresh()
    assert len(editor.timings.strip.by_frame.costs().frames) == 0
    play(6)
    frames = editor.timings.strip.by_frame.costs().frames
    assert 0 < len(frames) <= 7
    assert frames.max() < editor.active.duration / editor.active.frame_step


@pytest.mark.slow
def test_the_strip_has_the_frames_of_the_scene_at_another_rate_or_without_a_clip(editor, play):
    editor.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "rate"), 15.0)
    for has_clip in (True, False):
        if not has_clip:
            editor.files.new()
            editor.edits.add("sphere")
        editor.window.actions_table["timing.clear"].trigger()
        editor.timings.measure(True)
        play(10)
        history = editor.timings.history
        times = np.array([history[i].moment.time for i in range(len(history))])
        editor.timings.strip.refresh()
        frames = editor.timings.strip.by_frame.costs().frames
        assert len(frames) > 1
        assert set(frames) <= set(np.floor(times / editor.active.frame_step + 0.5))
        then = history[2]
        editor.timings.view.frames_page.frame_chosen.emit(then)
        assert editor.playback.playhead.time == pytest.approx(then.moment.time)


def test_a_click_on_a_frame_shows_its_time_and_its_settings(editor, play):
    editor.timings.measure(True)
    play(8)
    then = editor.timings.history[len(editor.timings.history) - 1]
    ref = ParamRef(editor.active.node.id, "model", "skinning")
    before = method(editor)
    editor.document.set_value(ref, SkinningMethod.DQS if before is SkinningMethod.LBS else SkinningMethod.LBS)
    now = method(editor)
    play(8)
    editor.timings.view.frames_page.frame_chosen.emit(then)
    assert not editor.playback.playhead.playing
    step = editor.active.frame_step
    assert editor.playback.playhead.time / step == pytest.approx(then.moment.clip_frame, abs=1e-6)
    inspector = editor.panels.inspector
    reported = f"Settings of frame {then.number:,}. Changed since: arm skinning {before.value}."
    assert inspector.past.label.text() == reported
    row = next(item for item in inspector.tree.settings() if item.ref == ref)
    assert row.value is before
    assert row.text(0).startswith("≠ ")
    inspector.past.back_button.click()
    assert editor.features["measuring"].past.shown is None
    assert not inspector.past.isVisible()
    assert method(editor) is now
    editor.timings.view.frames_page.frame_chosen.emit(then)
    inspector.past.restore_button.click()
    assert method(editor) is before
    assert editor.document.undo_stack.undo_text == f"Restore the values of frame {then.number:,}"
    editor.document.undo_stack.undo()
    assert method(editor) is now
    editor.timings.view.frames_page.frame_chosen.emit(then)
    assert editor.features["measuring"].past.shown is then
    editor.playback.toggle()
    assert editor.features["measuring"].past.shown is None, "playback shows the present"
    assert inspector.past.isHidden()


def test_timings_are_exported_and_imported(editor, play, qtbot, tmp_path):
    with qtbot.waitSignal(editor.timings.hint, timeout=60000) as caught:
        editor.window.actions_table["timing.export_csv"].trigger()
    assert caught.args[0].startswith("No timings to export")
    assert editor.dialogs.asked == []
    editor.timings.measure(True)
    play(6)
    editor.timings.view.hold()  # frames that are still drawn are in neither file
    editor.dialogs.path = tmp_path / "walk.csv"
    with qtbot.waitSignal(editor.timings.files.written, timeout=60000):
        editor.window.actions_table["timing.export_csv"].trigger()
    with (tmp_path / "walk.csv").open(newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert list(rows[0]) == list(COLUMNS)
    assert {row["pass"] for row in rows} == set(editor.timings.history.paths)
    editor.dialogs.path = tmp_path / "walk.json"
    with qtbot.waitSignal(editor.timings.files.written, timeout=60000):
        editor.window.actions_table["timing.export_trace"].trigger()
    trace = json.loads((tmp_path / "walk.json").read_text())
    assert sum(event["ph"] == "i" for event in trace["traceEvents"]) == len({row["frame"] for row in rows})
    editor.dialogs.path = tmp_path / "walk.csv"
    with qtbot.waitSignal(editor.timings.files.imported, timeout=60000):
        editor.window.actions_table["timing.import"].trigger()
    (imported,) = editor.timings.recordings.all
    assert len(imported.samples) == len({row["frame"] for row in rows})


@pytest.mark.slow
def test_measuring_is_remembered(session, arm):
    first = session.open(arm, clock=Clock())
    first.timings.measure(True)
    session.close(first)
    second = session.start(clock=Clock())
    assert second.timings.is_measuring
    assert second.window.actions_table["timing.measure"].isChecked()
    second.timings.measure(False)


@pytest.mark.slow
def test_back_ends_are_compared_frame_by_frame(editor, play, monkeypatch):
    back_ends = editor.client.engine.context.back_ends
    if not back_ends.has_compute:
        pytest.skip("no compute here")
    monkeypatch.setattr("sinew.app.timings.recordings.FRAMES", 4)
    trial, found = editor.timings.trial, []
    trial.finished.connect(lambda *recordings: found.extend(recordings))
    editor.window.actions_table["timing.compare_back_ends"].trigger()
    assert editor.playback.is_running
    play(24)
    assert not trial.running
    assert not editor.playback.is_running, "playback was for the comparison alone"
    assert [(one.name, len(one.samples)) for one in found] == [("Transform feedback", 4), ("Compute", 4)]
    numbers = [[sample.number for sample in one.samples] for one in found]
    assert all(a < b < c for a, b, c in zip(numbers[0], numbers[1], numbers[0][1:], strict=False)), "in turn"
    assert back_ends.choice is editor.client.back_end, "the choice is active again"
    page = editor.timings.view.compare_page
    assert (page.a_box.currentText(), page.b_box.currentText()) == ("Transform feedback", "Compute")
    assert editor.timings.view.pages.currentWidget() is page
    editor.playback.toggle()
    editor.window.actions_table["timing.compare_back_ends"].trigger()
    play(24)
    assert not trial.running
    assert editor.playback.is_running, "the user had started it"


def test_back_ends_of_baked_nodes_are_not_compared(editor):
    cloth = editor.edits.add("cloth")
    editor.document.set_value(ParamRef(cloth, "node", "baked"), True)
    editor.window.actions_table["timing.compare_back_ends"].trigger()
    assert not editor.timings.trial.running
    assert not editor.playback.is_running
    assert editor.window._hint.text() == "Cloth is baked and not simulated: detach its bake to compare back ends"


@pytest.mark.slow
def test_numbers_continue_after_a_pause_and_with_a_new_context(editor):
    frames = []
    editor.client.drawn.connect(lambda drawn: frames.append(drawn.frame))

    def draw(count):
        for _ in range(count):
            editor.playback._clock.now += 1 / 60
            editor.playback.tick()
            editor.viewport.repaint()
            QApplication.processEvents()

    for _ in range(2):
        editor.client.timing.wanted = True
        draw(WARM_UP + 2)
        editor.client.timing.wanted = False
        draw(1)
    with editor.viewport.gl_current():
        editor.client.gl_init()
    editor.client.timing.wanted = True
    draw(WARM_UP + 2)
    numbers = [number for number in frames if number is not None]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert len(numbers) >= 6
    editor.client.timing.wanted = False


def frames_of(count, cost=5 * MS):
    return tuple(frame(i, {"draw": cost, "draw/models": 0.5 * cost}) for i in range(count))


@pytest.fixture
def recordings(qapp):
    return Recordings()


def test_a_recording_has_the_frames_between_start_and_stop(recordings):
    recordings.feed(frames_of(2), TimerStatus())
    recordings.start("LBS", TimerStatus(dropped=5, warmup_discarded=3))
    assert recordings.running == "LBS"
    recordings.feed(frames_of(3), TimerStatus())
    recordings.feed(frames_of(4), TimerStatus(dropped=7, warmup_discarded=3, renderer="a card"))
    recordings.stop()
    (cached,) = recordings.all
    assert (cached.name, len(cached.samples), recordings.running) == ("LBS", 7, None)
    assert (cached.status.dropped, cached.status.warmup_discarded, cached.status.renderer) == (2, 0, "a card")


def test_names_are_unique_and_empty_recordings_dropped(recordings):
    for name in ("LBS", " LBS ", "", "LBS"):
        recordings.start(name, TimerStatus())
        recordings.feed(frames_of(1), TimerStatus())
    recordings.stop()
    recordings.start("empty", TimerStatus())
    recordings.stop()
    assert [one.name for one in recordings.all] == ["LBS", "LBS 2", "Recording", "LBS 3"]
    assert recordings.add(TimingRecording("LBS", frames_of(1))).name == "LBS 4"


def test_full_recordings_end_and_the_oldest_are_removed(recordings):
    recordings.start("long", TimerStatus())
    recordings.feed(frames_of(2) * (FRAMES_MAX // 2 + 3), TimerStatus())
    assert recordings.running is None
    assert len(recordings.all[0].samples) == FRAMES_MAX
    for number in range(RECORDINGS_MAX):
        recordings.add(TimingRecording(f"r{number}", frames_of(1)))
    assert [one.name for one in recordings.all] == [f"r{number}" for number in range(RECORDINGS_MAX)]
    recordings.remove("r3")
    assert "r3" not in [one.name for one in recordings.all]


def test_a_cancelled_file_is_not_written(qtbot, tmp_path):
    files, reported = TimingFiles(), []
    for signal in (files.written, files.failed):
        signal.connect(lambda *what: reported.append(what))
    files.export_csv(tmp_path / "long.csv", TimingRecording("long", frames_of(2) * 5000))
    files.cancel()
    qtbot.waitUntil(lambda: not files.busy, timeout=60000)
    assert reported == []
    assert list(tmp_path.iterdir()) == []
