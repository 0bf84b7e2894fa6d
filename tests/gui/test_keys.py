"""Keys in the editor: diamonds, values at the playhead, the dope sheet and the curves; an undo entry a gesture."""

import pytest
from msgspec import structs
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtTest import QTest

from sinew.app.project.project_file import load_project, save_project
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.curves import Curve, Key, KeyMode
from sinew.sim.scene.scene import Node, ParamRef, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import Selection, ViewState
from sinew.widgets.inspector.keys import KeyState
from tests.gui.editor_harness import Session

INTENSITY, POSITION = ParamRef("l", "light", "intensity"), ParamRef("l", "transform", "position")
LAMP = Node(id="l", name="Lamp", settings=LightSettings(intensity=1.0), transform=Transform(position=(0.0, 1.0, 0.0)))
SPARKS = Node(id="e", name="Sparks", settings=EmitterSettings(capacity=500))


@pytest.fixture
def editor(fresh, qtbot, tmp_path):
    path = tmp_path / "keys.sinew"
    save_project(path, Scene(nodes=(LAMP, SPARKS)), ViewState(selection=Selection(node="l")))
    Session(qtbot).load(fresh, path)
    return fresh


def row_of(editor, ref):
    inspector = editor.panels.inspector
    assert inspector.tree is not None  # pending rebuilds
    row = inspector._rows[ref]
    assert row.widgets
    return row


def click(editor, ref):
    QTest.mouseClick(row_of(editor, ref).key_button, Qt.MouseButton.LeftButton)


def keys(editor, ref, component=-1):
    node = editor.document.scene.node(ref.owner)
    return [
        (key.time, key.value)
        for curve in node.curves
        if curve.address == (ref.part, ref.name, component)
        for key in curve.keys
    ]


def test_a_diamond_sets_and_removes_keys_and_edits_of_the_setting_set_more(editor, tmp_path):
    document, stack = editor.document, editor.document.undo_stack
    assert row_of(editor, INTENSITY).key_button.state is KeyState.NONE
    assert "Cannot have keys" in row_of(editor, ParamRef("l", "node", "name")).key_button.toolTip()
    click(editor, INTENSITY)
    assert keys(editor, INTENSITY) == [(0.0, 1.0)]
    assert row_of(editor, INTENSITY).key_button.state is KeyState.KEY
    editor.playback.scrub(1.0)
    row = row_of(editor, INTENSITY)
    assert row.key_button.state is KeyState.ANIMATED
    gesture = document.new_gesture()
    for value in (2.0, 2.5, 3.0):
        document.set_value(INTENSITY, value, gesture)
    document.end_gesture(gesture)
    assert keys(editor, INTENSITY) == [(0.0, 1.0), (1.0, 3.0)]
    assert (row.value, row.key_button.state, document.scene.node("l").settings.intensity) == (3.0, KeyState.KEY, 1.0)
    assert stack.count() == 2
    assert stack.undo_text == "Set intensity of Lamp"
    editor.playback.scrub(0.5)
    assert row.value == pytest.approx(2.0)
    assert editor.document.evaluated.node("l").settings.intensity == pytest.approx(2.0)
    stack.undo()
    assert keys(editor, INTENSITY) == [(0.0, 1.0)]
    stack.redo()
    editor.playback.scrub(1.0)
    click(editor, INTENSITY)
    assert keys(editor, INTENSITY) == [(0.0, 1.0)]
    click(editor, INTENSITY)
    assert keys(editor, INTENSITY) == [(0.0, 1.0), (1.0, 1.0)]
    stack.undo()
    stack.undo()
    assert keys(editor, INTENSITY) == [(0.0, 1.0), (1.0, 3.0)]
    editor.files.save()
    assert load_project(document.path).scene.node("l").curves == document.scene.node("l").curves
    editor.panels.keys.clear([INTENSITY])
    assert (keys(editor, INTENSITY), document.scene.node("l").settings.intensity) == ([], 3.0)
    while stack.can_undo:
        stack.undo()
    assert document.scene.node("l") == LAMP


def test_only_what_changed_gets_a_key_and_auto_key_sets_keys_of_all(editor):
    document = editor.document
    click(editor, POSITION)
    editor.playback.scrub(2.0)
    document.set_value(POSITION, (0.0, 4.0, 0.0))
    assert [len(keys(editor, POSITION, axis)) for axis in range(3)] == [1, 2, 1]
    editor.timeline.auto_key_button.click()
    document.set_value(INTENSITY, 5.0)
    document.set_value(ParamRef("l", "light", "shadow"), False)
    document.set_value(ParamRef("e", "emitter", "capacity"), 700)
    assert keys(editor, INTENSITY) == [(2.0, 5.0)]
    assert keys(editor, ParamRef("l", "light", "shadow")) == [(2.0, False)]
    assert document.scene.node("e").settings.capacity == 700
    assert not document.scene.node("e").curves
    editor.timeline.auto_key_button.click()
    document.set_value(ParamRef("l", "light", "reach"), 7.0)
    assert document.scene.node("l").settings.reach == 7.0


def test_the_menu_of_a_row_copies_keys_to_another_setting(editor):
    click(editor, INTENSITY)
    tree = editor.panels.inspector.tree

    def act(ref, text):
        menu = tree.menu_for(row_of(editor, ref))
        action = next(one for one in menu.actions() if one.text() == text)
        assert action.isEnabled(), text
        action.trigger()

    act(INTENSITY, "Copy Keys")
    reach = ParamRef("l", "light", "reach")
    act(reach, "Paste Keys")
    assert keys(editor, reach) == keys(editor, INTENSITY)
    act(reach, "Delete Key")
    assert keys(editor, reach) == []
    act(INTENSITY, "Clear Keys")
    assert editor.document.scene.node("l").curves == ()
    act(INTENSITY, "Insert Key")
    assert keys(editor, INTENSITY) == [(0.0, 1.0)]
    texts = [one.text() for one in tree.menu_for(row_of(editor, ParamRef("l", "node", "name"))).actions()]
    assert "Insert Key" not in texts


@pytest.fixture
def sheet(editor):
    curves = (
        Curve(part="light", field="intensity", keys=(Key(0.0, 1.0), Key(1.0, 3.0), Key(2.0, 2.0))),
        Curve(part="transform", field="position", component=1, keys=(Key(1.0, 1.0), Key(3.0, 2.0))),
    )
    editor.document.set_value(ParamRef("l", "node", "curves"), curves)
    editor.timeline.resize(900, 420)
    editor.timeline.curves_button.click()
    yield editor.timeline.sheet
    editor.timeline.curves_button.click()


def drag(widget, start, end, modifiers=Qt.KeyboardModifier.NoModifier):
    places = [QPoint(round(place.x()), round(place.y())) for place in (start, end)]
    QTest.mousePress(widget, Qt.MouseButton.LeftButton, modifiers, places[0])
    for share in (0.5, 1.0):
        at = places[0] + (places[1] - places[0]) * share
        move(widget, QPointF(at), modifiers)
    QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, modifiers, places[1])


def move(widget, place, modifiers):
    left = Qt.MouseButton.LeftButton
    event = QMouseEvent(QEvent.Type.MouseMove, place, widget.mapToGlobal(place), left, left, modifiers)
    widget.mouseMoveEvent(event)


def press(widget, key, modifiers=Qt.KeyboardModifier.NoModifier):
    widget.keyPressEvent(QKeyEvent(QKeyEvent.Type.KeyPress, key, modifiers))


def test_keys_are_selected_moved_scaled_copied_and_deleted_in_the_dope_sheet(editor, sheet):
    stack = editor.document.undo_stack
    assert [(row.name, row.is_summary) for row in sheet.rows] == [
        ("Lamp", True),
        ("Intensity", False),
        ("Position", False),
    ]
    step, count = 1.0 / 30.0, stack.count()
    start = sheet.place_of(1, 1.0)
    drag(sheet, start, start + QPointF(sheet._scale.pixels(0.5), 0.0))
    assert keys(editor, INTENSITY) == [(0.0, 1.0), (pytest.approx(1.5), 3.0), (2.0, 2.0)]
    assert keys(editor, INTENSITY)[1][0] == pytest.approx(round(1.5 / step) * step, abs=1e-12)
    assert (stack.count(), stack.undo_text) == (count + 1, "Move keys of Lamp")
    stack.undo()
    drag(sheet, sheet.place_of(0, 1.0) - QPointF(8.0, 9.0), sheet.place_of(2, 1.0) + QPointF(8.0, 8.0))
    assert {(address, time) for _, address, time in sheet.selected} == {
        (("light", "intensity", -1), 1.0),
        (("transform", "position", 1), 1.0),
    }
    drag(sheet, sheet.place_of(0, 1.0), sheet.place_of(0, 2.0))
    assert keys(editor, INTENSITY) == [(0.0, 1.0), (pytest.approx(2.0), 3.0)], "it replaces the key that is there"
    assert keys(editor, POSITION, 1) == [(pytest.approx(2.0), 1.0), (3.0, 2.0)]
    stack.undo()
    QTest.mouseClick(sheet, Qt.MouseButton.LeftButton, pos=sheet.place_of(1, 1.0).toPoint())
    press(sheet, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    editor.playback.scrub(3.0)
    press(sheet, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert keys(editor, INTENSITY)[-1] == (pytest.approx(3.0), 3.0)
    press(sheet, Qt.Key.Key_Delete)
    assert keys(editor, INTENSITY) == [(0.0, 1.0), (1.0, 3.0), (2.0, 2.0)]
    editor.playback.scrub(0.0)
    press(sheet, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    drag(sheet, sheet.place_of(1, 2.0), sheet.place_of(1, 4.0), Qt.KeyboardModifier.AltModifier)
    assert [time for time, _ in keys(editor, INTENSITY)] == [0.0, pytest.approx(2.0), pytest.approx(4.0)]
    assert [time for time, _ in keys(editor, POSITION, 1)] == [pytest.approx(2.0), pytest.approx(6.0)]
    stack.undo()
    QTest.mouseClick(sheet, Qt.MouseButton.LeftButton, pos=sheet.place_of(1, 1.0).toPoint())
    sheet.set_mode(KeyMode.LINEAR)
    assert editor.document.scene.node("l").curves[0].keys[1].mode is KeyMode.LINEAR
    assert stack.undo_text == "Set interpolation of Lamp"


def test_a_drag_that_is_cancelled_changes_nothing(editor, sheet):
    before, stack = editor.document.scene, editor.document.undo_stack
    count, start = stack.count(), sheet.place_of(1, 1.0)
    QTest.mousePress(sheet, Qt.MouseButton.LeftButton, pos=start.toPoint())
    move(sheet, start + QPointF(60.0, 0.0), Qt.KeyboardModifier.NoModifier)
    assert editor.document.scene != before
    press(sheet, Qt.Key.Key_Escape)
    assert (editor.document.scene, stack.count()) == (before, count)


def test_keys_and_slopes_are_dragged_in_the_curves(editor, sheet, qtbot):
    view = editor.timeline.curves
    QTest.mouseClick(sheet, Qt.MouseButton.LeftButton, pos=sheet.place_of(1, 1.0).toPoint())
    qtbot.waitUntil(lambda: view.isVisible() and view.height() >= 90, timeout=60000)
    assert view.row.name == "Intensity"
    curve = editor.document.scene.node("l").curves[0]
    assert curve.slopes(1) == (0.0, 0.0)
    handle = view.handle_of(curve, 1, 1)
    drag(view, handle, handle + QPointF(0.0, 20.0))
    key = editor.document.scene.node("l").curves[0].keys[1]
    assert key.slope_in == key.slope_out < 0.0
    sheet.set_slopes(None)
    drag(view, view.place_of(1.0, 3.0), view.place_of(1.0, 2.0))
    assert keys(editor, INTENSITY)[1] == (pytest.approx(1.0), pytest.approx(2.0, abs=0.1))
    assert editor.document.undo_stack.undo_text == "Move keys of Lamp"


def test_handles_and_picture_follow_the_keys(editor, qtbot):
    """What is drawn is what the playhead says, and the simulation starts from the keys of its first frame."""
    document = editor.document
    rate = Curve(part="emitter", field="rate", keys=(Key(0.0, 0.0, KeyMode.LINEAR), Key(1.0, 1000.0)))
    move_up = Curve(part="transform", field="position", component=1, keys=(Key(0.0, 0.0), Key(1.0, 2.0)))
    document.set_value(ParamRef("e", "node", "curves"), (rate, move_up))
    editor.playback.scrub(0.5)
    editor.viewport.repaint()
    engine = editor.client.engine
    qtbot.waitUntil(lambda: engine.views.scene.node("e").transform.position[1] == pytest.approx(1.0), timeout=60000)
    place = engine.views.places.world_from_node(engine.views.scene.node("e"))
    assert place[1, 3] == pytest.approx(1.0)
    assert structs.replace(document.scene.node("e"), curves=()) == SPARKS


def test_cameras_are_added_looked_through_aligned_and_cut(fresh, tmp_path, qtbot):
    path = tmp_path / "cameras.sinew"
    save_project(path, Scene(nodes=(LAMP,)), ViewState())
    editor = fresh
    Session(qtbot).load(editor, path)
    document, table = editor.document, editor.window.actions_table
    view = document.view_state.camera
    first = editor.edits.add("camera")
    assert load_project(path).version == 2
    editor.files.save()
    assert load_project(path).version == 3
    other = structs.replace(view, yaw=view.yaw + 60.0, distance=9.0)
    document.set_camera(other)
    assert table["camera.look_through"].isEnabled()
    table["camera.look_through"].trigger()
    qtbot.waitUntil(lambda: abs(document.view_state.camera.yaw - view.yaw) < 1e-6, timeout=60000)
    move_away = Curve(part="transform", field="position", component=1, keys=(Key(0.0, 1.0), Key(1.0, 5.0)))
    document.set_value(ParamRef(first, "node", "curves"), (move_away,))
    editor.playback.scrub(1.0)
    qtbot.waitUntil(lambda: abs(document.view_state.camera.position()[1] - 5.0) < 1e-6, timeout=60000)
    table["camera.look_through"].trigger()
    assert document.view_state.camera == other, "the former view comes back"
    table["camera.to_view"].trigger()
    assert document.undo_stack.undo_text == "Align Camera to view"
    assert document.evaluated.node(first).transform.position == pytest.approx(other.position().to_tuple(), abs=1e-6)
    second = editor.edits.add("camera")
    table["camera.cut"].trigger()
    cut = ParamRef(second, "camera", "cut")
    assert (keys(editor, cut), keys(editor, ParamRef(first, "camera", "cut"))) == ([(1.0, True)], [(1.0, False)])
    count = document.undo_stack.count()
    document.undo_stack.undo()
    assert (keys(editor, cut), document.undo_stack.count()) == ([], count)
