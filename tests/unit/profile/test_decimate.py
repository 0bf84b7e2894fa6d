import numpy as np
import pytest

from sinew.sim.profile.history import buckets, peaks


def test_every_frame_of_the_window_is_in_one_bucket() -> None:
    times = np.sort(np.random.default_rng(2).uniform(0.0, 10.0, 500))
    into = buckets(times, 2.0, 8.0, 40)
    assert into.starts[0] == np.searchsorted(times, 2.0)
    assert into.stop == np.searchsorted(times, 8.0)
    assert len(into.starts) <= 41
    for begin, first in zip(into.begins, into.starts, strict=True):
        assert begin <= times[first] < begin + into.length


def test_a_stack_is_taken_from_the_frame_with_the_largest_total() -> None:
    times = np.arange(12) / 12.0
    total = np.array([1, 5, 2, 3, 0, 0, 7, 7, 1, 2, 3, 4.0])
    assert peaks(total, buckets(times, 0.0, 1.0, 3)).tolist() == [1, 6, 11]


def test_lost_totals_are_no_peaks_unless_there_is_nothing_else() -> None:
    times = np.arange(6) / 6.0
    total = np.array([np.nan, 2.0, 1.0, np.nan, np.nan, np.nan])
    into = buckets(times, 0.0, 1.0, 2)
    assert peaks(total, into).tolist() == [1, 3]


def test_buckets_stay_where_they_are_while_the_window_scrolls() -> None:
    times = np.arange(600) / 60.0
    total = np.random.default_rng(4).gamma(2.0, size=600)
    here, further = (peaks(total, buckets(times, begin, begin + 4.0, 40)) for begin in (1.0, 1.35))
    inside = here[(times[here] >= 1.5) & (times[here] < 4.9)]
    assert set(inside) <= set(further)


def test_a_gap_makes_no_buckets() -> None:
    times = np.array([0.0, 0.1, 9.0])
    into = buckets(times, 0.0, 10.0, 10)
    assert into.starts.tolist() == [0, 2]
    assert peaks(np.array([1.0, 2.0, 3.0]), into).tolist() == [1, 2]


def test_a_window_without_frames_is_empty() -> None:
    into = buckets(np.array([1.0]), 5.0, 6.0, 10)
    assert len(peaks(np.array([1.0]), into)) == 0


@pytest.mark.parametrize(("end", "count"), [(0.0, 5), (1.0, 0)])
def test_an_empty_window_is_refused(end: float, count: int) -> None:
    with pytest.raises(ValueError, match="is empty"):
        buckets(np.empty(0), 0.0, end, count)
