"""Runs kernels by transform feedback, without rasterising."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.errors import GLError
from sinew.sim.gl.vertex_array import VertexArray

if TYPE_CHECKING:
    from sinew.sim.gl.kernel import Kernel

GROUP = 3
"""Vertices are captured as triangles: a software driver spends less per primitive (10 % of a skinning pass), and the
order is the same."""

TRIPLES_FROM = 3072
"""From this number of records on, a remainder that does not fill a triangle is worth a second draw."""


def padded_count(count: int, per_vertex: int = 1) -> int:
    """Number of records that a buffer needs so that `count` of them can be captured in one draw."""
    group = GROUP * per_vertex
    return -(-count // group) * group


class TransformFeedbackPass:
    """Runs kernels that write into buffers, as a context manager; made by `Kernel.writing`.

    A framebuffer must be bound.  A buffer must not be source and target at once.  Targets are GL names.
    """

    __slots__ = ("_each", "_kernel", "_source")

    def __init__(self, kernel: "Kernel", source: VertexArray) -> None:
        self._kernel, self._source, self._each = kernel, source, kernel.per_vertex
        program = kernel.program
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
        if kernel is not self._kernel:
            if kernel.back_end is not self._kernel.back_end:
                raise GLError(f"{kernel.program.label}: runs on another back end than the kernel before")
            kernel.program.use()
        elif source is self._source:
            return
        self._kernel, self._source, self._each = kernel, source, kernel.per_vertex
        source.bind(kernel.program, kernel.per_vertex)

    def send(self, location: int, values: tuple[float, float, float, float]) -> None:
        """Sets a vec4 uniform of the current kernel, see `Program.location`."""
        GL.glUniform4f(location, *values)

    def write(self, target: int, first: int, count: int, *more: int) -> None:
        """Writes `count` records from `first` on, both whole vertices; `more` targets for separate outputs."""
        mode, rest = GL.GL_TRIANGLES, count % (GROUP * self._each)
        if rest:
            mode = GL.GL_POINTS
            if count >= TRIPLES_FROM:
                self.write(target, first, count - rest, *more)
                first, count = first + count - rest, rest
        if first or more:
            for index, (name, size) in enumerate(zip((target, *more), self._kernel.sizes, strict=True)):
                GL.glBindBufferRange(GL.GL_TRANSFORM_FEEDBACK_BUFFER, index, name, first * size, count * size)
        else:
            GL.glBindBufferBase(GL.GL_TRANSFORM_FEEDBACK_BUFFER, 0, target)
        GL.glBeginTransformFeedback(mode)
        GL.glDrawArrays(mode, first // self._each, count // self._each)
        GL.glEndTransformFeedback()

    def writer(self, count: int) -> Callable[[int], None]:
        """A fast `write` for loops over targets: always writes the first `count` records, a `padded_count`."""
        feedback, mode, vertices = GL.GL_TRANSFORM_FEEDBACK_BUFFER, GL.GL_TRIANGLES, count // self._each
        bind, draw = GL.glBindBufferBase, GL.glDrawArrays
        begin, end = GL.glBeginTransformFeedback, GL.glEndTransformFeedback

        def write(target: int) -> None:
            bind(feedback, 0, target)
            begin(mode)
            draw(mode, 0, vertices)
            end()

        return write
