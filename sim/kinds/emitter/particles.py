"""The particles of an emitter, as an item of a picture."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from sim.assets.model import Bounds
from sim.gl.state import PipelineState
from sim.gl.texture import Texture2D
from sim.kinds.emitter.emitter import Emitter
from sim.kinds.emitter.particle_programs import BLENDINGS, LOOKS, Batch, ParticlePrograms
from sim.kinds.emitter.settings import Blending, EmitterSettings, ParticleLook
from sim.render.items import WHOLE, BlendMode, DrawChunk, Item, ShaderVariant, Stage
from sim.render.pass_context import PassContext
from sim.render.pick_pass import PickPass
from sim.scene.scene import Node

_PICKED = PipelineState(multisample=False)
_SOLID = PipelineState(alpha_coverage=True, colour_mask=(True, True, True, False))


@dataclass(eq=False, kw_only=True)
class Particles(Item):
    """Opaque ones stand among the surfaces, all others gather; other settings need another item.

    Attributes:
        emitter: The particles themselves.
        life: Colour, opacity and size over the life.
        picture: The image of a textured particle, where there is one.
        reach: Tells where they are, as far as is known.
    """

    group: str = "particles"
    emitter: Emitter
    life: Texture2D
    picture: Texture2D | None
    reach: Callable[[], Bounds | None]

    @classmethod
    def of(
        cls,
        node: Node,
        emitter: Emitter,
        life: Texture2D,
        picture: Texture2D | None,
        reach: Callable[[], Bounds | None],
    ) -> "Particles":
        settings = emitter.settings
        is_opaque, is_soft = settings.blending is Blending.OPAQUE, settings.softness > 0.0
        stages: tuple[Stage, ...] = ("shadow", "opaque", "pick") if is_opaque else ("transparent", "pick")
        blend = BlendMode(settings.blending is Blending.ADDITIVE, is_soft and not is_opaque)
        return cls(node=node, stages=stages, blend=blend, emitter=emitter, life=life, picture=picture, reach=reach)

    @property
    def instances(self) -> int:
        return self.emitter.slot_count

    @property
    def settings(self) -> EmitterSettings:
        return self.emitter.settings

    @cached_property
    def look(self) -> ParticleLook:
        """Form of its particles: round spots stand in for a picture that is not there."""
        is_textured = self.settings.look is ParticleLook.TEXTURED
        return ParticleLook.ROUND if is_textured and self.picture is None else self.settings.look

    @cached_property
    def form(self) -> tuple[int, int]:
        """`LOOK` and `BLENDING` of the shaders."""
        return LOOKS[self.look], BLENDINGS[self.settings.blending]

    @cached_property
    def largest(self) -> float:
        """Width of the largest particle that occurs [m]."""
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
        batch = Batch(self, ctx, part.stride, lights, casts, part.variant[-1] if part.variant else None)
        program = programs.prepared(batch)
        state = _SOLID.within(ctx.scissor) if stage == "opaque" else ctx.state
        state.apply(ctx.context)
        programs.draw(program, part.first, part.count)
