import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from sinew.app.timeline.sweep_window import offered_values, sweepable
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.scene.params import param_of
from tests.gui.editor_harness import SPRING_SHEET, Mouse, add_cloth, set_values


@pytest.fixture
def sweeps(fresh):
    cloth = add_cloth(fresh)
    fresh.window.actions_table["simulate.sweep"].trigger()
    window = fresh.features["simulation"].sweeps
    window.names[0].setCurrentText("Substeps")
    window.names[1].setCurrentText("Stretch stiffness")
    set_values(fresh, cloth, **SPRING_SHEET)
    window.steps.setValue(6)
    yield fresh, window, cloth
    window.close()


def run(window, qtbot, *values):
    for field, text in zip(window.values, values, strict=False):
        field.setText(text)
    with qtbot.waitSignal(window._sweeping.done, timeout=60000):
        window.start_button.click()


def test_a_click_on_the_map_sets_its_values_as_one_edit(sweeps, qtbot):
    editor, window, cloth = sweeps
    run(window, qtbot, "4, 16", "10, 60, 1e6")
    assert [cell.is_stable for cell in window.map.cells] == [True, True, False, True, True, False]
    assert window.map.cells[4].tip == "Cloth.substeps 16, Cloth.stretch_stiffness 60"
    assert {"time [ms/step]", "strain", "energy max"} <= {
        window.measure.itemText(number) for number in range(window.measure.count())
    }
    mouse = Mouse(window.map)
    mouse.hover(window.map.cell_rect(5).center())
    assert "stopped" in window.facts.text()
    assert window.picture.pixmap().width() == 320
    before = editor.document.undo_stack.count()
    mouse.click(window.map.cell_rect(4).center())
    settings = editor.document.scene.node(cloth).settings
    assert settings.substeps == 16
    assert settings.stretch_stiffness == 60.0
    assert editor.document.undo_stack.count() == before + 1
    editor.document.undo_stack.undo()
    assert editor.document.scene.node(cloth).settings.substeps == ClothSettings().substeps
    window.map.setFocus()
    mouse.hover(QPointF(1.0, 1.0))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Return):
        QTest.keyClick(window.map, key)
    assert editor.document.scene.node(cloth).settings.stretch_stiffness == 60.0


def test_the_window_begins_with_a_setting_and_values_around_it(fresh):
    for entry, setting in (("cloth", "Density"), ("emitter", "Rate"), ("hair", "Bending length")):
        fresh.edits.add(entry)
        fresh.window.actions_table["simulate.sweep"].trigger()
        window = fresh.features["simulation"].sweeps
        assert window.names[0].currentText() == setting
        assert window.values[0].text().endswith(":log:5")
        assert window.names[1].currentText() == "None"
        assert window.reported.text() == "5 runs"
        window.close()


def test_invalid_values_are_explained_and_a_sweep_is_cancelled(sweeps, qtbot):
    _, window, _ = sweeps
    window.values[0].setText("4, many")
    assert not window.start_button.isEnabled()
    assert "many" in window.reported.text()
    window.values[0].setText("0:10")
    assert "neither from:to:count" in window.reported.text()
    window.values[0].setText("4, 8, 16, 32")
    assert window.reported.text() == "20 runs"
    window.steps.setValue(30000)
    window.start_button.click()
    qtbot.waitUntil(window.cancel_button.isVisible, timeout=60000)
    with qtbot.waitSignal(window._sweeping.done, timeout=60000) as done:
        window.cancel_button.click()
    assert done.args == [[]]
    assert window.map.cells == ()
    assert not window.bar.isVisible()


def test_values_around_the_current_ones_are_offered(sweeps):
    editor, _, cloth = sweeps
    node = editor.document.scene.node(cloth)
    for record in sweepable(node):
        assert offered_values(record, getattr(node.settings, record.name)), record.name
    assert offered_values(param_of(ClothSettings, "stretch_stiffness"), 200.0) == "50:800:log:5"
