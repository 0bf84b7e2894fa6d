"""Shelf: states on their way from the GPU into the store, a few at a time and in order."""

from collections import deque
from collections.abc import Callable
from typing import Protocol

from sim.kept.store import Block, StepStore

FLIGHT = 4
"""Most states that are on their way; the oldest is waited for then, which a card has long done."""


class Captured(Protocol):
    """A state on its way; a `sim.simulation.Capture` is one."""

    @property
    def passed(self) -> bool:
        """Whether it can be read without waiting."""

    def read(self) -> bytes:
        """The state, once."""


class Kept:
    """A state that is kept or will be.

    Attributes:
        coming: It, while it is on its way.
        block: Where it lies in the store; None before that, and where it was let go of.
    """

    __slots__ = ("block", "coming")

    def __init__(self, coming: Captured) -> None:
        self.coming: Captured | None = coming
        self.block: Block | None = None


class Shelf:
    """Keeps states.

    The context must be current where one is put or read, not where one is dropped.

    Args:
        store: Where they end.
        make_room: Lets go of some, by `drop`; returns whether there were any.
        lost: Told of a state for which there was no room, after all.

    Attributes:
        is_full: Whether there was no room for the last one.
    """

    def __init__(self, store: StepStore, make_room: Callable[[], bool], lost: Callable[[Kept], None]) -> None:
        self._store, self._make_room, self._lost = store, make_room, lost
        self._coming: deque[Kept] = deque()
        self.is_full = False

    def put(self, captured: Captured) -> Kept:
        kept = Kept(captured)
        self._coming.append(kept)
        return kept

    def collect(self) -> None:
        """Stores what is there; waits only where too many are on their way."""
        while self._coming and (len(self._coming) > FLIGHT or self._first_passed()):
            self._store_first()

    def flush(self) -> None:
        """Stores all; waits for the GPU."""
        while self._coming:
            self._store_first()

    def get(self, kept: Kept) -> bytes | None:
        """A state; waits for the GPU where it is on its way.  None where it was let go of.

        Raises:
            OSError: If it cannot be read.
        """
        while kept.coming is not None:
            self._store_first()
        return self._store.get(kept.block) if kept.block is not None else None

    def drop(self, kept: Kept) -> None:
        """Lets go of a state."""
        if kept.coming is not None:
            kept.coming = None
            self._coming.remove(kept)
        elif kept.block is not None:
            self._store.drop(kept.block)
            kept.block = None

    def limit(self, budget: int) -> None:
        """Gives states so many bytes; lets go of some at once where they take more."""
        self._store.wanted = budget
        self._thin()

    def _thin(self) -> None:
        while not self._store.has_room and self._make_room():
            pass

    def release(self) -> None:
        self._coming.clear()
        self._store.close()

    def _first_passed(self) -> bool:
        coming = self._coming[0].coming
        return coming is not None and coming.passed

    def _store_first(self) -> None:
        kept = self._coming.popleft()
        assert kept.coming is not None
        state, kept.coming = kept.coming.read(), None
        kept.block = self._store.put(state)
        self._thin()
        if kept.block is not None and not self._store.has_room:
            self.drop(kept)
        self.is_full = kept.block is None
        if kept.block is None:
            self._lost(kept)
