import gc
import itertools
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from sinew.sim.assets.model import Interpolation
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.params import Effect
from sinew.sim.scene.scene import ParamRef, Scene, with_value
from sinew.sim.scene.view_state import Selection
from sinew.widgets.inspector.form import FactRow, NoteRow, SettingRow
from sinew.widgets.inspector.inspector import Inspector
from sinew.widgets.protocols import ModelState, ModelStatus
from tests.gui.panels.fakes import bind_pose, character, drag, ref, wheel

INTENSITY = ref("c", "light", "intensity")
POSITION = ref("a", "transform", "position")


@pytest.fixture
def inspector(target, statuses, show):
    return show(Inspector(target, statuses.get))


def row(inspector, wanted) -> SettingRow:
    return next(item for item in inspector.tree.settings() if item.ref == wanted)


def facts(inspector):
    return {item.text(0): item.text(1) for item in inspector.tree.all_items() if isinstance(item, FactRow)}


def titles(inspector):
    return [inspector.tree.topLevelItem(i).text(0) for i in range(inspector.tree.topLevelItemCount())]


def select(inspector, **selection):
    inspector.set_selection(Selection(**selection))
    assert inspector.tree  # brings it up to date


def test_a_slider_drag_is_one_entry_and_live(inspector, target):
    select(inspector, node="c")
    slider = row(inspector, INTENSITY).editor.slider
    drag(slider, 8, slider.width() - 8, slider.height() / 2)
    assert len(target.calls) > 3
    assert len(target.history) == 1
    assert target.scene.node("c").settings.intensity == target.calls[-1][1] > 4.0


def test_escape_and_undo_restore_what_a_slider_changed(inspector, target):
    select(inspector, node="c")
    item = row(inspector, INTENSITY)
    slider = item.editor.slider
    drag(slider, 8, slider.width() - 8, slider.height() / 2, release=False)
    assert target.scene.node("c").settings.intensity > 4.0
    QTest.keyClick(slider, Qt.Key.Key_Escape)
    assert target.scene.node("c").settings.intensity == 1.6
    assert target.history == []
    assert item.editor.field.value() == 1.6
    assert not item.binding.is_held
    drag(slider, 8, slider.width() - 8, slider.height() / 2)
    target.undo()
    assert item.editor.field.value() == 1.6
    assert target.history == []


def test_a_gesture_is_not_disturbed_by_changes_of_its_value(inspector, target):
    select(inspector, node="c")
    item = row(inspector, INTENSITY)
    slider = item.editor.slider
    drag(slider, 8, slider.width() / 2, slider.height() / 2, release=False)
    place = slider.value()
    target.set_value(INTENSITY, 0.25)
    assert slider.value() == place
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton)
    assert item.editor.field.value() == 0.25


def test_changes_of_the_scene_are_shown_and_edit_nothing(inspector, target):
    changes = {
        POSITION: (1.0, 2.0, 3.0), ref("a", "node", "name"): "hero", ref("a", "node", "visible"): False,
        ref("a", "model", "skinning"): SkinningMethod.DQS, ref("a", "model", "interpolation"): Interpolation.NEAREST,
        ref("a", "model", "clip"): "pose", ref("a", "model", "path"): "other.ezm",
        ref("a", "model", "unit_scale"): 0.01,
    }  # fmt: skip
    select(inspector, node="a")
    for wanted, value in changes.items():
        target.set_value(wanted, value)
        assert row(inspector, wanted).value == value
    for selection in (Selection(node="a"), Selection(node="c"), Selection(view=True), Selection(node="b"), Selection()):
        inspector.set_selection(selection)
    inspector.rebuild()
    assert target.calls == list(changes.items())


def test_combos_of_methods_and_clips_and_a_check_box_edit_once(inspector, target):
    select(inspector, node="a")
    combo = row(inspector, ref("a", "model", "skinning")).editor.combo
    assert [combo.itemText(index) for index in range(combo.count())] == [
        "Linear blend", "Dual quaternion", "Dual quaternion + scale",
    ]  # fmt: skip
    combo.activated.emit(1)
    assert target.scene.node("a").settings.skinning is SkinningMethod.DQS
    QTest.mouseClick(row(inspector, ref("a", "node", "visible")).editor.box, Qt.MouseButton.LeftButton)
    assert target.scene.node("a").visible is False
    assert len(target.history) == 2
    combo = row(inspector, ref("a", "model", "clip")).editor.combo
    assert [combo.itemData(index) for index in range(combo.count())] == ["", "walk", "pose"]
    combo.setCurrentIndex(2)
    combo.activated.emit(2)
    assert target.scene.node("a").settings.clip == "pose"
    target.set_value(ref("a", "model", "clip"), "gone")
    assert combo.currentText() == "gone (missing)"


def test_a_name_is_set_by_return_and_restored_by_escape(inspector, target):
    select(inspector, node="a")
    line = row(inspector, ref("a", "node", "name")).editor.line
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, "hero")
    assert target.calls == []
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert target.scene.node("a").name == "hero"
    assert len(target.history) == 1
    assert inspector.header.title.text() == "hero"
    QTest.keyClicks(line, "x")
    QTest.keyClick(line, Qt.Key.Key_Escape)
    line.clearFocus()
    assert line.text() == "hero"
    assert len(target.calls) == 1


def test_a_refused_value_is_reported_and_the_editor_restored(inspector, target, qtbot):
    select(inspector, node="c")
    item = row(inspector, INTENSITY)
    with qtbot.waitSignal(inspector.refused) as refused:
        item.editor.edited.emit(5000.0)
    assert "1000" in refused.args[0]
    assert target.scene.node("c").settings.intensity == 1.6
    assert item.editor.field.value() == 1.6


def test_modified_values_are_marked_copied_and_reset(inspector, target):
    select(inspector, node="c")
    item = row(inspector, INTENSITY)
    assert not item.font(0).bold()
    assert item.reset_button.isHidden()
    target.set_value(INTENSITY, 3.0)
    assert item.font(0).bold()
    assert not item.reset_button.isHidden()
    QTest.mouseClick(item.reset_button, Qt.MouseButton.LeftButton)
    assert target.scene.node("c").settings.intensity == 1.6
    assert not item.font(0).bold()
    assert len(target.history) == 2
    target.set_value(INTENSITY, 3.0)
    actions = {action.text(): action for action in inspector.tree.menu_for(row(inspector, INTENSITY)).actions()}
    actions["Copy value"].trigger()
    assert QApplication.clipboard().text() == "3"
    actions["Copy as JSON path"].trigger()
    assert QApplication.clipboard().text() == "$.nodes[2].light.intensity"
    actions["Reset to default"].trigger()
    assert target.scene.node("c").settings.intensity == 1.6


def bare(inspector):
    """Rows that could be seen and have no widgets, by how far below the top of what is in sight they begin [px]."""
    tree = inspector.tree
    found = (item for item in tree.settings() if not item.isHidden() and item.is_bare)
    return [tree.visualItemRect(item).top() for item in found if item.parent().isExpanded()]


def test_rows_in_sight_have_widgets_at_once_and_the_others_soon(inspector, qtbot):
    height = inspector.tree.viewport().height()
    inspector.resize(inspector.width(), 300)
    assert height > inspector.tree.viewport().height()
    select(inspector, node="c")
    assert bare(inspector)
    assert min(bare(inspector)) >= inspector.tree.viewport().height()
    bar = inspector.tree.verticalScrollBar()
    bar.setValue(bar.maximum() // 3)
    assert bar.value() > 0
    assert all(top >= inspector.tree.viewport().height() for top in bare(inspector))
    qtbot.waitUntil(lambda: not bare(inspector), timeout=60000)
    bar.setValue(bar.maximum())
    heading = inspector.tree.topLevelItem(1)
    heading.setExpanded(False)
    inspector.tree.doItemsLayout()  # at once; what is left may be too short for where it stood
    place = bar.value()
    assert place > 0
    inspector.rebuild()
    assert bar.value() == place
    qtbot.waitUntil(lambda: not bare(inspector), timeout=60000)
    inspector.tree.topLevelItem(1).setExpanded(True)
    fields = [widget for row in heading_rows(inspector, 1) for widget in row.editor.fields]
    assert len(fields) == 9
    for one, following in itertools.pairwise(fields):
        assert next(focus_chain(one)) is following, "Tab goes from row to row"
    assert fields[0] in itertools.islice(focus_chain(heading_rows(inspector, 0)[-1].editor), 3)
    inspector.tree.scrollToBottom()
    select(inspector, node="a")
    assert bar.value() == 0


def focus_chain(widget):
    while True:
        widget = widget.nextInFocusChain()
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            yield widget


def heading_rows(inspector, number):
    heading = inspector.tree.topLevelItem(number)
    return [heading.child(index) for index in range(heading.childCount())]


def test_the_menu_of_a_row_closes_with_the_row_and_names_cannot_be_reset(inspector):
    select(inspector, node="c")
    menu = inspector.tree.menu_for(row(inspector, INTENSITY))
    menu.popup(QPoint(0, 0))
    assert menu.isVisible()
    select(inspector, node="a")
    assert not menu.isVisible()
    for wanted in (ref("a", "model", "path"), ref("a", "node", "name")):
        texts = [action.text() for action in inspector.tree.menu_for(row(inspector, wanted)).actions()]
        assert "Reset to default" not in texts
        assert row(inspector, wanted).reset_button.isHidden()


def test_the_wheel_over_an_unfocused_editor_scrolls_the_panel(target, statuses, show):
    inspector = show(Inspector(target, statuses.get), height=220)
    select(inspector, node="a")
    item, bar = row(inspector, ref("a", "model", "unit_scale")), inspector.tree.verticalScrollBar()
    for widget in (item.editor.slider, item.editor.field):
        inspector.tree.scrollToItem(item)
        before = bar.value()
        assert before > 0
        widget.clearFocus()
        wheel(widget, 1)
        assert bar.value() < before
    item = row(inspector, ref("a", "model", "skinning"))
    inspector.tree.scrollToItem(item)
    combo = item.editor.combo
    combo.clearFocus()
    wheel(combo, -1)
    assert combo.currentIndex() == 0
    assert target.calls == []


def test_facts_of_a_model(inspector):
    select(inspector, node="a")
    shown = facts(inspector)
    assert shown["Vertices"] == "60"
    assert shown["Triangles"] == "20"
    assert shown["Bones"] == "7"
    assert shown["walk"] == "31 keys, 1.00 s"
    assert shown["pose"] == "1 key, a pose"
    assert shown["skin"] == "skin.png"
    assert shown["coat"] == "coat.tga  missing"
    notes = [item.label.text() for item in inspector.tree.all_items() if isinstance(item, NoteRow)]
    assert notes == ["Two bones share a name."]


def test_a_missing_model_is_explained_and_one_that_arrives_is_shown(qtbot, inspector, statuses):
    select(inspector, node="b")
    notes = [item.label.text() for item in inspector.tree.all_items() if isinstance(item, NoteRow)]
    assert notes == ["cape.ezm: no such file"]
    assert "File" in titles(inspector)
    statuses["b"] = ModelStatus(ModelState.LOADING, progress=0.1)
    inspector.model_changed("b")
    select(inspector, node="b")
    item = row(inspector, ref("b", "node", "name"))
    statuses["b"] = ModelStatus(ModelState.LOADING, progress=0.2)
    inspector.model_changed("b")
    assert row(inspector, ref("b", "node", "name")) is item
    statuses["b"] = ModelStatus(ModelState.READY, character())
    inspector.model_changed("b")
    qtbot.waitUntil(lambda: facts(inspector).get("Bones") == "7", timeout=60000)


def test_rows_are_made_once_when_a_scene_its_model_and_a_selection_arrive(
    qtbot, inspector, statuses, target, monkeypatch
):
    select(inspector, node="a")
    made, show = [], inspector.tree.show_sections
    monkeypatch.setattr(inspector.tree, "show_sections", lambda *rows: (made.append(rows), show(*rows)))
    for state in (ModelState.UPLOADING, ModelState.READY):
        statuses["a"] = statuses["b"] = ModelStatus(state, character())
        for node_id in ("a", "b"):
            inspector.model_changed(node_id)
    target.replace(target.scene)
    select(inspector, node="b")
    statuses["b"] = replace(statuses["b"], state=ModelState.READY)
    inspector.model_changed("b")
    qtbot.wait(1)
    assert len(made) == 1
    assert facts(inspector)["Bones"] == "7"


def test_facts_and_transforms_of_a_bone(inspector, statuses):
    pose = bind_pose(statuses["a"].model)
    select(inspector, node="a", bone="l_hand")
    assert facts(inspector)["Position"] == "–"
    half_turn = np.diag([-1.0, 1.0, -1.0, 1.0])
    half_turn[:3, 3] = (10.0, 0.0, 0.0)
    inspector.set_pose(lambda node_id: pose, lambda node_id: half_turn)
    local, world = inspector.tree.topLevelItem(2), inspector.tree.topLevelItem(3)
    assert [local.child(row).text(1) for row in (0, 3)] == ["0.0000  1.0000  0.0000 m", "1.0000  1.0000  1.0000"]
    assert world.child(0).text(1) == "10.0000  4.0000  0.0000 m"
    shown = facts(inspector)
    assert shown["Parent"] == "l_arm"
    assert shown["Influences"] == "10 vertices"
    select(inspector, node="a", bone="tip")
    assert facts(inspector)["Influences"] == "no vertices"


def test_nothing_selected_shows_the_view(inspector, target):
    assert titles(inspector) == ["Surface", "Overlays", "Onion skinning", "Camera", "Light", "Background"]
    assert "Nothing is selected" in inspector.header.subtitle.text()
    target.replace(Scene())
    inspector.set_selection(Selection())
    assert "The scene is empty" in inspector.header.subtitle.text()


def test_after_a_removed_node_the_view_is_shown(inspector, target):
    select(inspector, node="c")
    slider = row(inspector, INTENSITY).editor.slider
    drag(slider, 8, slider.width() / 2, slider.height() / 2, release=False)
    rest = msgspec.structs.replace(target.scene, nodes=target.scene.nodes[:2])
    target.replace(rest, Change(ChangeKind.REMOVED, ParamRef("c", "node", ""), Effect.REBUILD))
    assert titles(inspector)[0] == "Surface"


def test_a_click_on_a_heading_folds_it_for_every_node(inspector, qtbot):
    select(inspector, node="a")
    place = inspector.tree.visualItemRect(inspector.tree.topLevelItem(1)).center()
    qtbot.mouseClick(inspector.tree.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(60, place.y()))
    select(inspector, node="c")
    assert titles(inspector)[1] == "Transform"
    assert not inspector.tree.topLevelItem(1).isExpanded()
    assert inspector.tree.topLevelItem(0).isExpanded()


def test_the_colour_dialog_is_one_gesture(inspector, target):
    colour = ref("c", "light", "colour")
    select(inspector, node="c")
    editor = row(inspector, colour).editor
    editor.open_dialog()
    for red in (10, 20, 30):
        editor.dialog.setCurrentColor(f"#{red:02x}ff00")
    assert len(target.history) == 1
    assert target.scene.node("c").settings.colour == pytest.approx((30 / 255, 1.0, 0.0), abs=1e-4)
    editor.dialog.reject()
    assert target.history == []
    assert target.scene.node("c").settings.colour == (1.0, 0.96, 0.9)
    editor.open_dialog()
    editor.dialog.setCurrentColor("#00ff00")
    select(inspector, node="a")
    assert len(target.history) == 1
    assert target.scene.node("c").settings.colour == (0.0, 1.0, 0.0), "another selection accepts it"


def test_rows_that_were_replaced_are_freed(inspector):
    def cached():
        QApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        return sum(isinstance(one, SettingRow | QWidget) for one in gc.get_objects())

    counts = []
    for _ in range(3):
        for node in ("a", "c"):
            select(inspector, node=node)
        counts.append(cached())
    assert counts[1] == counts[2]


def test_past_values_are_shown_marked_and_cannot_be_edited(inspector, target):
    select(inspector, node="c")
    now, past = target.scene, with_value(target.scene, INTENSITY, 0.25)
    inspector.show_past(msgspec.structs.replace(past, view=msgspec.structs.replace(now.view, grid=not now.view.grid)))
    inspector.past.report("As it was", "Why", restorable=True)
    assert (inspector.past.isVisible(), inspector.past.label.text()) == (True, "As it was")
    changed = row(inspector, INTENSITY)
    assert (changed.value, changed.text(0)) == (0.25, "≠ Intensity")
    assert "Now: 1.6" in changed.toolTip(0)
    assert row(inspector, ref("c", "node", "visible")).text(0) == "Visible"
    assert not any(item.editor.isEnabled() for item in inspector.tree.settings())
    reset = inspector.tree.menu_for(changed).actions()[0]
    assert (reset.text(), reset.isEnabled()) == ("Reset to default", False)
    target.set_value(INTENSITY, 0.25)
    assert row(inspector, INTENSITY).text(0) == "Intensity"
    select(inspector, view=True)
    assert row(inspector, ref("view", "view", "grid")).text(0) == "≠ Grid"
    select(inspector, node="c")
    inspector.show_past(Scene())
    assert inspector.header.subtitle.text() == "It did not exist at this time."
    assert not inspector.tree.settings()
    inspector.past.report("As it was", "Why", restorable=False)
    assert not inspector.past.restore_button.isEnabled()
    inspector.show_now()
    assert not inspector.past.isVisible()
    assert row(inspector, INTENSITY).editor.isEnabled()
