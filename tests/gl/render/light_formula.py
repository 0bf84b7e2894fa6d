"""The light of shaders/viewport/light.glsl once more, in double precision."""

import numpy as np

from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.vectors import Vec3

SKY, GROUND = np.array([0.52, 0.58, 0.66]), np.array([0.24, 0.22, 0.20])
"""Ambient light from above and below at brightness 1."""


def linear_from_srgb(colour: np.ndarray) -> np.ndarray:
    encoded = np.asarray(colour, float)
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def srgb_from_linear(colour: np.ndarray) -> np.ndarray:
    bounded = np.maximum(colour, 0.0031308)
    return np.where(colour <= 0.0031308, 12.92 * colour, 1.055 * bounded ** (1.0 / 2.4) - 0.055)


def tone_mapped(light: np.ndarray) -> np.ndarray:
    over = np.maximum(light - 0.75, 0.0)
    return np.minimum(light, 0.75) + over / (1.0 + over / 0.25)


def roughness_of(shininess: float) -> float:
    return float(np.clip((2.0 / (shininess + 2.0)) ** 0.25, 0.15, 1.0))


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def _specular(normal: np.ndarray, to_light: np.ndarray, to_eye: np.ndarray, roughness: float) -> float:
    """GGX in the approximation of Karis 2013, without Fresnel."""
    halfway = _unit(to_light + to_eye)
    squared = roughness**4
    spread = max(normal @ halfway, 0.0) ** 2 * (squared - 1.0) + 1.0
    visible = max(max(to_light @ halfway, 0.0) ** 2, 0.1) * (roughness + 0.5)
    return squared / (4.0 * np.pi * spread**2 * visible)


def lit_colour(
    point: np.ndarray,
    normal: np.ndarray,
    eye: np.ndarray,
    lights: list[tuple[LightSettings, Vec3]],
    *,
    albedo: np.ndarray,
    specular: np.ndarray,
    roughness: float,
    ambient: float,
) -> np.ndarray:
    """sRGB colour, 0 to 255, of a surface point that no shadow reaches."""
    to_eye = _unit(eye - point)
    rim = (1.0 - max(normal @ to_eye, 0.0)) ** 4
    mirrored = 2.0 * (normal @ to_eye) * normal - to_eye
    around, seen = (GROUND + (SKY - GROUND) * (way[1] * 0.5 + 0.5) for way in (normal, mirrored))
    light = ambient * around * (albedo + (specular + 0.06) * rim) + ambient * seen * np.maximum(specular - 0.04, 0.0)
    for settings, place in lights:
        offset = np.asarray(place) - point
        to_light = _unit(offset)
        fall = settings.reach**2 / max(offset @ offset, 0.01 * settings.reach**2)
        direct = linear_from_srgb(settings.colour) * settings.intensity * fall * max(normal @ to_light, 0.0)
        light = light + direct * (albedo + specular * _specular(normal, to_light, to_eye, roughness) * np.pi)
    return 255.0 * srgb_from_linear(tone_mapped(light))
