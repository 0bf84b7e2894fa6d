"""Edits of emitters that menus and panels share: adding one where it is meant to be, mute, solo and reseed."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from app.document.document import Document
from sim.kinds.emitter.emission import EmissionAim, EmitterSource
from sim.kinds.emitter.presets import with_preset
from sim.kinds.emitter.settings import EmitterSettings
from sim.scene.scene import Node, NodeId, ParamRef, Scene
from sim.scene.transform import Transform
from sim.scene.vectors import Vec3
from sim.scene.view_state import Selection

PLAIN = ""
"""Name of the emitter that is no preset's."""

LIFTS: Mapping[str, float] = {"Snow": 3.5, "Fireworks": 3.0}
"""How far above the ground an effect starts that would have no room below it [m]."""

_SEED_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class EmitterPlace:
    """Where a new emitter goes.

    Attributes:
        text: The place in words, "on the bone hand_r".
        model_node, bone: What it rides on, or whose surface emits; "" for none.
        position: Its own position [m], relative to the bone if there is one.
    """

    text: str
    model_node: NodeId = ""
    bone: str = ""
    position: Vec3 = (0.0, 0.0, 0.0)

    @property
    def is_surface(self) -> bool:
        """Whether the surface of a model emits."""
        return bool(self.model_node) and not self.bone


def place_of(scene: Scene, selection: Selection, target: Vec3) -> EmitterPlace:
    """Where a new emitter goes: on the selected bone, on the selected model, else on the ground.

    Args:
        scene: The scene.
        selection: What is selected.
        target: What the camera looks at [m].
    """
    node = scene.node(selection.node) if selection.node is not None and scene.has(selection.node) else None
    if node is None or node.kind != "model":
        return EmitterPlace("on the ground", position=(target[0], 0.0, target[2]))
    if selection.bone is not None:
        return EmitterPlace(f"on the bone {selection.bone}", node.id, selection.bone)
    return EmitterPlace(f"on the surface of {node.name}", node.id)


def emitter_node(place: EmitterPlace, preset: str) -> Node:
    """A node for an emitter of a preset, or a plain one for `PLAIN`."""
    settings = with_preset(EmitterSettings(), preset) if preset else EmitterSettings()
    settings = msgspec.structs.replace(settings, model_node=place.model_node, bone=place.bone)
    x, y, z = place.position
    if place.is_surface:
        settings = msgspec.structs.replace(settings, source=EmitterSource.FACES, aim=EmissionAim.OUTWARD)
    elif not place.bone:
        y += LIFTS.get(preset, 0.0)
    return Node(id="", name=preset.lower() or "emitter", transform=Transform(position=(x, y, z)), settings=settings)


class EmitterEdits:
    """What the user does to emitters outside of the editors of their values.

    Args:
        document: What is edited.
    """

    def __init__(self, document: Document) -> None:
        self._document = document

    @property
    def place(self) -> EmitterPlace:
        """Where the next emitter would go."""
        view = self._document.view_state
        return place_of(self._document.scene, view.selection, view.camera.target)

    @property
    def selected(self) -> Node | None:
        """The selected emitter."""
        scene, node_id = self._document.scene, self._document.selection.node
        node = scene.node(node_id) if node_id is not None and scene.has(node_id) else None
        return node if node is not None and node.kind == "emitter" else None

    def add(self, preset: str = PLAIN) -> NodeId:
        """Adds an emitter on what is selected, as one edit, and selects it; returns its id.

        Raises:
            KeyError: If there is no preset of this name.
        """
        return self._document.add_node(emitter_node(self.place, preset))

    def toggle(self, name: str) -> None:
        """Switches a setting of the selected emitter, such as "muted"."""
        node = self.selected
        if node is not None:
            self._document.set_value(ParamRef(node.id, "emitter", name), not getattr(node.settings, name))

    def reseed(self) -> None:
        """Gives the selected emitter other random numbers."""
        node = self.selected
        if node is not None and node.kind == "emitter":
            gesture = self._document.new_gesture(f"Reseed {node.name}")
            self._document.set_value(ParamRef(node.id, "emitter", "seed"), other_seed(node.settings.seed), gesture)
            self._document.end_gesture(gesture)

    def set_capacity(self, capacity: int) -> None:
        """Gives the selected emitter room for more or fewer particles."""
        node = self.selected
        if node is not None:
            self._document.set_value(ParamRef(node.id, "emitter", "capacity"), capacity)

    def use_values(self, preset: str, values: Mapping[str, Any]) -> None:
        """Takes the values of a preset for the selected emitter, as one edit."""
        node = self.selected
        if node is None:
            return
        gesture = self._document.new_gesture(f"Use {preset} for {node.name}")
        self._document.set_values(
            {ParamRef(node.id, "emitter", name): value for name, value in values.items()}, gesture
        )
        self._document.end_gesture(gesture)


def other_seed(seed: int) -> int:
    """A seed that differs from the given one; what the user asks for need not be repeatable, what comes of it is."""
    return (seed + random.randrange(1, _SEED_MAX)) % _SEED_MAX
