import functools
from typing import Annotated

import msgspec
import numpy as np

from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.transform import compose
from sinew.sim.scene.params import Effect, param
from sinew.sim.scene.vectors import FAR, MOST, Amounts, Place


class Transform(msgspec.Struct, frozen=True, kw_only=True):
    """Scale, then rotation about x, y, z in turn, then translation, relative to the parent."""

    position: Annotated[
        Place, param("Position of the node.", unit="m", lo=-FAR, hi=FAR, effect=Effect.VIEW, step=0.01, bounded=False)
    ] = (0.0, 0.0, 0.0)
    rotation: Annotated[
        Amounts,
        param("Rotation about the x, then y, then z axis of the world.", unit="°", lo=-MOST, hi=MOST,
              effect=Effect.VIEW, step=1.0, bounded=False),
    ] = (0.0, 0.0, 0.0)  # fmt: skip
    scale: Annotated[
        Amounts,
        param("Scale along the axes of the node.", lo=-MOST, hi=MOST, effect=Effect.VIEW, step=0.01,
              bounded=False),
    ] = (1.0, 1.0, 1.0)  # fmt: skip


@functools.lru_cache(maxsize=1024)
def node_matrix(transform: Transform) -> Float64:
    """Returns parent_from_node (4, 4), read-only; cached, because nodes seldom move."""
    matrix = compose(
        np.asarray(transform.position, dtype=np.float64),
        quaternion.from_euler_degrees(transform.rotation),
        np.asarray(transform.scale, dtype=np.float64),
    )
    matrix.flags.writeable = False
    return matrix


@functools.lru_cache(maxsize=1024)
def rigid_matrix(transform: Transform, scale: float = 1.0) -> Float64:
    """Returns the matrix without the scale of the node, its position times the parent's scale; read-only."""
    matrix = compose(
        scale * np.asarray(transform.position, dtype=np.float64),
        quaternion.from_euler_degrees(transform.rotation),
        np.ones(3),
    )
    matrix.flags.writeable = False
    return matrix
