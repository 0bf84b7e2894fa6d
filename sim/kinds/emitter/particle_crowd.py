"""The particles of one picture: of which emitters, how many of each are drawn, and how many at once."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from sim.kinds.emitter.particle_draft import draft_strides
from sim.kinds.emitter.settings import Blending
from sim.kinds.emitter.view import EmitterView
from sim.profile.run import NO_RUN, NoRun
from sim.render.frame import Frame


def unmeasured(_name: str, _detail: str = "") -> NoRun:
    """The scope of what is drawn in several turns, or in secret."""
    return NO_RUN


FIRST_PIECE, SMALLEST_PIECE = 8192, 256
"""Particles that are drawn without a break at first, which is the most, and where they take longest."""

SHORT_TURN, LONG_TURN = 0.03, 0.06
"""Times [s] below and above which pieces become larger and smaller."""


class Scope(Protocol):
    """Measures what is done within, as `Timers.scope` does."""

    def __call__(self, name: str, detail: str = "") -> AbstractContextManager[object]:
        """Name of a pass, and which of several of its kind."""


class Pace:
    """How many particles are drawn without a break, so that nobody waits long.

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


@dataclass(frozen=True, slots=True)
class Crowd:
    """What all passes of particles need of a picture.

    Attributes:
        frame: The picture.
        views: Emitters with particles.
        strides: For each of them, slots to one that is drawn.
        scope: Measures what is done within, by the name of an emitter.
        is_draft: Whether transparent particles are gathered at half the size.
        pace: How many are drawn without a break; None for all.
        sprites: Where one particle alone is drawn, for the sake of drawing: whether as a point sprite or as a quad.
    """

    frame: Frame
    views: tuple[EmitterView, ...]
    strides: tuple[int, ...]
    scope: Scope
    is_draft: bool = False
    pace: Pace | None = None
    sprites: bool | None = None

    @classmethod
    def of(
        cls,
        views: Sequence[EmitterView],
        frame: Frame,
        scope: Scope,
        *,
        budget: int | None = None,
        pace: Pace | None = None,
    ) -> "Crowd":
        """The particles of these emitters.

        Args:
            views: Emitters.
            frame: The picture.
            scope: Measures what is done within.
            budget: Particles that a draft draws; None for all, in a picture that is none.
            pace: How many are drawn without a break.
        """
        shown = tuple(view for view in views if view.system.slot_count)
        counts = [view.system.slot_count for view in shown]
        strides = [1] * len(counts) if budget is None else draft_strides(counts, budget)
        return cls(frame, shown, tuple(strides), scope, budget is not None, pace)

    @property
    def drawn(self) -> int:
        """Particles that are drawn of all emitters."""
        pairs = zip(self.views, self.strides, strict=True)
        return sum(-(-view.system.slot_count // stride) for view, stride in pairs)

    def of_kind(self, blending: Blending) -> list[tuple[EmitterView, int]]:
        """Emitters of one blending, each with its stride."""
        return [pair for pair in zip(self.views, self.strides, strict=True) if pair[0].blending is blending]

    def pieces(self, count: int) -> Iterator[tuple[int, int]]:
        """First one and number of so many particles that are drawn without a break."""
        if self.sprites is not None:
            yield 0, 1
            return
        first = 0
        while first < count:
            size = min(self.pace.piece if self.pace else count, count - first)
            yield first, size
            first += size
