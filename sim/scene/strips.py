"""Strips: clips that a character plays, on scene time.

Strips that overlap blend, the later one fading in over the overlap.  Between strips the pose holds at the end of
the strip before, and before the first one at its beginning.  Layers lie on top of these: strips that are added, or that
move some joints only.
"""

import enum
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec

from sinew.sim.scene.params import Effect, param

STRIPS_MAX = 256

GROUP = "humanoid:"
"""Prefix of the mask of a group of bones; without it a mask is the name of a joint."""

MOMENTS_MAX = 100_000
"""Maximum number of moments of one strip that are listed."""

Seconds = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]


class StripMode(enum.Enum):
    """How a strip acts on the strips below it; ADD adds its difference from its first pose."""

    REPLACE = "replace"
    ADD = "add"


class Strip(msgspec.Struct, frozen=True, kw_only=True):
    clip: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    start: Seconds = 0.0  # In the scene [s]
    clip_in: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] = 0.0  # First moment of the clip that is played [s]
    clip_out: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] | None = None  # [s]; None for the end of the clip
    speed: Annotated[float, msgspec.Meta(ge=-100.0, le=100.0)] = 1.0  # Negative plays backwards, 0 holds the pose
    repeats: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] = 0.0  # 0 for endless
    mode: StripMode = StripMode.REPLACE
    weight: Annotated[float, param(
        "Part of the strip over the strips below.", lo=0.0, hi=1.0, step=0.05, effect=Effect.POSE,
    )] = 1.0  # fmt: skip
    # The joints that it moves: a joint and everything below it, `GROUP` and one of the groups of
    # `sinew.sim.characters.layers`, or all for "".
    mask: Annotated[str, msgspec.Meta(max_length=4096)] = ""
    fade_in: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] = 0.0  # After its start [s]
    fade_out: Annotated[float, msgspec.Meta(ge=0.0, le=1e6)] = 0.0  # Before its end [s]

    @property
    def label(self) -> str:
        return self.clip

    @property
    def is_layer(self) -> bool:
        """Returns True if it lies on top of the strips that replace the whole pose."""
        return self.mode is StripMode.ADD or bool(self.mask)

    def strength(self, time: float, end: float) -> float:
        """Returns the weight with the fades; `time` and `end`, the end of the strip, are scene times [s]."""
        rising = smooth((time - self.start) / self.fade_in) if self.fade_in else 1.0
        falling = smooth((end - time) / self.fade_out) if self.fade_out and end < math.inf else 1.0
        return self.weight * rising * falling

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


LAYER_VALUES = ("mode", "weight", "mask", "fade_in", "fade_out")


@dataclass(frozen=True, slots=True)
class StripSample:
    """One clip of a blended pose."""

    strip: int  # Number in the order of their starts
    clip: str
    time: float  # Moment of the clip [s]
    turn: int  # Number of the repetition
    weight: float  # Weight over all samples before it, 0 to 1
    mode: StripMode = StripMode.REPLACE
    mask: str = ""
    reference: float | None = None  # Moment that an added sample is relative to [s]; None for the bind pose

    @property
    def is_layer(self) -> bool:
        return self.mode is StripMode.ADD or bool(self.mask)


def parts_at(strips: Sequence[Strip], duration: Callable[[str], float], time: float) -> tuple[StripSample, ...]:
    """Returns clips at a time: the lowest one first, layers last, and of these the added ones last.

    `time` and `duration`, by the clip's name, are in seconds.
    """
    ordered = sorted(strips, key=lambda strip: strip.start)
    ends = [strip.end(duration(strip.clip)) for strip in ordered]
    base = [i for i, strip in enumerate(ordered) if not strip.is_layer]
    playing = [i for i in base if ordered[i].start <= time < ends[i]]
    if not playing:
        over = [i for i in base if ordered[i].start <= time]
        playing = [max(over, key=lambda i: (ends[i], i))] if over else base[:1]
    parts: list[StripSample] = []
    for place, i in enumerate(playing):
        strip, weight = ordered[i], 1.0
        if place and not strip.fade_in:
            until = min(ends[playing[place - 1]], ends[i])
            # An endless strip leaves no overlap to fade over: the later strip replaces it.
            weight = smooth((time - strip.start) / (until - strip.start)) if until < math.inf else 1.0
        moment, turn = strip.place(time, duration(strip.clip))
        parts.append(StripSample(i, strip.clip, moment, turn, weight * strip.strength(time, ends[i])))
    layers = [i for i, strip in enumerate(ordered) if i not in base and strip.start <= time < ends[i]]
    for i in sorted(layers, key=lambda i: ordered[i].mode is StripMode.ADD):
        strip, length = ordered[i], duration(ordered[i].clip)
        (moment, turn), (first, last) = strip.place(time, length), strip.span(length)
        reference = first if first < last else None
        weight = strip.strength(time, ends[i])
        parts.append(StripSample(i, strip.clip, moment, turn, weight, strip.mode, strip.mask, reference))
    return tuple(parts)


def is_cut(before: Sequence[StripSample], after: Sequence[StripSample]) -> bool:
    """Returns True if the pose may jump between consecutive moments: a repetition began, or another strip.

    Layers do not count.
    """
    known = {(part.strip, part.turn) for part in before}
    base = [part for part in after if not part.is_layer]
    return bool(base) and not any((part.strip, part.turn) in known for part in base)


def last_end(strips: Iterable[Strip], duration: Callable[[str], float]) -> float:
    """Returns the latest end [s], 0 without strips; an endless strip counts once."""
    ends = [strip.start + strip.length(duration(strip.clip)) * (strip.repeats or 1.0) for strip in strips]
    return max((end for end in ends if end < math.inf), default=0.0)


def smooth(share: float) -> float:
    share = min(max(share, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)
