"""Bones, joints and marks, drawn over the scene."""

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.state import PipelineState
from sim.gl.vertex_array import Mode, Stream, VertexArray

BONE = np.dtype([("head", "f4", 4), ("tail", "f4", 4)])
MARKER = np.dtype([("centre", "f4", 4), ("colour", "f4", 4), ("star", "f4")])
BONE_CORNERS = 24
# A thin slice of the depth range in front of everything else: overlays show through the mesh, yet hide one another.
_IN_FRONT = (0.0, 0.01)


class InstancedPass:
    """Draws one shape per record; the records are replaced every frame.

    Args:
        context: Where the buffers live.
        library: Where the program comes from.
        vertex, fragment: Shader files.
        record: Type of one instance; its fields feed `i_field`.
        mode: Primitive of one instance.
        corners: Vertices of one instance.
        state: Fixed-function state.
    """

    def __init__(
        self,
        context: Context,
        library: ShaderLibrary,
        vertex: str,
        fragment: str,
        *,
        record: np.dtype,
        mode: Mode,
        corners: int,
        state: PipelineState,
    ) -> None:
        self._context, self._state, self._mode, self._corners = context, state, mode, corners
        self._program = library.program(vertex, fragment)
        self._record = record
        self._buffer = Buffer(context, np.zeros(1, record), dtype=record, usage="stream", label=vertex)
        rename = {name: f"i_{name}" for name in record.names or ()}
        self._array = VertexArray(context, [Stream(self._buffer, rename=rename, divisor=1)], label=vertex)

    def draw(self, instances: npt.NDArray[np.void]) -> None:
        """Draws every record of `instances`, shape (N,)."""
        if not len(instances):
            return
        self._buffer.orphan(np.ascontiguousarray(instances, self._record))
        self._state.apply(self._context)
        self._array.draw(self._program, self._mode, count=self._corners, instances=len(instances))

    def release(self) -> None:
        self._array.release()
        self._buffer.release()


def bone_pass(context: Context, library: ShaderLibrary) -> InstancedPass:
    """Octahedra from joint to joint; records of `BONE`."""
    state = PipelineState(blend="alpha", depth_range=_IN_FRONT)
    return InstancedPass(
        context, library, "viewport/bone.vert", "viewport/bone.frag",
        record=BONE, mode="triangles", corners=BONE_CORNERS, state=state,
    )  # fmt: skip


def marker_pass(context: Context, library: ShaderLibrary) -> InstancedPass:
    """Discs, or stars of four points, of a fixed size on the screen; records of `MARKER`."""
    state = PipelineState(blend="alpha", depth_test=False, depth_write=False)
    return InstancedPass(
        context, library, "viewport/marker.vert", "viewport/marker.frag",
        record=MARKER, mode="triangle_strip", corners=4, state=state,
    )  # fmt: skip
