import math

import numpy as np
import pytest

from sinew.sim.profile.comparison import FRAMES_MIN, block_length, compare, verdict


def frames(count: int, memory: float, random: np.random.Generator) -> np.ndarray:
    """Times of frames [s] whose logarithms remember the frame before by this correlation."""
    noise = random.normal(size=count + 50)
    for i in range(1, len(noise)):
        noise[i] = memory * noise[i - 1] + math.sqrt(1.0 - memory**2) * noise[i]
    return 5e-3 * np.exp(0.2 * noise[50:])


@pytest.mark.parametrize("memory", [0.0, 0.6])
def test_the_interval_holds_the_true_difference_as_often_as_it_says(memory: float) -> None:
    random = np.random.default_rng(11)
    found = [compare(frames(300, memory, random), 1.1 * frames(300, memory, random)) for _ in range(150)]
    held = sum(one.lo <= 0.5e-3 <= one.hi for one in found)
    # Of 150 intervals of 95 % all but 7.5 ± 2.7 hold it.
    assert 0.90 * 150 <= held <= 0.995 * 150


def test_equal_recordings_are_rarely_told_apart() -> None:
    random = np.random.default_rng(5)
    reported = sum(compare(frames(300, 0.4, random), frames(300, 0.4, random)).is_significant for _ in range(100))
    assert reported <= 10


def test_frames_that_remember_each_other_are_drawn_in_blocks_and_widen_the_interval() -> None:
    random = np.random.default_rng(7)
    fresh, alike = frames(600, 0.0, random), frames(600, 0.9, random)
    assert block_length(alike) > 10 > block_length(fresh)
    (narrow, wide) = (compare(values, values) for values in (fresh, alike))
    assert wide.hi - wide.lo > 2.0 * (narrow.hi - narrow.lo)


def test_known_medians_and_the_same_answer_every_time() -> None:
    a = np.tile([1.0, 2.0, 3.0], 20) * 1e-3
    found = compare(a, a + 1e-3)
    assert (found.median_a, found.median_b) == (2e-3, 3e-3)
    assert found.difference == pytest.approx(1e-3)
    assert found.change == pytest.approx(0.5)
    assert found == compare(a, a + 1e-3)


def test_lost_times_are_left_out() -> None:
    a = np.full(50, 2e-3)
    b = np.where(np.arange(60) < 10, np.nan, 3e-3)
    found = compare(a, b)
    assert (found.frames_a, found.frames_b) == (50, 50)
    assert (found.lo, found.hi) == pytest.approx((1e-3, 1e-3))


def test_verdicts_read_as_sentences() -> None:
    random = np.random.default_rng(9)
    a = frames(400, 0.0, random)
    slower, faster, same = (verdict(compare(a, b), "LBS", "DQS") for b in (2.0 * a, 0.5 * a, a))
    assert slower.startswith("DQS is 5.")
    assert " ms (100 %) slower than LBS; 95 % CI " in slower
    assert " ms (50.0 %) faster than LBS; 95 % CI " in faster
    assert same.startswith("No significant difference between LBS and DQS: 0.00 ms, 95 % CI −")


def test_too_few_frames_give_no_interval() -> None:
    found = compare(np.full(FRAMES_MIN - 1, 1e-3), np.full(100, 2e-3))
    assert math.isnan(found.lo)
    assert not found.is_significant
    assert verdict(found) == "Too few frames to compare: 19 and 100, 20 of each are needed"


@pytest.mark.parametrize("values", [np.empty(0), np.array([np.nan]), np.zeros(100)])
def test_strange_recordings_are_survived(values: np.ndarray) -> None:
    found = compare(values, np.linspace(1.0, 2.0, 40) * 1e-3)
    assert found.median_b == pytest.approx(1.5e-3)
    assert verdict(found)
    assert math.isnan(found.change)
