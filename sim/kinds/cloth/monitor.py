"""Monitor of a cloth: the GPU checks every step, so that no failed state is drawn; the CPU reads the result later."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.buffer_ring import PingPong
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.readback import Readback
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.kinds.cloth.buffers import CLOTH_STATE, MEASURE, MEASURED, ClothTables
from sinew.sim.kinds.cloth.material import ClothConstants
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.solver import holds, plain_values, spring_uniforms

CHUNK = 64
BROKEN = 1e29
"""Strain from which on positions are not numbers, or too far away."""


@dataclass(frozen=True, slots=True)
class ClothStatistics:
    time: float  # Since the start [s]
    # Energies [J]; the potential energy is 0 at the origin of the world
    kinetic: float
    elastic: float
    potential: float
    strain: float  # Largest elongation of a thread over its rest length; negative if all are slack
    failed: int = 0  # Number of the step that failed, from 1; 0 if none

    @property
    def is_finite(self) -> bool:
        return self.strain < BROKEN and bool(np.isfinite(self.kinetic + self.elastic + self.potential))


class ClothMonitor(Owner):
    """Monitor of steps; `measures` are of the last one, velocity.w of `sound` is the failed step, or 0."""

    def __init__(
        self, context: Context, library: ShaderLibrary, model: ClothModel, tables: ClothTables, rest: np.ndarray
    ) -> None:
        self._model, self._tables = model, tables
        self.sound = self.owns(PingPong(context, rest, label="cloth sound state"))
        self.measures = self._totals(context, len(rest), "cloth measures")
        self._levels = [self.measures]
        while self._levels[-1].buffer.count > 1:
            self._levels.append(self._totals(context, -(-self._levels[-1].buffer.count // CHUNK), "cloth total"))
        self._library, self._measures = library, dict[bool, Kernel]()
        self._reduce = Kernel(library, "cloth/reduce.glsl", MEASURED, defines={"CHUNK": CHUNK})
        self._keep = Kernel(library, "cloth/keep.glsl", CLOTH_STATE, records=len(rest))
        # The totals; the second half of the first sound particle, whose last number is the step that failed.
        self._report = self.owns(Buffer(context, np.zeros(2, MEASURE), usage="copy", label="cloth report"))
        self._readback = self.owns(Readback(context, label="cloth report"))
        self._requested_at, self._is_outdated, self._is_past = 0.0, False, False
        self._uniforms: tuple[ClothConstants, dict[str, object]] | None = None
        self._token = object()

    def _totals(self, context: Context, count: int, label: str) -> TexelBuffer:
        return self.owns(TexelBuffer(context, np.zeros(count, MEASURE), usage="copy", label=label))

    def check(self, state: PingPong, constants: ClothConstants, step_number: int) -> None:
        """Measures the state after step `step_number` (from 1) and stores it if it is sound; does not wait."""
        self.measure(state.texture, constants)
        program = self._keep.program
        program["u_state"] = state.texture
        program["u_total"] = self._levels[-1]
        limit = constants.stretch_limit - 1.0
        self.sound.run(self._keep, "u_kept", "u_check", [(limit, float(step_number))])

    def measure(self, state: BufferTexture, constants: ClothConstants) -> None:
        has_maps = "u_spring_maps" in self._tables.textures
        if has_maps not in self._measures:
            defines = self._tables.defines | ({"SPRING_MAPS": True} if has_maps else {})
            records = self.measures.buffer.count
            self._measures[has_maps] = Kernel(
                self._library, "cloth/measure.glsl", MEASURED, defines=defines, records=records
            )
        measure = self._measures[has_maps]
        program = measure.program
        if not holds(program, self._token, constants):
            if self._uniforms is None or self._uniforms[0] is not constants:
                values = spring_uniforms(self._model, constants) | {
                    "u_inverse_mass": 1.0 / constants.mass_scale,
                    "u_gravity": constants.gravity,
                    "u_count": self._model.particle_count,
                }
                self._uniforms = constants, plain_values(values)
            for name, value in self._uniforms[1].items():
                program.set_if_active(name, value)
        for name, texture in self._tables.textures.items():
            program[name] = texture
        measures = self.measures.buffer
        measure.run(None, measures, measures.count, u_state=state)
        for source, target in pairwise(self._levels):
            self._reduce.run(None, target.buffer, target.buffer.count, u_records=source, u_count=source.buffer.count)

    def reset(self, rest: np.ndarray) -> None:
        """Takes a state as the sound one, and discards a pending report."""
        self.sound.write(rest)
        self._is_outdated = self._readback.pending

    def restore(self, sound: np.ndarray) -> None:
        """Takes the sound state of another moment; a pending report arrives without its failure."""
        self.sound.write(sound)
        self._is_past = self._readback.pending

    def request(self, time: float) -> None:
        """Requests statistics of the step checked last, which ended at `time` [s]."""
        if not self._readback.pending:
            self._write_report()
            self._readback.request(self._report)
            self._requested_at = time

    def poll(self) -> ClothStatistics | None:
        """Returns the requested statistics once they have arrived, else None; never waits."""
        report = self._readback.poll()
        if report is None:
            return None
        is_outdated, is_past = self._is_outdated, self._is_past
        self._is_outdated = self._is_past = False
        if is_outdated:
            return None
        statistics = _statistics(report, self._requested_at)
        return replace(statistics, failed=0) if is_past else statistics

    def read(self, time: float) -> ClothStatistics:
        """Returns the statistics of the step checked last; waits for the GPU."""
        self._write_report()
        return _statistics(self._report.read(), time)

    def _write_report(self) -> None:
        half = MEASURE.itemsize
        self._levels[-1].buffer.copy_to(self._report, half)
        self.sound.newest.copy_to(self._report, half, source_offset=half, target_offset=half)


def _statistics(report: npt.NDArray[np.void], time: float) -> ClothStatistics:
    total, sound = report
    values = {name: float(total[name]) for name in MEASURE.names or ()}
    return ClothStatistics(time=time, failed=int(sound["strain"]), **values)
