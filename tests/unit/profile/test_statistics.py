import math

import numpy as np
import pytest

from sim.profile.history import Quantity
from sim.profile.statistics import region, summarise, summary
from tests.unit.profile.frames import MS, frame, history_of


def test_percentiles_of_a_hundred_and_one_numbers_are_the_numbers() -> None:
    values = np.random.default_rng(1).permutation(np.arange(101.0))
    found = summary(values)
    assert (found.p50, found.p95, found.p99, found.maximum) == (50.0, 95.0, 99.0, 100.0)
    assert (found.count, found.lost, found.mean) == (101, 0, 50.0)


def test_lost_numbers_are_counted_and_left_out() -> None:
    found = summary(np.array([np.nan, 3.0, 1.0, np.nan]))
    assert (found.count, found.lost, found.p50, found.maximum) == (2, 2, 2.0, 3.0)


@pytest.mark.parametrize("values", [np.empty(0), np.array([np.nan])])
def test_nothing_known_has_no_figures(values: np.ndarray) -> None:
    found = summary(values)
    assert found.count == 0
    assert all(math.isnan(figure) for figure in (found.mean, found.p50, found.p95, found.p99, found.maximum))


def test_passes_are_summed_up_with_and_without_their_parts() -> None:
    history = history_of(*(frame(i, {"draw": 5 * MS, "draw/models": 3 * MS, "simulate": 1 * MS}) for i in range(4)))
    found = summarise(history, Quantity.GPU)
    by_path = {one.path: one for one in found.passes}
    assert by_path["draw"].inclusive.p50 == pytest.approx(5 * MS)
    assert by_path["draw"].exclusive.p50 == pytest.approx(2 * MS)
    assert found.total.p50 == pytest.approx(6 * MS)
    assert [one.share for one in found.passes] == pytest.approx([2 / 6, 3 / 6, 1 / 6])


def test_processor_times_are_told_apart_from_those_of_the_card() -> None:
    history = history_of(frame(0, {"draw": 4 * MS}))
    assert summarise(history, Quantity.CPU).total.maximum == pytest.approx(2 * MS)


def test_a_region_counts_its_own_frames_only() -> None:
    history = history_of(*(frame(i, {"draw": i * MS}, begin=float(i), interval=1.0) for i in range(10)))
    frames = region(history, 2.0, 5.0)
    found = summarise(history, Quantity.GPU, frames)
    assert (frames.start, frames.stop, found.frames) == (2, 5, 3)
    assert found.total.maximum == pytest.approx(4 * MS)


def test_the_rate_leaves_pauses_out() -> None:
    history = history_of(*(frame(i, {"draw": MS}, interval=math.nan if i == 1 else 0.02) for i in range(4)))
    found = summarise(history, Quantity.GPU)
    assert found.rate == pytest.approx(50.0)
    assert found.interval.lost == 1


def test_an_empty_region_has_no_figures() -> None:
    found = summarise(history_of(frame(0, {"draw": MS})), Quantity.GPU, slice(0, 0))
    assert found.frames == 0
    assert math.isnan(found.rate)
    assert found.passes[0].share == 0.0
