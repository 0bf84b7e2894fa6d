import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from sinew import resources
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view import SkinningComparison
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import Session, place_of, settled

NEEDS = {
    "hair.comb": "Select a hair first.",
    "hair.reset_groom": "Select a hair first.",
    "emitter.reseed": "Select an emitter first.",
    "simulate.free": "Nothing is baked.",
    "simulate.verify": "The project has no bake.",
    "simulate.bake": "Nothing in the scene is simulated.",
    "simulate.sweep": "Nothing in the scene is simulated.",
    "simulate.pin": "There is no cloth in the scene.",
    "add.fit": "Open a model with bones first.",
    "add.skirt": "Select a character first.",
    "node.mute": "Select a simulated object or a collider first.",
    "edit.delete": "Select an object first.",
}


@pytest.fixture(scope="module")
def kept_arm():
    """The cape instead of the arm."""
    return resources.path("projects") / "cape.sinew", {}


@pytest.fixture
def caped(editor):
    return editor


def texts(menu: QMenu) -> list[str]:
    return [action.text().replace("&", "") for action in menu.actions()]


def test_commands_are_disabled_with_the_reason_until_they_apply(fresh, tmp_path):
    actions = fresh.window.actions_table
    for name, reason in NEEDS.items():
        assert not actions[name].isEnabled()
        assert actions[name].statusTip() == reason
        assert actions[name].toolTip().endswith(reason)
    emitter = fresh.edits.add("emitter")
    assert actions["emitter.reseed"].isEnabled()
    assert actions["node.mute"].isEnabled()
    assert actions["emitter.reseed"].statusTip() == "Give the selected emitter another random seed."
    assert actions["simulate.bake"].statusTip() == "Save the project first: the bake is stored next to it."
    fresh.document.save(tmp_path / "sparks.sinew", overwrite=False)
    assert actions["simulate.bake"].isEnabled()
    fresh.document.set_value(ParamRef(emitter, "node", "baked"), True)
    assert actions["simulate.free"].isEnabled()
    fresh.document.undo_stack.undo()
    fresh.edits.select()
    assert not actions["emitter.reseed"].isEnabled()


def test_the_menu_of_a_material_offers_cloth_and_hair(caped):
    outliner = caped.panels.outliner
    model = caped.store.status("humanoid").model
    name = model.materials[model.mesh.sections[0].material].name
    entry = next(e for e in outliner.model.entries() if e.selection == Selection(node="humanoid", material=name))
    menu = outliner.menu_for(entry)
    section = model.mesh.sections[0].name
    assert f"Cloth from {section}" in texts(menu)
    assert f"Hair on {section}" in texts(menu)
    next(action for action in menu.actions() if action.text() == f"&Hair on {section}").trigger()
    made = caped.document.selected
    assert made.kind == "hair"
    assert made.settings.density_section == section


def test_a_garment_is_one_edit_of_the_character(caped):
    document, actions, menu = caped.document, caped.window.actions_table, caped.window.menus.add
    before = document.scene
    document.select(Selection(node="humanoid"))
    menu.aboutToShow.emit()
    assert "Garment on Humanoid" in texts(menu)
    assert actions["add.dress"].isEnabled()
    actions["add.dress"].trigger()
    added = [node for node in document.scene.nodes if not before.has(node.id)]
    assert [node.kind for node in added] == ["cloth", "collider"]
    assert document.selected == added[0]
    assert (document.scene.playback.run_up, document.undo_stack.undo_text) == (2.0, "Add Dress")
    document.undo_stack.undo()
    assert document.scene == before


def test_colliders_of_a_character_are_one_row(caped, qtbot):
    document, outliner = caped.document, caped.panels.outliner
    entry = outliner.model.entry_of(("humanoid", "fold", "collider"))
    index = outliner.model.index_of(entry)
    assert entry.name == "Colliders (23)"
    assert not outliner.view.isExpanded(index)
    assert all(child.note == "" for child in entry.children)
    QTest.mouseClick(outliner.view.viewport(), Qt.MouseButton.LeftButton, pos=outliner.view.visualRect(index).center())
    assert len(document.selection.nodes) == 23
    assert not outliner.view.isExpanded(index)
    caped.window.actions_table["node.mute"].trigger()
    assert all(node.muted for node in document.scene.of_kind("collider"))
    settled(caped)
    caped.window.actions_table["simulate.step"].trigger()
    settled(caped)
    assert caped.client.engine.simulation.step_count > 0
    assert caped.client.engine.simulation.colliders.now.count == 0
    document.undo_stack.undo()
    assert not any(node.muted for node in document.scene.of_kind("collider"))
    QTest.keyClick(outliner.view, Qt.Key.Key_Delete)
    assert not document.scene.of_kind("collider")
    assert outliner.model.entry_of(("humanoid", "fold", "collider")) is None
    document.undo_stack.undo()
    assert len(document.scene.of_kind("collider")) == 23
    # One of them: unfolded, selected, renamed.
    document.select(Selection(node="collider head"))
    head = outliner.model.entry_of(("collider head",))
    assert outliner.view.selected_entry() is head
    document.rename("collider head", "skull")
    assert outliner.model.entry_of(("collider head",)).name == "skull"
    assert outliner.view.horizontalScrollBarPolicy() is Qt.ScrollBarPolicy.ScrollBarAlwaysOff


def test_a_click_on_a_character_selects_it_and_not_its_colliders(caped):
    caped.document.set_value(ParamRef("view", "view", "solids"), True)
    settled(caped)
    joints = caped.client.engine.views.characters["humanoid"].joint_positions()
    names = caped.client.engine.model_of("humanoid").skeleton.names
    caped.edits.turn_camera("front")
    settled(caped)
    head = place_of(caped, joints[names.index("head")] + np.array([0.0, 0.08, 0.0]))
    assert caped.tools.pick(QPointF(head)) == Selection(node="humanoid")


def test_lengths_of_the_difference_are_metres_once_the_unit_is_known(fresh, arm, qtbot):
    editor = fresh
    Session(qtbot).load(editor, arm)
    node = editor.document.scene.characters[0].id
    editor.document.set_value(ParamRef(node, "model", "unit_scale"), 0.01)
    editor.edits.compare(SkinningComparison.DIFFERENCE)
    editor.playback.scrub(0.5)
    reported = []
    editor.client.drawn.connect(reported.append)
    for _ in range(5):
        editor.viewport.repaint()
        settled(editor)
    drawn = reported[-1]
    assert drawn.unit_scale == 0.01
    assert drawn.difference_scale == pytest.approx(0.01 * editor.client.difference_scale)
    assert all(" m" in value for _, value in editor.overlays._rows(drawn)[-4:-2])
