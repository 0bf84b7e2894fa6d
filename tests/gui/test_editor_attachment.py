import numpy as np
import pytest
from PySide6.QtCore import Qt

from sinew.sim.kinds import KINDS
from sinew.sim.scene.scene import Attachment, ParamRef
from sinew.sim.scene.view_state import Selection
from sinew.widgets.messages import Severity
from tests.gui.editor_harness import messages, picture


@pytest.fixture
def editor(editor):
    model = editor.document.scene.characters[0].id
    values = {"position": (1.0, 0.5, -2.0), "rotation": (10.0, 40.0, 0.0), "scale": (1.5, 1.5, 1.5)}
    editor.document.set_values({ParamRef(model, "transform", name): value for name, value in values.items()})
    editor.document.undo_stack.clear()
    picture(editor)
    return editor


def drop(editor, node, carrier=None, bone=""):
    """Drops the row of a node on that of another one or of a bone, or into the empty place."""
    model = editor.panels.outliner.model
    key = () if carrier is None else (carrier, "bone", bone) if bone else (carrier,)
    dragged = model.mimeData([model.index_of(model.entry_of((node,)))])
    onto = model.index_of(model.entry_of(key)) if key else model.index(-1, 0)
    assert model.dropMimeData(dragged, Qt.DropAction.LinkAction, -1, -1, onto)
    picture(editor)


def placement(editor, node_id):
    return editor.client.engine.views.places.world_from_node(editor.document.scene.node(node_id))


def below(editor, node_id):
    return [entry.selection.node for entry in editor.panels.outliner.model.entry_of((node_id,)).children]


def test_a_dropped_row_is_attached_in_place_as_one_edit(editor):
    document, model = editor.document, editor.document.scene.characters[0].id
    bone = editor.active.model.skeleton.names[1]
    light = document.scene.of_kind("light")[0]
    before = placement(editor, light.id)
    for carrier, bone_name, text in ((model, bone, bone), (model, "", "arm")):
        drop(editor, light.id, carrier, bone_name)
        assert document.scene.node(light.id).attachment == Attachment(node=carrier, bone=bone_name)
        assert document.scene.node(light.id).transform != light.transform
        np.testing.assert_allclose(placement(editor, light.id), before, atol=1e-9)
        assert document.undo_stack.count() == 1
        assert document.undo_stack.undoText() == f"Attach Light to {text}"
        assert below(editor, model)[0] == light.id
        document.undo_stack.undo()
        assert document.scene.node(light.id) == light
        assert light.id not in below(editor, model)
        document.undo_stack.clear()


def test_a_row_dropped_beside_the_others_is_detached_in_place(editor):
    document, model = editor.document, editor.document.scene.characters[0].id
    bone = editor.active.model.skeleton.names[1]
    light = document.scene.of_kind("light")[0].id
    drop(editor, light, model, bone)
    before = placement(editor, light)
    drop(editor, light)
    assert document.scene.node(light).attachment == Attachment()
    np.testing.assert_allclose(placement(editor, light), before, atol=1e-9)
    assert document.undo_stack.undoText() == "Detach Light"
    assert document.undo_stack.count() == 2
    drop(editor, light)
    assert document.undo_stack.count() == 2  # there is nothing to detach it from


def test_a_node_cannot_be_attached_to_itself(editor):
    document = editor.document
    light = document.scene.of_kind("light")[0].id
    sphere = editor.edits.add("sphere")
    drop(editor, sphere, light)
    scene, count = document.scene, document.undo_stack.count()
    for node, carrier in ((light, sphere), (light, light)):
        drop(editor, node, carrier)
    assert document.scene is scene
    assert document.undo_stack.count() == count
    assert set(messages(editor, Severity.ERROR)) == {"Light cannot be attached to itself"}


def test_riders_of_a_removed_node_keep_their_attachment(editor):
    document, model = editor.document, editor.document.scene.characters[0].id
    light = document.scene.of_kind("light")[0].id
    drop(editor, light, model)
    scene, count = document.scene, document.undo_stack.count()
    document.select(Selection(node=model))
    editor.edits.delete_selected()
    picture(editor)
    assert document.undo_stack.count() == count + 1
    assert document.scene.node(light).attachment == Attachment(node=model)
    document.undo_stack.undo()
    assert document.scene == scene
    assert below(editor, model)[0] == light


ON_BONES = [
    entry.id
    for kind in KINDS.values()
    for entry in kind.adds
    if kind.name != "hair" and entry.id not in ("cloth", "plane")  # they grow on skin, hang or lie
]


def test_new_nodes_are_attached_to_the_selected_bone(editor):
    document, model = editor.document, editor.document.scene.characters[0].id
    bone = editor.active.model.skeleton.names[1]
    for entry_id in ON_BONES:
        document.select(Selection(node=model, bone=bone))
        editor.window.actions_table[f"add.{entry_id}"].trigger()
        assert document.selected.attachment == Attachment(node=model, bone=bone), entry_id
        assert document.selected.transform.position == (0.0, 0.0, 0.0)
