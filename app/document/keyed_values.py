"""How an edit of a value becomes an edit of keys."""

from collections.abc import Collection, Mapping
from typing import Any

from sinew.sim.kinds.keyable import components_of, new_key, scene_key_refusal
from sinew.sim.scene.curves import Curve, Key, with_key
from sinew.sim.scene.keyed import is_keyed
from sinew.sim.scene.params import check, param_of
from sinew.sim.scene.scene import Node, NodeId, ParamRef, Scene, node_part, part_of, value_at

NEAR = 1e-4
"""Distance of times that count as the same [s]."""


def curves_ref(owner: NodeId) -> ParamRef:
    return ParamRef(owner, "node", "curves")


def key_near(curve: Curve, time: float) -> Key | None:
    return next((key for key in curve.keys if abs(key.time - time) <= NEAR), None)


def keyed_values(
    scene: Scene, evaluated: Scene, values: Mapping[ParamRef, Any], time: float, *, auto: bool
) -> dict[ParamRef, Any]:
    """Returns edits that set keys at `time` [s] of settings with keys, and with `auto` of all that can have some.

    Only components that differ from `evaluated`, the scene at that time, get a key.
    """
    found: dict[ParamRef, Any] = {}
    curves: dict[NodeId, tuple[Curve, ...]] = {}
    for ref, value in values.items():
        has_keys = is_keyed(scene, ref)
        if value is None or not (has_keys or (auto and not scene_key_refusal(scene, ref))):
            found[ref] = _unevaluated(scene, evaluated, ref, value)
            continue
        record, node = param_of(type(part_of(scene, ref.owner, ref.part)), ref.name), scene.node(ref.owner)
        checked, before = check(type(part_of(scene, ref.owner, ref.part)), ref.name, value), value_at(evaluated, ref)
        components = components_of(record)
        if has_keys and record.type is tuple:
            components = tuple(one for one in components if checked[one] != before[one])
        if components and checked != before:
            former = curves.get(ref.owner, node.curves)
            curves[ref.owner] = with_keys(node, former, ref, time, checked, components)
    return found | {curves_ref(owner): value for owner, value in curves.items()}


def _unevaluated(scene: Scene, evaluated: Scene, ref: ParamRef, value: Any) -> Any:
    """Returns a list with its entries as they are in the scene, so that their keys are found again."""
    if not isinstance(value, tuple) or not isinstance(before := value_at(evaluated, ref), tuple):
        return value
    entries = {id(shown): entry for shown, entry in zip(before, value_at(scene, ref), strict=True)}
    return tuple(entries.get(id(entry), entry) for entry in value)


def with_keys(
    node: Node,
    curves: tuple[Curve, ...],
    ref: ParamRef,
    time: float,
    value: Any,
    components: Collection[int] | None = None,
) -> tuple[Curve, ...]:
    """Sets keys at `time` [s]; a key that is there keeps its interpolation."""
    record = param_of(type(node_part(node, ref.part)), ref.name)
    found = {curve.address: curve for curve in curves}
    for component in components_of(record) if components is None else components:
        address = ref.part, ref.name, component
        curve, key = found.get(address), new_key(record, time, value, component)
        if curve is None:
            found[address] = Curve(part=ref.part, field=ref.name, component=component, keys=(key,))
            continue
        former = key_near(curve, time)
        if former is not None:
            key = Key(former.time, key.value, former.mode, former.slope_in, former.slope_out)
        found[address] = with_key(curve, key)
    return tuple(found.values())
