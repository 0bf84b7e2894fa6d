import threading

import pytest

from sinew.app.project.project_file import cache_folder
from sinew.app.session.job_queue import DONE, FAILED
from sinew.sim.cache.bake import Bake
from sinew.sim.colliders.skin_mesh import skin_corners
from sinew.sim.kinds.cloth.settings import ClothPlacement, PinPreset
from sinew.sim.kinds.collider import place
from sinew.sim.scene.scene import PLAYBACK, ParamRef
from sinew.sim.scene.view_state import Selection
from sinew.widgets.timeline.tracks import CacheState
from tests.gui.editor_harness import Session, add_cloth, messages, play, positions, set_values, settled


@pytest.fixture
def baked(fresh, arm, qtbot, tmp_path):
    Session(qtbot).load(fresh, arm)
    cloth = add_cloth(fresh)
    fresh.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "end"), 10)
    fresh.baking.start()
    assert not fresh.baking.busy, "the project has no file"
    fresh.files.save_to(tmp_path / "a.sinew")
    assert result_of(fresh.baking, qtbot) == "Baked 20 steps of 1 node"
    return fresh, cloth, tmp_path / "a.sinew"


def result_of(work, qtbot):
    with qtbot.waitSignal(work.ended, timeout=60000) as ended:
        work.start()
    return ended.args[0]


def states(editor, node, steps):
    found = []
    for step in steps:
        editor.playback.scrub(step / 60)
        settled(editor)
        found.append(positions(editor, node).tobytes())
    return found


def test_a_baked_node_is_shown_without_simulating_and_freed(baked, qtbot, monkeypatch):
    editor, cloth, path = baked
    before = states(editor, cloth, (5, 13, 20))
    bake = Bake(cache_folder(path))
    assert bake.steps(cloth) == range(1, 21)
    assert editor.document.scene.node(cloth).baked
    assert editor.baking.is_of_now(cloth)
    editor.files.save_to(path)
    Session(qtbot).load(editor, path)
    (system,) = editor.client.engine.simulation.systems.values()
    monkeypatch.setattr(type(system), "step", lambda *_: pytest.fail("it was simulated"))
    assert states(editor, cloth, (5, 13, 20)) == before, "at once, wherever the playhead goes"
    assert not editor.playback._reported.stale
    editor.playback.restore(0.0)
    play(editor, 20)
    editor.playback.pause()
    assert states(editor, cloth, (20, 5, 13)) == [before[place] for place in (2, 0, 1)], "also while it plays"
    assert editor.client.runner.cache.history.cached == [], "no step is stored twice"
    editor.features["playing"].cached_bars.refresh()
    (row,) = editor.timeline.tracks.bars
    assert row.is_baked
    assert not row.is_outdated
    assert row.spans == ((0.0, pytest.approx(20 / 60), CacheState.BAKED),)
    monkeypatch.undo()
    editor.document.set_value(ParamRef(cloth, "cloth", "wind"), (0.0, 0.0, 3.0))
    settled(editor)
    assert not editor.baking.is_of_now(cloth)
    editor.features["playing"].cached_bars.refresh()
    (row,) = editor.timeline.tracks.bars
    assert row.is_outdated
    assert {cached for _, _, cached in row.spans} == {CacheState.OUTDATED}
    editor.baking.free()
    assert not editor.document.scene.node(cloth).baked
    editor.playback.scrub(20 / 60)
    result_of(editor.seek, qtbot)
    assert states(editor, cloth, (20,)) != before[2:]


@pytest.mark.slow
def test_a_cancelled_bake_keeps_the_previous_one(baked, qtbot, monkeypatch):
    editor, cloth, path = baked
    monkeypatch.setattr("sinew.app.tasks.TURN", 0.0)  # one step a turn
    files, ended = sorted(cache_folder(path).iterdir()), []
    editor.baking.ended.connect(ended.append)
    editor.baking.start()
    qtbot.waitUntil(lambda: len(list(cache_folder(path).iterdir())) > len(files), timeout=60000)
    assert editor.baking.busy
    editor.cancel()
    assert ended == ["Bake cancelled"]
    assert not editor.baking.busy
    assert sorted(cache_folder(path).iterdir()) == files
    assert Bake(cache_folder(path)).steps(cloth) == range(1, 21)


def test_an_outdated_bake_is_marked_and_can_be_detached(baked, qtbot):
    editor, cloth, _ = baked
    head, document = editor.panels.inspector.head, editor.document
    document.select(Selection(node=cloth))

    def row():
        settled(editor)
        editor.features["playing"].cached_bars.refresh()
        editor.features["selected"].refresh()
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


@pytest.mark.slow
def test_adding_and_removing_another_node_changes_neither_bake_nor_cached_steps(baked, qtbot):
    editor, cloth, _ = baked
    before = states(editor, cloth, (5, 13, 20))
    sparks = editor.edits.add("emitter.sparks")
    settled(editor)
    assert editor.baking.is_of_now(cloth)
    editor.document.remove_nodes([sparks])
    editor.document.select(Selection(node=cloth))
    editor.baking.free()
    editor.playback.scrub(20 / 60)
    result_of(editor.seek, qtbot)
    sparks = editor.edits.add("emitter.sparks")
    assert states(editor, cloth, (5, 13, 20)) == before
    editor.features["playing"].cached_bars.refresh()
    bars = {bar.node: bar.spans for bar in editor.timeline.tracks.bars}
    assert bars[cloth] == ((0.0, pytest.approx(20 / 60), CacheState.CACHED),)
    assert bars[sparks] == ()
    editor.document.remove_nodes([sparks])
    settled(editor)
    editor.document.select(Selection(node=cloth))
    assert result_of(editor.baking, qtbot) == "Baked 20 steps of 1 node"
    assert states(editor, cloth, (5, 13, 20)) == before


@pytest.mark.slow
def test_damaged_and_missing_bakes_are_reported_and_simulated(baked, qtbot):
    editor, cloth, path = baked
    before = states(editor, cloth, (5, 13, 20))
    (rows,) = cache_folder(path).glob("*.steps")
    offset, size = Bake(cache_folder(path)).index.nodes[cloth].rows[9]
    whole = rows.read_bytes()
    data = bytearray(whole)
    data[offset + size // 2] ^= 4
    rows.write_bytes(data)
    editor.files.save_to(path)
    Session(qtbot).load(editor, path)
    editor.playback.scrub(10 / 60)
    settled(editor)
    assert editor.client.runner.shown == 9
    editor.playback.scrub(20 / 60)
    with qtbot.waitSignal(editor.seek.ended, timeout=60000):
        editor.seek.catch_up()
    assert states(editor, cloth, (13, 20)) == before[1:]
    damaged = f"Cloth: step 10 of a.sinewcache/{rows.name} is damaged; the following steps are simulated"
    assert messages(editor) == [damaged]
    rows.write_bytes(whole)
    cache_folder(path).rename(path.with_name("elsewhere"))
    editor.files.new()
    Session(qtbot).load(editor, path)
    assert messages(editor) == ["Cloth: no baked steps in a.sinewcache; it is simulated"]
    editor.features["playing"].cached_bars.refresh()
    assert [row.is_baked for row in editor.timeline.tracks.bars] == [False]
    assert states(editor, cloth, (5,)) != before[:1]
    path.with_name("elsewhere").rename(cache_folder(path))
    assert states(editor, cloth, (6, 5))[1:] == before[:1], "it is used once the playhead moves"


@pytest.mark.slow
def test_save_as_copies_the_bake(baked, qtbot, tmp_path):
    editor, cloth, path = baked
    before = states(editor, cloth, (5,))
    other = tmp_path / "sub" / "b.sinew"
    other.parent.mkdir()
    editor.files.save_to(other)
    assert Bake(cache_folder(other)).steps(cloth) == Bake(cache_folder(path)).steps(cloth) == range(1, 21)
    Session(qtbot).load(editor, other)
    assert states(editor, cloth, (5,)) == before
    result_of(editor.baking, qtbot)
    assert len(list(cache_folder(other).glob("*.steps"))) == 1, "baked anew"
    assert Bake(cache_folder(path)).state(cloth, 20) is not None, "the first one stays"
    assert not editor.panels.messages.messages


def test_a_bake_is_verified_in_the_background(baked, qtbot):
    editor, cloth, _ = baked
    shown = states(editor, cloth, (13,))
    outcome = "Bake verified: 1 node, 20 steps, bit-identical"
    assert not editor.panels.messages.isVisible()
    assert result_of(editor.features["simulation"].verifying, qtbot) == outcome
    assert editor.panels.messages.isVisible(), "the outcome stays readable"
    assert outcome in messages(editor)
    assert states(editor, cloth, (13,)) == shown


@pytest.mark.slow
def test_a_verification_is_cancelled_and_an_outdated_bake_differs(baked, qtbot):
    editor, cloth, _ = baked
    with qtbot.waitSignal(editor.features["simulation"].verifying.progressed, timeout=60000):
        editor.features["simulation"].verifying.start()
    editor.cancel()
    assert not editor.features["simulation"].verifying.busy
    editor.document.set_value(ParamRef(cloth, "cloth", "wind"), (0.0, 0.0, 3.0))
    reported = result_of(editor.features["simulation"].verifying, qtbot)
    assert "Bake not verified: Cloth: step 1 is the first that differs in its positions and velocities, by " in reported
    assert " m, at step 20 in particle " in reported
    assert {reported, "Cloth: its bake is out of date"} <= set(messages(editor))


@pytest.mark.slow
def test_a_cloth_on_a_skin_is_scrubbed_edited_undone_baked_and_verified(fresh, arm, qtbot, tmp_path, monkeypatch):
    gate = threading.Event()
    monkeypatch.setattr(place, "skin_corners", lambda *one: gate.wait(60.0) and skin_corners(*one))
    Session(qtbot).load(fresh, arm)
    document, stack = fresh.document, fresh.document.undo_stack
    model, friction = document.scene.characters[0].id, 0.9
    cloth = add_cloth(fresh)
    set_values(fresh, cloth, placement=ClothPlacement.FLAT, pins=PinPreset.NONE, width=0.4, height=0.4, substeps=24)
    document.set_value(ParamRef(cloth, "transform", "position"), (0.4, 0.9, 0.05))
    document.set_value(ParamRef(PLAYBACK, PLAYBACK, "end"), 10)
    document.select(Selection(node=model))
    skin = fresh.edits.add("skin")
    fresh.playback.scrub(20 / 60)
    fresh.seek.start()
    fresh.viewport.repaint()
    simulation = fresh.client.engine.simulation
    qtbot.waitUntil(lambda: simulation.is_waiting, timeout=60000)
    assert fresh.seek.busy
    with qtbot.waitSignal(fresh.seek.ended, timeout=60000):
        gate.set()
    assert not simulation.is_waiting
    steps = (5, 13, 20)
    first = states(fresh, cloth, steps)
    assert states(fresh, cloth, steps[::-1]) == first[::-1]
    fresh.playback.scrub(13 / 60)
    settled(fresh)
    document.set_value(ParamRef(skin, "collider", "friction"), friction)
    play(fresh, 4)
    fresh.playback.pause()
    stack.undo()
    assert states(fresh, cloth, steps) == first
    document.remove_nodes([skin])
    play(fresh, 3)
    fresh.playback.pause()
    stack.undo()
    fresh.playback.scrub(20 / 60)
    result_of(fresh.seek, qtbot)
    assert states(fresh, cloth, steps) == first
    stack.redo()
    fresh.playback.reset_simulation()
    fresh.playback.scrub(20 / 60)
    result_of(fresh.seek, qtbot)
    assert states(fresh, cloth, (20,)) != first[2:]
    stack.undo()
    fresh.files.save_to(tmp_path / "skin.sinew")
    document.select(Selection(node=cloth))
    assert result_of(fresh.baking, qtbot) == "Baked 20 steps of 1 node"
    assert fresh.baking.is_of_now(cloth)
    assert states(fresh, cloth, steps) == first
    assert result_of(fresh.features["simulation"].verifying, qtbot) == "Bake verified: 1 node, 20 steps, bit-identical"
    document.set_value(ParamRef(skin, "collider", "friction"), friction)
    settled(fresh)
    assert not fresh.baking.is_of_now(cloth)


@pytest.mark.slow
def test_bakes_of_several_projects_are_one_job_with_a_line_for_each(baked, qtbot, tmp_path):
    editor, _, path = baked
    editor.files.save_to(path)
    other = tmp_path / "b.sinew"
    other.write_bytes(path.read_bytes())
    editor.window.actions_table["simulate.verify_projects"].trigger()
    window, queue = editor.output.window, editor.output.queue
    assert window.verify_button.isVisible()

    def verified(**values):
        window.verify_form.show_values(**values)
        window.verify_button.click()
        qtbot.waitUntil(lambda: not queue.busy, timeout=240000)
        return queue.jobs[-1]

    entries = editor.document.undo_stack.count()
    editor.dialogs.path = None
    job = verified(allow_outside=True)
    assert (job.state, job.name, job.text) == (DONE, "Verify a.sinew", "1 node, 20 steps, bit-identical")
    editor.dialogs.path = other
    job = verified(workers=2, allow_outside=False)
    assert [job.command.permitted.outside for job in queue.jobs] == [True, False]
    assert not any(job.command.permitted.kernels for job in queue.jobs)
    assert job.state == FAILED
    assert job.text.splitlines() == [
        f"b.sinew: has no baked steps; {cache_folder(other).name} is missing",
        "a.sinew: 1 node, 20 steps, bit-identical",
    ]
    assert messages(editor)[-1] == job.text.splitlines()[0]
    assert editor.document.undo_stack.count() == entries
    window.close()
