import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from sinew.app.files.settings_store import app_settings
from sinew.resources import path as resource
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import Session, add_cloth, picture, play, positions, trigger


@pytest.fixture
def two_cloths(fresh):
    nodes = [add_cloth(fresh, 6), add_cloth(fresh, 6)]
    fresh.document.undo_stack.clear()
    return fresh, *nodes


def test_a_muted_cloth_does_not_move_and_is_explained(two_cloths):
    editor, *nodes = two_cloths
    for action, name, muted in (("node.mute", "muted", 1), ("node.solo", "solo", 0)):
        editor.document.select(Selection(node=nodes[1]))
        before = {node: positions(editor, node) for node in nodes}
        trigger(editor, action)
        assert getattr(editor.document.scene.node(nodes[1]), name)
        assert editor.document.undo_stack.count() == 1
        play(editor, 10)
        moved = [not np.array_equal(positions(editor, node), before[node]) for node in nodes]
        assert moved == [muted != 0, muted != 1]
        editor.document.select(Selection(node=nodes[muted]))
        QApplication.processEvents()
        note = editor.panels.inspector.head.status.note
        assert note == ("Muted: it is not simulated." if muted else "Muted: another cloth is solo.")
        assert editor.panels.outliner.model.entry_of((nodes[muted],)).dim
        editor.document.undo_stack.undo()
        assert not getattr(editor.document.scene.node(nodes[1]), name)
        editor.playback.pause()
    editor.panels.outliner.mute_requested.emit(nodes[0], True)
    assert editor.document.scene.node(nodes[0]).muted
    assert editor.document.undo_stack.undoText() == "Turn on muted of Cloth"


def test_the_transport_plays_a_scene_of_particles(fresh, qtbot):
    Session(qtbot).load(fresh, resource("projects") / "fountain.sinew")
    picture(fresh)
    QApplication.processEvents()
    transport = fresh.timeline.transport
    assert all(button.isEnabled() for button in (transport.buttons[0], transport.buttons[4], transport.buttons[5]))
    fresh.playback.step_simulation()
    assert fresh.stepper.step_count == 1
    transport.buttons[5].click()
    assert fresh.stepper.step_count == 2, "the next frame, of 1/30 s"
    transport.buttons[4].click()
    play(fresh, 5)
    assert fresh.stepper.step_count == 7
    transport.buttons[0].click()
    assert fresh.stepper.step_count == 0


def test_the_back_end_is_switched_while_it_runs_and_remembered(fresh, qtbot):
    engine, actions = fresh.client.engine, fresh.window.actions_table
    if not engine.context.back_ends.has_compute:
        pytest.skip("no compute here")
    assert [c for c in BackEndChoice if actions[f"back_end.{c.value}"].isChecked()] == [BackEndChoice.AUTO]
    kernels = set(engine.library.kernels)
    for choice, text in ((BackEndChoice.COMPUTE, "compute: chosen"), (BackEndChoice.TF, "transform feedback: chosen"),
                         (BackEndChoice.AUTO, "automatic: ")):  # fmt: skip
        with qtbot.waitSignal(fresh.client.switched, timeout=60000) as reported:
            trigger(fresh, f"back_end.{choice.value}")
        assert reported.args[0].startswith(f"Back end: {text}")
        assert engine.context.back_ends.choice is choice
        assert app_settings().value("back_end") == choice.value
    assert set(engine.library.kernels) == kernels, "no kernel is built again"
    assert actions["back_end.auto"].isChecked()
