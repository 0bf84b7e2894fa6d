from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Self

from sinew.sim.gl.back_end import BackEnd
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.errors import GLError
from sinew.sim.gl.kernel_text import GROUP_SIZE, SPAN, input_name
from sinew.sim.gl.program import Program
from sinew.sim.gl.transform_feedback import Substep
from sinew.sim.gl.vertex_array import VertexArray

if TYPE_CHECKING:
    from sinew.sim.gl.kernel import Kernel

BETWEEN = GL.GL_TEXTURE_FETCH_BARRIER_BIT | GL.GL_SHADER_STORAGE_BARRIER_BIT
"""Barriers before the next dispatch, which fetches the stored records or stores over them."""

AFTER = (
    BETWEEN
    | GL.GL_VERTEX_ATTRIB_ARRAY_BARRIER_BIT
    | GL.GL_BUFFER_UPDATE_BARRIER_BIT
    | GL.GL_TRANSFORM_FEEDBACK_BARRIER_BIT
)
"""Barriers before all other uses of the records: drawing, copying, reading, replacing and capturing."""

GROUPS_MAX = 65_535
"""Guaranteed maximum of groups in a dispatch."""


class ComputePass:
    """A pass of compute, made by `Kernel.writing`; a buffer must not be source and target at once."""

    __slots__ = ("_kernel", "_source", "_span")

    def __init__(self, kernel: "Kernel", program: Program, source: VertexArray) -> None:
        self._take(kernel, program, source)

    def _take(self, kernel: "Kernel", program: Program, source: VertexArray) -> None:
        program.use()
        for index, texture in enumerate(source.texels(kernel.layouts)):
            name = input_name(index)
            if name in program:
                texture.bind(program.unit(name))
        self._kernel, self._source, self._span = kernel, source, program.location(SPAN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        GL.glMemoryBarrier(AFTER)
        # Unbind the target: no later pass must store into it.
        GL.glBindBufferBase(GL.GL_SHADER_STORAGE_BUFFER, 0, 0)

    def use(self, kernel: "Kernel", source: VertexArray) -> None:
        if kernel is not self._kernel or source is not self._source:
            program = kernel.program
            if kernel.back_end is not BackEnd.COMPUTE:
                raise GLError(f"{program.label}: runs on another back end than the kernel before")
            self._take(kernel, program, source)

    def write(
        self,
        targets: Sequence[Buffer],
        first: int,
        count: int,
        varying: tuple[int, tuple[float, float, float, float]] | None = None,
    ) -> None:
        if varying is not None:
            GL.glUniform4f(varying[0], *varying[1])
        for index, target in enumerate(targets):
            GL.glBindBufferBase(GL.GL_SHADER_STORAGE_BUFFER, index, target.name)
        self._dispatch(first, first + count)

    def write_each(self, count: int, units: Sequence[int], location: int, substeps: Iterable[Substep]) -> None:
        for textures, target, values in substeps:
            for unit, texture in zip(units, textures, strict=True):
                GL.glActiveTexture(GL.GL_TEXTURE0 + unit)
                GL.glBindTexture(GL.GL_TEXTURE_BUFFER, texture)
            GL.glUniform2f(location, *values)
            GL.glBindBufferBase(GL.GL_SHADER_STORAGE_BUFFER, 0, target)
            self._dispatch(0, count)

    def _dispatch(self, first: int, end: int) -> None:
        most = GROUPS_MAX * GROUP_SIZE
        for begin in range(first, end, most):
            GL.glUniform2i(self._span, begin, min(begin + most, end))
            GL.glDispatchCompute(-(-min(most, end - begin) // GROUP_SIZE), 1, 1)
        GL.glMemoryBarrier(BETWEEN)
