import time

import msgspec
import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import add_cloth, picture, positions

LAST = 16


@pytest.fixture
def stage(editor, qtbot):
    cloth = add_cloth(editor)
    editor.document.select(Selection())
    picture(editor)
    editor.playback.scrub(LAST / 60)
    with qtbot.waitSignal(editor.seek.ended, timeout=60000):
        editor.seek.start()
    picture(editor)
    return editor, cloth


def choose(editor, *options, **values):
    state = editor.document.view_state
    output = {"export": {"options": options, "first": 0, "last": LAST, **values}}
    editor.document.set_view_state(msgspec.structs.replace(state, output=output))


def preview(editor):
    editor.window.actions_table["simulate.bones"].trigger()
    ends = time.monotonic() + 60.0
    while editor.client.bones.is_busy:
        QApplication.processEvents()
        assert time.monotonic() < ends
    return picture(editor)


def test_a_preview_of_bones_shows_their_error_until_the_simulation_changes(stage, monkeypatch):
    editor, cloth = stage
    action, bones, reported = editor.window.actions_table["simulate.bones"], editor.client.bones, []
    monkeypatch.setattr(bones, "_reported", reported.append)
    choose(editor)
    assert editor.output.bones() is None
    choose(editor, "bones=4", "bone_quality=draft", rate=30.0, last=LAST // 2)
    choice = editor.output.bones()
    assert (choice.options.bones, choice.first, choice.last, choice.rate) == (4, 0, LAST // 2, 30.0)
    plain, true = picture(editor), positions(editor, cloth).astype(np.float64)
    shown = preview(editor)
    assert np.abs(np.asarray(shown).astype(int) - np.asarray(plain)).max() > 30, "colours"
    assert action.isChecked()
    assert reported[-1].startswith("Cloth: 4 bones, ")
    (curve,) = bones.curves()
    assert curve.times == pytest.approx(np.arange(LAST // 2 + 1) / 30)
    fitted, result = bones._fitted.nodes[cloth]
    apart = np.linalg.norm(fitted[-1] - true, axis=1)
    assert result.distances[-1] == pytest.approx(apart, abs=1e-6)
    assert curve.most[-1] == pytest.approx(apart.max(), abs=1e-6)
    assert curve.most[0] < 2.0 * max(curve.most[1:])
    assert (bones.key.title, bones.key.unit) == ("Error of the bones", "mm")
    editor.features["playing"].distance.refresh()
    assert editor.overlays.legend.isVisibleTo(editor.viewport)
    assert editor.features["playing"].distance.plot.distances_now()[0][1] == pytest.approx(apart.max(), abs=1e-6)
    editor.playback.scrub(6 / 60)
    picture(editor)
    assert bones._frame == 3
    editor.document.set_value(ParamRef(cloth, "cloth", "wind"), (0.0, 0.0, 2.0))
    picture(editor)
    assert reported[-1] == "The simulation changed, so the preview of the bones ended"
    assert not bones.is_on
    assert bones.curves() == ()


@pytest.mark.slow
def test_a_preview_of_bones_can_be_cancelled_and_refuses_in_one_line(stage, monkeypatch):
    editor, _ = stage
    bones, reported = editor.client.bones, []
    monkeypatch.setattr(bones, "_reported", reported.append)
    choose(editor, "bones=12", "bone_quality=exact")
    editor.window.actions_table["simulate.bones"].trigger()
    ends = time.monotonic() + 60.0
    while not bones._worker._jobs and time.monotonic() < ends:
        QApplication.processEvents()
    editor.cancel()
    assert not bones.is_on
    choose(editor, "bones=3", "bone_parent=tail")
    preview(editor)
    assert reported[-1].startswith("bone_parent=tail: no such bone is exported as a skin; there are: ")
    choose(editor, "bones=3", first=400, last=420)
    preview(editor)
    assert reported[-1] == "Simulate the frames of the export first"
    assert not bones.is_on
