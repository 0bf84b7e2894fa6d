"""Edits of which particles a cloth holds, each one entry of the history."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from app.document.document import Document
from sim.kinds.cloth.pins import toggled_pin_list
from sim.kinds.cloth.settings import ClothSettings, PinPreset
from sim.scene.scene import NodeId, ParamRef

Bool = npt.NDArray[np.bool_]


def toggle_pins(document: Document, numbers: Mapping[NodeId, Sequence[int]], held: Mapping[NodeId, Bool]) -> None:
    """Holds particles; lets them go where all of them are held already.

    Args:
        document: What is edited.
        numbers: Particles of each cloth.
        held: Which particles each of these cloths holds now, shape (P,).
    """
    evict = all(held[node_id][list(chosen)].all() for node_id, chosen in numbers.items())
    values: dict[ParamRef, object] = {}
    for node_id, chosen in numbers.items():
        settings = document.scene.node(node_id).settings
        assert settings is not None
        text = changed_pin_list(settings, held[node_id], chosen, hold=not evict)
        values[ParamRef(node_id, "cloth", "pin_list")] = text
    count = sum(map(len, numbers.values()))
    what = f"particle {next(iter(numbers.values()))[0]}" if count == 1 else f"{count} particles"
    document.set_as_one(f"{'Let go of' if evict else 'Pin'} {what}", values)


def set_pin_preset(document: Document, node_id: NodeId, preset: PinPreset) -> None:
    """Holds what a preset names, and nothing else."""
    values = {ParamRef(node_id, "cloth", "pins"): preset, ParamRef(node_id, "cloth", "pin_list"): ""}
    document.set_as_one(f"Pins of {document.scene.node(node_id).name}: {preset.value}", values)


def changed_pin_list(settings: ClothSettings, held: Bool, numbers: Sequence[int], *, hold: bool) -> str:
    """The pin list after holding particles, or after letting them go.

    Args:
        settings: The cloth.
        held: What it holds now, shape (P,).
        numbers: Particles.
        hold: Whether they are held afterwards.
    """
    return toggled_pin_list(settings.pin_list, held, [number for number in numbers if bool(held[number]) is not hold])
