from types import SimpleNamespace

from sinew.app.kinds.environment.panel import EnvironmentPanel
from sinew.app.project.project_file import load_project, save_project
from sinew.sim.kinds.environment.settings import EnvironmentSource
from sinew.sim.kinds.keyable import key_refusal
from sinew.sim.scene.scene import VIEW, ParamRef
from sinew.sim.scene.view import Look
from tests.gui.editor_harness import picture, settled


def test_an_environment_lights_the_scene_and_the_exposure_follows(editor, qtbot, tmp_path):
    document = editor.document
    document.set_value(ParamRef(VIEW, VIEW, "look"), Look.STANDARD)
    before = picture(editor)
    editor.edits.add("environment")
    (node,) = document.scene.of_kind("environment")
    document.set_value(ParamRef(node.id, "environment", "strength"), 8.0)
    assert picture(editor).mean() > before.mean()
    editor.window.actions_table["view.match_exposure"].trigger()
    exposure = document.scene.view.exposure
    assert exposure < -1.0
    scene = document.scene
    save_project(tmp_path / "a.sinew", scene, document.view_state)
    assert load_project(tmp_path / "a.sinew").scene.view == scene.view
    assert load_project(tmp_path / "a.sinew").scene.of_kind("environment") == scene.of_kind("environment")
    document.undo_stack.undo()
    assert document.scene.view.exposure == 0.0
    document.undo_stack.redo()
    assert document.scene.view.exposure == exposure


def test_what_can_have_keys_and_what_is_missing(editor, qtbot):
    document = editor.document
    document.set_value(ParamRef(VIEW, VIEW, "look"), Look.CLASSIC)
    editor.edits.add("environment")
    (node,) = document.scene.of_kind("environment")
    assert "classic look" in EnvironmentPanel(SimpleNamespace(document=document)).note(node, None)
    assert not key_refusal(node, "environment", "rotation")
    assert not key_refusal(node, "environment", "strength")
    assert key_refusal(node, "environment", "path")
    document.set_value(ParamRef(node.id, "environment", "source"), EnvironmentSource.FILE)
    document.set_value(ParamRef(node.id, "environment", "path"), "/nowhere/a.hdr")
    qtbot.waitUntil(lambda: not editor.scene_files.is_reading, timeout=60000)
    settled(editor)
