"""One kernel run again and again, from buffer to buffer, with as few calls as it takes.

Records are attributes of the vertices; a run is six calls.  What `Kernel.run` checks and sets each time is done once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sim.gl.bootstrap import GL
from sim.gl.buffer import Buffer
from sim.gl.kernel import Kernel
from sim.gl.ping_pong import GROUP
from sim.gl.texture import BufferTexture
from sim.gl.vertex_array import VertexArray


@dataclass(frozen=True, slots=True)
class CaptureSide:
    """A buffer of records, as texels and as vertices.

    Attributes:
        buffer: The records.
        texture: The same, seen as texels.
        vertices: The same as attributes.
        count: How many, a multiple of `GROUP`.
    """

    buffer: Buffer
    texture: BufferTexture
    vertices: VertexArray
    count: int

    def release(self) -> None:
        """Delete all; may be called twice."""
        for owned in (self.vertices, self.texture, self.buffer):
            owned.release()


def capture_loop(
    kernel: Kernel,
    side: CaptureSide,
    swap: Callable[[CaptureSide], CaptureSide],
    count: int,
    varying: str,
    values: Sequence[tuple[float, float, float, float]],
) -> CaptureSide:
    """Runs once for each of the values; returns the side that holds the newest records.

    Args:
        kernel: Its other uniforms and textures are set before.
        side: The records to begin with.
        swap: Gives the side to write to for one that was read; the read one may be written by others from then on.
        count: Records to run for; rounded up to a multiple of `GROUP`.
        varying: Name of the vec4 uniform that takes the values.
        values: One for each run.
    """
    program = kernel.program
    program.use()
    location = program.uniforms[varying].location if varying in program else -1
    padded = min(-(-count // GROUP) * GROUP, side.count)
    feedback, triangles = GL.GL_TRANSFORM_FEEDBACK_BUFFER, GL.GL_TRIANGLES
    GL.glEnable(GL.GL_RASTERIZER_DISCARD)
    for value in values:
        side.vertices.bind(program)
        target = swap(side)
        GL.glBindBufferBase(feedback, 0, target.buffer.name)
        GL.glUniform4f(location, *value)
        GL.glBeginTransformFeedback(triangles)
        GL.glDrawArrays(triangles, 0, padded)
        GL.glEndTransformFeedback()
        side = target
    GL.glDisable(GL.GL_RASTERIZER_DISCARD)
    # Nothing stays bound where a pass might capture into it.
    GL.glBindBufferBase(feedback, 0, 0)
    return side
