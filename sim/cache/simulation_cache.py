"""Cache of exact states on disk, by step and branch, and their way there from the GPU."""

from collections import deque
from collections.abc import Collection
from typing import Protocol

import msgspec

from sinew.sim.cache.history import CacheHistory
from sinew.sim.cache.step_store import Block, StepStore
from sinew.sim.scene.scene import NodeId

IN_FLIGHT_MAX = 4
"""Maximum number of states that are read back at the same time; with more, the oldest is waited for."""


class PendingState(Protocol):
    @property
    def passed(self) -> bool:
        """True if `read` returns without waiting."""

    def read(self) -> bytes:
        """Returns the state; may be called once."""


class CachedState:
    __slots__ = ("block", "pending")

    def __init__(self, pending: PendingState) -> None:
        self.pending: PendingState | None = pending
        self.block: Block | None = None


class SimulationCache:
    """Cache of the steps of a simulation, also those simulated with earlier settings.

    Reads states back from the GPU and stores them, in order; the context must be current unless a method says that it
    need not.  It is a `sinew.sim.run.simulation.BakedStates`: nodes that an edit does not affect take their steps from
    another branch.

    Attributes:
        history: Which steps are cached on which branch.
        baked: Nodes that show their bake, and need no steps from the cache.
        version: Changes whenever the cached steps change.
        is_full: Whether the last state found no room on the disk.
    """

    def __init__(self, store: StepStore) -> None:
        self.store = store
        self._pending: deque[CachedState] = deque()
        self.history: CacheHistory[CachedState] = CacheHistory((), self._drop)
        self.baked: Collection[NodeId] = ()
        self.version = 0
        self.is_full = False
        self._decoded: tuple[CachedState | None, dict[NodeId, bytes]] = (None, {})
        self._runs: dict[NodeId, tuple[dict[int, CachedState], range]] = {}

    def put(self, step: int, captured: PendingState) -> None:
        """Stores a step; drops the cached steps of the branch that follow it."""
        self.history.put(step, self._queued(captured))
        self.collect()
        self.version += 1

    def add(self, step: int, captured: PendingState) -> None:
        """Stores a step that had been evicted; keeps the steps that follow it."""
        self.history.add(step, self._queued(captured))
        self.collect()
        self.version += 1

    def get(self, step: int) -> bytes | None:
        """Returns a state, or None if it is not cached; may wait for the GPU. Raises OSError for a bad store."""
        cached = self.history.get(step)
        return self._read(cached) if cached is not None else None

    def spans(self, node: NodeId) -> list[tuple[int, int, bool, bool]]:
        """Returns first and last step, True if steps between are missing, True if the node's settings differed."""
        spans: list[tuple[int, int, bool, bool]] = []
        elsewhere, keys = self.steps(node), self.history.branch.node_keys.get(node)
        for step in sorted({*self.history.cached, *elsewhere}):
            is_old = step not in elsewhere and self.history.owner(step).node_keys.get(node) != keys
            if spans and spans[-1][3] == is_old:
                first, last, thin, _ = spans[-1]
                spans[-1] = (first, step, thin or step > last + 1, is_old)
            else:
                begin = max(step - 1, 0) if step else 0
                spans.append((begin if not spans else spans[-1][1], step, False, is_old))
        return spans

    def steps(self, node: NodeId) -> range:
        """Returns steps of other branches with the same settings of a node all the way from the start."""
        elsewhere = self.history.elsewhere(node)
        known, run = self._runs.get(node, (None, range(0)))
        if known is not elsewhere:
            is_baked = node in self.baked
            first = end = 0 if is_baked else min(elsewhere, default=0)
            while end in elsewhere and not is_baked:
                end += 1
            run = range(first, end)
            self._runs[node] = elsewhere, run
        return run

    def state(self, node: NodeId, step: int) -> bytes | None:
        cached = self.history.elsewhere(node).get(step) if step in self.steps(node) else None
        if cached is None:
            return None
        if self._decoded[0] is not cached:
            state = self._read(cached)
            self._decoded = cached, msgspec.msgpack.decode(state)[2] if state is not None else {}
        return self._decoded[1].get(node)

    def limit(self, size: int) -> None:
        """Sets the size of the cache [bytes] and evicts steps beyond it; the context need not be current."""
        self.store.wanted = size
        self._make_room()
        self.version += 1

    def collect(self) -> None:
        """Stores the states that have arrived from the GPU; waits only if too many are in flight."""
        while self._pending:
            first = self._pending[0].pending
            if len(self._pending) <= IN_FLIGHT_MAX and not (first is not None and first.passed):
                return
            self._store_first()

    def flush(self) -> None:
        """Stores all states that are being read back; waits for the GPU."""
        while self._pending:
            self._store_first()

    def clear(self) -> None:
        self.history.clear(())
        self._decoded = None, {}
        self._runs.clear()
        self.is_full = False
        self.version += 1

    def release(self) -> None:
        self._pending.clear()
        self.store.close()

    def _queued(self, captured: PendingState) -> CachedState:
        cached = CachedState(captured)
        self._pending.append(cached)
        return cached

    def _read(self, cached: CachedState) -> bytes | None:
        """Returns the bytes of a state; None if it was evicted."""
        while cached.pending is not None:
            self._store_first()
        return self.store.get(cached.block) if cached.block is not None else None

    def _store_first(self) -> None:
        cached = self._pending.popleft()
        assert cached.pending is not None
        state, cached.pending = cached.pending.read(), None
        cached.block = self.store.put(state)
        self._make_room()
        if cached.block is not None and not self.store.has_room:
            self._drop(cached)
        self.is_full = cached.block is None
        if self.is_full:
            self.history.lose(cached)
            self.version += 1

    def _make_room(self) -> None:
        while not self.store.has_room and self.history.evict():
            pass

    def _drop(self, cached: CachedState) -> None:
        if cached.pending is not None:
            cached.pending = None
            self._pending.remove(cached)
        elif cached.block is not None:
            self.store.drop(cached.block)
            cached.block = None
