import functools
import math
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from sinew.sim.kinds.cloth.new_garment import garment_place, garment_reason, new_garment
from sinew.sim.kinds.cloth.settings import (
    SUBSTEPS_MAX,
    ClothLook,
    ClothMode,
    ClothPlacement,
    ClothSettings,
    ClothSolving,
    ClothSource,
    Garment,
    PinPreset,
    PinTarget,
    compared_settings,
)
from sinew.sim.kinds.contract import AddEntry, AddPlace, Adds, Coupling, Edits, Files, FileUse, Form, Kind, Presets
from sinew.sim.scene.params import Settings, params_of, validated, with_lengths
from sinew.sim.scene.scene import Attachment, Node, NodeId, Scene
from sinew.sim.scene.transform import Transform, node_matrix
from sinew.sim.scene.world_transforms import WorldTransforms, rebased, relative_transform

PRESETS: dict[str, dict[str, Any]] = {
    "Silk (springs)": {
        "mode": ClothMode.MATERIAL, "density": 0.06, "stretch_stiffness": 150.0, "shear_stiffness": 8.0,
        "bend_stiffness": 2e-6, "internal_damping": 1e-4, "air_drag": 0.1, "thickness": 0.004,
        "self_collision": True,
    },
    "Cotton (springs)": {
        "mode": ClothMode.MATERIAL, "density": 0.15, "stretch_stiffness": 300.0, "shear_stiffness": 40.0,
        "bend_stiffness": 1e-5, "internal_damping": 1e-4, "air_drag": 0.1, "thickness": 0.006,
        "self_collision": True,
    },
    "Denim (springs)": {
        "mode": ClothMode.MATERIAL, "density": 0.4, "stretch_stiffness": 900.0, "shear_stiffness": 200.0,
        "bend_stiffness": 1e-4, "internal_damping": 2e-4, "air_drag": 0.2, "thickness": 0.01,
        "self_collision": True,
    },
    "Rubber (springs)": {
        "mode": ClothMode.MATERIAL, "density": 1.0, "stretch_stiffness": 120.0, "shear_stiffness": 90.0,
        "bend_stiffness": 5e-5, "internal_damping": 2e-3, "air_drag": 0.05, "thickness": 0.012,
        "self_collision": True,
    },
    "Demo": {
        "mode": ClothMode.SPRINGS, "columns": 22, "rows": 22, "width": 4.0, "height": 4.0,
        "placement": ClothPlacement.HANGING, "pins": PinPreset.CORNERS, "particle_mass": 1.0,
        "gravity": (0.0, -0.00981, 0.0), "substeps": 1,
        "structural_stiffness": 10.5, "shear_stiffness_spring": 0.25, "bend_stiffness_spring": 0.25,
        "structural_damping": 5.5e-3, "shear_damping": 0.25e-3, "bend_damping": 0.25e-3,
        "air_drag": 0.05, "normal_drag": 0.0, "tangent_drag": 0.0,
        "self_collision": False,
    },
}  # fmt: skip
TYPICAL = {
    "Silk (threads)": (0.06, 4e3, 15.0, 2.5e-6, 0.004),
    "Cotton (threads)": (0.12, 1e4, 40.0, 1e-5, 0.006),
    "Wool (threads)": (0.25, 6e3, 35.0, 1e-5, 0.01),
    "Denim (threads)": (0.4, 3e4, 150.0, 1.4e-4, 0.01),
    "Leather (threads)": (0.7, 5e4, 1.5e4, 1e-3, 0.01),
    "Rubber (threads)": (1.0, 1.5e3, 500.0, 1.7e-4, 0.012),
}
"""Density, stretch, shear and bending stiffness as of real fabrics, and thickness; leather and rubber of 1 mm.

The values are within the ranges of textile tests (KES-F), not of one table.
"""

PRESETS |= {
    name: {
        "solver": ClothSolving.LINES, "mode": ClothMode.MATERIAL, "density": density, "stretch_stiffness": stretch,
        "shear_stiffness": shear, "bend_stiffness": bend, "internal_damping": 1e-4, "air_drag": 0.1,
        "thickness": thickness, "self_collision": True,
    }
    for name, (density, stretch, shear, bend, thickness) in TYPICAL.items()
}  # fmt: skip
"""Presets. Materials for springs are of the order of textile tests (KES-F: weight, tensile, shear and
bending rigidity), softened along the threads so that a step of springs needs tens, not thousands, of substeps. "Demo"
is the soft sheet of the OpenGL cookbooks, of one kilogram a particle under a thousandth of gravity: ten of its steps
make a frame.
"""


def with_preset(settings: ClothSettings, name: str) -> ClothSettings:
    """Returns settings with a preset; raises KeyError for an unknown name."""
    return validated(settings, **PRESETS[name])


NEW_CLOTH = msgspec.structs.replace(
    ClothSettings(), solver=ClothSolving.LINES, density=0.12, stretch_stiffness=1e4, shear_stiffness=40.0,
    bend_stiffness=1e-5, substeps=24,
)  # fmt: skip
"""New cloths are of typical cotton, which springs could hold with hundreds of substeps only."""

FABRIC_FIELDS: tuple[str, ...] = (
    "solver", "mode", "density", "stretch_stiffness", "shear_stiffness", "bend_stiffness", "internal_damping",
    "particle_mass",
    "structural_stiffness", "shear_stiffness_spring", "bend_stiffness_spring", "structural_damping", "shear_damping",
    "bend_damping", "air_drag", "normal_drag", "tangent_drag", "thickness", "self_collision",
    "self_friction",
)  # fmt: skip
"""Settings of the fabric, not of the shape."""


_CHARACTER = 1.8
"""Extent of surroundings that suits the default sheet [m]."""

_SHEET = ("columns", "rows", "width", "height", "placement")
_MESH = ("mesh_path", "mesh_section", "pattern", "pattern_scale")
_GARMENT = tuple(record.name for record in params_of(ClothSettings) if record.declared.group == "Garment")


def new_cloth(place: AddPlace) -> Node:
    """Returns a cloth that hangs by two corners over the selection or the view, scaled to its size."""
    x, y, z = place.target
    if place.box is not None:
        y = float(place.box.hi[1])
    size = place.fitting(_CHARACTER)
    position = (x, max(y + 0.75 * size, 1.6 * size), z)
    # A smaller sheet falls and swings faster: its load grows with the inverse of its size.
    substeps = min(math.ceil(NEW_CLOTH.substeps * max(1.0, size**-0.5)), SUBSTEPS_MAX)
    settings = msgspec.structs.replace(with_lengths(NEW_CLOTH, size), substeps=substeps)
    return Node(id="", name="Cloth", transform=Transform(position=position), settings=settings)


def idle(node: Node) -> frozenset[str]:
    settings = node.settings
    assert isinstance(settings, ClothSettings)
    unused: dict[Collection[str], bool] = {
        _SHEET: settings.source is not ClothSource.GRID,
        _MESH: settings.source is not ClothSource.MESH,
        ("pattern_scale",): not settings.pattern,
        _GARMENT: settings.source is not ClothSource.GARMENT,
        _group("Springs"): settings.mode is ClothMode.MATERIAL,
        _group("Fabric") - {"mode"}: settings.mode is ClothMode.SPRINGS,
        ("solver", "rival"): settings.mode is ClothMode.SPRINGS,
        ("more_substeps",): not settings.has_lines,
        ("rival_substeps",): compared_settings(settings) is None,
        ("turbulence_scale", "turbulence_seed"): settings.turbulence == 0.0,
        ("self_friction",): not (settings.self_collision or settings.other_cloths),
        ("met_cloths",): not settings.other_cloths,
        ("driven_section",): not settings.driven_path,
        ("pin_bone",): settings.pin_target is not PinTarget.BONE,
        ("pin_sections",): not settings.pin_target.is_skin,
        ("colour", "texture"): settings.look in (ClothLook.STRAIN, ClothLook.SPRINGS),
    }
    return frozenset(name for names, is_unused in unused.items() if is_unused for name in names)


@functools.cache
def _group(title: str) -> frozenset[str]:
    return frozenset(record.name for record in params_of(ClothSettings) if record.declared.group == title)


def files_of(settings: Settings) -> tuple[FileUse, ...]:
    assert isinstance(settings, ClothSettings)
    mesh = (FileUse("mesh_path", settings.mesh_path, "mesh", is_needed=True),)
    image = (FileUse("texture", settings.texture, "texture"),)
    driven = (FileUse("driven_path", settings.driven_path, "mesh", without="{names} is drawn instead"),)
    drawn = (image if settings.texture else ()) + (driven if settings.driven_path else ())
    return (mesh if settings.source is ClothSource.MESH else ()) + drawn


def completed(before: Node, node: Node, scene: Scene) -> Node:
    """Attaches pins that follow a bone or a skin to the only character; the cloth does not move."""
    old, settings = before.settings, node.settings
    assert isinstance(old, ClothSettings)
    assert isinstance(settings, ClothSettings)
    characters = [other for other in scene.nodes if other.settings.is_character]
    if settings.pin_target in (PinTarget.WORLD, old.pin_target) or node.attachment.node or len(characters) != 1:
        return node
    attached = msgspec.structs.replace(node, attachment=Attachment(node=characters[0].id))
    # The parent is a character and not a bone, so no poses are needed.
    transform = relative_transform(node_matrix(node.transform), WorldTransforms(scene, {}).carrier(attached))
    return msgspec.structs.replace(attached, transform=transform)


def pairs(scene: Scene) -> tuple[tuple[NodeId, NodeId], ...]:
    """Returns the simulated cloths of which one collides with the other, by id."""
    found = set()
    for node in scene.nodes:
        settings = node.settings
        if isinstance(settings, ClothSettings) and settings.other_cloths and node.id in scene.simulated:
            chosen = scene.with_contents(settings.met_cloths)
            for other in scene.simulated_of_kind("cloth"):
                if other is not node and (not settings.met_cloths or other.id in chosen):
                    found.add((min(node.id, other.id), max(node.id, other.id)))
    return tuple(sorted(found))


def since(settings: Settings) -> int:
    assert isinstance(settings, ClothSettings)
    return 4 if settings.source is ClothSource.GARMENT or settings.pin_target is PinTarget.RIGID else 2


def unkeyable(_node: Node, part: str, field: str) -> str:
    if part == ClothSettings.kind and field in ("other_cloths", "met_cloths"):
        return "what a cloth collides with cannot change with time"
    return ""


def migrate(version: int, raw: dict[str, Any], nodes: Mapping[str, dict[str, Any]]) -> None:
    """Converts settings of version 1, which had the model of the pins among them."""
    if version == 1:
        carrier = raw["cloth"].pop("pin_node", "")
        if carrier and raw["cloth"].get("pin_target", "world") != "world":
            raw["attachment"] = {"node": carrier, "bone": ""}
            rebased(raw, nodes.get(carrier, {}))


CLOTH = Kind(
    name="cloth",
    label="Cloth",
    icon="mdi6.flag-variant-outline",
    hue="#0072b2",
    settings=ClothSettings,
    version=13,
    system="sinew.sim.kinds.cloth.system:ClothSystem",
    view="sinew.sim.kinds.cloth.view:ClothView",
    parts=(
        Adds(
            (
                AddEntry("cloth", "&Cloth", "Add a sheet of cloth.", new_cloth),
                *(
                    AddEntry(
                        one.value,
                        f"&{one.value.capitalize()}",
                        f"Dress the character in a {one.value}, with a collider of its skin.",
                        functools.partial(new_garment, one),
                        group="&Garment",
                        where=garment_place,
                        reason=garment_reason,
                    )
                    for one in Garment
                ),
            ),
            new=NEW_CLOTH,
        ),
        Presets("sinew-fabric", "fabrics", "a fabric", PRESETS, FABRIC_FIELDS),
        Form(
            idle=idle,
            choices={ClothSolving.LINES: "Threads"},
            unkeyable=unkeyable,
            panel="sinew.app.kinds.cloth.panel:ClothPanel",
        ),
        Files(files_of),
        Edits(completed=completed, migrate=migrate, since=since),
        Coupling(pairs=pairs),
    ),
)
