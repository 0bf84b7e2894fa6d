import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sinew.app.project.project_file import load_project
from sinew.app.project.project_json import ProjectError
from sinew.sim.cache.history import CacheHistory
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.params import ParamError
from sinew.sim.scene.scene import Attachment, Node, ParamRef, Scene, with_value
from sinew.sim.scene.strips import Strip, is_cut, last_end, parts_at
from sinew.sim.scene.transform import Transform, node_matrix, rigid_matrix
from sinew.sim.scene.world_transforms import WORLD, WorldTransforms, carrier_of, relative_transform
from tests.refusals import refusal
from tests.synthetic_models import synthetic_character
from tests.unit.colliders.cases import Posed, posed

MODEL = synthetic_character(12)
BONE = 5
STAYS = "its transform is relative to the world"
OFFSET = Transform(position=(0.1, 0.2, -0.1), rotation=(30.0, 0.0, 10.0), scale=(1.0, 3.0, 0.5))
UNEVEN = Transform(position=(3.0, 0.0, 1.0), rotation=(10.0, 40.0, -20.0), scale=(1.0, 2.0, 4.0))


def light(node_id: str, on: str = "", bone: str = "", place: Transform = OFFSET) -> Node:
    return Node(
        id=node_id,
        name=node_id.upper(),
        transform=place,
        attachment=Attachment(node=on, bone=bone),
        settings=LightSettings(),
    )


def character(place: Transform = UNEVEN) -> Node:
    return Node(id="character", name="Walker", transform=place, settings=ModelSettings())


def places(*nodes: Node) -> WorldTransforms:
    return WorldTransforms(
        Scene(nodes=nodes), {node.id: posed(node, MODEL, 0.4) for node in nodes if node.settings.is_character}
    )


def test_on_a_node_it_is_relative_to_a_rigid_frame_with_the_mean_scale() -> None:
    """Metres stay metres along each axis: nothing is stretched by what carries it."""
    flat = places(light("a", place=Transform(scale=(1.0, 0.0, 1.0))), light("b", on="a"))
    np.testing.assert_allclose(flat.world_from_node(flat.scene.node("b")), node_matrix(OFFSET), atol=1e-15)
    alone = places(light("b", bone="head"))
    assert alone.carrier(alone.scene.node("b")) is WORLD
    found = places(light("a", place=UNEVEN), light("b", on="a"))
    carrier = found.carrier(found.scene.node("b"))
    assert carrier.scale == pytest.approx(2.0)
    np.testing.assert_allclose(carrier.world_from_carrier, rigid_matrix(UNEVEN), atol=1e-12)
    expected = rigid_matrix(UNEVEN) @ np.diag([2.0, 2.0, 2.0, 1.0]) @ node_matrix(OFFSET)
    np.testing.assert_allclose(found.world_from_node(found.scene.node("b")), expected, atol=1e-12)


@pytest.mark.parametrize("scale", [(1.0, 2.0, 4.0), (-2.0, 2.0, 2.0)])
def test_on_a_bone_it_follows_the_place_and_the_axes_of_the_bone(scale: tuple[float, float, float]) -> None:
    found = places(character(Transform(scale=scale)), light("a", on="character", bone=f"joint {BONE}"))
    one = posed(found.scene.node("character"), MODEL, 0.4)
    bone = one.world_from_model @ one.pose.model_from_joint[BONE]
    carrier = found.carrier(found.scene.node("a"))
    np.testing.assert_allclose(carrier.world_from_carrier[:3, 3], bone[:3, 3], atol=1e-12)
    linear = carrier.world_from_carrier[:3, :3]
    np.testing.assert_allclose(linear @ linear.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(linear) == pytest.approx(1.0)
    assert carrier.scale == pytest.approx(2.0)


@pytest.mark.parametrize("order", ["abc", "cba", "bac"])
def test_chains_of_nodes_and_bones_in_any_order(order: str) -> None:
    character_node, last = character(), Node(id="c", attachment=Attachment(node="b"), settings=ColliderSettings())
    nodes = {"a": light("a", on="character", bone=f"joint {BONE}"), "b": light("b", on="a"), "c": last}
    found = places(character_node, *(nodes[name] for name in order))
    together = dict(zip(order, found.carriers([nodes[name] for name in order]), strict=True))
    # UNEVEN scales by two in the mean, OFFSET by the third root of one and a half.
    own = 1.5 ** (1.0 / 3.0)
    bone = together["a"]
    assert [together[name].scale for name in "abc"] == pytest.approx([2.0, 2.0 * own, 2.0 * own * own])
    first = bone.world_from_carrier @ rigid_matrix(OFFSET, 2.0)
    second = first @ rigid_matrix(OFFSET, 2.0 * own)
    np.testing.assert_allclose(together["b"].world_from_carrier, first, atol=1e-12)
    np.testing.assert_allclose(together["c"].world_from_carrier, second, atol=1e-12)
    for name in "abc":
        alone = places(character_node, *nodes.values()).carrier(nodes[name])
        np.testing.assert_array_equal(alone.matrix, together[name].matrix)


def test_a_very_long_chain_is_no_deep_recursion() -> None:
    count, step = 5_000, Transform(position=(0.0, 0.0, 1.0))
    chain = [light(f"n{index}", on=f"n{index - 1}" if index else "", place=step) for index in range(count)]
    for nodes in (chain, chain[::-1]):
        found = places(*nodes)
        assert found.world_from_node(chain[-1])[2, 3] == pytest.approx(count)
        assert [node.id for node in found.scene.carried_last] == [node.id for node in chain]
        assert found.scene.circling is None
        assert len(found.scene.carriers(chain[-1].id)) == count - 1
        # Asked for together, the deepest first or last.
        assert len({id(carrier) for carrier in places(*nodes).carriers(nodes)}) == count


def test_a_node_without_its_parent_stays_and_is_reported() -> None:
    for on, bone, line in (
        ("gone", "", f"A: its parent is not in the scene; {STAYS}"),
        ("gone", "head", f"A: its parent is not in the scene; {STAYS}"),
        ("character", "tail", f"A: Walker has no bone 'tail'; {STAYS}"),
        ("b", "head", f"A: B has no bone 'head'; {STAYS}"),
    ):
        found = places(character(), light("a", on=on, bone=bone), light("b"), light("c", on="a"))
        node = found.scene.node("a")
        assert found.missing(node) == line
        np.testing.assert_array_equal(found.world_from_node(node), node_matrix(OFFSET))
        assert found.missing(found.scene.node("c")) == "", "what rides on it has something to ride on"
        assert found.missing(found.scene.node("b")) == ""


def test_a_model_that_is_still_loading_is_no_warning() -> None:
    scene = Scene(nodes=(character(), light("a", on="character", bone="head"), light("b", on="character")))
    found = WorldTransforms(scene, {})
    assert [found.missing(node) for node in scene.nodes] == ["", "", ""]
    np.testing.assert_array_equal(found.world_from_node(scene.node("a")), node_matrix(OFFSET))
    np.testing.assert_allclose(found.carrier(scene.node("b")).world_from_carrier, rigid_matrix(UNEVEN), atol=1e-12)
    static = WorldTransforms(scene, {"character": Posed(MODEL, None, node_matrix(UNEVEN))})
    lines = [static.missing(node) for node in scene.nodes]
    assert lines == ["", f"A: Walker has no bone 'head'; {STAYS}", ""], "there is no skeleton"


def test_nothing_can_be_attached_to_itself() -> None:
    scene = Scene(nodes=(light("a"), light("b", on="a"), light("c", on="b", bone="head"), light("d")))
    for node_id, carrier in (("a", "a"), ("a", "b"), ("a", "c"), ("b", "c")):
        with pytest.raises(ParamError, match=f"{node_id.upper()} cannot be attached to itself"):
            with_value(scene, ParamRef(node_id, "attachment", "node"), carrier)
    for node_id, carrier in (("c", "a"), ("d", "c"), ("a", "d"), ("a", "gone"), ("b", "")):
        changed = with_value(scene, ParamRef(node_id, "attachment", "node"), carrier)
        assert changed.node(node_id).attachment.node == carrier
        assert changed.circling is None


def test_a_file_with_a_circle_of_attachments_is_refused_at_its_place(tmp_path: Path) -> None:
    def node(node_id: str, carrier: str) -> dict[str, Any]:
        return {"id": node_id, "attachment": {"node": carrier}, "light": {}}

    path = tmp_path / "circle.sinew"
    for nodes, place in (
        ([node("a", "a")], 0),
        ([node("x", ""), node("a", "b"), {"id": "k", "kite": {}}, node("b", "c"), node("c", "a")], 1),
        ([node("x", "b"), node("b", "c"), node("c", "b")], 1),
    ):
        path.write_text(json.dumps({"format": "sinew-project", "version": 2, "nodes": nodes}), encoding="utf-8")
        carrier = nodes[place]["attachment"]["node"]
        reason = f'"{carrier}" is not allowed; allowed: a node that is not attached to this one'
        assert refusal(load_project, path, ProjectError) == f"$.nodes[{place}].attachment.node: {reason}"


@given(st.lists(st.integers(-1, 9), min_size=10, max_size=10), st.permutations(range(10)))
def test_children_come_after_their_parents(carriers: list[int], order: list[int]) -> None:
    """In any scene without a circle; one with a circle is found, and its answers end."""
    nodes = [light(f"n{index}", on=f"n{carriers[index]}" if carriers[index] >= 0 else "") for index in order]
    scene = Scene(nodes=tuple(nodes))
    assert {node.id for node in scene.carried_last} == {node.id for node in nodes}
    assert len(scene.carried_last) == len(nodes)
    for node in nodes:
        assert WorldTransforms(scene, {}).world_from_node(node).shape == (4, 4)
    circling = scene.circling
    if circling is not None:
        assert (scene.carriers(circling.id) or [circling])[-1].attachment.node == circling.id
        return
    ends = list(range(10))
    for _ in range(10):
        ends = [carriers[end] if end >= 0 else -1 for end in ends]
    assert set(ends) == {-1}
    rank = {node.id: index for index, node in enumerate(scene.carried_last)}
    for node in nodes:
        assert all(rank[above.id] < rank[node.id] for above in scene.carriers(node.id))


numbers = st.floats(-10.0, 10.0)
angles = st.floats(-180.0, 180.0)
scales = st.floats(0.1, 10.0)
transforms = st.builds(
    Transform,
    position=st.tuples(numbers, numbers, numbers),
    rotation=st.tuples(angles, angles, angles),
    scale=st.tuples(scales, scales, scales),
)


@given(transforms, transforms)
def test_a_transform_relative_to_another_carrier_keeps_the_place_in_the_world(own, carrier):
    world = node_matrix(own)
    on = carrier_of(carrier)
    relative = relative_transform(world, on)
    np.testing.assert_allclose(on.matrix @ node_matrix(relative), world, rtol=1e-9, atol=1e-9)
    found = places(light("a", place=carrier), light("b", on="a", place=relative))
    np.testing.assert_allclose(found.world_from_node(found.scene.node("b")), world, rtol=1e-9, atol=1e-9)


LENGTHS = {"walk": 1.0, "turn": 2.0, "pose": 0.0}
length = LENGTHS.__getitem__
seconds = st.integers(-3000, 9000).map(lambda value: value / 1000.0)
strips = st.builds(
    Strip,
    clip=st.sampled_from(list(LENGTHS)),
    start=seconds,
    clip_in=st.integers(0, 2500).map(lambda value: value / 1000.0),
    clip_out=st.none() | st.integers(0, 2500).map(lambda value: value / 1000.0),
    speed=st.sampled_from([1.0, -1.0, 0.5, 3.0, 0.0]),
    repeats=st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.5]),
)


def played(*some, time):
    return [(p.clip, p.time, p.weight) for p in parts_at(some, length, time)]


@given(st.lists(strips, min_size=1, max_size=5), seconds)
def test_every_moment_has_a_pose_within_its_clips(some, time):
    parts = parts_at(some, length, time)
    assert parts[0].weight == 1.0
    for part in parts:
        assert 0.0 <= part.weight <= 1.0
        assert 0.0 <= part.time <= LENGTHS[part.clip]


def test_strips_that_overlap_blend_smoothly():
    some = Strip(clip="walk", repeats=2.0), Strip(clip="turn", start=1.0, repeats=1.0)
    weights = [parts_at(some, length, 1.0 + share)[-1].weight for share in np.linspace(0.0, 1.0, 11, endpoint=False)]
    assert weights[0] == 0.0
    assert np.all(np.diff(weights) > 0.0)
    assert played(*some, time=1.5) == [("walk", 0.5, 1.0), ("turn", 0.5, 0.5)]
    assert [name for name, *_ in played(*some, time=2.0)] == ["turn"]


def test_in_out_speed_and_repeats_place_a_moment():
    for strip, time, expected in (
        (Strip(clip="turn", speed=0.5, repeats=1.0), 1.0, 0.5),
        (Strip(clip="turn", speed=-1.0, repeats=1.0), 0.5, 1.5),
        (Strip(clip="turn", clip_in=0.5, clip_out=1.0), 0.75, 0.75),
        (Strip(clip="turn", clip_in=0.5, speed=0.0), 7.0, 0.5),
        (Strip(clip="turn", repeats=1.5), 8.0, 1.0),
        (Strip(clip="pose"), 8.0, 0.0),
    ):
        assert parts_at([strip], length, time)[0].time == pytest.approx(expected)


def test_a_repetition_and_a_strip_without_overlap_are_cuts_and_a_blend_is_none():
    at = lambda some, time: parts_at(some, length, time)  # noqa: E731
    walk = [Strip(clip="walk")]
    assert is_cut(at(walk, 0.99), at(walk, 1.01))
    assert not is_cut(at(walk, 0.49), at(walk, 0.51))
    apart = [Strip(clip="walk", repeats=1.0), Strip(clip="turn", start=1.0)]
    assert is_cut(at(apart, 0.99), at(apart, 1.01))
    blended = [Strip(clip="walk", repeats=1.0), Strip(clip="turn", start=0.5)]
    assert not any(is_cut(at(blended, t), at(blended, t + 0.02)) for t in np.arange(0.02, 1.2, 0.02))


def test_ends_and_keys_in_the_scene():
    some = Strip(clip="walk", start=1.0, repeats=3.0), Strip(clip="turn", start=2.0)
    assert last_end(some, length) == 4.0
    assert some[1].end(2.0) == math.inf
    assert some[0].moments([0.0, 0.5, 1.0], 1.0, 3.0) == [1.0, 1.5, 2.0, 2.0, 2.5, 3.0, 3.0]


def test_solo_mutes_others_of_the_kind_and_mute_the_one() -> None:
    for states, simulated in (
        ({"a": "", "b": ""}, {"a", "b"}), ({"a": "m", "b": ""}, {"b"}), ({"a": "", "b": "s"}, {"b"}),
        ({"a": "s", "b": "s", "c": ""}, {"a", "b"}), ({"a": "ms", "b": ""}, set()), ({"a": "ms", "b": "s"}, {"b"}),
        ({"a": "h", "b": "h"}, {"a", "b"}), ({}, set()),
    ):  # fmt: skip
        nodes = [
            Node(id=name, visible="h" not in state, muted="m" in state, solo="s" in state, settings=EmitterSettings())
            for name, state in states.items()
        ]
        scene = Scene(nodes=(*nodes, Node(id="lamp", settings=LightSettings())))
        assert scene.simulated == simulated | {"lamp"}


END = 12


def fresh(values):
    state = 0
    for value in values:
        state = hash((state, value))
    return state


def settled(*values):
    return tuple(zip("nm", values, strict=False))


class Walk:
    def __init__(self, budget=10_000):
        self.dropped = []
        self.history = CacheHistory(settled("a"), self.dropped.append)
        self.value, self.at, self.budget, self.held = "a", 0, budget, 0
        self.shown = (0, ())

    def state(self, step):
        return self.content(step)[0]

    def course(self, step):
        return self.content(step)[1]

    def content(self, step):
        return (self.history.get(step) or self.shown) if step else (0, ())

    def play(self, count):
        for _ in range(count):
            step = self.at + 1
            if step > END:
                return
            if self.history.get(step) is None:
                content = hash((self.state(self.at), self.value)), (*self.course(self.at), self.value)
                line = self.history.owner(step)
                if step <= self.history.branch.reached and line is self.history.branch:
                    self.history.add(step, content)
                else:
                    self.history.put(step, content)
                self.held += 1
                self.make_room()
                self.shown = content
            self.at = step
            self.shown = self.content(step)

    def make_room(self):
        while self.held - len(self.dropped) > self.budget and self.history.evict():
            pass

    def scrub(self, step):
        self.at = self.history.latest(step)
        self.shown = self.content(self.at)

    def edit(self, value):
        before = (self.state(self.at), self.course(self.at))
        self.value = value
        if self.history.change(self.at, settled(value)):
            self.history.put(self.at, before)
            self.held += 1
        self.scrub(self.at)

    def restart(self):
        self.history.restart(settled(self.value))
        self.scrub(0)


acts = st.lists(
    st.one_of(
        st.tuples(st.just("play"), st.integers(1, 6)),
        st.tuples(st.just("scrub"), st.integers(0, END)),
        st.tuples(st.just("edit"), st.sampled_from("abc")),
        st.tuples(st.just("restart")),
    ),
    max_size=30,
)


def walked(walk, steps):
    for name, *values in steps:
        getattr(walk, name)(*values)
        for step in walk.history.cached:
            assert walk.state(step) == fresh(walk.course(step)), "every cached step is what its course leads to"
            assert len(walk.course(step)) == step
        assert walk.history.cached == sorted(set(walk.history.cached))
    return walk


@settings(max_examples=100, deadline=None)
@given(acts)
def test_every_walk_shows_what_a_run_of_the_same_course_shows(steps):
    walk = walked(Walk(), steps)
    walk.restart()
    walk.play(END)
    assert walk.course(END) == (walk.value,) * END
    assert walk.state(END) == fresh([walk.value] * END), "a run from the start knows nothing of the walk"


@settings(max_examples=100, deadline=None)
@given(acts, st.integers(3, 9))
def test_eviction_loses_no_bit(steps, budget):
    walk = walked(Walk(budget), steps)
    walk.restart()
    for _ in range(END + 1):
        walk.scrub(END)
        walk.play(1)
    assert walk.state(walk.at) == fresh([walk.value] * walk.at)


def test_taking_an_edit_back_finds_the_steps_again():
    walk = Walk()
    walk.play(10)
    walk.scrub(4)
    walk.edit("b")
    walk.play(5)
    assert walk.course(9) == ("a",) * 4 + ("b",) * 5
    walk.edit("a")
    assert walk.course(9) == ("a",) * 9
    assert walk.history.cached == list(range(1, 11))
    walk.edit("b")
    assert walk.course(9) == ("a",) * 4 + ("b",) * 5


def test_a_forked_branch_is_never_thinned():
    walk = Walk()
    walk.play(10)
    walk.scrub(3)
    assert walk.history.fork(3)
    assert not walk.history.is_fresh
    for step in (3, 4, 5):
        walk.history.put(step, (hash(("hand", step)), ("a",) * step))
    assert walk.history.cached == [1, 2, 3, 4, 5]
    while walk.history.evict():
        pass
    assert walk.history.cached[-3:] == [3, 4, 5]
