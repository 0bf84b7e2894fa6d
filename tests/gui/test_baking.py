"""Baking in the editor: steps beside the project, shown without simulating, and freed again."""

import pytest

from sinew.app.files.project_file import cache_folder
from sinew.sim.cache.bake import Bake
from sinew.sim.scene.scene import PLAYBACK, ParamRef
from sinew.sim.scene.view_state import Selection
from sinew.widgets.timeline.tracks import CacheState
from tests.gui.editor_harness import Session, picture


@pytest.fixture
def baked(fresh, arm, qtbot, tmp_path):
    """A small cloth on a short scene, baked."""
    Session(qtbot).load(fresh, arm)
    fresh.edits.add("cloth")
    cloth = fresh.document.selection.node
    values = {ParamRef(cloth, "cloth", name): 8 for name in ("columns", "rows")}
    fresh.document.set_values({**values, ParamRef(PLAYBACK, PLAYBACK, "end"): 10})
    picture(fresh)
    fresh.baking.start()
    assert not fresh.baking.busy, "an unsaved project has no place for it"
    fresh.files.save_to(tmp_path / "a.sinew")
    with qtbot.waitSignal(fresh.baking.ended, timeout=60000) as ended:
        fresh.baking.start()
    assert ended.args == ["Baked 20 steps of 1 node"]
    return fresh, cloth, tmp_path / "a.sinew"


def states(editor, steps):
    """Positions of the cloth at steps, as scrubbing shows them."""
    found = []
    for step in steps:
        editor.playback.scrub(step / 60)
        picture(editor)
        with editor.viewport.gl_current():
            (system,) = editor.client.engine.simulation.systems.values()
            found.append(system.arrays()["positions"].read().tobytes())
    return found


def test_a_baked_node_is_shown_without_simulating_and_freed(baked, qtbot, monkeypatch):
    editor, cloth, path = baked
    before = states(editor, (5, 13, 20))
    bake = Bake(cache_folder(path))
    assert bake.steps(cloth) == range(1, 21)
    assert editor.document.scene.node(cloth).baked
    assert editor.baking.is_of_now(cloth)
    editor.files.save_to(path)
    Session(qtbot).load(editor, path)
    (system,) = editor.client.engine.simulation.systems.values()
    monkeypatch.setattr(type(system), "step", lambda *_: pytest.fail("it was simulated"))
    assert states(editor, (5, 13, 20)) == before, "at once, wherever the playhead goes"
    assert not editor.playback._reported.stale
    editor.playback.restore(0.0)
    editor.playback.toggle()
    for _ in range(20):
        editor.playback._clock.now += 1 / 60
        editor.playback.tick()
    editor.playback.pause()
    assert states(editor, (20, 5, 13)) == [before[place] for place in (2, 0, 1)], "also while it plays"
    assert editor.client.runner.cache.history.cached == [], "nothing of it is kept twice"
    editor.cached_bars.refresh()
    (row,) = editor.timeline.tracks.bars
    assert row.is_baked
    assert not row.is_outdated
    assert row.spans == ((0.0, pytest.approx(20 / 60), CacheState.BAKED),)
    monkeypatch.undo()
    editor.document.set_value(ParamRef(cloth, "cloth", "wind"), (0.0, 0.0, 3.0))
    picture(editor)
    assert not editor.baking.is_of_now(cloth)
    editor.cached_bars.refresh()
    (row,) = editor.timeline.tracks.bars
    assert row.is_outdated
    assert {cached for _, _, cached in row.spans} == {CacheState.OUTDATED}
    editor.baking.free()
    assert not editor.document.scene.node(cloth).baked
    editor.playback.scrub(20 / 60)
    with qtbot.waitSignal(editor.seek.ended, timeout=60000):
        editor.seek.start()
    assert states(editor, (20,)) != before[2:]


def test_editing_what_is_baked_is_told_and_can_be_freed(baked, qtbot):
    editor, cloth, _ = baked
    head, document = editor.panels.inspector.head, editor.document
    document.select(Selection(node=cloth))

    def row():
        picture(editor)
        editor.cached_bars.refresh()
        editor.selected_node.refresh()
        entry = editor.panels.outliner.model.entry_of((cloth,))
        return entry.note, entry.mark

    assert row() == ("baked", "")
    assert head.note.text() == "Baked: it is played, not simulated."
    assert head.warning.isHidden()
    document.set_value(ParamRef(cloth, "cloth", "colour"), (0.9, 0.1, 0.1))
    assert row() == ("baked", ""), "it only looks different"
    document.set_value(ParamRef(cloth, "cloth", "wind"), (0.0, 0.0, 3.0))
    assert row() == ("outdated", "warning")
    assert "Baked with other settings" in head.warning.label.text()
    assert head.remedy_button.text() == "Detach Bake"
    document.undo_stack.undo()
    assert row() == ("baked", "")
    document.undo_stack.redo()
    row()
    head.remedy_button.click()
    assert not document.scene.node(cloth).baked
    assert row() == ("", "")
    assert head.warning.isHidden()
    assert head.note.isHidden()


def test_another_node_leaves_bake_and_kept_steps_as_they_are(baked, qtbot):
    """Adding, changing and removing it; what is kept of the cloth is shown at once, and baked from there."""
    editor, cloth, _ = baked
    before = states(editor, (5, 13, 20))
    sparks = editor.edits.add("emitter.sparks")
    picture(editor)
    assert editor.baking.is_of_now(cloth)
    editor.document.remove_nodes([sparks])
    editor.document.select(Selection(node=cloth))
    editor.baking.free()
    editor.playback.scrub(20 / 60)
    with qtbot.waitSignal(editor.seek.ended, timeout=60000):
        editor.seek.start()
    sparks = editor.edits.add("emitter.sparks")
    assert scrubbed(editor, cloth, (5, 13, 20)) == before
    editor.cached_bars.refresh()
    bars = {bar.node: bar.spans for bar in editor.timeline.tracks.bars}
    assert bars[cloth] == ((0.0, pytest.approx(20 / 60), CacheState.CACHED),)
    assert bars[sparks] == ()
    editor.document.remove_nodes([sparks])
    picture(editor)
    editor.document.select(Selection(node=cloth))
    with qtbot.waitSignal(editor.baking.ended, timeout=60000) as ended:
        editor.baking.start()
    assert ended.args == ["Baked 20 steps of 1 node"]
    assert scrubbed(editor, cloth, (5, 13, 20)) == before


def scrubbed(editor, node, steps):
    found = []
    for step in steps:
        editor.playback.scrub(step / 60)
        picture(editor)
        with editor.viewport.gl_current():
            found.append(editor.client.engine.simulation.systems[node].arrays()["positions"].read().tobytes())
    return found


def test_a_damaged_row_is_told_once_and_what_follows_is_simulated(baked, qtbot):
    editor, cloth, path = baked
    before = states(editor, (13, 20))
    (rows,) = cache_folder(path).glob("*.steps")
    offset, size = Bake(cache_folder(path)).index.nodes[cloth].rows[9]
    data = bytearray(rows.read_bytes())
    data[offset + size // 2] ^= 4
    rows.write_bytes(data)
    editor.files.save_to(path)
    Session(qtbot).load(editor, path)
    editor.playback.scrub(10 / 60)
    picture(editor)
    assert editor.client.runner.shown == 9
    editor.playback.scrub(20 / 60)
    with qtbot.waitSignal(editor.seek.ended, timeout=60000):
        editor.seek.catch_up()
    assert states(editor, (13, 20)) == before
    assert [message.text for message in editor.panels.messages.messages] == [
        f"Cloth: step 10 of a.sinewcache/{rows.name} is damaged; the following steps are simulated"
    ]


def test_a_bake_that_is_missing_is_told_and_simulated(baked, qtbot):
    editor, _, path = baked
    before = states(editor, (5,))
    editor.files.save_to(path)
    cache_folder(path).rename(path.with_name("elsewhere"))
    Session(qtbot).load(editor, path)
    assert [m.text for m in editor.panels.messages.messages] == [
        "Cloth: no baked steps in a.sinewcache; it is simulated"
    ]
    editor.cached_bars.refresh()
    assert [row.is_baked for row in editor.timeline.tracks.bars] == [False]
    assert states(editor, (5,)) != before
    path.with_name("elsewhere").rename(cache_folder(path))
    assert states(editor, (6, 5))[1:] == before, "once the playhead moves"


def test_a_project_that_is_saved_under_another_name_takes_its_bake_along(baked, qtbot, tmp_path):
    editor, cloth, path = baked
    before = states(editor, (5,))
    other = tmp_path / "sub" / "b.sinew"
    other.parent.mkdir()
    editor.files.save_to(other)
    assert Bake(cache_folder(other)).steps(cloth) == Bake(cache_folder(path)).steps(cloth) == range(1, 21)
    Session(qtbot).load(editor, other)
    assert states(editor, (5,)) == before
    with qtbot.waitSignal(editor.baking.ended, timeout=60000):
        editor.baking.start()
    assert len(list(cache_folder(other).glob("*.steps"))) == 1, "baked anew"
    assert Bake(cache_folder(path)).state(cloth, 20) is not None, "the first one stays"
    assert not editor.panels.messages.messages


def verified(editor, qtbot):
    """What verifying tells."""
    with qtbot.waitSignal(editor.verifying.ended, timeout=60000) as ended:
        editor.verifying.start()
    return ended.args[0]


def test_a_bake_is_verified_beside_the_work_and_differences_are_told(baked, qtbot):
    editor, cloth, _ = baked
    shown = states(editor, (13,))
    outcome = "Bake verified: 1 node, 20 steps, bit-identical"
    assert not editor.panels.messages.isVisible()
    assert verified(editor, qtbot) == outcome
    assert editor.panels.messages.isVisible(), "the outcome stays where it can be read"
    assert outcome in [message.text for message in editor.panels.messages.messages]
    assert states(editor, (13,)) == shown
    with qtbot.waitSignal(editor.verifying.progressed, timeout=60000):
        editor.verifying.start()
    editor.cancel()
    assert not editor.verifying.busy
    editor.document.set_value(ParamRef(cloth, "cloth", "wind"), (0.0, 0.0, 3.0))
    reported = verified(editor, qtbot)
    assert "Bake not verified: Cloth: step 1 is the first that differs in its positions and velocities, by " in reported
    assert " m, at step 20 in particle " in reported
    lines = [message.text for message in editor.panels.messages.messages]
    assert reported in lines
    assert "Cloth: its bake is out of date" in lines
