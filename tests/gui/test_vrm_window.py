"""A character is saved as VRM from the window."""

import io
import json

import numpy as np
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog

from sinew.app.kinds.springs.chain_window import ChainWindow
from sinew.app.output.avatar_window import AvatarWindow
from sinew.sim.assets.gltf.file import split_file
from sinew.sim.assets.load import load_model
from sinew.sim.scene.scene import ParamRef
from tests.gui.editor_harness import settled, trigger
from tests.gui.test_gltf import dropped
from tests.unit.test_chain_weights import dressed, tube
from tests.vrm_samples import person, vrm


def window_of(editor, qtbot) -> AvatarWindow:
    trigger(editor, "file.save_vrm")
    (window,) = [
        one for one in editor.window.findChildren(QDialog) if isinstance(one, AvatarWindow) and one.isVisible()
    ]
    qtbot.waitUntil(lambda: bool(window.about.text()), timeout=60000)
    return window


def saved(editor, window, qtbot, path):
    editor.dialogs.path = path
    qtbot.mouseClick(window.save_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(path.exists, timeout=60000)
    return load_model(path)


def thumbnail(path):
    text, binary = split_file(path.read_bytes())
    document = json.loads(text)
    image = document["images"][document["extensions"]["VRMC_vrm"]["meta"]["thumbnailImage"]]
    view = document["bufferViews"][image["bufferView"]]
    data = bytes(binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]])
    return np.asarray(Image.open(io.BytesIO(data)))


def test_tuned_springs_of_a_vrm_are_saved_and_opened_again(fresh, qtbot, tmp_path):
    editor, source = fresh, tmp_path / "Ada.vrm"
    source.write_bytes(vrm().data())
    dropped(editor, qtbot, source)
    (springs,) = editor.document.scene.of_kind("springs")
    editor.document.set_value(ParamRef(springs.id, "springs", "stiffness_factor"), 0.25)
    window = window_of(editor, qtbot)
    assert not window.form.isVisible()
    assert [window.lost.item(row).text() for row in range(window.lost.count())] == [
        "Viewers simulate at their own frame rate."
    ]
    made = saved(editor, window, qtbot, tmp_path / "tuned.vrm")
    assert editor.dialogs.suggestion == tmp_path / "Ada-springs.vrm", "not the file that the scene reads"
    assert [one.stiffness for one in made.rig.springs[0].joints] == [0.5, 0.25]
    dropped(editor, qtbot, tmp_path / "tuned.vrm")
    (springs,) = editor.document.scene.of_kind("springs")
    assert springs.settings.from_file
    assert springs.settings.stiffness_factor == 1.0


def test_a_factor_of_no_gravity_says_that_it_changes_nothing(fresh, qtbot, tmp_path):
    editor, source = fresh, tmp_path / "Ada.vrm"
    sample = vrm()
    for joint in sample.document["extensions"]["VRMC_springBone"]["springs"][0]["joints"]:
        joint["gravityPower"] = 0.0
    source.write_bytes(sample.data())
    dropped(editor, qtbot, source)
    (springs,) = editor.document.scene.of_kind("springs")
    panel = editor.kind_panels["springs"]
    for factor, is_told in ((1.0, False), (2.0, True)):
        editor.document.set_value(ParamRef(springs.id, "springs", "gravity_factor"), factor)
        settled(editor)
        system = editor.client.engine.simulation.systems[springs.id]
        node = editor.document.scene.node(springs.id)
        assert ("gravity of the file is 0" in panel.note(node, system)) is is_told


def test_permissions_are_asked_and_can_be_undone(fresh, qtbot, tmp_path):
    editor, source = fresh, tmp_path / "Ada.glb"
    source.write_bytes(person().data())
    node = dropped(editor, qtbot, source)
    window = window_of(editor, qtbot)
    assert window.form.isVisible()
    assert "authors" in window.fault.text()
    assert not window.save_button.isEnabled()
    for name, value in (("authors", "Somebody"), ("accept_licence", True)):
        window.form._editors[name].edited.emit(value)
    assert window.fault.text() == ""
    (stored,) = editor.document.scene.node(node).settings.avatar
    assert (stored.name, stored.authors, stored.accept_licence) == ("Ada", "Somebody", True)
    editor.document.undo_stack.undo()
    assert not window.save_button.isEnabled()
    editor.document.undo_stack.redo()
    editor.frames.drawn = True
    made = saved(editor, window, qtbot, tmp_path / "Ada.vrm")
    assert thumbnail(tmp_path / "Ada.vrm").std() > 1.0
    assert made.skeleton is not None
    assert np.isfinite(made.skeleton.model_from_bind).all()
    assert len(made.rig.humanoid) == 19


def test_chains_of_a_skirt_are_one_edit(fresh, qtbot, tmp_path):
    editor, source = fresh, tmp_path / "Ada.vrm"
    source.write_bytes(dressed(tube(24, 9)).data())
    node = dropped(editor, qtbot, source)
    before = editor.document.scene
    trigger(editor, "add.chains")
    (window,) = [one for one in editor.window.findChildren(QDialog) if isinstance(one, ChainWindow) and one.isVisible()]
    assert (window.sections.currentText(), window.bones.currentText()) == ("skirt", "hips")
    window.form.show_values(chains=6, joints=3)
    editor.dialogs.path = tmp_path / "Ada-chains.vrm"
    qtbot.mouseClick(window.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: editor.document.scene is not before, timeout=60000)
    qtbot.waitUntil(lambda: not editor.store.loading and not editor.uploads.uploading, timeout=60000)
    settled(editor)
    scene = editor.document.scene
    assert scene.node(node).settings.path == str(tmp_path / "Ada-chains.vrm")
    springs = scene.of_kind("springs")[-1]
    system = editor.client.engine.simulation.systems[springs.id]
    assert system.missing_text == ""
    assert len(system.chains.joints) == 18
    assert editor.document.undo_stack.texts[-1] == "Generate chains for skirt"
    editor.document.undo_stack.undo()
    assert editor.document.scene == before
