"""MToon materials of VRM 1.0, and of VRM 0.x in terms of 1.0."""

import math
from collections.abc import Sequence

import msgspec

from sinew.sim.assets.gltf.document import Mtoon, TextureInfo, Vec3
from sinew.sim.assets.gltf.vrm_document import MaterialProperties
from sinew.sim.assets.model import Toon
from sinew.sim.maths.srgb import light_of

OLD_SHADER = "VRM/MToon"
TOONY_MAX = 0.9999
"""Maximum value of `toony`, as an edge between light and shade without a width cannot be divided by."""

_BRIGHTEST = 1e3
_SMALLEST_POWER = 1e-5
_LIFT_MAX = 100.0


def mtoon_of_old(old: MaterialProperties, base: TextureInfo | None) -> Mtoon:
    """Converts a material of VRM 0.x with colours in sRGB; its textures share the coordinates of the base texture.

    Source: the migration of UniVRM, which draws the same with both versions.
    """
    numbers = old.float_properties
    low = numbers.get("_ShadeShift", 0.0)
    high = 1.0 + (low - 1.0) * numbers.get("_ShadeToony", 0.9)

    def texture(name: str) -> TextureInfo | None:
        index = old.texture_properties.get(name, -1)
        if index < 0:
            return None
        return TextureInfo(index) if base is None else msgspec.structs.replace(base, index=index)

    return Mtoon(
        shade_color_factor=_linear(old.vector_properties.get("_ShadeColor"), (1.0, 1.0, 1.0)),
        shade_multiply_texture=texture("_ShadeTexture"),
        shading_shift_factor=-(high + low) / 2.0,
        shading_toony_factor=1.0 - (high - low) / 2.0,
        gi_equalization_factor=1.0 - numbers.get("_IndirectLightIntensity", 0.1),
        matcap_texture=texture("_SphereAdd"),
        parametric_rim_color_factor=_linear(old.vector_properties.get("_RimColor"), (0.0, 0.0, 0.0)),
        parametric_rim_fresnel_power_factor=numbers.get("_RimFresnelPower", 1.0),
        parametric_rim_lift_factor=numbers.get("_RimLift", 0.0),
        rim_multiply_texture=texture("_RimTexture"),
        rim_lighting_mix_factor=numbers.get("_RimLightingMix", 0.0),
        outline_width_mode="none" if numbers.get("_OutlineWidthMode", 0.0) == 0.0 else "worldCoordinates",
        outline_width_factor=numbers.get("_OutlineWidth", 0.0),
        uv_animation_scroll_x_speed_factor=numbers.get("_UvAnimScrollX", 0.0),
        uv_animation_scroll_y_speed_factor=numbers.get("_UvAnimScrollY", 0.0),
        uv_animation_rotation_speed_factor=numbers.get("_UvAnimRotation", 0.0),
    )


def toon_of(stored: Mtoon, warnings: list[str]) -> Toon:
    left_out = {
        "outlines": stored.outline_width_mode != "none" and stored.outline_width_factor > 0.0,
        "moving texture coordinates": bool(
            stored.uv_animation_scroll_x_speed_factor
            or stored.uv_animation_scroll_y_speed_factor
            or stored.uv_animation_rotation_speed_factor
        ),
        "images that shift the shade": stored.shading_shift_texture is not None,
    }
    for what, is_there in left_out.items():
        if is_there:
            warnings.append(f"MToon materials are drawn without their {what}.")
    return Toon(
        shade=_bounded(stored.shade_color_factor, 1.0),
        shift=_between(stored.shading_shift_factor, -1.0, 1.0),
        toony=_between(stored.shading_toony_factor, 0.0, TOONY_MAX),
        equalization=_between(stored.gi_equalization_factor, 0.0, 1.0),
        rim=_bounded(stored.parametric_rim_color_factor, _BRIGHTEST),
        rim_power=_between(stored.parametric_rim_fresnel_power_factor, _SMALLEST_POWER, _BRIGHTEST),
        rim_lift=_between(stored.parametric_rim_lift_factor, -_LIFT_MAX, _LIFT_MAX),
        rim_mix=_between(stored.rim_lighting_mix_factor, 0.0, 1.0),
        matcap=_bounded(stored.matcap_factor, _BRIGHTEST),
    )


def _linear(stored: Sequence[float] | None, default: Vec3) -> Vec3:
    if stored is None or len(stored) < 3:
        return default
    return light_of(_bounded((stored[0], stored[1], stored[2]), _BRIGHTEST))


def _bounded(colour: Vec3, highest: float) -> Vec3:
    red, green, blue = (_between(part, 0.0, highest) for part in colour)
    return red, green, blue


def _between(value: float, lowest: float, highest: float) -> float:
    return min(max(value, lowest), highest) if math.isfinite(value) else lowest
