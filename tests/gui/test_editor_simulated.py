import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sinew.app.project.settings_store import app_settings
from sinew.resources import path as resource
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view_state import Selection
from sinew.widgets.messages import Severity
from tests.conftest import slow
from tests.gui.editor_harness import (
    SPRING_SHEET,
    Session,
    add_cloth,
    messages,
    play,
    positions,
    set_values,
    settled,
    trigger,
)  # fmt: skip


@pytest.fixture
def two_cloths(fresh):
    nodes = [add_cloth(fresh, 6), add_cloth(fresh, 6)]
    fresh.document.undo_stack.clear()
    return fresh, *nodes


@pytest.mark.slow
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
    editor.panels.outliner.switch_requested.emit(nodes[0], "muted", True)
    assert editor.document.scene.node(nodes[0]).muted
    assert editor.document.undo_stack.undo_text == "Turn on muted of Cloth"


def test_the_transport_plays_a_scene_of_particles(fresh, qtbot):
    Session(qtbot).load(fresh, resource("projects") / "fountain.sinew")
    settled(fresh)
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
    engine, preferences = fresh.client.engine, fresh.preferences
    if not engine.context.back_ends.has_compute:
        pytest.skip("no compute here")
    assert preferences["simulation"].back_end is BackEndChoice.AUTO
    kernels = set(engine.library.kernels)
    for choice, text in ((BackEndChoice.COMPUTE, "compute: chosen"), (BackEndChoice.TF, "transform feedback: chosen"),
                         (BackEndChoice.AUTO, "automatic: ")):  # fmt: skip
        with qtbot.waitSignal(fresh.client.switched, timeout=60000) as reported:
            preferences.change("simulation", back_end=choice)
        assert reported.args[0].startswith(f"Back end: {text}")
        assert engine.context.back_ends.choice is choice
        assert app_settings().value("simulation/back_end") == choice.value
    assert set(engine.library.kernels) == kernels, "no kernel is built again"


@pytest.fixture
def framed(fresh):
    set_values(fresh, add_cloth(fresh), **SPRING_SHEET)
    fresh.features["view"].frame_all()
    settled(fresh)
    fresh.edits.select()
    return fresh


def stop(editor, cloth):
    editor.document.set_value(ParamRef(cloth, "cloth", "stretch_stiffness"), 1e7)
    for _ in range(40):
        editor.playback.step_simulation()
        if editor.context.system(cloth).stopped:
            break
    with editor.viewport.gl_current():
        editor.client.engine.simulation.check()
    settled(editor)
    QApplication.processEvents()
    assert editor.context.system(cloth).stopped


def click_badge(editor, cloth, place):
    outliner = editor.panels.outliner
    index = outliner.model.index_of(outliner.model.entry_of((cloth,)))
    rect, view = outliner.view.visualRect(index), outliner.view.viewport()
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(view.width() - 24 * place - 12, rect.center().y()))


@pytest.mark.parametrize("ways", [2, slow(6)])
def test_a_stopped_cloth_is_resumed_and_reset_by_its_marks(framed, ways):
    editor = framed
    cloth = editor.document.scene.of_kind("cloth")[0].id
    entry = editor.panels.outliner.model.entry_of((cloth,))
    assert editor.features["stops"].marks == {}
    rest = positions(editor, cloth)
    for _ in range(5):
        editor.playback.step_simulation()
    stop(editor, cloth)
    assert np.abs(positions(editor, cloth) - rest).max() > 1e-4
    assert (entry.note, entry.mark) == ("stopped", "error")
    assert editor.context.system(cloth).stopped in entry.tip
    (text,) = messages(editor, Severity.WARNING)
    assert text.startswith("Cloth: stopped at ")
    assert text.endswith("Reset or resume it in the inspector.")
    mark = editor.features["stops"].marks[cloth]
    assert mark.isVisible()
    assert editor.viewport.rect().contains(mark.geometry())
    assert editor.document.scene.node(cloth).name in mark.label.text()
    editor.document.set_value(ParamRef(cloth, "cloth", "stretch_stiffness"), 20.0)
    settled(editor)
    stop(editor, cloth)
    head = editor.panels.inspector.head
    for act, is_reset in (
        (
            lambda: QTest.mouseClick(editor.features["stops"].marks[cloth].resume_button, Qt.MouseButton.LeftButton),
            False,
        ),
        (lambda: QTest.mouseClick(editor.features["stops"].marks[cloth].reset_button, Qt.MouseButton.LeftButton), True),
        (lambda: click_badge(editor, cloth, 3), False),
        (lambda: click_badge(editor, cloth, 2), True),
        (head.resume_button.click, False),
        (head.reset_button.click, True),
    )[:ways]:
        editor.edits.select(cloth)
        settled(editor)
        assert head.notice.isVisible()
        stopped = positions(editor, cloth)
        act()
        assert (editor.stepper.step_count == 0) is is_reset
        np.testing.assert_allclose(positions(editor, cloth), rest if is_reset else stopped, atol=1e-6)
        settled(editor)
        QApplication.processEvents()
        assert not editor.context.system(cloth).stopped
        assert editor.features["stops"].marks == {}
        assert entry.note != "stopped"
        assert not head.notice.isVisible()
        stop(editor, cloth)
    editor.edits.select(cloth)
    editor.edits.delete_selected()
    settled(editor)
    QApplication.processEvents()
    assert editor.features["stops"].marks == {}


def test_a_hidden_cloth_is_simulated_until_it_is_muted(framed):
    editor = framed
    document, cloth = editor.document, editor.document.scene.of_kind("cloth")[0].id
    entry = editor.panels.outliner.model.entry_of((cloth,))
    editor.edits.select(cloth)
    assert entry.note == ""
    editor.edits.hide_selected()
    assert entry.note == "hidden, running"
    assert "Hidden, but simulated" in editor.panels.inspector.head.status.note
    document.set_value(ParamRef(cloth, "node", "muted"), True)
    assert entry.note == ""
    assert "Muted" in editor.panels.inspector.head.status.note
