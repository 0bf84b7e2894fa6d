"""Solvers of hair; each is a kernel that writes a whole strand, and the same inputs give the same bits."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.scene_colliders import NO_COLLIDERS, Colliders
from sinew.sim.colliders.skin import NearTriangles, parts_of
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.fields.sampler import FieldSampler
from sinew.sim.fields.state import Fields
from sinew.sim.gl.buffer_ring import WHOLE, BufferRing
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.program import Program
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.kinds.air import AirTravel
from sinew.sim.kinds.hair.records import strand_record
from sinew.sim.kinds.hair.settings import SUBSTEPS_MAX, HairSettings, HairSolver
from sinew.sim.maths.gusts import gusts_at
from sinew.sim.scene.clock import STEP_TIME

NUMBERS = {HairSolver.ROD: 0, HairSolver.SPRINGS: 1, HairSolver.LAYERS: 2}

GRAVITY = 9.81
"""Gravity that the bending length refers to [m/s²]."""


@dataclass(frozen=True, slots=True, eq=False)
class StrandTables:
    roots: BufferTexture  # Four texels per strand, see shaders/hair/root.glsl
    rest: BufferTexture  # Two texels per segment, see `sinew.sim.kinds.hair.groom.rest_texels`
    is_straight: bool  # No strand is bent at rest
    length: float  # Of the longest strand [m]
    # Maps the ellipsoid with the roots to the unit sphere, shape (4, 4)
    head_from_world: npt.NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True)
class StrandDrag:
    """A dragged point of a strand, its target [m], and the distance between roots up to which others follow [m]."""

    strand: int
    knot: int
    hand: tuple[float, float, float]
    reach: float


class StrandSolver(Owner):
    """Solver of strands; `count`, their number, selects the back end.

    Attributes:
        pending: Settings whose programs the next step compiles.
    """

    def __init__(self, library: ShaderLibrary, knots: int, count: int = 0) -> None:
        self._library, self._knots, self._count = library, knots, count
        self._kernels: dict[tuple[object, ...], Kernel] = {}
        self.pending: Sequence[HairSettings] = ()
        self._sampler: FieldSampler | None = None
        self._near: NearTriangles | None = None

    def step(
        self,
        state: BufferRing,
        settings: HairSettings,
        tables: StrandTables,
        *,
        time: float,
        colliders: Colliders = NO_COLLIDERS,
        pulled: StrandDrag | None = None,
        travel: AirTravel | None = None,
        fields: Fields | None = None,
    ) -> None:
        """Advances strands by one step, which starts at `time` [s]; `travel` is the way of the air, if it has keys."""
        met = colliders if settings.collide else NO_COLLIDERS
        forced = {"FIELDS": fields is not None}
        defines = self._defines(settings, tables) | forced | _contact_defines(settings, met)
        kernel = self._kernel("hair/step.glsl", defines, WHOLE)
        for later in self.pending:
            met_later = colliders if later.collide else NO_COLLIDERS
            needed = self._defines(later, tables) | forced | _contact_defines(later, met_later)
            self._kernel("hair/step.glsl", needed, WHOLE)
        self.pending = ()
        self._set(kernel.program, settings, tables, time, travel)
        if met or met.skin is not None:
            self._set_contact(kernel.program, settings, met)
        if fields is not None:
            if self._sampler is None:
                self._sampler = self.owns(FieldSampler(self._library, state.count * self._knots, self._knots))
            kernel.program["u_fields"] = self._sampler.sample(fields, state.texture, roots=tables.roots)
        count = settings.substeps
        pull = self._pull(settings, tables, replace(met, skin=None), pulled) if pulled is not None else None
        for first, end in parts_of(count) if met.skin is not None else [(0, count)]:
            if met.skin is not None:
                if self._near is None:
                    self._near = self.owns(NearTriangles(self._library, state.count * self._knots, self._knots))
                near = self._near.find(
                    met.skin, state.texture, (first / count, end / count), settings.clearance,
                    u_places_before=state.texture_before, u_roots=tables.roots, u_substeps=end - first,
                )  # fmt: skip
                kernel.program.update(near)
            if pull is None:
                state.run(kernel, ("u_now", "u_before"), first, end - first, count)
                continue
            for index in range(first, end):
                state.run(kernel, ("u_now", "u_before"), index, 1, count)
                state.correct(pull, ("u_solved", "u_now"), (index / count, (index + 1) / count))

    def _kernel(self, file: str, defines: dict[str, object], by_compute: Mapping[str, object] | None = None) -> Kernel:
        key = (file, *defines.values())
        kernel = self._kernels.get(key)
        if kernel is None:
            sizes = {"KNOTS": self._knots, "SEGMENTS": self._knots - 1}
            kernel = Kernel(
                self._library,
                file,
                strand_record(self._knots),
                defines=defines | sizes,
                compute_defines=by_compute,
                records=self._count,
            )
            self._kernels[key] = kernel
        return kernel

    @staticmethod
    def _defines(settings: HairSettings, tables: StrandTables) -> dict[str, object]:
        is_rod = settings.solver is HairSolver.ROD
        return {
            "SOLVER": NUMBERS[settings.solver],
            "CURVED": is_rod and not tables.is_straight,
            "LOADS": is_rod and settings.carried > 0.0,
            "HOLD": is_rod and settings.hold > 0.0,
            "EXACT_REST": is_rod and settings.exact_rest,
            "GUSTS": settings.turbulence > 0.0,
            "HEAD": settings.solver is HairSolver.SPRINGS and tables.head_from_world is not None,
        }

    def _set(
        self, program: Program, settings: HairSettings, tables: StrandTables, time: float, travel: AirTravel | None
    ) -> None:
        program["u_roots"] = tables.roots
        program["u_step"] = (settings.substep_time, settings.felt, settings.drag, 0.0)
        program["u_gravity"] = settings.gravity
        program.set_if_active("u_rest", tables.rest)
        program.set_if_active("u_wind", settings.wind)
        if settings.solver is HairSolver.ROD:
            program["u_rod"] = (GRAVITY * settings.bending_length**3, settings.damping, settings.hold, 0.0)
        elif settings.solver is HairSolver.SPRINGS:
            mass, head = settings.knot_mass, tables.head_from_world
            stiffness = settings.head_stiffness / mass
            program["u_springs"] = (settings.spring_stiffness / mass, settings.knot_drag / mass, stiffness, 0.0)
            if head is not None:
                program["u_head"], program["u_head_radius"] = head, head_radius(head)
        else:
            program["u_layers"] = (layer_stiffness(settings, tables.length), settings.fur_damping, 0.0, 0.0)
        if settings.turbulence > 0.0:
            gusts = gusts_at(settings, time, travel)
            program["u_waves"], program["u_amplitudes"] = gusts.waves, gusts.amplitudes

    def _pull(self, settings: HairSettings, tables: StrandTables, colliders: Colliders, pulled: StrandDrag) -> Kernel:
        free = {"FREE_LENGTH": settings.solver is HairSolver.SPRINGS}
        kernel = self._kernel("hair/pull.glsl", _contact_defines(settings, colliders) | free)
        program = kernel.program
        program["u_roots"], program["u_knots"] = tables.roots, self._knots
        program.set_if_active("u_step", (settings.substep_time, settings.felt, settings.drag, 0.0))
        program["u_pulled"], program["u_hand"] = (pulled.strand, pulled.knot), (*pulled.hand, pulled.reach)
        if colliders:
            self._set_contact(program, settings, colliders)
        return kernel

    def _set_contact(self, program: Program, settings: HairSettings, colliders: Colliders) -> None:
        if colliders:
            program["u_colliders"], program["u_collider_count"] = colliders.texture, colliders.count
        program["u_knots"] = self._knots
        program["u_contact"] = (settings.clearance, settings.friction)


def _contact_defines(settings: HairSettings, colliders: Colliders) -> dict[str, object]:
    if not colliders and colliders.skin is None:
        return {"CONTACT": False}
    return {
        "CONTACT": True,
        "FREE_LENGTH": settings.solver is HairSolver.SPRINGS,
        "COLLIDE_STILL": colliders.layout.still,
        "COLLIDE_NO_ELLIPSOID": ColliderShape.ELLIPSOID not in colliders.shapes,
        "SKIN": colliders.skin is not None,
        "SKIN_ALONE": not colliders,
    }


def head_radius(head_from_world: npt.NDArray[np.float64]) -> float:
    """Returns the mean radius of the ellipsoid [m]."""
    return float(abs(np.linalg.det(head_from_world[:3, :3])) ** (-1.0 / 3.0))


def layer_stiffness(settings: HairSettings, length: float) -> float:
    """Returns stiffness over length of the layers [1/s²]; each layer has up to ten times this and their number."""
    return settings.fur_stiffness / (length / 5.0 + 1e-3)


@dataclass(frozen=True, slots=True)
class HairStability:
    ratio: float  # Substep over the longest stable one, or an equivalent; unstable above 1
    substeps: int  # Fewest stable substeps; 0 if no number is stable


def stability(settings: HairSettings) -> HairStability:
    """Returns the stability of settings; rods are always stable."""
    ratio = _ratio(settings)
    if ratio <= 1.0:
        return HairStability(ratio, settings.substeps)
    enough = (n for n in range(1, SUBSTEPS_MAX + 1) if _ratio(msgspec.structs.replace(settings, substeps=n)) <= 1.0)
    return HairStability(ratio, next(enough, 0))


def _ratio(settings: HairSettings) -> float:
    h = settings.substep_time
    if settings.solver is HairSolver.SPRINGS:
        return h / longest_substep(settings)
    if settings.solver is HairSolver.LAYERS:
        first = layer_stiffness(settings, settings.length) * settings.segments * 10.0
        return h * h * first / (2.0 + 2.0 * math.exp(min(7.0 * settings.fur_damping * h, 700.0)))
    return 0.0


def longest_substep(settings: HairSettings) -> float:
    """Returns the longest stable substep of springs moved by their new velocity [s]; more than a step without any."""
    drag = settings.knot_drag / settings.knot_mass
    square = 4.0 * settings.spring_stiffness / settings.knot_mass
    if square <= 0.0:
        return 2.0 / drag if drag > 0.0 else 1e3 * STEP_TIME
    return (math.sqrt(4.0 * drag * drag + 16.0 * square) - 2.0 * drag) / (2.0 * square)
