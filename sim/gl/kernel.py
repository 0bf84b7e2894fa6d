"""Kernel: a function of an index in a shader file, run over records.

It gathers and never scatters: record i of the source makes record i of every target.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sim.gl.back_end import BackEnd, BackEndChoice
from sim.gl.buffer import Buffer
from sim.gl.compute import ComputePass
from sim.gl.errors import GLLimitError
from sim.gl.kernel_text import capture_text, compute_text, is_texels
from sim.gl.library import ShaderLibrary
from sim.gl.program import Program
from sim.gl.record import Record
from sim.gl.transform_feedback import TransformFeedbackPass
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
        compute_defines: Macros that only the program for compute has.
        per_vertex: Records that one vertex stands for, where every count is a multiple of it; for transform feedback.
        records: How many are made at a time, by which the back end is chosen; 0 where they are few.
        back_end: The only one it ever runs on; that of the context by default.

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
        compute_defines: Mapping[str, object] | None = None,
        per_vertex: int = 1,
        records: int = 0,
        back_end: BackEnd | None = None,
    ) -> None:
        self.outputs: tuple[Record, ...] = (output,) if isinstance(output, Record) else tuple(output)
        self.sizes = tuple(record.dtype.itemsize for record in self.outputs)
        self._size = max(self.sizes)
        self.per_vertex = per_vertex
        self.layouts = tuple(layout.dtype if isinstance(layout, Record) else layout for layout in inputs)
        self._library, self._file = library, file
        self._defines = {BackEnd.TF: dict(defines or {})}
        self._defines[BackEnd.COMPUTE] = self._defines[BackEnd.TF] | dict(compute_defines or {})
        self._records, self._pinned, self._back_ends = records, back_end, library.context.back_ends
        outputs, separate = [record.dtype for record in self.outputs], not isinstance(output, Record)
        capture = capture_text(self.layouts, outputs, separate=separate, per_vertex=per_vertex)
        if separate and (len(capture.captures) != len(self.outputs) or len(capture.captures) > GUARANTEED_STREAMS):
            raise GLLimitError(f"{file}: separate capture takes up to {GUARANTEED_STREAMS} records of one field each")
        self._texts = {BackEnd.TF: capture}
        if all(map(is_texels, self.layouts)):
            self._texts[BackEnd.COMPUTE] = compute_text(self.layouts, outputs)
        self._programs: dict[BackEnd, Program] = {}
        library.kernels.add(self)
        self._choose()

    @property
    def back_end(self) -> BackEnd:
        """What it runs on now; that of the context, which may change between two frames."""
        if self._choice is not self._back_ends.choice:
            self._choose()
        return self._back_end

    def back_end_with(self, choice: BackEndChoice | None) -> BackEnd:
        """What it would run on if this were chosen, see `BackEnds.choice`."""
        if self._pinned is not None:
            return self._pinned
        back_end = self._back_ends.chosen(self._records, self._size, choice)
        return back_end if back_end in self._texts else BackEnd.TF

    @property
    def program(self) -> Program:
        """The program of the back end it runs on now, which takes uniforms and textures."""
        if self._choice is not self._back_ends.choice:
            self._choose()
        return self._program

    def _choose(self) -> None:
        self._choice = self._back_ends.choice
        self._back_end = self.back_end_with(None)
        self._program = self.prepare(self._back_end)

    def prepare(self, back_end: BackEnd) -> Program:
        """The program for a back end, built with the first call.

        Raises:
            ShaderError: If it does not compile.
        """
        program = self._programs.get(back_end)
        if program is None:
            program = self._library.program(self._file, defines=self._defines[back_end], around=self._texts[back_end])
            self._programs[back_end] = program
        return program

    def writing(self, source: VertexArray) -> TransformFeedbackPass | ComputePass:
        """What makes records of the source by `with kernel.writing(source) as capture: capture.write(...)`.

        Uniforms and textures are set before.
        """
        return (ComputePass if self.back_end is BackEnd.COMPUTE else TransformFeedbackPass)(self, source)

    def run(
        self,
        source: VertexArray,
        targets: Buffer | Sequence[Buffer],
        count: int | None = None,
        first: int = 0,
        /,
        **uniforms: Any,
    ) -> None:
        """Write `count` records (all that follow in the source by default) from the `first` on to each target.

        Raises:
            GLLimitError: If a target is too small, or their number is wrong.
        """
        buffers = (targets,) if isinstance(targets, Buffer) else tuple(targets)
        length = source.vertex_count - first if count is None else count
        self._check_targets(buffers, first + length)
        program = self.program
        for name, value in uniforms.items():
            program[name] = value
        if length > 0:
            with self.writing(source) as capture:
                capture.write(buffers[0].name, first, length, *(buffer.name for buffer in buffers[1:]))

    def _check_targets(self, buffers: Sequence[Buffer], count: int) -> None:
        if len(buffers) != len(self.outputs):
            raise GLLimitError(f"{self.program.label}: {len(buffers)} targets for {len(self.outputs)} records")
        for buffer, size in zip(buffers, self.sizes, strict=True):
            if buffer.size < count * size:
                raise GLLimitError(
                    f"{self.program.label}: buffer {buffer.label!r} of {buffer.size} bytes is too small for "
                    f"{count} records of {size}"
                )
