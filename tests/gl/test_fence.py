"""Fences: passed when the work before them is done, deleted like every other name."""

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.readback import Fence


def test_a_fence_is_passed_once_the_work_is_done(context: Context) -> None:
    Buffer(context, 1 << 16).orphan(1 << 16)
    fence = Fence(context, label="work")
    context.finish()
    assert fence.passed
    assert fence.passed
    fence.release()
    fence.release()
    assert "Sync:work" not in context.live


def test_a_fence_that_is_dropped_waits_for_collect(context: Context) -> None:
    fence = Fence(context, label="work")
    assert "Sync:work" in context.live
    del fence
    context.collect()
    assert "Sync:work" not in context.live
