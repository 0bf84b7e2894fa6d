"""A glTF character as a new user meets it: dropped, scrubbed, compared, shaped, exported, and opened again."""

import numpy as np
from PySide6.QtCore import QPointF

from sinew import resources
from tests.gui.editor_harness import Mouse, picture, place_of
from tests.gui.test_editor_files import drop


def dropped(session, qtbot, path):
    """An editor into which a file was dropped, and the model of it."""
    editor = session.start()
    drop(editor, path)
    qtbot.waitUntil(lambda: bool(editor.document.scene.of_kind("model")), timeout=60000)
    qtbot.waitUntil(lambda: not editor.store.loading and not editor.uploads.uploading, timeout=60000)
    picture(editor)
    return editor, editor.document.scene.of_kind("model")[0].id


def scrub(editor, part):
    """Drags on the ruler to a part of its length."""
    ruler = editor.timeline.ruler
    height, width = ruler.height() / 2.0, ruler.width()
    Mouse(ruler).drag(QPointF(0.2 * width, height), QPointF(part * width, height))


def difference(one, other):
    """Part of the pixels that differ visibly."""
    return (np.abs(one.astype(int) - other).max(axis=-1) > 8).mean()


def click_bone(editor, node, name):
    character = editor.client.engine.views.characters.get(node)
    place = place_of(editor, character.joint_positions()[character.model.skeleton.index(name)])
    Mouse(editor.viewport).hover(place)
    Mouse(editor.viewport).click(place)


def choose(editor, *actions):
    for action in actions:
        editor.window.actions_table[action].trigger()


def test_a_character_is_scrubbed_compared_and_looked_into(session, qtbot, assets):
    editor, node = dropped(session, qtbot, assets / "gltf/CesiumMan/glTF-Binary/CesiumMan.glb")
    start = picture(editor)
    scrub(editor, 0.5)
    assert editor.playback.playhead.time > 0.1
    scrubbed = picture(editor)
    assert difference(start, scrubbed) > 0.005
    choose(editor, "compare.difference")
    assert difference(scrubbed, picture(editor)) > 0.005
    choose(editor, "compare.off", "overlay.bones", "display.weights")
    unweighted = picture(editor)
    click_bone(editor, node, "torso_joint_3")
    assert editor.document.selection.bone == "torso_joint_3"
    assert difference(unweighted, picture(editor)) > 0.002


def test_a_head_is_shaped_and_exported_and_looks_the_same_when_opened_again(session, qtbot, tmp_path):
    editor, node = dropped(session, qtbot, resources.path("models") / "head" / "head.glb")
    scrub(editor, 0.4)
    time, clip = editor.playback.playhead.time, picture(editor)
    field = editor.kind_panels["model"]._list.rows[0].editor.slider
    middle = field.height() / 2.0
    Mouse(field).drag(QPointF(8.0, middle), QPointF(0.9 * field.width(), middle))
    ((name, weight),) = editor.document.scene.node(node).settings.target_weights
    assert (name, weight > 0.5) == ("Smile", True)
    assert difference(clip, picture(editor)) > 0.001
    editor.document.undo_stack.undo()
    editor.dialogs.path = tmp_path / "head.glb"
    choose(editor, "file.export.gltf")
    qtbot.waitUntil(editor.dialogs.path.exists, timeout=60000)
    again, _ = dropped(session, qtbot, editor.dialogs.path)
    again.playback.scrub(time)
    assert difference(clip, picture(again)) < 1e-4
