"""Strips: clips that a character plays, on scene time.

Strips that overlap blend, the later one fading in over the overlap.  Between strips the pose holds at the end of
the strip before, and before the first one at its beginning.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec

STRIPS_MAX = 256

MOMENTS_MAX = 100_000
"""Maximum number of moments of one strip that are listed."""

Seconds = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]


class Strip(msgspec.Struct, frozen=True, kw_only=True):
    clip: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    start: Seconds = 0.0  # In the scene [s]
    clip_in: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] = 0.0  # First moment of the clip that is played [s]
    clip_out: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] | None = None  # [s]; None for the end of the clip
    speed: Annotated[float, msgspec.Meta(ge=-100.0, le=100.0)] = 1.0  # Negative plays backwards, 0 holds the pose
    repeats: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] = 0.0  # 0 for endless

    def length(self, clip: float) -> float:
        """Returns the length of a repetition in the scene [s] for a clip of `clip` seconds; infinite at speed 0."""
        lo, hi = self.span(clip)
        return (hi - lo) / abs(self.speed) if self.speed else math.inf

    def end(self, clip: float) -> float:
        return self.start + self.repeats * self.length(clip) if self.repeats and self.speed else math.inf

    def span(self, clip: float) -> tuple[float, float]:
        last = clip if self.clip_out is None else min(self.clip_out, clip)
        return min(self.clip_in, last), last

    def place(self, time: float, clip: float) -> tuple[float, int]:
        """Returns the moment of the clip [s] and number of the repetition at a scene time, clamped to the strip.

        The very end of the last repetition, and of the first of an endless strip, is the end of the clip.
        """
        lo, hi = self.span(clip)
        length = hi - lo
        if length <= 0.0:
            return lo, 0
        gone = max(min(time, self.end(clip)) - self.start, 0.0) * abs(self.speed)
        turn = int(gone // length) if gone > length else 0
        within = min(gone % length, length) if gone > length else gone
        if turn and within == 0.0 and time >= self.end(clip):
            turn, within = turn - 1, length
        return (lo + within if self.speed >= 0.0 else hi - within), turn

    def moments(self, times: Iterable[float], clip: float, until: float) -> list[float]:
        """Returns scene times [s] at which moments of a clip [s], such as its keys, play, from 0 until a moment [s]."""
        lo, hi = self.span(clip)
        length, end = self.length(clip), min(self.end(clip), until)
        if not 0.0 < length < math.inf:
            return []
        within = [(t - lo if self.speed > 0.0 else hi - t) / abs(self.speed) for t in times if lo <= t <= hi]
        turns = min(int((end - self.start) / length) + 1, MOMENTS_MAX // max(len(within), 1) + 1)
        found = (self.start + turn * length + t for turn in range(max(turns, 0)) for t in within)
        return [moment for moment in found if 0.0 <= moment <= end + 1e-9]


@dataclass(frozen=True, slots=True)
class StripSample:
    """One clip of a blended pose."""

    strip: int  # Number in the order of their starts
    clip: str
    time: float  # Moment of the clip [s]
    turn: int  # Number of the repetition
    weight: float  # Weight over all samples before it, 0 to 1; 1 for the first


def parts_at(strips: Sequence[Strip], duration: Callable[[str], float], time: float) -> tuple[StripSample, ...]:
    """Returns clips at a time, the lowest one first; `time` and `duration`, by the clip's name, are in seconds."""
    ordered = sorted(strips, key=lambda strip: strip.start)
    ends = [strip.end(duration(strip.clip)) for strip in ordered]
    playing = [i for i, strip in enumerate(ordered) if strip.start <= time < ends[i]]
    if not playing:
        over = [i for i, strip in enumerate(ordered) if strip.start <= time]
        playing = [max(over, key=lambda i: (ends[i], i))] if over else list(range(len(ordered)))[:1]
    parts: list[StripSample] = []
    for place, i in enumerate(playing):
        strip, weight = ordered[i], 1.0
        if place:
            until = min(ends[playing[place - 1]], ends[i])
            # An endless strip leaves no overlap to fade over: the later strip replaces it.
            weight = smooth((time - strip.start) / (until - strip.start)) if until < math.inf else 1.0
        moment, turn = strip.place(time, duration(strip.clip))
        parts.append(StripSample(i, strip.clip, moment, turn, weight))
    return tuple(parts)


def is_cut(before: Sequence[StripSample], after: Sequence[StripSample]) -> bool:
    """Returns True if the pose may jump between consecutive moments: a repetition began, or another strip."""
    known = {(part.strip, part.turn) for part in before}
    return not any((part.strip, part.turn) in known for part in after)


def last_end(strips: Iterable[Strip], duration: Callable[[str], float]) -> float:
    """Returns the latest end [s], 0 without strips; an endless strip counts once."""
    ends = [strip.start + strip.length(duration(strip.clip)) * (strip.repeats or 1.0) for strip in strips]
    return max((end for end in ends if end < math.inf), default=0.0)


def smooth(share: float) -> float:
    share = min(max(share, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)
