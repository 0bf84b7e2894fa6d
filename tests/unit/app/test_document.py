import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QObject

from sinew.app.document.arrange import grouped, ordered, put_on, topmost, ungrouped
from sinew.app.document.document import Document
from sinew.app.project.node_text import nodes_of, nodes_text
from sinew.app.project.project_json import ProjectError
from sinew.app.project.unknown_content import UnknownContent, UnknownNode
from sinew.sim.characters.modifiers.settings import Aim
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.cloth.settings import ClothSettings, PinTarget
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.group.kind import GroupSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.params import Effect, ParamError
from sinew.sim.scene.scene import PLAYBACK, VIEW, Attachment, Node, ParamRef, Scene, value_at
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import DisplayMode
from sinew.sim.scene.view_state import Selection, ViewState, selection_of, toggled
from sinew.sim.scene.world_transforms import WorldTransforms

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
    document.set_value(INTENSITY, 2.5)
    assert document.undo_stack.count() == 1, "an equal value is no edit"
    assert log.changes == [Change(ChangeKind.VALUE, INTENSITY, Effect.VIEW)] * 3


def test_several_values_are_one_entry_and_all_or_nothing(document):
    start, end = ParamRef(PLAYBACK, PLAYBACK, "in_point"), ParamRef(PLAYBACK, PLAYBACK, "out_point")
    gesture = document.new_gesture("Move range")
    document.set_values({start: 0.5, end: 1.5}, gesture)
    document.set_values({start: 0.7, end: 1.7}, gesture)
    assert document.undo_stack.count() == 1
    assert document.undo_stack.undo_text == "Move range"
    with pytest.raises(ParamError):
        document.set_values({start: 0.0, end: "late"})
    assert value_at(document.scene, start) == 0.7
    document.undo_stack.undo()
    assert document.scene == two_nodes()


def test_edits_merge_only_within_one_gesture_and_value(document):
    first, second = document.new_gesture(), document.new_gesture()
    document.set_value(UNIT_SCALE, 2.0, first)
    document.set_value(UNIT_SCALE, 3.0, second)
    document.set_value(INTENSITY, 3.0, second)
    document.set_value(INTENSITY, 4.0)
    document.set_value(INTENSITY, 5.0)
    assert document.undo_stack.count() == 5
    document.end_gesture(second)
    document.set_value(INTENSITY, 6.0, second)
    assert document.undo_stack.count() == 6, "a late edit of an ended gesture"


def test_a_drag_back_to_the_start_leaves_no_entry_and_the_project_clean(document):
    gesture = document.new_gesture()
    for value in (2.0, 3.0, 1.0):
        document.set_value(UNIT_SCALE, value, gesture)
    assert document.undo_stack.count() == 0
    assert not document.modified
    log = Log(document)
    for value in (1.5, 2.0, 4.0):
        document.set_value(INTENSITY, value, gesture)
    assert (document.undo_stack.count(), len(log.changes)) == (1, 3), "one entry, and every value is announced"


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
    assert not document.undo_stack.can_redo
    assert log.changes[-1].ref == REACH
    document.set_value(REACH, 6.0, gesture)
    assert value_at(document.scene, REACH) == 4.0, "the mouse is still down after Escape"


def test_a_save_in_the_middle_of_a_drag_is_a_state_of_the_history(document, tmp_path):
    gesture = document.new_gesture()
    document.set_value(UNIT_SCALE, 2.0, gesture)
    document.mark_saved(tmp_path / "a.sinew")
    document.set_value(UNIT_SCALE, 3.0, gesture)
    assert document.modified
    states: list[bool] = []
    document.title_changed.connect(lambda: states.append(document.modified))
    document.undo_stack.undo()
    assert value_at(document.scene, UNIT_SCALE) == 2.0
    document.undo_stack.redo()
    assert states == [False, True]


def test_undo_texts_come_from_the_declarations_and_count(document):
    for ref, value, text in (
        (UNIT_SCALE, 2.0, "Set unit scale of humanoid"),
        (ParamRef("light-1", "node", "visible"), False, "Hide light"),
        (ParamRef("model-1", "model", "lock_root"), True, "Turn on lock root motion of humanoid"),
        (ParamRef("light-1", "transform", "position"), (1, 2, 3), "Set position of light"),
        (ParamRef(PLAYBACK, PLAYBACK, "speed"), 0.5, "Set speed of the playback"),
        (ParamRef("view", "view", "ambient"), 0.5, "Set ambient of the view"),
        (ParamRef("model-1", "node", "name"), "hero", "Rename humanoid to hero"),
    ):
        document.set_value(ref, value)
        assert document.undo_stack.undo_text == text
    nodes = tuple(Node(id=f"c{i}", name=f"sheet {i}", settings=ClothSettings()) for i in range(3))
    document.replace_scene(msgspec.structs.replace(document.scene, nodes=(*document.scene.nodes, *nodes)), ViewState())
    document.set_values({ParamRef(node.id, "cloth", "width"): 2.0 for node in nodes})
    assert document.undo_stack.undo_text == "Set width of 3 objects"
    document.set_values({ParamRef(node.id, "node", "visible"): False for node in nodes[:2]})
    assert document.undo_stack.undo_text == "Hide 2 objects"
    document.set_values({ParamRef("c0", "cloth", "width"): 1.0, ParamRef("c0", "cloth", "height"): 1.0})
    assert document.undo_stack.undo_text == "Set width of sheet 0"


def test_an_attachment_with_one_choice_is_completed_within_the_same_entry(document):
    cloth = Node(id="cloth", settings=ClothSettings(), transform=Transform(position=(0.0, 1.0, 2.0)))
    document.replace_scene(msgspec.structs.replace(document.scene, nodes=(*document.scene.nodes, cloth)), ViewState())
    document.set_value(ParamRef("cloth", "cloth", "pin_target"), PinTarget.BONE)
    edited = document.scene.node("cloth")
    assert edited.attachment.node == "model-1"
    assert edited.transform == cloth.transform
    assert document.undo_stack.count() == 1
    assert document.undo_stack.undo_text.startswith("Set pins follow")
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
    model = document.add_node(Node(id="", settings=ModelSettings(path="/a/walking dude.ezm")))
    assert (model, document.scene.node(model).name) == ("model-3", "walking dude"), "ids are not used again"
    light = document.add_node(Node(id="", settings=LightSettings()))
    assert document.scene.node(light).name == "Light"


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


def test_a_macro_is_one_entry(document):
    with document.macro("Arrange"):
        document.set_value(UNIT_SCALE, 2.0)
        document.set_nodes(document.scene.nodes[::-1], "Move")
    assert document.undo_stack.count() == 1
    assert document.undo_stack.undo_text == "Arrange"
    document.undo_stack.undo()
    assert document.scene == two_nodes()
    with document.macro("Nothing"):
        document.set_value(UNIT_SCALE, value_at(document.scene, UNIT_SCALE))
    assert document.undo_stack.can_redo, "a macro that changes nothing leaves the history alone"


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


def test_undo_leaves_display_settings_alone_even_where_an_edit_named_them(document):
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
    document.set_camera(Camera(yaw=90.0))
    document.set_time(0.25)
    document.select(Selection(view=True))
    assert document.view_state == ViewState(camera=Camera(yaw=90.0), time=0.25, selection=Selection(view=True))
    assert not document.modified
    with pytest.raises(KeyError):
        document.select(Selection(node="gone"))


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


MODEL = Node(
    id="m", name="character", settings=ModelSettings(path="/m/character.ezm"),
    transform=Transform(position=(1.0, 2.0, 3.0), rotation=(10.0, 20.0, 30.0), scale=(2.0, 2.0, 2.0)),
)  # fmt: skip


def ball(node_id, x, on="", bone=""):
    place = Transform(position=(x, 1.0, 0.5), rotation=(0.0, 40.0, 0.0))
    attachment = Attachment(node=on, bone=bone)
    return Node(id=node_id, name=node_id, transform=place, attachment=attachment, settings=ColliderSettings())


SCENE = Scene(nodes=(MODEL, ball("a", 0.0), ball("b", 1.0, "m"), ball("c", 2.0, "m", "hand"), ball("d", 3.0)))
EMPTY = Node(id="g", name="group", settings=GroupSettings())


def places(scene):
    return WorldTransforms(scene, {})


def worlds(scene):
    where = places(scene)
    return {node.id: where.world_from_node(node) for node in scene.nodes}


def assert_nothing_moved(nodes, before=SCENE):
    after, known = worlds(Scene(nodes=nodes)), worlds(before)
    for node_id in after.keys() & known.keys():
        np.testing.assert_allclose(after[node_id], known[node_id], atol=1e-9, err_msg=node_id)


def test_a_group_carries_what_is_attached_to_nothing_and_only_lists_the_rest():
    nodes = grouped(places(SCENE), ["a", "c", "d"], EMPTY)
    scene = Scene(nodes=nodes)
    assert [node.id for node in nodes] == ["m", "g", "a", "b", "c", "d"]
    assert {node_id for node_id, parent in scene.parents.items() if parent == "g"} == {"a", "c", "d"}
    assert scene.node("a").attachment == Attachment(node="g")
    assert scene.node("c").attachment == Attachment(node="m", bone="hand"), "it stays attached to the hand"
    assert_nothing_moved(nodes)
    assert scene.with_contents(["g"]) == {"g", "a", "c", "d"}
    back = ungrouped(places(scene), ["g"])
    assert_nothing_moved(back)
    assert [(node.id, node.attachment, node.within) for node in back] == [
        (node.id, node.attachment, node.within) for node in SCENE.nodes
    ]


def test_groups_within_groups_hide_and_lock_what_they_hold():
    scene = Scene(nodes=grouped(places(SCENE), ["a", "c"], EMPTY))
    outer = msgspec.structs.replace(EMPTY, id="o")
    scene = Scene(nodes=grouped(places(scene), ["g", "d"], outer))
    assert scene.with_contents(["o"]) == {"o", "g", "a", "c", "d"}
    hidden = tuple(msgspec.structs.replace(n, visible=n.id != "o", locked=n.id == "g") for n in scene.nodes)
    scene = Scene(nodes=hidden)
    assert scene.shown == {"m", "b"}
    assert scene.unlocked == {"m", "b", "o", "d"}


def test_nothing_is_put_below_itself_and_a_file_with_such_a_group_is_read():
    scene = Scene(nodes=grouped(places(SCENE), ["a"], EMPTY))
    for target in ("a", "g"):
        with pytest.raises(ParamError, match="cannot be attached to itself"):
            put_on(places(scene), ["g"], Attachment(node=target))
    # In a group that rides on it: the listing gives way, the carriers stay.
    odd = Scene(nodes=(msgspec.structs.replace(EMPTY, attachment=Attachment(node="a")), ball("a", 0.0)))
    odd = Scene(nodes=(odd.nodes[0], msgspec.structs.replace(odd.nodes[1], within="g")))
    assert odd.parents == {"g": "a"}


def test_order_and_topmost():
    nodes = ordered(SCENE.nodes, ["d", "b"], "a")
    assert [node.id for node in nodes] == ["m", "d", "b", "a", "c"]
    assert [node.id for node in ordered(SCENE.nodes, ["a"], None)] == ["m", "b", "c", "d", "a"]
    assert topmost(SCENE, ["b", "m", "a"]) == ["m", "a"]


def test_a_selection_of_several():
    chosen = toggled(toggled(Selection(node="a"), "b"), "c")
    assert chosen.nodes == ("c", "b", "a")
    assert toggled(chosen, "b").nodes == ("c", "a")
    assert selection_of(()) == Selection()
    assert toggled(Selection(node="m", bone="hand"), "a") == Selection(node="a")


@pytest.fixture
def arranged(qapp):
    return Document(SCENE)


def test_many_nodes_are_added_removed_and_duplicated_with_one_notice_each(arranged):
    notices = []
    arranged.changed.connect(notices.append)
    group = msgspec.structs.replace(EMPTY, attachment=Attachment(node="m"))
    members = [msgspec.structs.replace(ball(f"x{i}", i, "m", "hand"), within="g") for i in range(60)]
    ids = arranged.add_nodes([group, *members], "Fit", select=["g"])
    assert arranged.selection == Selection(node=ids[0])
    assert arranged.scene.with_contents([ids[0]]) == set(ids)
    for _ in range(2):
        arranged.undo_stack.undo()
        assert arranged.scene == SCENE
        arranged.undo_stack.redo()
    assert len(notices) == 5, "a notice for each of sixty would be sixty times as much work for every panel"
    arranged.duplicate_nodes([ids[0]])
    assert len(arranged.scene.nodes) == 5 + 2 * 61
    assert len({node.name for node in arranged.scene.nodes}) == 5 + 2 * 61
    assert len(arranged.scene.with_contents(arranged.selection.nodes)) == 61
    arranged.remove_nodes(arranged.selection.nodes)
    arranged.remove_nodes([ids[0]])
    assert arranged.scene == SCENE
    assert arranged.undo_stack.count() == 4
    arranged.undo_stack.undo()
    arranged.select(selection_of(["a", "b", "c"]))
    arranged.remove_node("b")
    assert arranged.selection.nodes == ("a", "c")
    arranged.undo_stack.undo()
    assert {"a", "c"} <= {node.id for node in arranged.scene.nodes}
    while arranged.undo_stack.can_undo:
        arranged.undo_stack.undo()
    assert arranged.scene == SCENE


def test_nodes_go_by_way_of_text_into_the_same_scene(arranged):
    nodes = nodes_of(nodes_text(places(SCENE), ["a", "c"]), SCENE)
    ids = arranged.add_nodes(nodes, "Paste")
    assert not {"a", "c"} & set(ids)
    pasted = [arranged.scene.node(node_id) for node_id in ids]
    assert [node.transform for node in pasted] == [SCENE.node("a").transform, SCENE.node("c").transform]
    assert pasted[1].attachment == Attachment(node="m", bone="hand")
    scene = Scene(nodes=grouped(places(SCENE), ["a", "c"], EMPTY))
    other = Document(Scene())
    ids = other.add_nodes(nodes_of(nodes_text(places(scene), list(scene.with_contents(["g"]))), Scene()), "Paste")
    assert set(other.scene.parents.values()) == {ids[0]}
    assert len(other.scene.parents) == 2


def test_in_another_scene_a_parent_is_found_by_name_and_what_has_none_stays_where_it_was():
    text = nodes_text(places(SCENE), ["m"])
    assert nodes_of(text, Scene())[0].settings.path == "/m/character.ezm"
    text = nodes_text(places(SCENE), ["b", "c"])
    alike = msgspec.structs.replace(MODEL, id="other")
    assert [node.attachment.node for node in nodes_of(text, Scene(nodes=(alike,)))] == ["other", "other"]
    # The same id is not the same character.
    stranger = Node(id="m", name="lamp", settings=LightSettings())
    alone = nodes_of(text, Scene(nodes=(stranger,)))
    assert [node.attachment for node in alone] == [Attachment(), Attachment()]
    assert_nothing_moved(tuple(alone))


def test_a_clipboard_that_holds_something_else_is_refused_in_one_line():
    for text in (
        "", "hello", "[1]", "{", '{"format": "sinew-nodes"}', '{"format": "sinew-project", "version": 2, "nodes": []}',
        '{"format": "sinew-nodes", "version": 999, "nodes": []}', '{"format": "sinew-nodes", "version": 2, "nodes": 3}',
        '{"format": "sinew-nodes", "version": 2, "nodes": [{"id": "a", "light": {"reach": -1}}]}', "[" * 100000,
        '{"format": "sinew-nodes", "version": true, "nodes": []}',
    ):  # fmt: skip
        with pytest.raises(ProjectError) as caught:
            nodes_of(text, SCENE)
        assert "\n" not in str(caught.value)
    content = json.loads(nodes_text(places(SCENE), ["b"]))
    content |= {"carriers": [1], "world": {"b": {"position": "there"}}}
    assert nodes_of(json.dumps(content), Scene())[0].attachment == Attachment()


def test_targets_of_modifiers_are_found_by_name_in_another_scene():
    aims = tuple(Aim(bone="head", target=target, muted=target == "d") for target in ("a", "d", "gone"))
    aiming = msgspec.structs.replace(MODEL, settings=msgspec.structs.replace(MODEL.settings, modifiers=aims))
    scene = Scene(nodes=(aiming, *SCENE.nodes[1:]))
    text = nodes_text(places(scene), ["m", "a"])
    d, stranger = SCENE.node("d"), msgspec.structs.replace(SCENE.node("b"), id="d", name="stranger")
    for other, targets in (
        (scene, ["a", "d", ""]),
        (Scene(nodes=(msgspec.structs.replace(d, id="x"), stranger)), ["a", "x", ""]),
        (Scene(nodes=(stranger,)), ["a", "", ""]),
    ):
        pasted = nodes_of(text, other)[0]
        assert [modifier.target for modifier in pasted.settings.modifiers] == targets
