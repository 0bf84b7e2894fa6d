"""Draws what is new where nobody sees it, a little at a time, so that its first picture takes no longer than others.

A driver compiles a shader anew for every combination of vertices, textures, targets and samples when that is drawn for
the first time; a software renderer takes up to a tenth of a second for each.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from sim.gl.framebuffer import Framebuffer
from sim.gl.task import Task, finish
from sim.render.background_pass import BackgroundPass
from sim.render.frame import Frame
from sim.render.frame_renderer import DRAFT_SAMPLES, FrameRenderer
from sim.render.ground_pass import GroundPass
from sim.render.items import Item, ShaderVariant, Stage
from sim.render.overlay_pass import MARKER, marker_pass
from sim.render.pass_context import DONE, PassContext
from sim.render.progressive.frame_plan import FramePlan
from sim.render.render_view import DisplayOptions, RenderView
from sim.render.shadow_pass import ShadowPass
from sim.render.target import RenderTarget
from sim.render.transparent import BlendTargets, TransparentPass

SIZE = (16, 16)
INTO_PICTURE: tuple[Stage, ...] = ("opaque", "detail", "glass", "overlay")
Act = Callable[[Framebuffer], object]


class ShaderWarmup:
    """Knows in which ways crowds were drawn.

    Args:
        picture: Whose passes are rehearsed.
    """

    def __init__(self, picture: FrameRenderer) -> None:
        self._picture, self._context = picture, picture.context
        self._met: set[ShaderVariant] = set()
        self._played: tuple[ShaderVariant, Item, Task[None]] | None = None

    def is_needed(self, render_view: RenderView) -> bool:
        """Whether pictures in full or drafts of a shot draw a crowd in a way that is new."""
        return any(variant not in self._met for variant, _, _ in self._variants(render_view))

    def play(self, render_view: RenderView) -> bool:
        """Does a step of drawing one element in the first way that is new; returns whether there was one.

        What was begun for something that is no longer shown is given up.
        """
        if self._played is not None and not any(item is self._played[1] for item in render_view.items):
            self._played = None
        if self._played is None:
            found = (
                (variant, item, act()) for variant, item, act in self._variants(render_view) if variant not in self._met
            )
            self._played = next(found, None)
        if self._played is None:
            return False
        variant, _, steps = self._played
        self._alone(lambda: self._go_on(variant, steps))
        return True

    def _go_on(self, variant: ShaderVariant, steps: Task[None]) -> None:
        if next(steps, DONE) is DONE:
            self._met.add(variant)
            self._played = None

    def play_all(self, render_view: RenderView) -> Task[None]:
        """Draws all that a shot shows, once for every number of samples; others may draw between the steps.

        Given up, it leaves nothing that `collect` does not delete.
        """
        frame, output = render_view.frame(*SIZE), Framebuffer(self._context, SIZE, depth=None, label="shader warmup")
        if frame.casts_shadow:
            casting = [item for item in render_view.items if "shadow" in item.stages]
            self._alone(lambda: finish(self._cast(casting, render_view, FramePlan())))
            yield
        for samples in dict.fromkeys(_samples(render_view)):
            target = RenderTarget(self._context)
            for act in self._acts(render_view, frame, target, output):
                self._alone(functools.partial(_act_in, act, target, samples))
                yield
            target.release()
        output.release()

    def _alone(self, act: Callable[[], object]) -> None:
        """Nothing of what was set before is left, and what is bound may be deleted afterwards."""
        self._context.invalidate()
        self._picture.block.bind()
        act()
        self._context.bind_default_framebuffer()

    def _acts(self, render_view: RenderView, frame: Frame, picture: RenderTarget, output: Framebuffer) -> Iterator[Act]:
        get, shadow_map = self._picture.passes.get, self._picture.passes.get(ShadowPass).map
        yield lambda _: get(BackgroundPass).draw()
        for item in render_view.items:
            for piece, display in item.pieces(render_view.display()):
                for stage in piece.stages:
                    if stage in INTO_PICTURE:
                        yield functools.partial(self._draw_at_once, piece, stage, frame, display)
        # With the grid the ground has two shaders; the first alone, then both.
        bare = replace(frame, view=msgspec.structs.replace(render_view.view, grid=False, axes=False))
        yield lambda _: get(GroundPass).draw(bare, shadow_map, None)
        yield lambda _: get(GroundPass).draw(frame, shadow_map, None)
        yield lambda _: get(marker_pass).draw(np.zeros(1, MARKER))
        yield lambda _: picture.finish(output)

    def _variants(self, render_view: RenderView) -> Iterator[tuple[ShaderVariant, Item, Callable[[], Task[None]]]]:
        """All ways in which pictures in full and drafts draw the crowds of a shot, of which item, and how to do it."""
        lights, together = len(render_view.lights), dict[bool, tuple[Item, ShaderVariant]]()
        casts_shadow = lights > 0 and render_view.lights[0].shadow
        for item in render_view.items:
            if item.instances is None:
                continue
            for variant in item.variants(lights):
                plan = FramePlan(variants={item: variant})
                if "shadow" in item.stages and casts_shadow:
                    yield (*variant, "shadow"), item, functools.partial(self._cast, (item,), render_view, plan)
                for stage in item.stages:
                    for samples in _samples(render_view) if stage in INTO_PICTURE else ():
                        yield (
                            (*variant, stage, samples),
                            item,
                            functools.partial(self._draw_into, item, stage, render_view, plan, samples),
                        )
                if "transparent" in item.stages:
                    yield (
                        (*variant, "gathered"),
                        item,
                        functools.partial(self._gather, (item,), render_view, plan, None),
                    )
                    together[item.blend.shines] = item, variant
        for samples in _samples(render_view) if together else ():
            plan = FramePlan(variants=dict(together.values()))
            yield (
                ("composed", frozenset(together), samples),
                next(iter(plan.variants)),
                functools.partial(self._gather, tuple(plan.variants), render_view, plan, samples),
            )

    def _ctx(self, target: Framebuffer, frame: Frame, display: DisplayOptions) -> PassContext:
        passes = self._picture.passes
        return PassContext(passes, frame, display, target, frame.clip_from_world, passes.get(ShadowPass).map)

    def _draw_at_once(
        self, item: Item, stage: Stage, frame: Frame, display: DisplayOptions, target: Framebuffer
    ) -> None:
        finish(FramePlan().draw((item,), stage, self._ctx(target, frame, display)))

    def _draw_into(
        self, item: Item, stage: Stage, render_view: RenderView, plan: FramePlan, samples: int
    ) -> Task[None]:
        picture = RenderTarget(self._context)
        ctx = self._ctx(picture.begin(*SIZE, samples), render_view.frame(*SIZE), render_view.display())
        yield from plan.draw((item,), stage, ctx)
        picture.release()

    def _cast(self, items: Sequence[Item], render_view: RenderView, plan: FramePlan) -> Task[None]:
        target = self._picture.passes.get(ShadowPass).target
        yield from self._picture.cast(items, self._ctx(target, render_view.frame(*SIZE), render_view.display()), plan)

    def _gather(
        self, items: Sequence[Item], render_view: RenderView, plan: FramePlan, samples: int | None
    ) -> Task[None]:
        """Lets items gather; lays them over a picture with so many samples, or leaves it at that for None."""
        picture, gathering = RenderTarget(self._context), BlendTargets(self._context)
        ctx = self._ctx(picture.begin(*SIZE, samples or 0), render_view.frame(*SIZE), render_view.display())
        transparent = self._picture.passes.get(TransparentPass)
        act = transparent.gather if samples is None else transparent.draw
        yield from act(items, picture, ctx, plan, gathering)
        gathering.release()
        picture.release()


def _act_in(act: Act, picture: RenderTarget, samples: int) -> None:
    act(picture.begin(*SIZE, samples))


def _samples(render_view: RenderView) -> list[int]:
    """Samples of a pixel in drafts and in pictures in full."""
    return sorted({DRAFT_SAMPLES, render_view.view.samples})
