import numpy as np
import pytest

from sinew.app.files.project_file import load_project, save_project
from sinew.sim.characters.deformers.settings import Bulge, Twist
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view_state import Selection
from sinew.widgets.inspector.sections import ListEdits
from tests.gltf_samples import morphing
from tests.gui.editor_harness import Session, picture


@pytest.fixture
def editor(fresh, qtbot, tmp_path):
    Session(qtbot).load(fresh, morphing().write(tmp_path))
    fresh.document.select(Selection(node="model-1"))
    return fresh


def weights(editor):
    return editor.client.engine.views.characters["model-1"].pose.local.weights


def titles(editor):
    tree = editor.panels.inspector.tree
    return [tree.topLevelItem(index).text(0) for index in range(tree.topLevelItemCount())]


def settings(editor):
    return editor.document.scene.node("model-1").settings


def test_a_slider_sets_a_weight_as_one_edit(editor, qtbot, tmp_path):
    targets = editor.kind_panels["model"]._list
    name = targets.rows[0].name
    before, start = weights(editor).copy(), picture(editor)
    slider = targets.rows[0].editor
    slider.edit_started.emit()
    for value in (0.2, 0.5, 0.8):
        slider.edited.emit(value)
    slider.edit_finished.emit()
    assert settings(editor).target_weights == ((name, 0.8),)
    assert editor.document.undo_stack.undoText() == f"Set {name} of {editor.document.scene.node('model-1').name}"
    assert np.abs(picture(editor).astype(int) - start).max() > 30
    np.testing.assert_allclose(weights(editor), before + 0.8 * np.eye(len(before))[0])
    path = tmp_path / "shaped.sinew"
    save_project(path, editor.document.scene, editor.document.view_state)
    assert load_project(path).scene == editor.document.scene
    editor.document.undo_stack.undo()
    assert settings(editor).target_weights == ()
    picture(editor)
    np.testing.assert_array_equal(weights(editor), before)


def test_targets_are_searched_soloed_and_reset(editor, qtbot):
    targets = editor.kind_panels["model"]._list
    names = [row.name for row in targets.rows]
    targets.search.setText(names[-1].upper())
    assert [row.name for row in targets.rows if row.isVisibleTo(targets)] == [names[-1]]
    targets.search.setText("nothing like this")
    assert targets.none.isVisibleTo(targets)
    targets.search.clear()
    targets.rows[-1].editor.edited.emit(0.5)
    targets.rows[0].solo.click()
    picture(editor)
    assert settings(editor).solo_target == names[0]
    assert (weights(editor)[1:] == 0.0).all()
    targets.reset_all.click()
    assert (settings(editor).solo_target, settings(editor).target_weights) == ("", ())
    entry = editor.panels.outliner.model.entry_of(("model-1", "targets"))
    assert [child.name for child in entry.children] == names


def test_deformers_are_added_edited_moved_muted_and_removed(editor, qtbot, tmp_path):
    document, inspector = editor.document, editor.panels.inspector
    list_ref = ParamRef("model-1", "model", "deformers")
    start = picture(editor)
    document.set_value(list_ref, (Twist(), Bulge()))
    qtbot.waitUntil(lambda: "2 · Bulge" in titles(editor), timeout=60000)
    assert np.abs(picture(editor).astype(int) - start).max() > 30
    angle = ParamRef("model-1", "deformers.0", "angle")
    row = next(item for item in inspector.tree.settings() if item.ref == angle)
    row.binding.set_value(30.0)
    assert settings(editor).deformers[0] == Twist(angle=30.0)
    assert document.undo_stack.undoText().startswith("Set angle of ")
    edits = ListEdits(document, list_ref, row.record)
    edits.move(0, 1)
    edits.mute(0, True)
    assert settings(editor).deformers == (Bulge(muted=True), Twist(angle=30.0))
    qtbot.waitUntil(lambda: "1 · Bulge" in titles(editor), timeout=60000)
    path = tmp_path / "shaped.sinew"
    save_project(path, document.scene, document.view_state)
    assert load_project(path).scene == document.scene
    edits.remove(1)
    edits.add(Twist)
    assert document.undo_stack.undoText() == "Add twist"
    for _ in range(6):
        document.undo_stack.undo()
    assert settings(editor).deformers == ()
    qtbot.waitUntil(lambda: "1 · Bulge" not in titles(editor), timeout=60000)
    np.testing.assert_array_equal(picture(editor), start)
