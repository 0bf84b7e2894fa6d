"""How much of each item a picture draws, and how much of that without a break."""

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from sim.gl.task import Task
from sim.profile.recorder import NO_RUN, EmptyRun
from sim.render.items import DrawChunk, Item, ShaderVariant, Stage
from sim.render.pass_context import DONE, PassContext

FIRST_PIECE, SMALLEST_PIECE = 8192, 256
"""Elements that are drawn without a break at first, which is the most, and where they take longest."""

SHORT_TURN, LONG_TURN = 0.03, 0.06
"""Times [s] below and above which pieces become larger and smaller."""

MOST, LEAST = 80_000, 8_000
"""Elements that a draft draws at most, and where it is never quick enough; a software renderer begins with those."""

AIM = 0.02
"""Time that the crowds of a draft are to take [s]."""

LARGEST_SWELL = 4.0
"""Factor of the size of those that are drawn; larger ones would look like blobs, and take as long as all would."""


def unmeasured(_name: str, _detail: str = "") -> EmptyRun:
    """The scope of what is drawn in several turns, or in secret."""
    return NO_RUN


class TimerScope(Protocol):
    """Measures what is done within, as `Timers.scope` does."""

    def __call__(self, name: str, detail: str = "") -> AbstractContextManager[object]:
        """Name of a pass, and which of several of its kind."""


def lod_scale(stride: int) -> tuple[float, float]:
    """Factor of the size of an element that stands for so many, and how many of that size it stands for still."""
    scale = min(math.sqrt(stride), LARGEST_SWELL)
    return scale, stride / (scale * scale)


def draft_strides(counts: Sequence[int], budget: int) -> list[int]:
    """For each crowd the elements to one that a draft draws; that one stands for all of them, see `lod_scale`.

    Crowds share the budget alike; what small ones leave is for the others. Strides are powers of two, so that a
    smaller draft shows a part of what a larger one did.

    Source: R. Cook et al. 2007, "Stochastic simplification of aggregate detail".

    Args:
        counts: Elements of each crowd, or what takes as long, see `load_of`.
        budget: As many are drawn at most, where that leaves one to each crowd.
    """
    left, strides = budget, [1] * len(counts)
    for rank, index in enumerate(sorted(range(len(counts)), key=counts.__getitem__)):
        share = max(left // (len(counts) - rank), 1)
        strides[index] = 1 << (max(-(-counts[index] // share), 1) - 1).bit_length()
        left -= -(-counts[index] // strides[index])
    return strides


def drawn_of(item: Item, stride: int) -> int:
    return -(-(item.instances or 0) // stride)


def load_of(item: Item, stride: int = 1) -> int:
    """How many particles take as long as what is drawn of an item."""
    return round(item.weight * drawn_of(item, stride))


class DraftBudget:
    """Finds out how many elements this machine draws in the time of a draft.

    Args:
        is_software: Whether a processor draws, which has done it when the call returns.

    Attributes:
        elements: What a draft may draw.
    """

    def __init__(self, is_software: bool) -> None:
        self.elements = LEAST if is_software else MOST
        self._trend = 0

    def note(self, duration: float, drawn: int) -> None:
        """Takes the time [s] that the crowds of a draft took.

        One draft by itself says nothing: a shader may have been compiled, or another program had the processor.
        """
        share = min(drawn / self.elements, 1.0)
        slow, quick = duration > 1.5 * AIM, share > 0.5 and duration < 0.6 * AIM
        trend = -1 if slow else 1 if quick else 0
        if trend and trend == self._trend:
            wanted = self.elements // 2 if slow else self.elements * 2
            self.elements = min(max(wanted, LEAST), MOST)
            trend = 0
        self._trend = trend


class ChunkBudget:
    """How many elements are drawn without a break, so that nobody waits long.

    Attributes:
        piece: As many.
    """

    def __init__(self) -> None:
        self.piece = FIRST_PIECE

    def note(self, duration: float) -> None:
        """Takes the time [s] until everything was done that was drawn in a turn."""
        if duration > LONG_TURN:
            self.piece = max(self.piece // 2, SMALLEST_PIECE)
        elif duration < SHORT_TURN:
            self.piece = min(self.piece * 2, FIRST_PIECE)


@dataclass(eq=False)
class FramePlan:
    """How a picture is drawn; passes and items ask it for nothing but to draw an item.

    Attributes:
        scope: Measures what is done within.
        strides: For crowds, elements to one that is drawn; 1 for one that is not in it.
        is_draft: Whether edges are left as they are, and what is transparent gathers at half the size.
        budget: How many elements are drawn without a break; None for all.
        variants: For crowds of which one element alone is drawn, for the sake of drawing, the way.
        is_timed: Whether the time is taken that crowds take, which waits for them.
        time: That time [s].
    """

    scope: TimerScope = unmeasured
    strides: Mapping[Item, int] = field(default_factory=dict)
    is_draft: bool = False
    budget: ChunkBudget | None = None
    variants: Mapping[Item, ShaderVariant] = field(default_factory=dict)
    is_timed: bool = False
    time: float = 0.0

    def draw(self, items: Sequence[Item], stage: Stage, ctx: PassContext) -> Task[None]:
        """Draws items in a stage, crowds piece by piece, each with everything bound and set again.

        Between two pieces others may draw.
        """
        for item in items:
            if item.instances is None:
                ctx.draw(item, stage)
                continue
            for _ in self._pieces(item, stage, ctx):
                yield
            ctx.target.bind()

    def _pieces(self, item: Item, stage: Stage, ctx: PassContext) -> Task[None]:
        """Sets a crowd up and draws it; measures both."""
        variant = self.variants.get(item)
        stride = self.strides.get(item, 1)
        whole = DrawChunk(stride, 0, drawn_of(item, stride) if variant is None else 1, variant)
        setting_up, first = ctx.set_up(item, stage, whole, self._piece(item, whole)), 0
        is_set_up = False
        while first < whole.count:
            ctx.target.bind()
            begun = self._now(ctx)
            with self.scope(item.name):
                if not is_set_up:
                    is_set_up = next(setting_up, DONE) is DONE
                if is_set_up:
                    size = min(self._piece(item, whole), whole.count - first)
                    ctx.draw(item, stage, DrawChunk(stride, first, size, variant))
                    first += size
            self.time += self._now(ctx) - begun
            yield

    def _piece(self, item: Item, whole: DrawChunk) -> int:
        """Elements that are drawn without a break."""
        return whole.count if self.budget is None else max(round(self.budget.piece / item.weight), 1)

    def _now(self, ctx: PassContext) -> float:
        """Time when all is done that was asked for so far [s]; 0 where nobody wants to know."""
        if not self.is_timed:
            return 0.0
        ctx.context.finish()
        return time.perf_counter()
