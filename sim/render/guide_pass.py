"""Lines that help to set something, fainter where the scene hides them."""

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.state import PipelineState
from sim.gl.vertex_array import Stream, VertexArray

POINT = np.dtype([("position", "f4", 3)])
_HIDDEN = PipelineState(blend="alpha", depth_test=False, depth_write=False)
_SEEN = PipelineState(blend="alpha", depth_write=False)
_COLOUR = (1.0, 0.68, 0.28)
_ALPHA_HIDDEN, _ALPHA_SEEN = 0.25, 0.75


class GuidePass:
    """Draws after everything; the lines are replaced by every call.

    Args:
        context: Where the buffer lives.
        library: Where the program comes from.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        self._program = library.program("viewport/wire.vert", "viewport/flat.frag")
        self._buffer = Buffer(context, np.zeros(2, POINT), dtype=POINT, usage="stream", label="guides")
        self._array = VertexArray(context, [Stream(self._buffer)], label="guides")

    def draw(self, segments: npt.NDArray[np.float64], world_from_guides: npt.NDArray[np.float64]) -> None:
        """Draws lines, shape (n, 2, 3), that are placed by a matrix (4, 4)."""
        if not len(segments):
            return
        points = np.zeros(2 * len(segments), POINT)
        points["position"] = segments.reshape(-1, 3)
        self._buffer.orphan(points)
        self._program["u_world_from_model"] = world_from_guides
        self._program["u_depth_bias"] = 0.0
        for state, alpha in ((_HIDDEN, _ALPHA_HIDDEN), (_SEEN, _ALPHA_SEEN)):
            state.apply(self._context)
            self._program["u_colour"] = (*_COLOUR, alpha)
            self._array.draw(self._program, "lines", count=len(points))

    def release(self) -> None:
        self._array.release()
        self._buffer.release()
