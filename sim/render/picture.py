"""One picture: which stages draw what, in which order, in which part of the image."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

import numpy as np

from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.steps import Steps
from sim.gl.uniform_block import UniformBlock
from sim.guard import Guard
from sim.render.background_pass import BackgroundPass
from sim.render.blended_order import farthest_first
from sim.render.body_pass import BodyPass
from sim.render.detail_pass import DetailPass
from sim.render.frame import FIELDS, Frame
from sim.render.ground_pass import GroundPass
from sim.render.guide_pass import GuidePass
from sim.render.items import Item, Stage
from sim.render.mesh_pass import MeshPass
from sim.render.outline_pass import OutlinePass
from sim.render.overlay_pass import bone_pass, marker_pass
from sim.render.overlay_records import mark_records
from sim.render.painter import Painter, Passes, Scissor
from sim.render.shadow_pass import CASTING, ShadowPass
from sim.render.shot import Shot, divider_pixel
from sim.render.target import RenderTarget
from sim.render.transparent import TransparentPass
from sim.scene.view import Comparison, ViewSettings

if TYPE_CHECKING:
    from sim.render.care.plan import Plan

DRAFT_SAMPLES = 0
Staged = dict[Stage, list[Item]]


@dataclass(frozen=True, slots=True)
class Region:
    """Part of the picture that shows one way of skinning."""

    second: bool
    scissor: Scissor


class Picture:
    """All passes of a picture, and the target they draw into.

    Attributes:
        context: Where everything lives.
        passes: What items draw with.
        block: Constants of the frame, which shaders read.
        target: What is drawn into.
        depth_terms: What tells the depth [m] of what is in it; whether that is of a parallel view is the last.
    """

    def __init__(self, context: Context, library: ShaderLibrary, guard: Guard) -> None:
        self.context = context
        self.passes = Passes(context, library, guard)
        self.block = UniformBlock(context, "Frame", FIELDS)
        self.target = RenderTarget(context)
        self.depth_terms = (0.0, 0.0, 0.0)
        # What most pictures need is compiled now, not when the first of them waits for it.
        for made in (BackgroundPass, ShadowPass, MeshPass, GroundPass, DetailPass, BodyPass, GuidePass, bone_pass,
                     marker_pass, OutlinePass):  # fmt: skip
            self.passes.get(made)

    def bind(self, frame: Frame) -> None:
        for member, value in frame.members().items():
            self.block[member] = value
        self.block.bind()
        self.depth_terms = (*frame.depth_terms, float(frame.camera.orthographic))

    def draw(self, shot: Shot, size: tuple[int, int], plan: "Plan") -> Steps[None]:
        """Draws a shot into the target at a size [px]; there are steps where the plan has some."""
        frame = shot.frame(*size)
        self.bind(frame)
        with plan.scope("background"):
            target = self.target.begin(*size, DRAFT_SAMPLES if plan.is_draft else shot.view.samples)
            self.passes.get(BackgroundPass).draw()
        shadow_map = self.passes.get(ShadowPass).map
        staged: Staged = {}
        outlined: list[tuple[list[Item], Painter]] = []
        for region in _regions(shot.view, size):
            look = shot.look(second=region.second)
            items = shot.items_of(look) if region.second else shot.items
            staged = _staged(items)
            painter = Painter(self.passes, frame, look, target, frame.clip_from_world, shadow_map, region.scissor)
            outlined.append(([item for item in items if shot.overlay.outlines(item)], painter))
            yield from self._draw_region(staged, painter, plan)
        painter = Painter(self.passes, frame, shot.look(), target, frame.clip_from_world, shadow_map)
        with plan.scope("bodies"):
            yield from plan.draw(_farthest_first(staged["glass"], frame), "glass", painter)
        if staged["transparent"]:
            with plan.scope(staged["transparent"][0].group):
                transparent = self.passes.get(TransparentPass)
                yield from transparent.draw(staged["transparent"], self.target, painter, plan)
        for items, region_painter in outlined:
            if items:
                with plan.scope("outline"):
                    self.passes.get(OutlinePass).draw(items, region_painter, shot.outlined)
        with plan.scope("overlay"):
            yield from plan.draw(staged["overlay"], "overlay", painter)
            if shot.overlay.marks:
                self.passes.get(marker_pass).draw(mark_records(shot.marks, shot.overlay.selected_nodes))

    def draw_alone(self, shot: Shot, size: tuple[int, int], plan: "Plan") -> Steps[None]:
        """Draws what has a surface, and what is transparent, over nothing; alpha tells how much is covered."""
        frame = shot.frame(*size)
        self.bind(frame)
        target = self.target.begin(*size, shot.view.samples)
        staged = _staged(shot.items)
        painter = Painter(
            self.passes, frame, shot.look(), target, frame.clip_from_world, self.passes.get(ShadowPass).map
        )
        if frame.casts_shadow:
            yield from self.cast(staged["shadow"], painter, plan)
        yield from plan.draw(staged["opaque"], "opaque", painter)
        yield from plan.draw(staged["detail"], "detail", painter)
        if staged["transparent"]:
            yield from self.passes.get(TransparentPass).draw(staged["transparent"], self.target, painter, plan)

    def cast(self, items: Sequence[Item], painter: Painter, plan: "Plan") -> Steps[None]:
        """Draws what the first lamp sees into the shadow map, and binds the target of the painter again."""
        shadow = self.passes.get(ShadowPass)
        shadow.begin()
        frame, look = painter.frame, painter.look
        caster = Painter(
            self.passes, frame, look, shadow.target, frame.shadow_clip_from_world, shadow.map, state=CASTING
        )
        yield from plan.draw(sorted(items, key=lambda item: item.is_late), "shadow", caster)
        painter.target.bind()

    def release(self) -> None:
        for owner in (self.passes, self.block, self.target):
            owner.release()

    def _draw_region(self, staged: Staged, painter: Painter, plan: "Plan") -> Steps[None]:
        if painter.frame.casts_shadow:
            with plan.scope("shadow"):
                yield from self.cast(staged["shadow"], painter, plan)
        for item in staged["opaque"]:
            with plan.scope(item.group, item.name if item.crowd is None else ""):
                yield from plan.draw((item,), "opaque", painter)
        with plan.scope("details"):
            yield from plan.draw(staged["detail"], "detail", painter)
        with plan.scope("ground"):
            self.passes.get(GroundPass).draw(painter.frame, painter.shadow_map, painter.scissor)


def _farthest_first(items: Sequence[Item], frame: Frame) -> list[Item]:
    """Items in the order in which they are laid over each other."""
    places = [item.middle for item in items]
    if not places:
        return []
    distances = frame.distances(np.array([np.zeros(3) if place is None else place for place in places]))
    distances[[item.is_endless for item in items]] = np.inf
    return [items[number] for number in farthest_first(distances)]


def _staged(items: Sequence[Item]) -> Staged:
    staged: Staged = {stage: [] for stage in get_args(Stage)}
    for item in items:
        for stage in item.stages:
            staged[stage].append(item)
    return staged


def _regions(view: ViewSettings, size: tuple[int, int]) -> tuple[Region, ...]:
    if view.comparison is not Comparison.SPLIT:
        return (Region(False, None),)
    width, height = size
    split = divider_pixel(view.divider, width)
    return Region(False, (0, 0, split, height)), Region(True, (split, 0, width - split, height))
