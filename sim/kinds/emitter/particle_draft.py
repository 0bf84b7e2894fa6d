"""How many particles a hasty picture draws, and of which emitters."""

import math
from collections.abc import Sequence

MOST, FIRST, LEAST = 80_000, 20_000, 8_000
"""Particles that a draft draws at most, at first on a software renderer, and where it is never quick enough."""

AIM = 0.02
"""Time that the particles of a draft are to take [s]."""


LARGEST_SWELL = 4.0
"""Factor of the size of those that are drawn; larger ones would look like blobs, and take as long as all would."""


def draft_swell(stride: int) -> tuple[float, float]:
    """Factor of the size of a particle that stands for so many, and how many of that size it stands for still."""
    swell = min(math.sqrt(stride), LARGEST_SWELL)
    return swell, stride / (swell * swell)


def draft_strides(counts: Sequence[int], budget: int) -> list[int]:
    """For each emitter the slots to one that a draft draws; that one stands for all of them, see `draft_swell`.

    Emitters share the budget alike; what small ones leave is for the others. Strides are powers of two, so that a
    smaller draft shows a part of what a larger one did.

    Source: R. Cook et al. 2007, "Stochastic simplification of aggregate detail".

    Args:
        counts: Slots of each emitter.
        budget: Particles that are drawn at most, where that leaves one to each emitter.
    """
    left, strides = budget, [1] * len(counts)
    for rank, index in enumerate(sorted(range(len(counts)), key=counts.__getitem__)):
        share = max(left // (len(counts) - rank), 1)
        strides[index] = 1 << (max(-(-counts[index] // share), 1) - 1).bit_length()
        left -= -(-counts[index] // strides[index])
    return strides


class DraftBudget:
    """Finds out how many particles this machine draws in the time of a draft.

    Args:
        is_software: Whether a processor draws, which has done it when the call returns.

    Attributes:
        particles: What a draft may draw.
    """

    def __init__(self, is_software: bool) -> None:
        self.particles = FIRST if is_software else MOST
        self._trend = 0

    def note(self, duration: float, drawn: int) -> None:
        """Takes the time [s] that the particles of a draft took.

        One draft by itself says nothing: a shader may have been compiled, or another program had the processor.
        """
        share = min(drawn / self.particles, 1.0)
        slow, quick = duration > 1.5 * AIM, share > 0.5 and duration < 0.6 * AIM
        trend = -1 if slow else 1 if quick else 0
        if trend and trend == self._trend:
            wanted = self.particles // 2 if slow else self.particles * 2
            self.particles = min(max(wanted, LEAST), MOST)
            trend = 0
        self._trend = trend
