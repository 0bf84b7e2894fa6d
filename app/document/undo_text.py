"""Undo texts, derived from the declarations of the parameters."""

from collections.abc import Mapping
from typing import Any

from sim.scene.params import Param, param_of
from sim.scene.scene import PLAYBACK, VIEW, ParamRef, Scene, part_of


def value_text(scene: Scene, ref: ParamRef, value: Any) -> str:
    """Text for setting one value, such as "Set unit scale of humanoid" or "Hide light".

    Args:
        scene: Scene before the edit.
        ref: The value.
        value: What it is set to.
    """
    if ref.part == "node" and ref.name == "visible":
        return f"{'Show' if value else 'Hide'} {scene.node(ref.owner).name}"
    if ref.part == "node" and ref.name == "name":
        return f"Rename {scene.node(ref.owner).name} to {value}"
    record = param_of(type(part_of(scene, ref.owner, ref.part)), ref.name)
    part = ref.part.partition(":")[2]
    within = f" of {part}" if part else ""
    return f"{_verb(record, value)} {_lower_first(record.label)}{within}{_of_owner(scene, ref.owner)}"


def values_text(scene: Scene, values: Mapping[ParamRef, Any]) -> str:
    """Text for setting several values as one edit: that of the first, of as many nodes as have it."""
    ref, value = next(iter(values.items()))
    text = value_text(scene, ref, value)
    count = len({other.owner for other in values if (other.part, other.name) == (ref.part, ref.name)})
    if count < 2:
        return text
    owner = scene.node(ref.owner).name
    return f"{text.removesuffix(owner)}{count} objects" if text.endswith(f" {owner}") else text


def _verb(record: Param, value: Any) -> str:
    if record.type is bool:
        return "Turn on" if value else "Turn off"
    return "Set"


def _lower_first(label: str) -> str:
    """Label inside a sentence; abbreviations such as "UV scale" keep their capitals."""
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]


def _of_owner(scene: Scene, owner: str) -> str:
    if owner == PLAYBACK:
        return " of the playback"
    return " of the view" if owner == VIEW else f" of {scene.node(owner).name}"
