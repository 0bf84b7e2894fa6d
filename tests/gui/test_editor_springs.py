"""Spring bones in the editor: added with proposed roots, undone, saved, suggested, and added with a file."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication

from sinew.app.project.model_scene import companions
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.springs.settings import SpringBoneSettings
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import Selection
from tests.gl.springs.rig import tailed
from tests.gui.editor_harness import Session, messages, play, sample, set_values, settled, trigger


@pytest.fixture
def editor(fresh, tmp_path, qtbot):
    """An editor with the fox."""
    Session(qtbot).load(fresh, sample("fox", tmp_path))
    return fresh


def test_it_is_added_with_proposed_roots_undone_and_read_again(editor, tmp_path, qtbot):
    document, engine = editor.document, editor.client.engine
    fox = document.scene.characters[0].id
    trigger(editor, "add.springs")
    node = document.selected
    assert (node.attachment.node, node.settings.roots, node.settings.from_file) == (fox, "tail_1", False)
    settled(editor)
    play(editor, 20)
    editor.playback.toggle()
    settled(editor)
    character = engine.views.characters[fox]
    with editor.viewport.gl_current():
        assert abs(character.pose.palette - character.animated_pose.palette).max() > 0.01
    document.undo_stack.undo()
    settled(editor)
    assert character.pose is character.animated_pose
    document.undo_stack.redo()
    settled(editor)
    assert document.scene.node(node.id) == node
    set_values(editor, node.id, roots="nothing")
    settled(editor)
    panel, system = editor.kind_panels["springs"], engine.simulation.systems[node.id]
    assert panel.note(node, system).startswith("No bone swings: the model has none of the root bones")
    document.undo_stack.undo()
    settled(editor)
    assert panel.note(node, engine.simulation.systems[node.id]) == ""
    scene = document.scene
    assert editor.files.save_to(tmp_path / "a.sinew")
    with qtbot.waitSignal(editor.files.opened, timeout=60000):
        editor.files.open(tmp_path / "a.sinew")
    assert document.scene == scene
    assert all("bone" in text for text in messages(editor))


@pytest.mark.slow
def test_a_selected_bone_is_the_root_and_without_a_model_the_place_is_asked(editor):
    fox = editor.document.scene.characters[0].id
    editor.document.select(Selection(node=fox, bone="tail_2"))
    trigger(editor, "add.springs")
    assert editor.document.selected.settings.roots == "tail_2"
    editor.document.remove_node(fox)
    editor.document.select(Selection())
    trigger(editor, "add.springs")
    settled(editor)
    node = editor.document.selected
    system = editor.client.engine.simulation.systems[node.id]
    assert "Choose the model" in editor.kind_panels["springs"].note(node, system)


def test_it_is_suggested_for_a_character_with_such_bones(editor):
    document = editor.document
    fox = document.scene.characters[0]
    document.select(Selection(node=fox.id))
    settled(editor)
    QApplication.processEvents()
    status = editor.panels.inspector.head.status
    assert "1 chain" in status.warning
    status.remedy.run()
    assert document.selected.settings.roots == "tail_1"
    document.select(Selection(node=fox.id))
    settled(editor)
    QApplication.processEvents()
    assert editor.panels.inspector.head.status.warning == ""
    document.undo_stack.undo()
    assert document.scene.of_kind("springs") == ()


def test_springs_of_a_file_come_with_every_model_and_a_light_with_the_first():
    node = Node(id="m", settings=ModelSettings())
    first = companions(tailed(), node, Scene())
    assert [one.kind for one in first] == ["light", "springs"]
    assert first[1].attachment.node == "m"
    assert first[1].settings == SpringBoneSettings(from_file=True, collide=False)
    assert [one.kind for one in companions(tailed(), node, Scene(nodes=tuple(first)))] == ["springs"]
    without = replace(tailed(), rig=type(tailed().rig)())
    assert companions(without, node, Scene(nodes=tuple(first))) == []
