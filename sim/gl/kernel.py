"""Kernel: a vertex shader run over records by transform feedback, without rasterising.

It gathers and never scatters: record i of the source makes record i of every target.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sim.gl.bootstrap import GL
from sim.gl.buffer import Buffer
from sim.gl.errors import GLLimitError
from sim.gl.library import ShaderLibrary
from sim.gl.record import Record
from sim.gl.vertex_array import VertexArray

GUARANTEED_STREAMS = 4

TRIPLES_FROM = 3072
"""Records from which on three are captured as one triangle: a software driver spends less per primitive (a tenth of
the time of a skinning pass), and the order is the same.  For fewer records the second draw would cost more."""


class Kernel:
    """A transform-feedback program with declared output records.

    Inputs and outputs are declared from the records (`a_field`, `o_field`) and injected after #version, so the shader
    file contains neither.

    Args:
        library: Where the program comes from.
        file: Vertex shader.
        output: One record captured interleaved, or several fields' worth captured into separate buffers: with a
            sequence of records each must be a single vec4 field.
        inputs: Records whose fields the shader reads as attributes.
        defines: Macros.

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
        inputs: Sequence[Record] = (),
        defines: Mapping[str, object] | None = None,
    ) -> None:
        self.outputs: tuple[Record, ...] = (output,) if isinstance(output, Record) else tuple(output)
        separate = not isinstance(output, Record)
        captures = tuple(name for record in self.outputs for name in record.captures())
        if separate and (len(captures) != len(self.outputs) or len(captures) > GUARANTEED_STREAMS):
            raise GLLimitError(f"{file}: separate capture takes up to {GUARANTEED_STREAMS} records of one field each")
        declared = [record.input_declarations() for record in inputs]
        declared += [record.output_declarations() for record in self.outputs]
        self.program = library.program(
            file,
            captures=captures,
            capture_mode="separate" if separate else "interleaved",
            defines=defines,
            declarations="".join(declared),
        )

    def run(
        self,
        source: VertexArray,
        targets: Buffer | Sequence[Buffer],
        count: int | None = None,
        **uniforms: Any,
    ) -> None:
        """Write `count` records (all of the source by default) to the start of each target.

        A buffer must not be source and target at once.  A framebuffer must be bound, as always.

        Raises:
            GLLimitError: If a target is too small, or their number is wrong.
        """
        buffers = (targets,) if isinstance(targets, Buffer) else tuple(targets)
        length = source.vertex_count if count is None else count
        self._check_targets(buffers, length)
        for name, value in uniforms.items():
            self.program[name] = value
        if length <= 0:
            return
        self.program.use()
        source.bind(self.program)
        whole = length - length % 3 if length >= TRIPLES_FROM else 0
        GL.glEnable(GL.GL_RASTERIZER_DISCARD)
        if whole:
            self._capture(GL.GL_TRIANGLES, buffers, 0, whole)
        if length > whole:
            self._capture(GL.GL_POINTS, buffers, whole, length - whole)
        GL.glDisable(GL.GL_RASTERIZER_DISCARD)

    def _capture(self, primitive: int, buffers: Sequence[Buffer], first: int, count: int) -> None:
        for index, (buffer, record) in enumerate(zip(buffers, self.outputs, strict=True)):
            size = record.dtype.itemsize
            GL.glBindBufferRange(GL.GL_TRANSFORM_FEEDBACK_BUFFER, index, buffer.name, first * size, count * size)
        GL.glBeginTransformFeedback(primitive)
        GL.glDrawArrays(primitive, first, count)
        GL.glEndTransformFeedback()

    def _check_targets(self, buffers: Sequence[Buffer], count: int) -> None:
        if len(buffers) != len(self.outputs):
            raise GLLimitError(f"{self.program.label}: {len(buffers)} targets for {len(self.outputs)} records")
        for buffer, record in zip(buffers, self.outputs, strict=True):
            if buffer.size < count * record.dtype.itemsize:
                raise GLLimitError(
                    f"{self.program.label}: buffer {buffer.label!r} of {buffer.size} bytes is too small for "
                    f"{count} records of {record.dtype.itemsize}"
                )
