from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sinew.sim.assets.model import Bounds
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.program import Program
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.texture import Texture2D
from sinew.sim.kinds.emitter.emitter import Emitter
from sinew.sim.kinds.emitter.settings import AtlasMode, Blending, EmitterSettings, ParticleLook
from sinew.sim.maths.arrays import Float32
from sinew.sim.render.items import WHOLE, BlendMode, DrawChunk, Item, ShaderVariant, Stage
from sinew.sim.render.pass_context import PassContext
from sinew.sim.render.pick_pass import PickPass
from sinew.sim.render.progressive.frame_plan import lod_scale
from sinew.sim.render.projection import Projection
from sinew.sim.scene.vectors import check_stops, values_at

LOOKS = {ParticleLook.ROUND: 0, ParticleLook.TEXTURED: 1, ParticleLook.STREAK: 2}
BLENDINGS = {Blending.ADDITIVE: 0, Blending.ALPHA: 1, Blending.OPAQUE: 2}
SHADOW_TAPS = 2  # on particles
LEAST_COVERED, HALF_COVERED = 0.1, 0.5


@dataclass(frozen=True, slots=True)
class Batch:
    particles: "Particles"
    ctx: PassContext
    stride: int = 1  # Every n-th slot is drawn
    lights: int = 0
    macros: tuple[str, ...] = ()
    casts: bool = False  # Seen by a light
    sprites: bool | None = None  # Whether point sprites are drawn; None chooses by their size
    picks: bool = False


class ParticlePrograms(Owner):
    """Programs of particles, compiled at their first use.

    Small round particles and images are point sprites, one vertex each.  Streaks, and particles that may become large,
    are quads: drivers limit the size of points, and a point is clipped as a whole when its centre leaves the viewport.
    On a software renderer a million sprites take two thirds of the time of a million quads.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._library = library
        self._point_limit = context.capabilities.point_size_range[1]
        self._programs: dict[tuple[object, ...], Program] = {}
        self._last: tuple[PassContext, Projection] | None = None
        self._set_for: dict[Program, PassContext] = {}
        self._sprites: set[Program] = set()

    def prepared(self, batch: Batch) -> Program:
        if self._last is None or self._last[0] is not batch.ctx:
            self._last = batch.ctx, Projection(batch.ctx.clip_from_world, batch.ctx.target.size)
        projection = self._last[1]
        program, particles = self._program(batch, projection), batch.particles
        if self._set_for.get(program) is not batch.ctx:
            self._set_for[program] = batch.ctx
            _set_pass(program, batch, projection)
        settings = particles.settings
        for name, value in particles.emitter.look_uniforms.items():
            program[name] = value
        program["u_state"], program["u_life"] = particles.emitter.side.texture, particles.life
        scale, share = lod_scale(batch.stride)
        if particles.settings.blending is Blending.ADDITIVE:
            share *= batch.ctx.frame.exposure
        program["u_stride"], program["u_swell"] = batch.stride, (scale, share)
        if batch.ctx.scene_depth is not None:
            program["u_softness"] = settings.softness
        program.set_if_active("u_variance", settings.brightness_variance)
        if particles.look is ParticleLook.STREAK:
            program["u_streak_time"] = settings.streak_time
        if particles.look is ParticleLook.TEXTURED:
            _set_image(program, particles)
        return program

    def draw(self, program: Program, first: int, count: int) -> None:
        program["u_first"] = first
        if program in self._sprites:
            self._library.no_vertices.draw(program, "points", count=count)
        elif count:
            self._library.no_vertices.draw(program, "triangle_strip", count=4, instances=count)

    def release(self) -> None:
        super().release()
        self._last = None
        self._set_for.clear()

    def _program(self, batch: Batch, projection: Projection) -> Program:
        particles = batch.particles
        is_soft = particles.blend.is_soft and not batch.casts
        sprites = self._takes_sprites(batch, projection)
        look, blending = particles.form
        variant = look, blending, batch.lights, batch.macros, is_soft, sprites, batch.casts, batch.picks
        program = self._programs.get(variant)
        if program is None:
            flags = {"SOFT": is_soft, "SPRITES": sprites, "CAST": batch.casts, "PICK": batch.picks}
            numbers = {"LOOK": look, "BLENDING": blending, "LIGHT_COUNT": batch.lights, "SHADOW_TAPS": SHADOW_TAPS}
            defines = {
                **numbers,
                **{name: True for name, on in flags.items() if on},
                **dict.fromkeys(batch.macros, True),
            }
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


def _set_image(program: Program, particles: "Particles") -> None:
    settings, image = particles.settings, particles.image
    assert image is not None
    over_life = settings.atlas_mode is AtlasMode.OVER_LIFE
    program["u_image"] = image
    program["u_atlas"] = (settings.atlas_columns, settings.atlas_rows, float(over_life))
    program["u_turn"] = np.radians(settings.picture_turn)
    program.set_if_active("u_inset", (0.5 / image.size[0], 0.5 / image.size[1]))


_PICKED = PipelineState(multisample=False)
_SOLID = PipelineState(alpha_coverage=True, colour_mask=(True, True, True, False))


@dataclass(eq=False, kw_only=True)
class Particles(Item):
    """Particles with fixed settings; opaque ones are drawn with the surfaces, the others blend."""

    group: str = "particles"
    emitter: Emitter
    life: Texture2D  # Colour, opacity and size over the life, see `life_table`
    image: Texture2D | None  # The image of textured particles
    reach: Callable[[], Bounds | None]  # Returns their bounds in the world, if known

    def __post_init__(self) -> None:
        is_opaque, is_soft = self.settings.blending is Blending.OPAQUE, self.settings.softness > 0.0
        self.stages = ("shadow", "opaque", "pick") if is_opaque else ("transparent", "pick")
        self.blend = BlendMode(self.settings.blending is Blending.ADDITIVE, is_soft and not is_opaque)

    @property
    def instances(self) -> int:
        return self.emitter.slot_count

    @property
    def settings(self) -> EmitterSettings:
        return self.emitter.settings

    @cached_property
    def look(self) -> ParticleLook:
        """Shape of the particles; round if the image is missing."""
        is_textured = self.settings.look is ParticleLook.TEXTURED
        return ParticleLook.ROUND if is_textured and self.image is None else self.settings.look

    @cached_property
    def form(self) -> tuple[int, int]:
        """Values of `LOOK` and `BLENDING` of the shaders."""
        return LOOKS[self.look], BLENDINGS[self.settings.blending]

    @cached_property
    def largest(self) -> float:
        """Largest width of a particle [m]."""
        factor = max(stop[1] for stop in self.settings.size_over_life)
        return self.settings.size * (1.0 + self.settings.size_variance) * factor

    def variants(self, lights: int) -> tuple[ShaderVariant, ...]:
        variant = (self.look, self.settings.blending, self.blend.is_soft, lights)
        sprites = (False,) if self.look is ParticleLook.STREAK else (True, False)
        return tuple((*variant, kind) for kind in sprites)

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:
        programs = ctx.get(ParticlePrograms)
        if stage == "pick":
            program = programs.prepared(Batch(self, ctx, casts=True, sprites=False, picks=True))
            program["u_object"] = ctx.get(PickPass).current
            _PICKED.apply(ctx.context)
            programs.draw(program, 0, self.instances)
            return
        casts = stage == "shadow"
        lights = 0 if casts or self.settings.blending is Blending.ADDITIVE else len(ctx.frame.lights)
        macros = () if casts else ctx.frame.macros
        batch = Batch(self, ctx, part.stride, lights, macros, casts, part.variant[-1] if part.variant else None)
        program = programs.prepared(batch)
        state = _SOLID.within(ctx.scissor) if stage == "opaque" else ctx.state
        state.apply(ctx.context)
        programs.draw(program, part.first, part.count)


TABLE_SIZE = 256


class GradientTexture(Owner):
    def __init__(self, context: Context) -> None:
        texture = Texture2D(context, (TABLE_SIZE, 2), "rgba32f", filtering="nearest", label="particle life")
        self._texture = self.owns(texture)
        self._written: tuple[object, ...] | None = None

    def texture(self, settings: EmitterSettings) -> Texture2D:
        """Returns the table of settings as texture; raises SettingsError for stops that are out of order."""
        key = (settings.colour_over_life, settings.opacity_over_life, settings.size_over_life, settings.brightness)
        if self._written != key:
            self._texture.write(life_table(settings))
            self._written = key
        return self._texture


def life_table(settings: EmitterSettings) -> Float32:
    """Returns linear red, green, blue, opacity | size, 0, 0, 0 over the life, (2, TABLE_SIZE, 4), with brightness.

    Texel i is the share i / (TABLE_SIZE - 1) of the life.

    Raises:
        SettingsError: For stops that are out of order.
    """
    places = np.linspace(0.0, 1.0, TABLE_SIZE)
    out = np.zeros((2, TABLE_SIZE, 4), np.float32)
    for name in ("colour_over_life", "opacity_over_life", "size_over_life"):
        check_stops(getattr(settings, name), name.replace("_", " "))
    out[0, :, :3] = values_at(settings.colour_over_life, places) * settings.brightness
    out[0, :, 3:] = values_at(settings.opacity_over_life, places)
    out[1, :, :1] = values_at(settings.size_over_life, places)
    return out
