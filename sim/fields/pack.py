import functools
from collections.abc import Sequence

import numpy as np

from sinew.sim.fields.state import FieldPlacement, FieldType
from sinew.sim.maths.arrays import Float32, Float64

FIELD_TEXELS = 7
SMALLEST_FALLOFF = 1e-6

_ORDER = {kind: order for order, kind in enumerate(FieldType)}

FieldMotion = tuple[FieldPlacement, FieldPlacement]
"""A field at the start and at the end of a step."""


def pack_fields(motions: Sequence[FieldMotion], time: float, weight: float = 1.0) -> tuple[Float32, tuple[int, ...]]:
    """Records for `shaders/common/fields.glsl`, shape (N, FIELD_TEXELS, 4), and the end of each type in them.

    Texels:
        0. Centre at the start of the step, falloff.
        1. Travel over the step, radius.
        2. x axis at the start, half extent along it; then y and z.
        5. The first four numbers of the type.
        6. The others.

    Args:
        time: Start of the step, since the start of the simulation [s].
        weight: Factor of all fields.
    """
    ordered, ends, fixed = _fixed_part(tuple(motions))
    out = fixed.copy()
    if ordered:
        out[:, 5:] = np.array([_numbers(field, time, weight) for field in ordered]).reshape(-1, 2, 4)
    return out.astype(np.float32), ends


@functools.lru_cache(maxsize=64)
def _fixed_part(motions: tuple[FieldMotion, ...]) -> tuple[list[FieldPlacement], tuple[int, ...], Float64]:
    """Sorted fields, the end of each type, and records without numbers; cached, because most fields do not move."""
    ordered = sorted(motions, key=lambda motion: _ORDER[motion[1].type])
    fields = [end for _, end in ordered]
    out = np.zeros((len(fields), FIELD_TEXELS, 4))
    if fields:
        start, end = (np.array([motion[side].world_from_field for motion in ordered]) for side in (0, 1))
        out[:, 0, :3], out[:, 1, :3] = start[:, :3, 3], end[:, :3, 3] - start[:, :3, 3]
        out[:, 2:5, :3] = start[:, :3, :3].transpose(0, 2, 1)
        out[:, 0, 3] = [max(field.falloff, SMALLEST_FALLOFF) for field in fields]
        out[:, 1, 3] = [field.radius for field in fields]
        out[:, 2:5, 3] = [field.half_extents for field in fields]
    return fields, tuple(sum(_ORDER[field.type] <= order for field in fields) for order in _ORDER.values()), out


def _numbers(field: FieldPlacement, time: float, weight: float) -> tuple[float, ...]:
    first, *others = field.numbers(time)
    return weight * first, *others, *(0.0,) * (7 - len(others))
