import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from sinew.app.project.project_file import load_project
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view import DisplayMode, SkinningComparison
from tests.gui.editor_harness import Mouse, picture, place_of, settled

ACTIONS = [
    "skin.dqs", "add.light", "edit.duplicate", "edit.lock", "edit.lock", "edit.group", "edit.hide",
    "edit.show_all", "edit.delete", "play.bind_pose",
]  # fmt: skip
LOOKS = [
    "compare.split", "compare.difference", "compare.off", "display.weights", "display.normals", "display.wireframe",
    "display.shaded-wireframe", "display.toggle_wire", "overlay.bones", "overlay.grid", "overlay.axes",
    "overlay.statistics", "overlay.textures", "overlay.solids", "overlay.contacts", "view.orthographic", "view.top",
]  # fmt: skip


def pixels_of_light(editor):
    light = editor.document.scene.of_kind("light")[0]
    return light, place_of(editor, light.transform.position)


def frame_light(editor):
    light = editor.document.scene.of_kind("light")[0]
    editor.edits.select(light.id)
    editor.features["view"].frame_selection()
    settled(editor)
    return pixels_of_light(editor)


def wait_for_models(editor, qtbot):
    """A model that comes back goes to the GPU in turns."""
    qtbot.waitUntil(lambda: not editor.store.loading and not editor.uploads.uploading, timeout=60000)


def trigger(editor, action_id):
    action = editor.window.actions_table[action_id]
    assert action.isEnabled(), action_id
    action.trigger()


def test_undoing_and_redoing_everything_restores_scene_and_image(editor, qtbot):
    document = editor.document
    editor.edits.select()  # what is selected has an outline
    first_scene, first_picture = document.scene, picture(editor)
    for action_id in ACTIONS:
        editor.edits.select(document.scene.of_kind("model")[0].id)
        trigger(editor, action_id)
        settled(editor)
    editor.edits.select()
    camera = document.view_state.camera
    wait_for_models(editor, qtbot)
    last_scene, last_picture = document.scene, picture(editor)
    assert document.undo_stack.count() == len(ACTIONS)
    assert not np.array_equal(first_picture, last_picture)
    while document.undo_stack.can_undo:
        document.undo_stack.undo()
    assert document.view_state.camera == camera
    assert document.scene == first_scene
    assert not document.modified
    wait_for_models(editor, qtbot)
    editor.edits.select()
    np.testing.assert_array_equal(picture(editor), first_picture)
    while document.undo_stack.can_redo:
        document.undo_stack.redo()
    assert document.scene == last_scene
    wait_for_models(editor, qtbot)
    editor.edits.select()
    np.testing.assert_array_equal(picture(editor), last_picture)


def test_dragging_a_light_is_one_entry_that_escape_cancels(editor):
    light, place = frame_light(editor)
    target = place + QPointF(-60.0, 25.0)
    Mouse(editor.viewport).drag(place, target)
    moved, reached = pixels_of_light(editor)
    assert moved.transform.position != light.transform.position
    assert (reached - target).manhattanLength() < 0.5
    assert editor.document.undo_stack.count() == 1
    assert editor.document.undo_stack.undo_text == "Move Light"
    assert editor.document.selection.node == light.id
    editor.document.undo_stack.undo()
    assert editor.document.scene.node(light.id) == light
    editor.document.undo_stack.clear()
    mouse = Mouse(editor.viewport)
    mouse.press(place)
    mouse.move(place + QPointF(40.0, 0.0))
    assert editor.document.scene.node(light.id) != light
    QTest.keyClick(editor.viewport, Qt.Key.Key_Escape)
    mouse.move(place + QPointF(80.0, 0.0))
    mouse.release(place + QPointF(80.0, 0.0))
    assert editor.document.scene.node(light.id) == light
    assert editor.document.undo_stack.count() == 0
    assert not editor.document.modified


def test_the_divider_is_dragged_and_escape_cancels(editor):
    trigger(editor, "compare.split")
    settled(editor)
    before, divider = editor.document.scene, editor.overlays.divider
    middle = QPointF(divider.width() / 2.0, divider.height() / 2.0)
    Mouse(divider).drag(middle, middle + QPointF(10.0, 0.0), steps=1)
    assert editor.document.scene.view.divider == pytest.approx(0.5 + 10.0 / editor.viewport.width(), abs=2e-3)
    settled(editor)
    assert editor.overlays.statistics.isVisible()
    mouse = Mouse(divider)
    mouse.press(middle)
    mouse.move(middle + QPointF(90.0, 0.0))
    assert editor.document.scene.view.divider > 0.55
    QTest.keyClick(divider, Qt.Key.Key_Escape)
    mouse.release(middle + QPointF(90.0, 0.0))
    assert editor.document.scene.view.divider == pytest.approx(0.5 + 10.0 / editor.viewport.width(), abs=2e-3)
    assert editor.document.scene.nodes == before.nodes
    assert editor.document.undo_stack.count() == 0


def test_view_settings_are_no_edits_but_saved(editor, tmp_path):
    document = editor.document
    document.set_value(ParamRef("model-1", "model", "unit_scale"), 2.0)
    document.mark_saved(tmp_path / "a.sinew")
    for action_id in LOOKS:
        before = document.scene.view, document.view_state.camera
        trigger(editor, action_id)
        settled(editor)
        assert action_id == "compare.off" or (document.scene.view, document.view_state.camera) != before, action_id
        assert document.undo_stack.count() == 1, action_id
        assert not document.modified
    view = document.scene.view
    document.undo_stack.undo()
    assert document.scene.view == view
    document.undo_stack.redo()
    assert document.scene.view == view
    assert not document.modified
    editor.files.save_to(tmp_path / "a.sinew")
    assert load_project(tmp_path / "a.sinew").scene.view == view
    document.set_value(ParamRef("view", "view", "ambient"), 0.25)
    assert document.modified, "light belongs to the scene"


def test_bones_surface_and_background_are_clicked(editor):
    Mouse(editor.viewport).click(QPointF(3.0, editor.viewport.height() - 3.0))
    assert editor.document.selection.node is None
    editor.edits.turn_camera("front")
    editor.features["view"].frame_all()
    settled(editor)
    box = editor.client.engine.views.bounds("model-1")
    Mouse(editor.viewport).click(place_of(editor, (box.lo + box.hi) / 2.0))
    assert editor.document.selection.node == "model-1"
    editor.edits.set_view("bones", True)
    settled(editor)
    engine, skeleton = editor.client.engine, editor.store.loaded("model-1").model.skeleton
    for joint in engine.views.view("model-1").segments.joints[:6]:
        place = place_of(editor, engine.views.characters["model-1"].joint_positions()[joint])
        Mouse(editor.viewport).hover(place)
        Mouse(editor.viewport).click(place)
        selection = editor.document.selection
        assert (selection.node, selection.bone) == ("model-1", skeleton.names[joint])
    assert editor.document.undo_stack.count() == 0, "selecting is no edit"


def test_the_heat_map_shows_the_selected_bone(editor):
    editor.edits.show(DisplayMode.WEIGHTS)
    names = editor.store.loaded("model-1").model.skeleton.names
    pictures = []
    for name in names[:3]:
        editor.edits.select("model-1", name)
        pictures.append(picture(editor))
    assert any(not np.array_equal(pictures[0], other) for other in pictures[1:])
    assert editor.overlays.legend.isVisible()


VIEW_KEYS = {Qt.Key.Key_1: (0.0, 0.0), Qt.Key.Key_3: (90.0, 0.0), Qt.Key.Key_7: (0.0, 90.0)}


def test_number_keys_turn_the_view_and_points_frame_or_step(qtbot, editor):
    editor.window.activateWindow()
    qtbot.waitUntil(editor.window.isActiveWindow, timeout=60000)
    start, keypad = editor.document.view_state.camera, Qt.KeyboardModifier.KeypadModifier
    for modifier in (Qt.KeyboardModifier.NoModifier, keypad):
        for key, expected in VIEW_KEYS.items():
            editor.document.set_camera(start)
            QTest.keyClick(editor.viewport, key, modifier)
            camera = editor.document.view_state.camera
            assert (camera.yaw, camera.pitch) == expected
    editor.document.set_camera(msgspec.structs.replace(editor.document.view_state.camera, distance=500.0))
    QTest.keyClick(editor.viewport, Qt.Key.Key_Period, keypad)
    assert editor.document.view_state.camera.distance < 50.0
    assert editor.playback.playhead.time == 0.0
    QTest.keyClick(editor.viewport, Qt.Key.Key_Period)
    assert editor.playback.playhead.time == pytest.approx(editor.active.frame_step)


MIDDLE, LEFT = Qt.MouseButton.MiddleButton, Qt.MouseButton.LeftButton
NONE, SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
CONTROL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
CAMERA_DRAGS = [
    (MIDDLE, NONE, "yaw"),
    (LEFT, ALT, "yaw"),
    (MIDDLE, SHIFT, "target"),
    (LEFT, ALT | SHIFT, "target"),
    (MIDDLE, CONTROL, "distance"),
]


def test_every_documented_drag_moves_the_camera(editor):
    selection = editor.document.selection
    for button, modifiers, changed in CAMERA_DRAGS:
        before = editor.document.view_state.camera
        Mouse(editor.viewport, button, modifiers).drag(QPointF(200.0, 150.0), QPointF(260.0, 170.0))
        assert getattr(editor.document.view_state.camera, changed) != getattr(before, changed)
    assert editor.document.selection == selection
    assert editor.document.undo_stack.count() == 0


def test_the_axes_are_dragged_to_orbit_and_clicked_for_a_view(editor):
    gizmo, before = editor.overlays.gizmo, editor.document.view_state.camera
    middle = QPointF(gizmo.width() / 2.0, gizmo.height() / 2.0)
    Mouse(gizmo).drag(middle, middle + QPointF(20.0, 0.0))
    assert editor.document.view_state.camera.yaw == pytest.approx(before.yaw - 20.0 * 0.4)
    settled(editor)
    Mouse(gizmo).click(gizmo.knob_place((0, 1, 0))[0])
    assert editor.document.view_state.camera.pitch == 90.0


@pytest.mark.slow
def test_a_comparison_is_switched_off_by_its_button(editor):
    for name in ("difference", "split"):
        button = editor.window.menus.toolbar.widgetForAction(editor.window.actions_table[f"compare.{name}"])
        for shown in (SkinningComparison(name), SkinningComparison.OFF, SkinningComparison(name)):
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
            assert editor.document.scene.view.comparison is shown
            assert button.isChecked() is (shown is not SkinningComparison.OFF)
        for _ in range(2):
            trigger(editor, "compare.off")
            assert editor.document.scene.view.comparison is SkinningComparison.OFF
