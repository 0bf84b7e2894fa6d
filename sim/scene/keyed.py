"""Evaluates the keys of a scene at a moment."""

import enum
import itertools
import operator
from typing import Any

import msgspec

from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.curves import Curve, KeyValue
from sinew.sim.scene.params import Param, Role, Settings, param_of
from sinew.sim.scene.scene import Node, NodeId, ParamRef, Scene, node_part, with_node_part

_MOMENTS_MAX = 1000
"""Most moments at which the settings of a node are compared."""

_SCENES = 4
"""Evaluated scenes that are remembered: of the last step, and of the moments that are shown."""


class KeyedScene:
    """Replaces keyed settings by their values at a moment.

    A scene without keys is returned itself; a node whose values stay the same is the same object.

    Args:
        step: Length of the steps that settings with `Declaration.midway` have in the middle [s].
    """

    def __init__(self, step: float = STEP_TIME) -> None:
        self._half = step / 2.0
        self._source: Scene | None = None
        self._scenes: dict[float, Scene] = {}
        self._nodes: dict[NodeId, tuple[Node, tuple[KeyValue, ...], Node]] = {}

    def at(self, scene: Scene, time: float) -> Scene:
        """Returns the scene at the end of a step, scene time `time` [s]."""
        if not scene.is_keyed:
            return scene
        if scene is not self._source:
            self._source, self._scenes = scene, {}
        found = self._scenes.get(time)
        if found is None:
            nodes = tuple([self._node(node, time) if node.curves else node for node in scene.nodes])
            former = (one for one in self._scenes.values() if all(map(operator.is_, one.nodes, nodes)))
            found = next(former, None) or msgspec.structs.replace(scene, nodes=nodes)
            if len(self._scenes) >= _SCENES:
                del self._scenes[next(iter(self._scenes))]
            self._scenes[time] = found
        return found

    def _node(self, node: Node, time: float) -> Node:
        values = tuple([curve.value(time - self._half if _is_midway(node, curve) else time) for curve in node.curves])
        source, former, found = self._nodes.get(node.id, (None, (), node))
        if source is not node or values != former:
            found = _with_values(node, values)
            self._nodes[node.id] = node, values, found
        return found


def curves_of(node: Node, part: str, field: str) -> tuple[Curve, ...]:
    return tuple(curve for curve in node.curves if curve.part == part and curve.field == field)


def range_of(node: Node, part: str, field: str) -> tuple[float, float] | None:
    """Returns the smallest and largest value that the keys of a number reach; None without keys."""
    found = next((curve for curve in curves_of(node, part, field) if curve.is_number), None)
    if found is None:
        return None
    record = param_of(type(node_part(node, part)), field)
    lo, hi = found.range
    return allowed(record, lo), allowed(record, hi)


def variants(node: Node) -> tuple[Settings, ...]:
    """Returns settings over time, one of all with the same zeros, switches and choices, to compile programs for."""
    curves = tuple(curve for curve in node.curves if curve.part == node.kind)
    every = sorted({key.time for curve in curves for key in curve.keys})
    times = every[:: len(every) // _MOMENTS_MAX + 1]
    found: dict[tuple[object, ...], Settings] = {}
    for time in (*times, *((one + other) / 2.0 for one, other in itertools.pairwise(times))):
        values = tuple(curve.value(time) for curve in curves)
        signature = tuple(value if isinstance(value, bool | str) else value != 0.0 for value in values)
        if signature not in found:
            found[signature] = _with_values(msgspec.structs.replace(node, curves=curves), values).settings
    return tuple(found.values())


def is_keyed(scene: Scene, ref: ParamRef) -> bool:
    node = scene.by_id.get(ref.owner)
    return node is not None and bool(node.curves) and bool(curves_of(node, ref.part, ref.name))


def jumped(scene: Scene, start: float, end: float) -> frozenset[NodeId]:
    """Returns nodes that a step key moved after `start` and not after `end` [s], themselves or with a parent."""
    moved = {node.id for node in scene.nodes if any(c.part == "transform" and c.jumps(start, end) for c in node.curves)}
    if not moved:
        return frozenset()
    return frozenset(
        node.id for node in scene.nodes if node.id in moved or any(one.id in moved for one in scene.carriers(node.id))
    )


def _is_midway(node: Node, curve: Curve) -> bool:
    return param_of(type(node_part(node, curve.part)), curve.field).declared.midway


def _with_values(node: Node, values: tuple[KeyValue, ...]) -> Node:
    """Returns the node with values in the order of its curves."""
    parts: dict[str, dict[str, Any]] = {}
    for curve, value in zip(node.curves, values, strict=True):
        part = node_part(node, curve.part)
        record = param_of(type(part), curve.field)
        changes = parts.setdefault(curve.part, {})
        if curve.component < 0:
            changes[curve.field] = allowed(record, value)
        else:
            vector = list(changes.get(curve.field) or getattr(part, curve.field) or (0.0,) * record.size)
            vector[curve.component] = allowed(record, value)
            changes[curve.field] = tuple(vector)
    for part_name, changes in parts.items():
        node = with_node_part(node, part_name, msgspec.structs.replace(node_part(node, part_name), **changes))
    return node


def allowed(record: Param, value: KeyValue) -> Any:
    """Converts the value of a curve to the type of a setting, or of its components, within the hard range."""
    if issubclass(record.type, enum.Enum):
        return record.type(value)
    if record.type is bool:
        return bool(value)
    declared, number = record.declared, float(value)
    lo, hi = (0.0, 1.0) if declared.role is Role.COLOUR else (declared.lo, declared.hi)
    number = number if lo is None else max(number, lo)
    number = number if hi is None else min(number, hi)
    return round(number) if record.type is int else number
