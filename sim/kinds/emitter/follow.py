"""SourceFollower: moves the source of an emitter with its node, what that rides on, or the model that emits."""

import numpy as np
import numpy.typing as npt

from sim.colliders.scene_colliders import Colliders
from sim.kinds.contract import World
from sim.kinds.emitter.inputs import EmitterInputs
from sim.scene.scene import Attachment, Node
from sim.scene.transform import node_matrix
from sim.skin.trail import SurfaceTrail

Float64 = npt.NDArray[np.float64]


class SourceFollower:
    """Frames of a source from step to step; each begins where the one before ended.

    What is taken from one carrier to another, and what follows a jump in time, begins where it ends.
    """

    def __init__(self) -> None:
        self._last: Float64 | None = None
        self._node: Node | None = None
        self._own: Float64 = np.eye(4)
        self._carrier: tuple[object, Attachment] = (None, Attachment())

    def teleport(self) -> None:
        """Time jumped: the next step begins where it ends, so that nothing is born with the speed of the jump."""
        self._last = None

    def inputs(self, node: Node, world: World, trail: SurfaceTrail | None, colliders: Colliders) -> EmitterInputs:
        """What acts on an emitter during the step that ends with the figures as they stand now."""
        end = self._frame(node, world, trail)
        start = end if self._last is None else self._last
        self._last = end
        surface, aim = (None, None) if trail is None else (trail.motion(), self._aim(node, world))
        return EmitterInputs(start, end, colliders, surface, aim)

    def rest(self, node: Node, world: World, trail: SurfaceTrail | None) -> EmitterInputs:
        """What the formula of time alone takes: the source as it is now, without a motion."""
        frame = self._frame(node, world, trail)
        if trail is None:
            return EmitterInputs(frame, frame)
        return EmitterInputs(frame, frame, surface=trail.rest(), world_from_aim=self._aim(node, world))

    def settle(self, node: Node, world: World, trail: SurfaceTrail | None) -> None:
        """A step that ended with the figures as they stand now was restored."""
        self._last = self._frame(node, world, trail)

    def _frame(self, node: Node, world: World, trail: SurfaceTrail | None) -> Float64:
        """World from the source now; the very same array while nothing moves it."""
        if node is not self._node:
            self._node, self._own = node, node_matrix(node.transform)
        carrier = (world.characters.get(node.attachment.node), node.attachment)
        if self._carrier != carrier:
            self._carrier = carrier
            self.teleport()
        if trail is not None:
            return trail.character.world_from_model
        return world.places.world_from_parent(node) @ self._own if node.attachment.node else self._own

    def _aim(self, node: Node, world: World) -> Float64:
        """Axes of the directions that do not follow the normals of a surface."""
        return world.places.world_from_node(node)
