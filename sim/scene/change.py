"""The signal that announces every change of the scene."""

import enum
from dataclasses import dataclass

from sinew.sim.scene.params import Effect, param_of
from sinew.sim.scene.scene import ParamRef, Scene, part_of


class ChangeKind(enum.Enum):
    VALUE = "value"
    ADDED = "node added"
    REMOVED = "node removed"
    NODES = "several nodes added, removed, reordered or put together"
    REPLACED = "whole scene replaced"


@dataclass(frozen=True, slots=True)
class Change:
    """A change; `ref` is the value for `VALUE`, `ParamRef(id, "node", "")` for a node, else None."""

    kind: ChangeKind
    ref: ParamRef | None
    effect: Effect


def value_change(scene: Scene, ref: ParamRef) -> Change:
    record = param_of(type(part_of(scene, ref.owner, ref.part)), ref.name)
    return Change(ChangeKind.VALUE, ref, record.declared.effect)
