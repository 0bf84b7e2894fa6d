"""Which rows say nothing under the settings as they are; they are hidden and keep their values."""

import functools
from typing import Any

from sim.cloth_settings import ClothLook, ClothMode, ClothSettings, ClothSource, PinTarget
from sim.collider_settings import SIZES_OF_SHAPE, ColliderSettings
from sim.params import params_of

_SHEET = frozenset(("columns", "rows", "width", "height", "placement"))
_MESH = frozenset(("mesh_path", "mesh_section"))
_GUSTS = frozenset(("turbulence_scale", "turbulence_seed"))
_FABRIC_LOOK = frozenset(("colour", "texture"))


def hidden_rows(settings: Any) -> frozenset[str]:
    """Parameters of a settings value that have no effect now."""
    if isinstance(settings, ClothSettings):
        return _hidden_of_cloth(settings)
    if isinstance(settings, ColliderSettings):
        sizes = frozenset(name for names in SIZES_OF_SHAPE.values() for name in names)
        hidden = sizes - frozenset(SIZES_OF_SHAPE[settings.shape])
        return hidden if settings.bone_node or settings.bone else hidden | {"bone"}
    return frozenset()


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
