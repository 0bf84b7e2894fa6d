"""Modifiers of bones in the editor: added, aimed at a dragged object, named when they lack something, saved."""

import numpy as np
import pytest
from PySide6.QtWidgets import QMenu, QToolButton

from sinew.app.project.project_file import load_project, save_project
from sinew.app.timeline.keys_binding import key_rows
from sinew.resources import path as resource
from sinew.sim.characters.modifiers.settings import ArmSpace, FootPlanting, LookAt, TwoBoneIK
from sinew.sim.kinds.group.kind import GroupSettings
from sinew.sim.scene.handles import HandleMode
from sinew.sim.scene.scene import Node, ParamRef
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import Selection
from sinew.widgets.inspector.editors import Choices
from sinew.widgets.inspector.form import SettingRow
from sinew.widgets.inspector.sections import ListEdits
from tests.gui.editor_harness import picture, settled

LIST = ParamRef("model-1", "model", "modifiers")


@pytest.fixture(scope="module")
def kept_arm():
    """The human instead of the arm."""
    return resource("models") / "humanoid" / "humanoid.ezm", {}


@pytest.fixture
def editor(editor):
    """The human in its bind pose and an object beside it; the human is selected."""
    document = editor.document
    document.set_value(ParamRef("model-1", "model", "bind_pose"), True)
    target = Node(id="", name="Target", transform=Transform(position=(0.45, 1.2, 0.2)), settings=GroupSettings())
    document.add_nodes([target], "Add target")
    document.select(Selection(node="model-1"))
    document.undo_stack.clear()
    settled(editor)
    return editor


def hand(editor):
    return editor.client.engine.views.characters["model-1"].joint_frame("hand_l")[:3, 3]


def rows(editor):
    return {row.ref: row for row in editor.panels.inspector.tree.all_items() if isinstance(row, SettingRow)}


def status(editor):
    return editor.panels.inspector.head.status


@pytest.mark.slow
def test_a_modifier_is_added_and_its_target_is_dragged(editor, qtbot, tmp_path):
    document = editor.document
    target = document.scene.of_kind("group")[0].id
    start, first = hand(editor).copy(), picture(editor)
    record = next(r for r in rows(editor).values() if r.ref.part == "model").record
    edits = ListEdits(document, LIST, record)
    edits.add(TwoBoneIK)
    assert document.undo_stack.undo_text == "Add two-bone IK"
    qtbot.waitUntil(lambda: ParamRef("model-1", "modifiers.0", "target") in rows(editor), timeout=60000)
    qtbot.waitUntil(lambda: "choose a bone" in status(editor).note, timeout=60000)
    picker = rows(editor)[ParamRef("model-1", "modifiers.0", "target")].record
    choices = editor.panels.inspector.names.of(picker, "model-1")
    assert isinstance(choices, Choices)
    assert (target, "Target") in choices.items
    assert all(name != "model-1" for name, _ in choices.items)
    for name, value in (("bone", "hand_l"), ("target", target)):
        rows(editor)[ParamRef("model-1", "modifiers.0", name)].binding.set_value(value)
    assert np.abs(picture(editor).astype(int) - first).max() > 30
    np.testing.assert_allclose(hand(editor), (0.45, 1.2, 0.2), atol=0.02)
    qtbot.waitUntil(lambda: not status(editor).note, timeout=60000)
    before = hand(editor).copy()
    gesture = document.new_gesture("Move Target")
    for height in (1.25, 1.3, 1.35):
        document.set_value(ParamRef(target, "transform", "position"), (0.4, height, 0.25), gesture)
        settled(editor)
        np.testing.assert_allclose(hand(editor), (0.4, height, 0.25), atol=0.02)
    document.end_gesture(gesture)
    path = tmp_path / "aimed.sinew"
    save_project(path, document.scene, document.view_state)
    assert load_project(path).scene == document.scene
    moved = hand(editor).copy()
    document.undo_stack.undo()
    settled(editor)
    np.testing.assert_array_equal(hand(editor), before)
    document.undo_stack.redo()
    settled(editor)
    np.testing.assert_array_equal(hand(editor), moved)
    while document.undo_stack.can_undo:
        document.undo_stack.undo()
    np.testing.assert_array_equal(picture(editor), first)
    np.testing.assert_array_equal(hand(editor), start)


def test_arm_space_acts_at_once_and_is_undone(editor, qtbot):
    document, start = editor.document, hand(editor).copy()
    record = next(r for r in rows(editor).values() if r.ref.part == "model").record
    ListEdits(document, LIST, record).add(ArmSpace)
    assert document.undo_stack.undo_text == "Add arm space"
    angle = ParamRef("model-1", "modifiers.0", "angle")
    qtbot.waitUntil(lambda: angle in rows(editor), timeout=60000)
    settled(editor)
    assert hand(editor)[1] > start[1] + 0.02
    assert hand(editor)[2] == pytest.approx(start[2], abs=0.01)
    moved = hand(editor).copy()
    rows(editor)[angle].binding.set_value(20.0)
    settled(editor)
    assert hand(editor)[1] > moved[1] + 0.02
    assert not status(editor).note
    while document.undo_stack.can_undo:
        document.undo_stack.undo()
    settled(editor)
    np.testing.assert_array_equal(hand(editor), start)


def test_a_removed_target_is_named_and_comes_back_with_undo(editor, qtbot):
    document = editor.document
    target = document.scene.of_kind("group")[0].id
    document.set_value(LIST, (LookAt(bone="head", target=target), TwoBoneIK(bone="hand_l", target=target)))
    settled(editor)
    reached = hand(editor).copy()
    document.remove_nodes([target])
    qtbot.waitUntil(lambda: status(editor).note == (
        "1 · Look at: its target is not in the scene\n2 · Two-bone IK: its target is not in the scene"
    ), timeout=60000)  # fmt: skip
    settled(editor)
    assert np.abs(hand(editor) - reached).max() > 0.05
    document.undo_stack.undo()
    settled(editor)
    np.testing.assert_array_equal(hand(editor), reached)
    qtbot.waitUntil(lambda: not status(editor).note, timeout=60000)


def test_a_copy_follows_the_copy_of_its_target(editor):
    document = editor.document
    target = document.scene.of_kind("group")[0].id
    document.set_value(LIST, (TwoBoneIK(bone="hand_l", target=target), FootPlanting()))
    document.duplicate_nodes(["model-1", target])
    copied = document.scene.characters[-1]
    assert copied.id != "model-1"
    assert copied.settings.modifiers[0].target == document.scene.of_kind("group")[-1].id != target


def test_a_new_modifier_has_a_bone_and_a_target_that_is_marked(editor):
    document = editor.document
    start, drawn = document.scene, picture(editor)
    record = next(row.record for row in rows(editor).values() if row.ref.part == "model")
    edits = ListEdits(document, LIST, record, editor.kind_panels["model"].add_entry)
    for cls in (LookAt, TwoBoneIK, TwoBoneIK):
        edits.add(cls)
    assert document.undo_stack.undo_text == "Add two-bone IK for right hand"
    head, left, right = document.scene.node("model-1").settings.modifiers
    assert (head.bone, left.bone, right.bone) == ("head", "hand_l", "hand_r")
    assert [document.scene.node(one.target).name for one in (head, left, right)] == [
        "Look-at target", "IK target", "IK target.001",
    ]  # fmt: skip
    assert document.selection == Selection(node="model-1")
    settled(editor)
    character, node = editor.client.engine.views.characters["model-1"], document.scene.node(head.target)
    ahead = np.array(node.transform.position) - character.joint_frame("head")[:3, 3]
    assert np.linalg.norm(ahead) == pytest.approx(1.0, abs=0.1)
    marks = {mark.node_id for mark in editor.client.engine.views.marks()}
    assert {head.target, left.target, right.target} <= marks
    document.set_value(ParamRef(head.target, "transform", "position"), (1.0, 1.7, 1.0))
    turned = picture(editor)
    assert np.abs(turned.astype(int) - drawn).max() > 30
    while document.undo_stack.can_undo:
        document.undo_stack.undo()
    assert document.scene == start
    np.testing.assert_array_equal(picture(editor), drawn)


def test_keys_of_a_modifier_follow_it_in_the_list(editor):
    document, weight = editor.document, ParamRef("model-1", "modifiers.0", "weight")
    document.set_value(LIST, (LookAt(bone="head"), TwoBoneIK(bone="hand_l")))
    record = next(row.record for row in rows(editor).values() if row.ref.part == "model")
    document.set_value(weight, 0.25)
    editor.panels.keys.insert([weight])
    assert [(one.part, one.field) for one in document.scene.node("model-1").curves] == [("modifiers.0", "weight")]
    assert document.evaluated.node("model-1").settings.modifiers[0].weight == 0.25
    keyed = document.scene
    ListEdits(document, LIST, record).move(0, 1)
    node = document.scene.node("model-1")
    assert [one.bone for one in node.settings.modifiers] == ["hand_l", "head"]
    assert [one.part for one in node.curves] == ["modifiers.1"]
    settled(editor)
    assert "Look at: Weight" in {row.name for row in key_rows(document.scene, ("model-1",))}
    ListEdits(document, LIST, record).remove(1)
    assert document.scene.node("model-1").curves == ()
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert document.scene == keyed


def test_one_click_adds_an_ik_to_any_bone(editor, qtbot):
    document, panel, model = editor.document, editor.kind_panels["model"], editor.active.model
    actions, start = editor.window.actions_table, document.scene
    bones = model.skeleton.names
    document.select(Selection(node="model-1", bone=bones[0]))
    menu = QMenu()
    panel.fill_menu(menu, document.scene.node("model-1"), None)
    entry = next(action for action in menu.actions() if action.text() == "Add IK")
    assert not entry.isEnabled()
    assert entry.toolTip() == "A two-bone IK needs two bones above this one."
    bone = next(name for name in bones if name.startswith("toe"))
    document.select(Selection(node="model-1", bone=bone))
    place = editor.client.engine.views.characters["model-1"].joint_frame(bone)[:3, 3].copy()
    menu = QMenu()
    panel.fill_menu(menu, document.scene.node("model-1"), None)
    next(action for action in menu.actions() if action.text() == "Add IK").trigger()
    (modifier,) = document.scene.node("model-1").settings.modifiers
    target = document.scene.node(modifier.target)
    assert (modifier.bone, target.name) == (bone, "IK target")
    np.testing.assert_allclose(target.transform.position, place, atol=1e-6)
    assert document.selection == Selection(node=target.id)
    assert editor.handles.mode is HandleMode.MOVE
    assert document.undo_stack.count() == 1
    picture(editor)
    outliner = editor.panels.outliner.model
    assert outliner.entry_of((target.id,)).note == bone
    document.select(Selection(node="model-1"))
    qtbot.waitUntil(lambda: ParamRef("model-1", "modifiers.0", "bone") in rows(editor), timeout=60000)
    row = rows(editor)[ParamRef("model-1", "modifiers.0", "bone")]
    assert row.parent().text(0) == f"1 · Two-bone IK – {bone}"
    row.binding.set_value("hand_l")
    assert rows(editor)[row.ref].parent().text(0) == "1 · Two-bone IK – hand_l"
    assert outliner.entry_of((target.id,)).note == "hand_l"
    assert document.scene.node(target.id).name == "IK target"
    while document.undo_stack.can_undo:
        document.undo_stack.undo()
    assert document.scene == start
    document.select(Selection(node="model-1", bone=bone))
    button = next(
        one for one in editor.panels.inspector.tree.findChildren(QToolButton) if one.text() == "Add IK"
    )  # fmt: skip
    button.click()
    assert document.selected.name == "IK target"
    assert actions["handle.move"].isChecked()
