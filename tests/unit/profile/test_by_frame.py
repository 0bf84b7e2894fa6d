import math

import numpy as np
import pytest

from sinew.sim.profile.by_frame import LOOPS, FrameCollector
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


def test_a_picture_belongs_to_the_nearest_frame() -> None:
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


def test_the_stack_ends_at_the_median_of_the_total() -> None:
    by_frame = FrameCollector()
    for number, (draw, simulate) in enumerate(((1, 9), (2, 1), (8, 2))):
        by_frame.add(*shown(number, 0.0, {"draw": draw * MS, "simulate": simulate * MS}))
    costs = by_frame.costs()
    assert costs.median[0] == pytest.approx(10 * MS)
    assert sum(band[0] for band in costs.bands.values()) == pytest.approx(4 * MS)
    assert sum(band[0] for band in costs.stacked().values()) == pytest.approx(10 * MS)


def test_a_pass_that_appears_later_took_no_time_before() -> None:
    by_frame = FrameCollector()
    for number in range(3):
        by_frame.add(*shown(number, 0.0, {"draw": MS}))
    for number in range(3, 5):
        by_frame.add(*shown(number, 0.0, {"draw": MS, "pick": 4 * MS}))
    assert by_frame.costs().bands["pick"][0] == 0.0
    by_frame.add(*shown(5, 0.0, {"draw": MS, "pick": 4 * MS}))
    assert by_frame.costs().bands["pick"][0] == pytest.approx(2 * MS)


def test_bands_of_a_group_are_together_in_the_order_of_their_first_runs() -> None:
    by_frame = FrameCollector()
    by_frame.add(*shown(0, 0.0, {"simulate": MS, "draw": MS, "draw/models": 0.0}))
    by_frame.add(*shown(1, 0.0, {"simulate": MS, "simulate/cloth": MS, "draw": MS}))
    assert list(by_frame.costs().bands) == ["simulate", "simulate/cloth", "draw", "draw/models"]


def test_only_the_newest_pictures_make_the_median() -> None:
    by_frame = FrameCollector()
    for number in range(3 * LOOPS):
        by_frame.add(*shown(number, 0.0, {"draw": (1 if number < 2 * LOOPS else 5) * MS}))
    costs = by_frame.costs()
    assert costs.median[0] == pytest.approx(5 * MS)
    assert costs.pictures[0] == 3 * LOOPS


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


@pytest.mark.parametrize(("sample", "at"), [shown(0, math.nan, {"draw": MS}), shown(0, 1.0, {"draw": math.nan})])
def test_pictures_of_no_frame_or_time_are_left_out(sample: FrameSample, at: float) -> None:
    by_frame = FrameCollector()
    by_frame.add(sample, at)
    assert len(by_frame.costs().frames) == 0


def test_long_animations_put_frames_together() -> None:
    by_frame = FrameCollector()
    by_frame.clear(10_000)
    for number in range(6):
        by_frame.add(*shown(number, 9_000.0 + number, {"draw": MS}))
    costs = by_frame.costs()
    assert costs.stride == 3
    assert costs.frames.tolist() == [9001.0, 9004.0]
    assert costs.pictures.tolist() == [3, 3]


def test_clearing_forgets() -> None:
    by_frame = FrameCollector()
    by_frame.add(*shown(0, 4.0, {"draw": MS}))
    version = by_frame.version
    by_frame.clear()
    assert by_frame.version != version
    assert len(by_frame.costs().frames) == 0
    assert by_frame.costs().bin_at(4.0) is None
