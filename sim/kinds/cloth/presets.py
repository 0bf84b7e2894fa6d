"""Fabrics to begin with: names and the settings that they change.

The figures of the materials are of the order that textile testing finds (KES-F: weight, tensile, shear and bending
rigidity), softened along the threads so that a step needs tens, not thousands, of substeps.
"""

from typing import Any

from sim.kinds.cloth.settings import ClothMode, ClothPlacement, ClothSettings, PinPreset
from sim.scene.params import validated

PRESETS: dict[str, dict[str, Any]] = {
    "Silk": {
        "mode": ClothMode.MATERIAL, "density": 0.06, "stretch_stiffness": 150.0, "shear_stiffness": 8.0,
        "bend_stiffness": 2e-6, "internal_damping": 1e-4, "air_drag": 0.1, "thickness": 0.004,
        "self_collision": True,
    },
    "Cotton": {
        "mode": ClothMode.MATERIAL, "density": 0.15, "stretch_stiffness": 300.0, "shear_stiffness": 40.0,
        "bend_stiffness": 1e-5, "internal_damping": 1e-4, "air_drag": 0.1, "thickness": 0.006,
        "self_collision": True,
    },
    "Denim": {
        "mode": ClothMode.MATERIAL, "density": 0.4, "stretch_stiffness": 900.0, "shear_stiffness": 200.0,
        "bend_stiffness": 1e-4, "internal_damping": 2e-4, "air_drag": 0.2, "thickness": 0.01,
        "self_collision": True,
    },
    "Rubber": {
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
"""By name.  "Demo" is the soft sheet of the OpenGL cookbooks, of one kilogram a particle under a thousandth of gravity,
which makes ten of its steps in a frame."""


def with_preset(settings: ClothSettings, name: str) -> ClothSettings:
    """Settings with the fabric of a preset; KeyError for a name that there is not."""
    return validated(settings, **PRESETS[name])


FABRIC_FIELDS: tuple[str, ...] = (
    "mode", "density", "stretch_stiffness", "shear_stiffness", "bend_stiffness", "internal_damping", "particle_mass",
    "structural_stiffness", "shear_stiffness_spring", "bend_stiffness_spring", "structural_damping", "shear_damping",
    "bend_damping", "air_drag", "normal_drag", "tangent_drag", "thickness", "self_collision",
    "self_friction",
)  # fmt: skip
"""What a preset of one's own holds: the fabric, not the sheet."""
