"""The colliders of a scene as the steps of cloths and emitters take them: followed, arranged, packed, on the GPU."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.texture import BufferTexture
from sim.kinds.collider.place import ColliderTrack, Figure
from sim.kinds.emitter.kernels import Shapes, shapes_of
from sim.scene.clock import STEP_TIME
from sim.scene.scene import NodeId, Scene
from sim.solids.layout import ANY_ORDER, ColliderLayout, arranged
from sim.solids.pack import pack_colliders


@dataclass(frozen=True, slots=True)
class Solids:
    """Colliders over one step.

    Attributes:
        texture: As `pack_colliders` packs them; None where there are none.
        count: How many.
        layout: How they are arranged.
        shapes: Which occur beside the planes in front.
    """

    texture: BufferTexture | None = None
    count: int = 0
    layout: ColliderLayout = ANY_ORDER
    shapes: Shapes = frozenset()


class SceneColliders:
    """Follows the colliders of a scene from step to step.

    Attributes:
        texture: Those of the step done last, as `pack_colliders` packs them.
        count: How many.
    """

    def __init__(self, context: Context) -> None:
        self._track = ColliderTrack()
        self._buffer = Buffer(context, np.zeros((1, 4), np.float32), usage="stream", label="colliders")
        self.texture = BufferTexture(context, self._buffer, "rgba32f", label="colliders")
        self.count = 0

    def advance(self, scene: Scene, figures: Mapping[NodeId, Figure]) -> Solids:
        """Colliders over the step that ends with the figures as they stand now."""
        states, layout = arranged(self._track.advance(scene, figures))
        self.count = len(states)
        if not states:
            return Solids(layout=layout)
        self._buffer.orphan(pack_colliders(states, STEP_TIME).reshape(-1, 4))
        return Solids(self.texture, self.count, layout, shapes_of(states, layout))

    def jump(self) -> None:
        """Time or the scene jumped: the next step begins where it ends."""
        self._track.jump()

    def take_warnings(self) -> list[str]:
        """Lines about bones and models that are not there, since the last call."""
        warnings = list(self._track.warnings)
        self._track.warnings.clear()
        return warnings

    def release(self) -> None:
        """Delete the buffer; may be called twice."""
        self.texture.release()
        self._buffer.release()
