"""Records: one structured dtype fixes the layout of a buffer, its GLSL inputs and its captured outputs.

A record is a whole number of vec4s, so the same buffer can be read as vertex attributes and as an RGBA32F buffer
texture.
"""

from dataclasses import dataclass

import numpy as np

RECORD_VEC4_MAX = 16
"""Maximum size of a record: 64 interleaved components are the guaranteed limit of transform feedback."""

INPUT_PREFIX = "a_"
OUTPUT_PREFIX = "o_"

GLSL_TYPES = {
    ("f", 1): "float", ("f", 2): "vec2", ("f", 3): "vec3", ("f", 4): "vec4",
    ("i", 1): "int", ("i", 2): "ivec2", ("i", 3): "ivec3", ("i", 4): "ivec4",
    ("u", 1): "uint", ("u", 2): "uvec2", ("u", 3): "uvec3", ("u", 4): "uvec4",
}  # fmt: skip

FieldSpec = str | tuple[int, str]


class RecordError(ValueError):
    pass


@dataclass(frozen=True, slots=True)
class Record:
    """A packed layout of whole vec4s; interleaved capture packs its fields exactly like the dtype."""

    name: str
    dtype: np.dtype

    def zeros(self, count: int) -> np.ndarray:
        return np.zeros(count, self.dtype)


def glsl_types(dtype: np.dtype) -> dict[str, str]:
    """Returns GLSL types by field in memory order; raises RecordError if a field has none."""
    types = {}
    for field in dtype.names or ():
        base, count = _element(dtype, field)
        if (base.kind, count) not in GLSL_TYPES:
            raise RecordError(f"field {field!r} is {dtype[field]}, which no type of GLSL holds")
        types[field] = GLSL_TYPES[base.kind, count]
    return types


def field_offset(dtype: np.dtype, field: str) -> int:
    assert dtype.fields is not None
    return int(dtype.fields[field][1])


def _element(dtype: np.dtype, field: str) -> tuple[np.dtype, int]:
    sub = dtype[field]
    base, shape = sub.subdtype if sub.subdtype is not None else (sub, ())
    if len(shape) > 1:
        raise RecordError(f"field {field!r} has shape {shape}; scalars and vectors are allowed")
    return base, int(shape[0]) if shape else 1


def record(name: str, /, **fields: FieldSpec) -> Record:
    """Makes a record of scalar types ("f4", "i4", "u4") or (components, type), in memory order.

    Raises RecordError if a field is not a 4-byte scalar or vector or straddles a vec4, or if the record does not fill
    whole vec4s or exceeds 16 of them.
    """
    items = [(key, spec) if isinstance(spec, str) else (key, spec[1], (spec[0],)) for key, spec in fields.items()]
    dtype = np.dtype(items)
    _check(name, dtype)
    return Record(name, dtype)


def _check(name: str, dtype: np.dtype) -> None:
    for field in dtype.names or ():
        base, count = _element(dtype, field)
        if base.itemsize != 4 or (base.kind, count) not in GLSL_TYPES:
            raise RecordError(f"record {name}: field {field!r} is {dtype[field]}, not 1 to 4 components of 4 bytes")
        offset = field_offset(dtype, field) // 4
        if offset // 4 != (offset + count - 1) // 4:
            raise RecordError(f"record {name}: field {field!r} straddles two vec4s")
    if not dtype.itemsize or dtype.itemsize % 16:
        raise RecordError(f"record {name}: {dtype.itemsize} bytes are not whole vec4s of 16")
    if dtype.itemsize // 16 > RECORD_VEC4_MAX:
        raise RecordError(f"record {name}: {dtype.itemsize // 16} vec4s, the limit is {RECORD_VEC4_MAX}")
