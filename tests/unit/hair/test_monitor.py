import numpy as np

from sinew.sim.kinds.hair.monitor import hair_statistics


def test_guides_that_are_too_fast_for_32_bits_are_broken() -> None:
    measures = np.array([[0.5, 0.25, 4.0, 0.0], [0.2, 0.0, np.inf, 0.0], [np.nan, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    found = hair_statistics(measures)
    assert (found.bend, found.stretch, found.energy, found.broken) == (0.5, 0.25, 2.0, 3)
