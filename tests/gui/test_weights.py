import functools
import os
import shutil

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from sinew.app.cli.main import main
from sinew.app.kinds.model.weight_tool import WeightPaint, places_of
from sinew.resources import path as resource
from sinew.sim.assets.load import load_model
from sinew.sim.characters.reference import enclosed_volume
from sinew.sim.characters.weights import WHOLE
from sinew.sim.maths.points import nearest_vertices
from sinew.sim.scene.view import SkinningComparison
from sinew.sim.scene.view_state import Selection
from sinew.sim.skin.weights.make import WeightOptions
from tests.gui.editor_harness import NodeStage, Session, messages, picture, place_of, set_values, settled, trigger

LOWER, UPPER = 1, 2
"""Joints of the arm beside the elbow."""


class Rigger(NodeStage):
    """The arm sample with its elbow bent by 150°, from the folder of a user."""

    def __init__(self, session, editor, folder):
        shutil.copytree(resource("models") / "arm", folder / "models" / "arm")
        (folder / "projects").mkdir()
        shutil.copy(resource("projects") / "arm.sinew", folder / "projects")
        self.session, self.project = session, folder / "projects" / "arm.sinew"
        session.load(editor, self.project)
        set_values(editor, "arm", clip="bend")
        editor.playback.scrub(1.5)
        super().__init__(editor, "arm")
        self.tool = editor.kind_panels["model"].weights
        self.select("upper")

    @property
    def character(self):
        return self.editor.client.engine.views.characters[self.node]

    @property
    def table(self):
        return self.tool.table(self.document.scene.node(self.node), self.character.model)

    def select(self, bone):
        self.document.select(Selection(node=self.node, bone=bone))
        settled(self.editor)

    def begin(self):
        """Starts the brush that adds, and waits until the weights are there."""
        trigger(self.editor, "skin.paint")
        self.session._qtbot.waitUntil(lambda: self.tool.brush is WeightPaint.ADD, timeout=60000)
        settled(self.editor)

    def pixels(self):
        """Pixels of the places of the table, shape (P, 2)."""
        with self.editor.viewport.gl_current():
            places = places_of(self.character, self.table)
        return np.array([place_of(self.editor, place).toTuple() for place in places])

    def wait(self):
        self.session.await_models(self.editor)

    def loss(self):
        """Part of the volume that linear blending loses."""
        with self.editor.viewport.gl_current():
            posed = self.character.primary.read()["position"][:, :3]
        mesh = self.character.model.mesh
        return 1.0 - enclosed_volume(posed, mesh.triangles) / enclosed_volume(mesh.positions, mesh.triangles)

    def paint_band(self, brush, value, middle, half):
        """Drags the brush across the straight arm around a place along it, from every side."""
        self.tool.take(brush)
        self.tool.bar.value.set_value(value)
        for side in ("view.front", "view.top", "view.back", "view.bottom"):
            trigger(self.editor, side)
            settled(self.editor)
            places, pixels = self.table.places[:, 0], self.pixels()
            scale = np.abs(np.polyfit(places, pixels[:, 0], 1)[0])
            self.tool.set_radius(float(scale * half))
            band = pixels[np.abs(places - middle) < 0.02]
            column = band[:, 0].mean()
            self.mouse.drag(QPointF(column, band[:, 1].min() - 20.0), QPointF(column, band[:, 1].max() + 20.0), steps=8)
            self.wait()


@pytest.fixture
def rigger(fresh, qtbot, tmp_path):
    rigger = Rigger(Session(qtbot), fresh, tmp_path)
    yield rigger
    for button in (rigger.tool.bar.before, rigger.tool.bar.all_bones):
        button.setChecked(False)


@pytest.fixture
def own_rigger(session, tmp_path):
    return Rigger(session, session.start(drawn=True), tmp_path)


@pytest.mark.slow
def test_an_elbow_is_painted_until_its_loss_halves_then_undone_saved_exported_and_opened(own_rigger, qtbot, tmp_path):
    rigger = own_rigger
    editor, document = rigger.editor, rigger.document
    rigger.begin()
    assert document.scene.view.comparison is SkinningComparison.SPLIT
    before = rigger.loss()
    assert before == pytest.approx(0.0402, abs=1e-3)
    file_weights = rigger.table.copy()
    set_values(editor, rigger.node, bind_pose=True)
    settled(editor)
    elbow = float(rigger.table.skeleton.model_from_bind[UPPER][0, 3])
    rigger.paint_band(WeightPaint.SET, 1.0, elbow + 0.12, 0.13)
    rigger.paint_band(WeightPaint.SET, 0.0, elbow - 0.12, 0.13)
    assert document.undo_stack.undo_text == "Set weight of upper"
    legend, sides = editor.overlays.legend, editor.overlays.sides
    assert legend.isVisible()
    assert not any(side.geometry().intersects(legend.geometry()) for side in sides), "in a narrow viewport too"
    set_values(editor, rigger.node, bind_pose=False)
    rigger.wait()
    assert rigger.loss() < 0.5 * before
    painted = rigger.settings.weights
    found = rigger.table
    away = np.abs(found.places[:, 0] - elbow) > 0.3
    np.testing.assert_allclose(found.of_joint(LOWER)[away], file_weights.of_joint(LOWER)[away], atol=1.0 / WHOLE)
    shot(editor, "weights-painted")
    # Undone to the weights of the file, and redone.
    document.undo_stack.go(0)
    rigger.wait()
    assert rigger.settings.weights == ()
    assert rigger.loss() == pytest.approx(before, abs=1e-6)
    document.undo_stack.go(document.undo_stack.count())
    rigger.wait()
    assert rigger.settings.weights == painted
    less = rigger.loss()
    # Saved, opened again and exported: the same weights.
    assert editor.files.save()
    with qtbot.waitSignal(editor.files.opened, timeout=60000):
        editor.files.open(rigger.project)
    rigger.wait()
    assert rigger.settings.weights == painted
    editor.playback.scrub(1.5)
    settled(editor)
    assert rigger.loss() == pytest.approx(less, abs=1e-6)
    editor.dialogs.path = tmp_path / "d.ezm"
    trigger(editor, "file.export.ezmesh")
    qtbot.waitUntil(lambda: (tmp_path / "d.ezm").exists(), timeout=60000)
    own, mesh = rigger.character.model.skin.weights_of(UPPER), rigger.character.model.mesh
    for name, word in (
        ("a.ezm", "weights"),
        ("a.glb", "weights"),
        ("b.glb", "export"),
        ("c.usdc", "export"),
        ("d.ezm", ""),
    ):
        assert not word or main([word, str(rigger.project), "--output", str(tmp_path / name)]) == 0
        model = load_model(tmp_path / name)
        near = nearest_vertices(model.mesh.positions.astype(float), mesh.positions.astype(float))
        np.testing.assert_allclose(model.skin.weights_of(model.skeleton.index("upper")), own[near], atol=1.0 / WHOLE)


def test_measures_and_picture_follow_a_stroke_and_are_compared_with_before(rigger, qtbot):
    editor = rigger.editor
    rigger.begin()
    rigger.tool.bar.before.setChecked(True)
    settled(editor)
    assert rigger.editor.kind_panels["model"].sides() == ("Now", "Before")

    def statistics():
        settled(editor)
        return editor.client.engine.compare(rigger.node, len(seen) + 1.0)

    seen = []

    def apart():
        seen.append(0)
        found = statistics()
        return np.nan if found is None else abs(found.lbs_volume / found.dqs_volume - 1.0)

    qtbot.waitUntil(lambda: apart() < 1e-6, timeout=60000)
    plain, pixels = picture(editor), rigger.pixels()
    own = rigger.table.of_joint(UPPER)
    start = QPointF(*pixels[np.flatnonzero((own > 0.3) & (own < 0.7))].mean(axis=0))
    rigger.tool.set_radius(80.0)
    rigger.mouse.press(start)
    rigger.mouse.move(start + QPointF(8.0, 0.0))
    assert rigger.settings.weights == (), "before the button is released"
    assert (picture(editor) != plain).any()
    qtbot.waitUntil(lambda: apart() > 1e-4, timeout=60000)
    rigger.mouse.release(start + QPointF(8.0, 0.0))
    rigger.wait()
    assert rigger.document.undo_stack.undo_text == "Add weight of upper"
    assert rigger.character.former is not None, "still compared after the new weights were applied"
    QTest.keyClick(editor.viewport, Qt.Key.Key_Escape)
    assert rigger.tool.brush is None
    assert rigger.character.former is None


def test_the_bone_under_the_mouse_is_picked_and_all_have_colours(rigger):
    editor = rigger.editor
    set_values(editor, rigger.node, bind_pose=True)
    rigger.document.undo_stack.clear()
    rigger.begin()
    one = picture(editor)
    panel = editor.kind_panels["model"]
    assert panel.legend().title == "Weight of upper"
    rigger.tool.bar.all_bones.setChecked(True)
    assert (picture(editor) != one).any(axis=2).sum() > 1000
    pixels, table = rigger.pixels(), rigger.table
    for joint, bone in ((LOWER, "lower"), (3, "hand")):
        place = QPointF(*pixels[table.of_joint(joint) > 0.99].mean(axis=0))
        rigger.mouse.hover(place)
        trigger(editor, "skin.pick")
        assert rigger.document.selection == Selection(node=rigger.node, bone=bone)
    assert rigger.document.undo_stack.count() == 0


def test_locked_bones_keep_their_weights_and_without_a_bone_nothing_is_painted(rigger):
    rigger.begin()
    own = rigger.table.of_joint(UPPER)
    start = QPointF(*rigger.pixels()[np.flatnonzero((own > 0.3) & (own < 0.7))].mean(axis=0))
    rigger.tool.set_radius(60.0)
    rigger.tool.bar.lock.click()
    rigger.mouse.drag(start, start + QPointF(4.0, 0.0))
    assert rigger.settings.weights == ()
    rigger.select("lower")
    assert not rigger.tool.bar.lock.isChecked()
    rigger.mouse.drag(start, start + QPointF(4.0, 0.0))
    rigger.wait()
    np.testing.assert_allclose(rigger.table.of_joint(UPPER), own, atol=2.0 / WHOLE)  # the elbow has no third bone
    rigger.document.select(Selection(node=rigger.node))
    before = rigger.settings.weights
    rigger.mouse.drag(start, start + QPointF(4.0, 0.0))
    assert rigger.settings.weights == before


def made(session, editor, qtbot, node, act, *more, text):
    """Makes weights of a model by a button of the inspector."""
    maker = editor.kind_panels["model"].maker
    act(editor.document.scene.node(node), editor.store.file_model(node), *more)
    qtbot.waitUntil(lambda: not maker.is_busy, timeout=60000)
    session.await_models(editor)
    assert editor.document.undo_stack.undo_text == text


def test_weights_of_an_arm_are_made_in_the_inspector(editor, qtbot):
    pytest.importorskip("scipy")
    maker, node = editor.kind_panels["model"].maker, editor.document.scene.characters[0].id
    session, own = Session(qtbot), editor.client.engine.views.characters[node].model
    making = functools.partial(made, session, editor, qtbot, node)
    making(maker.automatic, text="Automatic weights of arm")
    assert editor.client.engine.views.characters[node].model.skin.influence_max == 4
    maker.options = WeightOptions(influences=2)
    making(maker.prune, text="Prune weights of arm to 2")
    assert editor.client.engine.views.characters[node].model.skin.influence_max == 2
    editor.document.undo_stack.go(0)
    session.await_models(editor)
    assert editor.client.engine.views.characters[node].model is own


@pytest.mark.slow
def test_weights_of_the_whole_model_are_made_in_the_inspector(session, tmp_path, qtbot):
    pytest.importorskip("scipy")
    shutil.copytree(resource("models") / "humanoid", tmp_path / "humanoid")
    editor = session.open(tmp_path / "humanoid" / "humanoid.ezm")
    node = editor.document.scene.characters[0].id
    maker = editor.kind_panels["model"].maker

    def settings():
        return editor.document.scene.node(node).settings

    def model():
        return editor.client.engine.views.characters[node].model

    making, own = functools.partial(made, session, editor, qtbot, node), model()
    making(maker.automatic, text="Automatic weights of humanoid")
    assert model().skin.influence_max == 4
    assert len(settings().weights[0].bones) == 59
    name = next(part.name for part in model().mesh.sections if part.name == "shirt")
    maker.options = WeightOptions(search=0.1, angle=90.0)
    making(maker.transfer_section, name, text="Weights of shirt of humanoid from its other sections")
    making(maker.smooth, text="Smooth weights of humanoid")
    making(maker.prune, text="Prune weights of humanoid to 4")
    left_to_right = functools.partial(maker.mirror, from_right=False)
    making(left_to_right, text="Mirror weights of humanoid, left to right")
    maker.options = WeightOptions(search=0.001)
    maker.transfer_section(editor.document.scene.node(node), editor.store.file_model(node), name)
    qtbot.waitUntil(lambda: not maker.is_busy, timeout=60000)
    assert any("of the vertices are near the other surface, 30% are needed" in text for text in messages(editor))
    assert editor.document.undo_stack.count() == 5
    editor.document.undo_stack.go(0)
    session.await_models(editor)
    assert model() is own


def test_a_changed_mesh_loses_its_weights_with_a_message_and_takes_them_over(rigger, qtbot, tmp_path):
    editor, node = rigger.editor, rigger.node
    maker = editor.kind_panels["model"].maker
    maker.smooth(rigger.document.scene.node(node), rigger.character.model)
    qtbot.waitUntil(lambda: not maker.is_busy, timeout=60000)
    rigger.wait()
    assert editor.files.save()
    file = tmp_path / "models" / "arm" / "arm.ezm"
    lines = file.read_text().splitlines(keepends=True)
    first = lines.index('<indexbuffer triangle_count="5800">\n')
    lines[first : first + 2] = ['<indexbuffer triangle_count="5799">\n']
    file.write_text("".join(lines))
    editor.store.reload(node)
    qtbot.waitUntil(lambda: editor.store.weight_fault(node) != "", timeout=60000)
    rigger.wait()
    stored = rigger.settings.weights
    fault = "the changed weights are not used: they are of a mesh of 3,108 vertices with other triangles"
    assert any(fault in text for text in messages(editor))
    assert editor.store.weight_fault(node).startswith(fault)
    plain = load_model(file).skin
    np.testing.assert_array_equal(rigger.character.model.skin.weights, plain.weights)
    maker.take_over(rigger.document.scene.node(node), rigger.character.model)
    qtbot.waitUntil(lambda: not maker.is_busy, timeout=60000)
    rigger.wait()
    assert rigger.document.undo_stack.undo_text == "Take over weights of Arm"
    assert rigger.settings.weights != stored
    assert editor.store.weight_fault(node) == ""
    assert (rigger.character.model.skin.weights_of(UPPER) != plain.weights_of(UPPER)).any()


def shot(editor, name):
    """Saves a picture of the window in the folder that SINEW_SHOTS names, to be looked at."""
    if folder := os.environ.get("SINEW_SHOTS"):
        picture(editor)
        editor.window.grab().save(f"{folder}/{name}.png")
