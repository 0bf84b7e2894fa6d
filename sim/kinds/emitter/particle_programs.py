"""Programs that draw particles, by what they look like and how they blend, with the values of an emitter in them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.program import Program
from sim.gl.vertex_array import VertexArray
from sim.kinds.emitter.settings import AtlasMode, Blending, ParticleLook
from sim.render.pass_context import PassContext
from sim.render.progressive.frame_plan import lod_scale
from sim.render.projection import Projection

if TYPE_CHECKING:
    from sim.kinds.emitter.particles import Particles

LOOKS = {ParticleLook.ROUND: 0, ParticleLook.TEXTURED: 1, ParticleLook.STREAK: 2}
BLENDINGS = {Blending.ADDITIVE: 0, Blending.ALPHA: 1, Blending.OPAQUE: 2}
SHADOW_TAPS = 2  # on particles
LEAST_COVERED, HALF_COVERED = 0.1, 0.5


@dataclass(frozen=True, slots=True)
class Batch:
    """The particles of an emitter in one pass.

    Attributes:
        particles: Of which emitter.
        ctx: For which pass.
        stride: Slots to one that is drawn.
        lights: Lamps that light them.
        casts: Whether it is a light that sees them.
        sprites: Whether point sprites are drawn; None for what suits their size.
        picks: Whether it is to tell what is under the mouse.
    """

    particles: "Particles"
    ctx: PassContext
    stride: int = 1
    lights: int = 0
    casts: bool = False
    sprites: bool | None = None
    picks: bool = False


class ParticlePrograms:
    """Makes programs when they are first needed, and draws with them.

    Small round spots and pictures are point sprites, one vertex each; streaks, and what may become large, are quads:
    drivers bound the size of points, and a point vanishes as a whole when its centre leaves the picture. On a software
    renderer a million sprites take two thirds of the time of a million quads.

    Args:
        context: Where they live.
        library: Where they come from.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._library = library
        self._point_limit = context.capabilities.point_size_range[1]
        self._programs: dict[tuple[int, int, int, bool, bool, bool, bool], Program] = {}
        self._last: tuple[PassContext, Projection] | None = None
        self._set_for: dict[Program, PassContext] = {}
        self._sprites: set[Program] = set()
        self._nothing = VertexArray(context, label="particles drawn")

    def prepared(self, batch: Batch) -> Program:
        """The program for a batch with everything set; what all of a pass share is set once."""
        projection = self._projection(batch.ctx)
        program, particles = self._program(batch, projection), batch.particles
        if self._set_for.get(program) is not batch.ctx:
            self._set_for[program] = batch.ctx
            _set_pass(program, batch, projection)
        settings = particles.settings
        for name, value in particles.emitter.look_uniforms.items():
            program[name] = value
        program["u_state"], program["u_life"] = particles.emitter.state, particles.life
        program["u_stride"], program["u_swell"] = batch.stride, lod_scale(batch.stride)
        if batch.ctx.scene_depth is not None:
            program["u_softness"] = settings.softness
        program.set_if_active("u_variance", settings.brightness_variance)
        if particles.look is ParticleLook.STREAK:
            program["u_streak_time"] = settings.streak_time
        if particles.look is ParticleLook.TEXTURED:
            _set_picture(program, particles)
        return program

    def draw(self, program: Program, first: int, count: int) -> None:
        """Draws so many particles of a batch with its program, from the first one on."""
        program["u_first"] = first
        if program in self._sprites:
            self._nothing.draw(program, "points", count=count)
        elif count:
            self._nothing.draw(program, "triangle_strip", count=4, instances=count)

    def release(self) -> None:
        self._nothing.release()
        self._last = None
        self._set_for.clear()

    def _projection(self, ctx: PassContext) -> Projection:
        if self._last is None or self._last[0] is not ctx:
            self._last = ctx, Projection(ctx.clip_from_world, ctx.target.size)
        return self._last[1]

    def _program(self, batch: Batch, projection: Projection) -> Program:
        particles = batch.particles
        is_soft = particles.blend.is_soft and not batch.casts
        sprites = self._takes_sprites(batch, projection)
        look, blending = particles.form
        variant = look, blending, batch.lights, is_soft, sprites, batch.casts, batch.picks
        program = self._programs.get(variant)
        if program is None:
            flags = {"SOFT": is_soft, "SPRITES": sprites, "CAST": batch.casts, "PICK": batch.picks}
            numbers = {"LOOK": look, "BLENDING": blending, "LIGHT_COUNT": batch.lights, "SHADOW_TAPS": SHADOW_TAPS}
            defines = {**numbers, **{name: True for name, on in flags.items() if on}}
            fragment = "emitter/cast.frag" if batch.casts else "emitter/draw.frag"
            program = self._programs[variant] = self._library.program("emitter/draw.vert", fragment, defines=defines)
            if sprites:
                self._sprites.add(program)
        return program

    def _takes_sprites(self, batch: Batch, projection: Projection) -> bool:
        if batch.particles.look is ParticleLook.STREAK:
            return False
        if batch.sprites is not None:
            return batch.sprites
        largest = batch.particles.largest * lod_scale(batch.stride)[0]
        return projection.takes_sprites(largest, batch.particles.reach(), self._point_limit)


def _set_pass(program: Program, batch: Batch, projection: Projection) -> None:
    ctx, frame = batch.ctx, batch.ctx.frame
    program["u_clip_from_world"], program["u_scale"] = projection.clip_from_world, projection.scale
    program["u_viewport"] = projection.viewport
    program.set_if_active("u_middle", frame.middle_depth)
    program.set_if_active("u_least", LEAST_COVERED if ctx.target.samples else HALF_COVERED)
    program.set_if_active("u_shadow_map", ctx.shadow_map)
    if ctx.scene_depth is not None:
        program["u_scene_depth"], program["u_depth_terms"] = ctx.scene_depth, frame.depth_terms
        program["u_height"] = frame.height_terms


def _set_picture(program: Program, particles: "Particles") -> None:
    settings, picture = particles.settings, particles.picture
    assert picture is not None
    over_life = settings.atlas_mode is AtlasMode.OVER_LIFE
    program["u_picture"] = picture
    program["u_atlas"] = (settings.atlas_columns, settings.atlas_rows, float(over_life))
    program["u_turn"] = np.radians(settings.picture_turn)
    program.set_if_active("u_inset", (0.5 / picture.size[0], 0.5 / picture.size[1]))
