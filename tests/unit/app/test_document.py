"""Edits become single entries of the history, and do, undo and redo look alike."""

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QObject

from sinew.app.document.document import Document
from sinew.app.files.unknown_content import UnknownContent, UnknownNode
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.cloth.settings import ClothSettings, PinTarget
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.params import Effect, ParamError
from sinew.sim.scene.scene import PLAYBACK, VIEW, Node, ParamRef, Scene, value_at
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import DisplayMode
from sinew.sim.scene.view_state import Selection, ViewState

UNIT_SCALE = ParamRef("model-1", "model", "unit_scale")
INTENSITY = ParamRef("light-1", "light", "intensity")
REACH = ParamRef("light-1", "light", "reach")


def two_nodes() -> Scene:
    return Scene(
        nodes=(
            Node(id="model-1", name="humanoid", settings=ModelSettings(path="/m/humanoid.ezm")),
            Node(id="light-1", name="light", settings=LightSettings(intensity=1.0)),
        )
    )


class Log(QObject):
    """Everything a document announces, in order."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.changes: list[Change] = []
        self.selections: list[Selection] = []
        document.changed.connect(self.changes.append)
        document.selection_changed.connect(self.selections.append)


@pytest.fixture
def document(qapp) -> Document:
    return Document(two_nodes())


def test_a_value_is_set_undone_and_redone_with_one_notice_each(document):
    log = Log(document)
    document.set_value(INTENSITY, 2.5)
    assert value_at(document.scene, INTENSITY) == 2.5
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert document.scene == two_nodes()
    document.undo_stack.redo()
    assert value_at(document.scene, INTENSITY) == 2.5
    assert log.changes == [Change(ChangeKind.VALUE, INTENSITY, Effect.VIEW)] * 3


def test_an_equal_value_is_no_edit(document):
    log = Log(document)
    document.set_value(UNIT_SCALE, 1)
    assert document.undo_stack.count() == 0
    assert not log.changes
    assert not document.modified


def test_a_refused_value_reaches_the_caller_and_changes_nothing(document):
    before = document.scene
    with pytest.raises(ParamError, match="allowed: 1e-06 to 1e\\+06 m"):
        document.set_value(UNIT_SCALE, -1.0)
    assert document.scene is before
    assert document.undo_stack.count() == 0


def test_several_values_are_one_entry_and_all_or_nothing(document):
    start, end = ParamRef(PLAYBACK, PLAYBACK, "in_point"), ParamRef(PLAYBACK, PLAYBACK, "out_point")
    gesture = document.new_gesture("Move range")
    document.set_values({start: 0.5, end: 1.5}, gesture)
    document.set_values({start: 0.7, end: 1.7}, gesture)
    assert document.undo_stack.count() == 1
    assert document.undo_stack.undoText() == "Move range"
    with pytest.raises(ParamError):
        document.set_values({start: 0.0, end: "late"})
    assert value_at(document.scene, start) == 0.7
    document.undo_stack.undo()
    assert document.scene == two_nodes()


def test_a_drag_is_one_entry_and_every_value_is_announced(document):
    log = Log(document)
    gesture = document.new_gesture()
    for value in (1.5, 2.0, 3.0):
        document.set_value(INTENSITY, value, gesture)
    document.end_gesture(gesture)
    assert document.undo_stack.count() == 1
    assert len(log.changes) == 3
    document.undo_stack.undo()
    assert value_at(document.scene, INTENSITY) == 1.0
    document.undo_stack.redo()
    assert value_at(document.scene, INTENSITY) == 3.0


def test_edits_merge_only_within_one_gesture_and_value(document):
    first, second = document.new_gesture(), document.new_gesture()
    document.set_value(UNIT_SCALE, 2.0, first)
    document.set_value(UNIT_SCALE, 3.0, second)
    document.set_value(INTENSITY, 3.0, second)
    document.set_value(INTENSITY, 4.0)
    document.set_value(INTENSITY, 5.0)
    assert document.undo_stack.count() == 5


def test_a_late_edit_of_an_ended_gesture_stands_alone(document):
    gesture = document.new_gesture()
    document.set_value(UNIT_SCALE, 2.0, gesture)
    document.end_gesture(gesture)
    document.set_value(UNIT_SCALE, 3.0, gesture)
    assert document.undo_stack.count() == 2


def test_a_drag_back_to_the_start_leaves_no_entry_and_the_project_clean(document):
    gesture = document.new_gesture()
    for value in (2.0, 3.0, 1.0):
        document.set_value(UNIT_SCALE, value, gesture)
    assert document.undo_stack.count() == 0
    assert not document.modified
    document.set_value(UNIT_SCALE, 4.0, gesture)
    assert document.undo_stack.count() == 1


def test_escape_restores_and_leaves_no_entry(document):
    document.set_value(INTENSITY, 3.0)
    log = Log(document)
    gesture = document.new_gesture()
    document.set_value(REACH, 2.0, gesture)
    document.set_value(INTENSITY, 4.0, gesture)
    document.set_value(REACH, 5.0, gesture)
    document.cancel_gesture(gesture)
    assert value_at(document.scene, REACH) == 4.0
    assert value_at(document.scene, INTENSITY) == 3.0
    assert document.undo_stack.count() == 1
    assert not document.undo_stack.canRedo()
    assert log.changes[-1].ref == REACH
    document.set_value(REACH, 6.0, gesture)
    assert value_at(document.scene, REACH) == 4.0, "the mouse is still down after Escape"


def test_escape_without_an_edit_keeps_the_history(document):
    document.set_value(INTENSITY, 3.0)
    document.undo_stack.undo()
    document.cancel_gesture(document.new_gesture())
    assert document.undo_stack.canRedo()


def test_a_save_in_the_middle_of_a_drag_is_kept_as_a_state(document, tmp_path):
    gesture = document.new_gesture()
    document.set_value(UNIT_SCALE, 2.0, gesture)
    document.mark_saved(tmp_path / "a.sinew")
    document.set_value(UNIT_SCALE, 3.0, gesture)
    assert document.modified
    document.undo_stack.undo()
    assert value_at(document.scene, UNIT_SCALE) == 2.0
    assert not document.modified


@pytest.mark.parametrize(
    ("ref", "value", "text"),
    [
        (UNIT_SCALE, 2.0, "Set unit scale of humanoid"),
        (ParamRef("light-1", "node", "visible"), False, "Hide light"),
        (ParamRef("model-1", "model", "lock_root"), True, "Turn on lock root motion of humanoid"),
        (ParamRef("model-1", "node", "name"), "hero", "Rename humanoid to hero"),
        (ParamRef("light-1", "transform", "position"), (1, 2, 3), "Set position of light"),
        (ParamRef(PLAYBACK, PLAYBACK, "speed"), 0.5, "Set speed of the playback"),
        (ParamRef("view", "view", "ambient"), 0.5, "Set ambient of the view"),
    ],
)
def test_undo_texts_come_from_the_declarations(document, ref, value, text):
    document.set_value(ref, value)
    assert document.undo_stack.undoText() == text


def test_an_edit_of_several_counts_them(document):
    nodes = tuple(Node(id=f"c{i}", name=f"sheet {i}", settings=ClothSettings()) for i in range(3))
    document.replace_scene(msgspec.structs.replace(document.scene, nodes=(*document.scene.nodes, *nodes)), ViewState())
    document.set_values({ParamRef(node.id, "cloth", "width"): 2.0 for node in nodes})
    assert document.undo_stack.undoText() == "Set width of 3 objects"
    document.set_values({ParamRef(node.id, "node", "visible"): False for node in nodes[:2]})
    assert document.undo_stack.undoText() == "Hide 2 objects"
    document.set_values({ParamRef("c0", "cloth", "width"): 1.0, ParamRef("c0", "cloth", "height"): 1.0})
    assert document.undo_stack.undoText() == "Set width of sheet 0"


def test_what_the_scene_has_one_answer_to_is_completed_within_the_same_entry(document):
    """Pins told to follow a bone follow the only model; undo takes both back."""
    cloth = Node(id="cloth", settings=ClothSettings(), transform=Transform(position=(0.0, 1.0, 2.0)))
    document.replace_scene(msgspec.structs.replace(document.scene, nodes=(*document.scene.nodes, cloth)), ViewState())
    document.set_value(ParamRef("cloth", "cloth", "pin_target"), PinTarget.BONE)
    edited = document.scene.node("cloth")
    assert edited.attachment.node == "model-1"
    assert edited.transform == cloth.transform
    assert document.undo_stack.count() == 1
    assert document.undo_stack.undoText().startswith("Set pins follow")
    document.undo_stack.undo()
    assert document.scene.node("cloth") == cloth


def test_an_added_node_gets_a_fresh_id_a_unique_name_and_the_selection(document):
    node_id = document.add_node(Node(id="", name="humanoid", settings=ModelSettings()))
    assert node_id == "model-2"
    assert document.scene.node(node_id).name == "humanoid.001"
    assert document.selection == Selection(node=node_id)
    document.undo_stack.undo()
    assert document.scene == two_nodes()
    assert document.selection == Selection()


def test_a_nameless_node_is_named_after_its_file_or_kind(document):
    model = document.add_node(Node(id="", settings=ModelSettings(path="/a/walking dude.ezm")))
    light = document.add_node(Node(id="", settings=LightSettings()))
    assert document.scene.node(model).name == "walking dude"
    assert document.scene.node(light).name == "Light"


def test_ids_are_not_used_again(document):
    first = document.add_node(Node(id="", settings=LightSettings()))
    document.undo_stack.undo()
    second = document.add_node(Node(id="", settings=LightSettings()))
    assert (first, second) == ("light-2", "light-3")


def test_removal_drops_the_selection_and_undo_restores_place_and_bone(document):
    bone = Selection(node="model-1", bone="hips")
    document.select(bone)
    log = Log(document)
    document.remove_node("model-1")
    assert document.selection == Selection()
    document.undo_stack.undo()
    assert document.scene == two_nodes()
    assert document.selection == bone
    assert [change.kind for change in log.changes] == [ChangeKind.REMOVED, ChangeKind.ADDED]
    assert log.changes[0].ref == ParamRef("model-1", "node", "")
    assert log.selections == [Selection(), bone]


def test_a_removed_bystander_leaves_the_selection(document):
    document.select(Selection(node="light-1"))
    document.remove_node("model-1")
    assert document.selection == Selection(node="light-1")


def test_nodes_move_and_move_back(document):
    document.set_nodes(document.scene.nodes[::-1], "Move")
    assert [node.id for node in document.scene.nodes] == ["light-1", "model-1"]
    document.undo_stack.undo()
    assert document.scene == two_nodes()
    document.set_nodes(document.scene.nodes, "Move")
    assert not document.undo_stack.canUndo()


def test_a_duplicate_stands_behind_its_original(document):
    document.set_value(UNIT_SCALE, 2.0)
    copy = document.duplicate_node("model-1")
    assert [node.name for node in document.scene.nodes] == ["humanoid", "humanoid.001", "light"]
    assert document.scene.node(copy).settings == document.scene.node("model-1").settings
    assert document.undo_stack.undoText() == "Duplicate humanoid"


def test_names_stay_unique_and_are_not_empty(document):
    document.rename("light-1", " humanoid ")
    assert document.scene.node("light-1").name == "humanoid.001"
    document.rename("light-1", "humanoid.001")
    assert document.scene.node("light-1").name == "humanoid.001"
    with pytest.raises(ParamError, match="name"):
        document.rename("light-1", " \t")


def test_a_macro_is_one_entry(document):
    with document.macro("Arrange"):
        document.set_value(UNIT_SCALE, 2.0)
        document.set_nodes(document.scene.nodes[::-1], "Move")
    assert document.undo_stack.count() == 1
    assert document.undo_stack.undoText() == "Arrange"
    document.undo_stack.undo()
    assert document.scene == two_nodes()


def test_a_macro_that_changes_nothing_leaves_the_history_alone(document):
    document.set_value(UNIT_SCALE, 2.0)
    document.undo_stack.undo()
    with document.macro("Nothing"):
        document.set_value(UNIT_SCALE, 1.0)
    assert document.undo_stack.canRedo()
    assert document.undo_stack.count() == 1


def test_a_failing_macro_is_taken_back(document):
    def half() -> None:
        with document.macro("Half"):
            document.set_value(UNIT_SCALE, 2.0)
            with document.macro("Inner"):
                document.set_nodes(document.scene.nodes[::-1], "Move")
            document.set_value(UNIT_SCALE, -1.0)

    with pytest.raises(ParamError):
        half()
    assert document.scene == two_nodes()
    assert document.undo_stack.count() == 0


def test_an_edit_in_answer_to_an_edit_is_refused(document):
    errors: list[str] = []

    def answer(_change: Change) -> None:
        try:
            document.set_value(INTENSITY, 3.0)
        except RuntimeError as error:
            errors.append(str(error))

    document.changed.connect(answer)
    document.set_value(ParamRef("model-1", "model", "bind_pose"), True)
    assert len(errors) == 1
    assert value_at(document.scene, INTENSITY) == 1.0


def test_view_state_is_saved_but_no_edit(document):
    seen: list[ViewState] = []
    document.view_state_changed.connect(seen.append)
    document.set_camera(Camera(yaw=90.0))
    document.set_time(0.25)
    document.select(Selection(view=True))
    assert seen[-1] == ViewState(camera=Camera(yaw=90.0), time=0.25, selection=Selection(view=True))
    assert len(seen) == 3
    assert not document.modified
    with pytest.raises(KeyError):
        document.select(Selection(node="gone"))


def test_undo_leaves_alone_what_only_looks_even_where_an_edit_named_it(document):
    display = ParamRef(VIEW, VIEW, "display")
    document.set_values({INTENSITY: 3.0, display: document.scene.view.display})
    document.set_value(display, DisplayMode.NORMALS)
    document.undo_stack.undo()
    document.undo_stack.redo()
    assert document.scene.view.display is DisplayMode.NORMALS


def test_another_scene_starts_a_new_history(document, tmp_path):
    document.set_value(UNIT_SCALE, 2.0)
    log = Log(document)
    titles: list[str] = []
    document.title_changed.connect(lambda: titles.append(document.title))
    scene = msgspec.structs.replace(two_nodes(), nodes=two_nodes().nodes[:1])
    document.replace_scene(scene, ViewState(selection=Selection(node="model-1")), path=tmp_path / "cape.sinew")
    assert log.changes == [Change(ChangeKind.REPLACED, None, Effect.REBUILD)]
    assert log.selections == [Selection(node="model-1")]
    assert document.undo_stack.count() == 0
    assert not document.modified
    assert document.path == tmp_path / "cape.sinew"
    assert titles[-1] == "cape"
    document.replace_scene(scene, modified=True)
    assert document.modified
    assert document.title == "untitled"
    document.replace_scene(scene)
    assert not document.modified


def test_the_history_reports_when_the_saved_state_is_reached_again(document, tmp_path):
    document.set_value(UNIT_SCALE, 2.0)
    document.mark_saved(tmp_path / "a.sinew")
    states: list[bool] = []
    document.title_changed.connect(lambda: states.append(document.modified))
    document.undo_stack.undo()
    document.undo_stack.redo()
    assert states == [True, False]


def test_paths_are_absolute_in_memory(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = ParamRef("model-1", "model", "path")
    document.set_value(path, "m/other.ezm")
    assert value_at(document.scene, path) == str(Path.cwd() / "m" / "other.ezm")
    added = document.add_node(Node(id="", settings=ModelSettings(path="b.ezm")))
    assert document.scene.node(added).settings.path == str(Path.cwd() / "b.ezm")
    with pytest.raises(ParamError, match="null"):
        document.set_value(path, "a\0b")
    document.set_value(path, "")
    assert value_at(document.scene, path) == ""


def test_ids_of_nodes_of_unknown_types_are_reserved(document):
    nodes = tuple(UnknownNode({"id": node_id, "kite": {}}, None) for node_id in ("light-7", "sun"))
    document.replace_scene(two_nodes(), unknown=UnknownContent(nodes=nodes))
    assert document.add_node(Node(id="", settings=LightSettings())) == "light-8"
    assert document.add_node(Node(id="sun", settings=LightSettings())) == "light-9"
    assert document.add_node(Node(id="light-7", settings=LightSettings())) == "light-10"
