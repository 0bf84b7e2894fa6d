from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.task import Task
from sinew.sim.gl.uniform_block import UniformBlock
from sinew.sim.guard import Guard
from sinew.sim.render.body_pass import BodyPass
from sinew.sim.render.detail_pass import DetailPass
from sinew.sim.render.environment_pass import EnvironmentPass
from sinew.sim.render.frame import FIELDS, Frame
from sinew.sim.render.ground_pass import BackgroundPass, GroundPass
from sinew.sim.render.items import Item, Stage
from sinew.sim.render.mesh_pass import MeshPass
from sinew.sim.render.occlusion_pass import OcclusionPass
from sinew.sim.render.overlay_pass import GuidePass, bone_pass, mark_records, marker_pass
from sinew.sim.render.pass_context import PassContext, Passes, Scissor
from sinew.sim.render.pick_pass import OutlinePass
from sinew.sim.render.render_view import RenderView, divider_pixel
from sinew.sim.render.shadow_pass import CASTING, ShadowPass
from sinew.sim.render.surface import farthest_first
from sinew.sim.render.target import RenderTarget
from sinew.sim.render.transparent import TransparentPass
from sinew.sim.scene.view import SkinningComparison, ViewSettings

if TYPE_CHECKING:
    from sinew.sim.render.progressive.frame_plan import FramePlan

DRAFT_SAMPLES = 0
Staged = dict[Stage, list[Item]]


class FrameRenderer(Owner):
    """Renderer of frames; `depth_terms` are the `Frame.depth_terms` of the last image, and 1 if it is orthographic."""

    def __init__(self, context: Context, library: ShaderLibrary, guard: Guard) -> None:
        self.context = context
        self.target = self.owns(RenderTarget(context))
        self.block = self.owns(UniformBlock(context, "Frame", FIELDS))
        self.passes = self.owns(Passes(context, library, guard))
        self.depth_terms = (0.0, 0.0, 0.0)
        # Compile the common shaders now, not during the first frame.
        for pass_class in (BackgroundPass, ShadowPass, MeshPass, GroundPass, DetailPass, BodyPass, GuidePass, bone_pass,
                     marker_pass, OutlinePass):  # fmt: skip
            self.passes.get(pass_class)

    def bind(self, frame: Frame) -> None:
        for member, value in frame.members().items():
            self.block[member] = value
        self.block.bind()
        self.depth_terms = (*frame.depth_terms, float(frame.camera.orthographic))

    def draw(self, render_view: RenderView, size: tuple[int, int], plan: "FramePlan") -> Task[None]:
        """Draws an image of `size` in pixels; yields wherever the plan does."""
        frame = render_view.frame(*size)
        self.bind(frame)
        with plan.scope("background"):
            is_smooth = frame.sample is not None and frame.sample.smooths
            samples = DRAFT_SAMPLES if plan.is_draft or is_smooth else render_view.view.samples
            target = self.target.begin(*size, samples, is_linear="LINEAR" in frame.macros)
            self._draw_background(frame, target)
        shadow_map = self.passes.get(ShadowPass).map
        staged: Staged = {}
        outlined: list[tuple[list[Item], PassContext]] = []
        for is_second, scissor in _regions(render_view.view, size):
            display = render_view.display(second=is_second)
            region_items = render_view.items_of(display) if is_second else render_view.items
            staged = _staged(region_items)
            ctx = PassContext(
                self.passes, frame, display, target, frame.clip_from_world, shadow_map, scissor, quality=plan.quality
            )
            outlined.append(([item for item in region_items if render_view.overlay.outlines(item)], ctx))
            yield from self._draw_region(staged, ctx, plan)
        ctx = PassContext(
            self.passes, frame, render_view.display(), target, frame.clip_from_world, shadow_map, quality=plan.quality
        )
        with plan.scope("bodies"):
            yield from plan.draw(_farthest_first(staged["glass"], frame), "glass", ctx)
        if staged["transparent"]:
            with plan.scope(staged["transparent"][0].group):
                transparent = self.passes.get(TransparentPass)
                yield from transparent.draw(staged["transparent"], self.target, ctx, plan)
        for items, region_ctx in outlined:
            if items:
                with plan.scope("outline"):
                    self.passes.get(OutlinePass).draw(items, region_ctx, render_view.outlined)
        with plan.scope("overlay"):
            yield from plan.draw(staged["overlay"], "overlay", ctx)
            if render_view.overlay.marks:
                self.passes.get(marker_pass).draw(mark_records(render_view.marks, render_view.overlay.selected_nodes))

    def _draw_background(self, frame: Frame, target: Framebuffer) -> None:
        around = frame.environment
        if around is not None:
            # Made with the first frame of the window, although it may show no surface yet.
            self.passes.get(EnvironmentPass).uniforms(around.panorama, target)
        if around is not None and around.is_backdrop:
            self.passes.get(EnvironmentPass).draw_backdrop(frame)
        else:
            self.passes.get(BackgroundPass).draw(is_linear="LINEAR" in frame.macros)

    def draw_alone(self, render_view: RenderView, size: tuple[int, int], plan: "FramePlan") -> Task[None]:
        """Draws surfaces and transparent items only, over nothing; alpha is the coverage."""
        frame = render_view.frame(*size)
        self.bind(frame)
        target = self.target.begin(*size, render_view.view.samples)
        staged = _staged(render_view.items)
        ctx = PassContext(
            self.passes, frame, render_view.display(), target, frame.clip_from_world, self.passes.get(ShadowPass).map
        )
        if frame.casts_shadow:
            yield from self.cast(staged["shadow"], ctx, plan)
        yield from plan.draw(staged["opaque"], "opaque", ctx)
        yield from plan.draw(staged["detail"], "detail", ctx)
        if staged["transparent"]:
            yield from self.passes.get(TransparentPass).draw(staged["transparent"], self.target, ctx, plan)

    def cast(self, items: Sequence[Item], ctx: PassContext, plan: "FramePlan") -> Task[None]:
        """Draws the shadow map, and binds the target of the context again."""
        shadow = self.passes.get(ShadowPass)
        shadow.begin()
        projection = ctx.frame.shadow_clip_from_world
        caster = PassContext(self.passes, ctx.frame, ctx.display, shadow.target, projection, shadow.map, state=CASTING)
        yield from plan.draw(sorted(items, key=lambda item: item.is_late), "shadow", caster)
        ctx.target.bind()

    def _draw_region(self, staged: Staged, ctx: PassContext, plan: "FramePlan") -> Task[None]:
        if ctx.frame.casts_shadow:
            with plan.scope("shadow"):
                yield from self.cast(staged["shadow"], ctx, plan)
        if plan.quality.has_occlusion and ctx.frame.has_occlusion:
            with plan.scope("occlusion"):
                ctx = replace(ctx, occlusion=self.passes.get(OcclusionPass).draw(staged["opaque"], ctx))
        for item in staged["opaque"]:
            with plan.scope(item.group, item.name if item.instances is None else ""):
                yield from plan.draw((item,), "opaque", ctx)
        with plan.scope("details"):
            yield from plan.draw(staged["detail"], "detail", ctx)
        with plan.scope("ground"):
            self.passes.get(GroundPass).draw(ctx.frame, ctx.shadow_map, ctx.scissor)


def _farthest_first(items: Sequence[Item], frame: Frame) -> list[Item]:
    if not items:
        return []
    centres = [np.zeros(3) if item.middle is None else item.middle for item in items]
    distances = frame.distances(np.array(centres))
    distances[[item.is_endless for item in items]] = np.inf
    return [items[number] for number in farthest_first(distances)]


def _staged(items: Sequence[Item]) -> Staged:
    staged: Staged = {stage: [] for stage in get_args(Stage)}
    for item in items:
        for stage in item.stages:
            staged[stage].append(item)
    return staged


def _regions(view: ViewSettings, size: tuple[int, int]) -> tuple[tuple[bool, Scissor], ...]:
    """Returns True for regions of the second skinning method, with their scissor rectangles."""
    if view.comparison is not SkinningComparison.SPLIT:
        return ((False, None),)
    width, height = size
    split = divider_pixel(view.divider, width)
    return (False, (0, 0, split, height)), (True, (split, 0, width - split, height))
