"""Scheduler of frames: when they are drawn, in which quality, and in how many parts.

The GUI thread must not block.  Slow frames are drafts, without antialiasing and with as many instances as take 20
ms, until a full frame follows.  A software renderer draws the full frame in chunks over many turns, which an edit
cancels; new shader variants are compiled before, one per turn, by drawing into a hidden target.  While nothing changes
samples of the frame follow in the same way, and the window shows their mean.
"""

import math
import time
from collections.abc import Generator
from dataclasses import replace
from typing import Protocol

from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.readback import Fence
from sinew.sim.gl.task import Delay, Task, finish
from sinew.sim.gl.uniform_block import UniformBlock
from sinew.sim.render.frame_renderer import FrameRenderer
from sinew.sim.render.progressive.frame_plan import ChunkBudget, DraftBudget, FramePlan, draft_strides, load_of
from sinew.sim.render.progressive.shader_warmup import ShaderWarmup
from sinew.sim.render.quality import DRAFT, FILE, VIEWPORT, Quality
from sinew.sim.render.render_view import RenderView
from sinew.sim.render.sample import ImageSample
from sinew.sim.render.sample_pass import SamplePass
from sinew.sim.render.target import RenderTarget

AT_ONCE = 20_000
"""Load of instances above which a software renderer splits a full image into chunks, see `load_of`."""

SLOW_PICTURE, LONG_PICTURE = 0.04, 0.08
"""Frame times [s] above which the next frame is a draft: in a sequence of frames, and for a single frame."""

SETTLE = 0.2
"""Pause [s] that ends a sequence of frames."""

SAMPLES = 32
"""Number of samples of an image that stands still; 0 for none."""

TURN, POLL = 0.02, 0.004
"""Time budget of a step of a full image, and interval of polling for its completion [s]."""


class ViewSource(Protocol):
    def prepare(self) -> int:
        """Applies the current scene to the engine, once in a turn; returns the version of its views."""

    def set_up(self, now: float) -> None:
        """Shows the moment of the playhead, at monotonic time `now` [s]; follows `prepare`."""

    def render_view(self) -> RenderView: ...

    @property
    def is_still(self) -> bool:
        """True unless other frames will follow soon."""

    @property
    def step(self) -> object:
        """Equal as long as the state of the simulation that is drawn stays the same."""


class PendingImage:
    """An image that is drawn in several turns; `show` before it is done waits for it.

    It uses the target of all images: drawing another one invalidates it.
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
        """True if `show` returns without waiting."""
        return self._steps is None and self._is_idle

    def hand_out(self, duration: float) -> None:
        """Draws until a step exceeds this time [s], unless the GPU still works on earlier steps; needs the context."""
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
        self._fence = Fence(self._context, label="image")


class RenderScheduler:
    """Scheduler of images; for a window it also decides when and how. The context must be current in all calls."""

    def __init__(self, picture: FrameRenderer) -> None:
        self._picture, self._context, self._timers = picture, picture.context, picture.context.timers
        self._is_software = picture.context.capabilities.is_software
        self._quality = DRAFT if self._is_software else VIEWPORT
        self._budget, self._drafts = ChunkBudget(), DraftBudget(self._is_software)
        self.shader_warmup = ShaderWarmup(picture, self._quality)
        self.pending: PendingImage | None = None  # For the window, not finished or not shown yet
        self.postponed = False  # The next frame waits for new shader variants
        self._last_target: tuple[int, tuple[int, int]] | None = None  # framebuffer and size of the last frame
        self._version = -1  # of the engine when it was last checked for new shader variants
        self._cost = self._last = self._begun = 0.0
        self._settles = math.inf
        self._sample = self._last_sample = 0  # Number of the next sample, and where they end
        self._image: object = None  # Of the samples
        self._step: object = None  # That the samples show

    def draw(
        self, output: Framebuffer, render_view: RenderView, *, draft: bool = False, quality: Quality = FILE
    ) -> None:
        """Draws an image; a draft has the lowest quality, no antialiasing and maybe fewer instances."""
        self._context.invalidate()
        with self._timers.scope("draw"):
            plan = FramePlan(self._timers.scope, quality=quality)
            if draft:
                instanced = [item for item in render_view.items if item.instances]
                strides = draft_strides([load_of(item) for item in instanced], self._drafts.elements)
                stride_of = dict(zip(instanced, strides, strict=True))
                plan = FramePlan(self._timers.scope, stride_of, True, is_timed=self._is_software)
            finish(self._picture.draw(render_view, output.size, plan))
            if draft:
                self._drafts.note(plan.time, sum(load_of(*pair) for pair in plan.strides.items()))
            with self._timers.scope("resolve"):
                self._picture.target.finish(output)

    def begin(self, size: tuple[int, int], render_view: RenderView, *, alone: bool = False) -> PendingImage:
        """Begins an image for the window, of `size` [px], with `alone` only surfaces over nothing.

        The next one invalidates it.
        """
        self._context.invalidate()
        with self._timers.scope("draw"):
            plan = FramePlan(budget=self._budget if self._is_software else None, quality=self._quality)
            steps = (self._picture.draw_alone if alone else self._picture.draw)(render_view, size, plan)
            pending = PendingImage(self._context, self._picture.block, self._picture.target, size, steps, self._budget)
            if not self._is_software and render_view.sample is None:
                pending.hand_out(math.inf)
        return pending

    def takes_one_go(self, render_view: RenderView) -> bool:
        return not self._is_software or sum(map(load_of, render_view.items)) <= AT_ONCE

    def paint(self, output: Framebuffer, source: ViewSource) -> bool:
        """Paints the window, with a draft in a slow sequence; returns False to keep the previous frame."""
        pending, target = self.pending, (output.name, output.size)
        if pending is not None and pending.size == output.size and not pending.done:
            return False
        if self._sample and target == self._last_target and source.step == self._step:
            self._context.invalidate()
            self._picture.passes.get(SamplePass).show(output, self._sample)
            return True
        is_drawn = pending is not None and pending.size == output.size
        version = self._version if is_drawn else source.prepare()
        if target == self._last_target and self._postpones(source, version):
            return False
        self._last_target, self._settles = target, math.inf
        begun, own = time.monotonic(), self._timers.own_time
        self.pending = None
        if pending is not None and pending.size == output.size:
            begun, draft = self._begun, False
            pending.show(output)
        else:
            source.set_up(begun)
            render_view = source.render_view()
            # True for a frame of a slow sequence, or one that is too slow for one turn.
            follows = time.monotonic() - self._last < SETTLE
            draft = self._cost > (SLOW_PICTURE if follows else LONG_PICTURE) or not self.takes_one_go(render_view)
            self.draw(output, render_view, draft=draft, quality=self._quality)
        # The time of the timers themselves does not count.
        self._last = time.monotonic()
        self._cost = self._last - begun - (self._timers.own_time - own)
        if draft:
            self._settles = self._last + SETTLE
        self._sample = 0
        # Samples would disturb measurements.
        is_sampled = source.is_still and not draft and not self._timers.enabled
        self._last_sample = SAMPLES if is_sampled else 0
        return True

    @property
    def is_complete(self) -> bool:
        return not self.postponed and math.isinf(self._settles) and self._sample >= self._last_sample

    def complete(self, source: ViewSource) -> Generator[Delay | None, None, bool]:
        """Compiles variants for a postponed frame, or draws a full image after a draft, or samples; True to paint."""
        while not self.is_complete:
            settles = self._last + SETTLE if math.isinf(self._settles) else self._settles
            left = settles - time.monotonic()
            if self.postponed:
                source.prepare()
                self.postponed = self.shader_warmup.play(source.render_view())
                if not self.postponed:
                    return True
                yield None
            elif left > 0.0:
                yield Delay(left)
            elif math.isinf(self._settles):
                return (yield from self._take_samples(source))
            else:
                return (yield from self._complete_image(source))
        return False

    def _complete_image(self, source: ViewSource) -> Generator[Delay, None, bool]:
        """Draws a full image in steps; returns True if the window must be painted now, also with another step."""
        self._settles, self._begun = math.inf, time.monotonic()
        source.prepare()
        source.set_up(self._begun)
        render_view, step = source.render_view(), source.step
        if self._timers.enabled and self.takes_one_go(render_view):
            # A frame that is spread over turns cannot be measured.
            self._cost = 0.0
            return True
        assert self._last_target is not None
        pending = self.pending = self.begin(self._last_target[1], render_view)
        while self.pending is pending and not pending.done:
            yield Delay(POLL)
            if self.pending is pending and source.step != step:
                self.outdate()
                return True
            pending.hand_out(TURN)
        return self.pending is pending

    def _take_samples(self, source: ViewSource) -> Generator[Delay, None, bool]:
        """Draws samples until their number is a power of two; returns True if the window must be painted then.

        If another step is drawn meanwhile the window must be painted too, and the samples begin anew.
        """
        assert self._last_target is not None
        size, samples = self._last_target[1], self._picture.passes.get(SamplePass)
        source.prepare()
        source.set_up(time.monotonic())
        render_view, step = source.render_view(), source.step
        if self._sample and step != self._step:
            self.outdate()
            return True
        while self._sample < self._last_sample:
            if not self._sample:
                self._image, self._step = object(), step
                samples.begin(size)
            sample = ImageSample(self._sample, self._last_sample, self._image)
            pending = self.pending = self.begin(size, replace(render_view, sample=sample))
            while self.pending is pending and not pending.done:
                yield Delay(POLL)
                pending.hand_out(TURN)
            if source.step != step:
                self.outdate()
                return True
            if self.pending is not pending:  # dropped, or already painted
                continue
            self.pending = None
            self._context.invalidate()
            samples.add(self._picture.target.copy())
            self._sample += 1
            if self._sample & (self._sample - 1) == 0 and self._sample > 1:
                return True
        return False

    def outdate(self) -> None:
        """Drops the pending image and samples; call this when the scene has changed."""
        self.pending, self._sample, self._last_sample = None, 0, 0

    def lose(self) -> None:
        """Forces the next frame to be drawn: the framebuffer is new, maybe with the same name and size."""
        self.outdate()
        self._last_target = None
        self._settles = math.inf

    def hurry(self) -> None:
        """Makes the next frame a draft if new content may be slow on a software renderer."""
        if self._is_software:
            self._cost, self._last = math.inf, time.monotonic()

    def _postpones(self, source: ViewSource, version: int) -> bool:
        if self.pending is None and version != self._version:
            self.postponed, self._version = self.shader_warmup.is_needed(source.render_view()), version
        return self.postponed
