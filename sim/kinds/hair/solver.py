"""HairSolver: the three ways in which strands move, each a kernel that writes a whole strand.

It knows no time of its own and no randomness without a seed: the same state, settings and inputs give the same bits.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.program import Program
from sim.gl.rotation import Rotation
from sim.gl.texture import BufferTexture
from sim.kinds.hair.records import strand_record
from sim.kinds.hair.settings import HairSettings, HairSolver, HairSource
from sim.maths.gusts import gusts_at
from sim.solids.scene_solids import NO_SOLIDS, Solids
from sim.solids.state import SolidShape

NUMBERS = {HairSolver.ROD: 0, HairSolver.SPRINGS: 1, HairSolver.LAYERS: 2}

GRAVITY = 9.81
"""What the bending length refers to [m/s²]: a strand that long droops visibly."""


@dataclass(frozen=True, slots=True, eq=False)
class StrandTables:
    """What a step of strands reads.

    Attributes:
        roots: 4 texels a strand, see shaders/hair/root.glsl.
        rest: 2 texels a segment, see `sim.kinds.hair.groom.rest_texels`.
        is_straight: Whether no strand is bent at rest.
        length: Of the longest strand [m].
        head_from_world: Makes the ellipsoid that strands grow on the unit sphere, shape (4, 4).
    """

    roots: BufferTexture
    rest: BufferTexture
    is_straight: bool
    length: float
    head_from_world: npt.NDArray[np.float64] | None = None


class StrandSolver:
    """Advances strands.

    Args:
        library: Where the programs come from.
        knots: Of every strand.
    """

    def __init__(self, library: ShaderLibrary, knots: int) -> None:
        self._library, self._knots = library, knots
        self._kernels: dict[tuple[object, ...], Kernel] = {}

    def step(
        self,
        state: Rotation,
        settings: HairSettings,
        tables: StrandTables,
        *,
        time: float,
        solids: Solids = NO_SOLIDS,
    ) -> None:
        """Advance by one step, in as many substeps as the settings say; `time` is its start [s]."""
        kernel = self._kernel(settings, tables, solids)
        self._set(kernel.program, settings, tables, solids, time)
        count = settings.substeps
        values = [(index / count, (index + 1) / count) for index in range(count)]
        state.run(kernel, ("u_now", "u_before"), "u_span", values)

    def _kernel(self, settings: HairSettings, tables: StrandTables, solids: Solids) -> Kernel:
        is_rod = settings.solver is HairSolver.ROD
        collides = settings.collide and bool(solids)
        key = (
            settings.solver,
            is_rod and not tables.is_straight,
            is_rod and settings.carried > 0.0,
            is_rod and settings.hold > 0.0,
            settings.turbulence > 0.0,
            settings.solver is HairSolver.SPRINGS and tables.head_from_world is not None,
            collides,
            collides and solids.layout.still,
            collides and SolidShape.ELLIPSOID in solids.shapes,
        )
        kernel = self._kernels.get(key)
        if kernel is None:
            names = ("CURVED", "LOADS", "HOLD", "GUSTS", "HEAD", "COLLIDERS", "COLLIDE_STILL")
            defines: dict[str, object] = {
                "SOLVER": NUMBERS[settings.solver],
                "KNOTS": self._knots,
                "SEGMENTS": self._knots - 1,
                **dict(zip(names, key[1:8], strict=True)),
                "COLLIDE_NO_ELLIPSOID": not key[8],
            }
            kernel = Kernel(self._library, "hair/step.glsl", strand_record(self._knots), defines=defines)
            self._kernels[key] = kernel
        return kernel

    def _set(self, program: Program, settings: HairSettings, tables: StrandTables, solids: Solids, time: float) -> None:
        program["u_roots"] = tables.roots
        program["u_step"] = (settings.substep_time, settings.felt, settings.drag, 0.0)
        program["u_gravity"] = settings.gravity
        program.set_if_active("u_knots", self._knots)
        program.set_if_active("u_rest", tables.rest)
        program.set_if_active("u_wind", settings.wind)
        if settings.solver is HairSolver.ROD:
            program["u_rod"] = (GRAVITY * settings.bending_length**3, settings.damping, settings.hold, 0.0)
        elif settings.solver is HairSolver.SPRINGS:
            mass = settings.knot_mass
            head = settings.head_stiffness / mass if settings.source is HairSource.ELLIPSOID else 0.0
            program["u_springs"] = (settings.spring_stiffness / mass, settings.knot_drag / mass, head, 0.0)
            if tables.head_from_world is not None:
                program["u_head"] = tables.head_from_world
                program["u_head_radius"] = head_radius(tables.head_from_world)
        else:
            program["u_layers"] = (layer_stiffness(settings, tables.length), settings.fur_damping, 0.0, 0.0)
        if settings.turbulence > 0.0:
            gusts = gusts_at(settings, time)
            program["u_waves"], program["u_amplitudes"] = gusts.waves, gusts.amplitudes
        if settings.collide and solids:
            program["u_colliders"], program["u_collider_count"] = solids.texture, solids.count
            program["u_contact"] = (settings.clearance, settings.friction)


def head_radius(head_from_world: npt.NDArray[np.float64]) -> float:
    """Mean radius [m] of the ellipsoid that a matrix makes the unit sphere."""
    return float(abs(np.linalg.det(head_from_world[:3, :3])) ** (-1.0 / 3.0))


def layer_stiffness(settings: HairSettings, length: float) -> float:
    """Stiffness over length of the layers [1/s²]; each layer has up to ten times this and their number."""
    return settings.fur_stiffness / (length / 5.0 + 1e-3)
