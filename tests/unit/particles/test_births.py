import itertools

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.kinds.emitter.births import (
    GENERATIONS,
    Burst,
    Schedule,
    Segment,
    capacity_needed,
    check_emitter,
    hash_number,
    parse_bursts,
    schedule_of,
    slot_ranges,
    slots_needed,
    starvation,
)
from sinew.sim.kinds.emitter.block import drag_terms
from sinew.sim.kinds.emitter.particles import TABLE_SIZE, life_table
from sinew.sim.kinds.emitter.presets import OWN_FIELDS, PRESET_FIELDS, PRESETS, with_preset
from sinew.sim.kinds.emitter.settings import EmissionAim, EmissionMode, EmitterSettings, EmitterSource
from sinew.sim.kinds.emitter.source import missing_source, reach_of, source_box
from sinew.sim.maths.curl_noise import pattern_at
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import SettingsError, params_of, validated
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.world_transforms import WorldTransforms
from tests.oracles import particles as reference
from tests.oracles.curl_noise import curl_noise


def births(schedule: Schedule, start: float, end: float) -> list[tuple[int, float]]:
    return [
        (one.first + index, one.moment + index * one.spacing)
        for one in schedule.segments(start, end)
        for index in range(one.count)
    ]


def test_a_steady_stream_bears_at_equal_times() -> None:
    found = births(Schedule(100.0 * STEP_TIME), 0, 60)
    assert [number for number, _ in found] == list(range(100))
    assert births(Schedule(1.0), 0, 1) == [(0, 0.0)], "a birth at the end of a step belongs to the next"
    assert [moment * STEP_TIME for _, moment in found] == pytest.approx([number / 100.0 for number in range(100)])


def test_bursts_come_between_the_births_of_the_stream() -> None:
    schedule = Schedule(2.0, (Burst(0.75, 3),))
    assert schedule.segments(0, 2) == [Segment(0, 2, 0.0, 0.5), Segment(2, 3, 0.75, 0.0), Segment(5, 2, 1.0, 0.5)]
    assert schedule.births_before(0.75) == 2
    assert schedule.births_before(0.7500001) == 5


def test_bursts_that_come_again() -> None:
    schedule = Schedule(0.0, (Burst(1.0, 2), Burst(2.5, 1)), 4.0)
    assert births(schedule, 0, 8) == [(0, 1.0), (1, 1.0), (2, 2.5), (3, 5.0), (4, 5.0), (5, 6.5)]


schedules = st.builds(
    Schedule,
    st.one_of(st.just(0.0), st.floats(1e-3, 50.0)),
    st.lists(st.builds(Burst, st.floats(0.0, 30.0), st.integers(1, 9)), max_size=4).map(
        lambda bursts: tuple(sorted(bursts, key=lambda burst: burst.moment))
    ),
    st.one_of(st.just(0.0), st.floats(1.0, 20.0)),
)


@given(schedules, st.lists(st.floats(0.0, 40.0), max_size=8))
def test_any_cut_of_time_bears_the_same(schedule: Schedule, cuts: list[float]) -> None:
    whole = births(schedule, 0.0, 40.0)
    places = sorted({0.0, 40.0, *cuts})
    parts = [one for start, end in itertools.pairwise(places) for one in births(schedule, start, end)]
    assert [number for number, _ in parts] == [number for number, _ in whole] == list(range(len(whole)))
    assert [moment for _, moment in parts] == pytest.approx([moment for _, moment in whole], abs=1e-4)
    assert len(whole) == schedule.births_before(40.0)


def test_a_changed_rate_goes_on_without_gap_or_jump() -> None:
    schedule = Schedule(10.0)
    later = schedule.with_rate(120.0, 3.25)
    assert later.births_before(3.25) == schedule.births_before(3.25) == 33
    found = births(later, 3.25, 5.25)
    # Half of the next birth was due already; the other half comes at the new rate of 2 a step.
    assert [number for number, _ in found] == [33, 34, 35, 36]
    assert [moment for _, moment in found] == pytest.approx([3.5, 4.0, 4.5, 5.0])
    assert later.with_rate(0.0, 5.25).births_before(1000.0) == 37


@pytest.mark.parametrize("number", [0, 6, 7, 12345, 2**32 - 1])
def test_the_hash_counts_births_until_the_generation_wraps_around(number: int) -> None:
    assert hash_number(number % 7, number // 7 % GENERATIONS, 7) == number % (7 * GENERATIONS)


def test_ranges_of_slots() -> None:
    assert slot_ranges(5, 5, 8) == ()
    assert slot_ranges(5, 8, 8) == ((5, 3),)
    assert slot_ranges(14, 19, 8) == ((6, 2), (0, 3))
    assert slot_ranges(3, 30, 8) == ((0, 8),)


def most_alive(schedule: Schedule, life: float) -> int:
    moments = [moment for _, moment in births(schedule, 0.0, 400.0)]
    return max(sum(1 for other in moments if moment - life < other <= moment) for moment in moments)


def test_the_capacity_that_is_needed_is_enough_and_not_much_more() -> None:
    for schedule, life in (
        (Schedule(3.0), 20.0),
        (Schedule(0.0, (Burst(3.0, 5), Burst(20.0, 7), Burst(90.0, 4))), 30.0),
        (Schedule(0.0, (Burst(3.0, 5), Burst(8.0, 7)), 12.0), 30.0),
        (Schedule(0.5, (Burst(3.0, 20),), 50.0), 30.0),
    ):
        assert most_alive(schedule, life) <= capacity_needed(schedule, life) <= most_alive(schedule, life) + 2


def test_bursts_are_read_and_sorted_and_a_wrong_one_is_named() -> None:
    assert parse_bursts("1.5:300, 0:100") == (Burst(0.0, 100), Burst(1.5 / STEP_TIME, 300))
    assert parse_bursts("40") == (Burst(0.0, 40),)
    assert parse_bursts("") == ()
    for text in ("a:3", "1:", "1:x", "-1:5", "1:0", "nan:4", "inf:4", "1:2:3", "1:99999999999"):
        with pytest.raises(SettingsError, match="burst"):
            parse_bursts(f"0:5 {text}")
    with pytest.raises(SettingsError, match="17 bursts"):
        parse_bursts("0:1 " * 17)


def changed(**changes: object) -> EmitterSettings:
    return msgspec.structs.replace(EmitterSettings(), **changes)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_sound_and_never_starve(name: str) -> None:
    settings = with_preset(changed(density_bone="hand", seed=9), name)
    check_emitter(settings)
    assert starvation(settings) == ""
    assert (settings.density_bone, settings.seed) == ("hand", 9)
    assert life_table(settings).shape == (2, TABLE_SIZE, 4)


def test_a_preset_of_ones_own_comes_back() -> None:
    smoke = with_preset(EmitterSettings(), "Smoke")
    assert with_preset(smoke, "Fire") == with_preset(EmitterSettings(), "Fire")
    assert validated(EmitterSettings(), **{field: getattr(smoke, field) for field in PRESET_FIELDS}) == smoke
    assert set(PRESET_FIELDS) | set(OWN_FIELDS) == {record.name for record in params_of(EmitterSettings)}


def test_what_no_emitter_can_be_made_of_is_named() -> None:
    for changes, named in (
        ({"lifetime": 0.0}, "lifetime"),
        ({"capacity": 0}, "capacity"),
        ({"rate": -1.0}, "rate"),
        ({"speed": float("nan")}, "speed"),
        ({"gravity": (0.0, float("inf"), 0.0)}, "gravity"),
        ({"substeps": 0}, "substeps"),
        ({"bursts": "x"}, "burst"),
        ({"mode": EmissionMode.BURST}, "bursts"),
        ({"bursts": "0:5", "burst_period": 0.001}, "burst period"),
        ({"colour_over_life": ()}, "colour_over_life"),
        ({"opacity_over_life": ((0.5, 1.0), (0.2, 1.0))}, "opacity_over_life"),
        ({"size_over_life": ((0.0, 1.0),) * 33}, "size_over_life"),
        ({"colour_over_life": ((0.0, 2.0, 0.0, 0.0),)}, "colour_over_life"),
    ):
        with pytest.raises(SettingsError, match=named) as caught:
            check_emitter(changed(**changes))
        assert "\n" not in str(caught.value)


def test_a_capacity_that_is_too_small_names_the_one_that_is_needed() -> None:
    settings = changed(rate=1000.0, lifetime=2.0, lifetime_variance=0.5, capacity=100)
    assert slots_needed(settings) == 3001
    assert "3,001 particles" in starvation(settings)
    assert starvation(msgspec.structs.replace(settings, capacity=3001)) == ""
    assert starvation(msgspec.structs.replace(settings, mode=EmissionMode.FULL)) == ""


def test_stops_become_a_table() -> None:
    settings = changed(
        colour_over_life=((0.0, 1.0, 0.0, 0.0), (1.0, 0.0, 0.5, 1.0)),
        opacity_over_life=((0.25, 0.5),),
        size_over_life=((0.0, 0.0), (0.5, 4.0), (1.0, 0.0)),
        brightness=2.0,
    )
    colours, sizes = life_table(settings)
    np.testing.assert_allclose(colours[[0, -1]], [[2.0, 0.0, 0.0, 0.5], [0.0, 1.0, 2.0, 0.5]])
    np.testing.assert_allclose(colours[51, :3], [1.6, 0.2, 0.4], rtol=1e-6)
    assert sizes[:, 0].max() == pytest.approx(4.0, rel=0.01)


@pytest.mark.parametrize("drag", [0.0, 1e-9, 1e-4, 1.0, 50.0])
def test_the_pace_solves_the_equation_of_motion(drag: float) -> None:
    time, speed, pull = 0.7, 3.0, -2.0
    parts = 20_000
    v, x = speed, 0.0
    for _ in range(parts):
        middle = v + 0.5 * (time / parts) * (pull - drag * v)
        x += time / parts * middle
        v += time / parts * (pull - drag * middle)
    left, gain, square = drag_terms(drag, time)
    assert speed * left + pull * gain == pytest.approx(v, rel=1e-6)
    assert speed * gain + pull * square == pytest.approx(x, rel=1e-6)


PLACES = np.random.default_rng(0).uniform(-30.0, 30.0, (40_000, 3))


@pytest.mark.parametrize("time", [0.0, 3600.0])
def test_whirls_have_the_same_strength_at_all_times_and_no_wind(time: float) -> None:
    found = curl_noise(PLACES, pattern_at(time, 1.0, (0.5, 0.0, 0.2), 0.5), 7)
    assert np.sqrt(np.mean(np.sum(found**2, axis=1))) == pytest.approx(1.0, rel=0.03)
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=0.02)
    np.testing.assert_allclose(found.std(axis=0), 1.0 / np.sqrt(3.0), rtol=0.04)


def test_whirls_go_with_the_wind_and_differ_by_seed() -> None:
    wind, scale = (3.0, -1.0, 0.5), 0.5
    start, later = pattern_at(0.0, 0.0, wind, scale), pattern_at(100.0, 0.0, wind, scale)
    gone = np.array(wind) * 100.0 / scale
    np.testing.assert_allclose(curl_noise(PLACES, start, 3), curl_noise(PLACES + gone, later, 3), atol=1e-6)
    assert abs(np.corrcoef(curl_noise(PLACES, start, 3)[:, 0], curl_noise(PLACES, start, 4)[:, 0])[0, 1]) < 0.03


UP = np.array([0.0, 1.0, 0.0])


def test_the_box_of_a_source_holds_its_form() -> None:
    for source, size in (
        (EmitterSource.POINT, (0.0, 0.0, 0.0)),
        (EmitterSource.SPHERE, (0.8, 0.8, 0.8)),
        (EmitterSource.DISC, (0.0, 0.8, 0.8)),
        (EmitterSource.BOX, (2.0, 1.0, 3.0)),
        (EmitterSource.LINE, (0.0, 1.0, 0.0)),
    ):
        settings = EmitterSettings(source=source, source_radius=0.4, source_size=(1.0, 2.0, 3.0))
        node = Node(id="e", transform=Transform(position=(1.0, 2.0, 3.0), rotation=(0.0, 0.0, 90.0)), settings=settings)
        box = source_box(settings, WorldTransforms(Scene(nodes=(node,)), {}).world_from_node(node))
        np.testing.assert_allclose(box.size, size, atol=1e-12)
        np.testing.assert_allclose((box.lo + box.hi) / 2.0, [1.0, 2.0, 3.0])


@pytest.mark.parametrize(("aim", "axis"), [(aim, (0.6, -0.8, 0.0)) for aim in EmissionAim])
def test_particles_stay_within_their_reach(aim: EmissionAim, axis: tuple[float, float, float]) -> None:
    settings = EmitterSettings(
        stateless=True, capacity=300, rate=300.0, lifetime=0.8, speed=3.0, cone_angle=30.0, aim=aim, drag=0.5,
        wind=(2.0, 0.0, 0.0), gravity=(0.0, -3.0, 0.0),
    )  # fmt: skip
    turn = np.eye(4)
    turn[:3, :3] = np.array([[axis[1], axis[0], 0.0], [-axis[0], axis[1], 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(turn[:3, 1], axis)
    slots = reference.stateless(settings, schedule_of(settings), reference.Actions(turn, turn), 200)
    places = slots.positions[slots.lives >= 0.0]
    lo, hi = reach_of(settings, np.array(axis))
    assert len(places) > 200
    assert np.all(places >= lo - 1e-2)
    assert np.all(places <= hi + 1e-2)
    assert hi.max() < 4.0


def missing(node: Node) -> str:
    scene = Scene(nodes=(node,))
    return missing_source(scene, {}, WorldTransforms(scene, {}), node)


def test_a_burst_just_before_a_cut_repeats_no_birth_of_the_stream() -> None:
    schedule = Schedule(9.0, (Burst(0.0, 1),), 1.0)
    parts = [one for span in ((0.0, 1.2e-7), (1.2e-7, 3.0)) for one in births(schedule, *span)]
    assert [number for number, _ in parts] == list(range(30))


def test_a_missing_source_is_reported() -> None:
    for attachment in (Attachment(), Attachment(bone="hand")):
        assert missing(Node(id="e", settings=EmitterSettings(), attachment=attachment)) == ""
    lost = Attachment(node="gone", bone="hand")
    carried = Node(id="e", name="E", settings=EmitterSettings(), attachment=lost)
    assert missing(carried) == "E: its parent is not in the scene; its transform is relative to the world"
    skin = Node(id="e", name="E", settings=EmitterSettings(source=EmitterSource.FACES), attachment=lost)
    assert missing(skin) == "E: the model whose surface emits is not in the scene; nothing comes out of it"
