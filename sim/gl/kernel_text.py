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
    """What stands around the file of a kernel.

    Attributes:
        head: Lines before it, the version first.
        tail: Lines after it.
        captures: Outputs that transform feedback writes, in order of memory.
    """

    head: str
    tail: str
    captures: tuple[str, ...] = ()


def capture_text(inputs: Sequence[np.dtype], outputs: Sequence[np.dtype], per_vertex: int = 1) -> KernelText:
    """The kernel as a vertex shader for transform feedback.

    Args:
        inputs: Records whose fields are attributes; integers of any width arrive as such.
        outputs: Records whose fields are captured.
        per_vertex: Records in a row that one vertex stands for; a software driver spends much on every vertex.
    """
    reads = {INPUT_PREFIX + field: kind for dtype in inputs for field, kind in glsl_types(dtype).items()}
    writes = {OUTPUT_PREFIX + field: kind for dtype in outputs for field, kind in glsl_types(dtype).items()}
    if per_vertex == 1:
        return _vertex_shader(reads, writes, "", ["run(gl_VertexID);"])
    calls = []
    for lane in range(per_vertex):
        calls += [f"{name} = {lane_name(name, lane)};" for name in reads]
        calls += [f"run({per_vertex} * gl_VertexID + {lane});"]
        calls += [f"{lane_name(name, lane)} = {name};" for name in writes]
    present = "".join(f"{kind} {name};\n" for name, kind in (reads | writes).items())
    return _vertex_shader(_in_lanes(reads, per_vertex), _in_lanes(writes, per_vertex), present, calls)


def lane_name(name: str, lane: int) -> str:
    """An attribute or output of one of the records that a vertex stands for."""
    return f"{name}_lane{lane}"


def _in_lanes(fields: Mapping[str, str], per_vertex: int) -> dict[str, str]:
    return {lane_name(name, lane): kind for lane in range(per_vertex) for name, kind in fields.items()}


def _vertex_shader(reads: Mapping[str, str], writes: Mapping[str, str], more: str, calls: Sequence[str]) -> KernelText:
    head = "#version 330 core\n" + "".join(f"in {kind} {name};\n" for name, kind in reads.items())
    for name, kind in writes.items():
        # Integer outputs of a vertex stage must be flat even when nothing is rasterised.
        head += f"{'flat ' if kind.startswith(('i', 'u')) else ''}out {kind} {name};\n"
    return KernelText(head + more, "\n".join(["void main() {", *calls, "}\n"]), tuple(writes))
