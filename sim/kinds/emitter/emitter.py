"""Emitter: the particles of one emitter on the GPU, one pass for each substep.

It knows neither scene nor viewport; the caller makes the context current and hands over the source as it moves.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.staging import BufferSpan
from sim.gl.texture import BufferTexture
from sim.kinds.emitter.births import Schedule, check_emitter, schedule_of, slot_ranges, slots_needed, starvation
from sim.kinds.emitter.buffers import BROKEN_BELOW, DEAD, FILLED_AT_ONCE, ScratchPool, dead_records, padded_slots
from sim.kinds.emitter.count import ParticleCount, ParticleCounts
from sim.kinds.emitter.passes import NO_INPUTS, EmitterInputs, EmitterPasses, Substep, substeps_of
from sim.kinds.emitter.settings import SURFACE_SOURCES, EmissionMode, EmitterSettings
from sim.kinds.packing import State, blended, unpacked_state
from sim.scene.clock import STEP_TIME
from sim.scene.params import Effect, SettingsError, changed_effects

UInt32 = npt.NDArray[np.uint32]


def check_room(context: Context, settings: EmitterSettings, faces: npt.NDArray[np.uint32] | None) -> None:
    """Refuse what the driver cannot hold, or a surface that is not there.

    Raises:
        SettingsError: Naming the setting.
    """
    limit = context.capabilities.max_texture_buffer_size
    if 2 * padded_slots(settings.capacity) > limit:
        raise SettingsError(f"capacity = {settings.capacity}: this driver holds {limit // 2} particles at most")
    if settings.source not in SURFACE_SOURCES:
        return
    if faces is None:
        raise SettingsError(f"source {settings.source.value}: there is no surface to emit from")
    if len(faces) > limit:
        raise SettingsError(f"{len(faces)} faces emit: this driver holds {limit} at most")


def particles_between(one: bytes, other: bytes, share: float) -> bytes:
    """The first of two snapshots, those particles that live on in the second on the straight way to it.

    Who dies on the way is seen to the end of it, who is born not before.
    """
    (head, (former,)), (_, (later,)) = unpacked_state(one), unpacked_state(other)
    count = min(len(former), len(later))
    place, speed, next_place, next_speed = (
        records[name][:count] for records in (former, later) for name in ("position", "velocity")
    )
    # The same use of a slot is the same particle.
    lives = (place[:, 3] >= 0.0) & (next_place[:, 3] >= 0.0) & (speed[:, 3] == next_speed[:, 3])
    seen = former.copy()
    seen["position"][:count][lives] = blended(place[lives], next_place[lives], share)
    seen["velocity"][:count][lives] = blended(speed[lives], next_speed[lives], share)
    return State(head, seen).packed()


class Emitter:
    """The particles of one emitter.

    Args:
        context: Where they live.
        library: Where programs come from.
        settings: What to build.
        faces: Table of a surface that emits, see `sim.skin.surface_table`.
        pool: Spare buffers that emitters share; one of its own by default.

    Attributes:
        settings: As applied last.
        look_uniforms: Arguments `emitter` and `spans` of shaders/emitter/shown.glsl, as `u_emitter` and `u_spans`.
        step_count: Steps since the start.
        born: Particles born since the start; for one that is always full its capacity, once it runs.
        alive: How many lived at the last count, see `poll`.
        halted: Why the particles stand still, or "" while they can move.
        warning: What the capacity is too small for, or "".
        faces: Table of the surface that emits, as given last.

    Raises:
        SettingsError: If no emitter can be made of the settings.
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
        self._built = False
        self.rebuild(settings, faces)

    # --- the four verbs -------------------------------------------------------------------------------

    def rebuild(self, settings: EmitterSettings, faces: UInt32 | None = None) -> None:
        """Make everything anew; on an error the emitter stays as it was.

        Raises:
            SettingsError: If no emitter can be made of the settings.
        """
        check_emitter(settings)
        check_room(self._context, settings, faces)
        self.release()
        self._side = self._pool.open(padded_slots(settings.capacity))
        used = faces if settings.source in SURFACE_SOURCES else None
        self._passes = EmitterPasses(self._context, self._library, settings.capacity, used)
        self._count = ParticleCount(self._context, self._library, settings.capacity)
        self._built, self.faces = True, faces
        self._take(settings)
        self.reset()

    def reset(self) -> None:
        """Back to the start: nobody is born yet."""
        self._clear()
        self._schedule: Schedule = schedule_of(self.settings)
        self.step_count = self.born = self.alive = 0
        self.stopped = ""

    def step(self, inputs: EmitterInputs = NO_INPUTS) -> bool:
        """Advance by one step of `STEP_TIME`, at whose end the source and the colliders stand as given.

        Returns:
            Whether it did; one that is halted does not.
        """
        if self.stopped:
            return False
        if self.settings.stateless:
            self.show(self.step_count + 1, inputs)
            return True
        start = self.step_count
        self.step_count += 1
        self._is_clear = False
        if not self._is_always_full:
            self._passes.set_births(self._schedule.segments(start, self.step_count), start)
        substeps = self._parts(start)
        if self.slot_count and self._passes.has_source(inputs):
            self._side = self._passes.move(self._side, self._pool.swap, inputs, substeps, start * STEP_TIME)
        return True

    def rest(self) -> None:
        """Let a step pass in silence: who would be born in it is not, and who lived is gone.

        The next step bears the very particles that it would have borne otherwise.
        """
        self.step_count += 1
        self.stopped, self.alive = "", 0
        self.born = 0 if self._is_always_full else self._schedule.births_before(self.step_count)
        if not self._is_clear:
            self._clear()

    def release(self) -> None:
        if not self._built:
            return
        self._pool.close(self._side)
        if self._owns_pool:
            self._pool.release()
        self._passes.release()
        self._count.release()
        self._built = False

    # --- time -----------------------------------------------------------------------------------------

    def show(self, step_count: int, inputs: EmitterInputs = NO_INPUTS) -> None:
        """Write the state of a stateless emitter at any step; the source counts as at rest where it is at the end.

        One that is halted stays as it is.
        """
        if self.stopped:
            return
        self.step_count = step_count
        self.born = self._schedule.births_before(step_count)
        self._is_clear = False
        since = step_count - self.settings.longest_life / STEP_TIME - 1.0
        self._passes.set_births(self._schedule.segments(max(since, 0.0), step_count), step_count)
        if self.slot_count and self._passes.has_source(inputs):
            self._passes.show(self._side, inputs, self.slot_count)

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
            SettingsError: If no emitter can be made of them; everything stays as it was.
        """
        effects = changed_effects(self.settings, settings)
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

    def resume(self) -> None:
        """Let a halted emitter go on without the particles that left the world."""
        if self.stopped:
            records = self.buffer.read()
            records["position"][records["position"][:, 3] < BROKEN_BELOW, 3] = DEAD
            self.buffer.write(records)
            self.stopped = ""
            self._count.forget()

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
        """Look for a new `alive` without waiting, and halt if particles left the world; returns whether there is one.

        Args:
            now: Monotonic time [s]; counts are asked for a few times a second.
        """
        found = self._count.poll()
        if found is not None:
            self._note(found)
        if self.slot_count and not self._is_clear:
            self._count.request(self.state, self.slot_count, now)
        return found is not None

    def count(self) -> int:
        """How many live now, and halt if particles left the world; waits for the GPU."""
        self.alive = 0
        if self.slot_count and not self._is_clear:
            self._note(self._count.read(self.state, self.slot_count))
        return self.alive

    def read(self) -> npt.NDArray[np.void]:
        """Records of `PARTICLE` of the slots used so far; waits for the GPU."""
        return self.buffer.read(count=self.slot_count)

    # --- going back -----------------------------------------------------------------------------------

    def snapshot(self) -> State:
        """Everything that the next step depends on."""
        stream = self._schedule
        head = {
            "steps": self.step_count, "born": self.born, "halted": self.stopped, "clear": self._is_clear,
            "stream": (stream.per_step, stream.anchor, stream.passed),
        }  # fmt: skip
        return State(head, BufferSpan(self.buffer, self.slot_count))

    def go_back(self, state: bytes) -> None:
        """Go back to what `snapshot` gave.

        Raises:
            SettingsError: If it is of another emitter.
        """
        head, (records,) = unpacked_state(state)
        if len(records) > self.settings.capacity:
            raise SettingsError("the state is that of another emitter")
        self._clear()
        if len(records):
            self.buffer.write(records)
        per_step, anchor, passed = head["stream"]
        self._schedule = replace(schedule_of(self.settings), per_step=per_step, anchor=anchor, passed=passed)
        self.step_count, self.born, self.stopped = head["steps"], head["born"], head["halted"]
        self._is_clear = head["clear"]
        self.alive = int(np.count_nonzero(records["position"][:, 3] >= 0.0))

    # --- parts ----------------------------------------------------------------------------------------

    @property
    def _is_always_full(self) -> bool:
        return self.settings.mode is EmissionMode.FULL and not self.settings.stateless

    def _take(self, settings: EmitterSettings) -> None:
        self.settings = settings
        spans = (settings.lifetime / STEP_TIME, settings.lifetime_variance, settings.size, settings.size_variance)
        self.look_uniforms: dict[str, object] = {"u_emitter": (settings.seed, settings.capacity), "u_spans": spans}
        self.warning = starvation(settings)
        self._passes.set_settings(settings)
        self._substeps = substeps_of(settings)

    def _clear(self) -> None:
        self._side.buffer.fill(dead_records(min(self.settings.capacity, FILLED_AT_ONCE)))
        self._is_clear = True
        self._count.forget()

    def _note(self, census: ParticleCounts) -> None:
        self.alive = census.alive
        if census.broken and not self.stopped:
            self.stopped = (
                f"stopped at {self.time:.2f} s: {census.broken} particles left the world;"
                " weaker forces or slower starts keep them in it"
            )

    def _parts(self, start: int) -> list[Substep]:
        """Who moves and who is born in every substep of the step that begins after `start` steps."""
        capacity = self.settings.capacity
        if self._is_always_full:
            self.born = capacity
            return [(values, capacity, ()) for values in self._substeps]
        substeps: list[Substep] = []
        for values in self._substeps:
            before, self.born = self.born, self._schedule.births_before(start + values[1])
            substeps.append((values, min(before, capacity), slot_ranges(before, self.born, capacity)))
        return substeps
