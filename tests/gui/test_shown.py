import pytest

from sinew.app.project.project_file import cache_folder
from sinew.sim.cache.bake import Bake
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import PLAYBACK, ParamRef
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import SPRING_SHEET, add_cloth, picture, play, set_values, trigger

WIND = "cloth", "wind"


@pytest.fixture
def sheet(fresh, tmp_path):
    cloth = add_cloth(fresh)
    fresh.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "end"), 30)
    fresh.document.rename(cloth, "Cape")
    fresh.files.save_to(tmp_path / "a.sinew")
    yield fresh, cloth
    fresh.playback.pause()


def title(editor):
    picture(editor)
    editor.playback.report()
    editor.features["playing"].shown_line.refresh()
    return editor.window.docks["timeline"].windowTitle()


def run(qtbot, work, *arguments):
    with qtbot.waitSignal(work.ended, timeout=60000) as ended:
        work.start(*arguments)
    return ended.args[0]


def change(editor, cloth, wind=3.0):
    editor.document.set_value(ParamRef(cloth, *WIND), (0.0, 0.0, wind))


def baked(editor, qtbot, out=None):
    editor.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "out_point"), out)
    assert run(qtbot, editor.baking).startswith("Baked ")


def test_nothing_and_simulated_steps(sheet):
    editor, _ = sheet
    assert title(editor) == "Timeline"
    play(editor, 4)
    assert title(editor) == "Timeline – simulated"
    editor.playback._share, editor.playback._stepping = 0.751, 0.1
    assert title(editor) == "Timeline – simulated, 75 % speed: limited by rendering"
    editor.playback._stepping = 0.9
    assert title(editor) == "Timeline – simulated, 75 % speed: limited by simulation"
    editor.playback.pause()
    assert title(editor) == "Timeline – simulated"
    assert editor.timeline.accessibleDescription() == "simulated"
    editor.document.remove_nodes([node.id for node in editor.document.scene.of_kind("cloth")])
    assert title(editor) == "Timeline"


def test_a_missing_step_and_waiting(sheet, qtbot, monkeypatch):
    editor, _ = sheet
    button = editor.window._seek
    play(editor, 17)
    editor.playback.pause()
    editor.playback.scrub(0.5)
    assert title(editor) == "Timeline – not simulated up to here; step 17 of 30 is drawn"
    assert (button.text(), button.isVisible()) == ("Simulate to Playhead", True)
    monkeypatch.setattr("sinew.app.tasks.TURN", 0.0)
    editor.playback.toggle()
    qtbot.waitUntil(lambda: editor.seek.busy and editor.seek.progress[0] >= 19, timeout=60000)
    done = editor.seek.progress[0]
    editor.features["playing"].shown_line.refresh()
    shown = editor.window.docks["timeline"].windowTitle()
    assert shown == f"Timeline – plays when step 30 is simulated ({done} done)"
    assert not button.isVisible()
    assert editor.window._cancel.text() == "Stop Waiting"
    editor.window._cancel.click()
    assert "not simulated up to here" in title(editor)
    with qtbot.waitSignal(editor.seek.ended, timeout=60000):
        button.click()
    assert title(editor) == "Timeline – simulated"
    assert not button.isVisible()


def test_an_edit_after_earlier_steps(sheet, qtbot):
    editor, cloth = sheet
    play(editor, 12)
    editor.playback.pause()
    change(editor, cloth)
    play(editor, 6)
    editor.playback.pause()
    assert title(editor) == "Timeline – simulated; settings changed at 0.20 s"
    with qtbot.waitSignal(editor.seek.ended, timeout=60000):
        editor.window._seek.click()
    assert title(editor) == "Timeline – simulated"
    assert editor.playback.playhead.time == pytest.approx(18 * STEP_TIME)


def test_a_stopped_simulation(sheet):
    editor, cloth = sheet
    set_values(editor, cloth, **SPRING_SHEET)
    play(editor, 5)
    set_values(editor, cloth, stretch_stiffness=1e7)
    play(editor, 40)
    editor.playback.pause()
    assert title(editor).startswith("Timeline – Cape: stopped at step ")


@pytest.mark.slow
def test_bakes_of_now_and_of_before(sheet, qtbot):
    editor, cloth = sheet
    editor.playback.scrub(0.25)
    entries = editor.document.undo_stack.count()
    baked(editor, qtbot, out=20 / 60)
    assert editor.playback.playhead.time == 0.25, "the playhead stays"
    assert Bake(cache_folder(editor.document.path)).steps(cloth) == range(1, 21), "up to the out point"
    settings = editor.document.scene.playback
    assert (settings.in_point, settings.out_point) == (None, 20 / 60)
    assert editor.document.undo_stack.count() == entries + 2, "the out point and the bake"
    assert title(editor) == "Timeline – bake"
    editor.playback.restore(0.0)
    assert title(editor) == "Timeline – bake", "the start counts as baked"
    editor.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "out_point"), None)
    play(editor, 22)
    editor.playback.pause()
    assert title(editor) == "Timeline – Cape: simulated after its bake (frame 10)"
    change(editor, cloth)
    assert title(editor) == "Timeline – Cape: bake of other settings"
    button = editor.window._seek
    assert button.text() == "Bake Again"
    with qtbot.waitSignal(editor.baking.ended, timeout=60000) as ended:
        button.click()
    assert ended.args == ["Baked 60 steps of 1 node"]
    assert title(editor) == "Timeline – bake"
    assert not button.isVisible()
    editor.baking.free()
    editor.playback.scrub(0.1)
    assert title(editor) in ("Timeline – simulated", "Timeline – not simulated up to here; step 0 of 6 is drawn")


def test_several_nodes_are_named_or_counted(sheet, qtbot):
    editor, _ = sheet
    named = ["Cape · Flag", "3 objects"]
    for name, names in zip(("Flag", "Veil"), named, strict=True):
        editor.document.rename(add_cloth(editor), name)
        editor.document.select(Selection())
        baked(editor, qtbot, out=4 / 60)
        for node in editor.document.scene.of_kind("cloth"):
            change(editor, node.id, 1.0 + len(names))
        assert title(editor) == f"Timeline – {names}: bake of other settings"


def test_the_range_bounds_what_is_simulated(sheet, qtbot):
    editor, _ = sheet
    editor.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "out_point"), 15 / 60)
    actions = editor.window.actions_table
    actions.refresh()
    assert actions["simulate.bake"].toolTip().endswith("\nBakes to Out, frame 7.5.")
    with qtbot.waitSignal(editor.seek.ended, timeout=60000) as ended:
        trigger(editor, "simulate.range")
    assert ended.args == ["Simulated 15 steps, 0.25 s"]
    assert editor.playback.playhead.time == 0.0
    editor.playback.scrub(15 / 60)
    assert title(editor) == "Timeline – simulated"
    editor.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "out_point"), None)
    actions.refresh()
    assert actions["simulate.bake"].toolTip().endswith("\nBakes to the end, frame 30.")


def test_without_the_timeline_the_status_bar_has_the_line(sheet):
    editor, _ = sheet
    window = editor.window
    play(editor, 3)
    editor.playback.pause()
    assert title(editor) == "Timeline – simulated"
    assert window._simulation.text() == "Simulation 0.05 s, step 3, paused"
    entry = next(action for action in window.docks.toggle_actions() if action.text() == "Timeline")
    assert entry.isChecked()
    entry.trigger()
    assert window.docks["timeline"].isHidden()
    assert window._simulation.text() == "Simulation 0.05 s, step 3, paused, simulated"
    entry.trigger()
    assert window._simulation.text() == "Simulation 0.05 s, step 3, paused"
    trigger(editor, "view.maximise")
    assert window._simulation.text().endswith(", simulated")
    trigger(editor, "view.maximise")
    assert window._simulation.text() == "Simulation 0.05 s, step 3, paused"
