from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from sinew.sim.kinds.emitter.handles import KnobKind
from sinew.sim.kinds.emitter.presets import PRESETS, with_preset
from sinew.sim.kinds.emitter.settings import EmissionAim, EmitterSource
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Attachment, ParamRef
from sinew.sim.scene.view_state import Selection
from sinew.widgets.outliner_entries import EntryKind
from tests.gui.editor_harness import NodeStage, picture, trigger


def emitters(editor):
    return editor.document.scene.of_kind("emitter")


def entry_of(editor, selection):
    kind = EntryKind.BONE if selection.bone else EntryKind.NODE
    key = (selection.node, "bone", selection.bone) if selection.bone else (selection.node,)
    entry = editor.panels.outliner.model.entry_of(key)
    assert entry.kind is kind
    return entry


def test_every_preset_is_added_on_the_ground_as_one_edit_with_a_name_of_its_own(fresh):
    camera = fresh.document.view_state.camera
    for name in (*PRESETS, *PRESETS):
        fresh.document.select(Selection())
        trigger(fresh, f"add.emitter.{name.lower().replace(' ', '-')}")
        node = emitters(fresh)[-1]
        assert node.settings == with_preset(node.settings, name)
        assert node.attachment == Attachment()
        assert fresh.document.selection == Selection(node=node.id)
        assert fresh.document.undo_stack.undoText() == f"Add {node.name}"
    assert emitters(fresh)[0].transform.position == (camera.target[0], 0.0, camera.target[2])
    assert len({node.name for node in emitters(fresh)}) == 2 * len(PRESETS)
    assert fresh.document.undo_stack.count() == 2 * len(PRESETS)


def test_an_emitter_is_added_to_a_bone_or_to_the_surface_of_a_model(editor):
    model = editor.document.scene.of_kind("model")[0].id
    bone = editor.active.model.skeleton.names[1]
    editor.document.select(Selection(node=model, bone=bone))
    trigger(editor, "add.emitter.sparks")
    (node,) = emitters(editor)
    assert node.attachment == Attachment(node=model, bone=bone)
    assert node.settings.source is EmitterSource.POINT
    assert node.transform.position == (0.0, 0.0, 0.0)
    editor.document.undo_stack.undo()
    assert emitters(editor) == ()
    editor.document.select(Selection(node=model))
    trigger(editor, "add.emitter.fire")
    (node,) = emitters(editor)
    assert node.attachment == Attachment(node=model)
    assert (node.settings.source, node.settings.aim) == (EmitterSource.FACES, EmissionAim.OUTWARD)


def test_every_menu_names_the_place_of_a_new_emitter(editor):
    model = editor.document.scene.of_kind("model")[0]
    bone = editor.active.model.skeleton.names[1]
    menus = editor.window.menus
    for selection, text in (
        (Selection(), "&Emitter (on ground)"),
        (Selection(node=model.id), f"&Emitter (on surface of {model.name})"),
        (Selection(node=model.id, bone=bone), f"&Emitter (on bone {bone})"),
    ):
        editor.document.select(selection)
        menus.add.aboutToShow.emit()
        assert text in [action.text() for action in menus.add.actions()]
        if selection.node:
            outliner = editor.panels.outliner.menu_for(entry_of(editor, selection))
            assert text in [action.text() for action in outliner.actions()]
    sky = editor.menu.menu_at(QPointF(2.0, 2.0))
    (add,) = [action.menu() for action in sky.actions() if action.text() == "&Add"]
    assert "&Emitter (on ground)" in [action.text() for action in add.actions()]
    # An ampersand in a name is no access key.
    editor.document.set_value(ParamRef(model.id, "node", "name"), "salt & pepper")
    editor.document.select(Selection(node=model.id))
    menus.add.aboutToShow.emit()
    assert "&Emitter (on surface of salt && pepper)" in [action.text() for action in menus.add.actions()]


class Handled(NodeStage):
    def __init__(self, editor):
        trigger(editor, "add.emitter")
        super().__init__(editor, emitters(editor)[-1].id)
        editor.document.set_camera(Camera(target=(0.0, 0.3, 0.0), distance=3.0))

    def set(self, **values):
        self.document.set_values({ParamRef(self.node, "emitter", name): value for name, value in values.items()})
        self.document.undo_stack.clear()
        picture(self.editor)

    def knob(self, kind, point=0, axis=0):
        handles = self.editor.kind_panels["emitter"].tool._handles()
        knob = next(knob for knob in handles.knobs if knob.kind is kind and knob.axis == axis)
        return QPointF(*handles.view.pixels(knob.points)[point])


DRAGS = [
    (KnobKind.SPEED, {}, QPointF(0, -40), "speed", "speed"),
    (KnobKind.CONE, {}, QPointF(30, 0), "cone_angle", "cone angle"),
    (KnobKind.RADIUS, {"source": EmitterSource.DISC}, QPointF(40, 0), "source_radius", "radius of the source"),
    (KnobKind.SIZE, {"source": EmitterSource.BOX}, QPointF(40, 0), "source_size", "size of the source"),
]


def test_a_knob_is_dragged_as_one_edit_that_escape_cancels(fresh):
    stage = Handled(fresh)
    for kind, values, way, name, words in DRAGS:
        stage.set(**values)
        before, start = stage.settings, stage.knob(kind)
        stage.mouse.drag(start, start + way)
        assert getattr(stage.settings, name) != getattr(before, name)
        assert stage.document.undo_stack.count() == 1
        assert stage.document.undo_stack.undoText() == f"Change the {words} of Emitter"
        stage.document.undo_stack.undo()
        assert stage.settings == before
        assert stage.document.selection.node == stage.node
    stage.set(speed=3.0)
    before, start = stage.settings, stage.knob(KnobKind.SPEED)
    stage.mouse.hover(start)
    assert fresh.viewport.cursor().shape() is Qt.CursorShape.PointingHandCursor
    assert fresh.window._hint.text() == "Drag: speed 3 m/s · Escape: cancel"
    stage.mouse.press(start)
    for step in range(1, 4):
        stage.mouse.move(start - QPointF(0, 20.0 * step))
    assert stage.settings.speed > before.speed
    QTest.keyClick(stage.editor.viewport, Qt.Key.Key_Escape)
    assert stage.settings == before
    assert stage.document.undo_stack.count() == 0
    stage.mouse.hover(QPointF(5, 5))
    assert fresh.viewport.cursor().shape() is Qt.CursorShape.ArrowCursor
    assert "speed" not in fresh.window._hint.text()


def test_a_message_in_the_status_bar_disappears(fresh, qtbot):
    window = fresh.window
    window._passing.setInterval(50)
    window.show_news("Undone: Rename")
    assert window._hint.text() == "Undone: Rename"
    qtbot.waitUntil(lambda: not window._hint.text(), timeout=60000)
    window.show_news("Done")
    window.show_hint("Drag it")
    qtbot.wait(80)
    assert window._hint.text() == "Drag it"
