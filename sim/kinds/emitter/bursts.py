"""Bursts as text: "0:100 1.5:300" is 100 particles at once and 300 more after a second and a half."""

import math
from dataclasses import dataclass

from sim.scene.clock import STEP_TIME
from sim.scene.params import SettingsError

BURST_MAX = 16
BURST_COUNT_MAX = 1 << 24


@dataclass(frozen=True, slots=True)
class Burst:
    """Particles that are born together.

    Attributes:
        moment: When [steps since the start].
        count: How many.
    """

    moment: float
    count: int


def parse_bursts(text: str) -> tuple[Burst, ...]:
    """Bursts of a text of `seconds:number` entries parted by blanks, sorted by time; a bare number is one at once.

    Raises:
        SettingsError: Naming the entry that is wrong.
    """
    entries = text.replace(",", " ").split()
    if len(entries) > BURST_MAX:
        raise SettingsError(f"{len(entries)} bursts, at most {BURST_MAX} are allowed")
    return tuple(sorted((_burst(entry) for entry in entries), key=lambda burst: burst.moment))


def _burst(entry: str) -> Burst:
    moment, _, count = entry.rpartition(":")
    try:
        seconds, number = float(moment or "0"), int(count)
    except ValueError:
        raise SettingsError(f"burst {entry!r}: expected seconds:number, such as 1.5:300") from None
    if not (0.0 <= seconds < math.inf):
        raise SettingsError(f"burst {entry!r}: the time must be 0 or more seconds")
    if not 1 <= number <= BURST_COUNT_MAX:
        raise SettingsError(f"burst {entry!r}: the number must be 1 to {BURST_COUNT_MAX}")
    return Burst(seconds / STEP_TIME, number)
