"""One picture: which passes draw what, in which order, in which part of the image."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.steps import Steps, finish
from sim.gl.uniform_block import UniformBlock
from sim.kinds.collider.view import ColliderPass
from sim.kinds.emitter.outline import emitter_outline
from sim.kinds.emitter.particle_crowd import Crowd, Pace, unmeasured
from sim.kinds.emitter.particle_draft import DraftBudget
from sim.kinds.emitter.particle_pass import ParticlePass
from sim.kinds.emitter.particle_rehearsal import SIZE as SECRET_SIZE
from sim.kinds.emitter.particle_rehearsal import ParticleRehearsal, Setting
from sim.kinds.emitter.view import EmitterView
from sim.render.background_pass import BackgroundPass
from sim.render.detail_pass import DetailPass
from sim.render.frame import FIELDS, Light
from sim.render.ground_pass import GroundPass
from sim.render.guide_pass import GuidePass
from sim.render.mesh_pass import MeshPass
from sim.render.overlay_pass import bone_pass, marker_pass
from sim.render.overlay_records import emitter_markers, light_markers
from sim.render.pending_picture import PendingPicture
from sim.render.rehearsal import Rehearsal
from sim.render.shadow_pass import ShadowPass
from sim.render.shot import Look, Overlay, Shot, divider_pixel
from sim.render.target import RenderTarget
from sim.scene.view import Comparison, ViewSettings

Scissor = tuple[int, int, int, int] | None
DRAFT_SAMPLES = 0

AT_ONCE = 20_000
"""Particles above which a software renderer takes too long for a whole picture in one go."""


@dataclass(frozen=True, slots=True)
class Region:
    """Part of the picture that shows one way of skinning."""

    second: bool
    scissor: Scissor


class Picture:
    """All passes of a picture, and the target they draw into."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._timers = context, context.timers
        self._block = UniformBlock(context, "Frame", FIELDS)
        self._target = RenderTarget(context)
        self._background = BackgroundPass(context, library)
        self._shadow = ShadowPass(context, library)
        self._mesh = MeshPass(context, library)
        self._ground = GroundPass(context, library)
        self._details = DetailPass(context, library)
        self._colliders = ColliderPass(context, library)
        self._particles = ParticlePass(context, library)
        self._is_software = context.capabilities.is_software
        self._pace = Pace()
        self._drafts = DraftBudget(self._is_software)
        self._rehearsal = ParticleRehearsal(context, self._block, self._particles, self._shadow)
        self._guides = GuidePass(context, library)
        self._bones = bone_pass(context, library)
        self._markers = marker_pass(context, library)

    def draw(self, output: Framebuffer, shot: Shot, overlay: Overlay, draft: bool = False) -> None:
        """Draws everything and copies it to `output`; a draft leaves out the antialiasing, and most of many particles.

        Of how many it leaves out depends on the time that drafts took before.
        """
        frame = shot.frame(*output.size)
        crowd = Crowd.of(shot.emitters, frame, self._timers.scope, budget=self._drafts.particles if draft else None)
        self._particles.draft_time = 0.0
        finish(self._steps(shot, overlay, crowd))
        if draft:
            self._drafts.note(self._particles.draft_time, crowd.drawn)
        with self._timers.scope("resolve"):
            self._target.finish(output)

    def begin(self, size: tuple[int, int], shot: Shot, overlay: Overlay) -> PendingPicture:
        """Has everything drawn at a size [px] without waiting for it; the next picture replaces it.

        Of very many particles a software renderer has drawn only some when the call returns.
        """
        crowd = Crowd.of(shot.emitters, shot.frame(*size), unmeasured, pace=self._pace if self._is_software else None)
        steps = self._steps(shot, overlay, crowd)
        picture = PendingPicture(self._context, self._block, self._target, size, steps, self._pace)
        if self.takes_one_go(crowd.drawn):
            picture.hand_out(math.inf)
        return picture

    def takes_one_go(self, particles: int) -> bool:
        """Whether a picture in full with so many particles can be drawn without a break."""
        return not self._is_software or particles <= AT_ONCE

    def rehearse(self, shot: Shot) -> Steps[None]:
        """Draws a shot where nobody sees it, in steps, so that the driver has compiled what its pictures need."""
        passes = Rehearsal(
            self._context, self._block, self._background, self._shadow, self._mesh, self._ground, self._bones,
            self._markers,
        )  # fmt: skip
        return passes.play(shot, (DRAFT_SAMPLES, shot.view.samples))

    def needs_rehearsal(self, emitters: Sequence[EmitterView], lights: Sequence[Light], samples: int) -> bool:
        """Whether pictures with these would wait for the driver to compile how their particles are drawn."""
        return bool(emitters) and self._rehearsal.is_needed(emitters, Setting.of(lights, samples))

    def rehearse_particles(self, shot: Shot) -> bool:
        """Draws particles in one way that is new where nobody sees it; returns whether there was one."""
        setting = Setting.of(shot.lights, shot.view.samples)
        return self._rehearsal.play(shot.emitters, setting, shot.frame(*SECRET_SIZE))

    def release(self) -> None:
        """Deletes what the passes own."""
        for owner in (self._block, self._target, self._background, self._shadow, self._mesh, self._ground,
                      self._details, self._particles, self._guides, self._bones, self._markers):  # fmt: skip
            owner.release()

    def _steps(self, shot: Shot, overlay: Overlay, crowd: Crowd) -> Steps[None]:
        """Draws everything into the target; there are steps where there are particles."""
        frame, size = crowd.frame, (crowd.frame.width, crowd.frame.height)
        for member, value in frame.members().items():
            self._block[member] = value
        self._block.bind()
        with crowd.scope("background"):
            target = self._target.begin(*size, DRAFT_SAMPLES if crowd.is_draft else shot.view.samples)
            self._background.draw()
        for region in _regions(shot.view, size):
            yield from self._draw_region(target, shot, region, overlay, crowd)
        with crowd.scope("bodies"):
            self._colliders.draw(shot.bodies)
        if crowd.views:
            with crowd.scope("particles"):
                yield from self._particles.draw_transparent(crowd, self._target)
        with crowd.scope("overlay"):
            self._draw_overlay(shot, overlay)

    def _draw_region(
        self, target: Framebuffer, shot: Shot, region: Region, overlay: Overlay, crowd: Crowd
    ) -> Steps[None]:
        look = Look(shot.view, overlay, region.second)
        shown = [(drawable, surface) for drawable in shot.drawables if (surface := drawable.surface(look)) is not None]
        scope = crowd.scope
        if crowd.frame.casts_shadow:
            with scope("shadow"):
                self._shadow.draw(crowd.frame.shadow_clip_from_world, [surface for _, surface in shown])
                yield from self._particles.cast(crowd, self._shadow.target)
                target.bind()
        for drawable, surface in shown:
            with scope(drawable.group, shot.name_of(drawable.node_id)):
                self._mesh.draw(
                    surface, shot.view.display, shot.view.textures, len(shot.lights), self._shadow.map, region.scissor
                )
        if crowd.views:
            with scope("particles"):
                yield from self._particles.draw_opaque(crowd, self._shadow.map, target, region.scissor)
            target.bind()
        with scope("details"):
            for drawable in shot.drawables:
                for detail in drawable.details(overlay):
                    self._details.draw(detail, region.scissor)
        with scope("ground"):
            self._ground.draw(crowd.frame, self._shadow.map, region.scissor)

    def _draw_overlay(self, shot: Shot, overlay: Overlay) -> None:
        if shot.view.bones:
            for drawable in shot.drawables:
                bones, joints = drawable.overlay_records(overlay)
                self._bones.draw(bones)
                self._markers.draw(joints)
        for mark in shot.marks:
            if mark.node_id == overlay.selected_node:
                self._guides.draw(emitter_outline(mark.settings), mark.world_from_source)
        if overlay.marks:
            self._markers.draw(light_markers(shot.lights))
            self._markers.draw(emitter_markers(shot.marks, overlay.selected_node))


def _regions(view: ViewSettings, size: tuple[int, int]) -> tuple[Region, ...]:
    if view.comparison is not Comparison.SPLIT:
        return (Region(False, None),)
    width, height = size
    split = divider_pixel(view.divider, width)
    return Region(False, (0, 0, split, height)), Region(True, (split, 0, width - split, height))
