"""EmitterPasses: what an emitter runs on the GPU, with everything bound that its programs read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sim.colliders.pack import ANY_ORDER, ColliderLayout
from sim.colliders.scene_colliders import ANY_SHAPE, NO_COLLIDERS, Colliders, Shapes
from sim.colliders.state import ColliderShape
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.record import Record
from sim.gl.texture import BufferTexture
from sim.gl.vertex_array import VertexArray
from sim.kinds.emitter.births import Segment
from sim.kinds.emitter.block import EmitterBlock, pattern_at
from sim.kinds.emitter.buffers import PARTICLE, PER_VERTEX, ParticleSide, padded_slots
from sim.kinds.emitter.settings import CollisionResponse, EmissionAim, EmissionMode, EmitterSettings, EmitterSource
from sim.scene.clock import STEP_TIME
from sim.skin.trail import SurfaceInput

Float64 = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]


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


IDENTITY = np.eye(4)


@dataclass(frozen=True, slots=True)
class EmitterInputs:
    """What acts on an emitter during one step, beside its settings.

    Attributes:
        world_from_start: Frame of the source, or of the model whose surface emits, at the start of the step, (4, 4).
        world_from_end: The same at its end.
        colliders: What particles collide with, over the step.
        surface: For sources on a surface; without it they emit nothing.
        world_from_aim: What directions are relative to that do not follow the normals of a surface, shape (4, 4);
            `world_from_end` for None.
    """

    world_from_start: Float64 = field(default_factory=lambda: IDENTITY)
    world_from_end: Float64 = field(default_factory=lambda: IDENTITY)
    colliders: Colliders = NO_COLLIDERS
    surface: SurfaceInput | None = None
    world_from_aim: Float64 | None = None


NO_INPUTS = EmitterInputs()


Substep = tuple[tuple[float, float, float, float], int, tuple[tuple[int, int], ...]]
"""What `u_substep` takes, how many slots from the first on are moved, and ranges of those where then some are born."""


_ColliderKey = tuple[int, ColliderLayout, Shapes]


@dataclass(frozen=True, slots=True)
class _StepKernels:
    """Kernels of a step among so many solids; who is always full has none for births."""

    colliders: _ColliderKey
    features: Features
    move: Kernel
    bear: Kernel | None


class EmitterPasses:
    """Programs, constants and the table of faces of one emitter.

    Args:
        context: Where they live.
        library: Where programs come from.
        capacity: Particles of the emitter.
        faces: Table of a surface that emits, see `sim.skin.surface_table`; None for other sources.
    """

    def __init__(self, context: Context, library: ShaderLibrary, capacity: int, faces: UInt32 | None) -> None:
        self._kernels = EmitterKernels(library, capacity)
        self._block = EmitterBlock(context)
        self._no_source = VertexArray(context, label="emitter")
        self._faces: tuple[Buffer, BufferTexture] | None = None
        if faces is not None:
            buffer = Buffer(context, np.ascontiguousarray(faces, np.uint32).ravel(), label="emitter faces")
            self._faces = buffer, BufferTexture(context, buffer, "rgba32ui")
            self._block.set_surface(len(faces), 2)

    def set_settings(self, settings: EmitterSettings) -> None:
        """Take what stays the same from step to step."""
        self._settings = settings
        self._block.set_settings(settings)
        self._stepping: _StepKernels | None = None

    def set_births(self, segments: Sequence[Segment], origin: float) -> None:
        """Births of a span, whose moments count from `origin` [steps since the start]."""
        self._block.set_births(segments, self._settings.capacity, origin)

    def has_source(self, inputs: EmitterInputs) -> bool:
        return self._faces is None or inputs.surface is not None

    def move(
        self,
        side: ParticleSide,
        swap: Callable[[ParticleSide], ParticleSide],
        inputs: EmitterInputs,
        substeps: Sequence[Substep],
        time: float,
    ) -> ParticleSide:
        """Move and bear particles over the step that begins at `time` [s since the start]; returns the new records.

        `swap` gives the side to write to for one that was read, which others may write to from then on.
        """
        stepping = self._stepping_among(inputs)
        features, move, bear = stepping.features, stepping.move, stepping.bear
        if features.whirls:
            settings = self._settings
            self._block.set_pattern(
                pattern_at(time, settings.turbulence_change, settings.wind, settings.turbulence_scale)
            )
        self._block.set_source(inputs.world_from_start, inputs.world_from_end, inputs.world_from_aim)
        self._set_inputs(move, features, inputs)
        move_values = move.program.location("u_substep")
        if bear is not None:
            self._set_inputs(bear, features, inputs)
            bear_values = bear.program.location("u_substep")
        self._block.bind()
        with move.writing(side.vertices) as capture:
            for values, moved, made in substeps:
                target = swap(side)
                if moved:
                    capture.use(move, side.vertices)
                    capture.send(move_values, values)
                    capture.write(target.buffer.name, 0, padded_slots(moved))
                if made and bear is not None:
                    capture.use(bear, target.vertices)
                    capture.send(bear_values, values)
                    for first, count in made:
                        capture.write(target.buffer.name, first, count)
                side = target
        return side

    def show(self, side: ParticleSide, inputs: EmitterInputs, count: int) -> None:
        """Write the first slots by the formula of time alone; the source counts as at rest where it is at the end."""
        features = features_of(self._settings, *_colliders_of(NO_INPUTS))
        kernel = self._kernels.stateless(features)
        self._block.set_source(inputs.world_from_end, inputs.world_from_end, inputs.world_from_aim)
        self._set_inputs(kernel, features, inputs)
        self._block.bind()
        kernel.run(self._no_source, side.buffer, count)

    def release(self) -> None:
        self._block.release()
        self._no_source.release()
        if self._faces is not None:
            self._faces[1].release()
            self._faces[0].release()

    def _stepping_among(self, inputs: EmitterInputs) -> "_StepKernels":
        colliders = _colliders_of(inputs)
        if self._stepping is None or self._stepping.colliders != colliders:
            features = features_of(self._settings, *colliders)
            bear = None if features.full else self._kernels.births(features)
            self._stepping = _StepKernels(colliders, features, self._kernels.step(features), bear)
        return self._stepping

    def _set_inputs(self, kernel: Kernel, features: Features, inputs: EmitterInputs) -> None:
        program = kernel.program
        if features.response:
            program["u_colliders"], program["u_collider_count"] = inputs.colliders.texture, inputs.colliders.count
        if self._faces is not None and inputs.surface is not None and "u_faces" in program:
            surface = inputs.surface
            self._block.set_surface(self._faces[1].texel_count, surface.texels_per_vertex)
            program["u_vertices"], program["u_vertices_before"] = surface.vertices, surface.vertices_before
            program["u_faces"] = self._faces[1]


def _colliders_of(inputs: EmitterInputs) -> _ColliderKey:
    colliders = inputs.colliders
    return colliders.count if colliders else 0, colliders.layout, colliders.shapes


def substeps_of(settings: EmitterSettings) -> list[tuple[float, float, float, float]]:
    """What `u_substep` takes in each part of a step: its start and end as fractions, lives it takes, its duration [s].

    The first one takes a step off every life.
    """
    count = settings.substeps
    return [(i / count, (i + 1) / count, float(i == 0), STEP_TIME / count) for i in range(count)]
