import numpy as np
import pytest

from sinew.sim.scene.scene import Attachment, ParamRef
from sinew.sim.scene.view_state import Selection, selection_of
from tests.conftest import slow
from tests.gui.editor_harness import picture, trigger
from tests.gui.test_editor_selection import drop


@pytest.fixture
def placed(editor):
    """A character that is turned and 1.5 times as large, a ball of scale 2 on its bone, and a place away from both."""
    model, bone = editor.active.node.id, editor.active.model.skeleton.names[1]
    place(editor, model, position=(1.0, 0.5, -2.0), rotation=(10.0, 40.0, 0.0), scale=(1.5, 1.5, 1.5))
    editor.document.select(Selection())
    ball = editor.edits.add("sphere")
    place(editor, ball, position=(0.5, 0.25, 3.0), rotation=(5.0, 70.0, 20.0), scale=(2.0, 2.0, 2.0))
    editor.document.set_values({ParamRef(ball, "attachment", n): v for n, v in (("node", model), ("bone", bone))})
    editor.document.undo_stack.clear()
    picture(editor)
    return editor, model, bone, ball


def place(editor, node_id, **values):
    editor.document.set_values({ParamRef(node_id, "transform", name): value for name, value in values.items()})


def world_of(editor, node_id):
    picture(editor)
    return editor.client.engine.views.places.world_from_node(editor.document.scene.node(node_id)).copy()


def choose(editor, node_id, name, value):
    """Chooses a value of the attachment in the inspector, as its list does."""
    editor.document.select(Selection(node=node_id))
    inspector = editor.panels.inspector
    assert inspector.tree is not None
    inspector._rows[ParamRef(node_id, "attachment", name)].editor.edited.emit(value)


def undo_all(editor):
    while editor.document.undo_stack.can_undo:
        editor.document.undo_stack.undo()


@pytest.mark.parametrize("kind", ["sphere", slow("cloth"), slow("hair")])
def test_a_chosen_parent_keeps_the_place(placed, kind):
    editor, model, bone, ball = placed
    document, names = editor.document, editor.active.model.skeleton.names
    document.select(Selection())
    node = editor.edits.add(kind)
    place(editor, node, position=(0.3, 1.2, -0.4), rotation=(0.0, 30.0, 60.0))
    document.set_value(ParamRef(node, "attachment", "node"), "")
    document.undo_stack.clear()
    before, start = world_of(editor, node), document.scene
    edits = (("node", model), ("bone", bone), ("bone", names[-1]), ("bone", ""), ("node", ball), ("node", ""))
    for count, (name, value) in enumerate(edits, start=1):
        choose(editor, node, name, value)
        assert getattr(document.scene.node(node).attachment, name) == value
        np.testing.assert_allclose(world_of(editor, node), before, atol=1e-12)
        assert document.undo_stack.count() == count, "one entry each"
    assert document.scene.node(node).transform == start.node(node).transform, "no rounding errors are left"
    undo_all(editor)
    assert document.scene == start
    for parent, of_bone, text in ((model, bone, bone), (ball, "", document.scene.node(ball).name)):
        drop(editor, [node], -1, parent, of_bone)
        np.testing.assert_allclose(world_of(editor, node), before, atol=1e-12)
        assert document.undo_stack.undo_text == f"Attach {start.node(node).name} to {text}"
    document.select(selection_of([ball, node]))
    trigger(editor, "edit.detach")
    assert [document.scene.node(one).attachment for one in (ball, node)] == [Attachment()] * 2
    np.testing.assert_allclose(world_of(editor, node), before, atol=1e-12)
    undo_all(editor)
    document.select(selection_of([model, node]))
    trigger(editor, "edit.attach")
    assert document.scene.node(node).attachment == Attachment(node=model)
    np.testing.assert_allclose(world_of(editor, node), before, atol=1e-12)
    assert document.undo_stack.count() == 1


def test_several_objects_are_attached_to_the_one_selected_last(placed):
    editor, model, _, ball = placed
    document, actions = editor.document, editor.window.actions_table
    document.select(Selection())
    others = [editor.edits.add("sphere") for _ in range(2)]
    document.select(Selection(node=model))
    assert not actions["edit.attach"].isEnabled()
    assert "Select an object, then its parent." in actions["edit.attach"].toolTip()
    assert not actions["edit.detach"].isEnabled()
    document.select(selection_of([model, *others]))
    before, count = [world_of(editor, one) for one in others], document.undo_stack.count()
    trigger(editor, "edit.attach")
    assert [document.scene.node(one).attachment.node for one in others] == [model] * 2
    np.testing.assert_allclose([world_of(editor, one) for one in others], before, atol=1e-12)
    assert document.undo_stack.count() == count + 1
    document.select(selection_of([ball, model]))
    trigger(editor, "edit.attach")
    assert document.scene.node(model).attachment == Attachment(), "its own child"
    assert editor.window._hint.text() == f"{document.scene.node(model).name} cannot be attached to itself"


def test_a_node_with_keys_moves_with_its_new_parent(placed):
    editor, model, bone, _ = placed
    document = editor.document
    light = document.scene.of_kind("light")[0]
    for time, height in ((0.0, 3.0), (1.0, 4.0)):
        editor.playback.scrub(time)
        document.set_keys("Key", {ParamRef(light.id, "transform", "position"): (1.0, height, 1.0)})
    editor.playback.scrub(0.5)
    picture(editor)
    before = document.scene.node(light.id)
    for act in (lambda: choose(editor, light.id, "node", model), lambda: drop(editor, [light.id], -1, model, bone)):
        editor.window._hint.clear()
        act()
        after = document.scene.node(light.id)
        assert after.attachment.node == model
        assert (after.transform, after.curves) == (before.transform, before.curves)
        assert editor.window._hint.text() == "Light has keys of its position: it moves with its new parent."
    moved = document.undo_stack.count()
    drop(editor, [light.id], -1)
    assert document.scene.node(light.id) == before, "values at the playhead are not stored"
    assert document.undo_stack.count() == moved + 1


@pytest.mark.slow
def test_a_missing_parent_changes_only_the_link(placed):
    editor, model, bone, ball = placed
    document = editor.document
    start = document.scene.node(ball)
    document.set_value(ParamRef(ball, "attachment", "bone"), "gone")
    picture(editor)
    choose(editor, ball, "bone", bone)
    assert document.scene.node(ball) == start, "the transform was relative to that bone"
    document.set_value(ParamRef(model, "model", "path"), "/nowhere/at-all.ezm")
    picture(editor)
    choose(editor, ball, "bone", "")
    choose(editor, ball, "bone", bone)
    assert document.scene.node(ball) == start
    undo_all(editor)
    choose(editor, ball, "node", document.scene.of_kind("light")[0].id)
    assert document.scene.node(ball).attachment.bone == "", "the light has no bones"


def test_python_sets_what_it_is_told(placed):
    editor, _, _, ball = placed
    transform = editor.document.scene.node(ball).transform
    editor.document.set_value(ParamRef(ball, "attachment", "bone"), "")
    assert editor.document.scene.node(ball).transform == transform
