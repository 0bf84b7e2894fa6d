"""What a cloth is made of, in pictures and in files."""

from pathlib import Path

from sim.assets.model import Material
from sim.kinds.cloth.settings import ClothSettings
from sim.maths.srgb import light_of


def fabric(settings: ClothSettings, *, textured: bool) -> Material:
    """The material of a cloth, whose texture takes the place of its colour where there is one."""
    path = Path(settings.texture) if textured else None
    return Material(
        "fabric", path.name if path else None, path,
        diffuse=(1.0, 1.0, 1.0) if textured else light_of(settings.colour), specular=(0.02, 0.02, 0.02), shininess=8.0,
    )  # fmt: skip
