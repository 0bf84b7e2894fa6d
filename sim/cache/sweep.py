import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sinew.sim.scene.keyed import is_keyed
from sinew.sim.scene.params import Param, Role, param_of, params_of, switch_of, weights_from
from sinew.sim.scene.scene import Node, ParamRef, Scene, node_named, with_value

COUNT_MAX = 4096


class SweepError(ValueError):
    """Error about a sweep; the message is one line."""


@dataclass(frozen=True, slots=True)
class SweepAxis:
    ref: ParamRef
    label: str  # Such as "Cape.stretch_stiffness"
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class SweepOutcome:
    values: tuple[Any, ...]
    measures: dict[str, float]  # Of the last step, and the largest of all steps as "NAME max"
    milliseconds: float  # Median time of a step [ms]
    steps: int
    problem: str = ""  # Why the run ended early; "" if it did not


def axis_of(scene: Scene, text: str) -> SweepAxis:
    """Parses an axis such as "cape.substeps=4,8,16" or "cape.wind_speed=100:4000:log:8".

    Args:
        text: NODE.PARAM=VALUES, with a name or id of a node; values are a list, "from:to:count" or "from:to:log:count".

    Raises:
        SweepError: If there is no such node or setting, or the values are invalid.
        ParamError: If the setting rejects a value.
    """
    name, equals, values = text.partition("=")
    node_name, dot, param = name.rpartition(".")
    if not (equals and dot and values):
        raise SweepError(f"{text!r} is not NODE.PARAM=VALUES")
    try:
        node = node_named(scene, node_name)
    except LookupError as error:
        raise SweepError(str(error)) from None
    record = _record(node, param)
    ref = ParamRef(node.id, node.kind, record.name)
    if is_keyed(scene, ref):
        raise SweepError(f"{name}: the setting has keys, which a sweep would not change")
    accepted = []
    for value in _values(record, values):
        changed = with_value(scene, ref, value).node(node.id)
        accepted.append(getattr(changed.settings, record.name))
    return SweepAxis(ref, f"{node.name}.{record.name}", tuple(dict.fromkeys(accepted)))


def combinations(axes: Sequence[SweepAxis]) -> Iterator[tuple[Any, ...]]:
    """Yields all combinations, the last axis changes fastest; raises SweepError if too many or a setting repeats."""
    count = math.prod(len(axis.values) for axis in axes)
    if count > COUNT_MAX:
        raise SweepError(f"{count:,} combinations are more than {COUNT_MAX:,}")
    if len({axis.ref for axis in axes}) < len(axes):
        raise SweepError("a setting occurs twice")
    return itertools.product(*(axis.values for axis in axes))


def with_values(scene: Scene, axes: Sequence[SweepAxis], values: Sequence[Any]) -> Scene:
    for axis, value in zip(axes, values, strict=True):
        scene = with_value(scene, axis.ref, value)
    return scene


def _record(node: Node, name: str) -> Param:
    wanted = name.replace("-", "_").casefold()
    records = [r for r in params_of(type(node.settings)) if r.declared.role is not Role.HIDDEN]
    if any(record.name == wanted for record in records):
        return param_of(type(node.settings), wanted)
    alike = [record.name for record in records if wanted in record.name] or [record.name for record in records]
    raise SweepError(f"{node.name} has no setting {name!r}; there are: {', '.join(alike)}")


def _values(record: Param, text: str) -> list[Any]:
    if ":" not in text:
        return [_value(record, part) for part in text.split(",")]
    parts = text.split(":")
    is_log = len(parts) == 4 and parts[2] == "log"
    if not is_log and len(parts) != 3:
        raise SweepError(f"{text!r} is neither from:to:count nor from:to:log:count")
    if record.type not in (int, float):
        raise SweepError(f"{record.name} is not a number; separate its values by commas")
    try:
        lo, hi, count = float(parts[0]), float(parts[1]), int(parts[-1])
    except ValueError:
        raise SweepError(f"{text!r} is neither from:to:count nor from:to:log:count") from None
    if not (math.isfinite(lo) and math.isfinite(hi) and 1 <= count <= COUNT_MAX):
        raise SweepError(f"{text!r} needs two numbers and a count from 1 to {COUNT_MAX}")
    if is_log and not (lo > 0.0 and hi > 0.0):
        raise SweepError(f"{text!r}: a logarithmic range needs numbers above 0")
    shares = [place / max(count - 1, 1) for place in range(count)]
    found = [lo * (hi / lo) ** share if is_log else lo + (hi - lo) * share for share in shares]
    return [round(value) for value in found] if record.type is int else found


def _value(record: Param, text: str) -> Any:
    """Parses a value; the declaration rejects text that cannot be parsed."""
    text = text.strip()
    if record.type is bool:
        return switch_of(text)
    if record.type in (int, float):
        try:
            return int(text) if record.type is int else float(text)
        except ValueError:
            return text
    if record.declared.role is Role.WEIGHTS:
        return weights_from(text)
    return [float(part) for part in text.split()] if record.type is tuple else text
