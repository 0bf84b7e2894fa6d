"""Guard of nodes: an error of one is isolated from all others, reported once, and the node is disabled."""

import logging
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TypeVar

from sinew.sim.printable import printable
from sinew.sim.scene.scene import Node, NodeId

T = TypeVar("T")
_log = logging.getLogger(__name__)
_TEXT_MAX = 200


class Guard:
    """Nodes with errors; they are tried again when anything changes.

    Args:
        clear: Types of errors whose message is complete in itself.

    Attributes:
        faulty: Disabled nodes.
        problems: Nodes and one line each that are not reported yet; the reader clears it.
    """

    def __init__(self, clear: tuple[type[Exception], ...] = ()) -> None:
        self._clear = clear
        self.problems: list[tuple[NodeId, str]] = []
        self.faulty: set[NodeId] = set()
        self._reported: dict[NodeId, tuple[Node | None, str]] = {}
        self._nodes: Mapping[NodeId, Node] = {}

    def renew(self, nodes: Mapping[NodeId, Node] | None = None) -> None:
        self.faulty.clear()
        if nodes is not None:
            self._nodes = nodes
            for node_id in [known for known, (node, _) in self._reported.items() if nodes.get(known) is not node]:
                del self._reported[node_id]

    def retry(self) -> None:
        """Enables all nodes again; nodes that fail again are reported again."""
        self.faulty.clear()
        self._reported.clear()

    def of(self, node: Node) -> "Guarded":
        """Returns a context manager that reports every exception of its block as an error of the node."""
        return Guarded(self, node.id)

    def call(self, node: Node, work: Callable[[], T], otherwise: T) -> T:
        """Returns the result of `work`; `otherwise` if it raises or the node is disabled."""
        if node.id in self.faulty:
            return otherwise
        try:
            return work()
        except Exception as error:
            self.note(node.id, error)
            return otherwise

    def note(self, node_id: NodeId, error: Exception) -> None:
        self.faulty.add(node_id)
        text = printable(" ".join(str(error).split()), _TEXT_MAX)
        if not isinstance(error, self._clear):
            text = f"disabled after error {type(error).__name__}: {text}; change a setting to retry"
            _log.info("node %s", printable(node_id, _TEXT_MAX), exc_info=error)
        reported = self._nodes.get(node_id), text
        if self._reported.get(node_id) == reported:
            return
        self._reported[node_id] = reported
        self.problems.append((node_id, text))


class Guarded:
    __slots__ = ("_guard", "_node_id")

    def __init__(self, guard: Guard, node_id: NodeId) -> None:
        self._guard, self._node_id = guard, node_id

    def __enter__(self) -> "Guarded":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self._guard.note(self._node_id, error)
        return True
