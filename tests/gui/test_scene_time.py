"""Scene time in the whole editor: strips that are dragged, a range that is fitted, and steps that are scrubbed."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from sinew import resources
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.playback import LENGTH, SIMULATED_LENGTH, LoopMode
from sinew.sim.scene.scene import PLAYBACK, ParamRef
from sinew.sim.scene.strips import Strip
from sinew.widgets.timeline.tracks import CacheState
from tests.gui.editor_harness import Clock, Mouse, Session, picture


@pytest.fixture
def opened(fresh, arm, qtbot):
    Session(qtbot).load(fresh, arm)
    return fresh


def play(editor, steps):
    editor.playback.toggle()
    for _ in range(steps):
        editor.playback._clock.now += STEP_TIME
        editor.playback.tick()
    editor.playback.pause()


def test_an_empty_scene_has_a_ruler_and_time_runs(fresh):
    ruler = fresh.timeline.ruler
    assert ruler.has_clip
    assert ruler.clip.duration == LENGTH
    play(fresh, 3)
    assert fresh.playback.playhead.time > 0.0


def test_strips_are_dragged_trimmed_and_taken_back(opened):
    tracks, document, node = opened.timeline.tracks, opened.document, opened.active.node.id
    (row,) = tracks.strips
    assert row.bars[0].end == float("inf"), "one strip that repeats"
    clip = opened.active.clip.name
    opened.strips.add(node, clip)
    first, second = document.scene.node(node).settings.strips
    assert first.repeats == 1.0
    assert second.start < first.end(opened.active.clip.duration), "they overlap"
    opened.timeline.fit()
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
    """Texts and actions of the menu to add strips that a right click opens."""
    shown = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, _place: shown.append(menu))
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place.toPoint(), tracks.mapToGlobal(place.toPoint()))
    QApplication.sendEvent(tracks, event)
    (menu,) = shown
    (added,) = [action.menu() for action in menu.actions() if action.text() == "Add Strip"]
    return added.actions()


def test_a_strip_is_added_under_the_mouse_else_after_the_last(opened, monkeypatch):
    tracks, document, node = opened.timeline.tracks, opened.document, opened.active.node.id
    clip, duration = opened.active.clip.name, opened.active.clip.duration
    asked_for(tracks, tracks.place_of(node, 0).center(), monkeypatch)[0].trigger()
    first, second = document.scene.node(node).settings.strips
    assert first.end(duration) - 0.3 < second.start < first.end(duration), "the mouse is on a strip"
    opened.timeline.fit()
    document.undo_stack.undo()
    end = 5.0
    strips = (Strip(clip=clip, repeats=1.0), Strip(clip=clip, start=end))
    document.set_values({ParamRef(node, "model", "strips"): strips})
    opened.timeline.fit()
    gap = tracks.place_of(node, 0).right(), tracks.place_of(node, 1).left()
    place = QPointF(0.3 * gap[0] + 0.7 * gap[1], tracks.place_of(node, 0).center().y())
    asked_for(tracks, place, monkeypatch)[0].trigger()
    added = document.scene.node(node).settings.strips[2]
    assert document.scene.node(node).settings.strips[:2] == strips
    assert added.start * 30.0 == pytest.approx(round(added.start * 30.0)), "on a whole frame"
    assert added.start == pytest.approx(0.3 * duration + 0.7 * end, abs=0.1)
    assert added.repeats == 1.0, "another one comes after it"


@pytest.mark.parametrize("step", [0.31, 0.69])
def test_in_and_out_points_lie_on_frames(opened, step):
    frame = opened.active.frame_step
    for name, number in (("play.in", 3), ("play.out", 12)):
        opened.playback.scrub((number + step) * frame)
        opened.window.actions_table[name].trigger()
    settings = opened.document.scene.playback
    expected = [(number + round(step)) * frame for number in (3, 12)]
    assert [settings.in_point, settings.out_point] == pytest.approx(expected, abs=1e-9)
    opened.playback.scrub(opened.playback.duration)
    opened.window.actions_table["play.out"].trigger()
    assert opened.document.scene.playback.out_point <= opened.playback.duration


def test_a_drag_ends_where_its_strip_goes_away(opened):
    tracks, document, node = opened.timeline.tracks, opened.document, opened.active.node.id
    opened.strips.add(node, opened.active.clip.name)
    opened.timeline.fit()
    mouse, place = Mouse(tracks), tracks.place_of(node, 1).center()
    for leave in (document.undo_stack.undo, lambda: document.remove_node(node)):
        mouse.press(place)
        mouse.move(place + QPointF(40.0, 0.0))
        leave()
        leave() if leave == document.undo_stack.undo else None  # the drag, then the strip
        before = document.scene
        mouse.move(place + QPointF(80.0, 0.0))
        mouse.release(place + QPointF(80.0, 0.0))
        assert document.scene is before
        while document.undo_stack.canRedo():
            document.undo_stack.redo()


def test_the_range_is_fitted_to_the_longest_strip_and_survives_the_file(opened, tmp_path, qtbot):
    document, node = opened.document, opened.active.node
    strips = (Strip(clip=opened.active.clip.name, start=1.0, repeats=3.0),)
    document.set_values({ParamRef(node.id, "model", "strips"): strips})
    opened.binding.scene_menu.fit()
    assert document.scene.playback.end == round((1.0 + 3.0 * opened.active.clip.duration) * 30.0)
    document.set_values({ParamRef(PLAYBACK, PLAYBACK, "start"): 12, ParamRef(PLAYBACK, PLAYBACK, "run_up"): 0.5})
    scene = document.scene
    opened.files.save_to(tmp_path / "a.sinew")
    Session(qtbot).load(opened, tmp_path / "a.sinew")
    assert opened.document.scene.playback == scene.playback
    assert opened.document.scene.node(node.id).settings.strips == strips
    assert opened.playback.start == 12 / 30.0


def test_what_is_simulated_outlasts_a_short_clip(opened):
    document, clip = opened.document, opened.active.clip.duration
    assert opened.active.duration == clip < SIMULATED_LENGTH
    for entry in ("cloth", "emitter"):
        opened.edits.add(entry)
        assert opened.active.duration == opened.timeline.ruler.clip.duration == SIMULATED_LENGTH
    entries = document.undo_stack.count()
    document.undo_stack.undo()
    assert opened.active.duration == SIMULATED_LENGTH, "one of them is still there"
    document.undo_stack.undo()
    assert opened.active.duration == clip, "the same entry of the history takes the length back"
    document.undo_stack.redo()
    assert (opened.active.duration, document.undo_stack.count()) == (SIMULATED_LENGTH, entries)


def test_a_length_that_the_user_set_stays(opened):
    opened.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "end"), 45)
    opened.edits.add("cloth")
    assert opened.active.duration == 45 / 30.0
    assert opened.document.scene.playback.end == 45


def test_the_end_of_the_scene_is_a_field_in_frames_and_in_seconds(opened):
    document, fields = opened.document, opened.timeline.fields
    opened.edits.add("cloth")
    assert fields.labels[fields.end].text() == "End"
    assert (fields.end.text(), fields.end_time.text()) == ("300", "10.00 s")
    for field, text, end in ((fields.end, "90", 90), (fields.end_time, "4.5", 135)):
        field.begin_edit()
        field.selectAll()
        QTest.keyClicks(field, text)
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert document.scene.playback.end == end
        assert (fields.end.value(), fields.end_time.value()) == (float(end), end / 30.0)
        assert opened.timeline.ruler.clip.duration == end / 30.0
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert document.scene.playback.end is None
    assert opened.active.duration == SIMULATED_LENGTH


@pytest.mark.parametrize("name", ["cape", "sparks", "humanoid", "fur"])
def test_samples_with_a_simulation_last_ten_seconds(fresh, name, qtbot):
    Session(qtbot).load(fresh, resources.path("projects") / f"{name}.sinew")
    assert fresh.active.duration == SIMULATED_LENGTH
    assert fresh.panels.messages.messages == ()


def test_scrubbing_on_frames_is_an_option_that_is_remembered(session):
    first = session.start(clock=Clock())

    def frame(editor, modifiers=Qt.KeyboardModifier.NoModifier):
        ruler = editor.timeline.ruler
        place = QPointF(ruler.scale.x_of(1.4 / 30.0), ruler.height() / 2.0)
        Mouse(ruler, modifiers=modifiers).click(place)
        return editor.playback.playhead.time * 30.0

    assert frame(first) == pytest.approx(1.4)
    first.window.actions_table["play.snap"].trigger()
    assert frame(first) == pytest.approx(1.0)
    assert frame(first, Qt.KeyboardModifier.ShiftModifier) == pytest.approx(1.4)
    session.close(first)
    second = session.start(clock=Clock())
    assert second.window.actions_table["play.snap"].isChecked()
    assert frame(second) == pytest.approx(1.0)
    second.window.actions_table["play.snap"].trigger()
    assert frame(second) == pytest.approx(1.4)


def test_a_strip_without_end_shows_no_zero(opened):
    node = opened.active.node
    menu = opened.strips.menu_of(node, opened.active.model, 0)
    assert menu.fields["repeats"].display_text() == "∞"
    menu.fields["repeats"].begin_edit()
    QTest.keyClicks(menu.fields["repeats"], "3")
    QTest.keyClick(menu.fields["repeats"], Qt.Key.Key_Return)
    assert opened.active.node.settings.strips[0].repeats == 3.0
    assert menu.fields["repeats"].display_text() == "3.00"


def test_scrubbing_shows_the_simulated_frame_both_ways(opened):
    opened.edits.add("cloth")
    cloth = opened.document.selection.node
    opened.document.set_values({ParamRef(cloth, "cloth", name): 8 for name in ("columns", "rows")})
    picture(opened)
    play(opened, 30)
    playback, times = opened.playback, (0.1, 0.3, 0.5)
    pictures = {}
    for time in times:
        playback.scrub(time)
        pictures[time] = picture(opened)
    assert not np.array_equal(pictures[0.1], pictures[0.5])
    for time in (0.3, 0.5, 0.1):
        playback.scrub(time)
        np.testing.assert_array_equal(picture(opened), pictures[time])
    runner = opened.client.runner
    assert runner.cache.history.cached == list(range(1, 31))
    playback.scrub(0.3)
    opened.document.set_value(ParamRef(cloth, "cloth", "structural_stiffness"), 40.0)
    picture(opened)
    assert runner.cache.history.cached[-1] == 18, "what comes after the playhead is gone"
    opened.document.undo_stack.undo()
    picture(opened)
    assert runner.cache.history.cached[-1] == 30, "and is found again"
    playback.scrub(0.5)
    np.testing.assert_array_equal(picture(opened), pictures[0.5])
    opened.cached_bars.refresh()
    (bar,) = opened.timeline.tracks.bars
    assert [cached for *_, cached in bar.spans] == [CacheState.CACHED]
    playback.scrub(0.8)
    picture(opened)
    assert runner.shown == 30, "beyond the end the last one is held"
    assert opened.window._simulation.text().endswith("held")


def test_backwards_and_ping_pong_play_what_is_kept(opened, monkeypatch):
    opened.edits.add("cloth")
    cloth = opened.document.selection.node
    values = {"columns": 8, "rows": 8}
    opened.document.set_values({ParamRef(cloth, "cloth", name): value for name, value in values.items()})
    picture(opened)
    play(opened, 20)
    playback, system = opened.playback, opened.client.engine.simulation.systems[cloth]

    def state():
        picture(opened)
        with opened.viewport.gl_current():
            return opened.client.runner.shown, system.arrays()["positions"].read().tobytes()

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
    opened.document.set_values({ParamRef(PLAYBACK, PLAYBACK, "loop"): LoopMode.PING_PONG})
    opened.document.set_values(
        {ParamRef(PLAYBACK, PLAYBACK, "in_point"): 0.1, ParamRef(PLAYBACK, PLAYBACK, "out_point"): 0.3}
    )
    playback.scrub(10 * STEP_TIME)
    seen = watch(1, 30)
    assert (min(seen), max(seen)) == (6, 18)
    opened.document.set_values({ParamRef(PLAYBACK, PLAYBACK, "out_point"): 0.6})
    playback.scrub(0.5)
    if playback.playhead.direction > 0:
        playback.pause()
        playback.toggle(-1)
    playback._clock.now += STEP_TIME
    playback.tick()
    picture(opened)
    assert opened.client.runner.shown == 20
    assert opened.window._simulation.text().endswith("held"), "also while it plays"
    turns = np.sign(np.diff([step for n, step in enumerate(seen) if n == 0 or step != seen[n - 1]]))
    assert {1.0, -1.0} <= set(turns.tolist()), "there and back"
    playback.pause()


def test_playing_from_where_nothing_is_kept_simulates_what_is_missing_first(opened, qtbot):
    opened.edits.add("cloth")
    cloth = opened.document.selection.node
    opened.document.set_values({ParamRef(cloth, "cloth", name): 8 for name in ("columns", "rows")})
    picture(opened)
    opened.playback.scrub(0.5)
    with qtbot.waitSignal(opened.seek.ended, timeout=60000):
        opened.playback.toggle()
    assert opened.client.runner.cache.history.cached[-1] == 30
    assert opened.playback.playhead.playing
    opened.playback.pause()
