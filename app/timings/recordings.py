"""Named recordings of what frames cost: the one that runs, and those that can be compared and taken away."""

import itertools
from collections.abc import Iterable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from sim.profile.history import ENDLESS, FRAMES_MAX, QuantityHistory, TimingRecording
from sim.profile.sample import FrameSample, TimerStatus

NAME_MAX = 80
RECORDINGS_MAX = 12
"""The oldest one is forgotten for the next."""


class Recordings(QObject):
    """Keeps recordings by name, in the order in which they were made; they end with the program.

    Signals:
        changed: There is another list of recordings.
        started: A recording runs; carries its name.
        stopped: It ended; carries the `TimingRecording`, or None where it has no frames.
    """

    changed = Signal()
    started = Signal(str)
    stopped = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._cached: list[TimingRecording] = []
        self._name: str | None = None
        self._history = QuantityHistory(ENDLESS)
        self._status = self._first_status = TimerStatus()

    @property
    def cached(self) -> tuple[TimingRecording, ...]:
        return tuple(self._cached)

    @property
    def running(self) -> str | None:
        return self._name

    @property
    def length(self) -> int:
        return len(self._history)

    def start(self, name: str, status: TimerStatus) -> None:
        """Begins a recording; one that runs ends."""
        self.stop()
        self._name, self._history = self._free_name(name), QuantityHistory(ENDLESS)
        self._status = self._first_status = status
        self.started.emit(self._name)

    def feed(self, samples: Iterable[FrameSample], status: TimerStatus) -> None:
        """Takes frames that were measured; a recording that is full ends by itself."""
        if self._name is None:
            return
        for sample in itertools.islice(samples, FRAMES_MAX - len(self._history)):
            self._history.append(sample)
        self._status = status
        if len(self._history) == FRAMES_MAX:
            self.stop()

    def stop(self) -> None:
        """Ends the recording that runs; one without frames is forgotten."""
        if self._name is None:
            return
        name, self._name = self._name, None
        history, self._history = self._history, QuantityHistory(ENDLESS)
        status = replace(
            self._status,
            dropped=max(self._status.dropped - self._first_status.dropped, 0),
            warmup_discarded=max(self._status.warmup_discarded - self._first_status.warmup_discarded, 0),
        )
        recording = TimingRecording(name, tuple(history.samples), status, table=history) if len(history) else None
        if recording is not None:
            self._keep(recording)
        self.stopped.emit(recording)

    def add(self, recording: TimingRecording) -> TimingRecording:
        """Keeps one that was imported; returns it under a name that no other has."""
        named = recording.renamed(self._free_name(recording.name))
        self._keep(named)
        return named

    def remove(self, name: str) -> None:
        self._cached = [one for one in self._cached if one.name != name]
        self.changed.emit()

    def _keep(self, recording: TimingRecording) -> None:
        self._cached = [*self._cached, recording][-RECORDINGS_MAX:]
        self.changed.emit()

    def _free_name(self, wanted: str) -> str:
        wanted = " ".join(wanted.split())[:NAME_MAX] or "TimingRecording"
        taken = {one.name for one in self._cached}
        numbered = (f"{wanted} {number}" for number in itertools.count(2))
        return next(name for name in itertools.chain([wanted], numbered) if name not in taken)
