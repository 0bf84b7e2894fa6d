from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.staging import BufferSpan
from sinew.sim.kinds.emitter.births import Schedule, check_emitter, schedule_of, slot_ranges, slots_needed, starvation
from sinew.sim.kinds.emitter.buffers import (
    BROKEN_BELOW,
    DEAD,
    FILLED_AT_ONCE,
    ParticleCount,
    ParticleCounts,
    ScratchPool,
    dead_records,
    padded_slots,
)
from sinew.sim.kinds.emitter.passes import NO_INPUTS, EmitterInputs, EmitterPasses, Substep, substeps_of
from sinew.sim.kinds.emitter.settings import EmissionMode, EmitterSettings
from sinew.sim.kinds.packing import State, blended, unpacked_state
from sinew.sim.maths.arrays import UInt32
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Effect, SettingsError, changed_effects


def check_limits(context: Context, settings: EmitterSettings, faces: UInt32 | None) -> None:
    """Checks limits; raises SettingsError if the driver cannot hold the particles, or the surface is missing."""
    limit = context.capabilities.max_texture_buffer_size
    if 2 * padded_slots(settings.capacity) > limit:
        raise SettingsError(f"capacity = {settings.capacity}: this driver holds {limit // 2} particles at most")
    if not settings.is_on_surface:
        return
    if faces is None:
        raise SettingsError(f"source {settings.source.value}: there is no surface to emit from")
    if len(faces) > limit:
        raise SettingsError(f"{len(faces)} faces emit: this driver holds {limit} at most")


def interpolate_particles(one: bytes, other: bytes, share: float) -> bytes:
    """Returns the first of two snapshots; particles that are alive in both are interpolated linearly.

    Particles that die in between stay to the end, particles that are spawned in between appear at the end.
    """
    (head, (former,)), (_, (later,)) = unpacked_state(one), unpacked_state(other)
    count = min(len(former), len(later))
    place, speed, next_place, next_speed = (
        records[name][:count] for records in (former, later) for name in ("position", "velocity")
    )
    # The same generation of a slot is the same particle.
    lives = (place[:, 3] >= 0.0) & (next_place[:, 3] >= 0.0) & (speed[:, 3] == next_speed[:, 3])
    shown = former.copy()
    shown["position"][:count][lives] = blended(place[lives], next_place[lives], share)
    shown["velocity"][:count][lives] = blended(speed[lives], next_speed[lives], share)
    return State(head, shown).packed()


class Emitter(Owner):
    """The particles of one emitter on the GPU, one pass for each substep.

    The context must be current in every call.

    Args:
        faces: Table of an emitting surface, see `sinew.sim.skin.surface_table`.
        pool: Spare buffers that emitters share; by default the emitter has its own.

    Attributes:
        side: Records of `PARTICLE`, one a slot; another buffer after every step.
        look_uniforms: Arguments `emitter` and `spans` of shaders/emitter/shown.glsl, as `u_emitter` and `u_spans`.
        spawned: Particles spawned since the start; the capacity for an emitter that is always full, once it runs.
        alive: Living particles at the last count, see `poll`.
        stopped: Why the emitter stopped; "" while it runs.
        warning: Why the capacity is too small, or "".

    Raises:
        SettingsError: If no emitter can be built from the settings.
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
        self._pool = pool if pool is not None else ScratchPool(context)
        self._owns_pool = pool is None
        self._is_built = False
        self.rebuild(settings, faces)

    # --- building and stepping ------------------------------------------------------------------------

    def rebuild(self, settings: EmitterSettings, faces: UInt32 | None = None) -> None:
        """Builds the emitter from settings; on a SettingsError it stays as it was."""
        check_emitter(settings)
        check_limits(self._context, settings, faces)
        self.release()
        self.side = self._pool.open(padded_slots(settings.capacity))
        self._is_built, self.faces = True, faces
        used = faces if settings.is_on_surface else None
        self._passes = self.owns(EmitterPasses(self._context, self._library, settings.capacity, used))
        self._count = self.owns(ParticleCount(self._context, self._library, settings.capacity))
        self._take(settings)
        self.reset()

    def reset(self) -> None:
        self._clear()
        self._schedule: Schedule = schedule_of(self.settings)
        self.step_count = self.spawned = self.alive = 0
        self.stopped = ""

    def step(self, inputs: EmitterInputs = NO_INPUTS) -> bool:
        """Advances the emitter by `STEP_TIME`; returns False if it is stopped."""
        if self.stopped:
            return False
        if self.settings.stateless:
            self.show(self.step_count + 1, inputs)
            return True
        start = self.step_count
        self.step_count += 1
        self._is_clear = False
        if not self._is_always_full:
            births = self._schedule.segments(start, self.step_count)
            self._passes.block.set_births(births, self.settings.capacity, start)
        substeps = self._plan_substeps(start)
        if self.spawned and self._passes.has_source(inputs):
            self.side = self._passes.move(self.side, self._pool.swap, inputs, substeps, start * STEP_TIME)
        return True

    def rest(self) -> None:
        """Removes all particles and emits none in this step; the next step spawns the same particles as otherwise."""
        self.step_count += 1
        self.stopped, self.alive = "", 0
        self.spawned = 0 if self._is_always_full else self._schedule.births_before(self.step_count)
        if not self._is_clear:
            self._clear()

    def show(self, step_count: int, inputs: EmitterInputs = NO_INPUTS) -> None:
        """Shows a stateless emitter after any number of steps, with the source at rest at its end position."""
        if self.stopped:
            return
        self.step_count = step_count
        self.spawned = self._schedule.births_before(step_count)
        self._is_clear = False
        since = step_count - self.settings.longest_life / STEP_TIME - 1.0
        births = self._schedule.segments(max(since, 0.0), step_count)
        self._passes.block.set_births(births, self.settings.capacity, step_count)
        if self.slot_count and self._passes.has_source(inputs):
            self._passes.show(self.side, inputs, self.slot_count)

    def release(self) -> None:
        super().release()
        if self._is_built:
            self._pool.close(self.side)
            if self._owns_pool:
                self._pool.release()
        self._is_built = False

    # --- changes --------------------------------------------------------------------------------------

    def apply(self, settings: EmitterSettings, faces: UInt32 | None = None) -> Effect:
        """Applies settings; returns the largest effect of the changed ones.

        Raises:
            SettingsError: If no emitter can be built from them; everything stays as it was.
        """
        effects = changed_effects(self.settings, settings)
        if not effects:
            return Effect.VIEW
        if Effect.REBUILD in effects:
            self.rebuild(settings, faces)
            return Effect.REBUILD
        check_emitter(settings, self.settings)
        changes_rate = settings.rate != self.settings.rate
        self._take(settings)
        if Effect.RESET in effects:
            self.reset()
            return Effect.RESET
        if changes_rate and settings.mode is EmissionMode.RATE:
            self._schedule = self._schedule.with_rate(settings.rate, self.step_count)
        return Effect.STEP if Effect.STEP in effects else Effect.VIEW

    def warm_up(self, settings: Sequence[EmitterSettings]) -> None:
        self._passes.pending = settings

    def resume(self) -> None:
        if self.stopped:
            records = self.side.buffer.read()
            records["position"][records["position"][:, 3] < BROKEN_BELOW, 3] = DEAD
            self.side.buffer.write(records)
            self.stopped = ""
            self._count.discard()

    # --- reading --------------------------------------------------------------------------------------

    @property
    def slot_count(self) -> int:
        return min(self.spawned, self.settings.capacity)

    @property
    def spawned_per_second(self) -> float:
        return self._schedule.per_step / STEP_TIME

    @property
    def needed_capacity(self) -> int:
        return slots_needed(self.settings)

    def poll(self, now: float) -> bool:
        """Reads a new `alive` without waiting, and stops if particles failed; returns True if it is new."""
        counts = self._count.poll()
        if counts is not None:
            self._take_counts(counts)
        if self.slot_count and not self._is_clear:
            self._count.request(self.side.texture, self.slot_count, now)
        return counts is not None

    def count(self) -> int:
        """Counts living particles, and stops if particles failed; waits for the GPU."""
        self.alive = 0
        if self.slot_count and not self._is_clear:
            self._take_counts(self._count.read(self.side.texture, self.slot_count))
        return self.alive

    def read(self, first: int = 0, count: int | None = None) -> npt.NDArray[np.void]:
        """Returns records of `PARTICLE` from `first` on, up to `slot_count`; waits for the GPU."""
        buffer, left = self.side.buffer, max(self.slot_count - first, 0)
        length = left if count is None else min(count, left)
        return buffer.read(offset=first * buffer.dtype.itemsize if length else 0, count=length)

    def snapshot(self) -> State:
        stream = self._schedule
        head = {
            "steps": self.step_count, "born": self.spawned, "halted": self.stopped, "clear": self._is_clear,
            "stream": (stream.per_step, stream.anchor, stream.passed),
        }  # fmt: skip
        return State(head, BufferSpan(self.side.buffer, self.slot_count))

    def restore(self, state: bytes) -> None:
        """Restores a state; raises SettingsError if it belongs to another emitter."""
        head, (records,) = unpacked_state(state)
        if len(records) > self.settings.capacity:
            raise SettingsError("the state belongs to another emitter")
        self._clear()
        if len(records):
            self.side.buffer.write(records)
        per_step, anchor, passed = head["stream"]
        self._schedule = replace(schedule_of(self.settings), per_step=per_step, anchor=anchor, passed=passed)
        self.step_count, self.spawned, self.stopped = head["steps"], head["born"], head["halted"]
        self._is_clear = head["clear"]
        self.alive = int(np.count_nonzero(records["position"][:, 3] >= 0.0))

    def _take(self, settings: EmitterSettings) -> None:
        self.settings = settings
        self._is_always_full = settings.mode is EmissionMode.FULL and not settings.stateless
        spans = (settings.lifetime / STEP_TIME, settings.lifetime_variance, settings.size, settings.size_variance)
        self.look_uniforms: dict[str, object] = {"u_emitter": (settings.seed, settings.capacity), "u_spans": spans}
        self.warning = starvation(settings)
        self._passes.set_settings(settings)
        self._substeps = substeps_of(settings)

    def _clear(self) -> None:
        self.side.buffer.fill(dead_records(min(self.settings.capacity, FILLED_AT_ONCE)))
        self._is_clear = True
        self._count.discard()

    def _take_counts(self, counts: ParticleCounts) -> None:
        self.alive = counts.alive
        if counts.broken and not self.stopped:
            self.stopped = (
                f"stopped at {self.step_count * STEP_TIME:.2f} s: {counts.broken} particles left the world;"
                " weaker forces or slower starts keep them in it"
            )

    def _plan_substeps(self, start: int) -> list[Substep]:
        capacity = self.settings.capacity
        if self._is_always_full:
            self.spawned = capacity
            return [(values, capacity, ()) for values in self._substeps]
        substeps: list[Substep] = []
        for values in self._substeps:
            before, self.spawned = self.spawned, self._schedule.births_before(start + values[1])
            substeps.append((values, min(before, capacity), slot_ranges(before, self.spawned, capacity)))
        return substeps
