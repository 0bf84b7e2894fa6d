import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.playback import SIMULATED_LENGTH, LoopMode
from sinew.sim.scene.scene import PLAYBACK, ParamRef
from sinew.sim.scene.strips import Strip
from sinew.widgets.timeline.tracks import CacheState
from tests.gui.editor_harness import Clock, Mouse, Session, add_cloth, picture, play, settled


def test_strips_are_dragged_trimmed_and_undone(editor):
    tracks, document, node = editor.timeline.tracks, editor.document, editor.active.node.id
    (row,) = tracks.strips
    assert row.bars[0].end == float("inf"), "one strip that repeats"
    clip = editor.active.clip.name
    editor.features["playing"].strips.add(node, clip)
    first, second = document.scene.node(node).settings.strips
    assert first.repeats == 1.0
    assert second.start < first.end(editor.active.clip.duration), "they overlap"
    editor.timeline.ruler.fit()
    mouse, place = Mouse(tracks), tracks.place_of(node, 1)
    entries = document.undo_stack.count()
    mouse.drag(place.center(), place.center() + QPointF(60.0, 0.0))
    moved = document.scene.node(node).settings.strips[1]
    assert moved.start > second.start
    assert moved.start * 30.0 == pytest.approx(round(moved.start * 30.0)), "on a whole frame"
    end = tracks.place_of(node, 0)
    mouse.drag(QPointF(end.right(), end.center().y()), QPointF(end.right() - 80.0, end.center().y()))
    assert 0.0 < document.scene.node(node).settings.strips[0].repeats < 1.0
    assert document.undo_stack.count() == entries + 2, "an entry a gesture"
    for _ in range(2):
        document.undo_stack.undo()
    assert document.scene.node(node).settings.strips == (first, second)
    document.undo_stack.undo()
    assert document.scene.node(node).settings.strips == ()


def asked_for(tracks, place, monkeypatch):
    shown = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, _place: shown.append(menu))
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place.toPoint(), tracks.mapToGlobal(place.toPoint()))
    QApplication.sendEvent(tracks, event)
    (menu,) = shown
    (added,) = [action.menu() for action in menu.actions() if action.text() == "Add Strip"]
    return added.actions()


def test_a_strip_is_added_at_the_mouse_or_after_the_last(editor, monkeypatch):
    tracks, document, node = editor.timeline.tracks, editor.document, editor.active.node.id
    clip, duration = editor.active.clip.name, editor.active.clip.duration
    asked_for(tracks, tracks.place_of(node, 0).center(), monkeypatch)[0].trigger()
    first, second = document.scene.node(node).settings.strips
    assert first.end(duration) - 0.3 < second.start < first.end(duration), "the mouse is on a strip"
    editor.timeline.ruler.fit()
    document.undo_stack.undo()
    end = 5.0
    strips = (Strip(clip=clip, repeats=1.0), Strip(clip=clip, start=end))
    document.set_values({ParamRef(node, "model", "strips"): strips})
    editor.timeline.ruler.fit()
    gap = tracks.place_of(node, 0).right(), tracks.place_of(node, 1).left()
    place = QPointF(0.3 * gap[0] + 0.7 * gap[1], tracks.place_of(node, 0).center().y())
    asked_for(tracks, place, monkeypatch)[0].trigger()
    added = document.scene.node(node).settings.strips[2]
    assert document.scene.node(node).settings.strips[:2] == strips
    assert added.start * 30.0 == pytest.approx(round(added.start * 30.0)), "on a whole frame"
    assert added.start == pytest.approx(0.3 * duration + 0.7 * end, abs=0.1)
    assert added.repeats == 1.0, "another one comes after it"


def test_the_range_is_fitted_to_the_longest_strip_and_saved(editor, tmp_path, qtbot):
    document, node = editor.document, editor.active.node
    strips = (Strip(clip=editor.active.clip.name, start=1.0, repeats=3.0),)
    document.set_values({ParamRef(node.id, "model", "strips"): strips})
    editor.features["playing"].binding.scene_menu.fit()
    assert document.scene.playback.end == round((1.0 + 3.0 * editor.active.clip.duration) * 30.0)
    document.set_values({ParamRef(PLAYBACK, PLAYBACK, "start"): 12, ParamRef(PLAYBACK, PLAYBACK, "run_up"): 0.5})
    scene = document.scene
    editor.files.save_to(tmp_path / "a.sinew")
    Session(qtbot).load(editor, tmp_path / "a.sinew")
    assert editor.document.scene.playback == scene.playback
    assert editor.document.scene.node(node.id).settings.strips == strips
    assert editor.playback.start == 12 / 30.0


def test_a_simulation_makes_the_scene_longer_than_a_short_clip(editor):
    document, clip = editor.document, editor.active.clip.duration
    assert editor.active.duration == clip < SIMULATED_LENGTH
    for entry in ("cloth", "emitter"):
        editor.edits.add(entry)
        assert editor.active.duration == editor.timeline.ruler.clip.duration == SIMULATED_LENGTH
    entries = document.undo_stack.count()
    document.undo_stack.undo()
    assert editor.active.duration == SIMULATED_LENGTH, "one of them is left"
    document.undo_stack.undo()
    assert editor.active.duration == clip, "the same entry restores the length"
    document.undo_stack.redo()
    assert (editor.active.duration, document.undo_stack.count()) == (SIMULATED_LENGTH, entries)


def test_the_end_of_the_scene_is_set_in_frames_or_seconds(editor):
    document, fields = editor.document, editor.timeline.fields
    editor.edits.add("cloth")
    assert fields.labels[fields.end].text() == "End"
    assert (fields.end.text(), fields.end_time.text()) == ("300", "10.00 s")
    for field, text, end in ((fields.end, "90", 90), (fields.end_time, "4.5", 135)):
        field.begin_edit()
        field.selectAll()
        QTest.keyClicks(field, text)
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert document.scene.playback.end == end
        assert (fields.end.value(), fields.end_time.value()) == (float(end), end / 30.0)
        assert editor.timeline.ruler.clip.duration == end / 30.0
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert document.scene.playback.end is None
    assert editor.active.duration == SIMULATED_LENGTH


def test_scrubbing_on_frames_is_a_remembered_option(session):
    first = session.start(clock=Clock())

    def frame(editor, modifiers=Qt.KeyboardModifier.NoModifier):
        ruler = editor.timeline.ruler
        place = QPointF(ruler.scale.x_of(1.4 / 30.0), ruler.height() / 2.0)
        Mouse(ruler, modifiers=modifiers).click(place)
        return editor.playback.playhead.time * 30.0

    assert frame(first) == pytest.approx(1.0)
    assert frame(first, Qt.KeyboardModifier.ShiftModifier) == pytest.approx(1.4)
    first.window.actions_table["play.whole_frames"].trigger()
    assert frame(first) == pytest.approx(1.4)
    assert frame(first, Qt.KeyboardModifier.ShiftModifier) == pytest.approx(1.0)
    session.close(first)
    second = session.start(clock=Clock())
    assert not second.window.actions_table["play.whole_frames"].isChecked()
    assert frame(second) == pytest.approx(1.4)
    second.window.actions_table["play.whole_frames"].trigger()
    assert frame(second) == pytest.approx(1.0)


def test_scrubbing_shows_the_simulated_frame_both_ways(editor):
    cloth = add_cloth(editor)
    play(editor, 30)
    editor.playback.pause()
    playback, times = editor.playback, (0.1, 0.3, 0.5)
    pictures = {}
    for time in times:
        playback.scrub(time)
        pictures[time] = picture(editor)
    assert not np.array_equal(pictures[0.1], pictures[0.5])
    for time in (0.3, 0.5, 0.1):
        playback.scrub(time)
        np.testing.assert_array_equal(picture(editor), pictures[time])
    runner = editor.client.runner
    assert runner.cache.history.cached == list(range(1, 31))
    playback.scrub(0.3)
    editor.document.set_value(ParamRef(cloth, "cloth", "structural_stiffness"), 40.0)
    settled(editor)
    assert runner.cache.history.cached[-1] == 18, "steps after the playhead are evicted"
    editor.document.undo_stack.undo()
    settled(editor)
    assert runner.cache.history.cached[-1] == 30, "and restored"
    playback.scrub(0.5)
    np.testing.assert_array_equal(picture(editor), pictures[0.5])
    editor.features["playing"].cached_bars.refresh()
    (bar,) = editor.timeline.tracks.bars
    assert [cached for *_, cached in bar.spans] == [CacheState.CACHED]
    playback.scrub(0.8)
    settled(editor)
    assert runner.shown == 30, "the last step is held beyond the end"
    assert editor.window._simulation.text().endswith("held")


@pytest.mark.slow
def test_backwards_and_ping_pong_play_cached_steps(editor, monkeypatch):
    cloth = add_cloth(editor)
    play(editor, 20)
    editor.playback.pause()
    playback, system = editor.playback, editor.client.engine.simulation.systems[cloth]

    def state():
        settled(editor)
        with editor.viewport.gl_current():
            return editor.client.runner.shown, system.arrays()["positions"].read().tobytes()

    forwards = {}
    for step in range(21):
        playback.scrub(step * STEP_TIME)
        forwards[step] = state()[1]
    monkeypatch.setattr(type(system), "step", lambda *_: pytest.fail("it was simulated"))

    def watch(direction, steps):
        if not playback.playhead.playing:
            playback.toggle(direction)
        seen = []
        for _ in range(steps):
            playback._clock.now += STEP_TIME
            playback.tick()
            shown, now = state()
            assert now == forwards[shown]
            seen.append(shown)
        return seen

    assert watch(-1, 12) == list(range(19, 7, -1))
    playback.pause()
    editor.document.set_values({ParamRef(PLAYBACK, PLAYBACK, "loop"): LoopMode.PING_PONG})
    editor.document.set_values(
        {ParamRef(PLAYBACK, PLAYBACK, "in_point"): 0.1, ParamRef(PLAYBACK, PLAYBACK, "out_point"): 0.3}
    )
    playback.scrub(10 * STEP_TIME)
    seen = watch(1, 24)
    assert (min(seen), max(seen)) == (6, 18)
    editor.document.set_values({ParamRef(PLAYBACK, PLAYBACK, "out_point"): 0.6})
    playback.scrub(0.5)
    if playback.playhead.direction > 0:
        playback.pause()
        playback.toggle(-1)
    playback._clock.now += STEP_TIME
    playback.tick()
    settled(editor)
    assert editor.client.runner.shown == 20
    assert editor.window._simulation.text().endswith("held"), "also while it plays"
    turns = np.sign(np.diff([step for n, step in enumerate(seen) if n == 0 or step != seen[n - 1]]))
    assert {1.0, -1.0} <= set(turns.tolist()), "both directions"
    playback.pause()


@pytest.mark.slow
def test_playback_simulates_missing_steps_first(editor, qtbot):
    add_cloth(editor)
    editor.playback.scrub(0.5)
    with qtbot.waitSignal(editor.seek.ended, timeout=60000):
        editor.playback.toggle()
    assert editor.client.runner.cache.history.cached[-1] == 30
    assert editor.playback.playhead.playing
    editor.playback.pause()
