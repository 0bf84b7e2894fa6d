"""SceneSolids: all that particles of any kind collide with, followed from step to step and packed for their kernels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.texture import BufferTexture
from sim.scene.clock import STEP_TIME
from sim.scene.scene import NodeId
from sim.solids.layout import ANY_ORDER, SolidLayout, arranged
from sim.solids.pack import fixed_part, has_fixed_part_of, pack_solids
from sim.solids.state import Placement, Solid, SolidShape

Float64 = npt.NDArray[np.float64]
Shapes = frozenset[SolidShape]
ANY_SHAPE: Shapes = frozenset(SolidShape)


@dataclass(frozen=True, slots=True)
class Solids:
    """Solids over one step.

    Attributes:
        texture: As `pack_solids` packs them; None where there are none.
        count: How many.
        layout: How they are arranged; the default is right for any order.
        shapes: Which occur beside the planes in front; fewer cost less.
    """

    texture: BufferTexture | None = None
    count: int = 0
    layout: SolidLayout = ANY_ORDER
    shapes: Shapes = ANY_SHAPE

    def __bool__(self) -> bool:
        return self.texture is not None and self.count > 0


NO_SOLIDS = Solids()


class _Fixed(NamedTuple):
    """What no motion changes of solids in their order, as long as so many at the front are level planes."""

    states: list[Solid]
    planes: int
    part: Float64
    shapes: Shapes


class SceneSolids:
    """Follows the solids of a scene.

    Attributes:
        now: Those of the step done last.
    """

    def __init__(self, context: Context) -> None:
        self._buffer = Buffer(context, np.zeros((1, 4), np.float32), usage="stream", label="solids")
        self._texture = BufferTexture(context, self._buffer, "rgba32f", label="solids")
        self._last: Mapping[NodeId, Placement] = {}
        self._fixed: _Fixed | None = None
        self.now = NO_SOLIDS

    def advance(self, placed: Mapping[NodeId, Placement]) -> Solids:
        """Solids over the step that ends with these placements; it begins where the call before left them."""
        states, layout = arranged(solids_over(self._last, placed))
        self._last = placed
        fixed = self._fixed
        if fixed is None or fixed.planes != layout.planes or not has_fixed_part_of(states, fixed.states):
            fixed = _Fixed(states, layout.planes, fixed_part(states), shapes_of(states, layout))
            self._fixed = fixed
        if states:
            self._buffer.orphan(pack_solids(states, STEP_TIME, fixed.part).reshape(-1, 4))
        self.now = Solids(self._texture if states else None, len(states), layout, fixed.shapes)
        return self.now

    def jump(self) -> None:
        """Time or the scene jumped: the next step begins where it ends."""
        self._last = {}

    def reset(self) -> None:
        self.jump()
        self.now = NO_SOLIDS

    def release(self) -> None:
        self._texture.release()
        self._buffer.release()


def solids_over(previous: Mapping[NodeId, Placement], current: Mapping[NodeId, Placement]) -> list[Solid]:
    """Motion of every solid from one moment to the next, in the order of `current`.

    One that was not there before stands still.
    """
    return [
        Solid(
            now.shape,
            now.size,
            previous.get(node_id, now).world_from_solid,
            now.world_from_solid,
            now.friction,
            now.restitution,
        )
        for node_id, now in current.items()
    ]


def shapes_of(solids: list[Solid], layout: SolidLayout) -> Shapes:
    return frozenset(solid.shape for solid in solids[layout.planes :])
