import math

import numpy as np
import pytest

from sinew.sim.profile.history import summary


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
    assert all(math.isnan(character) for character in (found.mean, found.p50, found.p95, found.p99, found.maximum))
