"""Cloth: a cloth that moves on the GPU, with what is drawn of it and what tells that it goes wrong.

Owns every part of one cloth.  It knows neither scene nor viewport; the caller makes the context current.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.assets.model import Material
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.ping_pong import PingPong
from sim.gl.staging import BufferSpan
from sim.gl.texture import BufferTexture
from sim.kinds.cloth.buffers import ClothTables, rest_records
from sim.kinds.cloth.model import build_cloth
from sim.kinds.cloth.monitor import ClothMonitor, ClothStatistics
from sim.kinds.cloth.pin_targets import ClothPins, PinTargetTable
from sim.kinds.cloth.settings import ClothSettings
from sim.kinds.cloth.sheet import ClothSheet, SpringLines
from sim.kinds.cloth.solver import ClothInputs, ClothSolver
from sim.kinds.cloth.stability import stop_reason
from sim.kinds.cloth.surface import ClothSurface
from sim.kinds.packing import State, blended, unpacked_state
from sim.maths.srgb import light_of
from sim.maths.transform import transform_points
from sim.scene.params import Effect, SettingsError, changed_effects
from sim.skin.attachment import SurfaceAttachment
from sim.skin.pose_snapshot import moved, turned

Float64 = npt.NDArray[np.float64]


def fabric(settings: ClothSettings, *, textured: bool) -> Material:
    """The material of a cloth, whose texture takes the place of its colour where there is one."""
    path = Path(settings.texture) if textured else None
    return Material(
        "fabric", path.name if path else None, path,
        diffuse=(1.0, 1.0, 1.0) if textured else light_of(settings.colour), specular=(0.02, 0.02, 0.02), shininess=8.0,
    )  # fmt: skip


NO_INPUTS = ClothInputs()

INTERVAL = 0.1
"""Shortest time between two statistics [s]."""


def particles_between(one: bytes, other: bytes, share: float) -> bytes:
    """The second of two snapshots, its particles on the straight way from where they were in the first."""
    (_, (_, former, *_)), (head, (moving, cached, *rest)) = unpacked_state(one), unpacked_state(other)
    if len(former) != len(cached):
        return other
    seen = cached.copy()  # the last sound state is what is shown
    for name in ("position", "velocity"):
        seen[name][:, :3] = blended(former[name][:, :3], cached[name][:, :3], share)
    return State(head, moving, seen, *rest).packed()


class Cloth:
    """One cloth.

    Args:
        context: Where it lives.
        library: Where programs come from.
        settings: What to build.
        surface: Triangles in the frame of the node, for a cloth from a mesh.
        world_from_cloth: Placement of the node, shape (4, 4).

    Attributes:
        settings: As applied last.
        model: Topology and rest shape.
        placement: That of the node, shape (4, 4).
        start: Where the particles started [m], shape (P, 3).
        step_count: Steps since the start.
        halted: Why the cloth stands still, or "" while it can move.
        statistics: Newest energies and strain, or None before the first arrive.
        sheet: The vertices that are drawn, as of the last `refresh`.

    Raises:
        SettingsError: If no cloth can be made of the settings.
    """

    def __init__(
        self,
        context: Context,
        library: ShaderLibrary,
        settings: ClothSettings,
        surface: ClothSurface | None = None,
        world_from_cloth: Float64 | None = None,
    ) -> None:
        self.stopped = ""
        self.statistics: ClothStatistics | None = None
        self._context, self._library = context, library
        self._lines: SpringLines | None = None
        self._elsewhere: PingPong | None = None
        self._built, self._is_measured = False, True
        self._asked_at = -np.inf
        self.rebuild(settings, surface, world_from_cloth)

    # --- the four verbs -------------------------------------------------------------------------------

    def rebuild(
        self, settings: ClothSettings, surface: ClothSurface | None = None, world_from_cloth: Float64 | None = None
    ) -> None:
        """Make everything anew; on an error the cloth stays as it was.

        Raises:
            SettingsError: If no cloth can be made of the settings.
        """
        placement = np.eye(4) if world_from_cloth is None else np.array(world_from_cloth, np.float64)
        model = build_cloth(settings, surface, placement)
        flags = model.pinned(settings)
        tables = ClothTables(self._context, model)
        self.release()
        self.model, self._surface, self.placement, self._tables = model, surface, placement, tables
        self.settings = settings
        rest = rest_records(model)
        self._state = PingPong(self._context, rest, label="cloth")
        self._solver = ClothSolver(self._library, model, tables)
        self._monitor = ClothMonitor(self._context, self._library, model, tables, rest)
        self._pins = ClothPins(self._context, self._library, model.positions)
        self.sheet = ClothSheet(self._context, self._library, model, tables)
        self._built = True
        self._flags = flags
        self._pins.set_targets(flags, model.positions)
        self._start()

    def reset(self) -> None:
        """Back to the rest shape at the present placement, at rest, all pins at their places."""
        if not np.array_equal(self._built_at, self.placement):
            self.rebuild(self.settings, self._surface, self.placement)
            return
        rest = rest_records(self.model)
        self._state.write(rest)
        self._monitor.reset(rest)
        self._pins.detach()
        self._pins.set_targets(self._flags, self.model.positions)
        self._start()

    def stand(self, positions: Float64) -> None:
        """Start at rest at other places than those of the rest shape, (P, 3) in the world [m]."""
        self.write(positions, np.zeros(3))
        self._pins.detach()
        self._pins.set_targets(self.pinned, positions)
        self.start = positions

    def step(self, inputs: ClothInputs = NO_INPUTS) -> bool:
        """Advance by one step of `settings.step_time`; returns whether it did (a halted cloth does not)."""
        if self.stopped:
            return False
        self._solver.step(self._state, self.settings, inputs, time=self.time, pins=self._pins.texture)
        self.step_count += 1
        self._is_measured = True
        self._monitor.check(self._state, self._solver.constants(self.settings), self.step_count)
        self._drawn = False
        return True

    def release(self) -> None:
        if self._lines is not None:
            self._lines.release()
            self._lines = None
        self.look_on(None)
        if self._built:
            for owned in (self.sheet, self._pins, self._monitor, self._solver, self._state, self._tables):
                owned.release()

    # --- changes --------------------------------------------------------------------------------------

    def apply(self, settings: ClothSettings) -> Effect:
        """Take new settings at the cost that their declarations name; returns that cost.

        Raises:
            SettingsError: If no cloth can be made of them; everything stays as it was.
        """
        effects = changed_effects(self.settings, settings)
        if Effect.REBUILD in effects:
            self.rebuild(settings, self._surface, self.placement)
            return Effect.REBUILD
        flags = self.model.pinned(settings)
        self.settings, self._flags = settings, flags
        if Effect.RESET in effects:
            self.reset()
            return Effect.RESET
        self.hold_pins()
        return Effect.STEP if effects else Effect.VIEW

    def place(self, world_from_cloth: Float64) -> None:
        """Take a new placement of the node: at the start the cloth goes along, later its pins do."""
        placement = np.array(world_from_cloth, np.float64)
        if np.array_equal(placement, self.placement):
            return
        if self.step_count == 0:
            self.rebuild(self.settings, self._surface, placement)
            return
        self._pins.move(placement @ np.linalg.pinv(self.placement), self._state.texture)
        self.placement = placement

    def rest(self) -> Float64:
        """Rest places as the node stands now [m], shape (P, 3)."""
        if np.array_equal(self._built_at, self.placement):
            return self.model.positions
        return transform_points(self.placement @ np.linalg.pinv(self._built_at), self.model.positions)

    def carry(self, motions: Float64, placement: Float64) -> bool:
        """Move everything in place of a step, as if the world around it had moved; waits for the GPU.

        Args:
            motions: Affine motion of each particle in the world, shape (P, 4, 4), or (1, 4, 4) for all.
            placement: That of the node afterwards, shape (4, 4).

        Returns:
            Whether it did: not if something has gone wrong already.
        """
        records = self._read()
        if self.stopped or records["velocity"][0, 3]:
            return False
        positions = moved(motions, records["position"][:, :3].astype(np.float64))
        self.write(positions, turned(motions, records["velocity"][:, :3].astype(np.float64)))
        self._pins.set_targets(self.pinned, positions)
        self.placement = placement
        self.step_count += 1
        return True

    def resume(self) -> None:
        """Let a halted cloth go on from its last good state."""
        if self.stopped:
            cached = self._monitor.cached.newest.read()
            cached["velocity"][:, 3] = 0.0
            self._monitor.reset(cached)
            self._state.write(cached)
            self.stopped = ""

    # --- pins -----------------------------------------------------------------------------------------

    @property
    def pinned(self) -> npt.NDArray[np.bool_]:
        """Which particles are held, shape (P,)."""
        return self._pins.flags

    def hold_pins(self) -> None:
        """Hold exactly the particles that the settings name; in a restored state others may be held."""
        self._pins.hold(self._flags, self._state.texture)

    def set_pin_targets(self, targets: Float64) -> None:
        """Where the held particles go during the next step; (P, 3) in the world [m], those of free ones are ignored."""
        self._pins.set_targets(self._pins.flags, targets)

    def attach_pins(self, attachment: SurfaceAttachment) -> None:
        """Tie the held particles to a surface; `follow_surface` then moves them."""
        self._pins.attach(attachment)

    def follow_surface(self, vertices: BufferTexture, texels_per_vertex: int, world_from_model: Float64) -> None:
        """Move the tied particles with a surface during the next step, on the GPU alone; see `ClothPins.follow`."""
        self._pins.follow(vertices, texels_per_vertex, world_from_model)

    # --- what is drawn --------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        time: float = self.step_count * self.settings.step_time
        return time

    @property
    def measures(self) -> Buffer:
        """Records of `MEASURE` for each particle, of the step done last."""
        return self._monitor.measures

    @property
    def pins(self) -> Buffer:
        """Records of `PIN` for each particle."""
        return self._pins.targets

    @property
    def state(self) -> BufferTexture:
        """The state that is shown, two texels a particle: position, 1 / share | velocity, 0."""
        return self._monitor.cached.texture if self._elsewhere is None else self._elsewhere.texture

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is shown where it is not, see `look_on`."""
        return self._elsewhere is not None

    def look_on(self, motions: Float64 | None) -> None:
        """Show the newest sound state as if the world around it had moved, without moving it; waits for the GPU.

        Args:
            motions: Affine motion of each particle in the world, shape (P, 4, 4), or (1, 4, 4) for all; None shows it
                as it is.
        """
        if motions is None:
            if self._elsewhere is not None:
                self._elsewhere.release()
                self._elsewhere, self._drawn = None, False
            return
        records, count = self._monitor.cached.newest.read(), self.model.particle_count
        records["position"][:count, :3] = moved(motions, records["position"][:count, :3].astype(np.float64))
        if self._elsewhere is None:
            self._elsewhere = PingPong(self._context, records, label="cloth elsewhere")
        else:
            self._elsewhere.write(records)
        self._drawn = False

    def refresh(self) -> bool:
        """Write the sheet of the newest sound state; call once a frame.  Returns whether it was written."""
        if self._drawn:
            return False
        self.sheet.write(self.state)
        self._drawn = True
        return True

    def spring_lines(self) -> Buffer:
        """Records of `LINE_VERTEX` (position, strain), two for each spring, of the newest sound state."""
        if self._lines is None:
            self._lines = SpringLines(self._context, self._library, self.model.springs)
        self._lines.write(self.state)
        return self._lines.lines

    # --- what is known --------------------------------------------------------------------------------

    def poll(self, now: float) -> bool:
        """Look for statistics without waiting, and halt the cloth if it blew up; returns whether it halted now.

        Args:
            now: Monotonic time [s]; statistics are asked for a few times a second.
        """
        found = self._monitor.poll()
        if found is not None:
            self.statistics = found
        if self.step_count and now - self._asked_at >= INTERVAL:
            self._measure()
            self._monitor.request(self.time)
            self._asked_at = now
        return found is not None and self._stop_if_bad(found)

    def check(self) -> ClothStatistics:
        """Statistics of the step done last, and halt the cloth if it blew up; waits for the GPU."""
        self._measure()
        self.statistics = self._monitor.read(self.time)
        self._stop_if_bad(self.statistics)
        return self.statistics

    def positions(self) -> npt.NDArray[np.float32]:
        """Places of the particles [m], shape (P, 3); waits for the GPU."""
        return self._read()["position"][:, :3]

    def positions_of(self, particles: npt.NDArray[np.integer]) -> npt.NDArray[np.float32]:
        """Places of a few particles [m], shape (N, 3); waits for the GPU, yet reads no others."""
        buffer = self._monitor.cached.newest
        size = buffer.dtype.itemsize
        records = [buffer.read(offset=int(particle) * size, count=1)["position"] for particle in particles]
        return np.concatenate(records)[:, :3] if records else np.zeros((0, 3), np.float32)

    def velocities(self) -> npt.NDArray[np.float32]:
        """Their velocities [m/s], shape (P, 3); waits for the GPU."""
        return self._read()["velocity"][:, :3]

    def write(self, positions: npt.ArrayLike, velocities: npt.ArrayLike) -> None:
        """Put the particles elsewhere, each array (P, 3), as if they had got there by themselves."""
        records = rest_records(self.model)
        records["position"][: self.model.particle_count, :3] = positions
        records["velocity"][: self.model.particle_count, :3] = velocities
        self._state.write(records)
        self._monitor.reset(records)
        self._drawn = False

    # --- going back -----------------------------------------------------------------------------------

    def snapshot(self, ties: PinTargetTable) -> State:
        """Everything that the next step depends on, what the pins are tied to included."""
        head = {"steps": self.step_count, "halted": self.stopped}
        fixed = [ties.in_joint, *ties.feet] if ties.held is None else [ties.in_joint, ties.held, *ties.feet]
        head["tied"] = ties.held is not None
        spans = (BufferSpan(self._state.newest), BufferSpan(self._monitor.cached.newest), BufferSpan(self.pins))
        return State(head, *spans, self.pinned, *fixed)

    def go_back(self, state: bytes) -> PinTargetTable:
        """Go back to what `snapshot` gave; returns what the pins are tied to.

        Raises:
            SettingsError: If it is of another cloth.
        """
        head, arrays = unpacked_state(state)
        moving, cached, pins, flags, in_joint, *rest = arrays
        if len(flags) != self.model.particle_count or len(moving) != self._state.count:
            raise SettingsError("the state is that of another cloth")
        self._state.write(moving)
        self._monitor.go_back(cached)
        self._is_measured = False
        self._pins.write(flags, pins)
        self.step_count, self.stopped, self._drawn = head["steps"], head["halted"], False
        held = rest.pop(0) if head["tied"] else None
        return PinTargetTable(held, in_joint, tuple(rest))

    # --- parts ----------------------------------------------------------------------------------------

    def _measure(self) -> None:
        """Measures a state that no step has led to."""
        if not self._is_measured or not self.step_count:
            self._monitor.measure(self._state.texture, self._solver.constants(self.settings))
            self._is_measured = True

    def _read(self) -> npt.NDArray[np.void]:
        return self._monitor.cached.newest.read(count=self.model.particle_count)

    def _start(self) -> None:
        self.step_count = 0
        self.stopped = ""
        self.statistics = None
        self._built_at = self.placement
        self.start = self.model.positions
        self._drawn = False

    def _stop_if_bad(self, statistics: ClothStatistics) -> bool:
        failed = statistics.failed
        if self.stopped or not failed:
            return False
        time = failed * self.settings.step_time
        self._state.copy_from(self._monitor.cached.newest)
        self.step_count = failed - 1
        places, targets = self.positions().astype(np.float64), self.pins.read()["pin"][: len(self.pinned), :3]
        reason = stop_reason(
            self.model, self.settings, places, targets.astype(np.float64), self.pinned, is_finite=statistics.is_finite
        )
        self.stopped = f"stopped at {time:.2f} s: {reason}"
        return True
