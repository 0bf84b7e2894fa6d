"""The only notification about the scene: what changed, and what that costs."""

import enum
from dataclasses import dataclass

from sim.scene.params import Effect, param_of
from sim.scene.scene import ParamRef, Scene, part_of


class ChangeKind(enum.Enum):
    """What happened to the scene."""

    VALUE = "value"
    ADDED = "node added"
    REMOVED = "node removed"
    NODES = "several nodes added, removed, reordered or put together"
    REPLACED = "whole scene replaced"


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the scene.

    Attributes:
        kind: What happened.
        ref: The value for `VALUE`; for a node `ParamRef(id, "node", "")`; None for several and for `REPLACED`.
        effect: What the change costs the engine.
    """

    kind: ChangeKind
    ref: ParamRef | None
    effect: Effect


def value_change(scene: Scene, ref: ParamRef) -> Change:
    """Change notice for one value, with the effect its declaration names."""
    record = param_of(type(part_of(scene, ref.owner, ref.part)), ref.name)
    return Change(ChangeKind.VALUE, ref, record.declared.effect)
