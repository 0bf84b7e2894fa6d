"""A kernel run again and again, from buffer to buffer, with as few calls as it takes, and one that adds new records.

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
        vertices: The same as attributes, `per_vertex` records each.
        count: How many records, a multiple of `GROUP` vertices.
        per_vertex: Records that one vertex stands for; a software driver spends much on every vertex.
    """

    buffer: Buffer
    texture: BufferTexture
    vertices: VertexArray
    count: int
    per_vertex: int = 1

    def release(self) -> None:
        """Delete all; may be called twice."""
        for owned in (self.vertices, self.texture, self.buffer):
            owned.release()


@dataclass(frozen=True, slots=True)
class CaptureRun:
    """One turn of the loop.

    Attributes:
        values: What the vec4 uniform takes.
        moved: Records from the first on that the first kernel makes anew; rounded up to whole groups.
        made: First record and number of those that the second kernel makes out of nothing, after the first.
    """

    values: tuple[float, float, float, float]
    moved: int
    made: tuple[tuple[int, int], ...] = ()


def capture_loop(
    move: Kernel,
    make: Kernel | None,
    side: CaptureSide,
    swap: Callable[[CaptureSide], CaptureSide],
    varying: str,
    runs: Sequence[CaptureRun],
) -> CaptureSide:
    """Makes new records out of old ones, once for each run; returns the side that holds the newest.

    Args:
        move: Reads records as attributes; its other uniforms and textures are set before.
        make: Takes only the numbers of the records; may be None where no run has any to make.
        side: The records to begin with.
        swap: Gives the side to write to for one that was read; the read one may be written by others from then on.
        varying: Name of the vec4 uniform of both kernels that takes the values.
        runs: In turn.
    """
    feedback, triangles = GL.GL_TRANSFORM_FEEDBACK_BUFFER, GL.GL_TRIANGLES
    program = move.program
    location = _location(move, varying)
    in_use = False
    GL.glEnable(GL.GL_RASTERIZER_DISCARD)
    for run in runs:
        target = swap(side)
        if run.moved:
            if not in_use:
                program.use()
                in_use = True
            side.vertices.bind(program)
            GL.glBindBufferBase(feedback, 0, target.buffer.name)
            GL.glUniform4f(location, *run.values)
            GL.glBeginTransformFeedback(triangles)
            GL.glDrawArrays(triangles, 0, -(-run.moved // (GROUP * side.per_vertex)) * GROUP)
            GL.glEndTransformFeedback()
        if run.made and make is not None:
            in_use = False
            _make(make, target, varying, run)
        side = target
    GL.glDisable(GL.GL_RASTERIZER_DISCARD)
    # Nothing stays bound where a pass might capture into it.
    GL.glBindBufferBase(feedback, 0, 0)
    return side


def _make(kernel: Kernel, target: CaptureSide, varying: str, run: CaptureRun) -> None:
    size = kernel.outputs[0].dtype.itemsize
    kernel.program.use()
    target.vertices.bind(kernel.program)
    GL.glUniform4f(_location(kernel, varying), *run.values)
    for first, count in run.made:
        GL.glBindBufferRange(GL.GL_TRANSFORM_FEEDBACK_BUFFER, 0, target.buffer.name, first * size, count * size)
        GL.glBeginTransformFeedback(GL.GL_POINTS)
        GL.glDrawArrays(GL.GL_POINTS, first, count)
        GL.glEndTransformFeedback()


def _location(kernel: Kernel, name: str) -> int:
    info = kernel.program.uniforms.get(name)
    return -1 if info is None else info.location
