"""ClothMonitor: energies and strain of a cloth, and the newest state that is sound.

The check runs on the GPU after every step, so that a state that blew up is never shown; the processor learns of it a
little later, without waiting.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sim.gl.buffer import Buffer
from sim.gl.buffer_ring import PingPong
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.readback import Readback
from sim.gl.texture import BufferTexture
from sim.gl.vertex_array import VertexArray
from sim.kinds.cloth.buffers import CLOTH_STATE, MEASURE, MEASURED, ClothTables
from sim.kinds.cloth.material import ClothConstants
from sim.kinds.cloth.model import ClothModel
from sim.kinds.cloth.solver import holds, plain_values, spring_uniforms

CHUNK = 64
BROKEN = 1e29
"""Strains from here on stand for places that are not numbers, or beyond the end of the world."""


@dataclass(frozen=True, slots=True)
class ClothStatistics:
    """A cloth at one moment.

    Attributes:
        time: Since the start [s].
        kinetic, elastic, potential: Energies [J]; the potential counts from the world's origin.
        strain: Largest lengthening of a thread over its rest length; negative where all are slack.
        failed: Number of the step that went wrong, from 1; 0 for none.
    """

    time: float
    kinetic: float
    elastic: float
    potential: float
    strain: float
    failed: int = 0

    @property
    def is_finite(self) -> bool:
        return self.strain < BROKEN and bool(np.isfinite(self.kinetic + self.elastic + self.potential))


class ClothMonitor:
    """Measures a state and keeps the newest sound one.

    Attributes:
        measures: Record of `MEASURE` for each particle, of the step checked last.
        kept: The newest sound state; the last number of its velocity is that of the step that went wrong, or 0.
    """

    def __init__(
        self,
        context: Context,
        library: ShaderLibrary,
        model: ClothModel,
        tables: ClothTables,
        rest: np.ndarray,
    ) -> None:
        self._model, self._tables = model, tables
        self.cached = PingPong(context, rest, label="cloth kept")
        self.measures = Buffer(context, np.zeros(len(rest), MEASURE), usage="copy", label="cloth measures")
        self._vertices = VertexArray(context, label="cloth monitor")
        self._levels = [(self.measures, BufferTexture(context, self.measures, "rgba32f"))]
        while self._levels[-1][0].count > 1:
            size = -(-self._levels[-1][0].count // CHUNK)
            total = Buffer(context, np.zeros(size, MEASURE), usage="copy", label="cloth total")
            self._levels.append((total, BufferTexture(context, total, "rgba32f")))
        self._measure = Kernel(library, "cloth/measure.glsl", MEASURED, defines=tables.defines, records=len(rest))
        self._reduce = Kernel(library, "cloth/reduce.glsl", MEASURED, defines={"CHUNK": CHUNK})
        self._keep = Kernel(library, "cloth/keep.glsl", CLOTH_STATE, records=len(rest))
        # The totals, then the second half of the first particle kept, whose last number is the step that went wrong.
        self._report = Buffer(context, np.zeros(2, MEASURE), usage="copy", label="cloth report")
        self._readback = Readback(context, label="cloth report")
        self._requested_at, self._is_outdated, self._is_past = 0.0, False, False
        self._uniforms: tuple[ClothConstants, dict[str, object]] | None = None
        self._token = object()

    def check(self, state: PingPong, constants: ClothConstants, step_number: int) -> None:
        """Measure the state after step `step_number` (from 1) and keep it if it is sound; nothing waits."""
        self.measure(state.texture, constants)
        self._keep.program["u_state"] = state.texture
        self._keep.program["u_total"] = self._levels[-1][1]
        limit = constants.stretch_limit - 1.0
        self.cached.run(self._keep, "u_kept", "u_check", [(limit, float(step_number))])

    def measure(self, state: BufferTexture, constants: ClothConstants) -> None:
        """Write energies and strain of a state, and their totals."""
        program = self._measure.program
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
        self._measure.run(self._vertices, self.measures, self.measures.count, u_state=state)
        for (source, texture), (target, _) in zip(self._levels[:-1], self._levels[1:], strict=True):
            self._reduce.run(self._vertices, target, target.count, u_records=texture, u_count=source.count)

    def reset(self, rest: np.ndarray) -> None:
        """Keep this state, forgetting that anything went wrong."""
        self.cached.write(rest)
        self._is_outdated = self._readback.pending

    def go_back(self, cached: np.ndarray) -> None:
        """Keep the state of another moment; what was asked for is still told, but no more what went wrong."""
        self.cached.write(cached)
        self._is_past = self._readback.pending

    def request(self, time: float) -> None:
        """Ask for the statistics of the step checked last, which ended at `time` [s]."""
        if not self._readback.pending:
            self._write_report()
            self._readback.request(self._report)
            self._requested_at = time

    def poll(self) -> ClothStatistics | None:
        """The statistics asked for, once they are there; never waits."""
        report = self._readback.poll()
        if report is None:
            return None
        is_outdated, is_past = self._is_outdated, self._is_past
        self._is_outdated = self._is_past = False
        if is_outdated:
            return None
        found = _statistics(report, self._requested_at)
        return replace(found, failed=0) if is_past else found

    def read(self, time: float) -> ClothStatistics:
        """The statistics of the step checked last; waits for the GPU."""
        self._write_report()
        return _statistics(self._report.read(), time)

    def release(self) -> None:
        for buffer, texture in self._levels:
            texture.release()
            buffer.release()
        self.cached.release()
        self._vertices.release()
        self._report.release()
        self._readback.release()

    def _write_report(self) -> None:
        half = MEASURE.itemsize
        self._levels[-1][0].copy_to(self._report, half)
        self.cached.newest.copy_to(self._report, half, source_offset=half, target_offset=half)


def _statistics(report: npt.NDArray[np.void], time: float) -> ClothStatistics:
    total, cached = report
    values = {name: float(total[name]) for name in MEASURE.names or ()}
    return ClothStatistics(time=time, failed=int(cached["strain"]), **values)
