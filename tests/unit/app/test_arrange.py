"""Groups, carriers and order: nothing moves in the world, and nothing comes below itself."""

import json

import msgspec
import numpy as np
import pytest

from sinew.app.document.arrange import grouped, ordered, put_on, topmost, ungrouped
from sinew.app.document.document import Document
from sinew.app.files.node_text import nodes_of, nodes_text
from sinew.app.files.project_json import ProjectError
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.group.kind import GroupSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.params import ParamError
from sinew.sim.scene.scene import Attachment, Node, ParamRef, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import Selection, selection_of, toggled
from sinew.sim.scene.world_transforms import WorldTransforms

MODEL = Node(
    id="m", name="figure", settings=ModelSettings(path="/m/figure.ezm"),
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


def test_a_group_carries_what_rides_on_nothing_and_only_lists_the_rest():
    nodes = grouped(places(SCENE), ["a", "c", "d"], EMPTY)
    scene = Scene(nodes=nodes)
    assert [node.id for node in nodes] == ["m", "g", "a", "b", "c", "d"]
    assert {node_id for node_id, parent in scene.parents.items() if parent == "g"} == {"a", "c", "d"}
    assert scene.node("a").attachment == Attachment(node="g")
    assert scene.node("c").attachment == Attachment(node="m", bone="hand"), "it goes on riding on the hand"
    assert_nothing_moved(nodes)
    assert scene.with_contents(["g"]) == {"g", "a", "c", "d"}
    back = ungrouped(places(scene), ["g"])
    assert_nothing_moved(back)
    assert [(node.id, node.attachment, node.within) for node in back] == [
        (node.id, node.attachment, node.within) for node in SCENE.nodes
    ]


def test_a_group_of_what_rides_on_a_figure_is_listed_there():
    scene = Scene(nodes=grouped(places(SCENE), ["b", "c"], EMPTY))
    assert scene.parents["g"] == "m"
    assert scene.node("b").attachment == Attachment(node="g")
    assert scene.node("c").attachment.bone == "hand"
    assert_nothing_moved(scene.nodes)
    assert_nothing_moved(ungrouped(places(scene), ["g"]))


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


# --- the document -----------------------------------------------------------------------------------------


@pytest.fixture
def document(qapp):
    return Document(SCENE)


def test_many_nodes_are_added_removed_and_duplicated_with_one_notice_each(document):
    notices = []
    document.changed.connect(notices.append)
    group = msgspec.structs.replace(EMPTY, attachment=Attachment(node="m"))
    members = [msgspec.structs.replace(ball(f"x{i}", i, "m", "hand"), within="g") for i in range(60)]
    ids = document.add_nodes([group, *members], "Fit", select=["g"])
    assert document.selection == Selection(node=ids[0])
    assert document.scene.with_contents([ids[0]]) == set(ids)
    for _ in range(2):
        document.undo_stack.undo()
        assert document.scene == SCENE
        document.undo_stack.redo()
    assert len(notices) == 5, "a notice for each of sixty would be sixty times as much work for every panel"
    document.duplicate_nodes([ids[0]])
    assert len(document.scene.nodes) == 5 + 2 * 61
    assert len({node.name for node in document.scene.nodes}) == 5 + 2 * 61
    assert len(document.scene.with_contents(document.selection.nodes)) == 61
    document.remove_nodes(document.selection.nodes)
    document.remove_nodes([ids[0]])
    assert document.scene == SCENE
    assert document.undo_stack.count() == 4
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
    assert document.scene == SCENE


def test_the_selection_loses_what_is_removed(document):
    document.select(selection_of(["a", "b", "c"]))
    document.remove_node("b")
    assert document.selection.nodes == ("a", "c")
    document.remove_nodes(["a", "d"])
    assert document.selection == Selection()
    document.undo_stack.undo()
    assert document.selection.nodes == ("a", "c")


# --- the clipboard ----------------------------------------------------------------------------------------


def test_nodes_go_by_way_of_text_into_the_same_scene(document):
    nodes = nodes_of(nodes_text(places(SCENE), ["a", "c"]), SCENE)
    ids = document.add_nodes(nodes, "Paste")
    assert not {"a", "c"} & set(ids)
    pasted = [document.scene.node(node_id) for node_id in ids]
    assert [node.transform for node in pasted] == [SCENE.node("a").transform, SCENE.node("c").transform]
    assert pasted[1].attachment == Attachment(node="m", bone="hand")


def test_in_another_scene_a_carrier_is_found_by_name_and_what_has_none_stays_where_it_stood():
    text = nodes_text(places(SCENE), ["m"])
    assert nodes_of(text, Scene())[0].settings.path == "/m/figure.ezm"
    text = nodes_text(places(SCENE), ["b", "c"])
    alike = msgspec.structs.replace(MODEL, id="other")
    assert [node.attachment.node for node in nodes_of(text, Scene(nodes=(alike,)))] == ["other", "other"]
    # The same id is not the same figure.
    stranger = Node(id="m", name="lamp", settings=LightSettings())
    alone = nodes_of(text, Scene(nodes=(stranger,)))
    assert [node.attachment for node in alone] == [Attachment(), Attachment()]
    assert_nothing_moved(tuple(alone))


def test_links_within_the_text_stay(document):
    scene = Scene(nodes=grouped(places(SCENE), ["a", "c"], EMPTY))
    nodes = nodes_of(nodes_text(places(scene), list(scene.with_contents(["g"]))), Scene())
    other = Document(Scene())
    ids = other.add_nodes(nodes, "Paste")
    assert set(other.scene.parents.values()) == {ids[0]}
    assert len(other.scene.parents) == 2


@pytest.mark.parametrize(
    "text",
    [
        "", "hello", "[1]", "{", '{"format": "sinew-nodes"}', '{"format": "sinew-project", "version": 2, "nodes": []}',
        '{"format": "sinew-nodes", "version": 999, "nodes": []}', '{"format": "sinew-nodes", "version": 2, "nodes": 3}',
        '{"format": "sinew-nodes", "version": 2, "nodes": [{"id": "a", "light": {"reach": -1}}]}', "[" * 100000,
        '{"format": "sinew-nodes", "version": true, "nodes": []}',
    ],
)  # fmt: skip
def test_a_clipboard_that_holds_something_else_is_refused_in_one_line(text):
    with pytest.raises(ProjectError) as caught:
        nodes_of(text, SCENE)
    assert "\n" not in str(caught.value)


def test_odd_links_in_a_text_are_nothing():
    content = json.loads(nodes_text(places(SCENE), ["b"]))
    content |= {"carriers": [1], "world": {"b": {"position": "there"}}}
    assert nodes_of(json.dumps(content), Scene())[0].attachment == Attachment()


def test_locked_is_an_edit_like_any_other(document):
    document.set_value(ParamRef("a", "node", "locked"), True)
    assert "a" not in document.scene.unlocked
    document.undo_stack.undo()
    assert document.scene == SCENE
