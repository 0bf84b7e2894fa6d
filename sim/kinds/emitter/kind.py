import functools
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from sinew.sim.kinds.contract import AddEntry, AddPlace, Adds, Coupling, Edits, Files, FileUse, Form, Kind, Presets
from sinew.sim.kinds.emitter.presets import PRESET_FIELDS, PRESETS, with_preset
from sinew.sim.kinds.emitter.settings import (
    SURFACE_SOURCES,
    Blending,
    CollisionResponse,
    EmissionAim,
    EmissionMode,
    EmitterSettings,
    EmitterSource,
    ParticleLook,
)
from sinew.sim.printable import titled
from sinew.sim.scene.params import Effect, Settings, param_of, with_lengths
from sinew.sim.scene.scene import Attachment, Node, node_part
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.world_transforms import rebased

ICON = "mdi6.creation-outline"

LIFTS: Mapping[str, float] = {"Snow": 3.5, "Fireworks": 3.0}
"""Height above the ground of effects that need space below them [m]."""

_CHARACTER = 1.8

_PLACES = frozenset(("source", "aim"))
"""Fields that a preset does not change for an emitter on a surface."""
_TURBULENCE = ("turbulence_scale", "turbulence_change", "turbulence_seed")
_ATTRACTOR = ("attractor", "attractor_radius")
_STEPPED_ONLY = (
    "turbulence", "attraction", "vortex", "vortex_axis", "substeps", "collision", "clearance", *_TURBULENCE,
    *_ATTRACTOR,
)  # fmt: skip
_ANGLES = ("yaw", "yaw_spread", "pitch", "pitch_spread")
_IMAGE = ("texture", "atlas_columns", "atlas_rows", "atlas_mode", "picture_turn")


def new_emitter(preset: str, place: AddPlace) -> Node:
    """Returns an emitter on the selected bone or character, else on the ground; "" is the default emitter."""
    settings = with_preset(EmitterSettings(), preset) if preset else EmitterSettings()
    size = 1.0 if place.attachment.node else place.fitting(_CHARACTER)
    settings = with_lengths(settings, size)
    name, character = titled(preset) or "Emitter", place.character
    if place.attachment.node:
        return Node(id="", name=name, attachment=place.attachment, settings=settings)
    if character is not None:
        settings = msgspec.structs.replace(settings, source=EmitterSource.FACES, aim=EmissionAim.OUTWARD)
        return Node(id="", name=name, attachment=Attachment(node=character.id), settings=settings)
    x, _, z = place.target
    return Node(
        id="", name=name, transform=Transform(position=(x, size * LIFTS.get(preset, 0.0), z)), settings=settings
    )


def where(place: AddPlace) -> str:
    if place.attachment.node:
        return f"(on bone {place.attachment.bone})"
    return "(on ground)" if place.character is None else f"(on surface of {place.character.name})"


def idle(node: Node) -> frozenset[str]:
    settings = node.settings
    assert isinstance(settings, EmitterSettings)
    unused: dict[Collection[str], bool] = {
        ("source_radius", "source_hollow"): settings.source not in (EmitterSource.SPHERE, EmitterSource.DISC),
        ("source_size",): settings.source not in (EmitterSource.BOX, EmitterSource.LINE),
        ("density_bone", "density_texture"): not settings.is_on_surface,
        ("cone_angle",): settings.aim is EmissionAim.ANGLES,
        _ANGLES: settings.aim is not EmissionAim.ANGLES,
        ("rate",): settings.mode is not EmissionMode.RATE,
        ("bursts",): settings.mode is EmissionMode.FULL,
        ("burst_period",): settings.mode is EmissionMode.FULL or not settings.bursts,
        _STEPPED_ONLY: settings.stateless,
        _TURBULENCE: settings.turbulence == 0.0,
        _ATTRACTOR: settings.attraction == 0.0 and settings.vortex == 0.0,
        ("vortex_axis",): settings.vortex == 0.0,
        ("clearance",): settings.collision is CollisionResponse.NONE,
        _IMAGE: settings.look is not ParticleLook.TEXTURED,
        ("streak_time",): settings.look is not ParticleLook.STREAK,
        ("softness",): settings.blending is Blending.OPAQUE,
    }
    return frozenset(name for names, is_unused in unused.items() if is_unused for name in names)


def files_of(settings: Settings) -> tuple[FileUse, ...]:
    assert isinstance(settings, EmitterSettings)
    image = settings.texture if settings.look is ParticleLook.TEXTURED else ""
    density = settings.density_texture if settings.is_on_surface else ""
    uses = (
        FileUse("texture", image, "texture", without="the particles of {names} are round spots instead"),
        FileUse("density_texture", density, "image", without="the surface emits everywhere for {names}"),
    )
    return tuple(use for use in uses if use.path)


def migrate(version: int, raw: dict[str, Any], nodes: Mapping[str, dict[str, Any]]) -> None:
    """Converts settings of version 1, which had mute, solo, parent model and bone among them."""
    if version == 1:
        part = raw["emitter"]
        for name in ("muted", "solo"):
            if name in part:
                raw[name] = part.pop(name)
        carrier, bone = part.pop("model_node", ""), part.pop("bone", "")
        if carrier and part.get("source") in [source.value for source in SURFACE_SOURCES]:
            raw["attachment"] = {"node": carrier, "bone": ""}
            rebased(raw, nodes.get(carrier, {}))
        elif carrier and bone:
            raw["attachment"] = {"node": carrier, "bone": bone}


def cached(settings: Settings) -> frozenset[str]:
    assert isinstance(settings, EmitterSettings)
    return _PLACES if settings.is_on_surface else frozenset()


BUILT_IN = {
    name: {field: getattr(made, field) for field in PRESET_FIELDS}
    for name, made in ((name, with_preset(EmitterSettings(), name)) for name in PRESETS)
}


def collides(settings: Settings) -> bool:
    assert isinstance(settings, EmitterSettings)
    return settings.collision is not CollisionResponse.NONE and not settings.stateless


def unkeyable(node: Node, part: str, field: str) -> str:
    settings = node.settings
    assert isinstance(settings, EmitterSettings)
    moves = part == "transform" or param_of(type(node_part(node, part)), field).declared.effect is Effect.STEP
    if settings.stateless and moves:
        return "a stateless emitter computes every moment from its present settings"
    return ""


EMITTER = Kind(
    name="emitter",
    label="Emitter",
    icon=ICON,
    hue="#d55e00",
    settings=EmitterSettings,
    version=2,
    system="sinew.sim.kinds.emitter.system:EmitterSystem",
    view="sinew.sim.kinds.emitter.view:EmitterView",
    parts=(
        Adds((
            AddEntry("emitter", "&Emitter", "Add an emitter of particles.", functools.partial(new_emitter, ""), ICON,
                     "&Emitter", where),
            *(
                AddEntry(
                    f"emitter.{name.lower().replace(' ', '-')}",
                    titled(name),
                    f"Add {name.lower()}, on the selected bone or model if there is one.",
                    functools.partial(new_emitter, name),
                    group="&Emitter",
                    where=where,
                )
                for name in PRESETS
            ),
        )),
        Presets("sinew-particles", "particles", "particles", BUILT_IN, PRESET_FIELDS, cached),
        Form(
            idle=idle,
            choices={
                EmissionMode.RATE: "Steady stream",
                EmissionMode.BURST: "Bursts only",
                EmissionAim.AXIS: "Along the axis",
            },
            unkeyable=unkeyable,
            panel="sinew.app.kinds.emitter.panel:EmitterPanel",
        ),
        Files(files_of),
        Edits(migrate=migrate),
        Coupling(collides=collides),
    ),
)  # fmt: skip
