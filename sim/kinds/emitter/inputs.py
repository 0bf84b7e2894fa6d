"""What acts on an emitter during one step, beside its settings: its source, its surface, the colliders."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sim.gl.texture import BufferTexture
from sim.kinds.emitter.kernels import ANY_SHAPE, Shapes
from sim.solids.layout import ANY_ORDER, ColliderLayout

Float64 = npt.NDArray[np.float64]

IDENTITY = np.eye(4)


@dataclass(frozen=True, slots=True)
class SurfaceInput:
    """The skinned vertices of the model that emits, as texels.

    Attributes:
        vertices: At the end of the step.
        vertices_before: At its start; the same ones for a surface at rest.
        texels_per_vertex: 2 with position and normal, 3 with a tangent too.
    """

    vertices: BufferTexture
    vertices_before: BufferTexture
    texels_per_vertex: int = 2


@dataclass(frozen=True, slots=True)
class EmitterInputs:
    """What acts on an emitter during one step, beside its settings.

    Attributes:
        world_from_start: Frame of the source, or of the model whose surface emits, at the start of the step, (4, 4).
        world_from_end: The same at its end.
        colliders: Packed colliders that move over the step, or None.
        collider_count: How many.
        collider_layout: How they are arranged; the default is right for any order.
        collider_shapes: Which occur beside the planes in front, see `shapes_of`; fewer cost less.
        surface: For sources on a surface; without it they emit nothing.
        world_from_aim: What directions are relative to that do not follow the normals of a surface, shape (4, 4);
            `world_from_end` for None.
    """

    world_from_start: Float64 = field(default_factory=lambda: IDENTITY)
    world_from_end: Float64 = field(default_factory=lambda: IDENTITY)
    colliders: BufferTexture | None = None
    collider_count: int = 0
    collider_layout: ColliderLayout = ANY_ORDER
    collider_shapes: Shapes = ANY_SHAPE
    surface: SurfaceInput | None = None
    world_from_aim: Float64 | None = None


NO_INPUTS = EmitterInputs()
