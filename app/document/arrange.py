"""Order, groups and parents of nodes, as pure functions; world transforms of nodes do not change, except of nodes with
keys of their transform, or with a parent before or after that is missing or being read.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from sinew.sim.scene.params import ParamError
from sinew.sim.scene.scene import Attachment, Node, NodeId, ParamRef, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.world_transforms import WorldTransforms, relative_transform, vector

Nodes = tuple[Node, ...]

_DIGITS, _NEAR = 9, 1e-12
"""Values of new transforms this near to a short number become it: rounding errors would make a 0 a changed value."""


def topmost(scene: Scene, node_ids: Collection[NodeId]) -> list[NodeId]:
    """Returns nodes in the order of the scene, without those listed below another given one."""
    chosen = set(node_ids)
    return [
        node.id
        for node in scene.nodes
        if node.id in chosen and not any(above.id in chosen for above in scene.above(node.id))
    ]


def put_on(places: WorldTransforms, node_ids: Sequence[NodeId], attachment: Attachment) -> Nodes:
    """Attaches some nodes to a node or bone, puts them into a group, or detaches them; returns all nodes of the scene.

    A node that is put into a group stays attached to a parent that is no group.

    Raises:
        ParamError: If a node would be its own parent.
    """
    scene = places.scene
    for node_id in node_ids:
        if attachment.node and node_id in (attachment.node, *(above.id for above in scene.above(attachment.node))):
            raise ParamError(f"{scene.node(node_id).name} cannot be attached to itself")
    moved = {node_id: _linked(places, scene.node(node_id), attachment) for node_id in node_ids}
    return tuple(moved.get(node.id, node) for node in scene.nodes)


def ordered(nodes: Nodes, node_ids: Sequence[NodeId], before: NodeId | None) -> Nodes:
    chosen = {node.id: node for node in nodes if node.id in set(node_ids)}
    rest = [node for node in nodes if node.id not in chosen]
    place = next((index for index, node in enumerate(rest) if node.id == before), len(rest))
    return (*rest[:place], *(chosen[node_id] for node_id in node_ids), *rest[place:])


def grouped(places: WorldTransforms, node_ids: Sequence[NodeId], group: Node) -> Nodes:
    """Puts nodes into a new group at their centre, which gets their common parent; returns all nodes of the scene.

    Args:
        node_ids: Not listed below each other, at least one.
        group: Not in the scene yet.
    """
    scene = places.scene
    parents = {scene.parents.get(node_id, "") for node_id in node_ids}
    parent = parents.pop() if len(parents) == 1 else ""
    middle = np.mean([places.world_from_node(scene.node(node_id))[:3, 3] for node_id in node_ids], axis=0)
    group = msgspec.structs.replace(group, attachment=Attachment(node=parent))
    local = np.linalg.solve(places.carrier(group).matrix, [*middle, 1.0])[:3]
    group = msgspec.structs.replace(group, transform=Transform(position=vector(local)))
    first = next(index for index, node in enumerate(scene.nodes) if node.id in node_ids)
    nodes = (*scene.nodes[:first], group, *scene.nodes[first:])
    grouped_transforms = WorldTransforms(msgspec.structs.replace(scene, nodes=nodes), places.characters)
    # Nodes that were attached to the parent of the group follow it through the group.
    freed = {parent, ""}
    moved = {
        node_id: _linked(grouped_transforms, scene.node(node_id), Attachment(node=group.id), freed=freed)
        for node_id in node_ids
    }
    return tuple(moved.get(node.id, node) for node in nodes)


def ungrouped(places: WorldTransforms, groups: Collection[NodeId]) -> Nodes:
    """Removes groups and moves their content to their parents; returns all nodes of the scene."""
    scene = places.scene
    for group_id in topmost(scene, groups):
        group = scene.node(group_id)
        parent = scene.parents.get(group_id, "")
        is_group = bool(parent) and scene.node(parent).settings.is_group
        nodes = []
        for node in scene.nodes:
            if node.attachment.node == group_id:
                node = msgspec.structs.replace(_attached(places, node, group.attachment), within=group.within)
            elif node.within == group_id:
                node = msgspec.structs.replace(node, within=parent if is_group else "")
            nodes.append(node)
        scene = msgspec.structs.replace(scene, nodes=tuple(node for node in nodes if node.id != group_id))
        places = WorldTransforms(scene, places.characters)
    return scene.nodes


def _linked(places: WorldTransforms, node: Node, attachment: Attachment, freed: Collection[NodeId] = ("",)) -> Node:
    """Returns a node attached elsewhere; it leaves the parents in `freed` for a group."""
    carriers, target = places.scene.by_id, places.scene.by_id.get(attachment.node)
    if target is not None and target.settings.is_group:
        carrier = carriers.get(node.attachment.node)
        rides = carrier is not None and not carrier.settings.is_group
        if rides and (node.attachment.bone or node.attachment.node not in freed):
            return msgspec.structs.replace(node, within=target.id)
    return msgspec.structs.replace(_attached(places, node, attachment), within="")


def _attached(places: WorldTransforms, node: Node, attachment: Attachment) -> Node:
    linked = msgspec.structs.replace(node, attachment=attachment)
    if attachment == node.attachment or keyed_places([node]) or not (places.is_known(node) and places.is_known(linked)):
        return linked
    transform = relative_transform(places.world_from_node(node), places.carrier(linked))
    rounded = {
        name: tuple(_rounded(value) for value in vector) for name, vector in msgspec.structs.asdict(transform).items()
    }
    return msgspec.structs.replace(linked, transform=msgspec.structs.replace(transform, **rounded))


def _rounded(value: float) -> float:
    short = round(value, _DIGITS) + 0.0
    return short if abs(short - value) <= _NEAR * max(1.0, abs(value)) else value


def keyed_places(nodes: Iterable[Node]) -> dict[NodeId, str]:
    """Returns the nodes with keys of their transform, with the name of a setting that has some."""
    return {
        node.id: next(curve.field for curve in node.curves if curve.part == "transform")
        for node in nodes
        if any(curve.part == "transform" for curve in node.curves)
    }


def attached_values(
    places: WorldTransforms, scene: Scene, links: Mapping[NodeId, Mapping[str, Any]]
) -> dict[ParamRef, Any]:
    """Returns the values of attachments and transforms for new values of "node" or "bone" of some nodes.

    A bone that the new parent does not have is cleared.

    Args:
        places: Of `scene` at a moment.
    """
    values: dict[ParamRef, Any] = {}
    for node_id, link in links.items():
        shown, own = places.scene.node(node_id), scene.node(node_id)
        attachment = msgspec.structs.replace(own.attachment, **link)
        if "node" in link and places.is_boneless(attachment):
            attachment = msgspec.structs.replace(attachment, bone="")
        moved = _attached(places, shown, attachment)
        for part, before in (("attachment", shown.attachment), ("transform", shown.transform)):
            for name, value in msgspec.structs.asdict(getattr(moved, part)).items():
                if value != getattr(before, name):
                    values[ParamRef(node_id, part, name)] = value
    return values


def placed(scene: Scene, nodes: Nodes) -> Nodes:
    """Returns nodes of the scene with parents, groups and order of `nodes`, which have other values of keyed settings.

    Transforms are taken only with other parents.
    """
    return tuple(
        node
        if (own := scene.by_id.get(node.id)) is None
        else msgspec.structs.replace(
            own,
            attachment=node.attachment,
            within=node.within,
            transform=own.transform if node.attachment == own.attachment or keyed_places([own]) else node.transform,
        )
        for node in nodes
    )
