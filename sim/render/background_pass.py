"""Gradient behind everything."""

from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.state import PipelineState
from sim.gl.vertex_array import VertexArray

_STATE = PipelineState(depth_test=False, depth_write=False)


class BackgroundPass:
    """Covers the picture; draws first."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        self._program = library.program("viewport/fullscreen.vert", "viewport/background.frag")
        self._nothing = VertexArray(context, label="background")

    def draw(self) -> None:
        _STATE.apply(self._context)
        self._nothing.draw(self._program, count=3)

    def release(self) -> None:
        self._nothing.release()
