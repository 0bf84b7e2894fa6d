"""Motions in the editor: dropped on a character they play; they are saved, undone and exported; the humanoid map."""

import threading

import numpy as np
import pytest
from msgspec import structs
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from shiboken6 import isValid

from sinew import resources
from sinew.app.files import scene_files
from sinew.app.kinds.model.humanoid_map import HumanoidMap
from sinew.app.kinds.model.motion_list import MotionList
from sinew.app.project.bone_maps import BoneMaps
from sinew.app.project.project_file import load_project, save_project
from sinew.sim.assets.humanoid import Source, bone_sources, find_bones
from sinew.sim.assets.load import load_model
from sinew.sim.characters.playing import pose_of
from sinew.sim.scene.scene import PLAYBACK, ParamRef
from sinew.sim.scene.strips import GROUP, Strip, StripMode
from sinew.sim.scene.view_state import ViewState
from sinew.widgets.inspector.keys import KeyState
from sinew.widgets.messages import Severity
from sinew.widgets.parts import ElidedLabel
from tests.conftest import slow
from tests.fbx_samples import write_mixamo
from tests.gui.editor_harness import Mouse, Session, add_cloth, messages, place_of, set_values, settled, trigger
from tests.gui.test_baking import result_of
from tests.gui.test_editor_files import files_data
from tests.motion_samples import write_bvh

HUMANOID = resources.path("models") / "humanoid" / "humanoid.ezm"


@pytest.fixture(scope="module")
def swing(tmp_path_factory):
    return write_bvh(load_model(HUMANOID), tmp_path_factory.mktemp("motions") / "swing.bvh")


@pytest.fixture(scope="module")
def kept_arm():
    """The humanoid instead of the arm."""
    return HUMANOID, {}


@pytest.fixture
def man(editor):
    """The shared editor with the humanoid open."""
    return editor


def settings_of(editor):
    return editor.document.scene.characters[0].settings


def wait_for_clip(editor, qtbot, name):
    qtbot.waitUntil(lambda: editor.active.clip is not None and editor.active.clip.name == name, timeout=60000)
    settled(editor)


def drop_at(editor, place, path, widget=None):
    widget, button = widget or editor.viewport, Qt.MouseButton.LeftButton
    data, action, key = files_data(path), Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    entering = QDragEnterEvent(place.toPoint(), action, data, button, key)
    QApplication.sendEvent(widget, entering)
    assert entering.isAccepted()
    QApplication.sendEvent(widget, QDropEvent(place, action, data, button, key))


def on_the_chest(editor):
    character = editor.client.engine.views.characters[editor.document.scene.characters[0].id]
    return place_of(editor, character.joint_positions()[character.model.skeleton.index("chest")])


def test_a_motion_dropped_on_a_character_plays_and_is_one_edit(man, qtbot, swing, tmp_path):
    before, own = man.document.scene, man.active.clip.name
    place, file = on_the_chest(man), str(swing)
    saving = man.features["saving"]
    assert saving.drop_text([file], saving._character_at([file], place)) == "Drop to play swing.bvh on humanoid"
    drop_at(man, place, swing)
    qtbot.waitUntil(lambda: bool(settings_of(man).motions), timeout=60000)
    assert man.active.clip.name == "swing", "at once, without another clip in between"
    assert man.playback.playhead.playing
    man.playback.pause()
    character = man.client.engine.views.characters[man.document.scene.characters[0].id]
    man.playback.scrub(0.2)
    settled(man)
    elbow = character.model.skeleton.index("forearm_l")
    swung = character.joint_positions()[elbow].copy()
    assert len(man.document.scene.characters) == 1
    assert man.document.undo_stack.undo_text == "Add motion swing.bvh to humanoid"
    man.document.undo_stack.undo()
    assert man.document.scene == before
    settled(man)
    assert man.active.clip.name == own
    man.playback.scrub(0.9)
    man.document.undo_stack.redo()
    wait_for_clip(man, qtbot, "swing")
    assert man.playback.playhead.time == pytest.approx(11.0 / 30.0), "the end of the motion"
    man.document.undo_stack.undo()
    assert man.playback.playhead.time == 0.9, "where the user has left it"
    man.playback.scrub(0.2)
    man.document.undo_stack.redo()
    wait_for_clip(man, qtbot, "swing")
    assert man.playback.playhead.time == 0.2
    assert (character.joint_positions()[elbow] == swung).all()
    project = tmp_path / "deep" / "a.sinew"
    project.parent.mkdir()
    man.files.save_to(project)
    assert str(swing) not in project.read_text()
    man.document.set_time(0.2)
    man.files.save_to(project)
    Session(qtbot).load(man, project)
    man.access.allow()
    wait_for_clip(man, qtbot, "swing")
    qtbot.waitUntil(lambda: not man.store.loading and not man.uploads.uploading, timeout=60000)
    settled(man)
    assert man.playback.playhead.time == pytest.approx(0.2)
    character = man.client.engine.views.characters[man.document.scene.characters[0].id]
    assert (character.joint_positions()[elbow] == swung).all()
    assert messages(man) == []


def test_a_reopened_model_is_not_shown_without_the_motion_that_was_added_to_it(man, qtbot, swing, monkeypatch):
    man.motions.add(man.document.scene.characters[0].id, swing)
    wait_for_clip(man, qtbot, "swing")
    project, may_read = swing.parent / "a.sinew", threading.Event()
    man.files.save_to(project)
    man.files.new()
    load = scene_files._load
    monkeypatch.setattr(scene_files, "_load", lambda *given: may_read.wait(60.0) and load(*given))
    with qtbot.waitSignal(man.files.opened, timeout=60000):
        man.files.open(project)
    try:
        settled(man)
        assert man.active.clip.name == "swing", "from the earlier reading, and not without its clips"
    finally:
        may_read.set()
    wait_for_clip(man, qtbot, "swing")


def test_a_strip_of_the_motion_is_added_to_others(man, qtbot, swing):
    node = man.document.scene.characters[0]
    set_values(man, node.id, strips=(Strip(clip="walk"),))
    man.document.set_time(0.5)
    man.motions.add(node.id, swing)
    qtbot.waitUntil(lambda: bool(settings_of(man).motions), timeout=60000)
    assert settings_of(man).strips == (Strip(clip="walk"), Strip(clip="swing", start=0.5, repeats=1.0))
    man.motions.add(node.id, swing)
    qtbot.waitUntil(lambda: len(settings_of(man).strips) == 3, timeout=60000)
    assert len(settings_of(man).motions) == 1, "a file is there once"


def test_a_motion_dropped_beside_every_character_is_opened(man, qtbot, swing):
    drop_at(man, QPointF(3.0, 3.0), swing)
    qtbot.waitUntil(lambda: len(man.document.scene.characters) == 2, timeout=60000)
    assert man.document.scene.characters[1].name == "swing"
    assert not settings_of(man).motions


def test_a_file_without_a_body_says_so_in_one_line(man, qtbot, swing, tmp_path):
    before = man.document.scene
    damaged = tmp_path / "damaged.bvh"
    damaged.write_text(swing.read_text().replace("OFFSET", "OFSET"))
    for path, words in ((resources.path("models") / "arm" / "arm.ezm", "is no human body"), (damaged, "OFSET")):
        man.panels.messages.clear()
        man.motions.add(man.document.scene.characters[0].id, path)
        qtbot.waitUntil(lambda: bool(messages(man, Severity.ERROR)), timeout=60000)
        (text,) = messages(man, Severity.ERROR)
        assert words in text
        assert "\n" not in text
    assert man.document.scene == before


@pytest.mark.slow
def test_a_project_opens_without_missing_and_damaged_motions(man, qtbot, swing, tmp_path):
    man.motions.add(man.document.scene.characters[0].id, swing)
    qtbot.waitUntil(lambda: bool(settings_of(man).motions), timeout=60000)
    project = tmp_path / "a.sinew"
    man.files.save_to(project)
    for name, text in (("missing", None), ("damaged", "HIERARCHY nothing")):
        copied = tmp_path / f"{name}.sinew"
        motion = tmp_path / f"{name}.bvh"
        copied.write_text(project.read_text().replace(settings_path(project, swing), motion.name))
        if text is not None:
            motion.write_text(text)
        man.panels.messages.clear()
        Session(qtbot).load(man, copied)
        man.access.allow()
        qtbot.waitUntil(lambda: bool(messages(man)), timeout=60000)
        qtbot.waitUntil(lambda: not man.store.loading and not man.uploads.uploading, timeout=60000)
        (line,) = messages(man)
        assert "humanoid plays without it" in line
        assert man.active.clip.name == "walk"


def settings_path(project, swing):
    """The path of the motion as the project stores it."""
    return next(part for part in project.read_text().split('"') if part.endswith(swing.name))


def test_menus_and_the_outliner_add_motions(man, qtbot, swing):
    node = man.document.scene.characters[0]
    man.dialogs.path = swing
    trigger(man, "file.motion")
    wait_for_clip(man, qtbot, "swing")
    man.document.undo_stack.undo()
    menu = QMenu()
    man.kind_panels["model"].fill_menu(menu, node, None)
    menu.actions()[0].trigger()
    wait_for_clip(man, qtbot, "swing")
    man.document.undo_stack.undo()
    view = man.panels.outliner.view
    row = next(entry for entry in view._model.entries() if entry.selection.node == node.id)
    drop_at(man, QPointF(view.visualRect(view._model.index_of(row)).center()), swing, view.viewport())
    wait_for_clip(man, qtbot, "swing")


def test_motions_are_listed_exported_and_removed(man, qtbot, swing, tmp_path):
    node = man.document.scene.characters[0]
    man.motions.add(node.id, swing)
    wait_for_clip(man, qtbot, "swing")
    man.dialogs.path = tmp_path / "out.glb"
    trigger(man, "file.export.gltf")
    qtbot.waitUntil(lambda: any("exported" in text for text in messages(man)), timeout=60000)
    assert [clip.name for clip in load_model(tmp_path / "out.glb").clips] == [
        *(clip.name for clip in load_model(HUMANOID).clips), "swing",
    ]  # fmt: skip
    man.edits.select(node.id)
    settled(man)
    listed = man.panels.inspector.findChild(MotionList)
    assert listed is not None
    listed.remove(0)
    wait_for_clip(man, qtbot, "walk")
    assert settings_of(man).motions == ()
    man.document.undo_stack.undo()
    wait_for_clip(man, qtbot, "swing")


@pytest.mark.slow
def test_a_mixamo_character_walks_to_motion_capture(fresh, qtbot, assets, tmp_path):
    pytest.importorskip("ufbx")
    walk = assets / "bvh" / "cmu_12_01_walk.bvh"
    if not walk.is_file():
        pytest.skip("no motion")
    Session(qtbot).load(fresh, write_mixamo(tmp_path / "mixamo.fbx"))
    fresh.dialogs.path = walk
    trigger(fresh, "file.motion")
    wait_for_clip(fresh, qtbot, walk.stem)
    character = next(iter(fresh.client.engine.views.characters.values()))
    places = {}
    for time in (0.5, 1.0, 2.0):
        fresh.playback.scrub(time)
        settled(fresh)
        joints = zip(character.model.skeleton.names, character.joint_positions(), strict=True)
        places[time] = {name.removeprefix("mixamorig:"): place for name, place in joints}
        assert 1.4 < places[time]["Head"][1] < 1.7
        assert min(places[time]["LeftToeBase"][1], places[time]["RightToeBase"][1]) < 0.06
        assert places[time]["LeftHand"][1] < 1.1, "the arms hang"
    assert places[2.0]["Hips"][2] - places[0.5]["Hips"][2] > 1.0, "it goes forward"
    assert messages(fresh) == []


# --- the humanoid map -----------------------------------------------------------------------------------------------


@pytest.fixture
def panel(man, qtbot):
    panel = HumanoidMap(man.context, man.document.scene.characters[0].id)
    panel.resize(360, 640)
    panel.show()
    qtbot.waitExposed(panel)
    yield panel
    if isValid(panel):
        panel.close()


def test_the_map_shows_and_edits_bones(man, panel):
    figure = panel.drawing
    assert "the body is complete" in panel.state.text()
    Mouse(figure).click(figure.place_of("leftHand"))
    assert panel.bone.currentData() == "leftHand"
    assert panel.joint.currentText() == "Automatic (hand_l)"
    panel.joint.setCurrentIndex(panel.joint.findData("forearm_l"))
    panel.joint.activated.emit(panel.joint.currentIndex())
    assert settings_of(man).humanoid == (("leftHand", "forearm_l"),)
    assert "Missing: left lower arm" in panel.state.text(), "a joint is one bone"
    man.document.undo_stack.undo()
    assert settings_of(man).humanoid == ()
    assert panel.joint.currentText() == "Automatic (hand_l)"
    panel.choose("jaw")
    panel.assign("head")
    panel.choose("leftToes")
    panel.assign("")
    assert settings_of(man).humanoid == (("jaw", "head"), ("leftToes", ""))
    panel.assign(None)
    assert settings_of(man).humanoid == (("jaw", "head"),)
    QTest.mouseClick(panel.reset, Qt.MouseButton.LeftButton)
    assert settings_of(man).humanoid == ()
    assert not panel.reset.isEnabled()
    assert all(figure.bone_at(figure.place_of(bone)) == bone for bone in ("head", "hips", "rightIndexDistal"))


def test_a_bone_is_picked_in_the_viewport(man, panel):
    node = man.document.scene.characters[0]
    man.edits.select(node.id)
    panel.choose("spine")
    count = man.document.undo_stack.count()
    panel.pick.click()
    settled(man)
    assert man.document.scene.view.bones
    character = man.client.engine.views.characters[node.id]
    place = place_of(man, character.joint_positions()[character.model.skeleton.index("spine_2")])
    Mouse(man.viewport).hover(place)
    Mouse(man.viewport).click(place)
    assert settings_of(man).humanoid == (("spine", man.document.selection.bone),)
    assert not panel.pick.isChecked()
    assert not man.document.scene.view.bones
    assert man.document.undo_stack.count() == count + 1


def test_the_bones_of_a_motion_are_edited(man, panel, qtbot, swing):
    man.motions.add(man.document.scene.characters[0].id, swing)
    wait_for_clip(man, qtbot, "swing")
    assert [panel.body.itemText(n) for n in range(panel.body.count())] == ["humanoid", "swing.bvh"]
    panel.body.setCurrentIndex(1)
    panel.body.activated.emit(1)
    panel.choose("jaw")
    panel.assign("head")
    assert settings_of(man).motions[0].humanoid == (("jaw", "head"),)
    assert settings_of(man).humanoid == ()
    man.document.undo_stack.undo()
    assert settings_of(man).motions[0].humanoid == ()
    man.document.remove_node(man.document.scene.characters[0].id)
    QApplication.processEvents()
    assert not isValid(panel), "closed with its character"
    man.document.undo_stack.undo()


def renamed(path, folder, names):
    """A motion whose joints have other names: those of a mapping, else numbers."""
    lines, count = [], 0
    for line in path.read_text().splitlines():
        word, _, name = line.partition(" ")
        if word in ("ROOT", "JOINT"):
            line = f"{word} {names.get(name, f'x{count}')}"
            count += 1
        lines.append(line)
    folder.mkdir(exist_ok=True)
    (folder / path.name).write_text("\n".join(lines))
    return folder / path.name


def open_map(editor, qtbot):
    qtbot.waitUntil(lambda: bool(editor.window.findChildren(HumanoidMap)), timeout=60000)
    (panel,) = editor.window.findChildren(HumanoidMap)
    qtbot.waitExposed(panel)
    return panel


def test_guesses_by_shape_play_and_are_shown_as_guesses(man, qtbot, swing, tmp_path):
    man.motions.add(man.document.scene.characters[0].id, renamed(swing, tmp_path / "a", {}))
    wait_for_clip(man, qtbot, "swing")
    panel = open_map(man, qtbot)
    assert panel.state.text() == "0 of 14 bones found by name, 14 by shape. Check them."
    assert panel.bone.currentData() == "hips"
    assert panel.rest.hasFocus() or not panel.isActiveWindow()
    bone, joint = next(iter(bone_sources(panel.model).items()))
    assert (bone, joint[1]) == ("hips", Source.SHAPE)
    assert messages(man) == []
    panel.close()


@pytest.mark.parametrize("by_keys", [False, slow(True)])
def test_missing_bones_are_set_in_the_rest_pose(man, qtbot, swing, tmp_path, monkeypatch, by_keys):
    """By clicks on joints, or by keys: Up, Down and the beginning of a name."""
    monkeypatch.setattr("sinew.sim.assets.humanoid.bones_by_shape", lambda *_: {})
    man.motions.maps = BoneMaps(tmp_path)
    node = man.document.scene.characters[0].id
    skeleton = load_model(HUMANOID).skeleton
    right = {bone: skeleton.names[joint] for bone, joint in find_bones(skeleton).items()}
    hidden = [right[bone] for bone in ("head", "leftHand", "rightHand")]
    names = {name: name for name in skeleton.names if name not in hidden}
    names |= {name: f"q{number}" for number, name in enumerate(hidden)}
    motion = renamed(swing, tmp_path / "a", names)
    before = man.document.scene
    man.motions.add(node, motion)
    panel = open_map(man, qtbot)
    assert (man.active.clip.name, len(settings_of(man).motions)) == ("walk", 1)
    assert panel.state.text() == "Missing: head, left hand, right hand. The motion plays when all are set."
    assert panel.bone.currentData() == "head"
    man.edits.select(node)
    settled(man)
    tip = man.panels.inspector.findChild(MotionList).findChild(ElidedLabel).toolTip()
    assert tip == "Missing: head, left hand, right hand. Set them in the Humanoid Map."
    places = dict(zip(panel.model.skeleton.names, panel.rest.places(), strict=True))
    for number in range(3):
        assert panel.bone.currentData() == ("head", "leftHand", "rightHand")[number]
        if by_keys:
            QTest.qWait(QApplication.keyboardInputInterval() + 50)  # typed later, it begins another name
            QTest.keyClicks(panel.rest, "q")
            popup = panel.joint.view()
            QTest.keyClicks(popup, str(number))
            QTest.keyClick(popup, Qt.Key.Key_Return)
        else:
            Mouse(panel.rest).click(QPointF(*places[f"q{number}"]))
    wait_for_clip(man, qtbot, "swing")
    assert "the body is complete" in panel.state.text()
    assert messages(man) == []
    assert dict(settings_of(man).motions[0].humanoid) == {"head": "q0", "leftHand": "q1", "rightHand": "q2"}
    man.document.undo_stack.undo()
    assert panel.state.text() == "Missing: right hand. The motion plays when all are set."
    while man.document.undo_stack.can_undo and settings_of(man).motions:
        man.document.undo_stack.undo()
    assert man.document.scene == before
    panel.close()
    QApplication.processEvents()
    man.motions.add(node, renamed(motion, tmp_path / "again", {name: name for name in names.values()}))
    wait_for_clip(man, qtbot, "swing")
    assert dict(settings_of(man).motions[0].humanoid) == {"head": "q0", "leftHand": "q1", "rightHand": "q2"}
    assert not man.window.findChildren(HumanoidMap), "remembered"
    panel = HumanoidMap(man.context, node, settings_of(man).motions[0].path)
    panel.reset.click()
    assert man.motions.maps.find(panel.model.skeleton.names) == ()
    panel.close()


def test_up_and_down_choose_a_bone(man, panel):
    panel.choose("hips")
    QTest.keyClick(panel.drawing, Qt.Key.Key_Down)
    assert panel.bone.currentData() == "spine"
    QTest.keyClick(panel.drawing, Qt.Key.Key_Up)
    QTest.keyClick(panel.drawing, Qt.Key.Key_Up)
    assert panel.bone.currentData() == "rightLittleDistal"


# --- strips, units --------------------------------------------------------------------------------------------------


def test_strips_are_edited_as_layers(man, qtbot):
    node = man.document.scene.characters[0]
    set_values(man, node.id, strips=(Strip(clip="walk"), Strip(clip="wave", start=0.2)))
    model = man.active.model

    def entries(menu):
        return {action.text(): action for action in menu.actions()}

    menu = man.features["playing"].strips.menu_of(man.document.scene.characters[0], model, 1)
    entries(menu)["Add to the Strips Below"].trigger()
    assert settings_of(man).strips[1].mode is StripMode.ADD
    (bar,) = man.timeline.tracks.strips[0].bars
    assert bar.is_added
    assert "added" in bar.text
    menu = man.features["playing"].strips.menu_of(man.document.scene.characters[0], model, 1)
    assert entries(menu)["Add to the Strips Below"].isChecked()
    joints = entries(menu)["Joints"].menu()
    entries(joints)["Upper Body"].trigger()
    assert settings_of(man).strips[1].mask == f"{GROUP}upper body"
    man.document.undo_stack.undo()
    assert settings_of(man).strips[1].mask == ""
    man.document.undo_stack.undo()
    assert settings_of(man).strips[1].mode is StripMode.REPLACE
    man.edits.select(node.id, "forearm_l")
    menu = man.features["playing"].strips.menu_of(man.document.scene.characters[0], model, 1)
    assert {"weight", "fade_in", "fade_out"} <= menu.fields.keys()
    entries(entries(menu)["Joints"].menu())["forearm_l and Below"].trigger()
    assert settings_of(man).strips[1].mask == "forearm_l"
    settled(man)


def test_the_weight_of_a_strip_has_keys(man, qtbot, tmp_path):
    """The diamond of the menu, a row of the dope sheet, the pose at the playhead, undo, save and reopen."""
    document, node = man.document, man.document.scene.characters[0]
    set_values(man, node.id, strips=())

    def menu_at(time, index=0):
        man.playback.scrub(time)
        return man.features["playing"].strips.menu_of(document.scene.node(node.id), man.active.model, index)

    def keys():
        return [(one.part, [(key.time, key.value) for key in one.keys]) for one in document.scene.characters[0].curves]

    menu_at(0.0).key_buttons["weight"].click()
    assert keys() == [("strips.0", [(0.0, 1.0)])]
    document.undo_stack.undo()
    assert (document.scene.characters[0].curves, settings_of(man).strips) == ((), ())
    set_values(man, node.id, strips=(Strip(clip="walk"), Strip(clip="wave")))
    menu = menu_at(0.0, 1)
    menu.key_buttons["weight"].click()
    assert menu.key_buttons["weight"].state is KeyState.KEY
    menu = menu_at(1.0, 1)
    assert menu.key_buttons["weight"].state is KeyState.ANIMATED
    menu.edited.emit("weight", 0.0)
    assert menu.key_buttons["weight"].state is KeyState.KEY
    assert keys() == [("strips.1", [(0.0, 1.0), (1.0, 0.0)])]
    assert menu_at(0.5, 1).fields["weight"].value() == pytest.approx(0.5)
    assert [row.name for row in man.timeline.sheet.rows] == [node.name, "wave: Weight"]
    assert "weight animated" in man.timeline.tracks.strips[0].bars[0].text
    settled(man)
    shown, model = man.client.engine.views.characters[node.id].pose, man.active.model
    strips = (Strip(clip="walk"), Strip(clip="wave", weight=0.5))
    expected = pose_of(model, structs.replace(settings_of(man), strips=strips), man.playback.playhead.time, (0.0, 0.0))
    assert np.abs(shown.model_from_joint - expected.model_from_joint).max() < 1e-9
    man.features["playing"].strips.remove(node.id, 0)
    assert keys()[0][0] == "strips.0"
    document.undo_stack.undo()
    path = tmp_path / "weights.sinew"
    save_project(path, document.scene, ViewState())
    assert load_project(path).scene.characters[0].curves == document.scene.characters[0].curves


def test_a_motion_that_is_opened_alone_is_asked_for_its_unit(fresh, qtbot, swing, tmp_path):
    lines, motion = swing.read_text().split("\n"), tmp_path / "large.bvh"
    large = [
        " ".join(["OFFSET", *(str(100.0 * float(x)) for x in line.split()[1:])]) if line.startswith("OFFSET") else line
        for line in lines
    ]
    motion.write_text("\n".join(large))
    Session(qtbot).load(fresh, motion)
    fresh.edits.select(fresh.document.scene.characters[0].id)
    settled(fresh)
    notice = fresh.kind_panels["model"].unit.notice
    assert "Which unit is its file in?" in notice.label.text()
    button = next(b for b in fresh.kind_panels["model"].unit.buttons if b.text() == "Centimetres")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert settings_of(fresh).unit_scale == pytest.approx(0.01)
    assert not notice.isVisible()


def test_a_bake_is_current_once_the_motion_that_carries_it_is_read(man, qtbot, swing, tmp_path):
    character = man.document.scene.characters[0].id
    own = tmp_path / "own.bvh"  # the shared editor may already read the other one
    own.write_bytes(swing.read_bytes())
    man.motions.add(character, own)
    wait_for_clip(man, qtbot, "own")
    cloth = add_cloth(man)
    man.document.set_values(
        {ParamRef(cloth, "attachment", "node"): character, ParamRef(cloth, "attachment", "bone"): "hand_r"}
    )
    settled(man)
    man.document.set_value(ParamRef(PLAYBACK, PLAYBACK, "end"), 4)
    project = tmp_path / "far" / "away" / "a.sinew"
    project.parent.mkdir(parents=True)
    man.files.save_to(project)
    assert result_of(man.baking, qtbot).startswith("Baked ")
    man.files.save_to(project)
    Session(qtbot).load(man, project)
    qtbot.waitUntil(man.window.question.isVisible, timeout=60000)
    settled(man)
    bars = man.features["playing"].cached_bars
    bars.refresh()
    assert not man.baking.is_of_now(cloth)
    assert [row.is_outdated for row in man.timeline.tracks.bars] == [True]
    man.access.allow()
    wait_for_clip(man, qtbot, "own")
    assert man.baking.is_of_now(cloth)
    bars.refresh()
    assert [row.is_outdated for row in man.timeline.tracks.bars] == [False]
