"""From values to the JSON object of a project file; keys stand in the order of the declarations."""

from collections.abc import Iterable
from typing import Any

import msgspec

from app.files.migrations import VERSION
from app.files.model_paths import portable_path
from app.files.unknown_content import Place, UnknownContent, UnknownInEntry, UnknownNode
from sim.scene.params import params_of, with_paths
from sim.scene.scene import PLAYBACK, VIEW, Node, Scene
from sim.scene.view_state import ViewState

FORMAT = "sinew-project"


def project_content(scene: Scene, view_state: ViewState, unknown: UnknownContent, folder: str) -> dict[str, Any]:
    """JSON object of a project that lies in `folder`, a real absolute path."""
    nodes = {node.id: _node(node, unknown, folder) for node in scene.nodes}
    return {
        "format": FORMAT,
        "version": VERSION,
        "nodes": _with_unknown_nodes(nodes, unknown.nodes),
        PLAYBACK: _object(scene.playback, (PLAYBACK,), unknown),
        VIEW: _object(scene.view, (VIEW,), unknown),
        "state": _object(view_state, ("state",), unknown),
        **unknown.keys.get((), {}),
    }


def node_content(node: Node) -> dict[str, Any]:
    """JSON object of a node by itself; its paths are absolute."""
    return _node(node, UnknownContent(), None)


def _node(node: Node, unknown: UnknownContent, folder: str | None) -> dict[str, Any]:
    """Settings stand under the name of the kind."""
    if folder is not None:
        settings = with_paths(node.settings, lambda path: portable_path(path, folder))
        node = msgspec.structs.replace(node, settings=settings)
    return _object(node, ("nodes", node.id), unknown, node.kind)


def _object(value: msgspec.Struct, place: Place, unknown: UnknownContent, kind: str = "") -> dict[str, Any]:
    content: dict[str, Any] = {}
    declared = {record.name for record in params_of(type(value))}
    for field in msgspec.structs.fields(value):
        inner = getattr(value, field.name)
        if isinstance(inner, msgspec.Struct):
            key = kind if kind and field.name == "settings" else field.name
            content[key] = _object(inner, (*place, key), unknown)
        elif inner is not None or field.name in declared:
            content[field.name] = _with_unknown_keys(inner, unknown.entries.get((*place, field.name), ()))
    return {**content, **unknown.keys.get(place, {})}


def _with_unknown_keys(value: Any, cached: Iterable[UnknownInEntry]) -> Any:
    """The value as JSON; entries of a list with the unknown keys that they had."""
    content = msgspec.to_builtins(value)
    free = list(range(len(value))) if cached else []
    # Those that stand unchanged somewhere take their places first.
    for one in sorted(cached, key=lambda one: one.entry not in value):
        index = one.place_in(value, free)
        if index is not None:
            free.remove(index)
            content[index].update(one.keys)
    return content


def _with_unknown_nodes(nodes: dict[str, dict[str, Any]], unknown: Iterable[UnknownNode]) -> list[Any]:
    """Unknown nodes go behind the node they stood behind, at the end where that is gone."""
    followers: dict[str | None, list[Any]] = {}
    for node in unknown:
        place = node.after if node.after is None or node.after in nodes else ""
        followers.setdefault(place, []).append(node.content)
    rows = list(followers.get(None, []))
    for node_id, content in nodes.items():
        rows += [content, *followers.get(node_id, [])]
    return rows + followers.get("", [])
