"""Constants of the equations of motion from settings.

A material is defined per metre of width and per square metre; the factors of the springs (see `grid` and `springs`)
hold the geometry, so the constants here do not depend on the resolution.

Bend springs of a material only push, and never harder than the polyline of two flaps resists being folded: chord 2a
cos(θ/2) and energy B θ² w / (2a) give a force of 2 B w / a² that hardly depends on the angle, which makes cloth buckle.
Source: K.-J. Choi, H.-S. Ko 2002, "Stable but responsive cloth", section 4.
"""

from dataclasses import dataclass

import numpy as np

from sinew.sim.kinds.cloth.settings import ClothMode, ClothSettings
from sinew.sim.maths.arrays import Float64

AIR_DENSITY = 1.225
"""Density of dry air at sea level and 15 °C [kg/m³]."""

UNLIMITED = 1e30
"""Value without limit, as a float32 that can be multiplied and compared without overflow."""

_FOLD = 16.0
"""Force limit of a bend spring over its stiffness, in B / (E L), see the factors of bend springs."""


@dataclass(frozen=True, slots=True)
class ClothConstants:
    """Constants of the equations of motion in SI units."""

    stiffness: Float64  # Of structural, shear and bend springs, to be multiplied by a spring's factor [N/m], shape (3,)
    damping: Float64  # The same for damping [N·s/m], shape (3,)
    fold: float  # Largest shortening of a bend spring that still adds force, times its rest length [m²]
    bend_pull: float  # Largest lengthening of a bend spring that still adds force [m]: 0, or unlimited
    mass_scale: float  # Mass of a particle for each unit of its share [kg/m²] or [kg]
    air_drag: float  # Relative loss of velocity [1/s]
    gravity: Float64  # shape (3,) [m/s²]
    wind: Float64  # Velocity of the air [m/s], shape (3,)
    # Half the density of air times the drag coefficients [kg/m³]
    normal_drag: float
    tangent_drag: float
    clearance: float  # Distance from colliders [m]
    stretch_limit: float  # Length over rest length at which the cloth is stopped
    pressure: float  # Towards the outside of the faces [Pa]


def constants_of(settings: ClothSettings) -> ClothConstants:
    material = settings.mode is ClothMode.MATERIAL
    stiffness, damping = _material_springs(settings) if material else _plain_springs(settings)
    fold = _FOLD * settings.bend_stiffness / max(settings.stretch_stiffness, 1e-30) if material else UNLIMITED
    return ClothConstants(
        stiffness=stiffness,
        damping=damping,
        fold=min(fold, UNLIMITED),
        bend_pull=0.0 if material else UNLIMITED,
        mass_scale=settings.density if material else settings.particle_mass,
        air_drag=settings.air_drag,
        gravity=np.array(settings.gravity),
        wind=np.array(settings.wind),
        normal_drag=0.5 * AIR_DENSITY * settings.normal_drag,
        tangent_drag=0.5 * AIR_DENSITY * settings.tangent_drag,
        clearance=0.5 * settings.thickness,
        stretch_limit=settings.stretch_limit,
        pressure=settings.pressure,
    )


def _material_springs(settings: ClothSettings) -> tuple[Float64, Float64]:
    bend = settings.stretch_stiffness if settings.bend_stiffness > 0.0 else 0.0
    stiffness = np.array([settings.stretch_stiffness, settings.shear_stiffness, bend])
    return stiffness, settings.internal_damping * stiffness


def _plain_springs(settings: ClothSettings) -> tuple[Float64, Float64]:
    stiffness = [settings.structural_stiffness, settings.shear_stiffness_spring, settings.bend_stiffness_spring]
    damping = [settings.structural_damping, settings.shear_damping, settings.bend_damping]
    return np.array(stiffness), np.array(damping)
