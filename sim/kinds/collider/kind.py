import functools
from collections.abc import Mapping
from typing import Any

from sinew.sim.colliders.skin_mesh import outer_sections
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.kinds.collider.settings import SIZES_OF_SHAPE, ColliderSettings
from sinew.sim.kinds.contract import AddEntry, AddPlace, Adds, ColliderSource, Edits, Form, Kind
from sinew.sim.scene.params import with_lengths
from sinew.sim.scene.scene import Attachment, Node
from sinew.sim.scene.transform import Transform

_LIMB, _CHARACTER = 0.35, 1.8
"""Extents of surroundings that suit the default sizes [m]."""


def new_collider(shape: ColliderShape, place: AddPlace) -> Node:
    """Returns a collider on the selected bone, otherwise a plane on the ground or another shape at the target."""
    character = place.character
    if shape is ColliderShape.SKIN and character is not None:
        settings = ColliderSettings(shape=shape, sections=outer_sections(place.models.get(character.id)))
        return Node(id="", name="Skin", attachment=Attachment(node=character.id), settings=settings)
    is_on_bone = bool(place.attachment.node)
    radius = 0.1 if is_on_bone else 0.3
    settings = ColliderSettings(
        shape=shape, radius=radius, length=0.5, semi_axes=(0.4, 0.3, 0.2), half_sizes=(0.3,) * 3
    )
    settings = with_lengths(settings, place.fitting(_LIMB if is_on_bone else _CHARACTER))
    if shape is ColliderShape.PLANE:
        return Node(id="", name=shape.value.capitalize(), settings=settings)
    if place.attachment.node:
        return Node(id="", name=shape.value.capitalize(), attachment=place.attachment, settings=settings)
    return Node(id="", name=shape.value.capitalize(), transform=Transform(position=place.target), settings=settings)


def idle(node: Node) -> frozenset[str]:
    settings = node.settings
    assert isinstance(settings, ColliderSettings)
    others = {"yields"} if settings.shape is ColliderShape.SKIN else {"yielding"}
    return frozenset(others.union(*SIZES_OF_SHAPE.values())) - set(SIZES_OF_SHAPE[settings.shape])


def migrate(version: int, raw: dict[str, Any], _nodes: Mapping[str, dict[str, Any]]) -> None:
    """Converts settings of version 1, which named the bone among them."""
    if version == 1:
        node, bone = raw["collider"].pop("bone_node", ""), raw["collider"].pop("bone", "")
        if node and bone:
            raw["attachment"] = {"node": node, "bone": bone}


def unkeyable(_node: Node, part: str, field: str) -> str:
    is_size = (part, field) == ("transform", "scale") or any(field in names for names in SIZES_OF_SHAPE.values())
    return "a surface that grows has no velocity for collisions" if is_size else ""


def add_entry(shape: ColliderShape) -> AddEntry:
    tip = f"Add a {shape.value} that cloth cannot enter."
    if shape is ColliderShape.SKIN:
        tip = "Let cloth, hair, spring bones and particles collide with the moving skin of the selected character."
    make = functools.partial(new_collider, shape)
    return AddEntry(shape.value, f"C&ollider: {shape.value.capitalize()}", tip, make)


COLLIDER = Kind(
    name="collider",
    label="Collider",
    icon="mdi6.sphere",
    hue="#e6d732",
    settings=ColliderSettings,
    version=2,
    view="sinew.sim.kinds.collider.view:ColliderView",
    parts=(
        Adds(tuple(map(add_entry, ColliderShape))),
        Form(idle=idle, unkeyable=unkeyable, panel="sinew.app.kinds.collider.panel:ColliderPanel"),
        Edits(migrate=migrate),
        ColliderSource("sinew.sim.kinds.collider.place:placements", "sinew.sim.kinds.collider.place:unfinished"),
    ),
)
