"""The GLSL around a kernel file: declarations of its records, and `main`, without OpenGL.

The file has `void run(int id)`, which makes record `id`: it reads the fields of its inputs as `a_field` and sets
the fields of its outputs as `o_field`.  Denormal numbers in outputs become 0: some drivers compute with them in one
stage and not in the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sinew.sim.gl.record import INPUT_PREFIX, OUTPUT_PREFIX, field_offset, glsl_types

GROUP_SIZE = 128
"""Invocations of a compute group, one per record; 64 to 256 take the same time."""

SPAN = "u_dispatch_span"
"""Uniform of compute kernels: the first record of a dispatch, and the one after the last."""


FLUSH = "".join(
    f"{kind} flush_denormals({kind} number) {{\n"
    f"{bits} word = floatBitsToUint(number);\n"
    f"return mix(number, uintBitsToFloat(word & 0x80000000u), {test.format('word & 0x7f800000u')});\n}}\n"
    for kind, bits, test in (
        ("float", "uint", "({}) == 0u"),
        *((f"vec{size}", f"uvec{size}", f"equal({{}}, uvec{size}(0u))") for size in (2, 3, 4)),
    )
)
"""Functions that replace numbers without an exponent, below 1.2e-38, by a zero of the same sign."""


@dataclass(frozen=True, slots=True)
class KernelText:
    """Text around a kernel, empty for a complete shader; `captures` are the outputs for transform feedback."""

    head: str = ""
    tail: str = ""
    captures: tuple[str, ...] = ()
    separate: bool = False
    stage: Literal["vertex", "compute"] = "vertex"
    outputs: tuple[str, ...] = ()  # That the file must set


NOTHING = KernelText()


def capture_text(
    inputs: Sequence[np.dtype], outputs: Sequence[np.dtype], *, separate: bool = False, per_vertex: int = 1
) -> KernelText:
    """Returns a kernel as a vertex shader for transform feedback.

    Args:
        inputs, outputs: Records whose fields are attributes, and captured outputs.
        separate: Whether each field has its own buffer.
        per_vertex: Consecutive records that one vertex makes; vertices are expensive on a software driver.
    """
    reads, writes = _fields(INPUT_PREFIX, inputs), _fields(OUTPUT_PREFIX, outputs)
    if per_vertex == 1:
        flushed = [f"{name} = {_flushed(name, kind)};" for name, kind in writes.items() if _is_float(kind)]
        tail = "\n".join(["void main() {", "run(gl_VertexID);", *flushed, "}\n"])
        return KernelText(_head(reads, writes) + FLUSH, tail, tuple(writes), separate, outputs=tuple(writes))
    calls = []
    for lane in range(per_vertex):
        calls += [f"{name} = {lane_name(name, lane)};" for name in reads]
        calls += [f"run({per_vertex} * gl_VertexID + {lane});"]
        calls += [f"{lane_name(name, lane)} = {_flushed(name, kind)};" for name, kind in writes.items()]
    all_reads = _fields(INPUT_PREFIX, [in_lanes(dtype, per_vertex) for dtype in inputs])
    all_writes = _fields(OUTPUT_PREFIX, [in_lanes(dtype, per_vertex) for dtype in outputs])
    present = "".join(f"{kind} {name};\n" for name, kind in (reads | writes).items())
    tail = "\n".join(["void main() {", *calls, "}\n"])
    return KernelText(
        _head(all_reads, all_writes) + present + FLUSH, tail, tuple(all_writes), separate, outputs=tuple(writes)
    )


def compute_text(inputs: Sequence[np.dtype], outputs: Sequence[np.dtype]) -> KernelText:
    """Returns a kernel as a compute shader: inputs are texels of `input_name(i)`, outputs storage blocks.

    Invocations beyond the last record compute it again and do not store it: without divergent branches this is faster
    than an early return.
    """
    head = ["#version 430 core", f"layout(local_size_x = {GROUP_SIZE}) in;", f"uniform ivec2 {SPAN};"]
    fields = _fields(INPUT_PREFIX, inputs) | _fields(OUTPUT_PREFIX, outputs)
    head += [f"{kind} {name};" for name, kind in fields.items()]
    loads: list[str] = []
    for index, dtype in enumerate(inputs):
        head += [f"uniform {'' if is_all_floats(dtype) else 'u'}samplerBuffer {input_name(index)};"]
        loads += _loads(index, dtype)
    stores: list[str] = []
    for index, dtype in enumerate(outputs):
        vector = "vec4" if is_all_floats(dtype) else "uvec4"
        head += [f"layout(std430, binding = {index}) restrict writeonly buffer Output{index} {{"]
        head += [f"{vector} output_{index}[];", "};"]
        stores += _stores(index, dtype, vector)
    tail = [
        "void main() {",
        f"int place = {SPAN}.x + int(gl_GlobalInvocationID.x);",
        f"int id = min(place, {SPAN}.y - 1);",
        *loads,
        "run(id);",
        f"if (place < {SPAN}.y) {{",
        *stores,
        "}",
        "}",
    ]
    writes = tuple(_fields(OUTPUT_PREFIX, outputs))
    return KernelText("\n".join(head) + "\n" + FLUSH, "\n".join(tail) + "\n", stage="compute", outputs=writes)


def input_name(index: int) -> str:
    return f"u_input_{index}"


def texel_words(dtype: np.dtype) -> int:
    """Returns the words of 4 bytes in each texel; 0 if the record is not a whole number of words."""
    return next((words for words in (4, 2, 1) if dtype.itemsize % (4 * words) == 0), 0)


def is_texels(dtype: np.dtype) -> bool:
    """Returns True if a compute kernel can read the record: whole words, and no half floats."""
    bases = [dtype[name].base for name in dtype.names or ()]
    return texel_words(dtype) > 0 and all(base.kind != "f" or base.itemsize == 4 for base in bases)


def is_all_floats(dtype: np.dtype) -> bool:
    return all(dtype[name].base == np.float32 for name in dtype.names or ())


def _loads(index: int, dtype: np.dtype) -> list[str]:
    words, plain = texel_words(dtype), is_all_floats(dtype)
    texels = dtype.itemsize // (4 * words)
    vector = "vec4" if plain else "uvec4"
    lines = [
        f"{vector} texel_{index}_{texel} = texelFetch({input_name(index)}, {texels} * id + {texel});"
        for texel in range(texels)
    ]
    for field, kind in glsl_types(dtype).items():
        base, offset = dtype[field].base, field_offset(dtype, field)
        parts = []
        for component in range(dtype[field].itemsize // base.itemsize):
            byte = offset + component * base.itemsize
            word = byte // 4
            part = f"texel_{index}_{word // words}.{'xyzw'[word % words]}"
            if base.itemsize < 4:
                whole = f"int({part})" if base.kind == "i" else part
                part = f"bitfieldExtract({whole}, {8 * (byte % 4)}, {8 * base.itemsize})"
            elif base.kind == "i":
                part = f"int({part})"
            elif base.kind == "f" and not plain:
                part = f"uintBitsToFloat({part})"
            parts.append(part)
        lines.append(f"{INPUT_PREFIX}{field} = {kind}({', '.join(parts)});")
    return lines


def _stores(index: int, dtype: np.dtype, vector: str) -> list[str]:
    vectors, parts = dtype.itemsize // 16, []
    for field, kind in glsl_types(dtype).items():
        name = _flushed(OUTPUT_PREFIX + field, kind)
        if vector == "uvec4" and not kind.startswith("u"):
            unsigned = "uint" if kind == "int" else f"u{kind.removeprefix('i')}"
            name = f"{'floatBitsToUint' if dtype[field].base.kind == 'f' else unsigned}({name})"
        parts.append((field_offset(dtype, field) // 16, name))
    return [
        f"output_{index}[{vectors} * id + {at}] = {vector}({', '.join(part for where, part in parts if where == at)});"
        for at in range(vectors)
    ]


def _is_float(kind: str) -> bool:
    return kind.startswith(("float", "vec"))


def _flushed(name: str, kind: str) -> str:
    return f"flush_denormals({name})" if _is_float(kind) else name


def lane_name(name: str, lane: int) -> str:
    return f"{name}_lane{lane}"


def in_lanes(dtype: np.dtype, count: int) -> np.dtype:
    return np.dtype([(lane_name(name, lane), dtype[name]) for lane in range(count) for name in dtype.names or ()])


def _fields(prefix: str, layouts: Sequence[np.dtype]) -> dict[str, str]:
    return {prefix + field: kind for dtype in layouts for field, kind in glsl_types(dtype).items()}


def _head(reads: Mapping[str, str], writes: Mapping[str, str]) -> str:
    # Integer outputs of a vertex stage must be flat even when nothing is rasterised.
    flat = {name: "flat " if kind.startswith(("i", "u")) else "" for name, kind in writes.items()}
    lines = ["#version 330 core", *(f"in {kind} {name};" for name, kind in reads.items())]
    return "\n".join([*lines, *(f"{flat[name]}out {kind} {name};" for name, kind in writes.items())]) + "\n"
