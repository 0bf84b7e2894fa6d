import numpy as np
import pytest
from PIL import Image
from PySide6.QtWidgets import QApplication

from sinew.app.files.project_file import load_project
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.emitter.settings import EmissionMode, EmitterSource, ParticleLook
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view_state import Selection
from sinew.widgets.messages import Severity
from tests.gui.editor_harness import NodeStage, Session, messages, play
from tests.gui.editor_harness import picture as drawn_picture

PRESETS = KINDS["emitter"].presets
NODE = ("muted", "solo")


def picture(editor):
    drawn_picture(editor)
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
        picture(self.editor)

    def play(self, steps=10):
        play(self.editor, steps)


@pytest.fixture
def stage(fresh):
    return Stage(fresh)


@pytest.fixture
def on_skin(fresh, qtbot, arm):
    Session(qtbot).load(fresh, arm)
    stage = Stage(fresh, Selection(node="model-1"))
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
        picture(stage.editor)
    assert len(shown) <= 1, "an equal status is not shown again"


def test_a_low_capacity_is_raised_by_the_button_as_one_edit(stage):
    stage.set(rate=5000.0, capacity=100)
    assert "capacity 100" in stage.status.warning
    needed = stage.population.needed_capacity
    stage.document.undo_stack.clear()
    stage.head.remedy_button.click()
    picture(stage.editor)
    assert stage.settings.capacity == needed
    assert stage.status.warning == ""
    assert stage.document.undo_stack.count() == 1


def test_another_seed_is_one_edit_and_changes_particles(stage):
    stage.play(5)
    with stage.editor.viewport.gl_current():
        before = stage.emitter.read()["position"][:, :3].copy()
    seed = stage.settings.seed
    stage.editor.kind_panels["emitter"].seed_button.click()
    assert stage.settings.seed != seed
    assert stage.document.undo_stack.undoText() == "Reseed Emitter"
    stage.play(5)
    with stage.editor.viewport.gl_current():
        assert not np.array_equal(stage.emitter.read()["position"][:, :3], before)
    stage.document.undo_stack.undo()
    assert stage.settings.seed == seed


def test_every_preset_is_one_edit_and_is_recognised(stage):
    stage.set(seed=7, yaw=12.0, size=0.3)
    stage.document.undo_stack.clear()
    before = stage.settings
    for name, values in PRESETS.values.items():
        stage.head.presets.chosen.emit(name)
        assert {field: getattr(stage.settings, field) for field in values} == values
        assert PRESETS.name_of(stage.settings, {}) == name
        assert stage.settings.seed == 7
        assert stage.document.undo_stack.undoText() == f"Use {name} for Emitter"
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


def test_a_surface_without_its_model_stops_until_undo(on_skin, qtbot):
    stage = on_skin
    assert stage.emitter is not None
    stage.document.remove_node("model-1")
    stage.document.select(Selection(node=stage.node))
    picture(stage.editor)
    assert stage.emitter is None
    assert stage.status.note.startswith("The model whose surface emits is no longer in the scene")
    assert [text for text in messages(stage.editor, Severity.WARNING) if "surface emits is not in the scene" in text]
    stage.document.undo_stack.undo()
    stage.document.select(Selection(node=stage.node))

    def emits():
        picture(stage.editor)
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
            picture(stage.editor)
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
