"""Ids and names of nodes: ids are never used twice in a session, names are unique within a scene."""

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath

import msgspec

from sim.scene.scene import Node, NodeId, Scene

_COPY_SUFFIX = re.compile(r"\.\d{3,}$")
_NUMBERED_ID = re.compile(r"(.+)-(\d{1,18})")


class NodeIds:
    """Source of fresh node ids, "model-1", "model-2", "light-1".

    An id that was ever seen is not given out again, so that what is kept by id, such as undo history
    or unknown keys of a project file, cannot reach another node.
    """

    def __init__(self, scene: Scene) -> None:
        self._highest: dict[str, int] = {}
        for node in scene.nodes:
            self.note(node.id)

    def note(self, node_id: NodeId) -> None:
        """Remember an id that came from elsewhere."""
        if match := _NUMBERED_ID.fullmatch(node_id):
            prefix, number = match[1], int(match[2])
            self._highest[prefix] = max(number, self._highest.get(prefix, 0))

    def fresh(self, kind: str) -> NodeId:
        number = self._highest.get(kind, 0) + 1
        self._highest[kind] = number
        return f"{kind}-{number}"


class NodeNames:
    """The names of a scene while it grows; takes linear time for any number of equal ones."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._highest: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """`wanted`, or "wanted.001" and so on where that is taken; it is taken from then on."""
        name, base = wanted, _COPY_SUFFIX.sub("", wanted)
        while name in self._taken:
            self._highest[base] = self._highest.get(base, 0) + 1
            name = f"{base}.{self._highest[base]:03d}"
        self._taken.add(name)
        return name


def unique_name(wanted: str, taken: Iterable[str]) -> str:
    """`wanted`, or "wanted.001" and so on where another node has that name already."""
    return NodeNames(taken).take(wanted)


def default_name(node: Node) -> str:
    """Name of a node that was given none: the stem of its file, else its kind, as a title."""
    path = node.settings.path if node.settings.is_character else ""
    return PurePath(path).stem or node.kind.capitalize()


def renamed_links(node: Node, ids: Mapping[NodeId, NodeId]) -> Node:
    """A node whose carrier and group are named by other ids, where they are among them."""
    attachment = msgspec.structs.replace(node.attachment, node=ids.get(node.attachment.node, node.attachment.node))
    return msgspec.structs.replace(node, attachment=attachment, within=ids.get(node.within, node.within))
