"""Warmup of shader variants by drawing into hidden targets, so that no visible frame waits for it.

A driver compiles a shader again for every combination of vertices, textures, targets and samples when it is first
drawn with; a software renderer takes up to 0.1 s for each.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import msgspec
import numpy as np

from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.task import Task, finish
from sinew.sim.gl.texture import Texture2D
from sinew.sim.render.frame import Frame
from sinew.sim.render.frame_renderer import DRAFT_SAMPLES, FrameRenderer
from sinew.sim.render.ground_pass import BackgroundPass, GroundPass
from sinew.sim.render.items import Item, ShaderVariant, Stage
from sinew.sim.render.occlusion_pass import OcclusionPass
from sinew.sim.render.overlay_pass import MARKER, marker_pass
from sinew.sim.render.pass_context import DONE, PassContext
from sinew.sim.render.pick_pass import OutlinePass
from sinew.sim.render.progressive.frame_plan import FramePlan
from sinew.sim.render.quality import DRAFT, Quality
from sinew.sim.render.render_view import DisplayOptions, RenderView
from sinew.sim.render.shadow_pass import ShadowPass
from sinew.sim.render.target import RenderTarget, SizedFramebuffers
from sinew.sim.render.transparent import BlendTargets, TransparentPass

SIZE = (17, 17)
"""No powers of two: a software renderer compiles other code for textures of such sizes, which windows rarely have."""

IMAGE_STAGES: tuple[Stage, ...] = ("opaque", "detail", "glass", "overlay")
T = TypeVar("T")
Draw = Callable[[Framebuffer], object]


class ShaderWarmup:
    def __init__(self, picture: FrameRenderer, quality: Quality) -> None:
        self._picture, self._context = picture, picture.context
        self.quality = quality  # Of complete images of the window
        self._drawn: set[ShaderVariant] = set()
        self._current: tuple[ShaderVariant, Item, Task[None]] | None = None

    def is_needed(self, render_view: RenderView) -> bool:
        """Returns True if full frames or drafts of a view need variants of instanced items that were not drawn yet."""
        return any(variant not in self._drawn for variant, _, _ in self._variants(render_view))

    def play(self, render_view: RenderView) -> bool:
        """Draws one instance with the first new variant; returns True if there was one."""
        is_lost = self._current is not None and not any(item is self._current[1] for item in render_view.items)
        if is_lost:
            self._current = None
        if self._current is None:
            new = (
                (variant, item, draw())
                for variant, item, draw in self._variants(render_view)
                if variant not in self._drawn
            )
            self._current = next(new, None)
        if self._current is None:
            return False
        variant, _, task = self._current
        if is_lost:  # keys may replace the item in every step: it would never be drawn to its end
            self._isolated(lambda: finish(task))
        if self._isolated(lambda: next(task, DONE)) is DONE:
            self._drawn.add(variant)
            self._current = None
        return True

    def play_all(self, render_view: RenderView) -> Task[None]:
        """Draws everything once for every number of samples; other frames may be drawn between the steps."""
        frame, output = render_view.frame(*SIZE), Framebuffer(self._context, SIZE, depth=None, label="shader warmup")
        if frame.casts_shadow:
            casting = [item for item in render_view.items if "shadow" in item.stages]
            self._isolated(lambda: finish(self._cast(casting, render_view, FramePlan())))
            yield
        for samples, quality in dict.fromkeys(((DRAFT_SAMPLES, DRAFT), (render_view.view.samples, self.quality))):
            target, targets, occlusion = RenderTarget(self._context), SizedFramebuffers(self._context), None
            if quality.has_occlusion and frame.has_occlusion:
                occlude = self._picture.passes.get(OcclusionPass).draw
                ctx = self._ctx(target.begin(*SIZE, samples), frame, render_view.display())
                occlusion = self._isolated(functools.partial(occlude, render_view.items, ctx, targets))
                yield
            for draw in self._draws(render_view, frame, target, output, quality, occlusion):
                self._isolated(functools.partial(_draw_into_new, target, samples, draw))
                yield
            targets.release()
            target.release()
        output.release()

    def _isolated(self, draw: Callable[[], T]) -> T:
        """Draws with fresh state, then binds the default framebuffer."""
        self._context.invalidate()
        self._picture.block.bind()
        result = draw()
        self._context.bind_default_framebuffer()
        return result

    def _draws(
        self, render_view: RenderView, frame: Frame, picture: RenderTarget, output: Framebuffer, quality: Quality,
        occlusion: Texture2D | None,
    ) -> Iterator[Draw]:  # fmt: skip
        get, shadow_map = self._picture.passes.get, self._picture.passes.get(ShadowPass).map
        shown = render_view.display()
        yield lambda _: get(BackgroundPass).draw()
        for item in render_view.items:
            for piece, display in item.pieces(shown):
                for stage in piece.stages:
                    if stage in IMAGE_STAGES:
                        yield functools.partial(self._draw_at_once, piece, stage, frame, display, quality, occlusion)
        # The line first: without an item it is drawn alone.
        for items in ((), *((item,) for item in render_view.items if item.has_outline)):
            yield functools.partial(self._draw_outline, items, frame, shown)
        # The ground has two shaders, one of them with the grid only.
        bare = replace(frame, view=msgspec.structs.replace(render_view.view, grid=False, axes=False))
        yield lambda _: get(GroundPass).draw(bare, shadow_map, None)
        yield lambda _: get(GroundPass).draw(frame, shadow_map, None)
        yield lambda _: get(marker_pass).draw(np.zeros(1, MARKER))
        yield lambda _: picture.finish(output)

    def _variants(self, render_view: RenderView) -> Iterator[tuple[ShaderVariant, Item, Callable[[], Task[None]]]]:
        lights, together = len(render_view.lights), dict[bool, tuple[Item, ShaderVariant]]()
        casts_shadow = lights > 0 and render_view.lights[0].shadow
        macros = render_view.frame(*SIZE).macros
        for item in render_view.items:
            if item.instances is None:
                continue
            for variant in item.variants(lights):
                plan = FramePlan(variants={item: variant})
                if "shadow" in item.stages and casts_shadow:
                    yield (*variant, "shadow"), item, functools.partial(self._cast, (item,), render_view, plan)
                for stage in item.stages:
                    for samples in _samples(render_view) if stage in IMAGE_STAGES else ():
                        draw = functools.partial(self._draw_into, item, stage, render_view, plan, samples)
                        yield (*variant, stage, samples, macros), item, draw
                if "transparent" in item.stages:
                    gather = functools.partial(self._gather, (item,), render_view, plan, None)
                    yield (*variant, "gathered", macros), item, gather
                    together[item.blend.shines] = item, variant
        for samples in _samples(render_view) if together else ():
            plan = FramePlan(variants=dict(together.values()))
            items = tuple(plan.variants)
            compose = functools.partial(self._gather, items, render_view, plan, samples)
            yield ("composed", frozenset(together), samples, macros), items[0], compose

    def _ctx(self, target: Framebuffer, frame: Frame, display: DisplayOptions) -> PassContext:
        passes = self._picture.passes
        return PassContext(passes, frame, display, target, frame.clip_from_world, passes.get(ShadowPass).map)

    def _draw_at_once(
        self, item: Item, stage: Stage, frame: Frame, display: DisplayOptions, quality: Quality,
        occlusion: Texture2D | None, target: Framebuffer,
    ) -> None:  # fmt: skip
        ctx = replace(self._ctx(target, frame, display), quality=quality, occlusion=occlusion)
        finish(FramePlan().draw((item,), stage, ctx))

    def _draw_outline(self, items: Sequence[Item], frame: Frame, display: DisplayOptions, target: Framebuffer) -> None:
        self._picture.passes.get(OutlinePass).draw(items, self._ctx(target, frame, display), None)

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
        """Accumulates and composes over an image with this number of samples unless it is None."""
        picture, gathering = RenderTarget(self._context), BlendTargets(self._context)
        ctx = self._ctx(picture.begin(*SIZE, samples or 0), render_view.frame(*SIZE), render_view.display())
        transparent = self._picture.passes.get(TransparentPass)
        draw = transparent.gather if samples is None else transparent.draw
        yield from draw(items, picture, ctx, plan, gathering)
        gathering.release()
        picture.release()


def _draw_into_new(target: RenderTarget, samples: int, draw: Draw) -> None:
    draw(target.begin(*SIZE, samples))


def _samples(render_view: RenderView) -> list[int]:
    return sorted({DRAFT_SAMPLES, render_view.view.samples})
