import msgspec

from sinew.app.timings.past_values import SceneHistory, difference_text, values_that_differ
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import VIEW, Node, ParamRef, Scene, with_value
from sinew.sim.scene.vectors import Vec3


def light(node_id: str, position: Vec3 = (0.0, 0.0, 0.0)) -> Node:
    node = Node(id=node_id, name=node_id, settings=LightSettings())
    return msgspec.structs.replace(node, transform=msgspec.structs.replace(node.transform, position=position))


def test_a_frame_has_the_scene_it_was_drawn_from() -> None:
    first, second = Scene(), Scene(nodes=(light("a"),))
    past = SceneHistory()
    for number in range(3, 10):
        past.note(number, first if number < 7 else second)
    assert len(past) == 2
    assert past.at(2) is None
    assert past.at(3) is first
    assert past.at(6) is first
    assert past.at(7) is second
    assert past.at(99) is second


def test_scenes_leave_with_their_frames_and_beyond_a_limit() -> None:
    scenes = [Scene(nodes=(light(str(i)),)) for i in range(6)]
    past = SceneHistory(scenes_max=4)
    for number, scene in enumerate(scenes):
        past.note(10 * number, scene)
    assert len(past) == 4
    assert past.at(15) is None
    past.forget_before(35)
    assert past.at(35) is scenes[3]
    assert past.at(29) is None
    past.clear()
    assert past.at(50) is None


def test_values_that_differ_are_those_of_then() -> None:
    then = Scene(nodes=(light("a"), light("gone")))
    now = with_value(then, ParamRef("a", "transform", "position"), (1.0, 2.0, 3.0))
    now = with_value(now, ParamRef(VIEW, VIEW, "grid"), not then.view.grid)
    now = msgspec.structs.replace(now, nodes=(now.nodes[0], light("new")))
    assert values_that_differ(now, then) == {
        ParamRef("a", "transform", "position"): (0.0, 0.0, 0.0),
        ParamRef(VIEW, VIEW, "grid"): then.view.grid,
    }
    assert values_that_differ(now, now) == {}
    ref = ParamRef("a", "transform", "position")
    assert difference_text(now, ref, values_that_differ(now, then)[ref]) == "a position 0 0 0"
    assert difference_text(now, ParamRef(VIEW, VIEW, "grid"), True) == "View grid on"
