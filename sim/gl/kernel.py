"""Kernel: a function of an index in a shader file, run over records.

It gathers and never scatters: record i of the source makes record i of every target.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sim.gl.buffer import Buffer
from sim.gl.capture import Capture
from sim.gl.errors import GLLimitError
from sim.gl.kernel_text import capture_text
from sim.gl.library import ShaderLibrary
from sim.gl.record import Record
from sim.gl.vertex_array import VertexArray

GUARANTEED_STREAMS = 4


class Kernel:
    """A shader file that holds `void run(int id)`, with declared inputs and outputs; see `sim.gl.kernel_text`.

    Args:
        library: Where the program comes from.
        file: Where the function is.
        output: One record captured interleaved, or several fields' worth captured into separate buffers: with a
            sequence of records each must be a single vec4 field.
        inputs: Layouts whose fields the function reads as `a_field`.
        defines: Macros.
        per_vertex: Records that one vertex stands for, where every count is a multiple of it.

    Raises:
        ShaderError: If the shader does not compile.
        GLLimitError: If more than four separate targets are asked for.
    """

    def __init__(
        self,
        library: ShaderLibrary,
        file: str,
        output: Record | Sequence[Record],
        *,
        inputs: Sequence[Record | np.dtype] = (),
        defines: Mapping[str, object] | None = None,
        per_vertex: int = 1,
    ) -> None:
        self.outputs: tuple[Record, ...] = (output,) if isinstance(output, Record) else tuple(output)
        self.sizes = tuple(record.dtype.itemsize for record in self.outputs)
        self.per_vertex = per_vertex
        layouts = [layout.dtype if isinstance(layout, Record) else layout for layout in inputs]
        outputs, separate = [record.dtype for record in self.outputs], not isinstance(output, Record)
        text = capture_text(layouts, outputs, separate=separate, per_vertex=per_vertex)
        if separate and (len(text.captures) != len(self.outputs) or len(text.captures) > GUARANTEED_STREAMS):
            raise GLLimitError(f"{file}: separate capture takes up to {GUARANTEED_STREAMS} records of one field each")
        self.program = library.program(file, defines=defines, around=text)

    def writing(self, source: VertexArray) -> Capture:
        """What makes records of the source by `with kernel.writing(source) as capture: capture.write(...)`.

        Uniforms and textures are set before.
        """
        return Capture(self, source)

    def run(
        self,
        source: VertexArray,
        targets: Buffer | Sequence[Buffer],
        count: int | None = None,
        **uniforms: Any,
    ) -> None:
        """Write `count` records (all of the source by default) to the start of each target.

        Raises:
            GLLimitError: If a target is too small, or their number is wrong.
        """
        buffers = (targets,) if isinstance(targets, Buffer) else tuple(targets)
        length = source.vertex_count if count is None else count
        self._check_targets(buffers, length)
        for name, value in uniforms.items():
            self.program[name] = value
        if length > 0:
            with self.writing(source) as capture:
                capture.write(buffers[0].name, 0, length, *(buffer.name for buffer in buffers[1:]))

    def _check_targets(self, buffers: Sequence[Buffer], count: int) -> None:
        if len(buffers) != len(self.outputs):
            raise GLLimitError(f"{self.program.label}: {len(buffers)} targets for {len(self.outputs)} records")
        for buffer, size in zip(buffers, self.sizes, strict=True):
            if buffer.size < count * size:
                raise GLLimitError(
                    f"{self.program.label}: buffer {buffer.label!r} of {buffer.size} bytes is too small for "
                    f"{count} records of {size}"
                )
