"""A frame whose work was handed out, and what becomes of it when the stamps of its passes are known."""

import math
from dataclasses import dataclass, field

from sim.profile.run import Run
from sim.profile.sample import FrameSample, Moment, Slice
from sim.profile.stamps import Stamps

Span = tuple[float, float]
LOST: Span = (math.nan, math.nan)

SLACK = 1e-3
"""A span may be this much longer [s] than the time that passed, since two clocks are compared."""

LEAN = 2e-6
"""A part may begin before or end after its whole by this much [s], since stamps are as coarse as a microsecond."""


@dataclass(slots=True)
class PendingFrame:
    """A frame between its picture and its times.

    Attributes:
        number, begin, interval, moment: As in `FrameSample`.
        runs: Every run, a pass before its parts.
        offset: Clock of the stamps minus the processor's [s].
        age: Pictures that were finished since.
        is_disjoint: Whether the clock of the stamps jumped meanwhile, so that no span means anything.
        lost: GPU times that were lost, known once it is settled.
    """

    number: int
    begin: float
    interval: float
    moment: Moment
    runs: list[Run]
    offset: float
    age: int = 0
    is_disjoint: bool = False
    lost: int = 0
    _spans: dict[int, Span] = field(default_factory=dict)

    def read(self, stamps: Stamps, now: float) -> bool:
        """Takes the times of all stamps if they are known; asks for the last ones first and never waits."""
        times: dict[int, Span] = {}
        for run in reversed(self.runs):
            if run.is_host:
                continue
            last = stamps.time_of(run.last)
            first = stamps.time_of(run.first) if last is not None else None
            if first is None or last is None:
                return False
            times[id(run)] = (first, last)
        self._spans = times
        for run in self.runs:
            if not run.is_host and not self._is_sound(run, now):
                self._lose(run)
        return True

    def give_up(self) -> None:
        """The times came too late: all are lost."""
        for run in self.runs:
            if not run.is_host:
                self._lose(run)

    def give_back(self, stamps: Stamps) -> None:
        """Gives the stamps back."""
        for run in self.runs:
            if not run.is_host:
                stamps.give_back(run.first)
                stamps.give_back(run.last)

    def sample(self, stamps: Stamps) -> FrameSample:
        """The finished frame."""
        slices: list[Slice] = []
        for run in self.runs:
            first, last = (run.begin + self.offset,) * 2 if run.is_host else self._spans[id(run)]
            begin, shown = run.begin - self.begin, first - self.offset - self.begin
            if run.group:
                slices.append(Slice(run.group, begin, run.cpu, shown, last - first))
            slices.append(Slice(run.path, begin, run.cpu, shown, last - first))
        return FrameSample(
            self.number, self.begin, self.interval, self.moment, tuple(slices), stamps.source, latency=self.age
        )

    def _is_sound(self, run: Run, now: float) -> bool:
        """Whether a span is one: neither zero nor negative nor longer than time itself, and inside its whole."""
        first, last = self._spans[id(run)]
        if self.is_disjoint or not 0.0 < last - first <= now - run.begin + SLACK:
            return False
        whole = self._spans.get(id(run.parent), LOST)
        return not (first < whole[0] - LEAN or last > whole[1] + LEAN)

    def _lose(self, run: Run) -> None:
        self._spans[id(run)] = LOST
        self.lost += 1
