"""A picture that the GPU is still drawing."""

from sim.gl.context import Context
from sim.gl.fence import Fence
from sim.gl.framebuffer import Framebuffer
from sim.render.target import RenderTarget


class PendingPicture:
    """Everything of it is handed out; copying it before it is done waits for it.

    It lives in the target that all pictures are drawn into, so that the next one makes it useless.

    Args:
        context: Where it is drawn.
        target: What it is drawn into.

    Attributes:
        size: Width and height [px].
    """

    def __init__(self, context: Context, target: RenderTarget) -> None:
        self.size = target.current.size
        self._context, self._target = context, target
        self._fence = Fence(context, label="picture")

    @property
    def done(self) -> bool:
        """Whether it can be copied at once; never waits."""
        return self._fence.passed

    def show(self, output: Framebuffer) -> None:
        """Copies it to a framebuffer of its size."""
        self._context.invalidate()
        scope = self._context.timers.scope
        with scope("draw"), scope("resolve"):
            self._target.finish(output)
        self._fence.release()
