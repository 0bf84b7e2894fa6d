"""What the file of a kernel leaves out: the declarations of its records, and `main`.  Pure text; knows no OpenGL.

The file holds `void run(int id)`, which makes record `id`: it reads the fields of its inputs as `a_field` and sets
those of its outputs as `o_field`.  It knows neither where they are nor what calls it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sim.gl.record import INPUT_PREFIX, OUTPUT_PREFIX, glsl_types


@dataclass(frozen=True, slots=True)
class KernelText:
    """What stands around the file of a kernel; nothing around that of a whole shader.

    Attributes:
        head: Lines before it, the version first.
        tail: Lines after it.
        captures: Outputs that transform feedback writes, in order of memory.
        separate: Whether each goes into a buffer of its own.
    """

    head: str = ""
    tail: str = ""
    captures: tuple[str, ...] = ()
    separate: bool = False


NOTHING = KernelText()


def capture_text(
    inputs: Sequence[np.dtype], outputs: Sequence[np.dtype], *, separate: bool = False, per_vertex: int = 1
) -> KernelText:
    """The kernel as a vertex shader for transform feedback.

    Args:
        inputs: Records whose fields are attributes; integers of any width arrive as such.
        outputs: Records whose fields are captured.
        separate: Whether each field goes into a buffer of its own.
        per_vertex: Records in a row that one vertex stands for; a software driver spends much on every vertex.
    """
    reads, writes = _fields(INPUT_PREFIX, inputs), _fields(OUTPUT_PREFIX, outputs)
    if per_vertex == 1:
        return KernelText(_head(reads, writes), "void main() { run(gl_VertexID); }\n", tuple(writes), separate)
    calls = []
    for lane in range(per_vertex):
        calls += [f"{name} = {lane_name(name, lane)};" for name in reads]
        calls += [f"run({per_vertex} * gl_VertexID + {lane});"]
        calls += [f"{lane_name(name, lane)} = {name};" for name in writes]
    all_reads = _fields(INPUT_PREFIX, [in_lanes(dtype, per_vertex) for dtype in inputs])
    all_writes = _fields(OUTPUT_PREFIX, [in_lanes(dtype, per_vertex) for dtype in outputs])
    present = "".join(f"{kind} {name};\n" for name, kind in (reads | writes).items())
    tail = "\n".join(["void main() {", *calls, "}\n"])
    return KernelText(_head(all_reads, all_writes) + present, tail, tuple(all_writes), separate)


def lane_name(name: str, lane: int) -> str:
    """A field of one of the records that a vertex stands for."""
    return f"{name}_lane{lane}"


def in_lanes(dtype: np.dtype, count: int) -> np.dtype:
    """So many records in a row as one."""
    return np.dtype([(lane_name(name, lane), dtype[name]) for lane in range(count) for name in dtype.names or ()])


def _fields(prefix: str, layouts: Sequence[np.dtype]) -> dict[str, str]:
    return {prefix + field: kind for dtype in layouts for field, kind in glsl_types(dtype).items()}


def _head(reads: Mapping[str, str], writes: Mapping[str, str]) -> str:
    # Integer outputs of a vertex stage must be flat even when nothing is rasterised.
    flat = {name: "flat " if kind.startswith(("i", "u")) else "" for name, kind in writes.items()}
    lines = ["#version 330 core", *(f"in {kind} {name};" for name, kind in reads.items())]
    return "\n".join([*lines, *(f"{flat[name]}out {kind} {name};" for name, kind in writes.items())]) + "\n"
