"""Which rows say nothing under the settings as they are; they are hidden and keep their values."""

import functools
from typing import Any

from sim.kinds.cloth.settings import ClothLook, ClothMode, ClothSettings, ClothSource, PinTarget
from sim.kinds.collider.settings import SIZES_OF_SHAPE, ColliderSettings
from sim.kinds.emitter.emission import SURFACE_SOURCES, EmissionAim, EmissionMode, EmitterSource
from sim.kinds.emitter.settings import Blending, CollisionResponse, EmitterSettings, ParticleLook
from sim.scene.params import params_of

_SHEET = frozenset(("columns", "rows", "width", "height", "placement"))
_MESH = frozenset(("mesh_path", "mesh_section"))
_GUSTS = frozenset(("turbulence_scale", "turbulence_seed"))
_FABRIC_LOOK = frozenset(("colour", "texture"))
_ROUND_SOURCES = (EmitterSource.SPHERE, EmitterSource.DISC)
_LONG_SOURCES = (EmitterSource.BOX, EmitterSource.LINE)
_SWITCHES = frozenset(("muted", "solo"))
"""Buttons of the head show these."""
_WHIRLS = frozenset(("turbulence_scale", "turbulence_change", "turbulence_seed"))
_PULLS = frozenset(("attractor", "attractor_radius"))
_STEPPED_ONLY = frozenset(
    ("turbulence", "attraction", "vortex", "vortex_axis", "substeps", "collision", "clearance", *_WHIRLS, *_PULLS)
)
_ANGLES = frozenset(("yaw", "yaw_spread", "pitch", "pitch_spread"))
_PICTURE = frozenset(("texture", "atlas_columns", "atlas_rows", "atlas_mode", "picture_turn"))


def hidden_rows(settings: Any) -> frozenset[str]:
    """Parameters of a settings value that have no effect now."""
    if isinstance(settings, ClothSettings):
        return _hidden_of_cloth(settings)
    if isinstance(settings, ColliderSettings):
        sizes = frozenset(name for names in SIZES_OF_SHAPE.values() for name in names)
        hidden = sizes - frozenset(SIZES_OF_SHAPE[settings.shape])
        return hidden if settings.bone_node or settings.bone else hidden | {"bone"}
    return _hidden_of_emitter(settings) if isinstance(settings, EmitterSettings) else frozenset()


def _hidden_of_emitter(settings: EmitterSettings) -> frozenset[str]:
    return (
        _SWITCHES
        | _hidden_of_source(settings)
        | _hidden_of_emission(settings)
        | _hidden_of_motion(settings)
        | _hidden_of_look(settings)
    )


def _hidden_of_source(settings: EmitterSettings) -> frozenset[str]:
    hidden: set[str] = set()
    if settings.source not in _ROUND_SOURCES:
        hidden |= {"source_radius", "source_hollow"}
    if settings.source not in _LONG_SOURCES:
        hidden.add("source_size")
    if settings.source in SURFACE_SOURCES:
        hidden.add("bone")
    else:
        hidden |= {"density_bone", "density_texture"}
    if not settings.model_node:
        hidden |= {name for name in ("bone", "density_bone") if not getattr(settings, name)}
    return frozenset(hidden)


def _hidden_of_emission(settings: EmitterSettings) -> frozenset[str]:
    hidden = {"cone_angle"} if settings.aim is EmissionAim.ANGLES else set(_ANGLES)
    if settings.mode is not EmissionMode.RATE:
        hidden.add("rate")
    if settings.mode is EmissionMode.FULL:
        hidden |= {"bursts", "burst_period"}
    elif not settings.bursts:
        hidden.add("burst_period")
    return frozenset(hidden)


def _hidden_of_motion(settings: EmitterSettings) -> frozenset[str]:
    if settings.stateless:
        return _STEPPED_ONLY
    hidden: frozenset[str] = frozenset()
    if settings.turbulence == 0.0:
        hidden |= _WHIRLS
    if settings.attraction == 0.0 and settings.vortex == 0.0:
        hidden |= _PULLS
    if settings.vortex == 0.0:
        hidden |= {"vortex_axis"}
    if settings.collision is CollisionResponse.NONE:
        hidden |= {"clearance"}
    return hidden


def _hidden_of_look(settings: EmitterSettings) -> frozenset[str]:
    hidden = frozenset() if settings.look is ParticleLook.TEXTURED else _PICTURE
    if settings.look is not ParticleLook.STREAK:
        hidden |= {"streak_time"}
    # What is opaque hides or is hidden; nothing fades where it meets the scene.
    return hidden | {"softness"} if settings.blending is Blending.OPAQUE else hidden


def _hidden_of_cloth(settings: ClothSettings) -> frozenset[str]:
    hidden = _SHEET if settings.source is ClothSource.MESH else _MESH
    material = settings.mode is ClothMode.MATERIAL
    hidden |= _group("Springs") if material else _group("Fabric") - {"mode"}
    if settings.turbulence == 0.0:
        hidden |= _GUSTS
    if settings.pin_target is PinTarget.WORLD:
        hidden |= {"pin_node", "pin_bone"}
    elif settings.pin_target is PinTarget.SURFACE:
        hidden |= {"pin_bone"}
    if settings.look in (ClothLook.STRAIN, ClothLook.SPRINGS):
        hidden |= _FABRIC_LOOK
    return hidden


@functools.cache
def _group(title: str) -> frozenset[str]:
    return frozenset(record.name for record in params_of(ClothSettings) if record.declared.group == title)
