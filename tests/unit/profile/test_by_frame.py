import math

import numpy as np
import pytest

from sinew.sim.profile.by_frame import LOOPS, FrameCollector
from sinew.sim.profile.comparison import FRAMES_MIN, block_length, compare, verdict
from sinew.sim.profile.history import buckets, peaks, summary
from sinew.sim.profile.sample import FrameSample
from tests.unit.profile.frames import MS, frame


def shown(number: int, at: float, gpu: dict[str, float]) -> tuple[FrameSample, float]:
    return frame(number, gpu), at


def test_median_and_worst_over_loops() -> None:
    by_frame = FrameCollector()
    for loop, cost in enumerate((2.0, 9.0, 3.0)):
        for k in range(5):
            by_frame.add(*shown(loop * 5 + k, k, {"draw": (cost + k) * MS}))
    costs = by_frame.costs()
    assert costs.frames.tolist() == [0, 1, 2, 3, 4]
    assert costs.pictures.tolist() == [3] * 5
    assert costs.median == pytest.approx(np.array([3, 4, 5, 6, 7]) * MS)
    assert costs.worst == pytest.approx(np.array([9, 10, 11, 12, 13]) * MS)
    assert costs.worst_number.tolist() == [5, 6, 7, 8, 9]
    version = by_frame.version
    by_frame.clear()
    assert by_frame.version != version
    for at, cost in ((math.nan, MS), (1.0, math.nan)):
        by_frame.add(*shown(0, at, {"draw": cost}))
    assert len(by_frame.costs().frames) == 0, "images of no frame or time are left out"
    for number in range(3 * LOOPS):
        by_frame.add(*shown(number, 0.0, {"draw": (1 if number < 2 * LOOPS else 5) * MS}))
    assert by_frame.costs().median[0] == pytest.approx(5 * MS), "only the newest images make the median"
    assert by_frame.costs().pictures[0] == 3 * LOOPS


def test_an_image_belongs_to_the_nearest_frame() -> None:
    by_frame = FrameCollector()
    for number, at in enumerate((0.4, 0.6, 1.49, 3.0)):
        by_frame.add(*shown(number, at, {"draw": MS}))
    costs = by_frame.costs()
    assert (costs.frames.tolist(), costs.pictures.tolist()) == ([0, 1, 3], [1, 2, 1])
    assert [costs.bin_at(at) for at in (0.3, 1.4, 2.0, 2.6, 9.0)] == [0, 1, None, 2, None]


def test_bands_are_passes_without_their_parts_and_add_up() -> None:
    by_frame = FrameCollector(depth=2)
    by_frame.add(*shown(0, 0.0, {"draw": 5 * MS, "draw/models": 3 * MS, "draw/models/Ann": 2 * MS, "simulate": MS}))
    costs = by_frame.costs()
    assert {path: float(band[0]) for path, band in costs.bands.items()} == pytest.approx(
        {"draw": 2 * MS, "draw/models": 3 * MS, "simulate": MS}
    )
    assert costs.median[0] == pytest.approx(6 * MS)
    by_frame = FrameCollector()
    for number, (draw, simulate) in enumerate(((1, 9), (2, 1), (8, 2))):
        by_frame.add(*shown(number, 0.0, {"draw": draw * MS, "simulate": simulate * MS}))
    costs = by_frame.costs()
    assert list(costs.bands) == ["draw", "simulate"]
    assert sum(band[0] for band in costs.bands.values()) == pytest.approx(4 * MS)
    assert sum(band[0] for band in costs.stacked().values()) == pytest.approx(10 * MS), "the median of the total"


def test_the_same_as_numpy_on_random_frames_with_looks_in_between() -> None:
    random, by_frame = np.random.default_rng(1), FrameCollector()
    seen: dict[int, list[float]] = {}
    for number in range(900):
        at, cost = int(random.integers(150)), float(random.gamma(2.0)) * MS
        seen.setdefault(at, []).append(cost)
        by_frame.add(*shown(number, at, {"draw": cost}))
        if number % 100 == 0:
            by_frame.costs()
    costs = by_frame.costs()
    assert costs.frames.tolist() == sorted(seen)
    assert costs.median == pytest.approx([np.median(seen[at]) for at in sorted(seen)])
    assert costs.worst == pytest.approx([max(seen[at]) for at in sorted(seen)])


def test_long_animations_put_frames_together() -> None:
    by_frame = FrameCollector()
    by_frame.clear(10_000)
    for number in range(6):
        by_frame.add(*shown(number, 9_000.0 + number, {"draw": MS}))
    costs = by_frame.costs()
    assert costs.stride == 3
    assert costs.frames.tolist() == [9001.0, 9004.0]
    assert costs.pictures.tolist() == [3, 3]


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


def test_unknown_totals_are_no_peaks_unless_there_is_nothing_else() -> None:
    times = np.arange(6) / 6.0
    total = np.array([np.nan, 2.0, 1.0, np.nan, np.nan, np.nan])
    into = buckets(times, 0.0, 1.0, 2)
    assert peaks(total, into).tolist() == [1, 3]
    into = buckets(np.array([0.0, 0.1, 9.0]), 0.0, 10.0, 10)
    assert into.starts.tolist() == [0, 2], "a gap makes no buckets"
    assert len(peaks(np.array([1.0]), buckets(np.array([1.0]), 5.0, 6.0, 10))) == 0
    for end, count in ((0.0, 5), (1.0, 0)):
        with pytest.raises(ValueError, match="is empty"):
            buckets(np.empty(0), 0.0, end, count)


def test_percentiles_of_a_hundred_and_one_numbers_are_the_numbers() -> None:
    values = np.random.default_rng(1).permutation(np.arange(101.0))
    found = summary(values)
    assert (found.p50, found.p95, found.p99, found.maximum) == (50.0, 95.0, 99.0, 100.0)
    assert (found.count, found.lost, found.mean) == (101, 0, 50.0)


def test_unknown_numbers_are_counted_and_left_out() -> None:
    found = summary(np.array([np.nan, 3.0, 1.0, np.nan]))
    assert (found.count, found.lost, found.p50, found.maximum) == (2, 2, 2.0, 3.0)


@pytest.mark.parametrize("values", [np.empty(0), np.array([np.nan])])
def test_unknown_numbers_alone_have_no_statistics(values: np.ndarray) -> None:
    found = summary(values)
    assert found.count == 0
    assert all(math.isnan(character) for character in (found.mean, found.p50, found.p95, found.p99, found.maximum))


def remembered(count: int, memory: float, random: np.random.Generator) -> np.ndarray:
    """Times of frames [s] whose logarithms remember the frame before by this correlation."""
    noise = random.normal(size=count + 50)
    for i in range(1, len(noise)):
        noise[i] = memory * noise[i - 1] + math.sqrt(1.0 - memory**2) * noise[i]
    return 5e-3 * np.exp(0.2 * noise[50:])


@pytest.mark.parametrize("memory", [0.0, 0.6])
def test_the_interval_holds_the_true_difference_as_often_as_it_says(memory: float) -> None:
    random = np.random.default_rng(11)
    found = [compare(remembered(300, memory, random), 1.1 * remembered(300, memory, random)) for _ in range(60)]
    held = sum(one.lo <= 0.5e-3 <= one.hi for one in found)
    # Of 60 intervals of 95 % all but 3 ± 1.7 hold it.
    assert 0.87 * 60 <= held <= 60


def test_frames_that_remember_each_other_are_drawn_in_blocks_and_widen_the_interval() -> None:
    random = np.random.default_rng(7)
    fresh, alike = remembered(600, 0.0, random), remembered(600, 0.9, random)
    assert block_length(alike) > 10 > block_length(fresh)
    (narrow, wide) = (compare(values, values) for values in (fresh, alike))
    assert wide.hi - wide.lo > 2.0 * (narrow.hi - narrow.lo)


def test_verdicts_read_as_sentences() -> None:
    random = np.random.default_rng(9)
    a = remembered(400, 0.0, random)
    slower, faster, same = (verdict(compare(a, b), "LBS", "DQS") for b in (2.0 * a, 0.5 * a, a))
    assert slower.startswith("DQS is 5.")
    assert " ms (100 %) slower than LBS; 95 % CI " in slower
    assert " ms (50.0 %) faster than LBS; 95 % CI " in faster
    assert same.startswith("No significant difference between LBS and DQS: 0.00 ms, 95 % CI −")


@pytest.mark.parametrize("values", [np.empty(0), np.array([np.nan]), np.zeros(100)])
def test_strange_recordings_are_survived(values: np.ndarray) -> None:
    found = compare(values, np.linspace(1.0, 2.0, 40) * 1e-3)
    assert found.median_b == pytest.approx(1.5e-3)
    assert verdict(found)
    assert math.isnan(found.change)
    few = compare(np.full(FRAMES_MIN - 1, 1e-3), np.full(100, 2e-3))
    assert math.isnan(few.lo)
    assert not few.is_significant
    assert verdict(few) == "Too few frames to compare: 19 and 100, 20 of each are needed"
    partly = compare(np.full(50, 2e-3), np.where(np.arange(60) < 10, np.nan, 3e-3))
    assert (partly.frames_b, partly.lo, partly.hi) == (50, pytest.approx(1e-3), pytest.approx(1e-3))
