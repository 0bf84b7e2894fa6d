"""When pictures are drawn, how much of them, and in how many goes.

Pictures wait for nobody.  Where they take long they are drafts, without antialiasing and with as many elements of
crowds as are drawn in 20 ms, until one in full follows.  A software renderer draws that in pieces over many turns,
which an edit ends at once; what it must compile for a new look is drawn in secret before, a part in every turn.
"""

import math
import time
from typing import Protocol

from sim.gl.framebuffer import Framebuffer
from sim.gl.task import Task, finish
from sim.render.frame_renderer import FrameRenderer
from sim.render.progressive.frame_plan import ChunkBudget, DraftBudget, FramePlan, draft_strides, load_of
from sim.render.progressive.pending_image import PendingImage
from sim.render.progressive.shader_warmup import ShaderWarmup
from sim.render.render_view import RenderView

AT_ONCE = 20_000
"""What crowds weigh above which a software renderer takes too long for a whole picture in one go, see `load_of`."""

SLOW_PICTURE, LONG_PICTURE = 0.04, 0.08
"""A picture that takes longer [s] is a draft where others follow; and even where it comes alone."""

SETTLE = 0.2
"""A pause this long [s] ends a sequence of pictures."""

TURN, POLL = 0.02, 0.004
"""Time that a turn goes on drawing, and between two looks at whether that is done [s]."""


class ViewSource(Protocol):
    """Whoever has pictures shown of a scene that changes."""

    def prepare(self) -> int:
        """Brings the engine to the scene as it is now; returns its version, see `Engine.version`."""

    def set_up(self, now: float) -> None:
        """Brings the engine to the scene and the moment that is shown, at monotonic time `now` [s]."""

    def render_view(self) -> RenderView:
        """What the picture shows."""


class RenderScheduler:
    """Draws pictures; for a window it also decides when and how.

    Every call needs the context.

    Args:
        picture: Draws them.

    Attributes:
        pending: A picture in full that was begun for the window and not shown.
        postponed: Whether the next picture waits until the driver has met what is new in it.
    """

    def __init__(self, picture: FrameRenderer) -> None:
        self._picture, self._context, self._timers = picture, picture.context, picture.context.timers
        self._is_software = picture.context.capabilities.is_software
        self._budget, self._drafts = ChunkBudget(), DraftBudget(self._is_software)
        self._shader_warmup = ShaderWarmup(picture)
        self.pending: PendingImage | None = None
        self.postponed = False
        self._place: tuple[int, tuple[int, int]] | None = None  # framebuffer and size of the last picture
        self._version = -1  # of what was looked through for something new
        self._cost = self._last = self._begun = 0.0
        self._settles = math.inf

    # --- single pictures ------------------------------------------------------------------------------

    def draw(self, output: Framebuffer, render_view: RenderView, *, draft: bool = False) -> None:
        """Draws a shot and copies it to `output`; a draft leaves out the antialiasing, and most of large crowds.

        How many it leaves out depends on the time that drafts took before.
        """
        self._context.invalidate()
        with self._timers.scope("draw"):
            plan = FramePlan(self._timers.scope)
            if draft:
                crowds = [item for item in render_view.items if item.instances]
                strides = draft_strides([load_of(item) for item in crowds], self._drafts.elements)
                plan = FramePlan(
                    self._timers.scope, dict(zip(crowds, strides, strict=True)), True, is_timed=self._is_software
                )
            finish(self._picture.draw(render_view, output.size, plan))
            if draft:
                self._drafts.note(plan.time, sum(load_of(*pair) for pair in plan.strides.items()))
            with self._timers.scope("resolve"):
                self._picture.target.finish(output)

    def begin(self, size: tuple[int, int], render_view: RenderView, *, alone: bool = False) -> PendingImage:
        """Has a shot drawn at a size [px] without waiting for it, or alone over nothing; the next picture replaces it.

        Of large crowds a software renderer has drawn only some when the call returns.
        """
        self._context.invalidate()
        with self._timers.scope("draw"):
            plan = FramePlan(budget=self._budget if self._is_software else None)
            steps = (self._picture.draw_alone if alone else self._picture.draw)(render_view, size, plan)
            pending = PendingImage(self._context, self._picture.block, self._picture.target, size, steps, self._budget)
            if self.takes_one_go(render_view):
                pending.hand_out(math.inf)
        return pending

    def takes_one_go(self, render_view: RenderView) -> bool:
        """Whether a picture in full can be drawn without a break."""
        return not self._is_software or sum(map(load_of, render_view.items)) <= AT_ONCE

    def is_new(self, render_view: RenderView) -> bool:
        """Whether a picture would wait until the driver has compiled how its crowds are drawn."""
        return self._shader_warmup.is_needed(render_view)

    def warm_up(self, render_view: RenderView) -> bool:
        """Has the driver compile a part of that; returns whether there was one."""
        return self._shader_warmup.play(render_view)

    def warm_up_all(self, render_view: RenderView) -> Task[None]:
        """Has it compile, in steps, whatever a shot needs, of which nothing was drawn yet."""
        return self._shader_warmup.play_all(render_view)

    # --- the pictures of a window ---------------------------------------------------------------------

    def paint(self, output: Framebuffer, source: ViewSource) -> bool:
        """Shows the scene as it is now; False where the framebuffer keeps what it shows, until another turn.

        While pictures follow one another and take long, they are drafts; in the end one is drawn in full.
        """
        place = (output.name, output.size)
        if self._waits_for(output.size) or (place == self._place and self._postpones(source)):
            return False
        self._place, self._settles = place, math.inf
        begun, own = time.monotonic(), self._timers.own_time
        pending, self.pending = self.pending, None
        if pending is not None and pending.size == output.size:
            begun, draft = self._begun, False
            pending.show(output)
        else:
            source.set_up(begun)
            render_view = source.render_view()
            draft = self._takes_draft(render_view)
            self.draw(output, render_view, draft=draft)
        # Drafts are for slow scenes, not for a slow instrument.
        self._last = time.monotonic()
        self._cost = self._last - begun - (self._timers.own_time - own)
        if draft:
            self._settles = self._last + SETTLE
        return True

    @property
    def delay(self) -> float | None:
        """Time until the next turn [s]; None where nothing is left to do."""
        if self.postponed:
            return 0.0
        if self.pending is not None:
            return None if self.pending.done else POLL
        return None if math.isinf(self._settles) else max(self._settles - time.monotonic(), 0.0)

    def turn(self, source: ViewSource) -> bool:
        """Does a part of what is left to do; returns whether the window is to be painted now."""
        if self.postponed:
            source.prepare()
            self.postponed = self.warm_up(source.render_view())
            return not self.postponed
        if self.pending is not None:
            self.pending.hand_out(TURN)
            return self.pending.done
        if time.monotonic() < self._settles or self._place is None:
            return False
        self._settles = math.inf
        self._begun = time.monotonic()
        source.set_up(self._begun)
        if self._timers.enabled and self.takes_one_go(source.render_view()):
            # What is spread over turns cannot be measured.
            self._cost = 0.0
            return True
        self.pending = self.begin(self._place[1], source.render_view())
        return False

    def outdate(self) -> None:
        """Gives up the picture that was begun: the scene has changed."""
        self.pending = None

    def lose(self) -> None:
        """Has the next picture drawn in any case: there is another framebuffer, maybe of the same name and size."""
        self.pending = self._place = None

    def hurry(self) -> None:
        """Makes the next picture a draft where something new may take a software renderer long."""
        if self._is_software:
            self._cost, self._last = math.inf, time.monotonic()

    def _waits_for(self, size: tuple[int, int]) -> bool:
        """Whether a picture of this size [px] was begun and is not done."""
        return self.pending is not None and self.pending.size == size and not self.pending.done

    def _postpones(self, source: ViewSource) -> bool:
        """Whether the driver has something to compile first."""
        if self.pending is None and (version := source.prepare()) != self._version:
            self.postponed, self._version = self.is_new(source.render_view()), version
        return self.postponed

    def _takes_draft(self, render_view: RenderView) -> bool:
        """Whether this picture is one of a slow sequence, or takes too long to be waited for."""
        follows = time.monotonic() - self._last < SETTLE
        return self._cost > (SLOW_PICTURE if follows else LONG_PICTURE) or not self.takes_one_go(render_view)
