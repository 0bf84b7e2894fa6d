"""The random numbers of births: known answers, evenness, and no trace of one number in another."""

import numpy as np
import pytest

from sinew.sim.maths.hash import RandomStream, birth_bits, birth_numbers, pcg, pcg3d, pcg4d, unit_numbers
from tests.unit.particles.statistics import CHI_LIMIT, KS_LIMIT, chi_square, ks_distance

COUNT = 100_000


def pcg_by_hand(words: list[int], order: list[tuple[int, int, int]]) -> list[int]:
    """The published formula with whole numbers of any length, kept to 32 bits by hand."""
    v = [(word * 1664525 + 1013904223) & 0xFFFFFFFF for word in words]
    for shift in (True, False):
        for target, a, b in order:
            v[target] = (v[target] + v[a] * v[b]) & 0xFFFFFFFF
        if shift:
            v = [word ^ (word >> 16) for word in v]
    return v


def test_the_hashes_are_those_of_the_paper() -> None:
    three = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    four = [(0, 1, 3), (1, 2, 0), (2, 0, 1), (3, 1, 2)]
    for words in ([0, 0, 0], [1, 2, 3], [0xFFFFFFFF, 0x80000000, 12345]):
        assert pcg3d(np.array([words], np.uint32))[0].tolist() == pcg_by_hand(words, three)
        more = [*words, 77]
        assert pcg4d(np.array([more], np.uint32))[0].tolist() == pcg_by_hand(more, four)


def test_no_two_numbers_have_the_same_hash() -> None:
    assert len(np.unique(pcg(np.arange(1 << 20, dtype=np.uint32)))) == 1 << 20
    assert pcg(np.array([0], np.uint32))[0] == 129708002
    assert pcg(np.array([1], np.uint32))[0] == 2831084092


@pytest.mark.parametrize("capacity", [1000, 4096, 1 << 20])
def test_particles_that_follow_one_another_in_a_slot_are_not_alike(capacity: int) -> None:
    first, second = (birth_numbers(1, np.arange(COUNT) + capacity * turn, RandomStream.DIRECTION) for turn in (0, 1))
    for channel in range(3):
        assert abs(correlation(first[:, channel], second[:, channel])) < 4.0
        assert ks_distance(np.zeros(COUNT), (first - second)[:, channel] % 1.0) < KS_LIMIT


def test_numbers_are_exact_in_single_precision_and_below_one() -> None:
    numbers = birth_numbers(3, np.arange(COUNT), RandomStream.LIFE)
    assert numbers.min() >= 0.0
    assert numbers.max() < 1.0
    np.testing.assert_array_equal(numbers, numbers.astype(np.float32).astype(np.float64))
    assert unit_numbers(np.array([0xFFFFFFFF], np.uint32))[0] == 1.0 - 2.0**-24


@pytest.mark.parametrize("seed", [0, 1, 2, 2**31 - 1])
@pytest.mark.parametrize("group", list(RandomStream))
def test_every_channel_is_even(seed: int, group: RandomStream) -> None:
    numbers = birth_numbers(seed, np.arange(COUNT), group)
    for channel in numbers.T:
        assert ks_distance(channel, channel) < KS_LIMIT * 1.15
        counts = np.bincount((channel * 256).astype(int), minlength=256)
        assert abs(chi_square(counts, np.full(256, COUNT / 256))) < CHI_LIMIT + 0.5


def test_every_bit_is_set_half_of_the_time() -> None:
    bits = birth_bits(5, np.arange(COUNT), RandomStream.PLACE)
    for shift in range(32):
        share = np.mean((bits >> np.uint32(shift)) & np.uint32(1), axis=0)
        np.testing.assert_allclose(share, 0.5, atol=4.0 * 0.5 / np.sqrt(COUNT))


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(a, b)[0, 1]) * np.sqrt(len(a))


def test_neighbouring_births_and_channels_are_not_correlated() -> None:
    numbers = np.concatenate([birth_numbers(1, np.arange(COUNT), group) for group in RandomStream], axis=1)
    worst = 0.0
    for lag in (1, 2, 3, 7, 64, 1000, 10_000):
        for column in numbers.T:
            worst = max(worst, abs(correlation(column[:-lag], column[lag:])))
    for first in range(12):
        for second in range(first):
            worst = max(worst, abs(correlation(numbers[:, first], numbers[:, second])))
    # 150 standard normal numbers; one above 4.5 in a thousand tries.
    assert worst < 4.5


def test_pairs_of_successive_births_fill_the_square_evenly() -> None:
    numbers = birth_numbers(9, np.arange(COUNT + 1), RandomStream.DIRECTION)[:, 0]
    cells = (numbers[:-1] * 32).astype(int) * 32 + (numbers[1:] * 32).astype(int)
    counts = np.bincount(cells, minlength=1024)
    assert abs(chi_square(counts, np.full(1024, COUNT / 1024))) < CHI_LIMIT


@pytest.mark.parametrize("others", [(1, 2), (1, 1001), (0, 1), (7, 2**31 - 1)])
def test_two_seeds_share_nothing(others: tuple[int, int]) -> None:
    first, second = (birth_bits(seed, np.arange(COUNT), RandomStream.LIFE) for seed in others)
    assert not np.any(np.all(first == second, axis=1))
    assert np.count_nonzero(first == second) <= 2
    # One stream is no shifted copy of the other: what they have in common is what chance gives to 2 x 10^5 numbers.
    assert len(np.intersect1d(first[:, 0], second[:, 0])) < 20
    for lag in range(4):
        a, b = unit_numbers(first)[: COUNT - lag, 0], unit_numbers(second)[lag:, 0]
        assert abs(correlation(a, b)) < 4.0


def test_one_bit_of_the_number_changes_half_of_the_bits() -> None:
    numbers = np.arange(4096, dtype=np.uint32)
    base = birth_bits(1, numbers, RandomStream.LIFE)
    for bit in range(32):
        changed = base ^ birth_bits(1, numbers ^ np.uint32(1 << bit), RandomStream.LIFE)
        flipped = np.unpackbits(changed.view(np.uint8)).mean()
        assert 0.47 < flipped < 0.53
