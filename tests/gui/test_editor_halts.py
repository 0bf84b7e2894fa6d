import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sinew.sim.scene.scene import ParamRef
from tests.gui.editor_harness import add_cloth, picture


@pytest.fixture
def editor(fresh):
    add_cloth(fresh)
    fresh.frame_all()
    picture(fresh)
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
    picture(editor)
    QApplication.processEvents()
    assert editor.context.system(cloth).stopped


def click_badge(editor, cloth, place):
    """Clicks a badge of a row, counted from the right edge."""
    outliner = editor.panels.outliner
    index = outliner.model.index_of(outliner.model.entry_of((cloth,)))
    rect, view = outliner.view.visualRect(index), outliner.view.viewport()
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(view.width() - 24 * place - 12, rect.center().y()))


def test_a_stopped_cloth_is_resumed_and_reset_by_its_marks(editor):
    cloth = editor.document.scene.of_kind("cloth")[0].id
    entry = editor.panels.outliner.model.entry_of((cloth,))
    assert editor.stop_reports.marks == {}
    stop(editor, cloth)
    assert (entry.note, entry.mark) == ("stopped", "error")
    assert editor.context.system(cloth).stopped in entry.tip
    mark = editor.stop_reports.marks[cloth]
    assert mark.isVisible()
    assert editor.viewport.rect().contains(mark.geometry())
    assert editor.document.scene.node(cloth).name in mark.label.text()
    editor.document.set_value(ParamRef(cloth, "cloth", "stretch_stiffness"), 20.0)
    picture(editor)
    stop(editor, cloth)
    for act in (
        lambda: QTest.mouseClick(editor.stop_reports.marks[cloth].resume_button, Qt.MouseButton.LeftButton),
        lambda: QTest.mouseClick(editor.stop_reports.marks[cloth].reset_button, Qt.MouseButton.LeftButton),
        lambda: click_badge(editor, cloth, 3),
        lambda: click_badge(editor, cloth, 2),
    ):
        act()
        picture(editor)
        QApplication.processEvents()
        assert not editor.context.system(cloth).stopped
        assert editor.stop_reports.marks == {}
        assert entry.note != "stopped"
        stop(editor, cloth)
    editor.edits.select(cloth)
    editor.edits.delete_selected()
    picture(editor)
    QApplication.processEvents()
    assert editor.stop_reports.marks == {}


def test_a_hidden_cloth_is_simulated_until_it_is_muted(editor):
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
