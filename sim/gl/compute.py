"""Runs kernels by compute, with the same interface as `sinew.sim.gl.transform_feedback`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.errors import GLError
from sinew.sim.gl.kernel_text import GROUP_SIZE, SPAN, input_name
from sinew.sim.gl.vertex_array import VertexArray

if TYPE_CHECKING:
    from sinew.sim.gl.kernel import Kernel

BETWEEN = GL.GL_TEXTURE_FETCH_BARRIER_BIT | GL.GL_SHADER_STORAGE_BARRIER_BIT
"""Before the next dispatch, which fetches the stored records or stores over them."""

AFTER = (
    BETWEEN
    | GL.GL_VERTEX_ATTRIB_ARRAY_BARRIER_BIT
    | GL.GL_BUFFER_UPDATE_BARRIER_BIT
    | GL.GL_TRANSFORM_FEEDBACK_BARRIER_BIT
)
"""Before all other uses of the records: drawing, copying, reading, replacing and capturing."""

GROUPS_MAX = 65_535
"""Guaranteed maximum of groups in a dispatch."""


class ComputePass:
    """Runs kernels that write into buffers, as a context manager; made by `Kernel.writing`.

    A buffer must not be source and target at once.  Targets are GL names.
    """

    __slots__ = ("_kernel", "_source", "_span")

    def __init__(self, kernel: "Kernel", source: VertexArray) -> None:
        self._take(kernel, source)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        GL.glMemoryBarrier(AFTER)
        # Unbind the target: no later pass must store into it.
        GL.glBindBufferBase(GL.GL_SHADER_STORAGE_BUFFER, 0, 0)

    def use(self, kernel: "Kernel", source: VertexArray) -> None:
        if kernel is not self._kernel or source is not self._source:
            if kernel.back_end is not self._kernel.back_end:
                raise GLError(f"{kernel.program.label}: runs on another back end than the kernel before")
            self._take(kernel, source)

    def send(self, location: int, values: tuple[float, float, float, float]) -> None:
        GL.glUniform4f(location, *values)

    def write(self, target: int, first: int, count: int, *more: int) -> None:
        for index, name in enumerate((target, *more)):
            GL.glBindBufferBase(GL.GL_SHADER_STORAGE_BUFFER, index, name)
        end, most = first + count, GROUPS_MAX * GROUP_SIZE
        for begin in range(first, end, most):
            GL.glUniform2i(self._span, begin, min(begin + most, end))
            GL.glDispatchCompute(-(-min(most, end - begin) // GROUP_SIZE), 1, 1)
        GL.glMemoryBarrier(BETWEEN)

    def writer(self, count: int) -> Callable[[int], None]:
        groups = -(-count // GROUP_SIZE)
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
