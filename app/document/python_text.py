"""Entries of the undo history as Python for `import sinew`."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from sinew.app.document.history import Macro, SceneEdit, changed_values
from sinew.sim.kinds import KINDS
from sinew.sim.scene.params import params_of
from sinew.sim.scene.scene import PLAYBACK, VIEW, Node, NodeId, ParamRef, Scene, part_of, value_at

INDENT = "    "


def python_text(entry: SceneEdit | Macro) -> str:
    """Returns statements that make the same change to `project`: only what was set directly, since setting it again
    makes the changes that follow.
    """
    edits = entry.edits if isinstance(entry, Macro) else [entry]
    lines = [line for edit in edits for line in _lines(edit)]
    if len(lines) > 1:
        lines = [f"with project.edit({entry.text!r}):", *(INDENT + line for line in lines)]
    return "".join(f"{line}\n" for line in lines)


def _lines(edit: SceneEdit) -> Iterator[str]:
    before, after = edit.before, edit.after
    if edit.refs:
        yield from _settings(before, {ref: value_at(after, ref) for ref in edit.direct}, after)
        return
    removed = [node for node in before.nodes if node.id not in after.by_id]
    added = [node for node in after.nodes if node.id not in before.by_id]
    for node in sorted(removed, key=lambda node: node.settings.is_group):
        yield f"{_node(before, node.id)}.remove()"
    for node in added:
        own = _changed(node.settings, KINDS[node.kind].new_node().settings)
        yield f"project.add({', '.join([repr(node.kind), repr(node.name), *_keywords(own)])})"
    values = {ref: value_at(after, ref) for ref in changed_values(before, after)}
    for node in added:
        plain = Node(id="", settings=node.settings)
        for part in ("node", "transform", "attachment"):
            held = node if part == "node" else getattr(node, part)
            changed = _changed(held, plain if part == "node" else getattr(plain, part))
            values |= {ParamRef(node.id, part, name): value for name, value in changed.items() if name != "name"}
    yield from _settings(after, values, after)
    common = [node.id for node in before.nodes if node.id in after.by_id]
    if [*common, *(node.id for node in added)] != list(after.by_id):
        yield f"project.arrange({', '.join(repr(_name(after, node_id)) for node_id in after.by_id)})"


def _settings(scene: Scene, values: Mapping[ParamRef, Any], after: Scene) -> Iterator[str]:
    """Yields a line for every part of a node; `scene` has the nodes that the lines name."""
    parts: dict[str, dict[str, Any]] = {}
    for ref, value in values.items():
        name = ref.name
        if (ref.part, name) in (("attachment", "node"), ("node", "within")):
            name = "parent" if name == "node" else name
            value = _name(after, value) if value in after.by_id else value or None
        parts.setdefault(_target(scene, ref), {})[name] = value
    for target, changed in parts.items():
        (name, value), *more = changed.items()
        yield f"{target}.set({', '.join(_keywords(changed))})" if more else f"{target}.{name} = {_literal(value)}"


def _target(scene: Scene, ref: ParamRef) -> str:
    if ref.owner in (PLAYBACK, VIEW):
        return f"project.{ref.owner}"
    kind = scene.node(ref.owner).kind
    parts = (kind, "node", "transform", "attachment")
    first = next((part for part in parts if any(r.name == ref.name for r in _records(scene, ref.owner, part))), "")
    return _node(scene, ref.owner) + ("" if first == ref.part else f".part({ref.part!r})")


def _records(scene: Scene, owner: NodeId, part: str) -> Iterable[Any]:
    return params_of(type(part_of(scene, owner, part)))


def _changed(one: msgspec.Struct, other: msgspec.Struct) -> dict[str, Any]:
    values = {record.name: getattr(one, record.name) for record in params_of(type(one))}
    return {name: value for name, value in values.items() if value != getattr(other, name)}


def _keywords(values: Mapping[str, Any]) -> list[str]:
    return [f"{name}={_literal(value)}" for name, value in values.items()]


def _node(scene: Scene, node_id: NodeId) -> str:
    return f"project.nodes[{_name(scene, node_id)!r}]"


def _name(scene: Scene, node_id: NodeId) -> str:
    """Returns the name of a node, or its id if the name is in use twice."""
    name = scene.node(node_id).name
    is_unique = [node.id for node in scene.nodes if name in (node.id, node.name)] == [node_id]
    return name if is_unique else node_id


def _literal(value: Any) -> str:
    return repr(msgspec.to_builtins(value))
