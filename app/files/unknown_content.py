"""What a project file holds beyond the known keys, kept so that saving does not lose it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from sim.scene.scene import NodeId

Place = tuple[str, ...]
"""An object of the file: `()` is the whole file, `("nodes", "model-1", "model")` a part of a node."""


@dataclass(frozen=True, slots=True)
class UnknownNode:
    """A node of a kind that this version does not know.

    Attributes:
        content: The node as it stands in the file.
        after: Id of the known node before it, or None at the beginning.
    """

    content: Mapping[str, Any]
    after: NodeId | None


@dataclass(frozen=True, slots=True)
class UnknownInEntry:
    """What an entry of a list of settings holds beyond the known keys; entries have no names.

    Attributes:
        entry: The entry as it was understood.
        index: Where in its list it stood.
        keys: The unknown ones.
    """

    entry: msgspec.Struct
    index: int
    keys: Mapping[str, Any]

    def place_in(self, entries: Sequence[msgspec.Struct], free: Sequence[int]) -> int | None:
        """Which of the free places of a list is that of the entry now; None if it is gone.

        An equal entry, wherever it was moved to; else what stands at its place, if it is of the same kind.
        """
        equal = [index for index in free if entries[index] == self.entry]
        if equal:
            return min(equal, key=lambda index: abs(index - self.index))
        return self.index if self.index in free and type(entries[self.index]) is type(self.entry) else None


@dataclass(frozen=True, slots=True)
class UnknownContent:
    """Unknown keys by the object that holds them, unknown nodes in their order, and what entries of lists hold."""

    keys: Mapping[Place, Mapping[str, Any]] = field(default_factory=dict)
    nodes: tuple[UnknownNode, ...] = ()
    entries: Mapping[Place, tuple[UnknownInEntry, ...]] = field(default_factory=dict)
