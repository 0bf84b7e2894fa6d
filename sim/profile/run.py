"""One run of a pass while it is recorded; it is the context manager that the program enters."""

from typing import Any, Protocol

SLASH = "∕"
"""Stands for a slash in the name of a node, which would read as another pass."""


class RunOwner(Protocol):
    """Records runs; `Recorder` does."""

    def enter(self, run: "Run") -> None:
        """A run begins."""

    def leave(self, run: "Run") -> None:
        """It ends."""


class Run:
    """From the first work of a pass to its last.

    Args:
        owner: Records it.
        name: Which pass, "cloth".
        detail: Which of several, "Cape"; "" where there is one.
        is_host: Whether it hands out no work, so that there is nothing to measure on the graphics card.

    Attributes:
        path: Where it stands, with its name and detail.
        group: Path without the detail; "" where it has none.
        parent: The run it is a part of.
        begin: When its work began to be handed out [s].
        cpu: How long that took [s].
        waited: The instrument's own time before it, then within it [s].
        first, last: Stamps around its work; None for a run on the processor alone.
    """

    __slots__ = ("begin", "cpu", "detail", "first", "group", "is_host", "last", "name", "owner", "parent", "path",
                 "waited")  # fmt: skip

    def __init__(self, owner: RunOwner, name: str, detail: str = "", *, is_host: bool = False) -> None:
        self.owner = owner
        self.name, self.detail, self.is_host = name, detail, is_host
        self.path = self.group = ""
        self.parent: Run | None = None
        self.begin = self.cpu = self.waited = 0.0
        self.first: Any = None
        self.last: Any = None

    def __enter__(self) -> "Run":
        self.owner.enter(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.owner.leave(self)


class EmptyRun:
    """What measures nothing; there is one for the whole program.

    Both ends are a built-in function that takes anything and answers "", because calling it costs a tenth of a
    microsecond less than two methods do, and every pass of every frame goes through here.
    """

    __slots__ = ()
    __enter__ = staticmethod("".format)
    __exit__ = staticmethod("".format)


NO_RUN = EmptyRun()


def place(run: Run, parent: Run | None, known: dict[tuple[str, str, str], tuple[str, str]]) -> None:
    """Sets path and group of a run; `known` remembers texts that were put together before."""
    key = (parent.path if parent is not None else "", run.name, run.detail)
    found = known.get(key)
    if found is None:
        above, name, detail = key
        name = name.replace("/", SLASH)
        full = f"{above}/{name}" if above else name
        found = known[key] = (f"{full}/{detail.replace('/', SLASH)}", full) if detail else (full, "")
    run.path, run.group = found
    run.parent = parent
