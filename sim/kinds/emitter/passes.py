from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sinew.sim.colliders.pack import ANY_ORDER, ColliderLayout
from sinew.sim.colliders.scene_colliders import ANY_SHAPE, NO_COLLIDERS, Colliders, Shapes
from sinew.sim.colliders.skin import NearTriangles, SkinSurface
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.fields.sampler import FieldSampler
from sinew.sim.fields.state import Fields
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.program import Program
from sinew.sim.gl.record import Record
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.kinds.air import AirTravel
from sinew.sim.kinds.emitter.block import EmitterBlock, constants_of
from sinew.sim.kinds.emitter.buffers import PARTICLE, PER_VERTEX, ParticleSide, padded_slots
from sinew.sim.kinds.emitter.settings import (
    CollisionResponse,
    EmissionAim,
    EmissionMode,
    EmitterSettings,
    EmitterSource,
)
from sinew.sim.maths.arrays import Float64, UInt32
from sinew.sim.maths.curl_noise import pattern_at
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.skin.trail import SurfaceInput

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
"""Number of colliders after the planes above which near ones are searched first."""


@dataclass(frozen=True, slots=True)
class Features:
    # As the shaders number them; 0 for no response
    source: int
    aim: int
    response: int = 0
    full: bool = False  # Dead particles are spawned again at once
    segments: bool = False  # Births come in more than one run
    drag: bool = False
    turbulence: bool = False
    attractor: bool = False
    fields: tuple[str, ...] = ()  # Macros of force fields
    layout: ColliderLayout = ANY_ORDER
    others: int = 0  # Colliders after the planes at the front; 1 for many
    search: bool = False  # So many of them that near colliders are searched first
    ellipsoids: bool = True  # One of them may be an ellipsoid
    balls: bool = False  # All of them are spheres
    skin: bool = False  # Skins of characters

    @property
    def defines(self) -> dict[str, object]:
        defines: dict[str, object] = {
            "SOURCE": str(self.source),
            "AIM": str(self.aim),
            "FULL": self.full,
            "SEGMENTS": self.segments,
            "DRAG": self.drag,
            "TURBULENCE": self.turbulence,
            "ATTRACTOR": self.attractor,
            **dict.fromkeys(self.fields, True),
        }
        if self.response:
            defines |= self.layout.defines
            defines |= {"COLLIDERS": True, "RESPONSE": str(self.response)}
            defines |= {"OTHERS": str(self.others)} if self.others else {}
            defines |= {"SKIN": True} if self.skin else {}
            defines |= {"SEARCH": self.search, "COLLIDE_NO_ELLIPSOID": not self.ellipsoids, "BALLS": self.balls}
        return defines


def features_of(
    settings: EmitterSettings,
    collider_count: int,
    layout: ColliderLayout,
    shapes: Shapes = ANY_SHAPE,
    fields: tuple[str, ...] = (),
    has_skin: bool = False,
) -> Features:
    response = RESPONSES.get(settings.collision, 0) if collider_count or has_skin else 0
    others = collider_count - layout.planes if response else 0
    return Features(
        source=SOURCES[settings.source],
        aim=AIMS[settings.aim],
        response=response,
        full=settings.mode is EmissionMode.FULL and not settings.stateless,
        segments=bool(settings.bursts) and settings.mode is not EmissionMode.FULL,
        drag=settings.drag > 0.0,
        turbulence=settings.turbulence > 0.0 and (settings.drag > 0.0 or bool(fields)),
        attractor=settings.attraction != 0.0 or settings.vortex != 0.0,
        fields=fields,
        layout=layout if response else ANY_ORDER,
        others=others if others <= SEARCH_FROM else 1,
        search=others > SEARCH_FROM,
        ellipsoids=ColliderShape.ELLIPSOID in shapes,
        balls=shapes == {ColliderShape.SPHERE},
        skin=has_skin and bool(response),
    )


IDENTITY = np.eye(4)


@dataclass(frozen=True, slots=True)
class EmitterInputs:
    # Frame of the source, or of the emitting character, at the start of the step, (4, 4)
    world_from_start: Float64 = field(default_factory=lambda: IDENTITY)
    world_from_end: Float64 = field(default_factory=lambda: IDENTITY)  # The same at its end
    colliders: Colliders = NO_COLLIDERS  # Over the step
    surface: SurfaceInput | None = None  # For surface sources; without it they emit nothing
    # Axes of the directions that do not follow the normals of a surface, shape (4, 4); `world_from_end` if None
    world_from_aim: Float64 | None = None
    travel: AirTravel | None = None  # Of the air to the start of the step, if it has keys
    fields: Fields | None = None


NO_INPUTS = EmitterInputs()

Substep = tuple[tuple[float, float, float, float], int, tuple[tuple[int, int], ...]]
"""Substep: `u_substep`, the number of slots that move, and the ranges of slots in which particles are then spawned."""

_InputKey = tuple[int, ColliderLayout, Shapes, tuple[str, ...], bool]


@dataclass(frozen=True, slots=True)
class _StepKernels:
    met: _InputKey
    features: Features
    move: Kernel
    spawn: Kernel | None  # None for an emitter that is always full, whose particles are replaced as they die
    # Where particles start a substep: of such an emitter, those that fields or skins act on; of others, newborn ones
    # that skins act on
    starts: Kernel | None


class EmitterPasses(Owner):
    """Kernels of one emitter.

    Attributes:
        pending: Settings whose programs the next step compiles.
    """

    def __init__(self, context: Context, library: ShaderLibrary, capacity: int, faces: UInt32 | None) -> None:
        self._library, self._capacity = library, capacity
        self._kernels: dict[tuple[str, Features], Kernel] = {}
        self.pending: Sequence[EmitterSettings] = ()
        self.block = self.owns(EmitterBlock(context))
        self._sampler: FieldSampler | None = None
        self._near: NearTriangles | None = None
        self._starts: TexelBuffer | None = None
        self._faces: TexelBuffer | None = None
        if faces is not None:
            data = np.ascontiguousarray(faces, np.uint32).ravel()
            self._faces = self.owns(TexelBuffer(context, data, "rgba32ui", label="emitter faces"))
            self.block.set_surface(len(faces), 2)

    def set_settings(self, settings: EmitterSettings) -> None:
        self._settings, self._half_pace = settings, 0.5 * constants_of(settings).pace[1]
        self.block.set_settings(settings)
        self._stepping: _StepKernels | None = None

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
        """Moves and spawns particles over the step that begins at `time` [s since the start]; returns the new records.

        `swap` exchanges the input buffer for an output buffer; other emitters may then write to the first.
        """
        met = _met(inputs)
        stepping = self._stepping
        if stepping is None or stepping.met != met:
            stepping = self._stepping = self._step_kernels(self._settings, met)
        for settings in self.pending:
            self._step_kernels(settings, met)
        self.pending = ()
        features, move, spawn = stepping.features, stepping.move, stepping.spawn
        if features.turbulence:
            settings = self._settings
            way = (settings.turbulence_change, settings.wind)
            if inputs.travel is not None:
                time, way = 1.0, (inputs.travel.change, inputs.travel.wind)
            self.block.set_pattern(pattern_at(time, *way, settings.turbulence_scale))
        self.block.set_source(inputs.world_from_start, inputs.world_from_end, inputs.world_from_aim)
        move_values = self._set_inputs(move, features, inputs).location("u_substep")
        spawn_values = -1
        if spawn is not None:
            spawn_values = self._set_inputs(spawn, features, inputs).location("u_substep")
        if stepping.starts is not None:
            self._set_inputs(stepping.starts, replace(features, response=0), inputs)
        self.block.bind()
        for part in [[substep] for substep in substeps] if features.fields or features.skin else [substeps]:
            values, moved, _ = part[0]
            places, count = side.texture, padded_slots(moved)
            if stepping.starts is not None and features.full:
                places = self._started(stepping.starts, values, side, ((0, count),))
            if inputs.fields is not None:
                if self._sampler is None:
                    self._sampler = self.owns(FieldSampler(self._library, side.count))
                move.program["u_fields"] = self._sampler.sample(
                    inputs.fields, places, fraction=values[0], count=count, ahead=self._half_pace
                )
            if features.skin and inputs.colliders.skin is not None:
                self._list_near_skin(stepping, inputs.colliders.skin, places, part[0])
            with move.writing(side.vertices) as capture:
                for values, moved, births in part:
                    target = swap(side)
                    if moved:
                        capture.use(move, side.vertices)
                        capture.write((target.buffer,), 0, padded_slots(moved), (move_values, values))
                    if births and spawn is not None:
                        capture.use(spawn, target.vertices)
                        for first, count in births:
                            capture.write((target.buffer,), first, count, (spawn_values, values))
                    side = target
        return side

    def _list_near_skin(
        self, stepping: _StepKernels, skin: SkinSurface, places: BufferTexture, substep: Substep
    ) -> None:
        """Lists the triangles near the particles that a substep moves, and then near those that it spawns."""
        values, moved, births = substep
        if self._near is None:
            self._near = self.owns(NearTriangles(self._library, padded_slots(self._capacity), is_fast=True))
        span, clearance = values[:2], self._settings.clearance
        stepping.move.program.update(self._near.find(skin, places, span, clearance, count=padded_slots(moved)))
        if births and stepping.spawn is not None and stepping.starts is not None:
            starts = self._started(stepping.starts, values, None, births)
            for first, count in births:
                near = self._near.find(skin, starts, span, clearance, first=first, count=count)
                stepping.spawn.program.update(near)

    def _started(
        self, starts: Kernel, values: tuple[float, ...], side: ParticleSide | None, slots: Sequence[tuple[int, int]]
    ) -> TexelBuffer:
        """Returns where the particles of some slots start a substep; `side` is of an emitter that is always full."""
        if self._starts is None:
            self._starts = self.owns(
                TexelBuffer(
                    self._library.context, PARTICLE.zeros(padded_slots(self._capacity)), usage="copy", label="starts"
                )
            )
        for first, count in slots:
            starts.run(None if side is None else side.vertices, self._starts.buffer, count, first, u_substep=values)
        return self._starts

    def _step_kernels(self, settings: EmitterSettings, met: _InputKey) -> _StepKernels:
        features = features_of(settings, *met)
        moving = replace(features, fields=features.fields[:1])
        move = self._kernel("emitter/step.glsl", moving, (PARTICLE,), PER_VERTEX)
        spawn = None if features.full else self._kernel("emitter/spawn.glsl", features)
        starts = None
        if features.skin or (features.full and features.fields):
            born = Features(
                features.source, features.aim, features.response if features.skin else 0, features.full,
                features.segments, skin=features.skin,
            )  # fmt: skip
            starts = self._kernel("emitter/starts.glsl", born, (PARTICLE,) if features.full else ())
        return _StepKernels(met, features, move, spawn, starts)

    def show(self, side: ParticleSide, inputs: EmitterInputs, count: int) -> None:
        """Writes the first slots from the time alone, with the source at rest at its end position."""
        features = features_of(self._settings, *_met(NO_INPUTS))
        kernel = self._kernel("emitter/stateless.glsl", features)
        self.block.set_source(inputs.world_from_end, inputs.world_from_end, inputs.world_from_aim)
        self._set_inputs(kernel, features, inputs)
        self.block.bind()
        kernel.run(None, side.buffer, count)

    def _kernel(self, file: str, features: Features, inputs: Sequence[Record] = (), per_vertex: int = 1) -> Kernel:
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

    def _set_inputs(self, kernel: Kernel, features: Features, inputs: EmitterInputs) -> Program:
        program = kernel.program
        if inputs.fields is not None and "u_field_records" in program:
            inputs.fields.set(program)
        if features.response:
            program["u_collider_count"] = inputs.colliders.count
            if inputs.colliders:
                program["u_colliders"] = inputs.colliders.texture
        if self._faces is not None and inputs.surface is not None and "u_faces" in program:
            surface = inputs.surface
            self.block.set_surface(self._faces.texel_count, surface.texels_per_vertex)
            program["u_vertices"], program["u_vertices_before"] = surface.vertices, surface.vertices_before
            program["u_faces"] = self._faces
        return program


def _met(inputs: EmitterInputs) -> _InputKey:
    colliders = inputs.colliders
    types = inputs.fields.defines.items() if inputs.fields is not None else ()
    fields = ("FIELDS", *(name for name, is_present in types if is_present)) if types else ()
    count = colliders.count if colliders else 0
    return count, colliders.layout, colliders.shapes, fields, colliders.skin is not None


def substeps_of(settings: EmitterSettings) -> list[tuple[float, float, float, float]]:
    """Returns `u_substep` for each: start and end as fractions of the step, steps of life it takes, duration [s].

    The first substep takes one step of every life.
    """
    count = settings.substeps
    return [(i / count, (i + 1) / count, float(i == 0), STEP_TIME / count) for i in range(count)]
