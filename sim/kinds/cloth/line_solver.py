"""All threads of a direction are solved together and exactly, one direction after another, in small substeps.

A gather moves information by one cell; the solution of a line carries a load from one of its ends to the other in a
few passes, so the substep depends on the load and hardly on the stiffness.

References: M. Macklin et al. 2019, "Small steps in physics simulation"; M. Wardetzky et al. 2007 for the bending.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.pack import ANY_ORDER
from sinew.sim.fields.sampler import FieldSampler
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.buffer_ring import PingPong
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.pass_list import Pass, run_passes
from sinew.sim.gl.record import Record
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.kinds.cloth.buffers import CLOTH_STATE, LOAD, POINT, ROW, ClothTables
from sinew.sim.kinds.cloth.lines import BendRows, LineFamily, grid_bending, mesh_bending, mesh_families
from sinew.sim.kinds.cloth.material import UNLIMITED, ClothConstants, constants_of
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.self_contact import CONTACTS, SelfContact, width
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.solver import (
    HAND_PULL,
    HAND_REACH,
    ClothInputs,
    holds,
    plain_values,
    spring_uniforms,
    step_features,
)
from sinew.sim.kinds.cloth.springs import SpringKind
from sinew.sim.maths.gusts import gusts_at
from sinew.sim.scene.clock import STEP_TIME

Float64 = npt.NDArray[np.float64]

REACH = 8.0
"""Lengths of decay after which an edge does not feel another one within a substep."""

BEND_ERROR = 0.02
"""Part of the change by bending that its passes may leave, unless they are more than `BEND_PASSES`."""

BEND_PASSES = 32

HAND_STRETCH = 0.2
"""As `HAND_PULL`, instead of the stretch that stops the cloth, which is far from what a stiff fabric reaches."""

INERTIA, SUBSTEPS_OF_INERTIA = 8.0, 16
"""Inertia over mass of a particle under the largest load that a substep holds; with fewer substeps, inversely more.

Measured with sheets that hang and swing: from 8 on nothing jitters, and less is less accurate.
"""

_PREDICTS = ("DAMPED", "AIR", "GUSTS", "PINS", "FIELDS")


@dataclass(frozen=True, slots=True)
class _Family:
    kind: SpringKind
    stride: int  # Between records of edges that follow each other
    longest: int  # Edges of the longest line
    factor: float  # Largest factor of an edge
    set_up: Kernel
    apply: Kernel
    loaded: Kernel  # `apply` that also adds up the load
    count: int  # Records of edges, padded
    uniforms: dict[str, object] = field(default_factory=dict)
    tables: dict[str, BufferTexture] = field(default_factory=dict)


class LineSolver(Owner):
    """Takes the place of `ClothSolver`: the same records, pins, colliders and contacts.

    Attributes:
        pending: Settings whose programs the next step compiles.
    """

    def __init__(self, library: ShaderLibrary, model: ClothModel, tables: ClothTables) -> None:
        self._library, self._model, self._tables = library, model, tables
        self._padded = padded_count(model.particle_count)
        self._points = [self._texels(POINT, "points") for _ in range(3)]
        self._rows = [self._texels(ROW, "rows") for _ in range(2)]
        self._loads = [self._texels(LOAD, "loads") for _ in range(3)]  # The first stays zero
        self._kernels: dict[tuple[object, ...], Kernel] = {}
        self._settings: ClothSettings | None = None
        self.pending: Sequence[ClothSettings] = ()
        self._token = object()
        self._contact: SelfContact | None = None
        self._sampler: FieldSampler | None = None
        self._families: dict[bool, list[_Family]] = {}
        self._bend_rows = None if model.grid is not None else mesh_bending(model.positions, model.faces)
        self._entries: dict[str, BufferTexture] = {}
        self._threads = model.springs.of_kind(SpringKind.STRUCTURAL)
        self._mesh = [] if model.grid is not None else mesh_families(self._threads, model.positions)
        self._mesh_tables = [self._family_tables(family) for family in self._mesh]

    # --- stepping -------------------------------------------------------------------------------------

    def step(
        self,
        state: PingPong,
        settings: ClothSettings,
        inputs: ClothInputs,
        *,
        time: float,
        pins: BufferTexture | None = None,
        former: BufferTexture | None = None,  # noqa: ARG002
    ) -> ClothConstants:
        """As `ClothSolver.step`; cloths with painted maps, which need `former`, have springs."""
        constants = self.constants(settings)
        for later in self.pending:
            coming = constants_of(later)
            met = pins is not None, bool(inputs.colliders), inputs.fields is not None
            self._ends(step_features(self._tables, coming, later, *met), inputs)
            self._families_of(bool(coming.damping.any()))
            if later.bend_stiffness > 0.0:
                self._bend_kernel()
        self.pending = ()
        predict, finish, reads = self._prepare(state, settings, inputs, time, pins)
        sides, (passes, loads) = state.sides, self._load_passes(predict, reads, state)
        reads["u_loads"] = loads
        between = [self._between(side) for side in sides]
        last, count = self._last(between[0]), settings.substeps
        for index in range(count):
            before, after = sides[index % 2], sides[1 - index % 2]
            progress = "u_progress", (1.0 / (count - index), (index + 1) / count)
            known = reads | {"u_state": before}
            passes.append(Pass(predict, (self._points[0].buffer,), self._padded, known, progress))
            passes += between[index % 2]
            passes.append(Pass(finish, (after.buffer,), self._padded, known | {"u_points": last}, progress))
        run_passes(passes)
        state.turned(count)
        return constants

    def load(self, state: PingPong, settings: ClothSettings, pins: BufferTexture | None = None) -> TexelBuffer:
        """Records of `LOAD` of a substep from the state on, which stays as it is."""
        self.constants(settings)
        predict, _, reads = self._prepare(state, settings, ClothInputs(), 0.0, pins, finds_contacts=False)
        passes, loads = self._load_passes(predict, reads, state)
        run_passes(passes)
        return loads

    def _load_passes(
        self, predict: Kernel, reads: dict[str, BufferTexture], state: PingPong
    ) -> tuple[list[Pass], TexelBuffer]:
        """A substep without more inertia, up to the loads of its threads."""
        assert self._settings is not None
        known = reads | {"u_state": state.texture, "u_loads": self._loads[0]}
        progress = "u_progress", (1.0 / self._settings.substeps, 0.0)
        passes = [Pass(predict, (self._points[0].buffer,), self._padded, known, progress)]
        passes += self._between(state.texture, is_loaded=True)
        families = len(self._used())
        return passes, self._loads[2 - families % 2 if families else 0]

    def constants(self, settings: ClothSettings) -> ClothConstants:
        """The same object for the same settings."""
        if self._settings is not settings:
            self._settings = settings
            self._constants = constants = constants_of(settings)
            threads = self._threads
            pull = float(np.median(threads.rest * threads.factors)) if threads.count else 0.0
            pull *= HAND_PULL * HAND_STRETCH * float(constants.stiffness[SpringKind.STRUCTURAL])
            # The narrow threads of an uneven sheet tear first
            narrow = float(np.quantile(threads.rest, 0.05)) if threads.count else UNLIMITED
            self._hand_reach = HAND_REACH * narrow
            self._relaxations = self._bend_steps(settings)
            substep = settings.substep_time
            self._uniforms = plain_values(
                spring_uniforms(self._model, constants)
                | {
                    "u_substep": substep,
                    "u_inverse_mass": 1.0 / constants.mass_scale,
                    "u_gravity": constants.gravity,
                    "u_air_drag": constants.air_drag,
                    "u_wind": constants.wind,
                    "u_drag": (constants.normal_drag, constants.tangent_drag),
                    "u_hand_pull": pull or UNLIMITED,
                    "u_inertia": INERTIA * max(1.0, SUBSTEPS_OF_INERTIA / settings.substeps),
                    "u_clearance": constants.clearance,
                    "u_self": (settings.thickness, settings.self_friction),
                    "u_rate": settings.internal_damping / substep,
                }
            )
        return self._constants

    def _prepare(
        self,
        state: PingPong,
        settings: ClothSettings,
        inputs: ClothInputs,
        time: float,
        pins: BufferTexture | None,
        *,
        finds_contacts: bool = True,
    ) -> tuple[Kernel, Kernel, dict[str, BufferTexture]]:
        """Kernels before and after the lines with their uniforms, and the textures that both read."""
        constants, colliders = self._constants, inputs.colliders
        met = pins is not None, bool(colliders), inputs.fields is not None
        features = step_features(self._tables, constants, settings, *met)
        predict, finish = self._ends(features, inputs)
        reads = dict(self._tables.textures)
        if pins is not None:
            reads["u_pins"] = pins
        if colliders:
            assert colliders.texture is not None
            reads["u_colliders"] = colliders.texture
            finish.program["u_collider_count"] = colliders.count
        if "GUSTS" in features:
            gusts = gusts_at(settings, time, inputs.travel)
            predict.program.update({"u_waves": gusts.waves, "u_amplitudes": gusts.amplitudes})
        if "FIELDS" in features:
            if self._sampler is None:
                self._sampler = self.owns(FieldSampler(self._library, state.count))
            reads["u_fields"] = self._sampler.sample(inputs.fields, state.texture)
            predict.program["u_kick"] = (STEP_TIME, 1.5 / settings.substeps)
        if "SELF" in features and finds_contacts:
            if self._contact is None:
                self._contact = self.owns(SelfContact(self._library.context, self._library, self._model))
            reads["u_contacts"] = self._contact.find(state.texture, settings.thickness, STEP_TIME)
        for kernel in (predict, finish):
            self._set(kernel, self._uniforms)
        predict.program.update({"u_grabbed": inputs.grabbed, "u_hand": (*inputs.hand, self._hand_reach)})
        return predict, finish, reads

    def _ends(self, features: tuple[str, ...], inputs: ClothInputs) -> tuple[Kernel, Kernel]:
        """Kernels before and after the lines."""
        colliders = inputs.colliders
        layout = colliders.layout if colliders else ANY_ORDER
        predicts = tuple(name for name in features if name in _PREDICTS and (name != "DAMPED" or "AIR" in features))
        ends: dict[str, object] = {name: True for name in features if name in ("SELF", "COLLIDERS")}
        ends |= {"LISTED": width(CONTACTS)} if "SELF" in features else {}
        has_others = colliders.count > layout.planes + layout.ovals
        predict = self._kernel("line_predict", POINT, dict.fromkeys(predicts, True))
        return predict, self._kernel("line_finish", CLOTH_STATE, ends | layout.defines | {"OTHERS": has_others})

    def _set(self, kernel: Kernel, values: dict[str, object]) -> None:
        if not holds(kernel.program, self._token, self._constants):
            for name, value in values.items():
                kernel.program.set_if_active(name, value)

    # --- passes between prediction and contacts ---------------------------------------------------------

    def _between(self, state: BufferTexture, *, is_loaded: bool = False) -> list[Pass]:
        """Bending, then each family: set up, levels, apply."""
        settings, passes, here = self._settings, [], self._points[0]
        assert settings is not None
        if self._relaxations:
            bend, scale = self._bend_kernel(), settings.bend_stiffness * settings.substep_time**2
            grid = self._model.grid
            weights = (1.0, 0.0) if grid is None else grid_bending(grid)
            self._set(bend, self._uniforms | {"u_bend": (scale * weights[0], scale * weights[1])})
            for relax in self._relaxations:
                target = self._other(here)
                reads = self._entries | {"u_flat": self._points[0], "u_points": here}
                passes.append(Pass(bend, (target.buffer,), self._padded, reads, ("u_relax", (relax, 0.0))))
                here = target
        levels = {1: self._kernel("line_level", ROW), 2: self._kernel("line_level", ROW, {"TWICE": True})}
        loads = self._loads[0] if is_loaded else None
        for family in self._used():
            stiffness = float(self._constants.stiffness[family.kind])
            compliance = 1.0 / (stiffness * settings.substep_time**2)
            apply = family.loaded if is_loaded else family.apply
            values = self._uniforms | family.uniforms | {"u_compliance": min(compliance, UNLIMITED)}
            for kernel in (family.set_up, apply):
                self._set(kernel, values)
            rows, spare = self._rows
            reads = family.tables | {"u_points": here, "u_state": state}
            passes.append(Pass(family.set_up, (rows.buffer,), family.count, reads))
            done, needed = 0, self._level_count(family, settings)
            while done < needed:
                taken = 2 if needed - done > 1 else 1
                reach = "u_reach", (float(family.stride << done), float(family.count - 1))
                passes.append(Pass(levels[taken], (spare.buffer,), family.count, {"u_rows": rows}, reach))
                rows, spare, done = spare, rows, done + taken
            target = self._other(here)
            reads = family.tables | {"u_points": here, "u_rows": rows}
            targets: tuple[Buffer, ...] = (target.buffer,)
            if loads is not None:
                reads["u_loads"] = loads
                loads = self._loads[2] if loads is self._loads[1] else self._loads[1]
                targets = (target.buffer, loads.buffer)
            passes.append(Pass(apply, targets, self._padded, reads))
            here = target
        return passes

    def _other(self, here: TexelBuffer) -> TexelBuffer:
        return self._points[2] if here is self._points[1] else self._points[1]

    def _last(self, passes: list[Pass]) -> TexelBuffer:
        written = passes[-1].targets[0] if passes else self._points[0].buffer
        return next(points for points in self._points if points.buffer is written)

    def _used(self) -> list[_Family]:
        stiffness, families = self._constants.stiffness, self._families_of(bool(self._constants.damping.any()))
        return [family for family in families if stiffness[family.kind] > 0.0 and family.longest]

    def _families_of(self, is_damped: bool) -> list[_Family]:
        if is_damped not in self._families:
            made = self._grid_families(is_damped) if self._model.grid is not None else self._mesh_families(is_damped)
            self._families[is_damped] = made
        return self._families[is_damped]

    def _level_count(self, family: _Family, settings: ClothSettings) -> int:
        stiffness = self._constants.stiffness[family.kind] * family.factor
        stiffness *= 1.0 + settings.internal_damping / settings.substep_time
        heaviest = self._model.shares.min() * self._constants.mass_scale
        reach = REACH * np.sqrt(stiffness * settings.substep_time**2 / heaviest)
        if family.longest == 1:
            return 0
        return int(np.ceil(np.log2(np.clip(reach, 2.0, family.longest))))

    def _grid_families(self, is_damped: bool) -> list[_Family]:
        grid, factors = self._model.grid, self._model.spring_factors()
        assert grid is not None
        least = min(grid.columns, grid.rows) - 1
        made = []
        for number, (name, along, rest, longest) in enumerate(
            (
                ("diagonal", (1, 1), grid.diagonal, least),
                ("diagonal", (-1, 1), grid.diagonal, least),
                ("across", (1, 0), grid.across, grid.columns - 1),
                ("along", (0, 1), grid.along, grid.rows - 1),
            )
        ):
            uniforms: dict[str, object] = {
                "u_size": (grid.columns, grid.rows),
                "u_along": along,
                "u_border": self._model.border_share,
                "u_thread": (rest, factors[name]),
            }
            kind = SpringKind.SHEAR if name == "diagonal" else SpringKind.STRUCTURAL
            stride = along[1] * grid.columns + along[0]
            kernels = self._family_kernels({"FAMILY": number}, is_damped)
            made.append(_Family(kind, stride, longest, factors[name], *kernels, self._padded, uniforms))
        return made

    def _mesh_families(self, is_damped: bool) -> list[_Family]:
        kernels, kind = self._family_kernels({}, is_damped), SpringKind.STRUCTURAL
        return [
            _Family(
                kind, 1, one.longest, float(one.factors.max()), *kernels, padded_count(len(one.particles)), {}, tables
            )
            for one, tables in zip(self._mesh, self._mesh_tables, strict=True)
        ]

    def _family_kernels(self, defines: dict[str, object], is_damped: bool) -> tuple[Kernel, Kernel, Kernel]:
        damped = {"DAMPED": True} if is_damped else {}
        apply = self._kernel("line_apply", POINT, defines)
        loaded = self._kernel("line_apply", (POINT, LOAD), defines | {"LOAD": True})
        return self._kernel("line_set_up", ROW, defines | damped), apply, loaded

    def _family_tables(self, family: LineFamily) -> dict[str, BufferTexture]:
        places = np.arange(len(family.particles))
        leads = family.factors > 0.0
        follows = np.concatenate([[False], leads[:-1]])
        after, before = places + leads, places - follows
        edges = np.zeros((padded_count(len(places)), 2, 4), np.float32)
        ends = np.stack([before, places, after, after[after]], axis=1)
        edges[: len(places), 0], edges[: len(places), 1, 0] = family.particles[ends], family.rest
        edges[: len(places), 1, 1] = family.factors
        beside = np.zeros((self._padded, 4), np.float32)
        beside[:, :2] = np.arange(self._padded)[:, None]
        beside[family.particles] = np.stack([family.particles[before], family.particles[after], places, before], axis=1)
        context = self._library.context
        return {
            "u_edges": self.owns(TexelBuffer(context, edges.ravel(), label="cloth edges")),
            "u_places": self.owns(TexelBuffer(context, beside.ravel(), label="cloth places")),
        }

    # --- bending --------------------------------------------------------------------------------------

    def _bend_kernel(self) -> Kernel:
        if self._bend_rows is None:
            return self._kernel("line_bend", POINT)
        if not self._entries:
            self._entries, self._near = self._bend_entries(self._bend_rows)
        return self._kernel("line_bend", POINT, {"NEAR": self._near})

    def _bend_entries(self, bending: BendRows) -> tuple[dict[str, BufferTexture], int]:
        """Texels of two entries, and the even number of entries of a particle."""
        counts = np.bincount(bending.rows, minlength=self._padded)
        near = max(2, int(counts.max(initial=0)) + 1 & ~1)
        slots = np.arange(len(bending.rows)) - (np.cumsum(counts) - counts)[bending.rows]
        entries = np.zeros((self._padded, near, 2), np.float32)
        entries[..., 0] = np.arange(self._padded)[:, None]
        entries[bending.rows, slots, 0], entries[bending.rows, slots, 1] = bending.columns, bending.weights
        texels = TexelBuffer(self._library.context, entries.ravel(), label="cloth bending")
        return {"u_entries": self.owns(texels)}, near

    def _bend_steps(self, settings: ClothSettings) -> list[float]:
        """Steps of the passes of bending, none without stiffness."""
        model, scale = self._model, settings.bend_stiffness * settings.substep_time**2 / self._constants.mass_scale
        if scale == 0.0:
            return []
        if model.grid is not None:
            largest = 16.0 * sum(grid_bending(model.grid)) / float(model.shares.max())
        else:
            assert self._bend_rows is not None
            sums = np.bincount(self._bend_rows.rows, np.abs(self._bend_rows.weights), minlength=model.particle_count)
            largest = 2.0 * float((sums / model.shares).max(initial=0.0))
        return chebyshev_steps(1.0 + scale * largest)

    # --- kernels --------------------------------------------------------------------------------------

    def _kernel(
        self, name: str, output: Record | tuple[Record, ...], defines: dict[str, object] | None = None
    ) -> Kernel:
        defines = {**self._tables.defines, **(defines or {})}
        key = name, tuple(sorted(defines.items(), key=str))
        if key not in self._kernels:
            file = f"cloth/{name}.glsl"
            self._kernels[key] = Kernel(
                self._library, file, output, defines=defines, records=self._model.particle_count
            )
        return self._kernels[key]

    def _texels(self, record: Record, name: str) -> TexelBuffer:
        return self.owns(
            TexelBuffer(self._library.context, record.zeros(self._padded), usage="copy", label=f"cloth {name}")
        )


def chebyshev_steps(high: float) -> list[float]:
    """Steps of Richardson's iteration for eigenvalues from 1 to `high`, in an order that keeps rounding small.

    All steps occur twice, so that what is left of a mode is never negative: else stiff modes would gain energy.
    """
    # The largest stiffness is beyond the digits of the quotient
    needed = np.arccosh(BEND_ERROR**-0.5) / max(np.arccosh((high + 1.0) / max(high - 1.0, 1e-6)), 1e-6)
    odd = [1]
    while len(odd) < min(needed, BEND_PASSES // 2):
        odd = [one for first in odd for one in (first, 4 * len(odd) - first)]
    middle, half = 0.5 * (high + 1.0), 0.5 * (high - 1.0)
    return 2 * [float(1.0 / (middle + half * np.cos(0.5 * np.pi * one / len(odd)))) for one in odd]
