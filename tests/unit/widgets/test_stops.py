import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.scene.params import check
from sinew.sim.scene.vectors import STOP_MAX, check_stops, values_at
from sinew.widgets.inspector.stops import gap_beside, inserted, moved, removed, with_share, with_values

STOPS = ((0.0, 0.0), (0.4, 1.0), (0.8, 0.5))
UNIT = st.floats(0.0, 1.0)
LISTS = st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=STOP_MAX).map(lambda stops: tuple(sorted(stops)))


def test_a_stop_moves_between_its_neighbours():
    assert moved(STOPS, 1, 0.6) == ((0.0, 0.0), (0.6, 1.0), (0.8, 0.5))
    assert moved(STOPS, 1, 0.9)[1] == (0.8, 1.0)
    assert moved(STOPS, 1, -1.0)[1] == (0.0, 1.0)
    assert moved(STOPS, 0, 0.3, (0.7,))[0] == (0.3, 0.7)
    assert moved(STOPS, 2, 1.5)[2] == (1.0, 0.5)


def test_a_typed_share_is_taken_as_it_is_and_may_pass_neighbours():
    assert with_share(STOPS, 1, 0.123456789) == (((0.0, 0.0), (0.123456789, 1.0), (0.8, 0.5)), 1)
    assert with_share(STOPS, 1, 0.95) == (((0.0, 0.0), (0.8, 0.5), (0.95, 1.0)), 2)
    assert with_share(STOPS, 2, 0.1) == (((0.0, 0.0), (0.1, 0.5), (0.4, 1.0)), 1)
    assert with_share(STOPS, 1, 0.8) == (((0.0, 0.0), (0.8, 1.0), (0.8, 0.5)), 1)


def test_a_new_stop_changes_nothing_that_is_seen():
    stops, index = inserted(STOPS, 0.6)
    assert (stops[index], index) == ((0.6, 0.75), 2)
    for share in (0.1, 0.5, 0.6, 0.7, 1.0):
        assert values_at(stops, [share])[0] == pytest.approx(values_at(STOPS, [share])[0])
    assert inserted(STOPS, 0.6, (0.2,))[0][2] == (0.6, 0.2)


def test_there_is_always_a_stop_and_never_too_many():
    assert removed(STOPS, 0) == (STOPS[1:], 0)
    assert removed(STOPS, 2) == (STOPS[:2], 1)
    assert removed(STOPS[:1], 0) == (STOPS[:1], 0)
    full = tuple((index / STOP_MAX, 0.0) for index in range(STOP_MAX))
    assert inserted(full, 0.5)[0] == full
    assert inserted(full, 1.0) == (full, STOP_MAX - 1)


def test_a_stop_beside_another_stands_in_the_middle_of_the_gap():
    assert gap_beside(STOPS, 0) == pytest.approx(0.2)
    assert gap_beside(STOPS, 2) == pytest.approx(0.9)
    assert gap_beside(((0.0, 0.0), (1.0, 1.0)), 1) == pytest.approx(0.5)
    assert gap_beside(((0.5, 0.0),), 0) == pytest.approx(0.75)


@given(LISTS, st.data(), UNIT, UNIT)
def test_every_edit_leaves_stops_that_an_emitter_takes(stops, data, share, value):
    index = data.draw(st.integers(0, len(stops) - 1))
    typed, place = with_share(stops, index, share)
    assert typed[place] == (share, stops[index][1])
    edits = (
        moved(stops, index, share, (value,)),
        typed,
        inserted(stops, share)[0],
        removed(stops, index)[0],
        with_values(stops, index, (value,)),
    )
    for edited in edits:
        check_stops(edited, "opacity over life")
        assert check(EmitterSettings, "opacity_over_life", edited) == edited
        assert all(0.0 <= before[0] <= after[0] <= 1.0 for before, after in itertools.pairwise(edited))
