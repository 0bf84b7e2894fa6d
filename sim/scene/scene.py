"""The scene is everything that a user may set and that the project file holds, as immutable values.

The document replaces these values; engine and widgets read them.  Nodes are identified by their `NodeId`, never by
an index.
"""

import functools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any

import msgspec

from sinew.sim.scene.curves import CURVES_MAX, Curve
from sinew.sim.scene.params import Effect, ParamError, Role, Settings, check, entry_of, param
from sinew.sim.scene.playback import PlaybackSettings
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import NEW_VIEW, ViewSettings

NodeId = str

PLAYBACK = "playback"
VIEW = "view"


_attachment = functools.partial(param, group="Attachment")
_node = functools.partial(param, group="Node")
_state = functools.partial(_node, role=Role.HIDDEN)


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """Parent of a node: none, another node, or a bone of it; the transform of the node is relative to the parent."""

    node: Annotated[NodeId, _attachment(
        "Node that this one is attached to; empty for none.", label="Parent", role=Role.CARRIER,
    )] = ""  # fmt: skip
    bone: Annotated[str, _attachment(
        "Bone that this node is attached to, instead of the whole node.", role=Role.BONE,
    )] = ""  # fmt: skip


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One object of the scene; the type of its settings is its kind.

    In the project file the settings are under the name of the kind, so that errors carry the path
    `$.nodes[2].cloth.substeps`.
    """

    id: NodeId
    name: Annotated[str, _node("Name in the outliner.", effect=Effect.VIEW)] = ""
    visible: Annotated[bool, _node("Draw this node.", effect=Effect.VIEW)] = True
    muted: Annotated[bool, _state("Disable the simulation of this node, or collisions with it.")] = False
    solo: Annotated[bool, _state("Simulate only the solo nodes of this type.")] = False
    baked: Annotated[bool, _state("Show the baked steps instead of simulating.")] = False
    locked: Annotated[bool, _state(
        "Protect this node: it cannot be picked in the viewport, moved or removed.", effect=Effect.VIEW,
    )] = False  # fmt: skip
    within: Annotated[NodeId, _state(
        "Group that lists this node, if its parent is something else.", effect=Effect.VIEW,
    )] = ""  # fmt: skip
    transform: Transform = Transform()
    attachment: Attachment = Attachment()
    settings: Settings
    curves: Annotated[
        tuple[Curve, ...], _state("Keys of settings over scene time."), msgspec.Meta(max_length=CURVES_MAX)
    ] = ()

    @property
    def kind(self) -> str:
        return self.settings.kind


class Scene(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A scene: everything that undo and redo restore."""

    nodes: tuple[Node, ...] = ()
    playback: PlaybackSettings = PlaybackSettings()
    view: ViewSettings = ViewSettings()

    @cached_property
    def by_id(self) -> dict[NodeId, Node]:
        return {node.id: node for node in self.nodes}

    @cached_property
    def is_keyed(self) -> bool:
        """Whether a setting of a node has keys."""
        return any(map(operator.attrgetter("curves"), self.nodes))

    @cached_property
    def _by_kind(self) -> dict[str, tuple[Node, ...]]:
        found: dict[str, list[Node]] = {}
        for node in self.nodes:
            found.setdefault(node.settings.kind, []).append(node)
        return {kind: tuple(nodes) for kind, nodes in found.items()}

    @cached_property
    def simulated(self) -> frozenset[NodeId]:
        """Nodes that are neither muted nor excluded by a solo node of the same kind, with hidden nodes."""
        solo = {node.kind for node in self.nodes if node.solo}
        return frozenset([n.id for n in self.nodes if not n.muted and (n.solo or not solo or n.kind not in solo)])

    @cached_property
    def _simulated_by_kind(self) -> dict[str, tuple[Node, ...]]:
        if len(self.simulated) == len(self.nodes):
            return self._by_kind
        return {
            kind: nodes
            if all(n.id in self.simulated for n in nodes)
            else tuple(n for n in nodes if n.id in self.simulated)
            for kind, nodes in self._by_kind.items()
        }

    def simulated_of_kind(self, kind: str) -> tuple[Node, ...]:
        """Returns simulated nodes of a kind; the same tuple as `of_kind` if all are simulated."""
        return self._simulated_by_kind.get(kind, ())

    def node(self, node_id: NodeId) -> Node:
        """Returns a node; raises KeyError if it does not exist."""
        return self.by_id[node_id]

    def has(self, node_id: NodeId) -> bool:
        return node_id in self.by_id

    def of_kind(self, kind: str) -> tuple[Node, ...]:
        return self._by_kind.get(kind, ())

    @cached_property
    def characters(self) -> tuple[Node, ...]:
        """Nodes that are read from model files and posed, in outliner order."""
        return tuple(node for node in self.nodes if node.settings.is_character)

    @cached_property
    def parents(self) -> dict[NodeId, NodeId]:
        """The node below which each node is listed: its group, else its parent; top-level nodes have no entry.

        A group that is itself listed below a node cannot be the group of that node.
        """
        attached = {node.id: node.attachment.node for node in self.nodes if node.attachment.node in self.by_id}
        grouped = {
            node.id: node.within
            for node in self.nodes
            if node.within in self.by_id and self.by_id[node.within].settings.is_group
        }
        # Attachments have no circles, so that the loop ends.
        while circling := grouped.keys() & _circle({**attached, **grouped}):
            for node_id in circling:
                del grouped[node_id]
        return {**attached, **grouped}

    @cached_property
    def holders(self) -> frozenset[NodeId]:
        """Nodes with others listed below them."""
        return frozenset(self.parents.values())

    def above(self, node_id: NodeId) -> Iterator[Node]:
        parent = self.parents.get(node_id)
        while parent is not None:
            yield self.by_id[parent]
            parent = self.parents.get(parent)

    def with_contents(self, node_ids: Iterable[NodeId]) -> frozenset[NodeId]:
        """Returns the given nodes that exist, and everything listed below the groups among them."""
        found = frozenset(node_id for node_id in node_ids if node_id in self.by_id)
        groups = {node_id for node_id in found if self.by_id[node_id].settings.is_group}
        if not groups:
            return found
        return found | {node.id for node in self.nodes if any(above.id in groups for above in self.above(node.id))}

    @cached_property
    def shown(self) -> frozenset[NodeId]:
        """Nodes that are visible and in no hidden group."""
        return self._outside(frozenset([node.id for node in self.nodes if not node.visible]))

    @cached_property
    def unlocked(self) -> frozenset[NodeId]:
        """Nodes that are not locked and in no locked group."""
        return self._outside(frozenset(node.id for node in self.nodes if node.locked))

    def _outside(self, excluded: frozenset[NodeId]) -> frozenset[NodeId]:
        groups = {node_id for node_id in excluded if self.by_id[node_id].settings.is_group}
        return frozenset(
            [
                node.id
                for node in self.nodes
                if node.id not in excluded and not (groups and any(above.id in groups for above in self.above(node.id)))
            ]
        )

    def carriers(self, node_id: NodeId) -> list[Node]:
        """Returns parents by attachment, the nearest first; leaves out missing ones, lists none twice."""
        found: list[Node] = []
        seen = {node_id}
        carrier = self.node(node_id).attachment.node
        while carrier in self.by_id and carrier not in seen:
            seen.add(carrier)
            found.append(self.by_id[carrier])
            carrier = found[-1].attachment.node
        return found

    @cached_property
    def _named_targets(self) -> dict[NodeId, tuple[NodeId, ...]]:
        found = {}
        for node in self.nodes:
            if node.settings.is_character and (named := node.settings.targets):
                found[node.id] = tuple(one for one in named if one in self.by_id)
        return found

    @cached_property
    def targets(self) -> dict[NodeId, tuple[NodeId, ...]]:
        """Nodes that each character with some follows.

        Leaves out those that move with a character whose pose or transform depends on the follower.  What is attached
        to the follower itself is a target; it moves with the pose before the modifiers.
        """
        found: dict[NodeId, tuple[NodeId, ...]] = {}
        for node_id, named in self._named_targets.items():
            for target in named:
                above = next((one.id for one in self.carriers(target) if one.settings.is_character), node_id)
                if above == node_id or all(one.id != node_id for one in self._leading(above, self._named_targets)):
                    found[node_id] = (*found.get(node_id, ()), target)
        return found

    def leading(self, node_id: NodeId) -> list[Node]:
        """Returns nodes on which place and pose of a node depend: its parents, the nearest first, then targets."""
        return self._leading(node_id, self.targets) if self.targets else self.carriers(node_id)

    def _leading(self, node_id: NodeId, targets: Mapping[NodeId, Sequence[NodeId]]) -> list[Node]:
        found = self.carriers(node_id)
        pending = [self.node(node_id), *found]
        while pending:
            for target in targets.get(pending.pop(0).id, ()):
                fresh = [one for one in (self.node(target), *self.carriers(target)) if one not in found]
                fresh = [one for one in fresh if one.id != node_id]
                found += fresh
                pending += fresh
        return found

    @cached_property
    def characters_in_order(self) -> tuple[Node, ...]:
        """All characters, each after those on which its place and its pose depend."""
        waiting = [node for node in self.carried_last if node.settings.is_character]
        if not self._named_targets:
            return tuple(waiting)
        ordered: dict[NodeId, Node] = {}
        leading = {node.id: [one.id for one in self.leading(node.id) if one.settings.is_character] for node in waiting}
        while waiting:
            ready = [n for n in waiting if all(one in ordered or one == n.id for one in leading[n.id])] or waiting
            ordered |= {node.id: node for node in ready}
            waiting = [node for node in waiting if node.id not in ordered]
        return tuple(ordered.values())

    @property
    def circling(self) -> Node | None:
        """A node that is attached to itself through others; None in a valid scene."""
        attached = {node.id: node.attachment.node for node in self.nodes if node.attachment.node in self.by_id}
        found = _circle(attached)
        return self.by_id[found[0]] if found else None

    @cached_property
    def carried_last(self) -> tuple[Node, ...]:
        """All nodes, each after its parent."""
        order: list[Node] = []
        met: set[NodeId] = set()
        for node in self.nodes:
            chain, above = [], node if node.id not in met else None
            while above is not None and above.id not in met:
                met.add(above.id)
                chain.append(above)
                above = self.by_id.get(above.attachment.node)
            order += reversed(chain)
        return tuple(order)


NEW_SCENE = Scene(view=NEW_VIEW)
"""The scene of a new project."""


def _circle(parents: Mapping[NodeId, NodeId]) -> list[NodeId]:
    """Returns nodes that are their own ancestors."""
    found: list[NodeId] = []
    clear: set[NodeId] = set()
    for start in parents:
        chain: dict[NodeId, int] = {}
        node: NodeId | None = start
        while node is not None and node not in clear and node not in chain:
            chain[node] = len(chain)
            node = parents.get(node)
        if node is not None and node in chain:
            found += list(chain)[chain[node] :]
        clear.update(chain)
    return found


class ParamRef(msgspec.Struct, frozen=True):
    """Address of one value of the scene."""

    owner: str  # A node's id, or `PLAYBACK`, or `VIEW`
    part: str  # "node", "transform", "attachment", the kind or a part of the settings; else as `owner`
    name: str


def part_of(scene: Scene, owner: str, part: str) -> msgspec.Struct:
    """Returns a part of the scene; raises KeyError if the owner or the part is missing."""
    if owner in (PLAYBACK, VIEW):
        value: msgspec.Struct = getattr(scene, owner)
        return value
    return node_part(scene.node(owner), part)


def node_part(node: Node, part: str) -> msgspec.Struct:
    """Raises KeyError if there is none."""
    parts = {"node": node, "transform": node.transform, "attachment": node.attachment, node.kind: node.settings}
    found = parts.get(part) or node.settings.part(part)
    if found is None:
        raise KeyError(f"{node.id} has no {part}")
    return found


def with_node_part(node: Node, part: str, changed: msgspec.Struct) -> Node:
    """`changed` replaces the part of that name."""
    if isinstance(changed, Node):
        return changed
    if part not in ("transform", "attachment", node.kind):
        changed = node.settings.with_part(part, changed)
    field = "settings" if isinstance(changed, Settings) else part
    return msgspec.structs.replace(node, **{field: changed})


def value_at(scene: Scene, ref: ParamRef) -> Any:
    return getattr(part_of(scene, ref.owner, ref.part), ref.name)


def node_named(scene: Scene, name: str) -> Node:
    """Returns the node of a name or id, else of a name in another case; raises LookupError with all names."""
    found = [node for node in scene.nodes if name and name in (node.id, node.name)]
    found = found or [node for node in scene.nodes if name and node.name.casefold() == name.casefold()]
    if not found:
        names = ", ".join(node.name or node.id for node in scene.nodes)
        raise LookupError(f"there is no node {name!r}; there are: {names}")
    return found[0]


def with_value(scene: Scene, ref: ParamRef, value: Any) -> Scene:
    """Returns the scene with a value; raises ParamError if it is refused, KeyError for an unknown parameter."""
    part = part_of(scene, ref.owner, ref.part)
    changed = msgspec.structs.replace(part, **{ref.name: check(type(part), ref.name, value)})
    if ref.owner in (PLAYBACK, VIEW):
        return msgspec.structs.replace(scene, **{ref.owner: changed})
    node = scene.node(ref.owner)
    if isinstance(changed, Attachment):
        refuse_circle(scene, node, changed)
    replaced = with_node_part(node, ref.part, changed)
    if node.curves and ref.part == node.kind and isinstance(value, tuple):
        curves = _curves_of_entries(node.curves, ref.name, getattr(part, ref.name), value)
        replaced = msgspec.structs.replace(replaced, curves=curves)
    return msgspec.structs.replace(scene, nodes=tuple(replaced if n is node else n for n in scene.nodes))


def _curves_of_entries(
    curves: tuple[Curve, ...], name: str, before: Sequence[Any], after: Sequence[Any]
) -> tuple[Curve, ...]:
    """Moves curves of entries of a list along with the entries, which are found by identity, and removes others."""
    found = []
    for curve in curves:
        field, place = entry_of(curve.part) or ("", 0)
        if field == name:
            at = next((at for at, entry in enumerate(after) if entry is before[place]), None)
            if at is None and len(before) == len(after):  # it was edited
                at = place
            if at is None or not hasattr(after[at], curve.field):
                continue
            curve = msgspec.structs.replace(curve, part=f"{name}.{at}")
        found.append(curve)
    return tuple(found)


def refuse_circle(scene: Scene, node: Node, attachment: Attachment) -> None:
    """Checks an attachment; raises ParamError if it would attach the node to itself."""
    carrier = attachment.node
    if carrier in scene.by_id and node.id in (carrier, *(above.id for above in scene.carriers(carrier))):
        raise ParamError(f"{node.name or node.id} cannot be attached to itself")
