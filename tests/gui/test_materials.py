import shutil

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sinew import resources
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.gl.task import finish
from sinew.sim.gl.texture import Texture2D
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.view_state import Selection
from sinew.widgets.inspector.form import FactRow, SettingRow
from sinew.widgets.messages import ACTION
from tests.gui.editor_harness import Session, picture, settled


def without_clothes(folder):
    """Copies the humanoid into a folder, and one of its textures beside it."""
    shutil.copytree(resources.path("models") / "humanoid", folder / "humanoid")
    (folder / "found").mkdir()
    shutil.move(folder / "humanoid" / "humanoid_clothes.png", folder / "found")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return without_clothes(tmp_path_factory.mktemp("materials"))


@pytest.fixture(scope="module")
def kept_arm(folder):
    """The humanoid instead of the arm."""
    return folder / "humanoid" / "humanoid.ezm", {}


def row(editor, name) -> SettingRow:
    found = editor.panels.inspector.tree.settings()
    return next(item for item in found if item.ref.part.startswith("material:") and item.ref.name == name)


def character(editor):
    return editor.document.scene.characters[0]


def select(editor, material):
    editor.document.select(Selection(node=character(editor).id, material=material))


def click_row(editor, name):
    QApplication.processEvents()
    tree = editor.panels.inspector.tree
    item = next(item for item in tree.all_items() if isinstance(item, FactRow) and item.text(0) == name)
    tree.scrollToItem(item)
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=tree.visualItemRect(item).center())


def red_share(editor) -> float:
    shown = picture(editor)[..., :3].astype(int)
    return float(np.mean((shown[..., 0] > 90) & (shown[..., 0] > 2 * shown[..., 1:].max(axis=-1))))


def files(editor):
    return {look.material: look.texture for look in character(editor).settings.materials}


def test_rows_of_a_model_open_the_pages_of_its_materials(editor, qtbot):
    editor.edits.select(character(editor).id)
    qtbot.waitUntil(
        lambda: any(item.text(0) == "skin" for item in editor.panels.inspector.tree.all_items()), timeout=60000
    )
    texts = {item.text(0): item.text(1) for item in editor.panels.inspector.tree.all_items()}
    assert texts["skin"] == "humanoid_skin.png  1024 × 1024"
    assert texts["shirt"] == "humanoid_clothes.png  missing"
    click_row(editor, "shirt")
    assert editor.document.selection == Selection(node=character(editor).id, material="shirt")
    assert editor.document.selection.nodes == (), "commands for nodes do not apply to the character"
    assert editor.panels.inspector.header.title.text() == "shirt"
    assert editor.panels.outliner.view.selected_entry().name == "shirt"
    click_row(editor, "Model")
    assert editor.document.selection == Selection(node=character(editor).id)


def test_a_colour_is_shown_undone_and_reset(editor):
    select(editor, "skin")
    item = row(editor, "diffuse")
    assert item.editor.button.colour.name() == "#ffffff", "the default of the file"
    before = red_share(editor)
    item.editor.edited.emit((1.0, 0.0, 0.0))
    assert red_share(editor) > before + 0.002
    assert item.reset_button.isVisible()
    editor.document.undo_stack.undo()
    assert red_share(editor) == pytest.approx(before, abs=1e-4)
    editor.document.undo_stack.redo()
    item.reset_button.click()
    assert character(editor).settings.materials == ()
    assert red_share(editor) == pytest.approx(before, abs=1e-4)


def test_a_texture_is_replaced_removed_and_restored(editor, qtbot, folder):
    red = folder / "found" / "red.png"
    Image.new("RGB", (8, 4), (255, 0, 0)).save(red)
    select(editor, "skin")
    item = row(editor, "texture")
    assert (item.editor.facts.name, item.editor.facts.note) == ("humanoid_skin.png", "1024 × 1024")
    item.editor.open_dialog()
    assert item.editor.dialog.directory().absolutePath() == str(folder / "humanoid")
    item.editor.dialog.fileSelected.emit(str(red))
    item.editor.release()
    qtbot.waitUntil(lambda: item.editor.facts.note == "8 × 4", timeout=60000)
    red = red_share(editor)
    item.editor.remove_button.click()
    assert item.editor.facts.placeholder == "Removed"
    assert files(editor) == {"skin": ""}
    assert red_share(editor) < red - 0.002
    assert editor.scene_files.assets.textures == {}, "an unused texture is released"
    editor.document.undo_stack.undo()
    editor.document.undo_stack.undo()
    assert item.editor.facts.name == "humanoid_skin.png"
    assert not item.reset_button.isVisible()


@pytest.mark.slow
def test_a_large_texture_is_uploaded_in_steps(editor, qtbot, folder, monkeypatch):
    chosen = folder / "found" / "red.png"
    Image.new("RGB", (64, 64), (255, 0, 0)).save(chosen)
    before, ref = red_share(editor), ParamRef(character(editor).id, "material:shirt", "texture")
    step, sizes = 2048, []
    monkeypatch.setattr("sinew.app.tasks.TURN", 0.0)
    monkeypatch.setattr("sinew.sim.render.texture_upload.STEP_BYTES", step)
    write_rows = Texture2D.write_rows
    monkeypatch.setattr(
        Texture2D, "write_rows", lambda self, rows, **at: (sizes.append(rows.nbytes), write_rows(self, rows, **at))
    )
    monkeypatch.setattr(editor.tasks, "_schedule", lambda: None)  # turns are taken here
    editor.document.set_value(ref, str(chosen))
    qtbot.waitUntil(lambda: chosen in editor.scene_files.assets.textures, timeout=60000)
    assert editor.uploads.uploading
    turns = 0
    while editor.uploads.uploading:
        assert red_share(editor) == pytest.approx(before, abs=1e-3), "drawing uploads nothing"
        already = len(sizes)
        editor.tasks._turn()
        assert sum(sizes[already:]) <= step
        turns += 1
    assert turns > 64 * 64 * 4 // step
    monkeypatch.undo()
    editor.tasks._schedule()
    after = picture(editor)
    assert red_share(editor) > before + 0.002
    engine = editor.client.engine
    with editor.viewport.gl_current():  # all of it in one go, as without a window
        engine.set_assets(SceneAssets())
        engine.apply(editor.document.scene)
        assert not any(engine.textures.has(chosen, image) for image in editor.scene_files.assets.textures.values())
        for path, image in editor.scene_files.assets.textures.items():
            finish(engine.textures.upload(path, image))
        engine.set_assets(editor.scene_files.assets)
        engine.apply(editor.document.scene)
    assert np.array_equal(picture(editor), after)
    editor.document.undo_stack.undo()
    settled(editor)
    assert not any("red.png" in label for label in engine.context.live), "an unused texture is deleted"


def test_missing_textures_are_reported_and_located(fresh, qtbot, tmp_path):
    editor, folder = fresh, without_clothes(tmp_path)
    Session(qtbot).load(editor, folder / "humanoid" / "humanoid.ezm")
    messages = editor.panels.messages
    (number,) = [i for i, one in enumerate(messages.messages) if one.action is not None]
    text = messages.messages[number].text
    assert all(part in text for part in ("humanoid", "materials shirt, trousers, shoes", "humanoid_clothes.png"))
    assert messages.messages[number].file.endswith("humanoid.ezm")
    editor.window.docks.reveal("messages")
    select(editor, "shoes")
    assert row(editor, "texture").editor.facts.file == "humanoid_clothes.png"
    entry = editor.panels.outliner.view.selected_entry()
    assert (entry.mark, entry.note) == ("warning", "no image")
    editor.dialogs.path = folder / "found" / "humanoid_clothes.png"
    index = messages.view.indexFromItem(messages.items[number], ACTION)
    assert index.data() == "Locate"
    QApplication.processEvents()
    messages.view.scrollTo(index)
    QTest.mouseClick(messages.view.viewport(), Qt.MouseButton.LeftButton, pos=messages.view.visualRect(index).center())
    assert editor.dialogs.asked[-1] == "image"
    assert files(editor) == dict.fromkeys(("shirt", "trousers", "shoes"), str(editor.dialogs.path))
    assert editor.document.undo_stack.count() == 1
    qtbot.waitUntil(lambda: "×" in row(editor, "texture").editor.facts.note, timeout=60000)
    assert editor.panels.outliner.view.selected_entry().mark == ""
    editor.document.undo_stack.undo()
    assert files(editor) == {}
    assert editor.panels.outliner.view.selected_entry().mark == "warning"
    item = row(editor, "texture")
    assert item.editor.locate_button.isVisible()
    item.editor.locate_button.click()
    assert len(files(editor)) == 3, "so does the page of a material"
    editor.dialogs.path = None
