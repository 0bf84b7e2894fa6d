"""What a press on the ruler turns into: scrubbing, moving a marker, or pulling the view.

A gesture lives from press to release.  It sees the ruler through `RulerPort`, so that it can be
followed on one screen and tested with a fake.
"""

from typing import Protocol

from PySide6.QtCore import Qt

from widgets.timeline.clip_entry import ClipEntry
from widgets.timeline.ruler_scale import RangeLimits, RulerScale, snapped

IN_POINT = "in_point"
OUT_POINT = "out_point"
_THRESHOLD = 2.0


class RulerPort(Protocol):
    """The part of the ruler that gestures use."""

    clip: ClipEntry
    scale: RulerScale

    def scrub_begin(self) -> None:
        """Tell that the playhead is taken."""

    def scrub_to(self, time: float) -> None:
        """Put the playhead somewhere [s]."""

    def scrub_end(self) -> None:
        """Tell that the playhead is let go."""

    def point(self, name: str) -> float | None:
        """In or out point as set, None where the clip's end holds."""

    def point_time(self, name: str) -> float:
        """Time [s] at which the marker stands."""

    def edit_begin(self, name: str) -> None:
        """Tell that an edit of a point begins."""

    def edit_to(self, name: str, value: float | None) -> None:
        """Move a point."""

    def edit_end(self, name: str, cancelled: bool) -> None:
        """Tell that the edit of a point ended."""

    def look_through(self, scale: RulerScale) -> None:
        """Change the part of time that is shown."""


class Gesture(Protocol):
    """One press of the mouse until its end."""

    def move(self, x: float, modifiers: Qt.KeyboardModifier) -> None:
        """Follow the mouse."""

    def release(self) -> None:
        """Keep what was done."""

    def cancel(self) -> None:
        """Put back what was there before the press."""


class Scrub:
    """The playhead follows the mouse; Shift keeps it on whole frames."""

    def __init__(self, ruler: RulerPort, time: float) -> None:
        self._ruler, self._before = ruler, time
        ruler.scrub_begin()

    def move(self, x: float, modifiers: Qt.KeyboardModifier) -> None:
        """Put the playhead under the mouse, within the clip."""
        clip = self._ruler.clip
        time = self._ruler.scale.time_of(x)
        if modifiers & Qt.KeyboardModifier.ShiftModifier:
            time = snapped(time, clip.frame_step)
        self._ruler.scrub_to(min(max(time, 0.0), clip.duration))

    def release(self) -> None:
        """Let the playhead go where it is."""
        self._ruler.scrub_end()

    def cancel(self) -> None:
        """Let the playhead go where it was."""
        self._ruler.scrub_to(self._before)
        self._ruler.scrub_end()


class MarkerDrag:
    """An in or out marker follows the mouse on whole frames; Control frees it."""

    def __init__(self, ruler: RulerPort, name: str, x: float) -> None:
        self._ruler, self._name, self._before = ruler, name, ruler.point(name)
        self._press = x
        self._grip = x - ruler.scale.x_of(ruler.point_time(name))
        self._caught = self._changed = False

    def move(self, x: float, modifiers: Qt.KeyboardModifier) -> None:
        """Move the marker, at least a frame away from the other one."""
        self._caught = self._caught or abs(x - self._press) >= _THRESHOLD
        if not self._caught:
            return
        snap = not modifiers & Qt.KeyboardModifier.ControlModifier
        value = self._resting(self._ruler.scale.time_of(x - self._grip), snap)
        if value == self._ruler.point_time(self._name):
            return
        if not self._changed:
            self._changed = True
            self._ruler.edit_begin(self._name)
        self._ruler.edit_to(self._name, value)

    def _resting(self, time: float, snap: bool) -> float:
        limits = RangeLimits(self._ruler.clip.duration, self._ruler.clip.frame_step)
        if self._name == IN_POINT:
            return limits.in_point(time, self._ruler.point_time(OUT_POINT), snap)
        return limits.out_point(time, self._ruler.point_time(IN_POINT), snap)

    def release(self) -> None:
        """Keep the marker where it is."""
        if self._changed:
            self._ruler.edit_end(self._name, cancelled=False)

    def cancel(self) -> None:
        """Put the marker back."""
        if self._changed:
            self._ruler.edit_to(self._name, self._before)
            self._ruler.edit_end(self._name, cancelled=True)


class Pan:
    """The view follows the mouse."""

    def __init__(self, ruler: RulerPort, x: float) -> None:
        self._ruler, self._press, self._before = ruler, x, ruler.scale

    def move(self, x: float, modifiers: Qt.KeyboardModifier) -> None:  # noqa: ARG002
        """Pull the content along."""
        self._ruler.look_through(self._before.panned(x - self._press, self._ruler.clip.duration))

    def release(self) -> None:
        """Stay here."""

    def cancel(self) -> None:
        """Go back."""
        self._ruler.look_through(self._before)
