"""What the rows under the ruler show; values that know no Qt."""

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sim.scene.strips import Strip


@dataclass(frozen=True, slots=True)
class StripBar:
    """One strip.

    Attributes:
        index: Its number among the strips of the figure, as they are stored.
        text: What it plays, and how.
        start, end: Where it lies [s]; the end may be infinite.
        length: Of one repetition [s].
        fade: How long it takes over from the strip before [s].
        clip: Number of its clip in the model, which decides the colour.
    """

    index: int
    text: str
    start: float
    end: float
    length: float
    fade: float = 0.0
    clip: int = 0


@dataclass(frozen=True, slots=True)
class StripRow:
    """The strips of one figure, in the order of their starts."""

    node: str
    name: str
    bars: tuple[StripBar, ...]
    is_active: bool = False


class CacheState(enum.Enum):
    """How steps of a simulation are kept."""

    KEPT = "kept"
    THINNED = "thinned"
    OLD = "old"
    BAKED = "baked"
    OUTDATED = "outdated"
    HALTED = "halted"


CACHED_TEXT = {
    CacheState.KEPT: "simulated, and kept",
    CacheState.THINNED: "simulated; some steps were let go to save room, and are simulated again when needed",
    CacheState.OLD: "simulated with settings of before",
    CacheState.BAKED: "baked: shown without simulating",
    CacheState.OUTDATED: "baked with other settings than those of now; shown as it was baked",
    CacheState.HALTED: "halted here",
}


@dataclass(frozen=True, slots=True)
class BarRow:
    """What is kept of one simulated node: spans of scene time [s] from, to, and how; its bake may be out of date."""

    node: str
    name: str
    spans: tuple[tuple[float, float, CacheState], ...] = ()
    is_baked: bool = False
    is_outdated: bool = False


def strip_bars(strips: Sequence[Strip], duration: Callable[[str], float], clips: Sequence[str]) -> tuple[StripBar, ...]:
    """Bars of strips, in the order of their starts.

    Args:
        strips: In any order.
        duration: Gives the length of a clip of a name [s].
        clips: Names of the clips of the model; another one stands for the first.
    """
    order = sorted(range(len(strips)), key=lambda index: strips[index].start)
    bars: list[StripBar] = []
    for index in order:
        strip = strips[index]
        length, end = strip.length(duration(strip.clip)), strip.end(duration(strip.clip))
        before = max((bar.end for bar in bars), default=-math.inf)
        fade = min(before, end) - strip.start if before < math.inf else 0.0
        clip = clips.index(strip.clip) if strip.clip in clips else 0
        bars.append(StripBar(index, strip_text(strip), strip.start, end, length, max(fade, 0.0), clip))
    return tuple(bars)


def strip_text(strip: Strip) -> str:
    """What a strip plays, such as "walk × 3, 0.5 speed"."""
    words = strip.clip
    if strip.repeats == 0.0:
        words += ", repeats ∞"
    elif strip.repeats != 1.0:
        words += f" × {strip.repeats:.3g}"
    return words if strip.speed == 1.0 else f"{words}, {strip.speed:g} speed"
