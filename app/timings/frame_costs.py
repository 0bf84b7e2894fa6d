"""Frame times of the frames of the timeline, for the strip under the ruler."""

import math
from collections.abc import Iterable

from PySide6.QtCore import QObject, QTimer

from sinew.app.timeline.active_model import ActiveModel
from sinew.sim.profile.by_frame import FrameCollector
from sinew.sim.profile.sample import FrameSample, TimeSource
from sinew.widgets.timeline.cost_strip import CostStrip

_REFRESH_MS = 200
"""Interval of updates: a median can be read five times a second."""


class FrameCostStrip(QObject):
    """Collects frame times by frame of the timeline; another clip, model or source of times clears them."""

    def __init__(self, strip: CostStrip, active: ActiveModel) -> None:
        super().__init__()
        self._strip, self._active = strip, active
        self.by_frame = FrameCollector()
        self._measuring = False
        self._subject: object = None
        self._source = TimeSource.CLOCK
        self._newest, self._from = -1, 0
        self._shown_version = -1
        self._timer = QTimer(self, interval=_REFRESH_MS)
        self._timer.timeout.connect(self.refresh)

    def set_measuring(self, on: bool) -> None:
        self._measuring = on
        if on:
            self._timer.start()
        else:
            self._timer.stop()
        self._shown_version = -1
        self.refresh()

    def clear(self) -> None:
        """Deletes all frame times; frames drawn before do not count any more."""
        self.by_frame.clear(math.ceil(self._active.duration / self._active.frame_step) + 1)
        self._from = self._newest + 1
        self.refresh()

    def drawn(self, number: int | None) -> None:
        """Notes the number of a drawn frame; None if it is not measured."""
        self._check_subject()
        if number is not None:
            self._newest = number

    def feed(self, samples: Iterable[FrameSample]) -> None:
        self._check_subject()
        for sample in samples:
            if sample.source is not self._source:
                self._source = sample.source
                self.clear()
                self._from = sample.number
            if sample.number >= self._from:
                self.by_frame.add(sample, sample.moment.time / self._active.frame_step)

    def refresh(self) -> None:
        self._check_subject()
        if self.by_frame.version == self._shown_version:
            return
        self._shown_version = self.by_frame.version
        costs = self.by_frame.costs()
        if self._measuring or len(costs.frames):
            self._strip.show_costs(costs, self._source)
        else:
            self._strip.hide()

    def _check_subject(self) -> None:
        node, clip = self._active.node, self._active.clip
        name = clip.name if clip is not None else ""
        subject = (node.id if node else None, id(self._active.model), name, self._active.frame_step)
        if subject != self._subject:
            self._subject = subject
            self.clear()
