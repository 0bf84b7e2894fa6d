"""Which programs an emitter needs: what it does not use is compiled out."""

from collections.abc import Sequence
from dataclasses import dataclass

from sim.colliders.layout import ANY_ORDER, ColliderLayout
from sim.colliders.scene_colliders import ANY_SHAPE, Shapes
from sim.colliders.state import ColliderShape
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.record import Record
from sim.kinds.emitter.buffers import PARTICLE, PER_VERTEX
from sim.kinds.emitter.emission import EmissionAim, EmissionMode, EmitterSource
from sim.kinds.emitter.settings import CollisionResponse, EmitterSettings

SOURCES = {
    EmitterSource.POINT: 0,
    EmitterSource.SPHERE: 1,
    EmitterSource.BOX: 2,
    EmitterSource.DISC: 3,
    EmitterSource.LINE: 4,
    EmitterSource.VERTICES: 5,
    EmitterSource.FACES: 5,
}
AIMS = {EmissionAim.AXIS: 0, EmissionAim.OUTWARD: 1, EmissionAim.ANGLES: 2}
RESPONSES = {CollisionResponse.BOUNCE: 1, CollisionResponse.DIE: 2, CollisionResponse.STICK: 3}


SEARCH_FROM = 2
"""Colliders beside planes above which those that are near are looked for first."""


@dataclass(frozen=True, slots=True)
class Features:
    """What a step of an emitter makes use of.

    Attributes:
        source, aim, response: As the shaders number them; 0 for no response.
        full: Whether the dead are born again at once.
        segments: Whether births come in more than one run.
        drag: Whether the air brakes.
        whirls, attractor: Whether these forces act.
        layout: Order of the colliders.
        others: How many colliders there are beside the planes in front; 1 for many.
        search: Whether there are so many that it pays to look first which are near.
        ellipsoids: Whether one of them may be an ellipsoid.
        balls: Whether all of them are spheres.
    """

    source: int
    aim: int
    response: int = 0
    full: bool = False
    segments: bool = False
    drag: bool = False
    whirls: bool = False
    attractor: bool = False
    layout: ColliderLayout = ANY_ORDER
    others: int = 0
    search: bool = False
    ellipsoids: bool = True
    balls: bool = False

    @property
    def defines(self) -> dict[str, object]:
        defines: dict[str, object] = {
            "SOURCE": str(self.source),
            "AIM": str(self.aim),
            "FULL": self.full,
            "SEGMENTS": self.segments,
            "DRAG": self.drag,
            "WHIRLS": self.whirls,
            "ATTRACTOR": self.attractor,
        }
        if self.response:
            defines |= self.layout.defines
            defines |= {"COLLIDERS": True, "RESPONSE": str(self.response)}
            defines |= {"OTHERS": str(self.others)} if self.others else {}
            defines |= {"SEARCH": self.search, "COLLIDE_NO_ELLIPSOID": not self.ellipsoids, "BALLS": self.balls}
        return defines


def features_of(
    settings: EmitterSettings, collider_count: int, layout: ColliderLayout, shapes: Shapes = ANY_SHAPE
) -> Features:
    response = RESPONSES.get(settings.collision, 0) if collider_count else 0
    others = collider_count - layout.planes if response else 0
    return Features(
        source=SOURCES[settings.source],
        aim=AIMS[settings.aim],
        response=response,
        full=settings.mode is EmissionMode.FULL and not settings.stateless,
        segments=bool(settings.bursts) and settings.mode is not EmissionMode.FULL,
        drag=settings.drag > 0.0,
        whirls=settings.turbulence > 0.0 and settings.drag > 0.0,
        attractor=settings.attraction != 0.0 or settings.vortex != 0.0,
        layout=layout if response else ANY_ORDER,
        others=others if others <= SEARCH_FROM else 1,
        search=others > SEARCH_FROM,
        ellipsoids=ColliderShape.ELLIPSOID in shapes,
        balls=shapes == {ColliderShape.SPHERE},
    )


class EmitterKernels:
    """Programs by features, made when first asked for.

    Args:
        library: Where they come from.
        capacity: Particles of the emitter.
    """

    def __init__(self, library: ShaderLibrary, capacity: int) -> None:
        self._library, self._capacity = library, capacity
        self._kernels: dict[tuple[str, Features], Kernel] = {}

    def step(self, features: Features) -> Kernel:
        return self._made("emitter/step.glsl", features, (PARTICLE,), PER_VERTEX)

    def births(self, features: Features) -> Kernel:
        return self._made("emitter/bear.glsl", features)

    def stateless(self, features: Features) -> Kernel:
        return self._made("emitter/stateless.glsl", features)

    def _made(self, file: str, features: Features, inputs: Sequence[Record] = (), per_vertex: int = 1) -> Kernel:
        kernel = self._kernels.get((file, features))
        if kernel is None:
            kernel = self._kernels[file, features] = Kernel(
                self._library,
                file,
                PARTICLE,
                inputs=inputs,
                defines=features.defines,
                per_vertex=per_vertex,
                records=self._capacity,
            )
        return kernel
