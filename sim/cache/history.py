"""Which steps are kept of which course of events: a tree of lines that fork where settings change.

A line is what was simulated with the same settings; where these change at a step, another line goes on from there.
What lies before the fork stays and can be looked at, and settings that were there before lead back to their line.
Pure: what is kept of a step is anything.
"""

import bisect
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


Settings = tuple[tuple[str, Hashable], ...]
"""Nodes, and what each is simulated with."""


class Branch(Generic[T]):
    """Steps of one course of events from a fork on.

    Attributes:
        parent: The line that it forks from; None for a run from the start.
        fork: The step at which it does; it keeps that step itself, as the new settings found it.
        settings: What it was simulated with: a key for every node.
        courses: What the steps of each node were simulated with from the start on, which is more than one key after a
            fork; the same steps of nodes on the same course are equal.
        steps: What is kept, by step.
        by_hand: Whether the user took part, so that it cannot be simulated anew.
        used: When it was in use, as a number that grows.
        stopped: The step at which a node halted, by node.
        reached: The last step that was simulated, whether it is still kept or not.
        pulls: Steps that the user had simulated at its fork while time stood.
    """

    __slots__ = (
        "by_hand",
        "children",
        "courses",
        "fork",
        "parent",
        "pulls",
        "reached",
        "settings",
        "steps",
        "stopped",
        "used"
    )  # fmt: skip

    def __init__(
        self, parent: "Branch[T] | None", fork: int, settings: Settings, *, by_hand: bool = False, used: int = 0
    ) -> None:
        before = parent.courses if parent is not None else {}
        self.courses: dict[str, tuple[Hashable, ...]] = {
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
    """The lines, and which one goes on.

    Args:
        settings: What is simulated with now.
        drop: Told of everything that is let go of.

    Attributes:
        line: The one that goes on.
    """

    def __init__(self, settings: Settings, drop: Callable[[T], None]) -> None:
        self._drop = drop
        self._clock = 0
        self._lines: dict[tuple[int, int, Hashable], Branch[T]] = {}
        self._elsewhere: dict[str, dict[int, T]] = {}
        self.line = self._line(None, 0, settings)
        self._choose(self.line)

    # --- the present course ---------------------------------------------------------------------------

    @property
    def is_fresh(self) -> bool:
        """Whether everything of the present course was simulated with the settings of now, from the start on."""
        return self.line.parent is None and not self.line.by_hand

    @property
    def cached(self) -> list[int]:
        """The steps that are kept of the present course, ascending; the start needs not be kept."""
        return self._cached

    @property
    def reached(self) -> int:
        """The last step of the present course that was simulated."""
        return self.line.reached

    def owner(self, step: int) -> Branch[T]:
        return self._path[max(bisect.bisect_right(self._forks, step) - 1, 0)]

    def get(self, step: int) -> T | None:
        return self.owner(step).steps.get(step)

    def pulls(self, step: int) -> int:
        """How many steps the user had simulated up to this one while time stood."""
        return sum(line.pulls for line in self._path if line.fork <= step)

    def latest(self, step: int) -> int:
        """The last step up to this one that can be shown; 0, the start, where nothing is kept."""
        place = bisect.bisect_right(self._cached, step)
        return self._cached[place - 1] if place else 0

    def elsewhere(self, node: str) -> dict[int, T]:
        """What other lines keep of the course that a node is on, by step; nothing where the user took part."""
        if node not in self._elsewhere:
            course = self.line.courses.get(node)
            lines = [] if any(line.by_hand for line in self._path) else list(self._lines.values())
            self._elsewhere[node] = {
                step: content
                for line in lines
                if line is not self.line and course is not None and line.courses.get(node) == course
                for step, content in line.steps.items()
            }
        return self._elsewhere[node]

    def put(self, step: int, content: T) -> None:
        """Keeps a step of the line that goes on; what was kept of it, and what follows it there, is let go of."""
        line = self.line
        for later in [one for one in line.steps if one >= step]:
            self._drop(line.steps.pop(later))
        line.steps[step] = content
        line.reached = step
        del self._cached[bisect.bisect_left(self._cached, step) :]
        self._cached.append(step)

    def add(self, step: int, content: T) -> None:
        """Keeps a step that was let go of, and is simulated again; what follows stays."""
        owner = self.owner(step)
        if step in owner.steps:
            self._drop(owner.steps[step])
        else:
            bisect.insort(self._cached, step)
        owner.steps[step] = content
        owner.reached = max(owner.reached, step)

    def lose(self, content: T) -> None:
        """Forgets what could not be kept after all; nobody is told."""
        for line in self._lines.values():
            line.steps = {step: one for step, one in line.steps.items() if one is not content}
        self._elsewhere.clear()
        self._cached = sorted(self._path_steps())

    # --- other courses --------------------------------------------------------------------------------

    def change(self, step: int, settings: Settings) -> bool:
        """Settings change while a step of the present course is shown.

        Returns:
            Whether another line goes on from that step, which keeps nothing of its own yet.  Not where a course with
            these settings is known that has the step: that is the present one then.
        """
        if settings == self.line.settings and step >= self.line.fork:
            return False
        known = [line for line in self._lines.values() if line.settings == settings and step in line.steps]
        if known:
            self._choose(min(known, key=lambda line: (line.by_hand, self._depth(line), -line.used)))
            return False
        if not step:
            self.restart(settings)
            return False
        self._choose(self._line(self.owner(step), step, settings))
        return not self.line.steps

    def restart(self, settings: Settings) -> None:
        """A run from the start with these settings goes on; what is kept of it is there again."""
        self._choose(self._line(None, 0, settings))

    def fork(self, step: int) -> bool:
        """From this step on the user takes part; what was simulated after it stays with its own line.

        Returns:
            Whether another line goes on from there, which keeps nothing of its own yet.
        """
        if self.line.by_hand and self.line.reached == step:
            return False
        self._clock += 1
        self._choose(self._line(self.owner(step), step, self.line.settings, by_hand=True))
        return True

    def clear(self, settings: Settings) -> None:
        """Lets go of everything."""
        for line in self._lines.values():
            self._empty(line)
        self._lines.clear()
        self._choose(self._line(None, 0, settings))

    # --- room -----------------------------------------------------------------------------------------

    def evict(self) -> bool:
        """Makes room: drops the line that was not in use for longest, else every second step of the present course.

        Steps of older lines go first; those that cannot be simulated anew stay, and so do the first of a line and the
        newest.

        Returns:
            Whether anything was let go of.
        """
        spare = [line for line in self._lines.values() if line not in self._path and not line.children]
        if spare:
            self._remove(min(spare, key=lambda line: line.used))
            return True
        for line in self._path:
            steps = sorted(step for step in line.steps if step not in (line.fork, line.reached))
            if not line.by_hand and line is self.line and len(steps) > 1:
                for step in steps[::2]:
                    self._drop(line.steps.pop(step))
                self._cached = sorted(self._path_steps())
                self._elsewhere.clear()
                return True
        return False

    def _remove(self, line: Branch[T]) -> None:
        self._empty(line)
        if line.parent is not None:
            line.parent.children -= 1
        for key in [key for key, one in self._lines.items() if one is line]:
            del self._lines[key]

    def _empty(self, line: Branch[T]) -> None:
        self._elsewhere.clear()
        for content in line.steps.values():
            self._drop(content)
        line.steps.clear()

    def _line(self, parent: Branch[T] | None, fork: int, settings: Settings, *, by_hand: bool = False) -> Branch[T]:
        key = (id(parent) if parent is not None else 0, fork, (settings, self._clock if by_hand else None))
        if key not in self._lines:
            self._lines[key] = Branch(parent, fork, settings, by_hand=by_hand, used=self._clock)
            if parent is not None:
                parent.children += 1
        return self._lines[key]

    def _choose(self, line: Branch[T]) -> None:
        self._clock += 1
        self._elsewhere.clear()
        before = self.line
        self.line, line.used = line, self._clock
        path: list[Branch[T]] = []
        above: Branch[T] | None = line
        while above is not None:
            path.append(above)
            above = above.parent
        self._path = path[::-1]
        self._forks = [one.fork for one in self._path]
        self._cached = sorted(self._path_steps())
        if (
            before is not line
            and before not in self._path
            and not before.children
            and set(before.steps) <= {before.fork}
        ):
            self._remove(before)

    def _path_steps(self) -> Iterable[int]:
        for place, line in enumerate(self._path):
            until = self._forks[place + 1] if place + 1 < len(self._path) else None
            yield from (step for step in line.steps if until is None or step < until)

    def _depth(self, line: Branch[T]) -> int:
        depth, above = 0, line.parent
        while above is not None:
            depth, above = depth + 1, above.parent
        return depth
