"""Where nodes are listed and what they ride on, as functions from nodes to nodes; none moves in the world."""

from collections.abc import Collection, Sequence

import msgspec
import numpy as np

from sim.scene.params import ParamError
from sim.scene.scene import Attachment, Node, NodeId, Scene
from sim.scene.transform import Transform
from sim.scene.world_transforms import WorldTransforms, relative_transform, vector

Nodes = tuple[Node, ...]


def topmost(scene: Scene, node_ids: Collection[NodeId]) -> list[NodeId]:
    """Nodes that are not listed below another one of them, in the order of the scene."""
    chosen = set(node_ids)
    return [
        node.id
        for node in scene.nodes
        if node.id in chosen and not any(above.id in chosen for above in scene.above(node.id))
    ]


def put_on(places: WorldTransforms, node_ids: Sequence[NodeId], attachment: Attachment) -> Nodes:
    """Nodes listed below another one: in a group, or riding on a node, a bone of it or nothing.

    What rides on something else than a group goes on riding on it where it is put into one.

    Raises:
        ParamError: If a node would be listed below itself.
    """
    scene = places.scene
    for node_id in node_ids:
        if attachment.node and node_id in (attachment.node, *(above.id for above in scene.above(attachment.node))):
            raise ParamError(f"{scene.node(node_id).name} cannot be attached to itself")
    moved = {node_id: _linked(places, scene.node(node_id), attachment) for node_id in node_ids}
    return tuple(moved.get(node.id, node) for node in scene.nodes)


def ordered(nodes: Nodes, node_ids: Sequence[NodeId], before: NodeId | None) -> Nodes:
    """Some nodes brought together before another one; to the end for None."""
    chosen = {node.id: node for node in nodes if node.id in set(node_ids)}
    rest = [node for node in nodes if node.id not in chosen]
    place = next((index for index, node in enumerate(rest) if node.id == before), len(rest))
    return (*rest[:place], *(chosen[node_id] for node_id in node_ids), *rest[place:])


def grouped(places: WorldTransforms, node_ids: Sequence[NodeId], group: Node) -> Nodes:
    """Nodes put into a new group in their midst, which is listed where they were, if that is one place.

    Args:
        places: Where nodes stand.
        node_ids: Those that are not listed below each other, at least one.
        group: The group, which is not in the scene yet.
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
    there = WorldTransforms(msgspec.structs.replace(scene, nodes=nodes), places.characters)
    # What rode on the parent of the group does so by way of the group.
    freed = {parent, ""}
    moved = {
        node_id: _linked(there, scene.node(node_id), Attachment(node=group.id), freed=freed) for node_id in node_ids
    }
    return tuple(moved.get(node.id, node) for node in nodes)


def ungrouped(places: WorldTransforms, groups: Collection[NodeId]) -> Nodes:
    """Groups dissolved: what was in them is listed where they were."""
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
    """A node on something else; `freed` are carriers that it leaves for a group."""
    carriers, target = places.scene.by_id, places.scene.by_id.get(attachment.node)
    if target is not None and target.settings.is_group:
        carrier = carriers.get(node.attachment.node)
        rides = carrier is not None and not carrier.settings.is_group
        if rides and (node.attachment.bone or node.attachment.node not in freed):
            return msgspec.structs.replace(node, within=target.id)
    return msgspec.structs.replace(_attached(places, node, attachment), within="")


def _attached(places: WorldTransforms, node: Node, attachment: Attachment) -> Node:
    """A node that rides on something else, where it stands in the world."""
    if attachment == node.attachment:
        return node
    carrier = places.carrier(msgspec.structs.replace(node, attachment=attachment))
    transform = relative_transform(places.world_from_node(node), carrier)
    return msgspec.structs.replace(node, attachment=attachment, transform=transform)
