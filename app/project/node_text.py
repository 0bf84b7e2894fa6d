"""Nodes as text for the clipboard: JSON as in a project file, with world transforms and parents by name.

A node whose parent is not among the copied ones is attached to a node of the same name and kind in another scene, else
keeps its world transform.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from sinew.app.project.migrations import VERSION, MigrationError, migrated, written_version
from sinew.app.project.project_decode import ProjectDecoder
from sinew.app.project.project_file import node_content
from sinew.app.project.project_json import ProjectError, json_text, parse_json
from sinew.sim.scene.params import Role, paths_of, with_paths
from sinew.sim.scene.scene import Attachment, Node, NodeId, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.world_transforms import WORLD, WorldTransforms, relative_transform

FORMAT = "sinew-nodes"
_SOURCE = Path("clipboard")


def nodes_text(places: WorldTransforms, node_ids: Sequence[NodeId]) -> str:
    """Returns nodes as text for the clipboard, with absolute paths."""
    scene = places.scene
    copied = [node for node in scene.nodes if node.id in node_ids]
    attached = [node for node in copied if node.attachment.node in scene.by_id and node.attachment.node not in node_ids]
    others = {
        *(node.attachment.node for node in attached),
        *(one for node in copied for role in (Role.NODE, Role.TARGET) for one in paths_of(node.settings, role)),
    }
    names = {one: scene.node(one) for one in sorted(others) if one in scene.by_id and one not in node_ids}
    content = {
        "format": FORMAT,
        "version": written_version(copied),
        "nodes": [node_content(node) for node in copied],
        "carriers": {carrier.id: {"name": carrier.name, "kind": carrier.kind} for carrier in names.values()},
        "world": {
            node.id: msgspec.to_builtins(relative_transform(places.world_from_node(node), WORLD)) for node in attached
        },
    }
    return json_text(content)


def nodes_of(text: str, scene: Scene) -> list[Node]:
    """Returns nodes with the ids of the text; raises ProjectError if it holds no nodes, or a value is refused."""
    content = parse_json(_SOURCE, text.encode("utf-8", "replace"))
    version = content.get("version") if isinstance(content, dict) else None
    if not isinstance(content, dict) or content.get("format") != FORMAT or type(version) is not int:
        raise ProjectError(_SOURCE, "", "holds no objects of a scene")
    if not 0 <= version <= VERSION:
        raise ProjectError(_SOURCE, "$.version", f"{version} is newer than this program reads (up to {VERSION})")
    try:
        content = migrated(content, version)
    except MigrationError as error:
        raise ProjectError(_SOURCE, "$.version", str(error)) from error
    nodes = ProjectDecoder(_SOURCE, "/").decode_nodes(content.get("nodes", []))
    carriers, world = (_objects(content, key) for key in ("carriers", "world"))
    return [_settled(node, scene, {node.id for node in nodes}, carriers, world.get(node.id)) for node in nodes]


def _settled(
    node: Node, scene: Scene, among: set[NodeId], carriers: dict[str, dict[str, Any]], world: dict[str, Any] | None
) -> Node:
    def alike(other: NodeId) -> NodeId:
        """Returns the node of the scene with the name and kind of a node that was not copied; "" without one."""
        parent = carriers.get(other, {})
        found = [one.id for one in scene.nodes if {"name": one.name, "kind": one.kind} == parent]
        return other if other in found else next(iter(found), "")

    settings = with_paths(node.settings, lambda one: one if one in among else alike(one), Role.NODE)
    settings = with_paths(settings, lambda one: one if one in among else alike(one) or one, Role.TARGET)
    node = msgspec.structs.replace(node, settings=settings)
    if node.within not in among and not scene.has(node.within):
        node = msgspec.structs.replace(node, within="")
    carrier = node.attachment.node
    if not carrier or carrier in among:
        return node
    if found := alike(carrier):
        attachment = msgspec.structs.replace(node.attachment, node=found)
        return msgspec.structs.replace(node, attachment=attachment)
    try:
        transform = msgspec.convert(world, Transform) if world is not None else node.transform
    except msgspec.ValidationError:
        transform = node.transform
    return msgspec.structs.replace(node, attachment=Attachment(), transform=transform)


def _objects(content: dict[str, Any], key: str) -> dict[str, dict[str, Any]]:
    held = content.get(key)
    return {name: value for name, value in held.items() if isinstance(value, dict)} if isinstance(held, dict) else {}
