"""Scale of the ruler, independent of Qt; pixels are logical and count from the left edge of the ruler."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sinew.sim.scene.playback import frame_of, time_of
from sinew.widgets.number_text import nice_above

_POSE_FRAME_STEP = 1.0 / 30.0


@dataclass(frozen=True, slots=True)
class ClipEntry:
    """A clip of the chooser, or the scene."""

    name: str  # Unique name within the model
    frame_count: int  # Equally spaced from 0 to the end
    duration: float  # Playable length [s]; 0 for a single pose
    key_times: Sequence[float] | npt.NDArray[np.float64] = ()  # Ascending [s]
    rate: float = 0.0  # Frames per second if they are independent of the duration, else 0
    start: float = 0.0  # Start of the range that plays [s]; scrubbing starts at 0

    @property
    def frame_step(self) -> float:
        """Duration of a frame [s], positive; 1/30 s for a single pose."""
        if self.rate > 0.0:
            return 1.0 / self.rate
        if self.frame_count < 2 or self.duration <= 0.0:
            return _POSE_FRAME_STEP
        return self.duration / (self.frame_count - 1)

    @property
    def last_frame(self) -> int:
        return max(self.frame_count - 1, 0)

    @property
    def summary(self) -> str:
        """Text such as "31 frames · 1.00 s"."""
        if self.duration <= 0.0:
            return "single pose"
        return f"{self.frame_count} frames · {self.duration:.2f} s"

    def frame_of(self, time: float) -> float:
        """Returns the frame at a time [s], fractional between frames."""
        return frame_of(time, self.frame_step)

    def time_of(self, frame: float) -> float:
        """Returns the time of a frame [s], which may be fractional."""
        return time_of(frame, self.frame_step)


def scene_entry(start: float, end: float, rate: float, key_times: Sequence[float] = ()) -> ClipEntry:
    """Returns the scene as an entry; start and end in [s], frame rate in [1/s]."""
    return ClipEntry("", int(end * rate + 1e-6) + 1, end, tuple(key_times), rate, start)


IN_POINT = "in_point"
OUT_POINT = "out_point"
MARGIN = 28.0
_FRAMES_MIN = 4.0
_ZOOM_OUT_MAX = 2.0
_SPAN_OF_POSE = 1.0
_MINOR_PIXELS_MIN = 5.0
_DIVIDED_FRAME_PIXELS = 100.0


@dataclass(frozen=True, slots=True)
class RulerScale:
    """A linear map between time and pixels."""

    start: float  # Time at the left edge [s]
    seconds_per_pixel: float  # Positive
    width: float  # Width of the ruler [px], at least 1

    @property
    def end(self) -> float:
        return self.time_of(self.width)

    def x_of(self, time: float) -> float:
        return (time - self.start) / self.seconds_per_pixel

    def time_of(self, x: float) -> float:
        return self.start + x * self.seconds_per_pixel

    def pixels(self, seconds: float) -> float:
        return seconds / self.seconds_per_pixel

    def shows(self, time: float) -> bool:
        return 0.0 <= self.x_of(time) <= self.width

    def panned(self, pixels: float, duration: float) -> "RulerScale":
        """Moves the view to the right by `pixels`; the clip stays visible."""
        return self._at(self.start - pixels * self.seconds_per_pixel, duration)

    def zoomed(self, x: float, factor: float, duration: float, frame_step: float) -> "RulerScale":
        """Changes seconds per pixel by a factor around pixel `x`.

        The closest zoom shows four frames, the widest twice the clip.
        """
        widest = fitted(duration, self.width).seconds_per_pixel * _ZOOM_OUT_MAX
        closest = min(_FRAMES_MIN * frame_step / self.width, widest)
        scaled = min(max(self.seconds_per_pixel * factor, closest), widest)
        held = self.time_of(x)
        return replace(self, seconds_per_pixel=scaled)._at(held - x * scaled, duration)

    def turned_to(self, time: float, duration: float) -> "RulerScale":
        """Scrolls so that `time` is at the left."""
        return self._at(time - MARGIN * self.seconds_per_pixel, duration)

    def resized(self, width: float) -> "RulerScale":
        return replace(self, width=max(width, 1.0))

    def _at(self, start: float, duration: float) -> "RulerScale":
        half = 0.5 * self.width * self.seconds_per_pixel
        return replace(self, start=min(max(start, -half), max(duration, 0.0) - half))


def fitted(duration: float, width: float) -> RulerScale:
    """Returns a scale that shows the whole clip between two margins."""
    span = duration if duration > 0.0 else _SPAN_OF_POSE
    margin = min(MARGIN, width * 0.1)
    per_pixel = span / max(width - 2.0 * margin, 1.0)
    return RulerScale(-margin * per_pixel, per_pixel, max(width, 1.0))


@dataclass(frozen=True, slots=True)
class Ticks:
    """Spacing of labelled (`major`) and other (`minor`) ticks."""

    major: float
    minor: float


def frame_ticks(frame_pixels: float, label_pixels: float) -> Ticks:
    """Returns ticks with labels at 1, 2, 5, 10 ... frames.

    Args:
        frame_pixels: Width of a frame [px], positive.
        label_pixels: Width of a label with its gap [px].
    """
    major = max(nice_above(label_pixels / frame_pixels), 1.0)
    minor = _minor_of(major, frame_pixels)
    return Ticks(major, minor if frame_pixels >= _DIVIDED_FRAME_PIXELS else max(minor, 1.0))


def second_ticks(second_pixels: float, label_pixels: float) -> Ticks:
    """Returns ticks in seconds: 1, 2, 5 times a power of ten, then whole minutes."""
    rough = label_pixels / second_pixels
    major = nice_above(rough) if rough <= 20.0 else _whole_minutes(rough)
    return Ticks(major, _minor_of(major, second_pixels))


def tick_indices(first: float, last: float, spacing: float) -> range:
    """Returns integers whose product with `spacing` is between `first` and `last`."""
    return range(math.ceil(first / spacing - 1e-9), math.floor(last / spacing + 1e-9) + 1)


def second_label(seconds: float, spacing: float) -> str:
    """Returns a label: "0.25 s", "3 s", or "1:30" for labels minutes apart or later."""
    if spacing >= 30.0 or (seconds >= 60.0 and spacing >= 1.0):
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes}:{rest:02d}"
    digits = max(0, -math.floor(math.log10(spacing) + 1e-9))
    return f"{seconds:.{digits}f} s"


def time_text(seconds: float) -> str:
    return f"{seconds:.2f} s"


def frame_text(frame: float) -> str:
    """Returns a frame as text; fractional frames have one digit."""
    whole = round(frame)
    return str(whole) if abs(frame - whole) < 0.005 else f"{frame:.1f}"


def snapped(time: float, frame_step: float) -> float:
    return round(time / frame_step) * frame_step


@dataclass(frozen=True, slots=True)
class RangeLimits:
    """Limits for dragging the in or out marker: the clip [s], and one frame between the markers."""

    duration: float
    frame_step: float

    def in_point(self, time: float, out_time: float, snap: bool) -> float:
        """Returns the time of an in marker that is dragged to `time`, before `out_time`."""
        time = snapped(time, self.frame_step) if snap else time
        return min(max(time, 0.0), max(out_time - self._gap(), 0.0))

    def out_point(self, time: float, in_time: float, snap: bool) -> float:
        """Returns the time of an out marker that is dragged to `time`, after `in_time`."""
        time = snapped(time, self.frame_step) if snap else time
        return max(min(time, self.duration), min(in_time + self._gap(), self.duration))

    def _gap(self) -> float:
        return min(self.frame_step, self.duration)


def _minor_of(major: float, unit_pixels: float) -> float:
    digit = round(major / 10.0 ** math.floor(math.log10(major) + 1e-9))
    for parts in {1: (10, 5, 2), 2: (10, 4, 2), 5: (5,)}.get(digit, (6, 3, 2)):
        if major * unit_pixels / parts >= _MINOR_PIXELS_MIN:
            return major / parts
    return major


def _whole_minutes(rough: float) -> float:
    steps = (30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
    return next((step for step in steps if step >= rough), 3600.0 * nice_above(rough / 3600.0))
