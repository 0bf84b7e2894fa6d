from sinew.sim.kinds.collider.fit import FittedCollider, fit_colliders
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.scene.change import ChangeKind
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import picture


def test_a_unit_that_changes_during_the_fit_counts(editor, qtbot, monkeypatch):
    model, asked = editor.document.scene.characters[0].id, []

    def later(work, done, _owner):
        asked.append((work, done))

    monkeypatch.setattr("sinew.app.kinds.collider.panel.run_in_background", later)
    editor.window.actions_table["add.fit"].trigger()
    assert editor.window._hint.text() == "Fitting colliders to arm…"
    editor.document.set_value(ParamRef(model, "model", "unit_scale"), 0.01)
    while asked:
        work, done = asked.pop()
        done(work())
    assert editor.window._hint.text() == ""
    made = [(node.transform, node.settings) for node in editor.document.scene.of_kind("collider")]
    assert made == [(one.transform, one.settings) for one in fit_colliders(editor.active.model, unit_scale=0.01)]


def test_sixty_fitted_colliders_are_one_group_and_one_edit(editor, monkeypatch):
    document, model = editor.document, editor.document.scene.characters[0].id
    bones = editor.active.model.skeleton.names
    fitted = [
        FittedCollider(bones[i % len(bones)], ColliderSettings(radius=0.05), Transform(position=(0.01 * i, 0.0, 0.0)))
        for i in range(60)
    ]
    before, notices, rebuilt = document.scene, [], []
    document.changed.connect(notices.append)
    editor.panels.outliner.model.modelReset.connect(lambda: rebuilt.append(1))
    editor.kind_panels["collider"].add_fitted(model, fitted)
    scene = document.scene
    group = next(node for node in scene.nodes if node.settings.is_group)
    assert scene.parents[group.id] == model
    assert len(scene.with_contents([group.id])) == 61
    assert all(node.attachment.bone in bones for node in scene.of_kind("collider"))
    assert editor.panels.outliner.model.entry_of((model,)).children[0].selection.node == group.id
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert document.scene == before
    document.undo_stack.redo()
    assert document.scene == scene
    assert [change.kind for change in notices] == [ChangeKind.NODES] * 3
    assert len(rebuilt) == 3, "rows are made once for all colliders"
    picture(editor)
    document.remove_nodes([group.id])
    assert document.scene == before


def test_hair_without_colliders_offers_to_fit_some(editor, qtbot):
    document, character = editor.document, editor.document.scene.characters[0].id
    document.select(Selection(node=character))
    hair = editor.edits.add("hair")
    document.set_values({ParamRef(hair, "hair", "guides"): 20, ParamRef(hair, "hair", "children"): 50})
    picture(editor)
    head, before = editor.panels.inspector.head, document.undo_stack.count()
    editor.selected_node.refresh()
    assert "has no colliders" in head.status.warning
    assert head.remedy_button.text() == "Fit Colliders"
    head.remedy_button.click()
    qtbot.waitUntil(lambda: bool(document.scene.of_kind("collider")), timeout=60000)
    assert document.undo_stack.count() == before + 1
    assert document.selection.node == hair
    assert all(one.attachment.node == character for one in document.scene.of_kind("collider"))
    editor.selected_node.refresh()
    assert head.status.warning == ""
    document.undo_stack.undo()
    editor.selected_node.refresh()
    assert "has no colliders" in head.status.warning
    document.set_value(ParamRef(hair, "hair", "collide"), False)
    assert head.status.warning == ""
