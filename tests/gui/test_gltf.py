import numpy as np
import pytest
from PySide6.QtCore import QPointF

from sinew import resources
from sinew.app.project.project_file import load_project, save_project
from sinew.sim.assets.model import EmbeddedImage
from sinew.sim.characters.deformers.settings import Bulge, Twist
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view_state import Selection
from sinew.widgets.inspector.sections import ListEdits
from tests.gltf_samples import morphing, skinned
from tests.gui.editor_harness import Mouse, Session, picture, place_of, settled, trigger
from tests.gui.test_editor_files import drop
from tests.vrm_samples import vrm


def dropped(editor, qtbot, path):
    editor.files.new()
    drop(editor, path)
    qtbot.waitUntil(lambda: bool(editor.document.scene.of_kind("model")), timeout=60000)
    qtbot.waitUntil(lambda: not editor.store.loading and not editor.uploads.uploading, timeout=60000)
    settled(editor)
    return editor.document.scene.of_kind("model")[0].id


def scrub(editor, part):
    ruler = editor.timeline.ruler
    height, width = ruler.height() / 2.0, ruler.width()
    Mouse(ruler).drag(QPointF(0.2 * width, height), QPointF(part * width, height))


def difference(one, other):
    return (np.abs(one.astype(int) - other).max(axis=-1) > 8).mean()


def click_bone(editor, node, name):
    character = editor.client.engine.views.characters.get(node)
    place = place_of(editor, character.joint_positions()[character.model.skeleton.index(name)])
    Mouse(editor.viewport).hover(place)
    Mouse(editor.viewport).click(place)


@pytest.mark.slow
def test_a_character_is_scrubbed_compared_and_inspected(fresh, qtbot, assets):
    editor = fresh
    node = dropped(editor, qtbot, assets / "gltf/CesiumMan/glTF-Binary/CesiumMan.glb")
    start = picture(editor)
    scrub(editor, 0.5)
    assert editor.playback.playhead.time > 0.1
    scrubbed = picture(editor)
    assert difference(start, scrubbed) > 0.005
    trigger(editor, "compare.difference")
    assert difference(scrubbed, picture(editor)) > 0.005
    trigger(editor, "compare.off", "overlay.bones", "display.weights")
    unweighted = picture(editor)
    click_bone(editor, node, "torso_joint_3")
    assert editor.document.selection.bone == "torso_joint_3"
    assert difference(unweighted, picture(editor)) > 0.002


@pytest.mark.slow
def test_a_shaped_head_is_exported_and_looks_the_same_when_opened(fresh, qtbot, tmp_path):
    editor = fresh
    node = dropped(editor, qtbot, resources.path("models") / "head" / "head.glb")
    scrub(editor, 0.4)
    time, clip = editor.playback.playhead.time, picture(editor)
    field = editor.kind_panels["model"].targets.list.rows[0].editor.slider
    middle = field.height() / 2.0
    Mouse(field).drag(QPointF(8.0, middle), QPointF(0.9 * field.width(), middle))
    ((name, weight),) = editor.document.scene.node(node).settings.target_weights
    assert (name, weight > 0.5) == ("Smile", True)
    assert difference(clip, picture(editor)) > 0.001
    editor.document.undo_stack.undo()
    editor.dialogs.path = tmp_path / "head.glb"
    trigger(editor, "file.export.gltf")
    qtbot.waitUntil(editor.dialogs.path.exists, timeout=60000)
    dropped(editor, qtbot, editor.dialogs.path)
    editor.playback.scrub(time)
    assert difference(clip, picture(editor)) < 1e-4


def test_a_clip_of_curves_plays_on_the_timeline(fresh, qtbot, tmp_path):
    editor = fresh
    Session(qtbot).load(editor, skinned().write(tmp_path))
    scene = editor.timeline.ruler.clip
    assert (scene.frame_count, scene.duration) == (31, 1.0)
    assert scene.frame_step == editor.active.frame_step == 1.0 / 30.0
    assert scene.key_times == (0.0, 0.5, 1.0)
    start = picture(editor)
    editor.features["playing"].binding.step(1)
    assert editor.playback.playhead.time == 1.0 / 30.0
    editor.features["playing"].binding.step_key(1)
    assert editor.playback.playhead.time == 0.5
    assert np.abs(picture(editor).astype(int) - start).max() > 30
    editor.features["playing"].binding.step_key(1)
    assert editor.playback.playhead.time == 1.0


def test_targets_and_embedded_images_are_drawn(fresh, qtbot, tmp_path):
    editor = fresh
    Session(qtbot).load(editor, morphing().write(tmp_path))
    (material,) = editor.store.status("model-1").model.materials
    assert isinstance(material.embedded, EmbeddedImage)
    start = picture(editor)
    editor.features["playing"].binding.jump("last")
    assert np.abs(picture(editor).astype(int) - start).max() > 30
    # Reddish and greenish pixels are those of the image; nothing else in the scene is so colourful.
    channels = start[..., :3].astype(int)
    assert (channels[..., 0] - channels[..., 2] > 100).any()


@pytest.fixture
def editor(fresh, qtbot, tmp_path):
    Session(qtbot).load(fresh, morphing().write(tmp_path))
    fresh.document.select(Selection(node="model-1"))
    return fresh


def weights(editor):
    return editor.client.engine.views.characters["model-1"].pose.local.weights


def titles(editor):
    tree = editor.panels.inspector.tree
    return [tree.topLevelItem(index).text(0) for index in range(tree.topLevelItemCount())]


def settings(editor):
    return editor.document.scene.node("model-1").settings


def test_a_slider_sets_a_weight_as_one_edit(editor, qtbot, tmp_path):
    targets = editor.kind_panels["model"].targets.list
    name = targets.rows[0].name
    before, start = weights(editor).copy(), picture(editor)
    slider = targets.rows[0].editor
    slider.edit_started.emit()
    for value in (0.2, 0.5, 0.8):
        slider.edited.emit(value)
    slider.edit_finished.emit()
    assert settings(editor).target_weights == ((name, 0.8),)
    assert editor.document.undo_stack.undo_text == f"Set {name} of {editor.document.scene.node('model-1').name}"
    assert np.abs(picture(editor).astype(int) - start).max() > 30
    np.testing.assert_allclose(weights(editor), before + 0.8 * np.eye(len(before))[0])
    path = tmp_path / "shaped.sinew"
    save_project(path, editor.document.scene, editor.document.view_state)
    assert load_project(path).scene == editor.document.scene
    editor.document.undo_stack.undo()
    assert settings(editor).target_weights == ()
    settled(editor)
    np.testing.assert_array_equal(weights(editor), before)


def test_targets_are_searched_soloed_and_reset(editor, qtbot):
    targets = editor.kind_panels["model"].targets.list
    names = [row.name for row in targets.rows]
    targets.search.setText(names[-1].upper())
    assert [row.name for row in targets.rows if row.isVisibleTo(targets)] == [names[-1]]
    targets.search.setText("nothing like this")
    assert targets.none.isVisibleTo(targets)
    targets.search.clear()
    targets.rows[-1].editor.edited.emit(0.5)
    targets.rows[0].solo.click()
    settled(editor)
    assert settings(editor).solo_target == names[0]
    assert (weights(editor)[1:] == 0.0).all()
    targets.reset_all.click()
    assert (settings(editor).solo_target, settings(editor).target_weights) == ("", ())
    entry = editor.panels.outliner.model.entry_of(("model-1", "targets"))
    assert [child.name for child in entry.children] == names


def test_deformers_are_added_edited_moved_muted_and_removed(editor, qtbot, tmp_path):
    document, inspector = editor.document, editor.panels.inspector
    list_ref = ParamRef("model-1", "model", "deformers")
    start = picture(editor)
    document.set_value(list_ref, (Twist(), Bulge()))
    qtbot.waitUntil(lambda: "2 · Bulge" in titles(editor), timeout=60000)
    assert np.abs(picture(editor).astype(int) - start).max() > 30
    angle = ParamRef("model-1", "deformers.0", "angle")
    row = next(item for item in inspector.tree.settings() if item.ref == angle)
    row.binding.set_value(30.0)
    assert settings(editor).deformers[0] == Twist(angle=30.0)
    assert document.undo_stack.undo_text.startswith("Set angle of ")
    edits = ListEdits(document, list_ref, row.record)
    edits.move(0, 1)
    edits.mute(0, True)
    assert settings(editor).deformers == (Bulge(muted=True), Twist(angle=30.0))
    qtbot.waitUntil(lambda: "1 · Bulge" in titles(editor), timeout=60000)
    path = tmp_path / "shaped.sinew"
    save_project(path, document.scene, document.view_state)
    assert load_project(path).scene == document.scene
    edits.remove(1)
    edits.add(Twist)
    assert document.undo_stack.undo_text == "Add twist"
    for _ in range(6):
        document.undo_stack.undo()
    assert settings(editor).deformers == ()
    qtbot.waitUntil(lambda: "1 · Bulge" not in titles(editor), timeout=60000)
    np.testing.assert_array_equal(picture(editor), start)


@pytest.mark.slow
def test_expressions_have_sliders_that_are_undone_and_saved(fresh, qtbot, tmp_path):
    (tmp_path / "girl").mkdir()
    path = tmp_path / "girl" / "girl.vrm"
    path.write_bytes(vrm().data())
    Session(qtbot).load(fresh, path)
    fresh.document.select(Selection(node="model-1"))
    sliders = fresh.kind_panels["model"].expressions.list
    assert [row.name for row in sliders.rows] == ["happy", "aa", "blink", "wink"]
    assert not sliders.rows[0].solo.isVisibleTo(sliders)
    slider = sliders.rows[3].editor
    slider.edit_started.emit()
    for value in (0.2, 0.5):
        slider.edited.emit(value)
    slider.edit_finished.emit()
    assert settings(fresh).expressions == (("wink", 0.5),)
    settled(fresh)
    np.testing.assert_allclose(weights(fresh), [0.5, 0.4, 0.0])
    project = tmp_path / "girl.sinew"
    save_project(project, fresh.document.scene, fresh.document.view_state)
    assert load_project(project).scene == fresh.document.scene
    sliders.reset_all.click()
    assert settings(fresh).expressions == ()
    fresh.document.undo_stack.undo()
    fresh.document.undo_stack.undo()
    assert settings(fresh).expressions == ()
    settled(fresh)
    np.testing.assert_array_equal(weights(fresh), 0.0)
