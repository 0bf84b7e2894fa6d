import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath

import msgspec

from sinew.sim.characters.settings import ModelSettings
from sinew.sim.scene.params import Role, with_paths
from sinew.sim.scene.scene import Node, NodeId, Scene

_COPY_SUFFIX = re.compile(r"\.\d{3,}$")
_NUMBERED_ID = re.compile(r"(.+)-(\d{1,18})")


class NodeIds:
    """Source of ids "model-1", "model-2", "light-1".

    Ids are never reused in a session, because undo history and unknown content of project files refer to nodes by id.
    """

    def __init__(self, scene: Scene) -> None:
        self._highest: dict[str, int] = {}
        for node in scene.nodes:
            self.note(node.id)

    def note(self, node_id: NodeId) -> None:
        if match := _NUMBERED_ID.fullmatch(node_id):
            prefix, number = match[1], int(match[2])
            self._highest[prefix] = max(number, self._highest.get(prefix, 0))

    def fresh(self, kind: str) -> NodeId:
        number = self._highest.get(kind, 0) + 1
        self._highest[kind] = number
        return f"{kind}-{number}"


class NodeNames:
    """Unique names within a scene; adding n nodes of the same name takes linear time."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._highest: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """Reserves and returns `wanted`, or "wanted.001" and so on if that is in use."""
        name, base = wanted, _COPY_SUFFIX.sub("", wanted)
        while name in self._taken:
            self._highest[base] = self._highest.get(base, 0) + 1
            name = f"{base}.{self._highest[base]:03d}"
        self._taken.add(name)
        return name


def unique_name(wanted: str, taken: Iterable[str]) -> str:
    return NodeNames(taken).take(wanted)


def default_name(node: Node) -> str:
    """Returns the name of a new node: the stem of its file, or its kind."""
    path = node.settings.path if isinstance(node.settings, ModelSettings) else ""
    return PurePath(path).stem or node.kind.capitalize()


def renamed_links(node: Node, ids: Mapping[NodeId, NodeId]) -> Node:
    """Returns the node with other ids of its parent, its group and its targets."""
    attachment = msgspec.structs.replace(node.attachment, node=ids.get(node.attachment.node, node.attachment.node))
    settings = node.settings
    for role in (Role.NODE, Role.TARGET):
        settings = with_paths(settings, lambda target: ids.get(target, target), role)
    within = ids.get(node.within, node.within)
    return msgspec.structs.replace(node, attachment=attachment, within=within, settings=settings)
