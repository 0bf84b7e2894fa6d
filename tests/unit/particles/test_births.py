"""Who is born when: exact moments, and the same births however time is cut."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.kinds.emitter.births import (
    GENERATIONS,
    Burst,
    Schedule,
    Segment,
    capacity_needed,
    generation_of,
    hash_number,
    parse_bursts,
    slot_of,
    slot_ranges,
)
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import SettingsError


def births(schedule: Schedule, start: float, end: float) -> list[tuple[int, float]]:
    return [
        (one.first + index, one.moment + index * one.spacing)
        for one in schedule.segments(start, end)
        for index in range(one.count)
    ]


def test_a_steady_stream_bears_at_equal_times() -> None:
    found = births(Schedule(100.0 * STEP_TIME), 0, 60)
    assert [number for number, _ in found] == list(range(100))
    assert [moment * STEP_TIME for _, moment in found] == pytest.approx([number / 100.0 for number in range(100)])


def test_a_birth_at_the_end_of_a_step_belongs_to_the_next() -> None:
    schedule = Schedule(1.0)
    assert births(schedule, 0, 1) == [(0, 0.0)]
    assert births(schedule, 1, 2) == [(1, 1.0)]


def test_bursts_come_between_the_births_of_the_stream() -> None:
    schedule = Schedule(2.0, (Burst(0.75, 3),))
    assert schedule.segments(0, 2) == [
        Segment(0, 2, 0.0, 0.5),
        Segment(2, 3, 0.75, 0.0),
        Segment(5, 2, 1.0, 0.5),
    ]
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


@given(schedules, st.integers(0, 60))
def test_a_step_has_the_moments_of_that_step(schedule: Schedule, step: int) -> None:
    for _, moment in births(schedule, step, step + 1):
        assert step - 1e-2 <= moment < step + 1 + 1e-9


def test_a_changed_rate_goes_on_without_gap_or_jump() -> None:
    schedule = Schedule(10.0)
    later = schedule.with_rate(120.0, 3.25)
    assert later.births_before(3.25) == schedule.births_before(3.25) == 33
    found = births(later, 3.25, 5.25)
    # Half of the next birth was due already; the other half comes at the new rate of 2 a step.
    assert [number for number, _ in found] == [33, 34, 35, 36]
    assert [moment for _, moment in found] == pytest.approx([3.5, 4.0, 4.5, 5.0])
    assert later.with_rate(0.0, 5.25).births_before(1000.0) == 37


def test_slots_and_generations() -> None:
    assert [slot_of(number, 4) for number in (0, 3, 4, 9)] == [0, 3, 0, 1]
    assert [generation_of(number, 4) for number in (0, 3, 4, 9)] == [0, 0, 1, 2]
    assert generation_of(GENERATIONS * 7 + 3, 7) == 0
    for number in (0, 6, 7, 12345, 2**32 - 1):
        assert hash_number(slot_of(number, 7), generation_of(number, 7), 7) == number % (7 * GENERATIONS)


def test_ranges_of_slots() -> None:
    assert slot_ranges(5, 5, 8) == ()
    assert slot_ranges(5, 8, 8) == ((5, 3),)
    assert slot_ranges(14, 19, 8) == ((6, 2), (0, 3))
    assert slot_ranges(3, 30, 8) == ((0, 8),)


def most_alive(schedule: Schedule, life: float) -> int:
    """Most particles at a time over a long while, by counting."""
    moments = [moment for _, moment in births(schedule, 0.0, 400.0)]
    return max(sum(1 for other in moments if moment - life < other <= moment) for moment in moments)


@pytest.mark.parametrize(
    ("schedule", "life"),
    [
        (Schedule(3.0), 20.0),
        (Schedule(0.7), 30.0),
        (Schedule(0.0, (Burst(3.0, 5), Burst(20.0, 7), Burst(90.0, 4))), 30.0),
        (Schedule(0.0, (Burst(3.0, 5), Burst(8.0, 7)), 12.0), 30.0),
        (Schedule(0.5, (Burst(3.0, 20),), 50.0), 30.0),
    ],
)
def test_the_capacity_that_is_needed_is_enough_and_not_much_more(schedule: Schedule, life: float) -> None:
    assert most_alive(schedule, life) <= capacity_needed(schedule, life) <= most_alive(schedule, life) + 2


def test_bursts_are_read_and_sorted() -> None:
    assert parse_bursts("1.5:300, 0:100") == (Burst(0.0, 100), Burst(1.5 / STEP_TIME, 300))
    assert parse_bursts("40") == (Burst(0.0, 40),)
    assert parse_bursts("") == ()


@pytest.mark.parametrize("text", ["a:3", "1:", "1:x", "-1:5", "1:0", "nan:4", "inf:4", "1:2:3", "1:99999999999"])
def test_a_wrong_burst_is_named(text: str) -> None:
    with pytest.raises(SettingsError, match="burst"):
        parse_bursts(f"0:5 {text}")


def test_too_many_bursts_are_refused() -> None:
    with pytest.raises(SettingsError, match="17 bursts"):
        parse_bursts("0:1 " * 17)
