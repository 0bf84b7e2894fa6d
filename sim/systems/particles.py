"""EmitterSystem: the particles of one emitter on the GPU, one pass for each substep.

It knows neither scene nor viewport; the caller makes the context current and hands over the source as it moves.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sim.clock import STEP_TIME
from sim.cloth.collider_layout import ANY_ORDER, ColliderLayout
from sim.emission_settings import EmissionMode
from sim.emitter_settings import EmitterSettings
from sim.gl.buffer import Buffer
from sim.gl.capture_loop import CaptureRun, capture_loop
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.texture import BufferTexture
from sim.gl.vertex_array import VertexArray
from sim.params import Effect, params_of
from sim.particles.births import Schedule, slot_ranges
from sim.particles.curl_noise import pattern_at
from sim.particles.error import EmitterError
from sim.particles.plan import check_emitter, schedule_of, slots_needed, starvation
from sim.systems.emitter_block import EmitterBlock
from sim.systems.emitter_kernels import ANY_SHAPE, SURFACE_SOURCES, EmitterKernels, Features, Shapes, features_of
from sim.systems.particle_buffers import ScratchPool, dead_records, padded_slots
from sim.systems.particle_count import ParticleCount

Float64 = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]

INTERVAL = 0.25
"""Shortest time between two counts [s]."""

IDENTITY = np.eye(4)


@dataclass(frozen=True, slots=True)
class SurfaceInput:
    """The skinned vertices of the model that emits, as texels.

    Attributes:
        vertices: At the end of the step.
        vertices_before: At its start; the same ones for a surface at rest.
        texels_per_vertex: 2 with position and normal, 3 with a tangent too.
    """

    vertices: BufferTexture
    vertices_before: BufferTexture
    texels_per_vertex: int = 2


@dataclass(frozen=True, slots=True)
class EmitterInputs:
    """What acts on an emitter during one step, beside its settings.

    Attributes:
        world_from_start: Frame of the source, or of the model whose surface emits, at the start of the step, (4, 4).
        world_from_end: The same at its end.
        colliders: Packed colliders that move over the step, or None.
        collider_count: How many.
        collider_layout: How they are arranged; the default is right for any order.
        collider_shapes: Which occur beside the planes in front, see `shapes_of`; fewer cost less.
        surface: For sources on a surface; without it they emit nothing.
    """

    world_from_start: Float64 = field(default_factory=lambda: IDENTITY)
    world_from_end: Float64 = field(default_factory=lambda: IDENTITY)
    colliders: BufferTexture | None = None
    collider_count: int = 0
    collider_layout: ColliderLayout = ANY_ORDER
    collider_shapes: Shapes = ANY_SHAPE
    surface: SurfaceInput | None = None


NO_INPUTS = EmitterInputs()


class EmitterSystem:
    """The particles of one emitter.

    Args:
        context: Where they live.
        library: Where programs come from.
        settings: What to build.
        faces: Table of a surface that emits, see `sim.particles.surface_table`.
        pool: Spare buffers that emitters share; one of its own by default.

    Attributes:
        settings: As applied last.
        step_count: Steps since the start.
        born: Particles born since the start; for one that is always full its capacity.
        alive: How many lived at the last count, see `poll`.
        warning: What the capacity is too small for, or "".

    Raises:
        EmitterError: If no emitter can be made of the settings.
    """

    def __init__(
        self,
        context: Context,
        library: ShaderLibrary,
        settings: EmitterSettings,
        *,
        faces: UInt32 | None = None,
        pool: ScratchPool | None = None,
    ) -> None:
        self._context, self._library = context, library
        self._own_pool = ScratchPool(context) if pool is None else None
        self._pool = pool if pool is not None else self._own_pool
        self._kernels = EmitterKernels(library)
        self._built = False
        self._asked_at = -np.inf
        self.rebuild(settings, faces)

    # --- the four verbs -------------------------------------------------------------------------------

    def rebuild(self, settings: EmitterSettings, faces: UInt32 | None = None) -> None:
        """Make everything anew; on an error the emitter stays as it was.

        Raises:
            EmitterError: If no emitter can be made of the settings.
        """
        check_emitter(settings)
        if settings.source in SURFACE_SOURCES and faces is None:
            raise EmitterError(f"source {settings.source.value}: there is no surface to emit from")
        self.release()
        self._side = self._pool.open(padded_slots(settings.capacity))
        self._block = EmitterBlock(self._context)
        self._no_source = VertexArray(self._context, label="emitter")
        self._count = ParticleCount(self._context, self._library, settings.capacity)
        self._faces: tuple[Buffer, BufferTexture] | None = None
        if faces is not None and settings.source in SURFACE_SOURCES:
            buffer = Buffer(self._context, np.ascontiguousarray(faces, np.uint32).ravel(), label="emitter faces")
            self._faces = buffer, BufferTexture(self._context, buffer, "rgba32ui")
            self._block.set_surface(len(faces), 2)
        self._built = True
        self._take(settings)
        self.reset()

    def reset(self) -> None:
        """Back to the start: nobody is born yet."""
        self._side.buffer.write(dead_records(self.settings.capacity))
        self._schedule: Schedule = schedule_of(self.settings)
        self.step_count = self.born = self.alive = 0
        if self._is_always_full:
            self.born = self.settings.capacity

    def step(self, inputs: EmitterInputs = NO_INPUTS) -> None:
        """Advance by one step of `STEP_TIME`, at whose end the source and the colliders stand as given."""
        self.step_count += 1
        if self.settings.stateless:
            self.show(self.step_count, inputs)
            return
        start = self.step_count - 1
        self._block.set_source(inputs.world_from_start, inputs.world_from_end)
        if not self._is_always_full:
            self._block.set_births(
                self._schedule.segments(start, self.step_count), self.settings.capacity, start
            )  # fmt: skip
        runs = self._runs(start)
        if self.slot_count and self._has_source(inputs):
            self._run(inputs, runs)

    def release(self) -> None:
        """Delete everything; may be called twice."""
        if not self._built:
            return
        self._pool.close(self._side)
        if self._own_pool is not None:
            self._own_pool.release()
        self._block.release()
        self._no_source.release()
        self._count.release()
        if self._faces is not None:
            self._faces[1].release()
            self._faces[0].release()
        self._built = False

    # --- time -----------------------------------------------------------------------------------------

    def show(self, step_count: int, inputs: EmitterInputs = NO_INPUTS) -> None:
        """Write the state of a stateless emitter at any step; the source counts as at rest where it is at the end."""
        self.step_count = step_count
        self.born = self._schedule.births_before(step_count)
        self._block.set_source(inputs.world_from_end, inputs.world_from_end)
        since = step_count - self.settings.longest_life / STEP_TIME - 1.0
        segments = self._schedule.segments(max(since, 0.0), step_count)
        self._block.set_births(segments, self.settings.capacity, step_count)
        if self.slot_count and self._has_source(inputs):
            self._formula(inputs)

    def seek(
        self,
        step_count: int,
        inputs_of: Callable[[int], EmitterInputs],
        *,
        progress: Callable[[float], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Go to a step by simulating from the start, or at once where there is no state.

        Args:
            step_count: Steps since the start.
            inputs_of: Inputs of the step that begins after so many steps.
            progress: Called with the share that is done, 0 to 1.
            cancelled: Asked before every step.

        Returns:
            Whether it got there; when cancelled the emitter stays at the step that it reached.
        """
        if self.settings.stateless:
            self.show(step_count, inputs_of(max(step_count - 1, 0)))
            return True
        if step_count < self.step_count:
            self.reset()
        first = self.step_count
        while self.step_count < step_count:
            if cancelled():
                return False
            self.step(inputs_of(self.step_count))
            progress((self.step_count - first) / (step_count - first))
        return True

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self.step_count * STEP_TIME

    # --- changes --------------------------------------------------------------------------------------

    def apply(self, settings: EmitterSettings, faces: UInt32 | None = None) -> Effect:
        """Take new settings at the cost that their declarations name; returns that cost.

        Args:
            settings: All of them.
            faces: Table of the surface, for changes that rebuild.

        Raises:
            EmitterError: If no emitter can be made of them; everything stays as it was.
        """
        effects = {
            record.declared.effect
            for record in params_of(EmitterSettings)
            if getattr(settings, record.name) != getattr(self.settings, record.name)
        }
        if not effects:
            return Effect.VIEW
        if Effect.REBUILD in effects:
            self.rebuild(settings, faces)
            return Effect.REBUILD
        check_emitter(settings)
        changes_rate = settings.rate != self.settings.rate
        self._take(settings)
        if Effect.RESET in effects:
            self.reset()
            return Effect.RESET
        if changes_rate and settings.mode is EmissionMode.RATE:
            self._schedule = self._schedule.with_rate(settings.rate, self.step_count)
        return Effect.STEP if Effect.STEP in effects else Effect.VIEW

    # --- what is drawn --------------------------------------------------------------------------------

    @property
    def buffer(self) -> Buffer:
        """Records of `PARTICLE`, one a slot; another buffer after every step."""
        return self._side.buffer

    @property
    def state(self) -> BufferTexture:
        """The same, two texels a slot; another texture after every step."""
        return self._side.texture

    @property
    def slot_count(self) -> int:
        """Slots that were used so far; those after them hold nothing."""
        return min(self.born, self.settings.capacity)

    @property
    def look_uniforms(self) -> dict[str, object]:
        """Arguments `emitter` and `spans` of shaders/particles/shown.glsl, as `u_emitter` (uvec2) and `u_spans`."""
        settings = self.settings
        spans = (settings.lifetime / STEP_TIME, settings.lifetime_variance, settings.size, settings.size_variance)
        return {"u_emitter": (settings.seed, settings.capacity), "u_spans": spans}

    # --- what is known --------------------------------------------------------------------------------

    @property
    def born_per_second(self) -> float:
        """Births a second that the stream has now; without bursts."""
        return self._schedule.per_step / STEP_TIME

    @property
    def needed_capacity(self) -> int:
        """Slots it takes that nobody's life is cut short."""
        return slots_needed(self.settings)

    def poll(self, now: float) -> bool:
        """Look for a new `alive` without waiting; returns whether there is one.

        Args:
            now: Monotonic time [s]; counts are asked for a few times a second.
        """
        found = self._count.poll()
        if found is not None:
            self.alive = found
        if self.slot_count and now - self._asked_at >= INTERVAL:
            self._count.measure(self.state, self.slot_count)
            self._count.request()
            self._asked_at = now
        return found is not None

    def count(self) -> int:
        """How many live now; waits for the GPU."""
        self.alive = 0
        if self.slot_count:
            self._count.measure(self.state, self.slot_count)
            self.alive = self._count.read()
        return self.alive

    def read(self) -> npt.NDArray[np.void]:
        """Records of `PARTICLE` of the slots used so far; waits for the GPU."""
        return self.buffer.read(count=self.slot_count)

    # --- parts ----------------------------------------------------------------------------------------

    @property
    def _is_always_full(self) -> bool:
        return self.settings.mode is EmissionMode.FULL and not self.settings.stateless

    def _take(self, settings: EmitterSettings) -> None:
        self.settings = settings
        self.warning = starvation(settings)
        self._block.set_settings(settings)
        self._features: tuple[tuple[int, ColliderLayout, Shapes], Features] | None = None
        count = settings.substeps
        # The first substep takes a step off every life; see particles/step.vert.
        self._substeps = [
            (index / count, (index + 1) / count, float(index == 0), settings.substep_time) for index in range(count)
        ]

    def _has_source(self, inputs: EmitterInputs) -> bool:
        return self._faces is None or inputs.surface is not None

    def _runs(self, start: int) -> list[CaptureRun]:
        """Who moves and who is born in every substep of the step that begins after `start` steps."""
        capacity = self.settings.capacity
        if self._is_always_full:
            return [CaptureRun(values, capacity) for values in self._substeps]
        runs = []
        for values in self._substeps:
            before, self.born = self.born, self._schedule.births_before(start + values[1])
            runs.append(CaptureRun(values, min(before, capacity), slot_ranges(before, self.born, capacity)))
        return runs

    def _run(self, inputs: EmitterInputs, runs: list[CaptureRun]) -> None:
        features = self._features_of(inputs)
        move = self._kernels.step(features)
        make = None if features.full else self._kernels.births(features)
        if features.whirls:
            settings = self.settings
            time = self.time - STEP_TIME
            self._block.set_pattern(
                pattern_at(time, settings.turbulence_change, settings.wind, settings.turbulence_scale)
            )
        for kernel in (move, make):
            if kernel is not None:
                self._set_inputs(kernel, features, inputs)
        self._block.bind()
        self._side = capture_loop(move, make, self._side, self._pool.swap, "u_substep", runs)

    def _formula(self, inputs: EmitterInputs) -> None:
        features = self._features_of(NO_INPUTS)
        kernel = self._kernels.stateless(features)
        self._set_inputs(kernel, features, inputs)
        self._block.bind()
        kernel.run(self._no_source, self._side.buffer, self.slot_count)

    def _features_of(self, inputs: EmitterInputs) -> Features:
        count = inputs.collider_count if inputs.colliders is not None else 0
        key = (count, inputs.collider_layout, inputs.collider_shapes)
        if self._features is None or self._features[0] != key:
            self._features = key, features_of(self.settings, *key)
        return self._features[1]

    def _set_inputs(self, kernel: Kernel, features: Features, inputs: EmitterInputs) -> None:
        program = kernel.program
        if features.response:
            program["u_colliders"], program["u_collider_count"] = inputs.colliders, inputs.collider_count
        if self._faces is not None and inputs.surface is not None and "u_faces" in program:
            surface = inputs.surface
            self._block.set_surface(self._faces[1].texel_count, surface.texels_per_vertex)
            program["u_vertices"], program["u_vertices_before"] = surface.vertices, surface.vertices_before
            program["u_faces"] = self._faces[1]
