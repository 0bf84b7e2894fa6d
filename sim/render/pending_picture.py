"""A picture that is drawn while others go on with their work."""

import math
import time
from collections.abc import Callable

from sim.gl.context import Context
from sim.gl.fence import Fence
from sim.gl.framebuffer import Framebuffer
from sim.gl.uniform_block import UniformBlock
from sim.render.target import RenderTarget
from sim.systems.steps import Steps


class PendingPicture:
    """It is handed out in steps; copying it before it is done waits for it.

    It lives in the target that all pictures are drawn into, so that the next one makes it useless.

    Args:
        context: Where it is drawn.
        block: Constants of the picture, which its steps read.
        target: What it is drawn into.
        size: Width and height [px].
        steps: Draw it.

    Attributes:
        size: Width and height [px].
    """

    def __init__(
        self,
        context: Context,
        block: UniformBlock,
        target: RenderTarget,
        size: tuple[int, int],
        steps: Steps[None],
    ) -> None:
        self.size = size
        self._context, self._block, self._target = context, block, target
        self._steps: Steps[None] | None = steps
        self._fence: Fence | None = None

    @property
    def done(self) -> bool:
        """Whether it can be copied at once; never waits."""
        return self._fence is not None and self._fence.passed

    def hand_out(self, duration: float = math.inf, clock: Callable[[], float] = time.monotonic) -> None:
        """Goes on drawing until a step passes this time [s]; the context must be current."""
        if self._steps is None:
            return
        ends = clock() + duration
        self._context.invalidate()
        self._block.bind()
        while self._steps is not None:
            try:
                next(self._steps)
            except StopIteration:
                self._steps, self._fence = None, Fence(self._context, label="picture")
            if clock() >= ends:
                break
        self._context.flush()

    def show(self, output: Framebuffer) -> None:
        """Copies it to a framebuffer of its size."""
        self.hand_out()
        self._context.invalidate()
        scope = self._context.timers.scope
        with scope("draw"), scope("resolve"):
            self._target.finish(output)
        assert self._fence is not None
        self._fence.release()
