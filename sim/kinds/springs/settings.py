"""Settings of spring bones, in the units of VRM."""

import functools
from typing import Annotated, ClassVar

import msgspec

from sinew.sim.kinds.air import field_weight_param
from sinew.sim.scene.params import Effect, Role, Scale, Settings, param
from sinew.sim.scene.vectors import STOP_MAX, Amounts, UnitFloat

SUBSTEPS_MAX = 64
FACTOR_MAX = 100.0
STRENGTH_MAX = 1000.0

Stop = tuple[UnitFloat, Annotated[float, msgspec.Meta(ge=0.0, le=FACTOR_MAX)]]
"""Factor at a place: the place along the chain from its first to its last bone, then the factor."""
Stops = tuple[Stop, ...]

_STOPS = msgspec.Meta(min_length=1, max_length=STOP_MAX)
_EVEN: Stops = ((0.0, 1.0), (1.0, 1.0))

_chains = functools.partial(param, group="Chains", effect=Effect.REBUILD)
_motion = functools.partial(param, group="Motion")
_file = functools.partial(param, group="Values of the file", lo=0.0, hi=FACTOR_MAX, soft=(0.0, 2.0))
_collision = functools.partial(param, group="Collision")
_curve = functools.partial(
    param, group="Along the chain", lo=0.0, hi=FACTOR_MAX, soft=(0.0, 2.0), role=Role.CURVE, bounded=False
)


class SpringBoneSettings(Settings, frozen=True, kw_only=True):
    """Settings of bones that swing as the character moves."""

    kind: ClassVar[str] = "springs"

    from_file: Annotated[bool, _chains(
        "Use the chains, values and colliders of the model's file, for instance of VRM.", label="Use the file's",
    )] = False  # fmt: skip
    roots: Annotated[str, _chains(
        "Bones where chains begin, separated by semicolons; every bone below them swings.", label="Root bones",
    )] = ""  # fmt: skip
    end_bones: Annotated[str, _chains(
        "Bones where chains end, separated by semicolons; they follow the bone above and do not swing themselves.",
    )] = ""  # fmt: skip
    tail_length: Annotated[float, _chains(
        "Length of a last bone, which has no bone below that shows it; at 0 last bones do not swing.", unit="m",
        lo=0.0, hi=1e3, soft=(0.0, 0.5), step=0.01,
    )] = 0.07  # fmt: skip
    center: Annotated[str, _chains(
        "Bone whose motion the chains do not feel, for instance the hips; empty for none.", label="Center bone",
        role=Role.BONE,
    )] = ""  # fmt: skip

    stiffness: Annotated[float, _motion(
        "Pull towards the direction of the animation, in the unit of VRM: 60 m/s² each.", lo=0.0, hi=STRENGTH_MAX,
        soft=(0.0, 4.0), step=0.05,
    )] = 1.0  # fmt: skip
    gravity: Annotated[float, _motion(
        "Strength of gravity in the unit of VRM, 60 m/s² each: 0.1635 is 9.81 m/s².", lo=0.0, hi=STRENGTH_MAX,
        soft=(0.0, 2.0), step=0.01,
    )] = 0.1  # fmt: skip
    direction: Annotated[Amounts, _motion(
        "Direction of gravity in the world; its length is a factor of the strength.", lo=-1e6, hi=1e6, step=0.1,
        bounded=False,
    )] = (0.0, -1.0, 0.0)  # fmt: skip
    drag: Annotated[float, _motion(
        "Part of the velocity that is lost in a step of 1/60 s.", lo=0.0, hi=1.0, step=0.05,
    )] = 0.4  # fmt: skip
    substeps: Annotated[int, _motion(
        "Substeps of a step; more follow fast motion better, and change the motion.", lo=1, hi=SUBSTEPS_MAX,
        soft=(1, 8),
    )] = 1  # fmt: skip
    field_weight: Annotated[float, field_weight_param(group="Motion")] = 1.0

    stiffness_factor: Annotated[float, _file("Factor of the stiffness.", label="Stiffness")] = 1.0
    gravity_factor: Annotated[float, _file("Factor of the gravity.", label="Gravity")] = 1.0
    drag_factor: Annotated[float, _file("Factor of the drag.", label="Drag")] = 1.0
    radius_factor: Annotated[float, _file("Factor of the radius of the bones.", label="Radius")] = 1.0

    collide: Annotated[bool, _collision("Collide with the colliders of the scene.")] = True
    radius: Annotated[float, _collision(
        "Radius of a bone at its tip, in collisions.", unit="m", lo=0.0, hi=1e3, soft=(0.001, 0.2), scale=Scale.LINEAR,
    )] = 0.02  # fmt: skip

    stiffness_curve: Annotated[Stops, _STOPS, _curve(
        "Factor of the stiffness from the first to the last bone of a chain.", label="Stiffness",
    )] = _EVEN  # fmt: skip
    gravity_curve: Annotated[Stops, _STOPS, _curve(
        "Factor of the gravity from the first to the last bone of a chain.", label="Gravity",
    )] = _EVEN  # fmt: skip
    drag_curve: Annotated[Stops, _STOPS, _curve(
        "Factor of the drag from the first to the last bone of a chain.", label="Drag",
    )] = _EVEN  # fmt: skip
    radius_curve: Annotated[Stops, _STOPS, _curve(
        "Factor of the radius from the first to the last bone of a chain.", label="Radius",
    )] = _EVEN  # fmt: skip
