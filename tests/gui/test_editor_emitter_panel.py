"""What the editor shows of the selected emitter, and what can be done with it there."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from PySide6.QtWidgets import QApplication

from sinew.app.files.project_file import load_project
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.emitter.block import constants_of
from sinew.sim.kinds.emitter.settings import EmissionMode, EmitterSource, ParticleLook
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view_state import Selection
from sinew.widgets.messages import Severity
from tests.gui.editor_harness import Session
from tests.gui.editor_harness import picture as drawn_picture

PRESETS = KINDS["emitter"].presets
NODE = ("muted", "solo")


def picture(editor):
    """Draws, and lets what follows a picture happen."""
    drawn_picture(editor)
    QApplication.processEvents()


class Stage:
    """An editor with an emitter, selected; ticks of playback come from the test."""

    def __init__(self, editor, selection=None):
        self.editor, self.document, self.clock = editor, editor.document, editor.playback._clock
        self.document.select(selection or Selection())
        self.node = self.editor.edits.add("emitter")
        self.document.undo_stack.clear()
        picture(self.editor)

    @property
    def settings(self):
        return self.document.scene.node(self.node).settings

    @property
    def system(self):
        return self.editor.client.engine.simulation.systems[self.node].emitter

    @property
    def head(self):
        return self.editor.panels.inspector.head

    @property
    def status(self):
        return self.head.status

    @property
    def population(self):
        return self.editor.kind_panels["emitter"].head._status

    @property
    def is_muted(self):
        return self.document.scene.node(self.node).muted

    def set(self, **values):
        parts = {name: "node" if name in NODE else "emitter" for name in values}
        self.document.set_values({ParamRef(self.node, parts[name], name): value for name, value in values.items()})
        picture(self.editor)

    def play(self, steps=10):
        if not self.editor.playback.playhead.playing:
            self.editor.playback.toggle()
        for _ in range(steps):
            self.clock.now += 1.0 / 60.0
            self.editor.playback.tick()
        picture(self.editor)

    def messages(self, severity=Severity.WARNING):
        rows = self.editor.panels.messages.messages
        return [message.text for message in rows if message.severity is severity]


@pytest.fixture
def stage(fresh):
    return Stage(fresh)


@pytest.fixture
def on_skin(fresh, qtbot, arm):
    """An emitter on the surface of the arm."""
    Session(qtbot).load(fresh, arm)
    stage = Stage(fresh, Selection(node="model-1"))
    assert stage.settings.source is EmitterSource.FACES
    return stage


def test_counts_arrive_and_settle(stage, qtbot):
    stage.set(rate=1200.0, lifetime=1.0, capacity=2000)
    stage.play(12)
    assert stage.population.capacity == 2000
    assert stage.population.born_per_second == 1200.0
    assert stage.status.warning == ""

    def counted():
        stage.play(1)
        QApplication.processEvents()
        return stage.population.alive > 0

    qtbot.waitUntil(counted, timeout=60000)


def test_a_status_that_is_the_same_is_not_shown_again(stage, monkeypatch):
    shown = []
    monkeypatch.setattr(stage.head, "show_status", shown.append)
    for _ in range(3):
        picture(stage.editor)
    assert len(shown) <= 1


def test_starving_is_told_and_mended_by_the_button_as_one_edit(stage):
    stage.set(rate=5000.0, capacity=100)
    assert "capacity 100" in stage.status.warning
    needed = stage.population.needed_capacity
    stage.document.undo_stack.clear()
    stage.head.remedy_button.click()
    picture(stage.editor)
    assert stage.settings.capacity == needed
    assert stage.status.warning == ""
    assert stage.document.undo_stack.count() == 1


def test_reseeding_is_one_edit_and_gives_other_particles(stage):
    stage.play(5)
    with stage.editor.viewport.gl_current():
        before = stage.system.read()["position"][:, :3].copy()
    seed = stage.settings.seed
    stage.editor.kind_panels["emitter"].seed_button.click()
    assert stage.settings.seed != seed
    assert stage.document.undo_stack.undoText() == "Reseed Emitter"
    stage.play(5)
    with stage.editor.viewport.gl_current():
        assert not np.array_equal(stage.system.read()["position"][:, :3], before)
    stage.document.undo_stack.undo()
    assert stage.settings.seed == seed


def test_mute_and_solo_by_key(stage):
    for count, (action, name) in enumerate((("node.mute", "muted"), ("node.solo", "solo"))):
        stage.editor.window.actions_table[action].trigger()
        assert getattr(stage.document.scene.node(stage.node), name)
        assert stage.document.undo_stack.count() == 2 * count + 1
        stage.editor.window.actions_table[action].trigger()
        assert not getattr(stage.document.scene.node(stage.node), name)


def test_without_an_emitter_the_commands_are_grey_and_say_so(stage):
    stage.document.select(Selection())
    muted = "Select a simulated object or a collider first."
    for action, lack in {"node.mute": muted, "node.solo": muted, "emitter.reseed": "Select an emitter first."}.items():
        assert not stage.editor.window.actions_table[action].isEnabled()
        assert stage.editor.window.actions_table[action].statusTip() == lack


def test_why_an_emitter_is_silent_is_said(stage):
    stage.set(muted=True)
    assert stage.status.note.startswith("Muted")
    stage.set(muted=False)
    assert stage.status.note == ""
    other = stage.editor.edits.add("emitter.sparks")
    stage.document.set_value(ParamRef(other, "node", "solo"), True)
    stage.document.select(Selection(node=stage.node))
    picture(stage.editor)
    assert stage.status.note == "Muted: another emitter is solo."


# --- presets ------------------------------------------------------------------------------------------


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


def test_own_presets_are_kept_used_and_deleted(session):
    """Also by the next editor."""
    stage = Stage(session.start())
    stage.set(rate=321.0, drag=0.77)
    stage.head.presets.saved.emit("mist")
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


def test_a_name_of_a_shipped_preset_is_refused(stage):
    stage.head.presets.saved.emit("Fire")
    assert any("is a preset of Sinew" in text for text in stage.messages(Severity.ERROR))


# --- what emitters are on -----------------------------------------------------------------------------


def test_without_its_model_a_surface_degrades_and_comes_back_by_undo(on_skin, qtbot):
    stage = on_skin
    assert stage.system is not None
    stage.document.remove_node("model-1")
    stage.document.select(Selection(node=stage.node))
    picture(stage.editor)
    assert stage.system is None
    assert stage.status.note.startswith("The model whose surface emits is no longer in the scene")
    assert [text for text in stage.messages() if "surface emits is not in the scene" in text]
    stage.document.undo_stack.undo()
    stage.document.select(Selection(node=stage.node))

    def emits():
        picture(stage.editor)
        return stage.system is not None and stage.status.note == ""

    qtbot.waitUntil(emits, timeout=60000)


def test_settings_that_nothing_can_be_made_of_are_said_and_the_emitter_goes_on(stage):
    stage.set(mode=EmissionMode.BURST)
    (text,) = stage.messages()
    refusal = "bursts: an emitter of bursts alone needs at least one, such as 0:100"
    assert text == f"Emitter: {refusal}; the former settings stay active"
    assert stage.status.note.startswith("bursts:")
    stage.set(bursts="0:50")
    assert stage.status.note == ""


def test_an_emitter_that_stopped_can_be_reset(stage, qtbot, monkeypatch):
    # No value that is allowed throws particles out of the world.
    made = constants_of(stage.settings)
    monkeypatch.setattr("sinew.sim.kinds.emitter.block.constants_of", lambda _: replace(made, gain=1e30))
    stage.set(rate=1000.0)

    def stopped():
        stage.play(1)
        return bool(stage.status.stopped)

    qtbot.waitUntil(stopped, timeout=60000)
    assert any(text.endswith("Reset or resume it in the inspector.") for text in stage.messages())
    stage.head.resume_button.click()
    assert stage.system.stopped == ""
    stage.head.reset_button.click()
    assert stage.editor.stepper.step_count == 0


# --- images -------------------------------------------------------------------------------------------


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "spark.png"
    Image.fromarray(np.full((2, 2, 3), (10, 200, 30), np.uint8)).save(path)
    return path


def test_an_image_is_read_while_it_is_wanted(stage, image, qtbot):
    textures = stage.editor.scene_files.textures
    stage.set(texture=str(image))
    assert textures == {}  # round spots need none
    stage.set(look=ParticleLook.TEXTURED)
    qtbot.waitUntil(lambda: image in textures, timeout=60000)
    stage.document.undo_stack.undo()
    assert textures == {}
    stage.document.undo_stack.redo()
    qtbot.waitUntil(lambda: image in textures, timeout=60000)


def test_a_missing_or_broken_image_is_one_message(stage, tmp_path, qtbot):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no image")
    stage.set(look=ParticleLook.TEXTURED)
    for count, path in enumerate((tmp_path / "missing.png", broken)):
        with qtbot.waitSignal(stage.editor.scene_files.failed, timeout=60000):
            stage.set(texture=str(path))
        for _ in range(2):
            picture(stage.editor)
        errors = stage.messages(Severity.ERROR)
        assert len(errors) == count + 1
        assert errors[-1].endswith("; the particles of Emitter are round spots instead")


def test_a_density_map_is_read_for_a_surface(on_skin, image, qtbot):
    stage = on_skin
    stage.set(density_texture=str(image))
    qtbot.waitUntil(lambda: image in stage.editor.scene_files.images, timeout=60000)
    stage.set(source=EmitterSource.POINT)
    assert stage.editor.scene_files.images == {}


# --- files --------------------------------------------------------------------------------------------


def test_everything_survives_saving_and_opening(on_skin, qtbot, image, tmp_path):
    stage = on_skin
    stage.set(texture=str(image), look=ParticleLook.TEXTURED, muted=True, seed=9, bursts="0:5 1:7", density_bone="a")
    assert stage.is_muted
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


def test_a_copy_is_independent_and_keeps_everything(stage):
    stage.set(rate=77.0)
    stage.editor.window.actions_table["edit.duplicate"].trigger()
    copy = stage.document.scene.of_kind("emitter")[1]
    assert copy.settings == stage.settings
    assert copy.name == "Emitter.001"
    stage.document.set_value(ParamRef(copy.id, "emitter", "rate"), 5.0)
    assert stage.settings.rate == 77.0
    stage.editor.window.actions_table["edit.delete"].trigger()
    picture(stage.editor)
    assert list(stage.editor.client.engine.simulation.systems) == [stage.node]
