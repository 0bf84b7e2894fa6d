"""What acts on an emitter during one step, beside its settings: its source, its surface, the colliders."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sim.colliders.scene_colliders import NO_COLLIDERS, Colliders
from sim.skin.trail import SurfaceInput

Float64 = npt.NDArray[np.float64]

IDENTITY = np.eye(4)


@dataclass(frozen=True, slots=True)
class EmitterInputs:
    """What acts on an emitter during one step, beside its settings.

    Attributes:
        world_from_start: Frame of the source, or of the model whose surface emits, at the start of the step, (4, 4).
        world_from_end: The same at its end.
        colliders: What particles collide with, over the step.
        surface: For sources on a surface; without it they emit nothing.
        world_from_aim: What directions are relative to that do not follow the normals of a surface, shape (4, 4);
            `world_from_end` for None.
    """

    world_from_start: Float64 = field(default_factory=lambda: IDENTITY)
    world_from_end: Float64 = field(default_factory=lambda: IDENTITY)
    colliders: Colliders = NO_COLLIDERS
    surface: SurfaceInput | None = None
    world_from_aim: Float64 | None = None


NO_INPUTS = EmitterInputs()
