"""What the user should know of a simulation."""

from dataclasses import dataclass

from sim.scene.scene import NodeId


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a node that the user should know; one line.

    Attributes:
        node: The node that cannot go on, or "" for what only deserves a warning.
        text: The line; a warning names its node.
    """

    node: NodeId
    text: str
