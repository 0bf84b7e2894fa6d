import json

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Adds
from sinew.sim.scene.scene import Attachment, ParamRef
from sinew.sim.scene.view_state import Selection, selection_of
from sinew.widgets.messages import Severity
from tests.gui.editor_harness import Mouse, Session, messages, place_of, settled

KEYS = {"edit.delete": Qt.Key.Key_Delete, "edit.hide": Qt.Key.Key_H, "edit.rename": Qt.Key.Key_F2}
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def editor(editor, qtbot):
    fresh = editor
    for place in range(3):
        ball = fresh.edits.add("sphere")
        fresh.document.set_value(ParamRef(ball, "transform", "position"), (1.0 + place, 0.5, 0.0))
    fresh.document.undo_stack.clear()
    settled(fresh)
    fresh.features["view"].frame_all()
    camera = fresh.document.view_state.camera
    fresh.document.set_camera(msgspec.structs.replace(camera, distance=5.0 * camera.distance))
    fresh.window.activateWindow()
    qtbot.waitUntil(fresh.window.isActiveWindow, timeout=60000)
    settled(fresh)
    return fresh


def balls(editor):
    return [node.id for node in editor.document.scene.of_kind("collider")]


def click_row(editor, *key, modifiers=Qt.KeyboardModifier.NoModifier):
    outliner = editor.panels.outliner
    index = outliner.model.index_of(outliner.model.entry_of(key))
    rect = outliner.view.visualRect(index)
    place = QPoint(rect.left() + 24, rect.center().y())
    QTest.mouseClick(outliner.view.viewport(), Qt.MouseButton.LeftButton, modifiers, place)


def row_rect(editor, node_id):
    outliner = editor.panels.outliner
    index = outliner.model.index_of(outliner.model.entry_of((node_id,)))
    return outliner.view.visualRect(index)


@pytest.mark.slow
def test_a_removed_node_is_not_picked_from_the_last_image(editor):
    ball = balls(editor)[1]
    place = place_of(editor, (2.0, 0.5, 0.0))
    assert editor.context.picker.surface(place).node == ball
    editor.document.remove_node(ball)
    camera, size = editor.document.view_state.camera, editor.viewport.pixel_size()
    with editor.viewport.gl_current():
        assert editor.client.engine.pick(camera, size, place.x(), place.y()).node == ball
    assert editor.context.picker.surface(place) is None


def test_commands_do_not_change_the_character_of_a_selected_bone(editor):
    document, actions = editor.document, editor.window.actions_table
    model = document.scene.characters[0].id
    bone = editor.active.model.skeleton.names[1]
    before = document.scene
    click_row(editor, model, "bone", bone)
    assert document.selection == Selection(node=model, bone=bone)
    for focus in (editor.viewport, editor.panels.outliner.view):
        focus.setFocus()
        for action_id, key in KEYS.items():
            assert not actions[action_id].isEnabled(), action_id
            QTest.keyClick(focus, key)
        QTest.keyClick(focus, Qt.Key.Key_D, CONTROL)
        QTest.keyClick(focus, Qt.Key.Key_X, CONTROL)
    for act in ("delete", "duplicate", "hide", "lock", "group"):
        getattr(editor.edits, f"{act}_selected")()
    assert document.scene == before
    assert document.undo_stack.count() == 0
    assert not actions["edit.copy"].isEnabled()
    click_row(editor, model, "skeleton")
    QTest.keyClick(editor.panels.outliner.view, Qt.Key.Key_Delete)
    assert document.scene == before
    click_row(editor, model)
    assert all(actions[action_id].isEnabled() for action_id in KEYS)


def test_control_and_shift_clicks_in_the_outliner_and_in_the_view_select_several(editor):
    document, (a, b, c) = editor.document, balls(editor)
    click_row(editor, a)
    click_row(editor, c, modifiers=SHIFT)
    assert set(document.selection.nodes) == {a, b, c}
    click_row(editor, b, modifiers=CONTROL)
    assert set(document.selection.nodes) == {a, c}
    for node_id in (a, c):
        click_row(editor, node_id, modifiers=CONTROL)
    assert document.selection == Selection()
    places = [place_of(editor, document.scene.node(node_id).transform.position) for node_id in (a, b, c)]
    Mouse(editor.viewport).click(places[0])
    assert document.selection.nodes == (a,)
    more = Mouse(editor.viewport, modifiers=SHIFT)
    more.click(places[1])
    more.click(places[2])
    assert document.selection.nodes == (c, b, a)
    assert {entry.selection.node for entry in editor.panels.outliner.view.selected_entries()} == {a, b, c}
    more.click(places[2])
    assert document.selection.nodes == (b, a)
    assert document.undo_stack.count() == 0


def test_a_drag_beside_the_names_selects_rows(editor):
    view, (a, b, c) = editor.panels.outliner.view.viewport(), balls(editor)
    first, last = row_rect(editor, a), row_rect(editor, c)
    x = view.width() - 60
    mouse = Mouse(view)
    mouse.press(QPointF(x, first.center().y()))
    for y in range(first.center().y(), last.center().y() + 1, 6):
        mouse.move(QPointF(x - 5, y))
    mouse.move(QPointF(x - 5, last.center().y()))
    assert editor.panels.outliner.view._band.isVisible()
    mouse.release(QPointF(x - 5, last.center().y()))
    assert set(editor.document.selection.nodes) == {a, b, c}
    assert not editor.panels.outliner.view._band.isVisible()


def test_keys_edit_all_selected_nodes_as_one_entry(editor):
    document, chosen = editor.document, balls(editor)
    before = document.scene
    for key, modifiers, text in (
        (Qt.Key.Key_Delete, Qt.KeyboardModifier.NoModifier, "Remove 3 objects"),
        (Qt.Key.Key_H, Qt.KeyboardModifier.NoModifier, "Hide 3 objects"),
        (Qt.Key.Key_D, CONTROL, "Duplicate 3 objects"),
        (Qt.Key.Key_G, CONTROL, "Group 3 objects"),
        (Qt.Key.Key_L, SHIFT, "Lock 3 objects"),
    ):
        document.select(selection_of(chosen))
        QTest.keyClick(editor.viewport, key, modifiers)
        assert document.undo_stack.count() == 1
        assert document.undo_stack.undo_text == text
        settled(editor)
        document.undo_stack.undo()
        assert document.scene == before, text
        document.undo_stack.clear()


@pytest.mark.slow
def test_a_handle_moves_all_selected_nodes(editor):
    document, (a, b, c) = editor.document, balls(editor)
    before = {node_id: document.scene.node(node_id).transform for node_id in (a, b, c)}
    document.select(selection_of((b, a)))
    editor.edits.turn_camera("front")
    QTest.keyClick(editor.viewport, Qt.Key.Key_G)
    settled(editor)
    start = place_of(editor, before[b].position)
    Mouse(editor.viewport).drag(start, start + QPointF(30.0, -20.0))
    moved = {node_id: document.scene.node(node_id).transform.position for node_id in (a, b, c)}
    way = np.subtract(moved[b], before[b].position)
    assert np.linalg.norm(way) > 0.05
    np.testing.assert_allclose(np.subtract(moved[a], before[a].position), way, atol=1e-9)
    assert moved[c] == before[c].position
    assert (document.undo_stack.count(), document.undo_stack.undo_text) == (1, "Move 2 objects")
    document.undo_stack.undo()
    assert {node_id: document.scene.node(node_id).transform for node_id in (a, b, c)} == before
    QTest.keyClick(editor.viewport, Qt.Key.Key_G)


def row_of(editor, part, name):
    inspector = editor.panels.inspector
    return next(row for row in inspector.tree.settings() if (row.ref.part, row.ref.name) == (part, name))


def test_the_inspector_edits_all_nodes_of_one_kind_and_marks_mixed_values(editor):
    document, (a, b, c) = editor.document, balls(editor)
    document.set_value(ParamRef(a, "collider", "radius"), 0.5)
    document.undo_stack.clear()
    light = document.scene.of_kind("light")[0].id
    document.select(selection_of((c, light, b, a)))
    subtitle = editor.panels.inspector.header.subtitle
    document.select(selection_of((light, b, a)))
    name = document.scene.node(light).name
    editor.panels.inspector.rebuild()
    assert subtitle.text() == f"Edits apply to {name} only"
    document.select(selection_of((c, light, b, a)))
    editor.panels.inspector.rebuild()
    assert subtitle.text().startswith("Edits apply to 3 colliders; ≠ mixed values")
    radius = row_of(editor, "collider", "radius")
    assert radius.text(0).startswith("≠")
    assert not row_of(editor, "collider", "friction").text(0).startswith("≠")
    radius.editor.field.setFocus()
    radius.editor.field.begin_edit()
    QTest.keyClicks(radius.editor.field, "0.25")
    QTest.keyClick(radius.editor.field, Qt.Key.Key_Return)
    assert [document.scene.node(node_id).settings.radius for node_id in (a, b, c)] == [0.25] * 3
    assert document.undo_stack.count() == 1
    assert not radius.text(0).startswith("≠")
    document.undo_stack.undo()
    assert document.scene.node(a).settings.radius == 0.5
    assert radius.text(0).startswith("≠")
    # An edit of one component changes no other.
    height = row_of(editor, "transform", "position")
    assert height.title.text().startswith("≠")
    field = height.editor.fields[1]
    field.begin_edit()
    field.setText("2")
    QTest.keyClick(field, Qt.Key.Key_Return)
    positions = [document.scene.node(node_id).transform.position for node_id in (a, b, c)]
    assert positions == [(1.0, 2.0, 0.0), (2.0, 2.0, 0.0), (3.0, 2.0, 0.0)]
    assert document.undo_stack.count() == 1


def test_a_typed_operation_applies_to_each_value(editor):
    document, nodes = editor.document, balls(editor)
    radii = [document.scene.node(node_id).settings.radius for node_id in nodes]
    document.set_value(ParamRef(nodes[0], "collider", "radius"), 2.0 * radii[0])
    document.undo_stack.clear()
    document.select(selection_of(nodes))

    def typed(field, text):
        field.setFocus()
        field.begin_edit()
        QTest.keyClicks(field, text)
        QTest.keyClick(field, Qt.Key.Key_Return)

    typed(row_of(editor, "collider", "radius").editor.field, "*2")
    found = [document.scene.node(node_id).settings.radius for node_id in nodes]
    assert found == pytest.approx([4.0 * radii[0], 2.0 * radii[1], 2.0 * radii[2]])
    assert document.undo_stack.count() == 1
    before = [document.scene.node(node_id).transform.position for node_id in nodes]
    typed(row_of(editor, "transform", "position").editor.fields[0], "+=50 cm")
    moved = [document.scene.node(node_id).transform.position for node_id in nodes]
    assert moved == [pytest.approx((x + 0.5, y, z)) for x, y, z in before]
    assert document.undo_stack.count() == 2
    typed(row_of(editor, "collider", "radius").editor.field, "0.5")
    assert {document.scene.node(node_id).settings.radius for node_id in nodes} == {0.5}
    document.set_value(ParamRef(nodes[0], "collider", "radius"), 0.4)
    before, count = document.scene, document.undo_stack.count()
    field = row_of(editor, "collider", "radius").editor.field
    mouse = Mouse(field)
    mouse.press(QPointF(10.0, 8.0))
    mouse.move(QPointF(60.0, 8.0))
    assert document.scene != before
    QTest.keyClick(field, Qt.Key.Key_Escape)
    mouse.release(QPointF(60.0, 8.0))
    assert document.scene == before, "Escape restores mixed values"
    assert document.undo_stack.count() == count


def drop(editor, nodes, row, parent=None, bone=""):
    model = editor.panels.outliner.model
    dragged = model.mimeData([model.index_of(model.entry_of((node_id,))) for node_id in nodes])
    key = () if parent is None else (parent, "bone", bone) if bone else (parent,)
    onto = model.index_of(model.entry_of(key)) if key else model.index(-1, 0)
    assert model.dropMimeData(dragged, Qt.DropAction.LinkAction, row, 0 if row >= 0 else -1, onto)
    settled(editor)


def names_below(editor, node_id):
    return [entry.selection.node for entry in editor.panels.outliner.model.entry_of((node_id,)).children]


def test_rows_are_dragged_to_another_place_and_into_groups(editor):
    document, (a, b, c) = editor.document, balls(editor)
    drop(editor, [c], 2)
    assert balls(editor) == [c, a, b]
    assert document.undo_stack.undo_text.startswith("Move ")
    drop(editor, [c, a], -1, b)
    assert set(names_below(editor, b)) == {c, a}
    document.undo_stack.undo()
    document.select(selection_of((a, b)))
    QTest.keyClick(editor.viewport, Qt.Key.Key_G, CONTROL)
    group = document.selection.node
    assert names_below(editor, group) == [a, b]
    drop(editor, [c], -1, group)
    assert document.undo_stack.undo_text.startswith("Put ")
    assert set(names_below(editor, group)) == {a, b, c}
    drop(editor, [c], 0, group)
    assert names_below(editor, group) == [c, a, b]
    drop(editor, [b], -1)
    assert names_below(editor, group) == [c, a]
    assert document.scene.node(b).attachment == Attachment()
    document.set_value(ParamRef(group, "node", "visible"), False)
    settled(editor)
    assert {view.node.id for view in editor.client.engine.views._visible} & {a, b, c} == {b}
    document.select(Selection(node=group))
    QTest.keyClick(editor.viewport, Qt.Key.Key_Delete)
    assert balls(editor) == [b]


def test_a_locked_node_is_not_picked_moved_or_removed(editor):
    document, (a, *_) = editor.document, balls(editor)
    place = place_of(editor, document.scene.node(a).transform.position)
    Mouse(editor.viewport).click(place)
    QTest.keyClick(editor.viewport, Qt.Key.Key_L, SHIFT)
    assert document.scene.node(a).locked
    assert not row_of(editor, "collider", "radius").editor.isEnabled()
    before = document.scene
    QTest.keyClick(editor.viewport, Qt.Key.Key_Delete)
    QTest.keyClick(editor.viewport, Qt.Key.Key_G)
    settled(editor)
    Mouse(editor.viewport).drag(place, place + QPointF(40.0, 0.0))
    QTest.keyClick(editor.viewport, Qt.Key.Key_G)
    assert document.scene == before
    editor.edits.select()
    Mouse(editor.viewport).click(place)
    assert document.selection == Selection()
    # The lock in the outliner unlocks it.
    rect, view = row_rect(editor, a), editor.panels.outliner.view.viewport()
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(view.width() - 2 * 24 - 12, rect.center().y()))
    assert not document.scene.node(a).locked
    editor.edits.select(a)
    assert row_of(editor, "collider", "radius").editor.isEnabled()


def test_nodes_are_copied_cut_and_pasted_as_json(editor):
    document, (a, b, c) = editor.document, balls(editor)
    document.select(selection_of((a, b)))
    QTest.keyClick(editor.viewport, Qt.Key.Key_C, CONTROL)
    text = QGuiApplication.clipboard().text()
    assert [node["id"] for node in json.loads(text)["nodes"]] == [a, b]
    QTest.keyClick(editor.viewport, Qt.Key.Key_V, CONTROL)
    assert len(balls(editor)) == 5
    assert document.undo_stack.undo_text == "Paste 2 objects"
    QTest.keyClick(editor.viewport, Qt.Key.Key_X, CONTROL)
    assert balls(editor) == [a, b, c]
    QGuiApplication.clipboard().setText("something else")
    count = document.undo_stack.count()
    QTest.keyClick(editor.viewport, Qt.Key.Key_V, CONTROL)
    assert document.undo_stack.count() == count


def test_handles_pose_the_selected_bone_and_the_pose_is_saved(editor, qtbot, tmp_path):
    document, model = editor.document, editor.document.scene.characters[0].id
    bone = editor.active.model.skeleton.names[1]
    joint = editor.active.model.skeleton.index(bone)
    document.select(Selection(node=model, bone=bone))
    editor.features["view"].frame_selection()
    before = editor.client.engine.views.characters[model].pose.model_from_joint.copy()
    for key, name, way in (
        (Qt.Key.Key_R, "rotation", QPointF(0.0, 1.0)),
        (Qt.Key.Key_G, "position", QPointF(15.0, 10.0)),
        (Qt.Key.Key_E, "scale", QPointF(0.0, -40.0)),
    ):
        QTest.keyClick(editor.viewport, key)
        settled(editor)
        handles = editor.handles._handles()
        # Handles are at the joint, not at the origin of the model.
        world = editor.client.engine.views.characters[model].joint_positions()[joint]
        np.testing.assert_allclose(handles.centre, world, atol=1e-6)
        start = QPointF(*handles.view.pixels([handles.centre])[0])
        if name == "rotation":
            ring = handles.view.pixels(handles.curve(0))
            start, way = QPointF(*ring[5]), QPointF(*(ring[20] - ring[5]))
        count = document.undo_stack.count()
        Mouse(editor.viewport).drag(start, start + way)
        assert document.undo_stack.count() == count + 1
        assert document.undo_stack.undo_text.endswith(f"{bone} of arm")
        assert getattr(document.scene.node(model).settings.pose[0], name) != getattr(
            type(document.scene.node(model).settings.pose[0])(), name
        )
    QTest.keyClick(editor.viewport, Qt.Key.Key_E)
    settled(editor)
    posed = document.scene.node(model).settings.pose
    assert [p.bone for p in posed] == [bone]
    after = editor.client.engine.views.characters[model].pose.model_from_joint
    assert np.abs(after[joint] - before[joint]).max() > 0.01
    assert row_of(editor, f"bone:{bone}", "rotation").value == posed[0].rotation
    QTest.keyClick(editor.viewport, Qt.Key.Key_R, CONTROL | Qt.KeyboardModifier.AltModifier)
    settled(editor)
    assert document.scene.node(model).settings.pose == ()
    np.testing.assert_array_equal(editor.client.engine.views.characters[model].pose.model_from_joint, before)
    assert row_of(editor, f"bone:{bone}", "rotation").value == (0.0, 0.0, 0.0)
    document.undo_stack.undo()
    assert document.scene.node(model).settings.pose == posed
    while document.undo_stack.can_undo:
        document.undo_stack.undo()
    assert document.scene.node(model).settings.pose == ()
    document.set_value(ParamRef(model, f"bone:{bone}", "rotation"), (0.0, 40.0, 5.0))
    assert document.undo_stack.undo_text == f"Set rotation of {bone} of arm"
    settled(editor)
    after = editor.client.engine.views.characters[model].pose.model_from_joint.copy()
    assert editor.files.save_to(tmp_path / "posed.sinew")
    Session(qtbot).load(editor, tmp_path / "posed.sinew")
    assert document.scene.node(model).settings.pose[0].rotation == (0.0, 40.0, 5.0)
    settled(editor)
    np.testing.assert_array_equal(editor.client.engine.views.characters[model].pose.model_from_joint, after)


@pytest.fixture
def posed(editor):
    model = editor.document.scene.characters[0].id
    values = {"position": (1.0, 0.5, -2.0), "rotation": (10.0, 40.0, 0.0), "scale": (1.5, 1.5, 1.5)}
    editor.document.set_values({ParamRef(model, "transform", name): value for name, value in values.items()})
    editor.document.undo_stack.clear()
    settled(editor)
    return editor


def placement(editor, node_id):
    return editor.client.engine.views.places.world_from_node(editor.document.scene.node(node_id))


def test_a_dropped_row_is_attached_in_place_as_one_edit(posed):
    editor = posed
    document, model = editor.document, editor.document.scene.characters[0].id
    bone = editor.active.model.skeleton.names[1]
    light = document.scene.of_kind("light")[0]
    before = placement(editor, light.id)
    for carrier, bone_name, text in ((model, bone, bone), (model, "", "arm")):
        drop(editor, [light.id], -1, carrier, bone_name)
        assert document.scene.node(light.id).attachment == Attachment(node=carrier, bone=bone_name)
        assert document.scene.node(light.id).transform != light.transform
        np.testing.assert_allclose(placement(editor, light.id), before, atol=1e-9)
        assert document.undo_stack.count() == 1
        assert document.undo_stack.undo_text == f"Attach Light to {text}"
        assert names_below(editor, model)[0] == light.id
        document.undo_stack.undo()
        assert document.scene.node(light.id) == light
        assert light.id not in names_below(editor, model)
        document.undo_stack.clear()


@pytest.mark.slow
def test_a_row_dropped_beside_the_others_is_detached_in_place(posed):
    editor = posed
    document, model = editor.document, editor.document.scene.characters[0].id
    bone = editor.active.model.skeleton.names[1]
    light = document.scene.of_kind("light")[0].id
    drop(editor, [light], -1, model, bone)
    before = placement(editor, light)
    drop(editor, [light], -1)
    assert document.scene.node(light).attachment == Attachment()
    np.testing.assert_allclose(placement(editor, light), before, atol=1e-9)
    assert document.undo_stack.undo_text == "Detach Light"
    assert document.undo_stack.count() == 2
    drop(editor, [light], -1)
    assert document.undo_stack.count() == 2  # there is nothing to detach it from


@pytest.mark.slow
def test_a_node_cannot_be_attached_to_itself(posed):
    editor = posed
    document = editor.document
    light = document.scene.of_kind("light")[0].id
    sphere = editor.edits.add("sphere")
    drop(editor, [sphere], -1, light)
    scene, count = document.scene, document.undo_stack.count()
    for node, carrier in ((light, sphere), (light, light)):
        drop(editor, [node], -1, carrier)
    assert document.scene is scene
    assert document.undo_stack.count() == count
    assert set(messages(editor, Severity.ERROR)) == {"Light cannot be attached to itself"}


@pytest.mark.slow
def test_riders_of_a_removed_node_keep_their_attachment(posed):
    editor = posed
    document, model = editor.document, editor.document.scene.characters[0].id
    light = document.scene.of_kind("light")[0].id
    drop(editor, [light], -1, model)
    scene, count = document.scene, document.undo_stack.count()
    document.select(Selection(node=model))
    editor.edits.delete_selected()
    settled(editor)
    assert document.undo_stack.count() == count + 1
    assert document.scene.node(light).attachment == Attachment(node=model)
    document.undo_stack.undo()
    assert document.scene == scene
    assert names_below(editor, model)[0] == light


def test_new_nodes_are_attached_to_the_selected_bone(posed):
    editor = posed
    document, model = editor.document, editor.document.scene.characters[0].id
    bone = editor.active.model.skeleton.names[1]
    on_bones = [
        entry.id
        for kind in KINDS.values()
        if kind.name not in ("hair", "springs", "environment")
        for entry in kind.part(Adds).entries
        if entry.reason is None  # garments are for whole bodies
    ]
    for entry_id in sorted({*on_bones} - {"cloth", "plane", "skin"}):  # these hang, lie, or are the whole skin
        document.select(Selection(node=model, bone=bone))
        editor.window.actions_table[f"add.{entry_id}"].trigger()
        assert document.selected.attachment == Attachment(node=model, bone=bone), entry_id
        assert document.selected.transform.position == (0.0, 0.0, 0.0)


def test_a_typed_value_is_an_entry_before_undo_and_before_its_row_goes(editor, qtbot):
    document, (a, *_) = editor.document, balls(editor)
    document.undo_stack.clear()
    editor.window.activateWindow()
    document.select(selection_of((a,)))

    def half_typed(text):
        field = row_of(editor, "collider", "radius").editor.field
        field.setFocus()
        field.begin_edit()
        QTest.keyClicks(field, text)
        qtbot.waitUntil(lambda: QApplication.focusWidget() is field, timeout=60000)

    def radius():
        return document.scene.node(a).settings.radius

    before = radius()
    half_typed("0.25")
    document.undo_stack.undo()  # undoes what was typed
    assert (radius(), document.undo_stack.count(), document.undo_stack.index) == (before, 1, 0)
    half_typed("0.3")
    document.undo_stack.go(0)
    assert (radius(), document.undo_stack.count(), document.undo_stack.index) == (before, 1, 0)
    half_typed("0.75")
    editor.panels.inspector.rebuild()
    assert radius() == 0.75
    assert row_of(editor, "collider", "radius").value == 0.75
    half_typed("0.5")
    document.remove_node(a)
    settled(editor)
    assert not document.scene.has(a)


def test_no_edit_is_made_during_undo(editor):
    document, (a, b, *_) = editor.document, balls(editor)
    document.set_value(ParamRef(a, "collider", "radius"), 0.25)
    document.undo_stack.clear()
    document.select(selection_of((a,)))
    document.remove_node(a)
    refused = []

    def edit(_selection):
        with pytest.raises(RuntimeError, match="during undo or redo"):
            document.set_value(ParamRef(b, "collider", "radius"), 0.125)
        refused.append(True)

    document.selection_changed.connect(edit)
    document.undo_stack.undo()
    document.selection_changed.disconnect(edit)
    assert refused
    assert document.undo_stack.index == 0
    assert document.scene.has(a)
