"""Kernels, which gather and never scatter: record i of the source makes record i of every target."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sinew.sim.gl.back_end import BackEnd, BackEndChoice
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.compute import ComputePass
from sinew.sim.gl.errors import GLLimitError
from sinew.sim.gl.kernel_text import capture_text, compute_text, is_texels
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.program import Program
from sinew.sim.gl.record import Record
from sinew.sim.gl.transform_feedback import TransformFeedbackPass
from sinew.sim.gl.vertex_array import VertexArray

GUARANTEED_STREAMS = 4


class Kernel:
    """A shader file with `void run(int id)`, with declared inputs and outputs; see `sinew.sim.gl.kernel_text`.

    Args:
        output: One record captured interleaved, or up to four single-vec4 records, each written to its own buffer.
        inputs: Layouts whose fields the function reads as `a_field`.
        compute_defines: Macros of the compute program only.
        per_vertex: Records that one vertex makes, if every count is a multiple of it; for transform feedback.
        records: Number of records per run, which decides the automatic choice of back end; 0 if they are few.
        back_end: The only back end to run on; by default the choice of the context.

    Raises:
        ShaderError: If the shader does not compile.
        GLLimitError: If there are more than four separate outputs.
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
        self.no_source = library.no_vertices
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
        """Back end that the context chooses, which may change between two frames."""
        if self._choice is not self._back_ends.choice:
            self._choose()
        return self._back_end

    def back_end_with(self, choice: BackEndChoice | None) -> BackEnd:
        if self._pinned is not None:
            return self._pinned
        back_end = self._back_ends.chosen(self._records, self._size, choice)
        return back_end if back_end in self._texts else BackEnd.TF

    @property
    def program(self) -> Program:
        if self._choice is not self._back_ends.choice:
            self._choose()
        return self._program

    def _choose(self) -> None:
        self._choice = self._back_ends.choice
        self._back_end = self.back_end_with(None)
        self._program = self.prepare(self._back_end)

    def prepare(self, back_end: BackEnd) -> Program:
        """Returns the program of a back end, built at the first call; raises ShaderError."""
        if back_end not in self._programs:
            defines, text = self._defines[back_end], self._texts[back_end]
            self._programs[back_end] = self._library.program(self._file, defines=defines, around=text)
        return self._programs[back_end]

    def writing(self, source: VertexArray | None = None) -> TransformFeedbackPass | ComputePass:
        """Returns a pass for `with kernel.writing(source) as run: run.write(...)`; uniforms are set before."""
        if self._choice is not self._back_ends.choice:
            self._choose()
        run = ComputePass if self._back_end is BackEnd.COMPUTE else TransformFeedbackPass
        return run(self, self._program, self.no_source if source is None else source)

    def run(
        self,
        source: VertexArray | None,
        targets: Buffer | Sequence[Buffer],
        count: int | None = None,
        first: int = 0,
        /,
        **uniforms: Any,
    ) -> None:
        """Writes `count` records from `first` on to each target; by default all records of the source.

        The source is None for a kernel without inputs.  Raises GLLimitError if a target is too small.
        """
        buffers = (targets,) if isinstance(targets, Buffer) else tuple(targets)
        if source is None:
            source = self.no_source
        length = source.vertex_count - first if count is None else count
        program = self.program
        if len(buffers) != len(self.outputs):
            raise GLLimitError(f"{program.label}: {len(buffers)} targets for {len(self.outputs)} records")
        for buffer, size in zip(buffers, self.sizes, strict=True):
            if buffer.size < (first + length) * size:
                raise GLLimitError(
                    f"{program.label}: buffer {buffer.label!r} of {buffer.size} bytes is too small for "
                    f"{first + length} records of {size}"
                )
        program.update(uniforms)
        if length > 0:
            with self.writing(source) as capture:
                capture.write(buffers, first, length)
