import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sinew.sim.gl.task import Task
from sinew.sim.profile.recorder import NO_RUN, EmptyRun, Run
from sinew.sim.render.items import DrawChunk, Item, ShaderVariant, Stage
from sinew.sim.render.pass_context import DONE, PassContext
from sinew.sim.render.quality import DRAFT, Quality

LARGEST_CHUNK, SMALLEST_CHUNK = 8192, 256
"""Numbers of instances per chunk: the initial and largest one, and the smallest."""

SHORT_TURN, LONG_TURN = 0.03, 0.06
"""Times of a turn [s] below and above which chunks become larger and smaller."""

MOST, LEAST = 80_000, 8_000
"""Maximum and minimum number of instances of a draft; a software renderer starts with the minimum."""

AIM = 0.02
"""Target time of the instances of a draft [s]."""

LARGEST_SCALE = 4.0
"""Maximum enlargement of drawn instances; larger ones would look like blobs, and take as long as all of them."""


def unmeasured(_name: str, _detail: str = "") -> EmptyRun:
    """Returns a scope without timer, for drawing in several turns or into a hidden target."""
    return NO_RUN


class TimerScope(Protocol):
    def __call__(self, name: str, detail: str = "", /) -> Run | EmptyRun: ...


def lod_scale(stride: int) -> tuple[float, float]:
    """Returns the scale of an instance that represents `stride` instances, and how many of that size it is."""
    scale = min(math.sqrt(stride), LARGEST_SCALE)
    return scale, stride / (scale * scale)


def draft_strides(counts: Sequence[int], budget: int) -> list[int]:
    """Returns the stride of each instanced item: a draft draws every stride-th instance, see `lod_scale`.

    Items share the budget equally; the rest of small ones goes to the others.  Strides are powers of two, so that a
    smaller draft shows a subset of a larger one.  `counts` are weighted by their cost, see `load_of`.

    Source: R. Cook et al. 2007, "Stochastic simplification of aggregate detail".
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
    """Returns the cost of the drawn instances, in particles."""
    return round(item.weight * drawn_of(item, stride))


class DraftBudget:
    """Number of instances (`elements`) that this machine draws in the time of a draft."""

    def __init__(self, is_software: bool) -> None:
        self.elements = LEAST if is_software else MOST
        self._trend = 0

    def note(self, duration: float, drawn: int) -> None:
        """Notes the time [s] of the instances of a draft.

        Reacts to two drafts in a row only: a single one may include a shader compilation or another process.
        """
        share = min(drawn / self.elements, 1.0)
        slow, quick = duration > 1.5 * AIM, share > 0.5 and duration < 0.6 * AIM
        trend = -1 if slow else 1 if quick else 0
        if trend and trend == self._trend:
            elements = self.elements // 2 if slow else self.elements * 2
            self.elements = min(max(elements, LEAST), MOST)
            trend = 0
        self._trend = trend


class ChunkBudget:
    """Number of instances (`piece`) that are drawn without a break."""

    def __init__(self) -> None:
        self.piece = LARGEST_CHUNK

    def note(self, duration: float) -> None:
        """Notes the time [s] until the GPU finished the chunk of a turn."""
        if duration > LONG_TURN:
            self.piece = max(self.piece // 2, SMALLEST_CHUNK)
        elif duration < SHORT_TURN:
            self.piece = min(self.piece * 2, LARGEST_CHUNK)


@dataclass(eq=False)
class FramePlan:
    scope: TimerScope = unmeasured
    strides: Mapping[Item, int] = field(default_factory=dict)  # Of instanced items; by default 1
    is_draft: bool = False  # No antialiasing; transparent items are accumulated at half the size
    budget: ChunkBudget | None = None  # None to draw everything in one go
    variants: Mapping[Item, ShaderVariant] = field(default_factory=dict)  # To compile shaders: draws one instance
    is_timed: bool = False  # Measures the time of instances, which waits for the GPU
    time: float = 0.0  # That time [s]
    quality: Quality = DRAFT

    def draw(self, items: Sequence[Item], stage: Stage, ctx: PassContext) -> Task[None]:
        """Draws items; yields between chunks of instances, and after other items if they are drawn in several goes.

        Other frames may be drawn there, as everything is bound again.
        """
        for item in items:
            if item.instances is None:
                ctx.draw(item, stage)
                if self.budget is not None:
                    yield
                    ctx.target.bind()
                continue
            for _ in self._pieces(item, stage, ctx):
                yield
            ctx.target.bind()

    def _pieces(self, item: Item, stage: Stage, ctx: PassContext) -> Task[None]:
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
        return whole.count if self.budget is None else max(round(self.budget.piece / item.weight), 1)

    def _now(self, ctx: PassContext) -> float:
        if not self.is_timed:
            return 0.0
        ctx.context.finish()
        return time.perf_counter()
