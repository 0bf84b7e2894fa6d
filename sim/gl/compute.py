"""Dispatch: kernels at work by compute, behind the same calls as `sim.gl.transform_feedback`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from sim.gl.bootstrap import GL
from sim.gl.errors import GLError
from sim.gl.kernel_text import GROUP_SIZE, SPAN, input_name
from sim.gl.vertex_array import VertexArray

if TYPE_CHECKING:
    from sim.gl.kernel import Kernel

BETWEEN = GL.GL_TEXTURE_FETCH_BARRIER_BIT | GL.GL_SHADER_STORAGE_BARRIER_BIT
"""What the next dispatch may do with what this one stored: fetch it, or store over it."""

AFTER = (
    BETWEEN
    | GL.GL_VERTEX_ATTRIB_ARRAY_BARRIER_BIT
    | GL.GL_BUFFER_UPDATE_BARRIER_BIT
    | GL.GL_TRANSFORM_FEEDBACK_BARRIER_BIT
)
"""What all others may do with it: draw it, copy, read or replace it, capture over it."""

GROUPS_MAX = 65_535
"""Groups of a dispatch that every driver takes."""


class ComputePass:
    """Kernels that write into buffers while this is entered; made by `Kernel.writing`.

    A buffer must not be source and target at once.  Targets are GL names.
    """

    __slots__ = ("_kernel", "_source", "_span")

    def __init__(self, kernel: "Kernel", source: VertexArray) -> None:
        self._take(kernel, source)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        GL.glMemoryBarrier(AFTER)
        # Nothing stays bound where a pass might store into it.
        GL.glBindBufferBase(GL.GL_SHADER_STORAGE_BUFFER, 0, 0)

    def use(self, kernel: "Kernel", source: VertexArray) -> None:
        """Go on with this kernel, its uniforms and textures as they are now, and this source."""
        if kernel is not self._kernel or source is not self._source:
            if kernel.back_end is not self._kernel.back_end:
                raise GLError(f"{kernel.program.label}: another back end than that of the kernel before")
            self._take(kernel, source)

    def send(self, location: int, values: tuple[float, float, float, float]) -> None:
        """Give a vec4 of the kernel in use a value, see `Program.location`."""
        GL.glUniform4f(location, *values)

    def write(self, target: int, first: int, count: int, *more: int) -> None:
        """Write `count` records from `first` on; `more` targets for separate outputs."""
        for index, name in enumerate((target, *more)):
            GL.glBindBufferBase(GL.GL_SHADER_STORAGE_BUFFER, index, name)
        end, most = first + count, GROUPS_MAX * GROUP_SIZE
        for begin in range(first, end, most):
            GL.glUniform2i(self._span, begin, min(begin + most, end))
            GL.glDispatchCompute(groups_of(min(most, end - begin)), 1, 1)
        GL.glMemoryBarrier(BETWEEN)

    def writer(self, count: int) -> Callable[[int], None]:
        """`write` for a loop over targets: takes the first records time and again."""
        groups = groups_of(count)
        if groups > GROUPS_MAX:
            return lambda target: self.write(target, 0, count)
        storage, bind, send = GL.GL_SHADER_STORAGE_BUFFER, GL.glBindBufferBase, GL.glUniform2i
        dispatch, wait = GL.glDispatchCompute, GL.glMemoryBarrier

        def write(target: int) -> None:
            bind(storage, 0, target)
            send(self._span, 0, count)  # another kernel may be in use by now
            dispatch(groups, 1, 1)
            wait(BETWEEN)

        return write

    def _take(self, kernel: "Kernel", source: VertexArray) -> None:
        program = kernel.program
        program.use()
        for index, texture in enumerate(source.texels(kernel.layouts)):
            name = input_name(index)
            if name in program:
                texture.bind(program.unit(name))
        self._kernel, self._source, self._span = kernel, source, program.location(SPAN)


def groups_of(count: int) -> int:
    return -(-count // GROUP_SIZE)
