from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.texture import Texture2D
from sinew.sim.render.target import SizedFramebuffers

_ADDING = PipelineState(depth_test=False, depth_write=False, blend="additive", multisample=False)
_SHOWING = PipelineState(depth_test=False, depth_write=False, multisample=False)


class SamplePass(SizedFramebuffers):
    """Sum of the samples of an image in linear light, of full floats: it does not drift."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        super().__init__(context)
        self._library = library
        self._adding = library.program("viewport/fullscreen.vert", "viewport/mean.frag")
        self._showing = library.program("viewport/fullscreen.vert", "viewport/mean.frag", defines={"MEAN": True})

    @property
    def _sum(self) -> Framebuffer:
        return self.get("sum of samples", colours=("rgba32f",), depth=None)

    def begin(self, size: tuple[int, int]) -> None:
        self.resize(size)
        self._sum.clear(depth=None)

    def add(self, image: Texture2D) -> None:
        self._sum.bind()
        _ADDING.apply(self._context)
        self._adding["u_image"] = image
        self._library.no_vertices.draw(self._adding, "triangles", count=3)

    def show(self, output: Framebuffer, count: int) -> None:
        """Draws the mean of `count` samples."""
        output.bind()
        _SHOWING.apply(self._context)
        self._showing["u_image"], self._showing["u_share"] = self._sum.colours[0], 1.0 / count
        self._library.no_vertices.draw(self._showing, "triangles", count=3)
