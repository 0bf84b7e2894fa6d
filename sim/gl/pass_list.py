"""Many short passes of several kernels in a row, each of which reads what others have written.

Programs, samplers and locations are looked up once, so that a pass costs few calls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sinew.sim.gl.back_end import BackEnd
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.compute import AFTER, BETWEEN, GROUPS_MAX
from sinew.sim.gl.errors import GLLimitError
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.kernel_text import GROUP_SIZE, SPAN
from sinew.sim.gl.texture import BufferTexture


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """Makes `count` records, a `padded_count`, with a kernel without inputs.

    Attributes:
        reads: All buffer textures by sampler; not the targets. Those that the program has not are left out.
        varying: Name and value of the vec2 uniform that differs between passes of the same kernel; "" for none.
    """

    kernel: Kernel
    targets: tuple[Buffer, ...]
    count: int
    reads: Mapping[str, BufferTexture] = field(default_factory=dict)
    varying: tuple[str, tuple[float, float]] = ("", (0.0, 0.0))


def run_passes(passes: Sequence[Pass]) -> None:
    """All kernels must run on the same back end; uniforms that do not vary are set before."""
    if not passes:
        return
    back_ends = {one.kernel.back_end for one in passes}
    if len(back_ends) != 1:
        raise GLLimitError("passes of one list run on different back ends")
    is_compute = back_ends == {BackEnd.COMPUTE}
    binding = GL.GL_SHADER_STORAGE_BUFFER if is_compute else GL.GL_TRANSFORM_FEEDBACK_BUFFER
    kernels = {one.kernel: one.kernel.program for one in passes}
    for kernel, program in kernels.items():
        program.use()  # sends uniforms
        kernel.no_source.bind(program, 1)
    spans = {kernel: program.location(SPAN) for kernel, program in kernels.items()} if is_compute else {}
    bound: dict[int, int] = {}
    current, location, varying = None, -1, ""
    if not is_compute:
        GL.glEnable(GL.GL_RASTERIZER_DISCARD)
    for one in passes:
        program = kernels[one.kernel]
        if one.kernel is not current:
            GL.glUseProgram(program.name)
            current, varying = one.kernel, ""
        for sampler, texture in one.reads.items():
            unit = program.unit(sampler) if sampler in program else -1
            if unit >= 0 and bound.get(unit) != texture.name:
                GL.glActiveTexture(GL.GL_TEXTURE0 + unit)
                GL.glBindTexture(GL.GL_TEXTURE_BUFFER, texture.name)
                bound[unit] = texture.name
        name, value = one.varying
        if name:
            if name != varying:
                location, varying = program.location(name), name
            GL.glUniform2f(location, *value)
        for index, target in enumerate(one.targets):
            GL.glBindBufferBase(binding, index, target.name)
        if is_compute:
            most = GROUPS_MAX * GROUP_SIZE
            for begin in range(0, one.count, most):
                GL.glUniform2i(spans[one.kernel], begin, min(begin + most, one.count))
                GL.glDispatchCompute(-(-min(most, one.count - begin) // GROUP_SIZE), 1, 1)
            GL.glMemoryBarrier(BETWEEN)
        else:
            GL.glBeginTransformFeedback(GL.GL_TRIANGLES)
            GL.glDrawArrays(GL.GL_TRIANGLES, 0, one.count)
            GL.glEndTransformFeedback()
    if is_compute:
        GL.glMemoryBarrier(AFTER)
    else:
        GL.glDisable(GL.GL_RASTERIZER_DISCARD)
    # Unbind the targets: no later pass must write into them.
    for index in range(max(len(one.targets) for one in passes)):
        GL.glBindBufferBase(binding, index, 0)
