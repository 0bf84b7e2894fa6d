"""A branch is a run with the same settings; where they change at a step, another branch forks.

The steps before the fork stay visible, and settings that were used before lead back to their branch.  The content
of a step may be anything.
"""

import bisect
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


Settings = tuple[tuple[str, Hashable], ...]
"""Key of the settings of each node."""


class Branch(Generic[T]):
    """The steps of one run from a fork on.

    Attributes:
        parent: The branch it forks from; None for a run from the first step.
        fork: The step of the fork; the branch has this step itself, as its settings found it.
        settings: A key for every simulated node.
        node_keys: All keys that the steps of a node depend on since the first step, with the forks between them.  The
            same steps of two branches with equal keys of a node have equal states of that node.
        by_hand: Whether the user dragged something, so that the run cannot be repeated.
        used: Larger for branches that were used later.
        stopped: The step at which a node stopped, by node.
        reached: The last step that was simulated, cached or not.
        pulls: Steps that were simulated at the fork while time was paused.
    """

    def __init__(
        self, parent: "Branch[T] | None", fork: int, settings: Settings, *, by_hand: bool = False, used: int = 0
    ) -> None:
        before = parent.node_keys if parent is not None else {}
        self.node_keys: dict[str, tuple[Hashable, ...]] = {
            node: before[node]
            if not by_hand and before.get(node, ())[-1:] == (key,)
            else (*before.get(node, ()), *(() if parent is None else (fork, used if by_hand else None)), key)
            for node, key in settings
        }
        self.parent, self.fork, self.settings, self.by_hand, self.used = parent, fork, settings, by_hand, used
        self.steps: dict[int, T] = {}
        self.stopped: dict[str, int] = {}
        self.children = self.pulls = 0
        self.reached = fork


class CacheHistory(Generic[T]):
    """Cached steps by branch; calls `drop` with every content that is dropped.

    Attributes:
        branch: The current branch, to which new steps are added.
        cached: The cached steps of the current branch and its parents, ascending; step 0 need not be cached.
    """

    def __init__(self, settings: Settings, drop: Callable[[T], None]) -> None:
        self._drop = drop
        self._clock = 0
        self._branches: dict[tuple[int, int, Hashable], Branch[T]] = {}
        self._elsewhere: dict[str, dict[int, T]] = {}
        self.branch = self._at(None, 0, settings)
        self._choose(self.branch)

    @property
    def is_fresh(self) -> bool:
        """True if all steps were simulated with the current settings, from the first step on."""
        return self.branch.parent is None and not self.branch.by_hand

    def owner(self, step: int) -> Branch[T]:
        return self._path[max(bisect.bisect_right(self._forks, step) - 1, 0)]

    def get(self, step: int) -> T | None:
        return self.owner(step).steps.get(step)

    def pulls(self, step: int) -> int:
        return sum(branch.pulls for branch in self._path if branch.fork <= step)

    def latest(self, step: int) -> int:
        """Returns the last cached step up to this one; 0 without one."""
        place = bisect.bisect_right(self.cached, step)
        return self.cached[place - 1] if place else 0

    def elsewhere(self, node: str) -> dict[int, T]:
        """Returns contents of other branches with the same states of a node, by step; none after a drag of the user."""
        if node not in self._elsewhere:
            keys = self.branch.node_keys.get(node)
            branches = [] if any(branch.by_hand for branch in self._path) else list(self._branches.values())
            self._elsewhere[node] = {
                step: content
                for branch in branches
                if branch is not self.branch and keys is not None and branch.node_keys.get(node) == keys
                for step, content in branch.steps.items()
            }
        return self._elsewhere[node]

    def put(self, step: int, content: T) -> None:
        """Stores a step; drops the former one and those that follow in the current branch."""
        branch = self.branch
        for later in [one for one in branch.steps if one >= step]:
            self._drop(branch.steps.pop(later))
        branch.steps[step] = content
        branch.reached = step
        del self.cached[bisect.bisect_left(self.cached, step) :]
        self.cached.append(step)

    def add(self, step: int, content: T) -> None:
        """Stores a step that had been evicted; the following steps stay."""
        owner = self.owner(step)
        if step in owner.steps:
            self._drop(owner.steps[step])
        else:
            bisect.insort(self.cached, step)
        owner.steps[step] = content
        owner.reached = max(owner.reached, step)

    def lose(self, content: T) -> None:
        """Forgets a content without calling `drop`."""
        for branch in self._branches.values():
            branch.steps = {step: one for step, one in branch.steps.items() if one is not content}
        self._elsewhere.clear()
        self.cached = sorted(self._path_steps())

    def change(self, step: int, settings: Settings) -> bool:
        """Continues a branch with these settings and this step, else forks; returns True if it has no steps."""
        if settings == self.branch.settings and step >= self.branch.fork:
            return False
        known = [branch for branch in self._branches.values() if branch.settings == settings and step in branch.steps]
        if known:
            self._choose(min(known, key=lambda branch: (branch.by_hand, self._depth(branch), -branch.used)))
            return False
        if not step:
            self.restart(settings)
            return False
        self._choose(self._at(self.owner(step), step, settings))
        return not self.branch.steps

    def restart(self, settings: Settings) -> None:
        self._choose(self._at(None, 0, settings))

    def fork(self, step: int) -> bool:
        """Forks when the user drags something; returns True if the current branch is new and has no cached steps."""
        if self.branch.by_hand and self.branch.reached == step:
            return False
        self._clock += 1
        self._choose(self._at(self.owner(step), step, self.branch.settings, by_hand=True))
        return True

    def clear(self, settings: Settings) -> None:
        for branch in self._branches.values():
            self._empty(branch)
        self._branches.clear()
        self._choose(self._at(None, 0, settings))

    def evict(self) -> bool:
        """Drops the least recently used branch, or every second step of the current one; returns True if it did.

        Steps that cannot be simulated again stay, and so do the first step of a branch and the newest one.
        """
        spare = [branch for branch in self._branches.values() if branch not in self._path and not branch.children]
        if spare:
            self._remove(min(spare, key=lambda branch: branch.used))
            return True
        for branch in self._path:
            steps = sorted(step for step in branch.steps if step not in (branch.fork, branch.reached))
            if not branch.by_hand and branch is self.branch and len(steps) > 1:
                for step in steps[::2]:
                    self._drop(branch.steps.pop(step))
                self.cached = sorted(self._path_steps())
                self._elsewhere.clear()
                return True
        return False

    def _remove(self, branch: Branch[T]) -> None:
        self._empty(branch)
        if branch.parent is not None:
            branch.parent.children -= 1
        for key in [key for key, one in self._branches.items() if one is branch]:
            del self._branches[key]

    def _empty(self, branch: Branch[T]) -> None:
        self._elsewhere.clear()
        for content in branch.steps.values():
            self._drop(content)
        branch.steps.clear()

    def _at(self, parent: Branch[T] | None, fork: int, settings: Settings, *, by_hand: bool = False) -> Branch[T]:
        key = (id(parent) if parent is not None else 0, fork, (settings, self._clock if by_hand else None))
        if key not in self._branches:
            self._branches[key] = Branch(parent, fork, settings, by_hand=by_hand, used=self._clock)
            if parent is not None:
                parent.children += 1
        return self._branches[key]

    def _choose(self, branch: Branch[T]) -> None:
        self._clock += 1
        self._elsewhere.clear()
        before = self.branch
        self.branch, branch.used = branch, self._clock
        path: list[Branch[T]] = []
        above: Branch[T] | None = branch
        while above is not None:
            path.append(above)
            above = above.parent
        self._path = path[::-1]
        self._forks = [one.fork for one in self._path]
        self.cached = sorted(self._path_steps())
        if (
            before is not branch
            and before not in self._path
            and not before.children
            and set(before.steps) <= {before.fork}
        ):
            self._remove(before)

    def _path_steps(self) -> Iterable[int]:
        for place, branch in enumerate(self._path):
            until = self._forks[place + 1] if place + 1 < len(self._path) else None
            yield from (step for step in branch.steps if until is None or step < until)

    def _depth(self, branch: Branch[T]) -> int:
        depth, above = 0, branch.parent
        while above is not None:
            depth, above = depth + 1, above.parent
        return depth
