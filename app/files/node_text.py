"""Nodes as text for the clipboard: JSON as in a project file, with world transforms and parents by name.

A node whose parent is not among the copied ones is attached to a node of the same name and kind in another scene, else
keeps its world transform.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from sinew.app.files.migrations import MIGRATIONS, VERSION, MigrationError, migrated
from sinew.app.files.project_decode import ProjectDecoder
from sinew.app.files.project_file import node_content
from sinew.app.files.project_json import ProjectError, json_text, parse_json
from sinew.sim.scene.params import targets_of, with_targets
from sinew.sim.scene.scene import Attachment, Node, NodeId, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.world_transforms import WORLD, WorldTransforms, relative_transform

FORMAT = "sinew-nodes"
_SOURCE = Path("clipboard")


def nodes_text(places: WorldTransforms, node_ids: Sequence[NodeId]) -> str:
    """Paths are absolute."""
    scene = places.scene
    copied = [node for node in scene.nodes if node.id in node_ids]
    attached = [node for node in copied if node.attachment.node in scene.by_id and node.attachment.node not in node_ids]
    targets = [target for node in copied for target in targets_of(node.settings) if scene.has(target)]
    names = {name: scene.node(name) for name in (*(node.attachment.node for node in attached), *targets)}
    content = {
        "format": FORMAT,
        "version": VERSION,
        "nodes": [node_content(node) for node in copied],
        "carriers": {carrier.id: {"name": carrier.name, "kind": carrier.kind} for carrier in names.values()},
        "world": {
            node.id: msgspec.to_builtins(relative_transform(places.world_from_node(node), WORLD)) for node in attached
        },
    }
    return json_text(content)


def nodes_of(text: str, scene: Scene) -> list[Node]:
    """The nodes keep the ids of the text; raises ProjectError if it holds no nodes, or a value is refused."""
    content = parse_json(_SOURCE, text.encode("utf-8", "replace"))
    version = content.get("version") if isinstance(content, dict) else None
    if not isinstance(content, dict) or content.get("format") != FORMAT or type(version) is not int:
        raise ProjectError(_SOURCE, "", "holds no objects of a scene")
    if not 0 <= version <= VERSION:
        raise ProjectError(_SOURCE, "$.version", f"{version} is newer than this program reads (up to {VERSION})")
    try:
        content = migrated(content, version, MIGRATIONS)
    except MigrationError as error:
        raise ProjectError(_SOURCE, "$.version", str(error)) from error
    nodes = ProjectDecoder(_SOURCE, "/").decode_nodes(content.get("nodes", []))
    carriers, world = (_objects(content, key) for key in ("carriers", "world"))
    return [_settled(node, scene, {node.id for node in nodes}, carriers, world.get(node.id)) for node in nodes]


def _settled(
    node: Node, scene: Scene, among: set[NodeId], carriers: dict[str, dict[str, Any]], world: dict[str, Any] | None
) -> Node:
    if node.within not in among and not scene.has(node.within):
        node = msgspec.structs.replace(node, within="")

    def counterpart(name: NodeId) -> NodeId | None:
        """The copied node with this id, otherwise the node of the scene that is called as its original was."""
        if name in among:
            return name
        original = carriers.get(name, {})
        alike = [other.id for other in scene.nodes if {"name": other.name, "kind": other.kind} == original]
        return name if name in alike else next(iter(alike), None)

    settings = with_targets(node.settings, lambda target: counterpart(target) or target)
    node = msgspec.structs.replace(node, settings=settings)
    carrier = node.attachment.node
    if not carrier or carrier in among:
        return node
    if (found := counterpart(carrier)) is not None:
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
