"""SceneSolids: all that particles of any kind collide with, followed from step to step and packed for their kernels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.colliders.pack import ANY_ORDER, ColliderLayout, arranged, fixed_part, has_fixed_part_of, pack_colliders
from sim.colliders.state import ColliderPlacement, ColliderShape, ColliderState
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.texture import BufferTexture
from sim.scene.clock import STEP_TIME
from sim.scene.scene import NodeId

Float64 = npt.NDArray[np.float64]


Shapes = frozenset[ColliderShape]
ANY_SHAPE: Shapes = frozenset(ColliderShape)


@dataclass(frozen=True, slots=True)
class Colliders:
    """Solids over one step.

    Attributes:
        texture: As `pack_colliders` packs them; None where there are none.
        count: How many.
        layout: How they are arranged; the default is right for any order.
        shapes: Which occur beside the planes in front; fewer cost less.
    """

    texture: BufferTexture | None = None
    count: int = 0
    layout: ColliderLayout = ANY_ORDER
    shapes: Shapes = ANY_SHAPE

    def __bool__(self) -> bool:
        return self.texture is not None and self.count > 0


NO_COLLIDERS = Colliders()


class _StaticLayout(NamedTuple):
    """What no motion changes of solids in their order, as long as so many at the front are level planes."""

    states: list[ColliderState]
    planes: int
    part: Float64
    shapes: Shapes


class SceneColliders:
    """Follows the solids of a scene.

    Attributes:
        now: Those of the step done last.
    """

    def __init__(self, context: Context) -> None:
        self._buffer = Buffer(context, np.zeros((1, 4), np.float32), usage="stream", label="colliders")
        self._texture = BufferTexture(context, self._buffer, "rgba32f", label="colliders")
        self._last: Mapping[NodeId, ColliderPlacement] = {}
        self._fixed: _StaticLayout | None = None
        self.now = NO_COLLIDERS

    def advance(self, placed: Mapping[NodeId, ColliderPlacement]) -> Colliders:
        """Solids over the step that ends with these placements; it begins where the call before left them."""
        states, layout = arranged(colliders_over(self._last, placed))
        self._last = placed
        fixed = self._fixed
        if fixed is None or fixed.planes != layout.planes or not has_fixed_part_of(states, fixed.states):
            fixed = _StaticLayout(states, layout.planes, fixed_part(states), shapes_of(states, layout))
            self._fixed = fixed
        if states:
            self._buffer.orphan(pack_colliders(states, STEP_TIME, fixed.part).reshape(-1, 4))
        self.now = Colliders(self._texture if states else None, len(states), layout, fixed.shapes)
        return self.now

    def teleport(self) -> None:
        """Time or the scene jumped: the next step begins where it ends."""
        self._last = {}

    def reset(self) -> None:
        self.teleport()
        self.now = NO_COLLIDERS

    def release(self) -> None:
        self._texture.release()
        self._buffer.release()


def colliders_over(
    previous: Mapping[NodeId, ColliderPlacement], current: Mapping[NodeId, ColliderPlacement]
) -> list[ColliderState]:
    """Motion of every solid from one moment to the next, in the order of `current`.

    One that was not there before stands still.
    """
    return [
        ColliderState(
            now.shape,
            now.size,
            previous.get(node_id, now).world_from_collider,
            now.world_from_collider,
            now.friction,
            now.restitution,
        )
        for node_id, now in current.items()
    ]


def shapes_of(colliders: list[ColliderState], layout: ColliderLayout) -> Shapes:
    return frozenset(solid.shape for solid in colliders[layout.planes :])
