"""SourceFollower: moves the source of an emitter with its node, its bone, or the model whose surface emits."""

import numpy as np
import numpy.typing as npt

from sim.kinds.cloth.scene_cloths import Figures
from sim.kinds.collider.place import world_from_parent
from sim.kinds.emitter.inputs import EmitterInputs
from sim.kinds.emitter.source import emits_from_surface, rides_on_bone
from sim.kinds.model.character import Character
from sim.maths.transform import node_matrix
from sim.scene.scene import Node, Scene
from sim.skin.trail import SurfaceTrail
from sim.solids.scene_solids import Solids

Float64 = npt.NDArray[np.float64]


class SourceFollower:
    """Frames of a source from step to step; each begins where the one before ended.

    What is taken from one carrier to another, and what follows a jump in time, begins where it ends.
    """

    def __init__(self) -> None:
        self._last: Float64 | None = None
        self._node: Node | None = None
        self._own: Float64 = np.eye(4)
        self._carrier: tuple[Character | None, str] = (None, "")

    def jump(self) -> None:
        """Time jumped: the next step begins where it ends, so that nothing is born with the speed of the jump."""
        self._last = None

    def inputs(
        self, scene: Scene, node: Node, figures: Figures, trail: SurfaceTrail | None, solids: Solids
    ) -> EmitterInputs:
        """What acts on an emitter during the step that ends with the figures as they stand now."""
        end = self._frame(scene, node, figures, trail)
        start = end if self._last is None else self._last
        self._last = end
        return EmitterInputs(
            world_from_start=start,
            world_from_end=end,
            colliders=solids.texture,
            collider_count=solids.count,
            collider_layout=solids.layout,
            collider_shapes=solids.shapes,
            surface=None if trail is None else trail.motion(),
            world_from_aim=None if trail is None else self._own,
        )

    def rest(self, scene: Scene, node: Node, figures: Figures, trail: SurfaceTrail | None) -> EmitterInputs:
        """What the formula of time alone takes: the source as it is now, without a motion."""
        frame = self._frame(scene, node, figures, trail)
        if trail is None:
            return EmitterInputs(frame, frame)
        return EmitterInputs(frame, frame, surface=trail.rest(), world_from_aim=self._own)

    def _frame(self, scene: Scene, node: Node, figures: Figures, trail: SurfaceTrail | None) -> Float64:
        """World from the source now; the very same array while nothing moves it."""
        settings = node.emitter
        assert settings is not None
        if node is not self._node:
            self._node, self._own = node, node_matrix(node.transform)
        carrier = trail.figure if trail else figures.get(settings.model_node) if rides_on_bone(settings) else None
        bone = settings.bone if carrier is not None and not emits_from_surface(settings) else ""
        if self._carrier != (carrier, bone):
            self._carrier = carrier, bone
            self.jump()
        if trail is not None:
            return trail.figure.world_from_model
        return self._own if carrier is None else world_from_parent(scene, figures, node) @ self._own
