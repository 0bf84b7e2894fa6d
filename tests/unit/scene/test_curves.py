"""Keys against values known in closed form and against sums in float64, and the scene that they give."""

import dataclasses
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from sinew.app.document.keyed_values import keyed_values
from sinew.sim.cache.keys import node_keys
from sinew.sim.cache.sweep import SweepError, axis_of
from sinew.sim.characters.modifiers.settings import FootPlanting, LookAt, TwoBoneIK
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.air import AirTravel, air_travel
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.contract import World
from sinew.sim.kinds.emitter.births import schedule_of
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.emitter.system import largest_settings
from sinew.sim.kinds.keyable import curve_fault, key_refusal
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.maths.gusts import gusts_at
from sinew.sim.scene.applied import Applied
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.curves import Curve, Key, KeyMode, with_key
from sinew.sim.scene.keyed import KeyedScene, jumped, variants
from sinew.sim.scene.params import params_of
from sinew.sim.scene.scene import Attachment, Node, ParamRef, Scene, node_part, with_value
from sinew.sim.scene.world_transforms import WorldTransforms


def curve(*keys: tuple, part: str = "light", field: str = "intensity", component: int = -1) -> Curve:
    return Curve(part=part, field=field, component=component, keys=tuple(Key(*key) for key in keys))


def keyed_value(node: Node, part: str, field: str, time: float) -> object:
    evaluated = KeyedScene(step=0.0).at(Scene(nodes=(node,)), time)
    return getattr(node_part(evaluated.nodes[0], part), field)


RISE = curve((0.0, 0.0), (1.0, 1.0), (2.0, 5.0), (3.0, 6.0))


def test_slopes_values_and_integrals_have_their_known_values() -> None:
    assert [RISE.slopes(place) for place in range(4)] == [(0.0, 0.0), (1.6, 1.6), (1.6, 1.6), (0.0, 0.0)]
    assert RISE.value(1.5) == pytest.approx(3.0, abs=1e-12)
    assert RISE.integral(1.0, 2.0) == pytest.approx(3.0, abs=1e-12)
    assert (RISE.value(-1.0), RISE.value(9.0), RISE.range) == (0.0, 6.0, (0.0, 6.0))
    assert RISE.integral(3.0, 5.0) == pytest.approx(12.0, abs=1e-12)


TIMES = st.lists(st.integers(0, 400), min_size=1, max_size=8, unique=True).map(sorted)


@given(TIMES, st.data())
@settings(max_examples=80, deadline=None)
def test_values_are_continuous_and_integrals_are_sums_of_values(times: list[int], data: st.DataObject) -> None:
    number = st.floats(-50.0, 50.0)
    slope = st.none() | st.floats(-20.0, 20.0)
    keys = [
        (time / 100.0, data.draw(number), data.draw(st.sampled_from(KeyMode)), data.draw(slope), data.draw(slope))
        for time in times
    ]
    found = curve(*keys)
    start, end = sorted((data.draw(st.floats(-1.0, 5.0)), data.draw(st.floats(-1.0, 5.0))))
    edges = sorted({start, end, *(key.time for key in found.keys if start < key.time < end)})
    nodes, weights = np.polynomial.legendre.leggauss(24)
    total = sum(
        (b - a)
        / 2.0
        * sum(w * float(found.value((a + b + (b - a) * x) / 2.0)) for x, w in zip(nodes, weights, strict=True))
        for a, b in itertools.pairwise(edges)
    )
    assert found.integral(start, end) == pytest.approx(total, abs=1e-9)
    lo, hi = found.range
    for time in np.linspace(-0.5, 4.5, 101):
        assert lo - 1e-9 <= float(found.value(float(time))) <= hi + 1e-9
    for before, key in itertools.pairwise(found.keys):
        assert found.value(key.time) == key.value
        if before.mode is not KeyMode.STEP:
            assert found.value(key.time - 1e-9) == pytest.approx(key.value, abs=1e-4)
    automatic = structs.replace(
        found,
        keys=tuple(structs.replace(key, mode=KeyMode.HERMITE, slope_in=None, slope_out=None) for key in found.keys),
    )
    values = [key.value for key in found.keys]
    extremes = pytest.approx((min(values), max(values)), abs=1e-9)
    assert automatic.range == extremes, "automatic slopes do not overshoot"


LAMP = Node(
    id="l",
    name="Lamp",
    settings=LightSettings(),
    curves=(
        RISE,
        curve((0.0, True, KeyMode.STEP), (1.0, False, KeyMode.STEP), field="shadow"),
        curve((0.0, 0.0), (1.0, 9.0), field="colour", component=2),
        curve((0.5, 1.0, KeyMode.STEP), (1.0, 3.0), part="transform", field="position", component=1),
    ),
)


def test_a_scene_without_keys_is_itself_and_constant_values_are_the_same_objects() -> None:
    still, keyed = Scene(nodes=(Node(id="a", settings=LightSettings()),)), KeyedScene()
    assert keyed.at(still, 3.0) is still
    scene = Scene(nodes=(*still.nodes, LAMP))
    now = keyed.at(scene, 1.5)
    assert now.nodes[0] is still.nodes[0]
    lamp = now.node("l")
    assert (lamp.settings.intensity, lamp.settings.shadow) == (pytest.approx(3.0), False)
    assert lamp.settings.colour == (*LightSettings().colour[:2], 1.0), "values stay in their range"
    assert lamp.transform.position == (0.0, 3.0, 0.0)
    assert keyed.at(scene, 1.5) is now
    assert keyed.at(scene, 9.0).nodes[1] is keyed.at(scene, 10.0).nodes[1]
    assert keyed.at(scene, 9.0) is keyed.at(scene, 11.0), "after the last key nothing changes"
    assert keyed_value(LAMP, "light", "intensity", 1.5) == pytest.approx(3.0)
    assert keyed_value(LAMP, "light", "reach", 1.5) == LightSettings().reach


def test_a_step_key_of_a_transform_moves_a_node_and_its_children_suddenly() -> None:
    child = Node(id="c", settings=ColliderSettings(), attachment=Attachment(node="l"))
    scene = Scene(nodes=(child, LAMP, Node(id="x", settings=LightSettings())))
    assert jumped(scene, 0.99, 1.0) == {"l", "c"}
    assert jumped(scene, 1.0, 1.1) == frozenset()
    assert jumped(scene, 0.4, 0.6) == frozenset()


def test_a_rate_counts_at_the_middle_of_a_step() -> None:
    """From 0 to 1 000/s within a second an emitter bears 500 particles; at the ends of the steps 508."""
    rate = curve((0.0, 0.0, KeyMode.LINEAR), (1.0, 1000.0), part="emitter", field="rate")
    node = Node(id="e", settings=EmitterSettings(capacity=2000), curves=(rate,))
    scene, keyed = Scene(nodes=(node,)), KeyedScene()
    stream = schedule_of(keyed.at(scene, 0.0).node("e").settings)
    for step in range(60):
        stream = stream.with_rate(keyed.at(scene, (step + 1) * STEP_TIME).node("e").settings.rate, step)
    assert stream.births_before(60) == 500
    assert largest_settings(node).rate == 1000.0


def test_gusts_follow_the_way_of_the_air_and_not_its_present_speed() -> None:
    wind = ClothSettings(wind=(3.0, 0.0, 1.0), turbulence=0.7)
    level = tuple(
        curve((0.0, value), (9.0, value), part="cloth", field="wind", component=axis)
        for axis, value in enumerate(wind.wind)
    )
    node = Node(id="c", settings=wind, curves=level)
    travel = air_travel(node, 1.0, 5.0)
    assert travel is not None
    held, plain = gusts_at(wind, 4.0, travel), gusts_at(wind, 4.0)
    turned = np.abs(held.waves[:, 3] - plain.waves[:, 3])
    assert np.minimum(turned, 2.0 * np.pi - turned).max() < 1e-9
    ramp = curve((0.0, 0.0, KeyMode.LINEAR), (10.0, 10.0), part="cloth", field="wind", component=0)
    moving = air_travel(structs.replace(node, curves=(ramp,)), 0.0, 10.0)
    assert moving is not None
    assert moving.wind == (pytest.approx(50.0), 0.0, pytest.approx(10.0)), "U·t would be 100 m"
    assert moving.turbulence == pytest.approx(7.0)
    assert air_travel(Node(id="c", settings=wind), 0.0, 1.0) is None


def test_gusts_whose_size_has_keys_do_not_jump() -> None:
    """Each wave turns at the rate of the moment: its phase is the integral of the rate."""
    plain = ClothSettings(wind=(3.0, 0.0, -1.0), turbulence=0.8, turbulence_scale=0.7)
    size = curve((0.0, 0.5), (2.0, 3.0, KeyMode.EXPONENTIAL), (4.0, 0.2), part="cloth", field="turbulence_scale")
    speed = curve((0.5, 0.8), (3.0, 2.0), part="cloth", field="turbulence")
    keyed = Node(id="c", settings=plain, curves=(size, speed))

    def at(time: float) -> Node:
        return KeyedScene(step=0.0).at(Scene(nodes=(keyed,)), time).node("c")

    def phases(node: Node, travel: AirTravel | None) -> np.ndarray:
        return gusts_at(node.settings, 0.0, travel).waves[:, 3]

    def rates(node: Node) -> np.ndarray:
        instant = 1e-6
        way = tuple(instant * speed for speed in node.settings.wind)
        moved = phases(node, AirTravel(way, instant * node.settings.turbulence, 0.0)) - phases(node, None)
        return (np.mod(moved + 1.0, 2.0 * np.pi) - 1.0) / instant

    times = np.linspace(0.0, 4.0, 4001)
    turned = sum(rates(at(time)) * 1e-3 for time in (times[:-1] + 5e-4).tolist())
    last = at(4.0)
    found = phases(last, air_travel(last, 0.0, 4.0)) - phases(last, None)
    assert np.abs(np.exp(1j * found) - np.exp(1j * turned)).max() < 1e-3
    fixed = structs.replace(keyed, curves=(structs.replace(size, keys=(Key(0.0, 0.7),)),))
    same = gusts_at(plain, 2.5, air_travel(fixed, 0.0, 2.5)).waves
    np.testing.assert_allclose(same, gusts_at(plain, 2.5).waves, atol=1e-9)


def test_values_through_zero_have_a_program_each() -> None:
    drag = curve((0.0, 0.0, KeyMode.LINEAR), (1.0, 2.0), part="emitter", field="drag")
    found = [one.drag > 0.0 for one in variants(Node(id="e", settings=EmitterSettings(), curves=(drag,)))]
    assert sorted(found) == [False, True]


REFUSED = {
    ("cloth", "columns"): "a change rebuilds the node",
    ("collider", "radius"): "a surface that grows has no velocity for collisions",
    ("node", "name"): "only numbers",
    ("attachment", "node"): "the parent of a node cannot change over time",
    ("node", "muted"): "only numbers",
}


def test_what_cannot_have_keys_says_why_and_everything_else_can() -> None:
    for (part, field), reason in REFUSED.items():
        kind = part if part in KINDS else "cloth"
        assert key_refusal(Node(id="a", settings=KINDS[kind].settings()), part, field).startswith(reason), field
    ball = Node(id="b", settings=ColliderSettings())
    assert key_refusal(ball, "transform", "scale")
    assert not key_refusal(ball, "transform", "position")
    stateless = Node(id="e", settings=EmitterSettings(stateless=True))
    assert key_refusal(stateless, "emitter", "wind")
    assert not key_refusal(stateless, "emitter", "brightness")
    with pytest.raises(KeyError):
        key_refusal(ball, "collider", "nothing")


def test_a_key_of_every_keyable_setting_is_valid_and_evaluates() -> None:
    count = 0
    for kind in KINDS.values():
        node = Node(id="a", settings=kind.settings())
        for part, cls in ((kind.name, kind.settings), ("transform", type(node.transform)), ("node", Node)):
            for record in params_of(cls):
                if key_refusal(node, part, record.name):
                    continue
                value = keyed_value(node, part, record.name, 0.0)
                lowest = value[0] if record.type is tuple else getattr(value, "value", value)
                is_number = not isinstance(lowest, bool | str)
                key = (0.5, float(lowest)) if is_number else (0.5, lowest, KeyMode.STEP)
                made = curve(key, part=part, field=record.name, component=0 if record.type is tuple else -1)
                assert curve_fault(node, (made,)) is None, record.name
                assert keyed_value(structs.replace(node, curves=(made,)), part, record.name, 1.0) == value
                count += 1
    assert count > 150


def world_of(scene: Scene) -> World:
    evaluated = KeyedScene().at(scene, 0.7)
    applied = Applied(scene, evaluated, evaluated, 0.7, 0.7, SimpleNamespace())  # type: ignore[arg-type]
    return World(applied, evaluated, {}, WorldTransforms(evaluated, {}), SimpleNamespace())  # type: ignore[arg-type]


def test_cached_steps_depend_on_the_curves_and_not_on_the_moment() -> None:
    wind = curve((0.0, 0.0), (1.0, 2.0), part="cloth", field="wind", component=0)
    move = curve((0.0, 0.0), (1.0, 2.0), part="transform", field="position", component=0)
    cloth, ball = Node(id="c", settings=ClothSettings(), curves=(wind,)), Node(id="b", settings=ColliderSettings())
    key = node_keys(world_of(Scene(nodes=(cloth, ball, LAMP))))["c"]
    world = world_of(Scene(nodes=(cloth, ball, LAMP)))
    later = dataclasses.replace(world, scene=KeyedScene().at(world.applied.allowed, 0.2))
    assert node_keys(later)["c"] == key
    assert node_keys(world_of(Scene(nodes=(cloth, ball))))["c"] == key, "a keyed light changes no step"
    other = structs.replace(cloth, curves=(with_key(wind, Key(1.0, 2.5)),))
    assert node_keys(world_of(Scene(nodes=(other, ball, LAMP))))["c"] != key
    moved = structs.replace(ball, curves=(move,))
    assert node_keys(world_of(Scene(nodes=(cloth, moved, LAMP))))["c"] != key


def test_a_sweep_refuses_settings_with_keys() -> None:
    with pytest.raises(SweepError, match="has keys"):
        axis_of(Scene(nodes=(LAMP,)), "Lamp.intensity=1,2")
    assert axis_of(Scene(nodes=(LAMP,)), "Lamp.reach=1,2").values == (1.0, 2.0)


def test_keys_of_entries_of_a_list_follow_their_entries() -> None:
    head, hand = LookAt(bone="head", target="b"), TwoBoneIK(bone="hand", target="b")
    faded = curve((0.0, 0.0, KeyMode.LINEAR), (1.0, 1.0), part="modifiers.0", field="weight")
    node = Node(id="m", settings=ModelSettings(modifiers=(head, hand)), curves=(faded,))
    assert curve_fault(node, node.curves) is None
    scene, ref = Scene(nodes=(node,)), ParamRef("m", "model", "modifiers")
    shown = KeyedScene().at(scene, 0.25)
    first, second = shown.node("m").settings.modifiers
    assert (first.weight, second) == (0.25, hand)

    def edited(*entries: object) -> Node:
        return with_value(scene, ref, keyed_values(scene, shown, {ref: entries}, 0.25, auto=False)[ref]).node("m")

    swapped = edited(second, first)
    assert swapped.settings.modifiers == (hand, head)
    assert [one.part for one in swapped.curves] == ["modifiers.1"]
    assert edited(second).curves == ()
    assert edited(structs.replace(first, bone="neck"), second).curves == (faded,)
    added = edited(TwoBoneIK(), first, second)
    assert added.settings.modifiers[1:] == (head, hand)
    assert [one.part for one in added.curves] == ["modifiers.1"]
    assert edited(FootPlanting(), second).curves[0].field == "weight"
    assert curve_fault(edited(), node.curves) == ("[0]", "model has no setting modifiers.0.weight")


def test_a_colour_that_a_material_takes_from_its_file_can_have_keys() -> None:
    red = curve((0.0, 0.5), part="material:skin", field="diffuse", component=0)
    scene = Scene(nodes=(Node(id="m", settings=ModelSettings(), curves=(red,)),))
    assert KeyedScene().at(scene, 1.0).node("m").settings.part("material:skin").diffuse == (0.5, 0.0, 0.0)
