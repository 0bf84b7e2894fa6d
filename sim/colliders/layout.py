"""The order of colliders that the cloth kernel is fastest with: planes, then a few ellipsoids, then all others."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.colliders.motion import motion_of
from sim.colliders.state import ColliderShape, ColliderState

PLANES_MAX = 4
OVALS_MAX = 2
"""More ellipsoids than this are searched for what is near, like the others."""


@dataclass(frozen=True, slots=True)
class ColliderLayout:
    """What the kernel may take for granted of a list of colliders.

    Attributes:
        planes: How many at the front are planes that do not turn.
        ovals: How many after them are ellipsoids.
        still: Whether none moves over the step.
    """

    planes: int = 0
    ovals: int = 0
    still: bool = False

    @property
    def defines(self) -> dict[str, object]:
        return {
            "PLANES": str(self.planes),
            "OVALS": str(self.ovals),
            "COLLIDE_STILL": self.still,
            "COLLIDE_NEAR": True,
        }


ANY_ORDER = ColliderLayout()


def arranged(states: Sequence[ColliderState]) -> tuple[list[ColliderState], ColliderLayout]:
    """The colliders in the best order, and what that order is; otherwise they keep theirs."""
    planes = [state for state in states if _is_level(state)][:PLANES_MAX]
    ovals = [state for state in states if state.shape is ColliderShape.ELLIPSOID]
    ovals = ovals if len(ovals) <= OVALS_MAX else []
    front = {id(state) for state in (*planes, *ovals)}
    others = [state for state in states if id(state) not in front]
    still = all(np.array_equal(state.world_from_start, state.world_from_end) for state in states)
    return [*planes, *ovals, *others], ColliderLayout(len(planes), len(ovals), still)


def _is_level(state: ColliderState) -> bool:
    if state.shape is not ColliderShape.PLANE:
        return False
    start, end = state.world_from_start, state.world_from_end
    return np.array_equal(start[:3, :3], end[:3, :3]) or not motion_of(state).angle.any()
