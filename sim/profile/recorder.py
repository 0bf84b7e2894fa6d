"""Recorder: runs of passes become frames, and frames become samples once their times are known, without OpenGL."""

import math
import statistics
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from sinew.sim.profile.sample import FrameSample, SceneMoment, Slice, TimeSource

SLASH = "∕"
"""Character in place of a slash in the name of a node, which would read as another pass."""


class Run:
    """One run of a pass.

    Args:
        name: The pass, "cloth".
        detail: Which of several, "Cape"; "" if there is one.
        is_host: Whether it submits no work to the GPU.

    Attributes:
        group: Path without the detail; "" if it has none.
        begin, cpu: Begin of its submission, and submission time [s].
        waited: Overhead of measuring before it, then within it [s].
        first, last: Timestamps around its work; None for a run on the CPU alone.
    """

    __slots__ = ("begin", "cpu", "detail", "first", "group", "is_host", "last", "name", "owner", "parent", "path",
                 "waited")  # fmt: skip

    def __init__(self, owner: "Recorder", name: str, detail: str = "", *, is_host: bool = False) -> None:
        self.owner = owner
        self.name, self.detail, self.is_host = name, detail, is_host
        self.path = self.group = ""
        self.parent: Run | None = None
        self.begin = self.cpu = self.waited = 0.0
        self.first: Any = None
        self.last: Any = None

    def __enter__(self) -> "Run":
        self.owner.enter(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.owner.leave(self)


class EmptyRun:
    """A run that measures nothing; there is one for the whole program.

    Both ends are a built-in function that takes anything and returns "": calling it costs a tenth of a microsecond less
    than two methods, and every pass of every frame goes through here.
    """

    __slots__ = ()
    __enter__ = staticmethod("".format)
    __exit__ = staticmethod("".format)


NO_RUN = EmptyRun()


def place(run: Run, parent: Run | None, known: dict[tuple[str, str, str], tuple[str, str]]) -> None:
    """Sets path and group of a run; `known` caches texts."""
    key = (parent.path if parent is not None else "", run.name, run.detail)
    found = known.get(key)
    if found is None:
        above, name, detail = key
        name = name.replace("/", SLASH)
        full = f"{above}/{name}" if above else name
        found = known[key] = (f"{full}/{detail.replace('/', SLASH)}", full) if detail else (full, "")
    run.path, run.group = found
    run.parent = parent


Span = tuple[float, float]
LOST: Span = (math.nan, math.nan)
SLACK = 1e-3
"""Excess of a span over the time that passed [s] that is accepted, since two clocks are compared."""

LEAN = 2e-6
"""Time [s] by which a part may begin before or end after its pass: timestamps are as coarse as a microsecond."""

DEPTH = 5
"""Number of frames after which times that are still unknown are given up."""

WARM_UP = 3
"""Number of frames that are discarded after switching on or a rebuild of shaders, which drivers finish at first use."""

PAUSE = 0.25
"""Gap without a frame [s] that counts as a pause, unless something is playing."""

PAIRING = 1.0
"""Time between two comparisons of the clocks [s]."""

JUMP, DRIFT = 1e-3, 1e-4
"""Maximum drift of the clocks [s], plus this fraction of the time that passed."""

RUNS_MAX = 4096
"""Maximum number of passes between two frames; more pile up while nothing is drawn and are discarded."""

COST_COUNT = 61


class Stamps(Protocol):
    """Source of timestamps, which are opaque values; `source` is the meaning of the times."""

    source: TimeSource

    def stamp(self) -> Any:
        """Puts a timestamp behind all submitted work."""

    def time_of(self, stamp: Any) -> float | None:
        """Returns the time at which the work before a timestamp was done [s]; None while it is unknown."""

    def give_back(self, stamp: Any) -> None:
        pass

    def offset(self) -> tuple[float, float]:
        """Returns the clock of the timestamps minus the CPU's, and the error of that [s]."""

    def release(self) -> None: ...


class ClockStamps:
    """Timestamps of the monotonic `clock` [s], read after waiting for all submitted work."""

    source = TimeSource.CLOCK

    def __init__(self, finish: Callable[[], object], clock: Callable[[], float]) -> None:
        self._finish, self._clock = finish, clock

    def stamp(self) -> float:
        self._finish()
        return self._clock()

    def time_of(self, stamp: float) -> float | None:
        return stamp

    def give_back(self, stamp: float) -> None: ...

    def offset(self) -> tuple[float, float]:
        return 0.0, 0.0

    def release(self) -> None: ...


@dataclass(slots=True)
class PendingFrame:
    # number, begin, since, moment: As in `FrameSample`
    number: int
    begin: float
    since: float
    moment: SceneMoment
    runs: list[Run]  # Every run, a pass before its parts
    offset: float  # Clock of the timestamps minus the CPU's [s]
    age: int = 0  # Frames that were finished since
    is_disjoint: bool = False  # Whether the clock of the timestamps jumped, which makes all spans meaningless
    lost: int = 0  # GPU times that were lost, known once it is settled
    _spans: dict[int, Span] = field(default_factory=dict)

    def read(self, stamps: Stamps, now: float) -> bool:
        """Reads all timestamps if they are known, the last ones first; never waits."""
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

    def lose_all(self) -> None:
        for run in self.runs:
            if not run.is_host:
                self._lose(run)

    def give_back(self, stamps: Stamps) -> None:
        for run in self.runs:
            if not run.is_host:
                stamps.give_back(run.first)
                stamps.give_back(run.last)

    def sample(self, stamps: Stamps) -> FrameSample:
        slices: list[Slice] = []
        for run in self.runs:
            first, last = (run.begin + self.offset,) * 2 if run.is_host else self._spans[id(run)]
            begin, shown = run.begin - self.begin, first - self.offset - self.begin
            if run.group:
                slices.append(Slice(run.group, begin, run.cpu, shown, last - first))
            slices.append(Slice(run.path, begin, run.cpu, shown, last - first))
        return FrameSample(
            self.number, self.begin, math.nan, self.moment, tuple(slices), stamps.source, self.age, self.since
        )

    def _is_sound(self, run: Run, now: float) -> bool:
        """Returns True for a span that is positive, not longer than the time that passed, and inside its pass."""
        first, last = self._spans[id(run)]
        if self.is_disjoint or not 0.0 < last - first <= now - run.begin + SLACK:
            return False
        whole = self._spans.get(id(run.parent), LOST)
        return not (first < whole[0] - LEAN or last > whole[1] + LEAN)

    def _lose(self, run: Run) -> None:
        self._spans[id(run)] = LOST
        self.lost += 1


class Recorder:
    """Recorder of passes; releases its `stamps`, the source of GPU times. `clock` is monotonic [s].

    Attributes:
        number: Number of the next frame.
        latency: Frames drawn before the newest known times were known.
        dropped: GPU times of passes that were lost.
        discarded: Warm-up frames.
        is_closed: Runs that are still open then end without a measurement.
    """

    def __init__(self, stamps: Stamps, clock: Callable[[], float], number: int = 0) -> None:
        self._stamps, self._clock = stamps, clock
        self.number = number
        self.latency = self.dropped = self.discarded = 0
        self.is_closed = False
        self._warming = WARM_UP
        self._runs: list[Run] = []
        self._open: Run | None = None
        self._known: dict[tuple[str, str, str], tuple[str, str]] = {}
        self._begin = self._own = self._waited = self._stamping = 0.0
        self._last_begin = self._last_end = math.nan
        self._was_running = False
        self._ring: deque[PendingFrame] = deque()
        self._costs: deque[float] = deque(maxlen=COST_COUNT)
        self._stampings: deque[float] = deque(maxlen=COST_COUNT)
        self._offset, self._error = stamps.offset()
        self._paired_at = clock()

    @property
    def source(self) -> TimeSource:
        return self._stamps.source

    @property
    def own_time(self) -> float:
        """Overhead since the last frame, without waiting for work of the passes [s]."""
        waiting = self._stamping if self.source is TimeSource.CLOCK else 0.0
        return self._waited + self._own - waiting

    @property
    def cost(self) -> float:
        """Overhead for each frame [s], median of the last ones."""
        return statistics.median(self._costs) if self._costs else 0.0

    @property
    def waiting(self) -> float:
        """Part of the cost that waits for work of the passes [s]; 0 with a timer."""
        waits = self._stampings and self.source is TimeSource.CLOCK
        return statistics.median(self._stampings) if waits else 0.0

    def enter(self, run: Run) -> None:
        if self.is_closed:
            return
        at = self._clock()
        if self._open is None and len(self._runs) >= RUNS_MAX:
            self._abandon()
        if not self._runs:
            self._begin = at
        place(run, self._open, self._known)
        self._runs.append(run)
        self._open = run
        if not run.is_host:
            before = self._clock()
            run.first = self._stamps.stamp()
            run.begin = self._clock()
            self._stamping += run.begin - before
        else:
            run.begin = self._clock()
        self._waited += run.begin - at
        run.waited = self._waited

    def leave(self, run: Run) -> None:
        if self.is_closed:
            return
        at = self._clock()
        run.waited = self._waited - run.waited
        run.cpu = max(at - run.begin - run.waited, 0.0)
        if not run.is_host:
            run.last = self._stamps.stamp()
        self._open = run.parent
        after = self._clock()
        self._waited += after - at
        if not run.is_host:
            self._stamping += after - at

    def finish_frame(self, moment: SceneMoment, *, running: bool = True) -> int | None:
        """Ends a frame, everything since the last call; returns its number, or None if it is discarded.

        With `running` another frame follows by itself: a long interval is then a slow frame and not a pause.  Raises
        ValueError if a run is still open.
        """
        if self._open is not None:
            raise ValueError(f"a frame cannot end within {self._open.path!r}")
        if not self._runs:
            return None
        at = self._clock()
        jumped = self._has_jumped(at)
        frame = PendingFrame(
            self.number, self._begin, self._since(), moment, self._runs, self._offset, is_disjoint=jumped
        )
        self._last_begin, self._last_end, self._was_running = self._begin, at, running
        self._runs = []
        for waiting in self._ring:
            waiting.age += 1
        taken = self._take(frame)
        self._costs.append(self._waited + self._own + self._clock() - at)
        self._stampings.append(self._stamping)
        self._waited = self._own = self._stamping = 0.0
        return frame.number if taken else None

    def poll(self) -> list[FrameSample]:
        """Returns frames whose times are known by now, in order; never waits."""
        at = self._clock()
        samples: list[FrameSample] = []
        while self._ring:
            frame = self._ring[0]
            if not frame.read(self._stamps, at):
                if frame.age < DEPTH:
                    break
                frame.lose_all()
            self._ring.popleft()
            frame.give_back(self._stamps)
            self.dropped += frame.lost
            self.latency = frame.age
            samples.append(frame.sample(self._stamps))
        self._own += self._clock() - at
        return samples

    def warm_up(self) -> None:
        self._warming = WARM_UP

    def close(self) -> None:
        """Closes the recorder; pending frames are lost."""
        self.is_closed = True
        self._ring.clear()
        self._runs = []
        self._stamps.release()

    def _take(self, frame: PendingFrame) -> bool:
        if self._warming:
            self._warming -= 1
            self.discarded += 1
            frame.give_back(self._stamps)
            return False
        self.number += 1
        self._ring.append(frame)
        return True

    def _since(self) -> float:
        """Returns the time between the begins of two frames; NaN if there was a pause."""
        follows = self._was_running or self._begin - self._last_end < PAUSE
        return self._begin - self._last_begin if follows else math.nan

    def _has_jumped(self, now: float) -> bool:
        """Returns True if a clock has jumped, compared from time to time; that spoils all pending frames."""
        if now - self._paired_at < PAIRING:
            return False
        offset, error = self._stamps.offset()
        allowed = JUMP + DRIFT * (now - self._paired_at) + error + self._error
        jumped = abs(offset - self._offset) > allowed
        for frame in self._ring:
            frame.is_disjoint |= jumped
        self._offset, self._error, self._paired_at = offset, error, now
        return jumped

    def _abandon(self) -> None:
        for run in self._runs:
            if not run.is_host:
                self._stamps.give_back(run.first)
                self._stamps.give_back(run.last)
        self._runs = []
        self._was_running = False
        self._last_end = -math.inf
