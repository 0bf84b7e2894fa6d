"""The inspector shows the values of an earlier moment, read-only."""

import msgspec
import pytest
from PySide6.QtCore import Qt

from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import Node, ParamRef, Scene, with_value
from sinew.sim.scene.view_state import Selection
from sinew.widgets.inspector.form import SettingRow
from sinew.widgets.inspector.inspector import Inspector
from tests.gui.panels.fakes import FakeTarget

INTENSITY = ParamRef("lamp", "light", "intensity")
NOW = Scene(nodes=(Node(id="lamp", name="Lamp", settings=LightSettings()),))
THEN = with_value(NOW, INTENSITY, 0.25)


@pytest.fixture
def target():
    return FakeTarget(NOW)


@pytest.fixture
def inspector(qtbot, target):
    panel = Inspector(target, lambda _: None)
    qtbot.addWidget(panel)
    panel.resize(320, 600)
    panel.set_selection(Selection(node="lamp"))
    panel.show()
    return panel


def row(inspector, name="intensity"):
    return next(item for item in inspector.tree.all_items() if isinstance(item, SettingRow) and item.ref.name == name)


def test_past_values_are_shown_marked_and_cannot_be_edited(inspector):
    assert not inspector.past.isVisible()
    inspector.show_past(THEN)
    inspector.past.report("As it was", "Why", restorable=True)
    assert inspector.past.isVisible()
    assert inspector.past.label.text() == "As it was"
    changed, same = row(inspector), row(inspector, "visible")
    assert changed.value == 0.25
    assert changed.text(0) == "≠ Intensity"
    assert f"Now: {LightSettings().intensity:g}" in changed.toolTip(0)
    assert same.text(0) == "Visible"
    assert not any(item.editor.isEnabled() for item in inspector.tree.all_items() if isinstance(item, SettingRow))
    reset = inspector.tree.menu_for(changed).actions()[0]
    assert (reset.text(), reset.isEnabled()) == ("Reset to default", False)


def test_edits_of_the_present_change_marks_not_values(inspector, target):
    inspector.show_past(THEN)
    target.set_value(INTENSITY, 0.25)
    assert row(inspector).text(0) == "Intensity"
    target.set_value(INTENSITY, 0.5)
    assert row(inspector).text(0) == "≠ Intensity"
    assert row(inspector).value == 0.25
    inspector.show_now()
    assert not inspector.past.isVisible()
    assert (row(inspector).value, row(inspector).text(0)) == (0.5, "Intensity")
    assert row(inspector).editor.isEnabled()


def test_other_selections_are_shown_as_they_were(inspector):
    inspector.show_past(msgspec.structs.replace(THEN, view=msgspec.structs.replace(THEN.view, grid=not THEN.view.grid)))
    inspector.set_selection(Selection(view=True))
    assert row(inspector, "grid").text(0) == "≠ Grid"
    inspector.set_selection(Selection(node="lamp"))
    inspector.show_past(Scene())
    assert inspector.header.title.text() == "Lamp"
    assert inspector.header.subtitle.text() == "It did not exist at this time."
    assert not inspector.tree.settings()


def test_the_buttons_emit_signals(inspector, qtbot):
    inspector.show_past(THEN)
    inspector.past.report("As it was", "Why", restorable=True)
    with qtbot.waitSignal(inspector.past.back_requested):
        qtbot.mouseClick(inspector.past.back_button, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(inspector.past.restore_requested):
        qtbot.mouseClick(inspector.past.restore_button, Qt.MouseButton.LeftButton)
    inspector.past.report("As it was", "Why", restorable=False)
    assert not inspector.past.restore_button.isEnabled()
