"""Births as a pure function of time, so that any division of time into steps gives the same particles.

Time counts in steps of `STEP_TIME` since the start.  Birth number n uses slot n mod capacity; a step from t0 to t1
spawns exactly the births whose times lie in [t0, t1).
"""

import math
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sinew.sim.kinds.emitter.settings import EmissionMode, EmitterSettings
from sinew.sim.printable import shortened
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import ParamError, SettingsError, check, params_of
from sinew.sim.scene.vectors import check_stops

GENERATIONS = 1 << 24
"""Number of births after which a slot counts from zero: the limit of a float32."""

_ROUNDING = 1e-6
"""Births this close to the end of a span [births] count as after it."""


@dataclass(frozen=True, slots=True)
class Burst:
    moment: float  # Time [steps since the start]
    count: int  # Number of particles


@dataclass(frozen=True, slots=True)
class Segment:
    first: int  # Number of the first birth
    count: int  # Number of births
    moment: float  # Time of the first [steps since the start]
    spacing: float  # Time between births [steps]; 0 for a burst


@dataclass(frozen=True, slots=True)
class Schedule:
    per_step: float  # Births of the stream in a step
    bursts: tuple[Burst, ...] = ()  # Sorted by time
    period: float = 0.0  # Time after which the bursts repeat [steps]; 0 for never
    anchor: float = 0.0  # Time from which the present rate counts [steps]
    passed: float = 0.0  # Births of the stream that were due by then; need not be an integer

    def with_rate(self, rate: float, moment: float) -> "Schedule":
        """Returns the schedule with another rate [1/s] from a time [steps] on, without a gap or a jump."""
        passed = self.passed + self.per_step * (moment - self.anchor)
        return replace(self, per_step=rate * STEP_TIME, anchor=moment, passed=passed)

    def births_before(self, moment: float) -> int:
        return self._stream_before(moment) + (self._burst_births_before(moment) if self.bursts else 0)

    def segments(self, start: float, end: float) -> list[Segment]:
        """Returns the births in [start, end) [steps], in the order of their numbers; bursts come first."""
        segments: list[Segment] = []
        streamed = self._stream_before(start)
        number = streamed + (self._burst_births_before(start) if self.bursts else 0)
        for moment, count in self._bursts_within(start, end) if self.bursts else ():
            until = max(self._stream_before(moment), streamed)  # by rounding a burst may lie before `start`
            number = self._add_stream(segments, number, streamed, until)
            streamed = until
            segments.append(Segment(number, count, moment, 0.0))
            number += count
        self._add_stream(segments, number, streamed, self._stream_before(end))
        return segments

    def _add_stream(self, segments: list[Segment], number: int, first: int, until: int) -> int:
        if until <= first:
            return number
        moment = self.anchor + (first - self.passed) / self.per_step
        segments.append(Segment(number, until - first, moment, 1.0 / self.per_step))
        return number + until - first

    def _stream_before(self, moment: float) -> int:
        return max(math.ceil(self.passed + self.per_step * (moment - self.anchor) - _ROUNDING), 0)

    def _burst_births_before(self, moment: float) -> int:
        total = 0
        for burst in self.bursts:
            past = moment - burst.moment
            times = math.ceil(past / self.period - _ROUNDING) if self.period else int(past > 0.0)
            total += burst.count * max(times, 0)
        return total

    def _bursts_within(self, start: float, end: float) -> list[tuple[float, int]]:
        moments: list[tuple[float, int]] = []
        for burst in self.bursts:
            if not self.period:
                if start <= burst.moment < end:
                    moments.append((burst.moment, burst.count))
                continue
            turn = max(math.ceil((start - burst.moment) / self.period - _ROUNDING), 0)
            while turn < math.ceil((end - burst.moment) / self.period - _ROUNDING):
                moments.append((burst.moment + turn * self.period, burst.count))
                turn += 1
        return sorted(moments, key=lambda entry: entry[0])


N = TypeVar("N", int, npt.NDArray[np.int64])


def hash_number(slot: N, generation: N, capacity: int) -> N:
    """Returns the birth number for the hash, modulo 2³²; exact until the generation wraps around."""
    return (slot + capacity * generation) % (1 << 32)


def slot_ranges(first: int, end: int, capacity: int) -> tuple[tuple[int, int], ...]:
    """Returns up to two ranges (first slot, count) of births `first` to `end`; only the last `capacity` count."""
    count = end - first
    if count <= 0:
        return ()
    if count >= capacity:
        return ((0, capacity),)
    begin = first % capacity
    over = begin + count - capacity
    return ((begin, count),) if over <= 0 else ((begin, count - over), (0, over))


def capacity_needed(schedule: Schedule, longest_life: float) -> int:
    """Returns the capacity that a schedule needs; `longest_life` is in steps."""
    turns = math.ceil(longest_life / schedule.period) + 1 if schedule.period else 0
    crowded = [burst.moment + turns * schedule.period for burst in schedule.bursts]
    steady = math.ceil(schedule.per_step * longest_life - _ROUNDING)
    most = steady + 1 if steady else 0
    for moment in crowded:
        after = moment + 1e-5 * max(schedule.period, 1.0)
        stream = schedule.per_step * longest_life
        bursts = schedule._burst_births_before(after) - schedule._burst_births_before(moment - longest_life)
        most = max(most, math.ceil(stream) + 1 + bursts if stream else bursts)
    return most


BURST_MAX = 16
BURST_COUNT_MAX = 1 << 24


def parse_bursts(text: str) -> tuple[Burst, ...]:
    """Parses `seconds:number` entries separated by blanks, sorted by time; a bare number is at 0 s.

    Raises:
        SettingsError: Names the invalid entry.
    """
    entries = text.replace(",", " ").split()
    if len(entries) > BURST_MAX:
        raise SettingsError(f"{len(entries)} bursts, at most {BURST_MAX} are allowed")
    return tuple(sorted((_burst(entry) for entry in entries), key=lambda burst: burst.moment))


def _burst(entry: str) -> Burst:
    moment, _, count = entry.rpartition(":")
    shown = shortened(repr(entry))
    try:
        seconds, number = float(moment or "0"), int(count)
    except ValueError:
        raise SettingsError(f"burst {shown}: expected seconds:number, such as 1.5:300") from None
    if not (0.0 <= seconds < math.inf):
        raise SettingsError(f"burst {shown}: the time must be 0 or more seconds")
    if not 1 <= number <= BURST_COUNT_MAX:
        raise SettingsError(f"burst {shown}: the number must be 1 to {BURST_COUNT_MAX}")
    return Burst(seconds / STEP_TIME, number)


STOPS = ("colour_over_life", "opacity_over_life", "size_over_life")


def schedule_of(settings: EmitterSettings) -> Schedule:
    """Returns the births of settings; raises SettingsError if bursts are invalid, or repeat within a step."""
    period = settings.burst_period / STEP_TIME
    if 0.0 < period < 1.0:
        raise SettingsError(
            f"burst period = {settings.burst_period:g} s: must be 0 or at least a step, {STEP_TIME:.4f} s"
        )
    rate = settings.rate if settings.mode is EmissionMode.RATE else 0.0
    if settings.mode is EmissionMode.FULL:
        return Schedule(settings.capacity / settings.lifetime * STEP_TIME)
    return Schedule(rate * STEP_TIME, parse_bursts(settings.bursts), period)


def slots_needed(settings: EmitterSettings) -> int:
    """Returns the capacity below which particles lose their slots; raises SettingsError for invalid bursts."""
    if settings.mode is EmissionMode.FULL:
        return settings.capacity
    return capacity_needed(schedule_of(settings), settings.longest_life / STEP_TIME)


def starvation(settings: EmitterSettings) -> str:
    """Returns a warning if the capacity is too small, or ""; raises SettingsError for invalid bursts."""
    needed = slots_needed(settings)
    if needed <= settings.capacity:
        return ""
    return f"capacity {settings.capacity:,} cuts lives short: this rate and lifetime take {needed:,} particles"


def check_emitter(settings: EmitterSettings, former: EmitterSettings | None = None) -> None:
    """Checks what differs from `former`, valid settings; raises SettingsError, one line that names the setting, if no
    emitter can be built.
    """
    for record in params_of(EmitterSettings):
        if former is not None and getattr(settings, record.name) is getattr(former, record.name):
            continue
        try:
            check(EmitterSettings, record.name, getattr(settings, record.name))
        except ParamError as error:
            raise SettingsError(str(error)) from None
    if settings.mode is EmissionMode.BURST and not parse_bursts(settings.bursts):
        raise SettingsError("bursts: an emitter of bursts alone needs at least one, such as 0:100")
    schedule_of(settings)
    for name in STOPS:
        check_stops(getattr(settings, name), name.replace("_", " "))
