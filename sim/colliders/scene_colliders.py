from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sinew.sim.colliders.pack import ANY_ORDER, ColliderLayout, arranged, fixed_part, has_fixed_part_of, pack_colliders
from sinew.sim.colliders.skin import SceneSkins, SkinPlacement, SkinSurface
from sinew.sim.colliders.state import RIGID_SHAPES, ColliderPlacement, ColliderShape, ColliderState
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.maths.arrays import Float64
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import NodeId

Shapes = frozenset[ColliderShape]
ANY_SHAPE: Shapes = frozenset(RIGID_SHAPES)


@dataclass(frozen=True, slots=True)
class Colliders:
    """Colliders over one step; false if there are none besides skins."""

    texture: BufferTexture | None = None  # Records of `pack_colliders`; None without colliders
    count: int = 0
    layout: ColliderLayout = ANY_ORDER
    shapes: Shapes = ANY_SHAPE  # That occur after the planes at the front; kernels leave out the others
    skin: SkinSurface | None = None
    states: Sequence[ColliderState] = ()  # In the order of the records

    def __bool__(self) -> bool:
        return self.texture is not None and self.count > 0


NO_COLLIDERS = Colliders()


class _StaticLayout(NamedTuple):
    states: list[ColliderState]
    planes: int
    part: Float64
    shapes: Shapes


class SceneColliders(Owner):
    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._skins: SceneSkins | None = None
        self._records = self.owns(TexelBuffer(context, np.zeros((1, 4), np.float32), usage="stream", label="colliders"))
        self._last: Mapping[NodeId, ColliderPlacement] = {}
        self._fixed: _StaticLayout | None = None
        self.now = NO_COLLIDERS

    def advance(self, placements: Mapping[NodeId, ColliderPlacement | SkinPlacement]) -> Colliders:
        """Returns the colliders of a step from the placements of the last call to these."""
        placed = {node_id: one for node_id, one in placements.items() if isinstance(one, ColliderPlacement)}
        skins = {node_id: one for node_id, one in placements.items() if isinstance(one, SkinPlacement)}
        if skins and self._skins is None:
            self._skins = self.owns(SceneSkins(self._context, self._library))
        skin = self._skins.advance(skins) if self._skins is not None else None
        states, layout = arranged(colliders_over(self._last, placed))
        self._last = placed
        fixed = self._fixed
        if fixed is None or fixed.planes != layout.planes or not has_fixed_part_of(states, fixed.states):
            fixed = _StaticLayout(states, layout.planes, fixed_part(states), shapes_of(states, layout))
            self._fixed = fixed
        if states:
            self._records.buffer.orphan(pack_colliders(states, STEP_TIME, fixed.part).reshape(-1, 4))
        self.now = Colliders(self._records if states else None, len(states), layout, fixed.shapes, skin, states)
        return self.now

    def teleport(self, nodes: Collection[NodeId] | None = None) -> None:
        """Forgets placements, by default all, so that the next step of these colliders starts where it ends."""
        others = () if nodes is None else self._last.keys() - set(nodes)
        self._last = {node_id: self._last[node_id] for node_id in others}
        if self._skins is not None:
            self._skins.teleport(nodes)

    def reset(self) -> None:
        self.teleport()
        self.now = NO_COLLIDERS


def colliders_over(
    previous: Mapping[NodeId, ColliderPlacement], current: Mapping[NodeId, ColliderPlacement]
) -> list[ColliderState]:
    """Returns motions between two moments, in the order of `current`; new colliders do not move."""
    return [
        ColliderState(
            now.shape,
            now.size,
            previous.get(node_id, now).world_from_collider,
            now.world_from_collider,
            now.friction,
            now.restitution,
            now.yields,
        )
        for node_id, now in current.items()
    ]


def shapes_of(colliders: list[ColliderState], layout: ColliderLayout) -> Shapes:
    return frozenset(state.shape for state in colliders[layout.planes :])
