"""Which settings can have keys."""

import enum
from collections.abc import Iterable
from typing import Annotated, Any

import msgspec

from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Form
from sinew.sim.printable import shortened
from sinew.sim.refusal import refusal
from sinew.sim.scene.curves import CURVES_MAX, Curve, Key, KeyMode
from sinew.sim.scene.keyed import allowed
from sinew.sim.scene.params import Effect, Param, Role, param_of
from sinew.sim.scene.scene import PLAYBACK, VIEW, Node, ParamRef, Scene, node_part

SPACING = 1e-6
"""Shortest time between two keys [s]."""

SLOPE_MAX = 1e12

_BY_STEPS = (bool, enum.Enum)


def key_refusal(node: Node, part: str, field: str) -> str:
    """Returns why a setting cannot have keys, or ""; raises KeyError for an unknown setting."""
    return _declared_refusal(node, part, field) or KINDS[node.kind].part(Form).unkeyable(node, part, field)


def _declared_refusal(node: Node, part: str, field: str) -> str:
    holder = node_part(node, part)
    record = param_of(type(holder), field)
    effect, role = record.declared.effect, record.declared.role
    if part == "attachment":
        return "the parent of a node cannot change over time"
    if (
        role is Role.HIDDEN
        or role not in (Role.PLAIN, Role.COLOUR)
        or not issubclass(record.type, (float, int, tuple, enum.Enum))
    ):
        return "only numbers, vectors, colours, switches and choices can have keys"
    if effect in (Effect.RESET, Effect.REBUILD):
        return "a change restarts the simulation" if effect is Effect.RESET else "a change rebuilds the node"
    return ""


def scene_key_refusal(scene: Scene, ref: ParamRef) -> str:
    if ref.owner in (PLAYBACK, VIEW):
        return "only settings of nodes can have keys"
    return key_refusal(scene.node(ref.owner), ref.part, ref.name)


def steps_only(record: Param) -> bool:
    return issubclass(record.type, _BY_STEPS)


def components_of(record: Param) -> tuple[int, ...]:
    return tuple(range(record.size)) if record.type is tuple else (-1,)


def new_key(record: Param, time: float, value: Any, component: int = -1) -> Key:
    """Makes a key of one component of the value of a setting."""
    if steps_only(record):
        return Key(time, value.value if isinstance(value, enum.Enum) else value, KeyMode.STEP)
    return Key(time, float(value if component < 0 else value[component]))


def curve_fault(node: Node, curves: Iterable[Curve]) -> tuple[str, str] | None:
    """Returns the place of the first fault, such as "[2].keys[1]", and the reason; None if all curves are valid."""
    known: set[tuple[str, str, int]] = set()
    for number, curve in enumerate(curves):
        try:
            reason = _declared_refusal(node, curve.part, curve.field)
            record = param_of(type(node_part(node, curve.part)), curve.field)
        except KeyError:
            return f"[{number}]", f"{node.kind} has no setting {curve.part}.{curve.field}"
        if reason:
            return f"[{number}]", f"{curve.field} cannot have keys: {reason}"
        if curve.component not in components_of(record):
            allowed_numbers = " or ".join(map(str, components_of(record)))
            return f"[{number}].component", f"{curve.component} is not {allowed_numbers}"
        if curve.address in known:
            return f"[{number}]", f"{curve.field} has this curve twice"
        known.add(curve.address)
        if (fault := _key_fault(record, curve)) is not None:
            return f"[{number}].keys[{fault[0]}]", fault[1]
    return None


def curves_refusal(content: Any) -> tuple[str, str]:
    """Returns place and reason, as `curve_fault`, of content of a file that is not a list of curves."""
    try:
        msgspec.convert(content, Annotated[tuple[Curve, ...], msgspec.Meta(max_length=CURVES_MAX)])
    except msgspec.ValidationError as error:
        return refusal(error)
    return "", "cannot be used"


def _key_fault(record: Param, curve: Curve) -> tuple[int, str] | None:
    for place, key in enumerate(curve.keys):
        if place and key.time < curve.keys[place - 1].time + SPACING:
            return place, f"its time {key.time:g} s is not after the key before"
        if steps_only(record) == (isinstance(key.value, float)) or isinstance(key.value, bool) != (record.type is bool):
            return place, f"{shortened(repr(key.value))} is not a value of {record.name}"
        if steps_only(record) and key.mode is not KeyMode.STEP:
            return place, f"{record.name} changes by steps only"
        if any(slope is not None and not abs(slope) <= SLOPE_MAX for slope in (key.slope_in, key.slope_out)):
            return place, "a slope is too large"
        try:
            taken = allowed(record, key.value)
        except ValueError:
            return place, f"{shortened(repr(key.value))} is not a value of {record.name}"
        if not steps_only(record) and (taken != round(float(key.value)) if record.type is int else taken != key.value):
            return place, f"{key.value:g} is out of range"
    return None
