import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from sinew.sim.kinds.collider.fit import FittedCollider, fit_colliders
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.change import ChangeKind
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import Session, sample, settled


@pytest.fixture
def giant(editor):
    editor.kind_panels["model"].unit._answered.clear()  # a model that is shown again keeps its answer
    editor.document.set_value(ParamRef(model_of(editor), "model", "unit_scale"), 100.0)
    editor.document.undo_stack.clear()
    editor.edits.select(model_of(editor))
    settled(editor)
    return editor


def model_of(editor):
    return editor.document.scene.characters[0].id


def answer(editor, text):
    room = editor.kind_panels["model"]
    button = next(button for button in room.unit.buttons if button.text() == text)
    assert button.isVisible()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    settled(editor)


def test_each_answer_is_one_edit_of_the_whole_scene(giant):
    editor = giant
    document, model = editor.document, model_of(editor)
    collider = editor.edits.add("sphere")
    before, camera = document.scene, document.view_state.camera
    radius = before.node(collider).settings.radius
    assert radius > 5.0, "a new node suits the selected one"
    notice = editor.kind_panels["model"].unit.notice
    for text, scale in (("Centimetres", 0.01), ("Inches", 0.0254), ("Fit to 1.8 m", None), ("Leave", 100.0)):
        document.undo_stack.clear()
        editor.edits.select(model)
        settled(editor)
        assert "Which unit" in notice.label.text()
        answer(editor, text)
        assert not notice.isVisible()
        now = document.scene.node(model).settings.unit_scale
        assert scale in (None, now)
        if scale is None:
            assert 0.5 < editor.client.engine.views.bounds(model).size.max() < 6.0
        factor = now / 100.0
        assert document.scene.node(collider).settings.radius == pytest.approx(factor * radius)
        assert document.view_state.camera.distance == pytest.approx(factor * camera.distance)
        assert document.undo_stack.count() == (text != "Leave")
        document.undo_stack.undo()
        assert document.scene == before
        assert document.view_state.camera.distance == pytest.approx(camera.distance)
        np.testing.assert_allclose(document.view_state.camera.target, camera.target, atol=1e-9)
        settled(editor)
        assert notice.isVisible() == (text != "Leave"), "undo asks again"


@pytest.mark.slow
def test_a_character_among_others_is_framed_once_its_unit_is_known(giant, qtbot, tmp_path):
    editor = giant
    asked = model_of(editor)
    editor.files.import_model(sample("tiny", tmp_path))
    qtbot.waitUntil(lambda: len(editor.document.scene.characters) == 2, timeout=60000)
    qtbot.waitUntil(lambda: not editor.store.loading and not editor.uploads.uploading, timeout=60000)
    settled(editor)
    editor.edits.select(asked)
    settled(editor)
    far = editor.document.view_state.camera.distance
    answer(editor, "Centimetres")
    camera, box = editor.document.view_state.camera, editor.client.engine.views.bounds(asked)
    assert camera.distance < 0.1 * far
    np.testing.assert_allclose(camera.target, 0.5 * (box.lo + box.hi), atol=1e-6)


def test_home_frames_surfaces_and_not_particles(giant):
    editor = giant
    document = editor.document
    document.set_value(ParamRef(model_of(editor), "model", "unit_scale"), 1.0)
    settled(editor)
    assert not editor.kind_panels["model"].unit.notice.isVisible(), "a plausible size"
    editor.features["view"].frame_all()
    alone = document.view_state.camera
    emitter = editor.edits.add("emitter.fireworks")
    settled(editor)
    assert editor.client.engine.views.bounds(emitter).size.max() > 2.0 * editor.client.engine.views.bounds().size.max()
    editor.features["view"].frame_all()
    assert document.view_state.camera == alone
    document.remove_node(model_of(editor))
    editor.features["view"].frame_all()
    assert document.view_state.camera.distance > alone.distance, "nothing else can be framed"


@pytest.mark.slow
def test_a_project_whose_camera_was_never_moved_is_framed(fresh, qtbot, tmp_path):
    session, cameras = Session(qtbot), (Camera(), Camera(yaw=10.0))
    session.load(fresh, sample("arm", tmp_path))
    for number, camera in enumerate(cameras):
        fresh.document.set_camera(camera)
        fresh.document.save(tmp_path / f"{number}.sinew", overwrite=False)
    shown = []
    for number in range(2):
        session.load(fresh, tmp_path / f"{number}.sinew")
        settled(fresh)
        shown.append(fresh.document.view_state.camera)
    assert shown[0].distance < cameras[0].distance
    assert shown[1] == cameras[1]


@pytest.mark.slow
def test_the_first_character_of_a_scene_is_seen_from_its_front(fresh, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr("sinew.app.files.project_files.front_at_first", lambda _: 180.0)
    Session(qtbot).load(fresh, sample("arm", tmp_path / "opened"))
    assert fresh.document.view_state.camera.yaw == 210.0
    fresh.files.new()
    fresh.document.set_camera(Camera())
    monkeypatch.setattr("sinew.app.files.project_files.front_at_first", lambda _: 90.0)
    fresh.edits.add("light")
    for name, turned in (("arm", 120.0), ("tiny", 10.0)):
        count = len(fresh.document.scene.characters)
        fresh.files.import_model(sample(name, tmp_path))
        qtbot.waitUntil(lambda count=count: len(fresh.document.scene.characters) > count, timeout=60000)
        assert fresh.document.view_state.camera.yaw == turned, "the user has turned the camera before the second"
        fresh.document.set_camera(Camera(yaw=10.0))


@pytest.mark.slow
def test_a_unit_that_changes_during_the_fit_counts(editor, qtbot, monkeypatch):
    model, asked = editor.document.scene.characters[0].id, []

    def later(work, done, _owner):
        asked.append((work, done))

    monkeypatch.setattr("sinew.app.kinds.collider.panel.run_in_background", later)
    editor.window.actions_table["add.fit"].trigger()
    assert editor.window._hint.text() == "Fitting colliders to arm…"
    editor.document.set_value(ParamRef(model, "model", "unit_scale"), 0.01)
    while asked:
        work, done = asked.pop()
        done(work())
    assert editor.window._hint.text() == ""
    made = [(node.transform, node.settings) for node in editor.document.scene.of_kind("collider")]
    assert made == [(one.transform, one.settings) for one in fit_colliders(editor.active.model, unit_scale=0.01)]


def test_sixty_fitted_colliders_are_one_group_and_one_edit(editor, monkeypatch):
    document, model = editor.document, editor.document.scene.characters[0].id
    bones = editor.active.model.skeleton.names
    fitted = [
        FittedCollider(bones[i % len(bones)], ColliderSettings(radius=0.05), Transform(position=(0.01 * i, 0.0, 0.0)))
        for i in range(60)
    ]
    before, notices, rebuilt = document.scene, [], []
    document.changed.connect(notices.append)
    editor.panels.outliner.model.modelReset.connect(lambda: rebuilt.append(1))
    editor.kind_panels["collider"].add_fitted(model, fitted)
    scene = document.scene
    group = next(node for node in scene.nodes if node.settings.is_group)
    assert scene.parents[group.id] == model
    assert len(scene.with_contents([group.id])) == 61
    assert all(node.attachment.bone in bones for node in scene.of_kind("collider"))
    assert editor.panels.outliner.model.entry_of((model,)).children[0].selection.node == group.id
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert document.scene == before
    document.undo_stack.redo()
    assert document.scene == scene
    assert [change.kind for change in notices] == [ChangeKind.NODES] * 3
    assert len(rebuilt) == 3, "rows are made once for all colliders"
    settled(editor)
    document.remove_nodes([group.id])
    assert document.scene == before


@pytest.mark.slow
def test_hair_without_colliders_offers_to_fit_some(editor, qtbot):
    document, character = editor.document, editor.document.scene.characters[0].id
    document.select(Selection(node=character))
    hair = editor.edits.add("hair")
    document.set_values({ParamRef(hair, "hair", "guides"): 20, ParamRef(hair, "hair", "children"): 50})
    settled(editor)
    head, before = editor.panels.inspector.head, document.undo_stack.count()
    editor.features["selected"].refresh()
    assert "has no colliders" in head.status.warning
    assert head.remedy_button.text() == "Fit Colliders"
    head.remedy_button.click()
    qtbot.waitUntil(lambda: bool(document.scene.of_kind("collider")), timeout=60000)
    assert document.undo_stack.count() == before + 1
    assert document.selection.node == hair
    assert all(one.attachment.node == character for one in document.scene.of_kind("collider"))
    editor.features["selected"].refresh()
    assert head.status.warning == ""
    document.undo_stack.undo()
    editor.features["selected"].refresh()
    assert "has no colliders" in head.status.warning
    document.set_value(ParamRef(hair, "hair", "collide"), False)
    assert head.status.warning == ""
