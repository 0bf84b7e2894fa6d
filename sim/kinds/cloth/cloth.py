from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.assets.model import Material
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.buffer_ring import PingPong
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.readback import Readback
from sinew.sim.gl.staging import BufferSpan
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.kinds.cloth.buffers import PARTICLE, ClothTables, DrawnMesh, SpringLines, rest_records
from sinew.sim.kinds.cloth.line_solver import LineMeasures, LineSolver
from sinew.sim.kinds.cloth.maps import UNLIMITED_DISTANCE, ClothMap, particle_texels, values_on
from sinew.sim.kinds.cloth.material import ClothConstants
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.monitor import ClothMonitor, ClothStatistics
from sinew.sim.kinds.cloth.pin_targets import ClothPins
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.solver import ClothInputs, ClothSolver
from sinew.sim.kinds.cloth.stability import needed_substeps, stop_reason
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.kinds.packing import State, blended, unpacked_state
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.srgb import light_of
from sinew.sim.maths.transform import transform_points
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Effect, SettingsError, changed_effects
from sinew.sim.skin.pose_snapshot import moved, turned

NO_INPUTS = ClothInputs()

INTERVAL = 0.1
"""Shortest time between two statistics [s]."""

LOOKED_EVERY = 3
"""Steps between two looks at whether more substeps are needed."""

RECENT = 120
"""Steps whose largest measures of lines count: longer than most swings of a sheet."""


def fabric(settings: ClothSettings, *, textured: bool) -> Material:
    path = Path(settings.texture) if textured else None
    return Material(
        "fabric", path.name if path else None, path,
        diffuse=(1.0, 1.0, 1.0) if textured else light_of(settings.colour), specular=(0.02, 0.02, 0.02), shininess=8.0,
    )  # fmt: skip


def interpolate_particles(one: bytes, other: bytes, share: float) -> bytes:
    """Returns the second of two snapshots, with particles interpolated linearly from the first."""
    (_, (_, former, *_)), (head, (moving, sound, *rest)) = unpacked_state(one), unpacked_state(other)
    if len(former) != len(sound):
        return other
    shown = sound.copy()  # the last sound state is the one that is drawn
    for name in ("position", "velocity"):
        shown[name][:, :3] = blended(former[name][:, :3], sound[name][:, :3], share)
    return State(head, moving, shown, *rest).packed()


class Cloth(Owner):
    """The particles of one cloth on the GPU, with their pins, statistics and drawn vertices.

    The context must be current in every call.

    Args:
        surface: Triangles in the frame of the node, for a cloth from a mesh.
        world_from_cloth: World transform of the node, shape (4, 4).
        pins: Pins of another cloth with the same particles, which moves them.

    Attributes:
        chosen: Settings as they were applied; `settings` have more substeps while those need them.
        built_at: World transform of the node that the model has, shape (4, 4).
        start: Particles at the start [m], shape (P, 3).
        is_start_given: Whether `start_from` has set them until the next reset.
        step_count: Steps since the start.
        stopped: Why the cloth stopped; "" while it runs.
        statistics: Newest energies and strain; None before the first arrive.
        measures_lines: `poll` and `check` also measure what a substep of lines leaves, which costs two substeps.
        lines: The largest of these measures in the last `RECENT` steps with these settings; None before the first.
        measures: Records of `MEASURE` for each particle, of the last step.
        sheet, driven: The drawn vertices, as of the last `refresh`; without a driven mesh None.
        placements: How often something else than a step has changed the state.
        values: Painted maps.
        weights: Of the pins, painted or not, shape (P,).
        limited: Particles with a largest distance from their places, shape (P,).
        is_recorded: Whether the next `step` sets `recorded`.
        recorded: State and inputs that the last step began with.

    Raises:
        SettingsError: If no cloth can be built from the settings.
    """

    def __init__(
        self,
        context: Context,
        library: ShaderLibrary,
        settings: ClothSettings,
        surface: ClothSurface | None = None,
        world_from_cloth: Float64 | None = None,
        *,
        pins: ClothPins | None = None,
    ) -> None:
        self.stopped, self.placements, self._shared_pins = "", 0, pins
        self.is_recorded = False
        self.recorded: tuple[npt.NDArray[np.void], ClothInputs] | None = None
        self.statistics: ClothStatistics | None = None
        self.measures_lines = False
        self.lines: LineMeasures | None = None
        self._recent_lines: list[tuple[ClothSettings, int, LineMeasures]] = []
        self._lines_asked = settings, 0
        self._context, self._library = context, library
        self._is_measured = True
        self._asked_at = -np.inf
        self.rebuild(settings, surface, world_from_cloth)

    # --- building and stepping ------------------------------------------------------------------------

    def rebuild(
        self, settings: ClothSettings, surface: ClothSurface | None = None, world_from_cloth: Float64 | None = None
    ) -> None:
        """Builds the cloth from settings; on a SettingsError it stays as it was."""
        placement = np.eye(4) if world_from_cloth is None else np.array(world_from_cloth, np.float64)
        model = build_cloth(settings, surface, placement)
        topology = model.topology(placement)
        values = values_on(settings.maps, topology)
        weights = model.pin_weights(settings, values)
        tables = ClothTables(self._context, model)
        self.release()
        self.settings = self.chosen = settings
        self.model, self._surface, self.world_from_cloth = model, surface, placement
        self.topology, self.values, self.weights = topology, values, weights
        rest = self._rest_records()
        self.owns(tables)
        self._tables = tables
        self._state = self.owns(PingPong(self._context, rest, label="cloth"))
        solver = LineSolver if settings.has_lines else ClothSolver
        self._solver: LineSolver | ClothSolver = self.owns(solver(self._library, model, tables))
        self._monitor = self.owns(ClothMonitor(self._context, self._library, model, tables, rest))
        self._line_readback = self.owns(Readback(self._context, label="cloth lines"))
        self.measures = self._monitor.measures.buffer
        self.pins = self._shared_pins or self.owns(ClothPins(self._context, self._library, model.positions))
        particles = model.particle_of_vertex.astype(np.int32).view(PARTICLE)
        sheet = DrawnMesh(self._library, model, tables, model.surface, "cloth/surface.glsl", particles, "cloth")
        self.sheet = self.owns(sheet)
        self._lines: SpringLines | None = None
        self._displaced: PingPong | None = None
        self.driven: DrawnMesh | None = None
        self._write_maps()
        if self._shared_pins is None:
            self.pins.set_targets(model.positions, self._flags)
        self._start()

    def reset(self) -> None:
        """Returns to the rest shape at the current transform, with all pins at their rest positions."""
        self._set_substeps(self.chosen.substeps)
        if not np.array_equal(self.built_at, self.world_from_cloth):
            self.rebuild(self.chosen, self._surface, self.world_from_cloth)
            return
        rest = self._rest_records()
        self._state.write(rest)
        self._monitor.reset(rest)
        self.pins.detach()
        self.pins.set_targets(self.model.positions, self._flags)
        self._start()

    def start_from(self, positions: Float64, *, is_given: bool = True) -> None:
        """Starts the cloth at rest from world positions (P, 3) [m]; a character does not move a start that is given."""
        self.write(positions, np.zeros(3))
        self.pins.detach()
        self.pins.set_targets(positions)
        self.start, self.is_start_given = positions, is_given

    def step(self, inputs: ClothInputs = NO_INPUTS) -> bool:
        """Advances the cloth by `STEP_TIME`; returns False if it is stopped."""
        if self.stopped:
            return False
        self.recorded = (self._state.newest.read(), inputs) if self.is_recorded else None
        self._end_step(self._solver.step(self._state, self.settings, self._with_pins(inputs)))
        return True

    def step_with_others(self, inputs: ClothInputs, settings: ClothSettings) -> Iterator[None]:
        """Advances by `STEP_TIME` like `step`, a substep of `settings` for each item."""
        step = self._solver.begin(self._state, settings, self._with_pins(inputs))
        for index in range(settings.substeps):
            yield
            self._solver.substep(step, self._state, index)
        self._end_step(step.constants)

    def take_needed_substeps(self) -> None:
        """Before a step: takes more substeps if the settings allow it and the threads need them; waits for the GPU."""
        if not self.settings.more_substeps or not self.step_count or self.step_count % LOOKED_EVERY:
            return
        if isinstance(self._solver, LineSolver):
            loads = self._solver.measure(self._state, self.settings, self._with_pins(NO_INPUTS)).buffer.read()
            self._set_substeps(needed_substeps(self.settings, self._measures_of(loads)))

    def _set_substeps(self, substeps: int) -> None:
        if substeps != self.settings.substeps:
            self.settings = msgspec.structs.replace(self.chosen, substeps=substeps)
            self._write_maps()

    def _with_pins(self, inputs: ClothInputs) -> ClothInputs:
        time = self.step_count * STEP_TIME
        return replace(inputs, time=time, pins=self.pins.texture, former=self.pins.former)

    def _end_step(self, constants: ClothConstants) -> None:
        self.pins.arrive()
        self.step_count += 1
        self._is_measured = True
        self._monitor.check(self._state, constants, self.step_count)
        self._drawn = False

    # --- changes --------------------------------------------------------------------------------------

    def apply(
        self, settings: ClothSettings, surface: ClothSurface | None = None, *, is_refitted: bool = False
    ) -> Effect:
        """Applies settings; returns the largest effect of the changed ones.

        Args:
            is_refitted: Whether the surface has changed although no setting did.

        Raises:
            SettingsError: If no cloth can be built from them; everything stays as it was.
        """
        effects = changed_effects(self.chosen, settings)
        if is_refitted or Effect.REBUILD in effects:
            self.rebuild(settings, surface or self._surface, self.world_from_cloth)
            return Effect.REBUILD
        has_more = settings.more_substeps and settings.substeps == self.chosen.substeps
        self.chosen = settings
        if has_more and self.settings.substeps != settings.substeps:
            settings = msgspec.structs.replace(settings, substeps=self.settings.substeps)
        values = self.values if settings.maps == self.settings.maps else values_on(settings.maps, self.topology)
        weights = self.model.pin_weights(settings, values)
        former, self.settings, self.values, self.weights = self.values, settings, values, weights
        self._flags = weights > 0.0
        self._write_maps()
        if values is not former:
            for buffer in (self._state.newest, self._monitor.sound.newest):
                records = buffer.read()
                self._weigh(records)
                buffer.write(records)
        if Effect.RESET in effects:
            self.reset()
            return Effect.RESET
        self.hold_pins()
        return Effect.STEP if Effect.STEP in effects else Effect.VIEW

    def set_transform(self, world_from_cloth: Float64, *, is_animated: bool = False) -> None:
        """Sets the transform, which moves the cloth before its first step unless keys do so, later only its pins."""
        placement = np.array(world_from_cloth, np.float64)
        if np.array_equal(placement, self.world_from_cloth):
            return
        if self.step_count == 0 and not is_animated:
            self.rebuild(self.chosen, self._surface, placement)
            return
        self.pins.move(placement @ np.linalg.pinv(self.world_from_cloth), self._state.texture)
        self.world_from_cloth = placement

    def rest(self) -> Float64:
        """Returns the rest positions at the current world transform [m], shape (P, 3)."""
        if np.array_equal(self.built_at, self.world_from_cloth):
            return self.model.positions
        return transform_points(self.world_from_cloth @ np.linalg.pinv(self.built_at), self.model.positions)

    def warm_up(self, settings: Sequence[ClothSettings]) -> None:
        self._solver.pending = settings

    def hold_pins(self) -> None:
        new = self.limited & ~self.pins.flags if ClothMap.DISTANCE in self.values else None
        self.pins.hold(self._flags, self._state.texture)
        if new is not None and new.any():
            # Pins hold particles where they are, but distances count from places at rest.
            targets = self.pins.targets.read()
            targets["pin"][: len(new)][new, :3] = self.rest()[new]
            self.pins.targets.write(targets)
            self.pins.arrive()

    def _write_maps(self) -> None:
        distance = self.values.get(ClothMap.DISTANCE, np.full(len(self.weights), UNLIMITED_DISTANCE))
        self.limited = distance < UNLIMITED_DISTANCE
        self._flags = (self.weights > 0.0) | self.limited
        if self.values or self.settings.pulls_pins or self._tables.maps is not None:
            self._tables.write_maps(self.values, particle_texels(self.values, self.weights, self.settings.substeps))
            if isinstance(self._solver, LineSolver):
                self._solver.take_maps(self.values)
        if self.settings.pulls_pins:
            self.pins.follow_closely()

    def _rest_records(self) -> npt.NDArray[np.void]:
        return rest_records(self.model, self.values.get(ClothMap.MASS, 1.0))

    def _weigh(self, records: npt.NDArray[np.void]) -> None:
        records["position"][: self.model.particle_count, 3] = 1.0 / (
            self.model.shares * self.values.get(ClothMap.MASS, 1.0)
        )

    def teleport(self, motions: Float64, world_from_cloth: Float64) -> bool:
        """Moves all particles instead of a step, as if the world around them had moved; waits for the GPU.

        Returns False, and moves nothing, if the cloth has failed.

        Args:
            motions: Affine, in the world, shape (P, 4, 4), or (1, 4, 4) for all particles.
            world_from_cloth: Transform of the node afterwards.
        """
        records = self._read()
        if self.stopped or records["velocity"][0, 3]:
            return False
        positions = moved(motions, records["position"][:, :3].astype(np.float64))
        targets = positions
        if self.settings.pulls_pins:
            places = self.pins.targets.read()["pin"][: len(positions), :3].astype(np.float64)
            targets = np.where(self.weights[:, None] >= 1.0, positions, moved(motions, places))
        self.write(positions, turned(motions, records["velocity"][:, :3].astype(np.float64)))
        self.pins.set_targets(targets)
        self.world_from_cloth = world_from_cloth
        self.step_count += 1
        return True

    def resume(self) -> None:
        if self.stopped:
            sound = self._monitor.sound.newest.read()
            sound["velocity"][:, 3] = 0.0
            self._monitor.reset(sound)
            self._state.write(sound)
            self.stopped = ""

    # --- drawing --------------------------------------------------------------------------------------

    @property
    def state(self) -> BufferTexture:
        """Drawn state, two texels a particle: position, 1 / share | velocity, 0."""
        return (self._displaced or self._monitor.sound).texture

    @property
    def state_count(self) -> int:
        """Records of the state, with padding."""
        return self._state.count

    @property
    def is_displaced(self) -> bool:
        return self._displaced is not None

    def show_displaced(self, motions: Float64 | None) -> None:
        """Displaces the drawn state by motions as in `teleport`, or draws it in place for None; waits for the GPU."""
        if motions is None:
            if self._displaced is not None:
                self.disown(self._displaced)
                self._displaced, self._drawn = None, False
            return
        records, count = self._monitor.sound.newest.read(), self.model.particle_count
        records["position"][:count, :3] = moved(motions, records["position"][:count, :3].astype(np.float64))
        if self._displaced is None:
            self._displaced = self.owns(PingPong(self._context, records, label="cloth displaced"))
        else:
            self._displaced.write(records)
        self._drawn = False

    def drive(self, surface: ClothSurface | None, records: npt.NDArray[np.void] | None = None) -> None:
        """Moves a mesh in the world, bound at rest as `driven_records`, or none."""
        self.disown(self.driven)
        self.driven, self._drawn = None, False
        if surface is not None and records is not None:
            made = DrawnMesh(self._library, self.model, self._tables, surface, "cloth/driven.glsl", records, "driven")
            self.driven = self.owns(made)

    def refresh(self) -> bool:
        """Writes the drawn vertices, once a frame; returns False if they are up to date."""
        if self._drawn:
            return False
        self.sheet.write(self.state)
        if self.driven is not None:
            self.driven.write(self.state)
        self._drawn = True
        return True

    def spring_lines(self) -> Buffer:
        """Returns records of `LINE_VERTEX`, two for each spring, of the drawn state."""
        if self._lines is None:
            self._lines = self.owns(SpringLines(self._context, self._library, self.model.springs))
        self._lines.write(self.state)
        return self._lines.lines

    @property
    def simulated(self) -> Buffer:
        """The newest state, which may have failed, as records of `CLOTH_STATE`."""
        return self._state.newest

    @property
    def held(self) -> npt.NDArray[np.bool_]:
        """Particles that nothing but their pins moves, shape (P,)."""
        return self.pins.flags & (self.weights >= 1.0)

    @property
    def sound(self) -> Buffer:
        """The last sound state; the last number of each record is the step that failed, or 0."""
        return self._monitor.sound.newest

    # --- reading back ---------------------------------------------------------------------------------

    def poll(self, now: float) -> bool:
        """Reads statistics without waiting at monotonic time `now` [s]; returns True if the cloth stopped now."""
        statistics = self._monitor.poll()
        if statistics is not None:
            self.statistics = statistics
        found = self._line_readback.poll()
        if found is not None:
            self._take_lines(found, *self._lines_asked)
        if self.step_count and now - self._asked_at >= INTERVAL:
            self._measure()
            self._monitor.request(self.step_count * STEP_TIME)
            loads = self._line_loads()
            if loads is not None:
                self._line_readback.request(loads)
                self._lines_asked = self.settings, self.step_count
            self._asked_at = now
        return statistics is not None and self._stop_if_failed(statistics)

    def check(self) -> ClothStatistics:
        """Returns statistics of the last step, and stops the cloth if it failed; waits for the GPU."""
        self._measure()
        self.statistics = self._monitor.read(self.step_count * STEP_TIME)
        loads = self._line_loads()
        if loads is not None:
            self._take_lines(loads.read(), self.settings, self.step_count)
        self._stop_if_failed(self.statistics)
        return self.statistics

    def positions(self) -> npt.NDArray[np.float32]:
        """Returns world positions [m], shape (P, 3); waits for the GPU."""
        return self._read()["position"][:, :3]

    def positions_of(self, particles: npt.NDArray[np.integer]) -> npt.NDArray[np.float32]:
        """Returns positions [m], shape (N, 3), without reading the other particles; waits for the GPU."""
        found = [self.record_of(int(particle))["position"][:3] for particle in particles]
        return np.array(found, np.float32).reshape(-1, 3)

    def record_of(self, particle: int) -> Any:
        """Returns the record of one particle; waits for the GPU."""
        buffer = self._monitor.sound.newest
        return buffer.read(offset=particle * buffer.dtype.itemsize, count=1)[0]

    def velocities(self) -> npt.NDArray[np.float32]:
        """Returns world velocities [m/s], shape (P, 3); waits for the GPU."""
        return self._read()["velocity"][:, :3]

    def write(self, positions: npt.ArrayLike, velocities: npt.ArrayLike) -> None:
        """Replaces the simulated and the drawn state; shape (P, 3) each."""
        records = self._rest_records()
        records["position"][: self.model.particle_count, :3] = positions
        records["velocity"][: self.model.particle_count, :3] = velocities
        self._state.write(records)
        self._monitor.reset(records)
        self._drawn = False
        self.placements += 1

    def snapshot(self) -> State:
        head = {"steps": self.step_count, "halted": self.stopped, "tied": self.pins.attached is not None}
        head["substeps"] = self.settings.substeps
        spans = (self._state.newest, self._monitor.sound.newest, self.pins.targets)
        return State(head, *map(BufferSpan, spans), self.pins.flags, *self.pins.attachment_state())

    def restore(self, state: bytes) -> None:
        """Restores a state; raises SettingsError if it belongs to another cloth."""
        head, (moving, sound, targets, flags, *attachment) = unpacked_state(state)
        if len(flags) != self.model.particle_count or len(moving) != self._state.count:
            raise SettingsError("the state belongs to another cloth")
        for records in (moving, sound):
            self._weigh(records)
        self._state.write(moving)
        self._monitor.restore(sound)
        self._is_measured = False
        self.pins.restore(flags, targets, attachment, is_attached=head["tied"])
        self.step_count, self.stopped, self._drawn = head["steps"], head["halted"], False
        known = head.get("substeps", 0) if self.chosen.more_substeps else 0
        self._set_substeps(max(known, self.chosen.substeps))
        self.placements += 1

    def _measure(self) -> None:
        if not self._is_measured or not self.step_count:
            self._monitor.measure(self._state.texture, self._solver.constants(self.settings))
            self._is_measured = True

    def _line_loads(self) -> Buffer | None:
        """Records of `LOAD` of the present state; None if they are not wanted, or still on the way."""
        if not self.measures_lines or not isinstance(self._solver, LineSolver) or self._line_readback.pending:
            return None
        return self._solver.measure(self._state, self.settings, self._with_pins(NO_INPUTS)).buffer

    def _take_lines(self, loads: npt.NDArray[np.void], settings: ClothSettings, step: int) -> None:
        """Takes measures of the state after a step; a cloth that swings has less than its largest at most times."""
        found = self._measures_of(loads)
        recent = [one for one in self._recent_lines if one[0] is settings and step - RECENT < one[1] <= step]
        self._recent_lines = [*recent, (settings, step, found)]
        measures = [one[2] for one in self._recent_lines]
        self.lines = LineMeasures(
            max(one.load for one in measures),
            max(one.error for one in measures),
            max(one.usual_error for one in measures),
        )

    def _measures_of(self, loads: npt.NDArray[np.void]) -> LineMeasures:
        errors, _, _, held = loads["load"][: self.model.particle_count].T
        return LineMeasures(float(held.max()), float(errors.max()), float(np.quantile(errors, 0.99)))

    def _read(self) -> npt.NDArray[np.void]:
        return self._monitor.sound.newest.read(count=self.model.particle_count)

    def _start(self) -> None:
        self.step_count = 0
        self.placements += 1
        self.stopped = ""
        self.statistics = self.lines = None
        self._recent_lines = []
        self.built_at = self.world_from_cloth
        self.start, self.is_start_given = self.model.positions, False
        self._drawn = False

    def _stop_if_failed(self, statistics: ClothStatistics) -> bool:
        failed = statistics.failed
        if self.stopped or not failed:
            return False
        self._state.copy_from(self._monitor.sound.newest)
        self.step_count = failed - 1
        flags = self.held
        positions, targets = self.positions().astype(np.float64), self.pins.targets.read()["pin"][: len(flags), :3]
        reason = stop_reason(
            self.model, self.settings, positions, targets.astype(np.float64), flags, is_finite=statistics.is_finite
        )
        self.stopped = f"stopped at {failed * STEP_TIME:.2f} s: {reason}"
        return True
