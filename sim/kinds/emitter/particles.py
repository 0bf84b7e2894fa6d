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
from sim.render.items import WHOLE, Item, Part, Stage, Veil, Way
from sim.render.painter import Painter
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
        is_solid, is_soft = settings.blending is Blending.OPAQUE, settings.softness > 0.0
        stages: tuple[Stage, ...] = ("shadow", "opaque", "pick") if is_solid else ("transparent", "pick")
        veil = Veil(settings.blending is Blending.ADDITIVE, is_soft and not is_solid)
        return cls(node=node, stages=stages, veil=veil, emitter=emitter, life=life, picture=picture, reach=reach)

    @property
    def crowd(self) -> int:
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

    def ways(self, lamps: int) -> tuple[Way, ...]:
        way = (self.look, self.settings.blending, self.veil.is_soft, lamps)
        sprites = (False,) if self.look is ParticleLook.STREAK else (True, False)
        return tuple((*way, kind) for kind in sprites)

    def draw(self, stage: Stage, painter: Painter, part: Part = WHOLE) -> None:
        programs = painter.get(ParticlePrograms)
        if stage == "pick":
            program = programs.prepared(Batch(self, painter, casts=True, sprites=False, picks=True))
            program["u_object"] = painter.get(PickPass).current
            _PICKED.apply(painter.context)
            programs.draw(program, 0, self.crowd)
            return
        casts = stage == "shadow"
        lamps = 0 if casts or self.settings.blending is Blending.ADDITIVE else len(painter.frame.lamps)
        batch = Batch(self, painter, part.stride, lamps, casts, part.way[-1] if part.way else None)
        program = programs.prepared(batch)
        state = _SOLID.within(painter.scissor) if stage == "opaque" else painter.state
        state.apply(painter.context)
        programs.draw(program, part.first, part.count)
