import numpy as np
import pytest

from sinew.sim.gl import buffer as buffers
from sinew.sim.gl.errors import GLLimitError
from sinew.widgets.protocols import ModelState, ModelStatus
from tests.gui.editor_harness import picture


@pytest.fixture
def slow(editor, monkeypatch):
    monkeypatch.setattr("sinew.app.tasks.TURN", 0.0)
    monkeypatch.setattr(buffers, "UPLOAD_STEP", 512)
    return editor


def upload_again(editor):
    with editor.viewport.gl_current():
        editor.client.engine.remove_model("model-1")
    editor.uploads.follow()


def test_a_model_takes_several_turns_is_ready_then_and_looks_the_same(slow):
    editor = slow
    before, turns = picture(editor), 0
    upload_again(editor)
    editor.store._set("model-1", ModelStatus(ModelState.UPLOADING, editor.store.loaded("model-1").model, "arm.ezm"))
    while editor.uploads.uploading:
        assert editor.client.engine.model_of("model-1") is None
        assert editor.store.uploading == ("model-1",)
        assert editor.window._loading.text() == "Loading arm.ezm"
        editor.tasks._turn()
        turns += 1
    assert turns > 5
    assert editor.store.status("model-1").state is ModelState.READY
    assert editor.window._loading.text() == ""
    assert editor.client.engine.model_of("model-1") is editor.store.loaded("model-1").model
    assert np.array_equal(picture(editor), before)


def test_the_upload_of_a_removed_node_ends(slow):
    editor = slow
    upload_again(editor)
    editor.tasks._turn()
    assert editor.uploads.uploading
    editor.document.remove_node("model-1")
    for _ in range(3):
        editor.tasks._turn()
    assert not editor.uploads.uploading
    assert editor.client.engine.model_of("model-1") is None
    editor.document.undo_stack.undo()
    while editor.uploads.uploading:
        editor.tasks._turn()
    assert editor.client.engine.model_of("model-1") is not None


def test_a_new_context_drops_an_upload_and_starts_anew(slow):
    editor = slow
    upload_again(editor)
    editor.tasks._turn()
    editor.tasks._turn()
    with editor.viewport.gl_current():
        editor.client.gl_init()
    while editor.uploads.uploading:
        assert editor.client.engine.model_of("model-1") is None
        editor.tasks._turn()
    assert editor.client.engine.model_of("model-1") is editor.store.loaded("model-1").model


def test_a_refused_model_is_reported_once(slow, monkeypatch):
    editor, reported = slow, []

    def refused(*_, **__):
        raise GLLimitError("texture 'a': too large")
        yield

    editor.uploads.failed.connect(lambda path, text: reported.append((path, text)))
    monkeypatch.setattr(editor.client.engine, "model_upload", refused)
    upload_again(editor)
    for _ in range(3):
        editor.uploads.follow()
        editor.tasks._turn()
    assert reported == [(editor.store._paths["model-1"], "texture 'a': too large")]
    assert not editor.uploads.uploading
    status = editor.store.status("model-1")
    assert (status.state, status.text) == (ModelState.FAILED, "texture 'a': too large")
