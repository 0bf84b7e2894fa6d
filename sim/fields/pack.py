from collections.abc import Sequence

import numpy as np

from sinew.sim.fields.state import FieldPlacement, FieldType
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float32

FIELD_TEXELS = 6
SMALLEST_FALLOFF = 1e-6

FieldMotion = tuple[FieldPlacement, FieldPlacement]
"""A field at the start and at the end of a step."""


def pack_fields(motions: Sequence[FieldMotion], time: float, weight: float = 1.0) -> tuple[Float32, tuple[int, ...]]:
    """Records for `shaders/common/fields.glsl`, shape (N, FIELD_TEXELS, 4), and the end of each type in them.

    Texels:
        0. Centre at the start of the step, falloff.
        1. Travel over the step, 0.
        2. Orientation at the start.
        3. Half extents, radius.
        4. The first four numbers of the type.
        5. The others.

    Args:
        time: Start of the step, since the start of the simulation [s].
        weight: Factor of all fields.
    """
    types = list(FieldType)
    ordered = sorted(motions, key=lambda motion: types.index(motion[1].type))
    out = np.zeros((len(ordered), FIELD_TEXELS, 4))
    for record, (start, end) in zip(out, ordered, strict=True):
        centre, numbers = start.world_from_field[:3, 3], end.numbers(time)
        record[0] = (*centre, max(end.falloff, SMALLEST_FALLOFF))
        record[1, :3] = end.world_from_field[:3, 3] - centre
        record[2] = quaternion.from_matrix(start.world_from_field[None, :3, :3])[0]
        record[3] = (*end.half_extents, end.radius)
        record[4:].flat[: len(numbers)] = (weight * numbers[0], *numbers[1:])
    ends = np.cumsum([sum(end.type is kind for _, end in motions) for kind in types])
    return out.astype(np.float32), tuple(ends.tolist())
