"""Shelf: states on their way from the GPU into the store, a few at a time and in order."""

from collections import deque
from collections.abc import Callable
from typing import Protocol

from sim.cache.step_store import Block, StepStore

FLIGHT = 4
"""Most states that are on their way; the oldest is waited for then, which a card has long done."""


class PendingState(Protocol):
    """A state on its way; a `sim.simulation.StateCapture` is one."""

    @property
    def passed(self) -> bool:
        """Whether it can be read without waiting."""

    def read(self) -> bytes:
        """The state, once."""


class CachedState:
    """A state that is kept or will be.

    Attributes:
        coming: It, while it is on its way.
        block: Where it lies in the store; None before that, and where it was let go of.
    """

    __slots__ = ("block", "coming")

    def __init__(self, coming: PendingState) -> None:
        self.coming: PendingState | None = coming
        self.block: Block | None = None


class ReadbackQueue:
    """Keeps states.

    The context must be current where one is put or read, not where one is dropped.

    Args:
        store: Where they end.
        make_room: Lets go of some, by `drop`; returns whether there were any.
        lost: Told of a state for which there was no room, after all.

    Attributes:
        is_full: Whether there was no room for the last one.
    """

    def __init__(self, store: StepStore, make_room: Callable[[], bool], lost: Callable[[CachedState], None]) -> None:
        self._store, self._make_room, self._lost = store, make_room, lost
        self._coming: deque[CachedState] = deque()
        self.is_full = False

    def put(self, captured: PendingState) -> CachedState:
        cached = CachedState(captured)
        self._coming.append(cached)
        return cached

    def collect(self) -> None:
        """Stores what is there; waits only where too many are on their way."""
        while self._coming and (len(self._coming) > FLIGHT or self._first_passed()):
            self._store_first()

    def flush(self) -> None:
        """Stores all; waits for the GPU."""
        while self._coming:
            self._store_first()

    def get(self, cached: CachedState) -> bytes | None:
        """A state; waits for the GPU where it is on its way.  None where it was let go of.

        Raises:
            OSError: If it cannot be read.
        """
        while cached.coming is not None:
            self._store_first()
        return self._store.get(cached.block) if cached.block is not None else None

    def drop(self, cached: CachedState) -> None:
        """Lets go of a state."""
        if cached.coming is not None:
            cached.coming = None
            self._coming.remove(cached)
        elif cached.block is not None:
            self._store.drop(cached.block)
            cached.block = None

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
        cached = self._coming.popleft()
        assert cached.coming is not None
        state, cached.coming = cached.coming.read(), None
        cached.block = self._store.put(state)
        self._thin()
        if cached.block is not None and not self._store.has_room:
            self.drop(cached)
        self.is_full = cached.block is None
        if cached.block is None:
            self._lost(cached)
