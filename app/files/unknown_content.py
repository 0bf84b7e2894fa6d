"""What a project file holds beyond the known keys, kept so that saving does not lose it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
class UnknownContent:
    """Unknown keys by the object that holds them, and unknown nodes in their order."""

    keys: Mapping[Place, Mapping[str, Any]] = field(default_factory=dict)
    nodes: tuple[UnknownNode, ...] = ()
