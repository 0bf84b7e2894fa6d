"""Force fields in the editor: Add entries, rows, the objects they act on, undo, file, picture and picking."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Adds
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view_state import Selection
from sinew.widgets.inspector.editors import NodesEditor
from tests.gui.editor_harness import (
    Mouse,
    add_cloth,
    messages,
    picture,
    place_of,
    play,
    positions,
    settled,
    trigger,
)

ENTRIES = ("wind", "attractor", "vortex", "turbulence", "drag", "pulse")


@pytest.fixture
def editor(fresh):
    return fresh


def rows(editor):
    tree = editor.panels.inspector.tree
    return {row.ref.name: row for row in tree.settings() if row.ref.part == "field" and not row.isHidden()}


def test_every_entry_adds_a_field_that_is_undone_saved_and_read_again(editor, tmp_path):
    assert tuple(entry.id for entry in KINDS["field"].part(Adds).entries) == ENTRIES
    for name in ENTRIES:
        trigger(editor, f"add.{name}")
        node = editor.document.selected
        assert (node.name, node.settings.type.value) == (name.capitalize(), name)
        assert editor.panels.outliner.model.entry_of((node.id,)).name == node.name
        assert ("speed" in rows(editor)) == (name in ("wind", "turbulence", "pulse"))
    count = len(editor.document.scene.nodes)
    editor.document.undo_stack.undo()
    assert len(editor.document.scene.nodes) == count - 1
    editor.document.undo_stack.redo()
    scene = editor.document.scene
    assert editor.files.save_to(tmp_path / "a.sinew")
    editor.files.open(tmp_path / "a.sinew")
    assert editor.document.scene == scene
    assert messages(editor) == []


def test_objects_are_chosen_in_a_menu(editor):
    cloth = add_cloth(editor)
    trigger(editor, "add.wind")
    node = editor.document.selected
    chooser = rows(editor)["objects"].editor
    assert isinstance(chooser, NodesEditor)
    assert chooser.button.text() == "All"
    chooser.menu.aboutToShow.emit()
    entries = {entry.text(): entry for entry in chooser.menu.actions() if entry.text()}
    assert list(entries) == ["All", editor.document.scene.node(cloth).name]
    entries[editor.document.scene.node(cloth).name].trigger()
    assert editor.document.scene.node(node.id).settings.objects == (cloth,)
    editor.document.set_value(ParamRef(cloth, "node", "name"), "Flag")
    assert chooser.button.text() == "Flag"
    editor.document.undo_stack.undo()
    editor.document.undo_stack.undo()
    assert editor.document.scene.node(node.id).settings.objects == ()
    editor.document.undo_stack.redo()
    editor.document.remove_nodes([cloth])
    editor.document.select(Selection(node=node.id))
    assert rows(editor)["objects"].editor.button.text() == f"{cloth} (missing)"


def test_a_copy_of_the_field_and_its_objects_acts_on_the_copy(editor):
    cloth = add_cloth(editor)
    trigger(editor, "add.wind")
    node = editor.document.selected
    editor.document.set_value(ParamRef(node.id, "field", "objects"), (cloth,))
    editor.document.duplicate_nodes((cloth, node.id))
    copies = [one for one in editor.document.scene.nodes if one.id not in (cloth, node.id)]
    field = next(one for one in copies if one.kind == "field")
    assert field.settings.objects == tuple(one.id for one in copies if one.kind == "cloth")


def test_a_field_moves_the_cloth_until_it_is_muted(editor):
    cloth = add_cloth(editor)
    trigger(editor, "add.wind")
    node = editor.document.selected
    editor.document.set_value(ParamRef(node.id, "field", "speed"), 10.0)
    play(editor, 20)
    blown = positions(editor, cloth)
    trigger(editor, "node.mute")
    assert editor.document.scene.node(node.id).muted
    trigger(editor, "play.first")
    play(editor, 20)
    assert np.abs(positions(editor, cloth) - blown).max() > 0.05


def test_a_field_is_drawn_and_clicked(editor):
    trigger(editor, "add.vortex")
    node = editor.document.selected
    editor.document.select(Selection())
    before = picture(editor)
    trigger(editor, "overlay.fields")
    assert not editor.document.scene.view.fields
    assert np.abs(picture(editor).astype(int) - before).max() > 60
    trigger(editor, "overlay.fields")
    settled(editor)
    Mouse(editor.viewport).click(place_of(editor, node.transform.position) + QPointF(1.0, 1.0))
    QApplication.processEvents()
    assert editor.document.selection.node == node.id
