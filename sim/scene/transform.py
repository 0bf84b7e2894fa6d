"""Placement of a node in the world."""

from typing import Annotated

import msgspec

from sim.scene.params import Effect, param
from sim.scene.vectors import Vec3


class Transform(msgspec.Struct, frozen=True, kw_only=True):
    """Placement of a node in the world: scale, then rotation about x, y, z in turn, then translation."""

    position: Annotated[Vec3, param("Position of the node.", unit="m", effect=Effect.VIEW, step=0.01)] = (
        0.0,
        0.0,
        0.0,
    )
    rotation: Annotated[
        Vec3,
        param("Turn about the x, then y, then z axis of the world.", unit="°", effect=Effect.VIEW, step=1.0),
    ] = (0.0, 0.0, 0.0)
    scale: Annotated[Vec3, param("Scale along the axes of the node.", effect=Effect.VIEW, step=0.01)] = (
        1.0,
        1.0,
        1.0,
    )
