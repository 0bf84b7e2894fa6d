from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Self

from sinew.sim.gl.back_end import BackEnd
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.errors import GLError
from sinew.sim.gl.program import Program
from sinew.sim.gl.vertex_array import VertexArray

if TYPE_CHECKING:
    from sinew.sim.gl.kernel import Kernel

GROUP = 3
"""Vertices of a triangle; triangles cost a software driver less than points (10 % of a pass), in the same order."""

TRIPLES_FROM = 3072
"""Number of records from which on a remainder that does not fill a triangle is worth a second draw."""

Substep = tuple[Sequence[int], int, tuple[float, float]]
"""A substep: names of buffer textures to read, name of the buffer to write, and the values of a vec2 uniform."""


def padded_count(count: int, per_vertex: int = 1) -> int:
    """Returns the number of records in a buffer of which `count` can be captured in one draw."""
    group = GROUP * per_vertex
    return -(-count // group) * group


class TransformFeedbackPass:
    """A pass made by `Kernel.writing`; a framebuffer must be bound, a buffer not be source and target at once."""

    __slots__ = ("_kernel", "_source")

    def __init__(self, kernel: "Kernel", program: Program, source: VertexArray) -> None:
        self._kernel, self._source = kernel, source
        program.use()
        source.bind(program, kernel.per_vertex)

    def __enter__(self) -> Self:
        GL.glEnable(GL.GL_RASTERIZER_DISCARD)
        return self

    def __exit__(self, *_: object) -> None:
        GL.glDisable(GL.GL_RASTERIZER_DISCARD)
        # Unbind the target: no later pass must capture into it.
        GL.glBindBufferBase(GL.GL_TRANSFORM_FEEDBACK_BUFFER, 0, 0)

    def use(self, kernel: "Kernel", source: VertexArray) -> None:
        """Continues with this kernel, its current uniforms and textures, and this source."""
        if kernel is self._kernel and source is self._source:
            return
        program = kernel.program
        if kernel is not self._kernel:
            if kernel.back_end is not BackEnd.TF:
                raise GLError(f"{program.label}: runs on another back end than the kernel before")
            program.use()
        self._kernel, self._source = kernel, source
        source.bind(program, kernel.per_vertex)

    def write(
        self,
        targets: Sequence[Buffer],
        first: int,
        count: int,
        varying: tuple[int, tuple[float, float, float, float]] | None = None,
    ) -> None:
        """Writes records: `first` and `count` are whole vertices, `varying` is a vec4 uniform and its new value."""
        if varying is not None:
            GL.glUniform4f(varying[0], *varying[1])
        each = self._kernel.per_vertex
        mode, rest = GL.GL_TRIANGLES, count % (GROUP * each)
        if rest:
            mode = GL.GL_POINTS
            if count >= TRIPLES_FROM:
                self.write(targets, first, count - rest)
                first, count = first + count - rest, rest
        for index, (target, size) in enumerate(zip(targets, self._kernel.sizes, strict=True)):
            GL.glBindBufferRange(GL.GL_TRANSFORM_FEEDBACK_BUFFER, index, target.name, first * size, count * size)
        GL.glBeginTransformFeedback(mode)
        GL.glDrawArrays(mode, first // each, count // each)
        GL.glEndTransformFeedback()

    def write_each(self, count: int, units: Sequence[int], location: int, substeps: Iterable[Substep]) -> None:
        """Writes a `padded_count` once for each substep, with textures at `units` and a vec2 uniform at `location`."""
        feedback, mode, vertices = GL.GL_TRANSFORM_FEEDBACK_BUFFER, GL.GL_TRIANGLES, count // self._kernel.per_vertex
        activate, bind, send, bind_target = GL.glActiveTexture, GL.glBindTexture, GL.glUniform2f, GL.glBindBufferBase
        begin, draw, end = GL.glBeginTransformFeedback, GL.glDrawArrays, GL.glEndTransformFeedback
        slots, kind = [GL.GL_TEXTURE0 + unit for unit in units], GL.GL_TEXTURE_BUFFER
        for textures, target, (first, second) in substeps:
            for slot, texture in zip(slots, textures, strict=True):
                activate(slot)
                bind(kind, texture)
            send(location, first, second)
            bind_target(feedback, 0, target)
            begin(mode)
            draw(mode, 0, vertices)
            end()
