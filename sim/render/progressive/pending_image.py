"""A picture that is drawn while others go on with their work."""

import math
import time

from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.readback import Fence
from sim.gl.task import Task
from sim.gl.uniform_block import UniformBlock
from sim.render.progressive.frame_plan import ChunkBudget
from sim.render.target import RenderTarget


class PendingImage:
    """It is handed out in turns; copying it before it is done waits for it.

    It lives in the target that all pictures are drawn into, so that the next one makes it useless.

    Args:
        context: Where it is drawn.
        block: Constants of the picture, which its steps read.
        target: What it is drawn into.
        size: Width and height [px].
        steps: Draw it.
        budget: How much each of them draws.

    Attributes:
        size: Width and height [px].
    """

    def __init__(
        self,
        context: Context,
        block: UniformBlock,
        target: RenderTarget,
        size: tuple[int, int],
        steps: Task[None],
        budget: ChunkBudget,
    ) -> None:
        self.size = size
        self._context, self._block, self._target = context, block, target
        self._steps: Task[None] | None = steps
        self._budget = budget
        self._fence: Fence | None = None
        self._begun = 0.0

    @property
    def done(self) -> bool:
        """Whether it can be copied at once; never waits."""
        return self._steps is None and self._is_idle

    def hand_out(self, duration: float) -> None:
        """Goes on drawing until a step passes this time [s], unless what was handed out is not done yet.

        Whoever comes next would have to wait for that.  The context must be current.
        """
        if self._steps is None or not self._is_idle:
            return
        now = time.monotonic()
        if self._fence is not None:
            self._budget.note(now - self._begun)
        self._begun = now
        self._draw(now + duration)

    def show(self, output: Framebuffer) -> None:
        self._draw(math.inf)
        self._context.invalidate()
        scope = self._context.timers.scope
        with scope("draw"), scope("resolve"):
            self._target.finish(output)

    @property
    def _is_idle(self) -> bool:
        return self._fence is None or self._fence.passed

    def _draw(self, ends: float) -> None:
        if self._steps is None:
            return
        self._context.invalidate()
        self._block.bind()
        for _ in self._steps:
            if time.monotonic() >= ends:
                break
        else:
            self._steps = None
        self._fence = Fence(self._context, label="picture")
