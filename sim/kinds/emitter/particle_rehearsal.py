"""Draws particles where nobody sees them, one way after the other, before a picture needs that way.

A driver compiles shaders when something is drawn for the first time with these textures, targets and samples; all that
an emitter of a new look needs would take a software renderer up to half a second in one go.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sim.gl.context import Context
from sim.gl.steps import finish
from sim.gl.uniform_block import UniformBlock
from sim.kinds.emitter.particle_crowd import Crowd, unmeasured
from sim.kinds.emitter.particle_pass import ParticlePass
from sim.kinds.emitter.particle_target import ParticleTarget
from sim.kinds.emitter.settings import Blending, ParticleLook
from sim.kinds.emitter.view import EmitterView
from sim.render.frame import Frame, Light
from sim.render.shadow_pass import ShadowPass
from sim.render.target import RenderTarget

SIZE = (16, 16)
Act = Callable[[Frame], None]
Way = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """What the ways to draw particles depend on, apart from the emitters.

    Attributes:
        lights: How many lamps there are.
        casts_shadow: Whether the first of them casts a shadow.
        samples: Samples of a pixel in drafts and in pictures in full.
    """

    lights: int
    casts_shadow: bool
    samples: tuple[int, ...]

    @classmethod
    def of(cls, lights: Sequence[Light], samples: int) -> "Setting":
        """For lamps and a number of samples."""
        return cls(len(lights), bool(lights) and lights[0].settings.shadow, tuple(sorted({0, samples})))


class ParticleRehearsal:
    """Knows in which ways particles were drawn.

    Args:
        context: Where they are drawn.
        block: What the passes read of the frame.
        particles: The pass that is rehearsed.
        shadow: Its map is drawn into, as every picture does that casts shadows.
    """

    def __init__(self, context: Context, block: UniformBlock, particles: ParticlePass, shadow: ShadowPass) -> None:
        self._context, self._block = context, block
        self._particles, self._shadow = particles, shadow
        self._met: set[Way] = set()

    def is_needed(self, views: Iterable[EmitterView], setting: Setting) -> bool:
        """Whether pictures with these emitters draw in a way that is new."""
        return any(way not in self._met for way, _ in self._ways(views, setting))

    def play(self, views: Iterable[EmitterView], setting: Setting, frame: Frame) -> bool:
        """Draws in the first way that is new; returns whether there is one."""
        for way, act in self._ways(views, setting):
            if way not in self._met:
                self._met.add(way)
                self._context.invalidate()
                self._block.bind()
                act(frame)
                # What is bound may be deleted before the next call.
                self._context.bind_default_framebuffer()
                return True
        return False

    def _ways(self, views: Iterable[EmitterView], setting: Setting) -> Iterator[tuple[Way, Act]]:
        """All ways in which pictures in full and drafts draw these emitters, and how to do it."""
        chosen: dict[Blending, EmitterView] = {}
        for view in views:
            yield from self._ways_of(view, setting)
            chosen[view.blending] = view
        together = tuple(view for blending, view in chosen.items() if blending is not Blending.OPAQUE)
        for count in setting.samples if together else ():
            way = ("composed", frozenset(view.blending for view in together), count)
            yield way, lambda frame, count=count: self._compose(_one_of_each(together, frame), count)

    def _ways_of(self, view: EmitterView, setting: Setting) -> Iterator[tuple[Way, Act]]:
        """One particle of an emitter as a quad, and as a point sprite if it may become one as the camera moves."""
        for sprites in (False,) if view.look is ParticleLook.STREAK else (True, False):
            way = (view.look, view.blending, view.is_soft, setting.lights, sprites)
            if view.blending is not Blending.OPAQUE:
                yield way, lambda frame, sprites=sprites: self._gather(_one_of_each((view,), frame, sprites))
                continue
            if setting.casts_shadow:
                yield (*way, "cast"), lambda frame, sprites=sprites: self._cast(_one_of_each((view,), frame, sprites))
            for count in setting.samples:
                yield (
                    (*way, count),
                    lambda frame, sprites=sprites, count=count: self._draw_opaque(
                        _one_of_each((view,), frame, sprites), count
                    ),
                )

    def _cast(self, crowd: Crowd) -> None:
        finish(self._particles.cast(crowd, self._shadow.target))

    def _draw_opaque(self, crowd: Crowd, samples: int) -> None:
        picture = RenderTarget(self._context)
        target = picture.begin(*SIZE, samples)
        finish(self._particles.draw_opaque(crowd, self._shadow.map, target, None))
        picture.release()

    def _gather(self, crowd: Crowd) -> None:
        """Draws the particles, and leaves it at that."""
        picture, gathered = RenderTarget(self._context), ParticleTarget(self._context)
        picture.begin(*SIZE, 0)
        next(self._particles.draw_transparent(crowd, picture, gathered))
        gathered.release()
        picture.release()

    def _compose(self, crowd: Crowd, samples: int) -> None:
        picture, gathered = RenderTarget(self._context), ParticleTarget(self._context)
        picture.begin(*SIZE, samples)
        finish(self._particles.draw_transparent(crowd, picture, gathered))
        gathered.release()
        picture.release()


def _one_of_each(views: tuple[EmitterView, ...], frame: Frame, sprites: bool = False) -> Crowd:
    return Crowd(frame, views, (1,) * len(views), unmeasured, sprites=sprites)
