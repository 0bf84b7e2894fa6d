import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import ParamRef
from tests.gui.editor_harness import Session, picture, sample


@pytest.fixture
def editor(editor):
    editor.document.set_value(ParamRef(model_of(editor), "model", "unit_scale"), 100.0)
    editor.document.undo_stack.clear()
    editor.edits.select(model_of(editor))
    picture(editor)
    return editor


def model_of(editor):
    return editor.document.scene.characters[0].id


def answer(editor, text):
    room = editor.kind_panels["model"]
    button = next(button for button in room.unit.buttons if button.text() == text)
    assert button.isVisible()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    picture(editor)


def test_each_answer_is_one_edit_of_the_whole_scene(editor):
    document, model = editor.document, model_of(editor)
    collider = editor.edits.add("sphere")
    before, camera = document.scene, document.view_state.camera
    radius = before.node(collider).settings.radius
    assert radius > 5.0, "a new node suits the selected one"
    notice = editor.kind_panels["model"].unit.notice
    for text, scale in (("Centimetres", 0.01), ("Inches", 0.0254), ("Fit to 1.8 m", None), ("Leave", 100.0)):
        document.undo_stack.clear()
        editor.edits.select(model)
        picture(editor)
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
        picture(editor)
        assert notice.isVisible() == (text != "Leave"), "undo asks again"


def test_a_character_among_others_is_framed_once_its_unit_is_known(editor, qtbot, tmp_path):
    asked = model_of(editor)
    editor.files.import_model(sample("tiny", tmp_path))
    qtbot.waitUntil(lambda: len(editor.document.scene.characters) == 2, timeout=60000)
    qtbot.waitUntil(lambda: not editor.store.loading and not editor.uploads.uploading, timeout=60000)
    picture(editor)
    editor.edits.select(asked)
    picture(editor)
    far = editor.document.view_state.camera.distance
    answer(editor, "Centimetres")
    camera, box = editor.document.view_state.camera, editor.client.engine.views.bounds(asked)
    assert camera.distance < 0.1 * far
    np.testing.assert_allclose(camera.target, 0.5 * (box.lo + box.hi), atol=1e-6)


def test_home_frames_surfaces_and_not_particles(editor):
    document = editor.document
    document.set_value(ParamRef(model_of(editor), "model", "unit_scale"), 1.0)
    picture(editor)
    assert not editor.kind_panels["model"].unit.notice.isVisible(), "a plausible size"
    editor.frame_all()
    alone = document.view_state.camera
    emitter = editor.edits.add("emitter.fireworks")
    picture(editor)
    assert editor.client.engine.views.bounds(emitter).size.max() > 2.0 * editor.client.engine.views.bounds().size.max()
    editor.frame_all()
    assert document.view_state.camera == alone
    document.remove_node(model_of(editor))
    editor.frame_all()
    assert document.view_state.camera.distance > alone.distance, "nothing else can be framed"


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
