import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sinew.app.document.keyed_values import curves_ref
from sinew.app.project.project_file import load_project
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Presets
from sinew.sim.kinds.emitter.handles import KnobKind
from sinew.sim.kinds.emitter.presets import PRESETS, with_preset
from sinew.sim.kinds.emitter.settings import EmissionAim, EmissionMode, EmitterSource, ParticleLook
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.curves import Curve, Key
from sinew.sim.scene.scene import Attachment, ParamRef
from sinew.sim.scene.view_state import Selection
from sinew.widgets.messages import Severity
from sinew.widgets.outliner_entries import EntryKind
from tests.gui.editor_harness import NodeStage, Session, messages, play, settled, trigger

OFFERED = KINDS["emitter"].part(Presets)
NODE = ("muted", "solo")


def drawn(editor):
    settled(editor)
    QApplication.processEvents()


class Stage(NodeStage):
    def __init__(self, editor, selection=None):
        editor.document.select(selection or Selection())
        super().__init__(editor, editor.edits.add("emitter"))
        QApplication.processEvents()

    @property
    def emitter(self):
        return self.system.emitter

    @property
    def head(self):
        return self.editor.panels.inspector.head

    @property
    def status(self):
        return self.head.status

    @property
    def population(self):
        return self.editor.kind_panels["emitter"].head._status

    def set(self, **values):
        parts = {name: "node" if name in NODE else "emitter" for name in values}
        self.document.set_values({ParamRef(self.node, parts[name], name): value for name, value in values.items()})
        drawn(self.editor)

    def play(self, steps=10):
        play(self.editor, steps)


@pytest.fixture
def stage(fresh):
    return Stage(fresh)


@pytest.fixture
def on_skin(editor):
    stage = Stage(editor, Selection(node="model-1"))
    assert stage.settings.source is EmitterSource.FACES
    return stage


def test_counts_are_shown_while_it_plays(stage, qtbot, monkeypatch):
    stage.set(rate=1200.0, lifetime=1.0, capacity=2000)
    stage.play(12)
    assert stage.population.capacity == 2000
    assert stage.population.born_per_second == 1200.0
    assert stage.status.warning == ""

    def counted():
        stage.play(1)
        return stage.population.alive > 0

    qtbot.waitUntil(counted, timeout=60000)
    stage.editor.playback.pause()
    shown = []
    monkeypatch.setattr(stage.head, "show_status", shown.append)
    for _ in range(3):
        drawn(stage.editor)
    assert len(shown) <= 1, "an equal status is not shown again"


def test_a_low_capacity_is_raised_by_the_button_as_one_edit(stage):
    stage.set(rate=5000.0, capacity=100)
    assert "capacity 100" in stage.status.warning
    needed = stage.population.needed_capacity
    stage.document.undo_stack.clear()
    stage.head.remedy_button.click()
    drawn(stage.editor)
    assert stage.settings.capacity == needed
    assert stage.status.warning == ""
    assert stage.document.undo_stack.count() == 1


@pytest.mark.slow
def test_the_button_and_the_warning_name_the_capacity_of_the_largest_keys(stage):
    stage.set(rate=1000.0, lifetime=1.0, lifetime_variance=0.0, capacity=1200)
    assert stage.status.warning == ""
    keys = (Key(0.0, 1000.0), Key(2.0, 1400.0))
    stage.document.set_value(curves_ref(stage.node), (Curve(part="emitter", field="rate", keys=keys),))
    drawn(stage.editor)
    assert "take 1,401 particles" in stage.status.warning
    assert stage.head.remedy_button.text() == "Set capacity to 1,401"
    stage.head.remedy_button.click()
    drawn(stage.editor)
    assert (stage.settings.capacity, stage.status.warning) == (1401, "")


@pytest.mark.slow
def test_another_seed_is_one_edit_and_changes_particles(stage):
    stage.play(5)
    with stage.editor.viewport.gl_current():
        before = stage.emitter.read()["position"][:, :3].copy()
    seed = stage.settings.seed
    stage.editor.kind_panels["emitter"].seed_button.click()
    assert stage.settings.seed != seed
    assert stage.document.undo_stack.undo_text == "Reseed Emitter"
    stage.play(5)
    with stage.editor.viewport.gl_current():
        assert not np.array_equal(stage.emitter.read()["position"][:, :3], before)
    stage.document.undo_stack.undo()
    assert stage.settings.seed == seed


@pytest.mark.slow
def test_every_preset_is_one_edit_and_is_recognised(stage):
    stage.set(seed=7, yaw=12.0, size=0.3)
    stage.document.undo_stack.clear()
    before = stage.settings
    for name, values in OFFERED.values.items():
        stage.head.presets.chosen.emit(name)
        assert {field: getattr(stage.settings, field) for field in values} == values
        assert OFFERED.name_of(stage.settings, {}) == name
        assert stage.settings.seed == 7
        assert stage.document.undo_stack.undo_text == f"Use {name} for Emitter"
        assert stage.document.undo_stack.count() == 1
        stage.document.undo_stack.undo()
        assert stage.settings == before


def test_presets_of_the_user_are_saved_for_the_next_editor_and_deleted(session):
    stage = Stage(session.start())
    stage.set(rate=321.0, drag=0.77)
    for name in ("mist", "Fire"):
        stage.head.presets.saved.emit(name)
    assert any("is a preset of Sinew" in text for text in messages(stage.editor, Severity.ERROR))
    stage.head.presets.chosen.emit("Fire")
    assert stage.settings.rate != 321.0
    session.close(stage.editor)
    again = Stage(session.start())
    again.head.presets.chosen.emit("mist")
    assert (again.settings.rate, again.settings.drag) == (321.0, 0.77)
    again.head.presets.deleted.emit("mist")
    again.set(rate=1.0)
    again.head.presets.chosen.emit("mist")
    assert again.settings.rate == 1.0


@pytest.mark.slow
def test_a_surface_without_its_model_stops_until_undo(on_skin, qtbot):
    stage = on_skin
    assert stage.emitter is not None
    stage.document.remove_node("model-1")
    stage.document.select(Selection(node=stage.node))
    drawn(stage.editor)
    assert stage.emitter is None
    assert stage.status.note.startswith("The model whose surface emits is no longer in the scene")
    assert [text for text in messages(stage.editor, Severity.WARNING) if "surface emits is not in the scene" in text]
    stage.document.undo_stack.undo()
    stage.document.select(Selection(node=stage.node))

    def emits():
        drawn(stage.editor)
        return stage.emitter is not None and stage.status.note == ""

    qtbot.waitUntil(emits, timeout=60000)


def test_invalid_settings_are_reported_and_the_former_stay_active(stage):
    stage.set(mode=EmissionMode.BURST)
    (text,) = messages(stage.editor, Severity.WARNING)
    refusal = "bursts: an emitter of bursts alone needs at least one, such as 0:100"
    assert text == f"Emitter: {refusal}; the former settings stay active"
    assert stage.status.note.startswith("bursts:")
    stage.set(bursts="0:50")
    assert stage.status.note == ""


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "spark.png"
    Image.fromarray(np.full((2, 2, 3), (10, 200, 30), np.uint8)).save(path)
    return path


def test_an_image_is_read_while_it_is_used(stage, image, qtbot):
    files = stage.editor.scene_files
    stage.set(texture=str(image))
    assert files.assets.textures == {}  # round spots need none
    stage.set(look=ParticleLook.TEXTURED)
    qtbot.waitUntil(lambda: image in files.assets.textures, timeout=60000)
    stage.document.undo_stack.undo()
    assert files.assets.textures == {}
    stage.document.undo_stack.redo()
    qtbot.waitUntil(lambda: image in files.assets.textures, timeout=60000)


def test_missing_and_broken_images_are_one_message_each(stage, tmp_path, qtbot):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no image")
    stage.set(look=ParticleLook.TEXTURED)
    for count, path in enumerate((tmp_path / "missing.png", broken)):
        with qtbot.waitSignal(stage.editor.scene_files.failed, timeout=60000):
            stage.set(texture=str(path))
        for _ in range(2):
            drawn(stage.editor)
        errors = messages(stage.editor, Severity.ERROR)
        assert len(errors) == count + 1
        assert errors[-1].endswith("; the particles of Emitter are round spots instead")


def test_emitters_are_saved_and_read_again(on_skin, qtbot, image, tmp_path):
    stage = on_skin
    stage.set(texture=str(image), look=ParticleLook.TEXTURED, muted=True, seed=9, bursts="0:5 1:7", density_bone="a")
    stage.head.presets.chosen.emit("Smoke")
    # A preset on a surface leaves it there.
    assert stage.settings.source is EmitterSource.FACES
    stage.document.duplicate_node(stage.node)
    path = tmp_path / "project" / "a.sinew"
    path.parent.mkdir()
    stage.editor.files.save_to(path)
    assert '"../spark.png"' in path.read_text(encoding="utf-8") or stage.settings.texture == ""
    assert load_project(path).scene == stage.document.scene
    Session(qtbot).load(stage.editor, path)
    assert len(stage.document.scene.of_kind("emitter")) == 2


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
        assert fresh.document.undo_stack.undo_text == f"Add {node.name}"
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
    sky = editor.features["objects"].menu.menu_at(QPointF(2.0, 2.0))
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
        settled(self.editor)

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
        assert stage.document.undo_stack.undo_text == f"Change the {words} of Emitter"
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
