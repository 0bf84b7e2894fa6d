from typing import Any

import numpy as np

from sinew.sim.assets.humanoid import REQUIRED, SPINE, bones_of
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.playing import up_axis
from sinew.sim.characters.settings import ModelSettings, section_list
from sinew.sim.colliders.skin_mesh import body_sections
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.kinds.cloth.settings import (
    EASE_MAX,
    ClothMode,
    ClothSettings,
    ClothSolving,
    ClothSource,
    Garment,
    PinPreset,
    PinTarget,
)
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.contract import Added, AddPlace
from sinew.sim.scene.params import SettingsError, validated
from sinew.sim.scene.scene import Attachment, Node

ARMS = ("leftUpperArm", "rightUpperArm")
SHOWN = 3
"""Number of missing bones that a message names."""

TALL = 1.8
"""Height of the body that the lengths below, and ease and cells, are meant for [m]."""

LAYER = 10.0
"""Ease of a garment beyond the ease of the ones under it [mm]."""

RUN_UP = 2.0
"""Pre-roll in which the character goes from the bind pose, which garments fit, to its first pose [s]."""

FABRIC: dict[str, Any] = {
    "solver": ClothSolving.LINES, "mode": ClothMode.MATERIAL, "density": 0.2, "stretch_stiffness": 1e4,
    "shear_stiffness": 40.0, "bend_stiffness": 2e-5, "substeps": 80, "more_substeps": True,
    "pins": PinPreset.TOP,
}  # fmt: skip
"""Cotton."""

CUTS: dict[Garment, dict[str, Any]] = {
    Garment.SKIRT: {"pin_target": PinTarget.RIGID, "pin_strength": 0.9},
    Garment.CAPE: {
        "pin_target": PinTarget.BONE, "pin_strength": 0.97, "garment_length": 0.7, "garment_flare": 6.0,
        "garment_opening": 240.0,
    },
    Garment.DRESS: {
        "pin_target": PinTarget.BONE, "pin_strength": 0.89, "garment_length": 0.6, "garment_flare": 8.0,
    },
}  # fmt: skip
"""An arm or a strap may press the top edge in, but the weight of a cape hangs on it; it sinks by some millimetres."""

COLOURS = {Garment.SKIRT: (0.20, 0.32, 0.52), Garment.CAPE: (0.62, 0.16, 0.17), Garment.DRESS: (0.33, 0.45, 0.30)}


def missing_bones(model: CharacterModel, settings: ModelSettings) -> str:
    """Returns the bones of a human body that a model lacks, as text; "" for none."""
    bones = bones_of(model, settings.humanoid)
    missing = [bone for bone in REQUIRED if bone not in bones]
    more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    return ", ".join(missing[:SHOWN]) + more


def character_of(place: AddPlace) -> Node | None:
    """Returns the selected character, otherwise the only one."""
    characters = place.scene.characters
    return place.character or (characters[0] if len(characters) == 1 else None)


def garment_place(place: AddPlace) -> str:
    character = character_of(place)
    return f"on {character.name}" if character is not None else "on character"


def garment_reason(place: AddPlace) -> str:
    character = character_of(place)
    model = place.models.get(character.id) if character is not None else None
    if character is None or not isinstance(character.settings, ModelSettings):
        return "Select a character first."
    if model is None:
        return f"{character.name} is not loaded yet."
    missing = missing_bones(model, character.settings)
    return f"A garment needs the bones of a human body: name {missing} in Bones." if missing else ""


def new_garment(garment: Garment, place: AddPlace) -> Added:
    """Returns a garment on a character, with a collider of its skin unless it has one.

    Raises:
        SettingsError: With the reason, if no garment fits.
    """
    if reason := garment_reason(place):
        raise SettingsError(reason)
    character = character_of(place)
    assert character is not None
    own, model = character.settings, place.models[character.id]
    assert isinstance(own, ModelSettings)
    assert model.skeleton is not None
    bones, names = bones_of(model, own.humanoid), model.skeleton.names
    others = [
        (node.id, node.settings)
        for node in place.scene.of_kind(ClothSettings.kind)
        if isinstance(node.settings, ClothSettings) and node.settings.source is ClothSource.GARMENT
        and node.attachment.node == character.id
    ]  # fmt: skip
    values = FABRIC | CUTS[garment] | {
        "source": ClothSource.GARMENT, "garment": garment, "colour": COLOURS[garment],
        "thickness": 0.02 * _height(model, own) / TALL,
    }  # fmt: skip
    if values["pin_target"] is PinTarget.BONE:
        values["pin_bone"] = names[bones[next(bone for bone in (*reversed(SPINE), "hips") if bone in bones)]]
    if others:
        values |= {
            "garment_ease": min(max(settings.garment_ease for _, settings in others) + LAYER, EASE_MAX),
            "other_cloths": True,
            "met_cloths": tuple(node_id for node_id, _ in others),
        }
    attachment = Attachment(node=character.id)
    settings = validated(ClothSettings(), **values)
    nodes = [Node(id="garment", name=garment.value.capitalize(), attachment=attachment, settings=settings)]
    if not any(_is_skin(node, character) for node in place.scene.nodes):
        skin = ColliderSettings(
            shape=ColliderShape.SKIN,
            sections=body_sections(model, section_list(own.hidden_sections)),
            yielding=tuple(names[bones[bone]] for bone in ARMS if bone in bones),
        )
        nodes.append(Node(id="", name="Skin", attachment=attachment, settings=skin))
    return Added(nodes, RUN_UP)


def _is_skin(node: Node, character: Node) -> bool:
    settings = node.settings
    is_skin = isinstance(settings, ColliderSettings) and settings.shape is ColliderShape.SKIN
    return is_skin and node.attachment.node == character.id


def _height(model: CharacterModel, settings: ModelSettings) -> float:
    """Returns the height of a model in its file's pose [m]."""
    up = 2 if up_axis(settings, model) == "z" else 1
    return float(np.ptp([model.mesh.bounds.lo[up], model.mesh.bounds.hi[up]])) * settings.unit_scale
