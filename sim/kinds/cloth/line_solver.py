"""All threads of a direction are solved together and exactly, one direction after another, in small substeps.

A gather moves information by one cell; the solution of a line carries a load from one of its ends to the other in a
few passes, so the substep depends on the load and hardly on the stiffness.

References: M. Macklin et al. 2019, "Small steps in physics simulation"; M. Wardetzky et al. 2007 for the bending.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.pack import ANY_ORDER
from sinew.sim.colliders.skin import NearTriangles, SkinSurface, parts_of
from sinew.sim.fields.sampler import FieldSampler
from sinew.sim.gl.buffer_ring import PingPong
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.pass_list import Pass, run_passes
from sinew.sim.gl.record import Record
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.kinds.cloth.buffers import (
    AIM,
    CLOTH_STATE,
    ENDS,
    JOINTS,
    LOAD,
    LOADS,
    LONG,
    PIN,
    POINT,
    POINTS,
    SEGMENTS,
    ClothTables,
)
from sinew.sim.kinds.cloth.lines import BendRows, grid_bending, mesh_bending, mesh_families
from sinew.sim.kinds.cloth.maps import ClothMap, Values, extremes
from sinew.sim.kinds.cloth.material import UNLIMITED, ClothConstants, constants_of
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.self_contact import CONTACTS, SelfContact, width
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.solver import (
    HAND_PULL,
    HAND_REACH,
    ClothInputs,
    ClothStep,
    holds,
    push_of,
    step_features,
    step_uniforms,
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

AIMED = 4
"""Number of passes from which on a sheet shares aims between them, which take a pass more."""

HAND_STRETCH = 0.2
"""As `HAND_PULL`, instead of the stretch that stops the cloth, which is far from what a stiff fabric reaches."""

INERTIA, SUBSTEPS_OF_INERTIA = 8.0, 16
"""Inertia over mass of a particle under the largest load that a substep holds; with fewer substeps, inversely more.

Measured with sheets that hang and swing: from 8 on nothing jitters, and less is less accurate.
"""

ROW_ORDER, NATURAL_ORDER = 2, 4
"""Orders of shaders/cloth/line_layout.glsl."""

_PREDICTS = ("DAMPED", "AIR", "PRESSURE", "GUSTS", "PINS", "PIN_MAPS", "SPRING_MAPS", "FIELDS")
_FINISHES = ("SELF", "MET", "COLLIDERS", "SKIN", "YIELDING_SKIN", "FRICTION_MAP", "PIN_MAPS", "FIELDS")


@dataclass(frozen=True, slots=True)
class LineMeasures:
    """What a substep of lines leaves: errors are lengths over those that the forces stand for, minus 1."""

    load: float  # Square of the substep over the longest one that holds the load
    error: float  # The largest of all edges
    usual_error: float  # 99 % of the particles have a smaller one


@dataclass(frozen=True, slots=True)
class _Family:
    kind: SpringKind
    longest: int  # Edges of the longest line
    factor: float  # Largest factor of an edge
    order: int  # Of the points that it leaves, see shaders/cloth/line_layout.glsl
    count: int  # Segments, padded
    swept: int  # Of these the first, which hold all edges, padded
    together: int  # Segments in a record of joints
    joined: int  # Records of joints, padded
    segments: int  # Of a line, or of all lines of a mesh
    defines: dict[str, object]
    uniforms: dict[str, object] = field(default_factory=dict)
    tables: dict[str, TexelBuffer] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LineStep(ClothStep):
    """A step of `LineSolver`: kernels before and after the lines, the passes between them, and textures.

    Attributes:
        between: From each side of the state.
        parts: Ranges of substeps that share the near triangles of the skin.
    """

    substeps: int
    predict: Kernel
    finish: Kernel
    reads: dict[str, BufferTexture]
    sides: tuple[TexelBuffer, TexelBuffer]
    between: list[list[Pass]]
    skin: SkinSurface | None
    parts: list[tuple[int, int]]


class LineSolver(Owner):
    """Takes the place of `ClothSolver`: the same records, pins, colliders and contacts.

    Attributes:
        pending: Settings whose programs the next step compiles.
    """

    def __init__(self, library: ShaderLibrary, model: ClothModel, tables: ClothTables) -> None:
        self._library, self._model, self._tables = library, model, tables
        self._padded = padded_count(model.particle_count)
        grid = model.grid
        is_large = model.particle_count >= LONG**2 if grid is None else max(grid.columns, grid.rows) >= LONG
        self._segment = SEGMENTS[is_large]
        self._threads = model.springs.of_kind(SpringKind.STRUCTURAL)
        self._mesh = [] if grid is not None else mesh_families(self._threads, model.positions)
        self._mesh_tables = self._family_tables()
        self._families = self._grid_families() if grid is not None else self._mesh_families()
        self._bent = self._padded if grid is None else self._families[ROW_ORDER].count
        count = max([self._padded, *(self._segment * family.count for family in self._families)])
        self._points = [self._texels(POINT, "points", count) for _ in range(3)]
        self._aims = self._texels(AIM, "aims", count)
        self._rows = self._texels(ENDS, "rows", max([1, *(family.swept for family in self._families)]))
        joints = max([1, *(max(family.joined * family.together, family.count) for family in self._families)])
        self._joints = self._texels(JOINTS[SEGMENTS[1]], "joints", -(-joints // SEGMENTS[1]))
        self._loads = [self._texels(LOAD, "loads") for _ in range(3)]  # The first stays zero
        self._impulses: list[TexelBuffer] = []  # Of each family, for `measure`
        self._ahead: TexelBuffer | None = None
        self._kernels: dict[tuple[object, ...], Kernel] = {}
        self._settings: ClothSettings | None = None
        self.pending: Sequence[ClothSettings] = ()
        self._token = object()
        self._contact: SelfContact | None = None
        self._sampler: FieldSampler | None = None
        self._near_skin: NearTriangles | None = None
        self._own: dict[str, object] = {}
        self._bend_map: Float64 | None = None
        self._bend_rows = None if model.grid is not None else mesh_bending(model.positions, model.faces)
        self._entries: dict[str, TexelBuffer] = {}

    def take_maps(self, values: Values) -> None:
        """Takes painted maps, before the settings that have them."""
        if self._model.grid is not None:
            return
        for family, tables in zip(self._place_records(values.get(ClothMap.STRETCH)), self._mesh_tables, strict=True):
            tables["u_places"].buffer.write(family.ravel())
        bend = values.get(ClothMap.BEND)
        if bend is not self._bend_map:
            self._bend_map, self._bend_rows = bend, mesh_bending(self._model.positions, self._model.faces, bend)
            if self._entries:
                self._entries["u_entries"].buffer.write(self._bend_records(self._bend_rows))

    # --- stepping -------------------------------------------------------------------------------------

    def step(self, state: PingPong, settings: ClothSettings, inputs: ClothInputs) -> ClothConstants:
        """As `ClothSolver.step`."""
        step = self.begin(state, settings, inputs)
        for first, end in step.parts:
            self._make(step, state, first, end)
        return step.constants

    def begin(self, state: PingPong, settings: ClothSettings, inputs: ClothInputs) -> LineStep:
        """As `ClothSolver.begin`."""
        # Substeps of cloths that meet alternate: with programs of their own they send their constants once.
        self._own = {} if inputs.met is None else {"MET": inputs.met.place + 1}
        constants = self.constants(settings)
        for later in self.pending:
            coming = constants_of(later)
            self._ends(step_features(self._tables, coming, later, inputs), inputs, coming, later)
            self._line_kernels(coming, later)
        self.pending = ()
        predict, finish, reads = self._prepare(state, settings, inputs)
        passes, reads["u_loads"] = self._load_passes(predict, reads, state)
        run_passes(passes)
        skin, sides = inputs.colliders.skin, state.sides
        between = [self._between(side) for side in sides]
        parts = [(0, settings.substeps)] if skin is None else parts_of(settings.substeps)
        return LineStep(constants, settings.substeps, predict, finish, reads, sides, between, skin, parts)

    def substep(self, step: ClothStep, state: PingPong, index: int) -> None:
        """As `ClothSolver.substep`."""
        assert isinstance(step, LineStep)
        self._make(step, state, index, index + 1)

    def _make(self, step: LineStep, state: PingPong, first: int, end: int) -> None:
        """Makes the substeps from `first` to before `end`, which are within one part."""
        count, passes, reads = step.substeps, list[Pass](), step.reads
        part = dict(step.parts).get(first)
        if step.skin is not None and part is not None:
            if self._near_skin is None:
                self._near_skin = self.owns(NearTriangles(self._library, state.count, is_apart=True))
            during = first / count, part / count
            reads |= self._near_skin.find(step.skin, state.texture, during, step.constants.clearance)
        last, used = self._last(step.between[0]), self._used()
        reads |= used[-1].tables if used else {}
        for index in range(first, end):
            before, after = step.sides[index % 2], step.sides[1 - index % 2]
            progress = "u_progress", (1.0 / (count - index), (index + 1) / count)
            known = reads | {"u_state": before}
            passes.append(Pass(step.predict, (self._points[0].buffer,), self._padded, known, progress))
            passes += step.between[index % 2]
            passes.append(Pass(step.finish, (after.buffer,), self._padded, known | {"u_points": last}, progress))
        run_passes(passes)
        state.turned(end - first)

    def measure(self, state: PingPong, settings: ClothSettings, inputs: ClothInputs) -> TexelBuffer:
        """Records of `LOAD` of a substep from the state on, which stays as it is; pins go on at their speed."""
        self._own = {}
        self.constants(settings)
        passes = []
        if inputs.pins is not None:
            self._ahead = self._ahead or self._texels(PIN, "pins ahead")
            kernel = self._kernel("line_ahead", PIN)
            kernel.program["u_step"] = STEP_TIME
            reads: dict[str, BufferTexture] = {"u_state": state.texture, "u_pins": inputs.pins}
            passes.append(Pass(kernel, (self._ahead.buffer,), self._padded, reads))
            inputs = replace(inputs, pins=self._ahead)
        predict, _, reads = self._prepare(state, settings, inputs, finds_contacts=False)
        found, loads = self._load_passes(predict, reads, state)
        progress = "u_progress", (1.0 / settings.substeps, 0.0)
        reads |= {"u_state": state.texture, "u_loads": loads}
        passes += [*found, Pass(predict, (self._points[0].buffer,), self._padded, reads, progress)]
        measured = self._between(state.texture, is_measured=True)
        passes += measured
        last, used = self._last(measured), self._used()
        order: dict[str, object] = {
            "ORDER": used[-1].order if used else self._first_order_of(settings),
            "SEGMENT": self._segment,
        }
        natural = self._kernel("line_natural", POINT, order)
        self._set(natural, self._uniforms)
        here = self._other(last)
        tables = used[-1].tables if used else {}
        passes.append(Pass(natural, (here.buffer,), self._padded, {**tables, "u_points": last}))
        damped: dict[str, object] = {"DAMPED": True} if self._constants.damping.any() else {}
        if "SPRING_MAPS" in step_features(self._tables, self._constants, settings, inputs):
            damped |= {"SPRING_MAPS": True}
        for family, rows in zip(used, self._impulses, strict=False):
            kernel = self._kernel("line_error", LOAD, self._family_defines(family, NATURAL_ORDER) | damped)
            self._set(kernel, self._values_of(family))
            reads = {**self._tables.textures, **family.tables, "u_points": here, "u_rows": rows, "u_loads": loads}
            loads = self._loads[2] if loads is self._loads[1] else self._loads[1]
            passes.append(Pass(kernel, (loads.buffer,), self._padded, reads | {"u_state": state.texture}))
        run_passes(passes)
        return loads

    def _load_passes(
        self, predict: Kernel, reads: dict[str, BufferTexture], state: PingPong
    ) -> tuple[list[Pass], TexelBuffer]:
        """A substep without more inertia, up to the loads of its threads."""
        assert self._settings is not None
        known = reads | {"u_state": state.texture, "u_loads": self._loads[0]}
        progress = "u_progress", (1.0 / self._settings.substeps, -1.0)
        passes = [Pass(predict, (self._points[0].buffer,), self._padded, known, progress)]
        passes += self._between(state.texture, is_loaded=True)
        written = passes[-1].targets[-1]
        return passes, next((one for one in self._loads if one.buffer is written), self._loads[0])

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
            self._uniforms = step_uniforms(self._model, settings, constants, pull) | {
                "u_inertia": INERTIA * max(1.0, SUBSTEPS_OF_INERTIA / settings.substeps),
                "u_clearance": float(constants.clearance),
                "u_push": push_of(self._model, settings),
                "u_self": (settings.thickness, settings.self_friction),
                "u_rate": settings.internal_damping / settings.substep_time,
                "u_step": STEP_TIME,
            }
        return self._constants

    def _prepare(
        self, state: PingPong, settings: ClothSettings, inputs: ClothInputs, *, finds_contacts: bool = True
    ) -> tuple[Kernel, Kernel, dict[str, BufferTexture]]:
        """Kernels before and after the lines with their uniforms, and the textures that both read."""
        constants, colliders = self._constants, inputs.colliders
        features = step_features(self._tables, constants, settings, inputs)
        predict, finish = self._ends(features, inputs, constants, settings)
        reads = dict(self._tables.textures)
        for name, texture in (("u_pins", inputs.pins), ("u_former", inputs.former), ("u_maps", self._tables.maps)):
            if texture is not None:
                reads[name] = texture
        if inputs.met is not None:
            reads |= inputs.met.textures
            finish.program["u_first"] = inputs.met.first
        if colliders:
            assert colliders.texture is not None
            reads["u_colliders"] = colliders.texture
            finish.program["u_collider_count"] = colliders.count
        if "GUSTS" in features:
            gusts = gusts_at(settings, inputs.time, inputs.travel)
            predict.program.update({"u_waves": gusts.waves, "u_amplitudes": gusts.amplitudes})
        if "FIELDS" in features:
            if self._sampler is None:
                self._sampler = self.owns(FieldSampler(self._library, state.count))
            reads["u_fields"] = self._sampler.sample(inputs.fields, state.texture)
            for kernel in (predict, finish):
                kernel.program.set_if_active("u_kick", (STEP_TIME, 1.5 / settings.substeps))
        if "SELF" in features and finds_contacts:
            if self._contact is None:
                self._contact = self.owns(SelfContact(self._library.context, self._library, self._model))
            reads["u_contacts"] = self._contact.find(state.texture, settings.thickness, STEP_TIME)
        for kernel in (predict, finish):
            self._set(kernel, self._uniforms)
        predict.program.update({"u_grabbed": inputs.grabbed, "u_hand": (*inputs.hand, self._hand_reach)})
        return predict, finish, reads

    def _ends(
        self, features: tuple[str, ...], inputs: ClothInputs, constants: ClothConstants, settings: ClothSettings
    ) -> tuple[Kernel, Kernel]:
        """Kernels before and after the lines."""
        colliders = inputs.colliders
        layout = colliders.layout if colliders else ANY_ORDER
        predicts = tuple(name for name in features if name in _PREDICTS and (name != "DAMPED" or "AIR" in features))
        ends: dict[str, object] = {name: True for name in features if name in _FINISHES}
        ends |= {"LISTED": width(CONTACTS)} if "SELF" in features else {}
        has_others = colliders.count > layout.planes + layout.ovals + layout.yielding
        predict = self._kernel("line_predict", POINT, dict.fromkeys(predicts, True))
        ends |= layout.defines | {"OTHERS": has_others}
        used = self._used(constants)
        ends |= {"ORDER": used[-1].order if used else self._first_order_of(settings), "SEGMENT": self._segment}
        return predict, self._kernel("line_finish", CLOTH_STATE, ends)

    def _set(self, kernel: Kernel, values: dict[str, object]) -> None:
        if not holds(kernel.program, self._token, self._constants):
            for name, value in values.items():
                kernel.program.set_if_active(name, value)

    # --- passes between prediction and contacts ---------------------------------------------------------

    def _between(self, state: BufferTexture, *, is_loaded: bool = False, is_measured: bool = False) -> list[Pass]:
        """Bending, then three passes for each family: the edges of each segment, those between segments, the points."""
        settings, passes, here = self._settings, list[Pass](), self._points[0]
        assert settings is not None
        grid, scale = self._model.grid, settings.bend_stiffness * settings.substep_time**2
        weights = (1.0, 0.0) if grid is None else grid_bending(grid)
        kernels, flat = self._bend_kernels(settings, len(self._relaxations)), self._points[0]
        shared: dict[str, BufferTexture] = {**self._entries}
        if self._tables.maps is not None:
            shared["u_maps"] = self._tables.maps
        for kernel in kernels:
            self._set(kernel, self._uniforms | {"u_bend": (scale * weights[0], scale * weights[1])})
        if len(kernels) > len(self._relaxations):
            reads = shared | {"u_state": state, "u_flat": flat}
            passes.append(Pass(kernels.pop(0), (self._aims.buffer,), self._bent, reads, ("u_relax", (1.0, 0.0))))
            flat = self._aims
        for number, (kernel, relax) in enumerate(zip(kernels, self._relaxations, strict=True)):
            target = self._other(here)
            targets = (target.buffer, self._aims.buffer) if grid is None and number == 0 else (target.buffer,)
            reads = shared | {"u_state": state, "u_flat": flat, "u_points": here}
            reads |= {"u_aims": self._aims} if number else {}
            passes.append(Pass(kernel, targets, self._bent, reads, ("u_relax", (relax, 0.0))))
            here = target
        rows, loads = self._rows, self._loads[0]
        solvers = self._line_kernels(self._constants, settings, is_loaded=is_loaded, is_measured=is_measured)
        for number, (family, sweep, joint, move, other) in enumerate(solvers):
            reads = {**self._tables.textures, **family.tables, "u_points": here, "u_state": state}
            passes.append(Pass(sweep, (rows.buffer,), family.swept, reads))
            reads = {**reads, "u_joints": self._joints}
            beyond = 1 - -(2 ** self._level_count(family, settings)) // self._segment
            # Without others if all joints of a line are in one record
            beyond = min(beyond, family.longest // self._segment + 1) if family.segments > family.together else 0
            reach = "u_reach", (float(beyond), float(family.segments))
            passes.append(Pass(joint, (self._joints.buffer,), family.joined, {"u_rows": rows}, reach))
            if is_loaded:
                known, loads = loads, self._loads[2] if loads is self._loads[1] else self._loads[1]
                passes.append(Pass(other, (loads.buffer,), family.count, {**reads, "u_sums": known}))
            if is_measured:
                if number == len(self._impulses):
                    self._impulses.append(self._texels(POINT, "impulses", self._segment * family.count))
                passes.append(Pass(other, (self._impulses[number].buffer,), family.count, reads))
            for kernel in (sweep, joint, move, other):
                self._set(kernel, self._values_of(family))
            target = self._other(here)
            passes.append(Pass(move, (target.buffer,), family.count, reads))
            here = target
        if is_loaded and solvers:
            family = solvers[-1][0]
            natural = self._kernel(
                "line_natural", LOAD, {"ORDER": family.order, "SEGMENT": self._segment, "LOAD": True}
            )
            self._set(natural, self._uniforms)
            target = self._loads[2] if loads is self._loads[1] else self._loads[1]
            # Instead of the last points
            passes[-1] = Pass(natural, (target.buffer,), self._padded, {**family.tables, "u_sums": loads})
        return passes

    def _line_kernels(
        self, constants: ClothConstants, settings: ClothSettings, *, is_loaded: bool = False, is_measured: bool = False
    ) -> list[tuple[_Family, Kernel, Kernel, Kernel, Kernel]]:
        """Families with their kernels: the three passes, and the one that also finds loads or impulses."""
        extra: dict[str, object] = {"DAMPED": True} if constants.damping.any() else {}
        if "SPRING_MAPS" in step_features(self._tables, constants, settings, ClothInputs()):
            extra |= {"SPRING_MAPS": True}
        made, order, size = [], self._first_order_of(settings), self._segment
        self._bend_kernels(settings, len(self._bend_steps(settings)))
        for family in self._used(constants):
            defines = self._family_defines(family, order) | extra
            sweep = self._kernel("line_sweep", ENDS, defines)
            joint = self._kernel("line_joints", JOINTS[family.together], self._family_defines(family, NATURAL_ORDER))
            move = other = self._kernel("line_move", POINTS[size], defines)
            if is_loaded:
                other = self._kernel("line_move", LOADS[size], defines | {"LOAD": True})
            elif is_measured:
                other = self._kernel("line_move", POINTS[size], defines | {"IMPULSES": True})
            made.append((family, sweep, joint, move, other))
            order = family.order
        return made

    def _family_defines(self, family: _Family, order: int) -> dict[str, object]:
        return {**family.defines, "ORDER": order, "SEGMENT": self._segment, "JOINTS": family.together}

    def _first_order_of(self, settings: ClothSettings) -> int:
        """Order of the points before the families."""
        return ROW_ORDER if self._model.grid is not None and settings.bend_stiffness > 0.0 else NATURAL_ORDER

    def _values_of(self, family: _Family) -> dict[str, object]:
        assert self._settings is not None
        compliance = 1.0 / (float(self._constants.stiffness[family.kind]) * self._settings.substep_time**2)
        return self._uniforms | family.uniforms | {"u_compliance": min(compliance, UNLIMITED)}

    def _other(self, here: TexelBuffer) -> TexelBuffer:
        return self._points[2] if here is self._points[1] else self._points[1]

    def _last(self, passes: list[Pass]) -> TexelBuffer:
        written = passes[-1].targets[0] if passes else self._points[0].buffer
        return next(points for points in self._points if points.buffer is written)

    def _used(self, constants: ClothConstants | None = None) -> list[_Family]:
        stiffness = (constants or self._constants).stiffness
        return [family for family in self._families if stiffness[family.kind] > 0.0 and family.longest]

    def _level_count(self, family: _Family, settings: ClothSettings) -> int:
        stretch, _, mass = extremes(settings.maps)
        stiffness = self._constants.stiffness[family.kind] * family.factor * stretch
        stiffness *= 1.0 + settings.internal_damping / settings.substep_time
        heaviest = self._model.shares.min() * self._constants.mass_scale * mass
        reach = REACH * np.sqrt(stiffness * settings.substep_time**2 / heaviest)
        if family.longest == 1:
            return 0
        return int(np.ceil(np.log2(np.clip(reach, 2.0, family.longest))))

    def _grid_families(self) -> list[_Family]:
        grid, factors = self._model.grid, self._model.spring_factors()
        assert grid is not None
        least = min(grid.columns, grid.rows) - 1
        made = []
        # With the place of their factors in the texels of `sheet_factors`
        for number, (name, rest, longest, place) in enumerate(
            (
                ("diagonal", grid.diagonal, least, (1, 3)),
                ("diagonal", grid.diagonal, least, (1, 2)),
                ("across", grid.across, grid.columns - 1, (0, 1)),
                ("along", grid.along, grid.rows - 1, (0, 3)),
            )
        ):
            uniforms: dict[str, object] = {
                "u_size": (grid.columns, grid.rows),
                "u_border": self._model.border_share,
                "u_thread": (rest, factors[name]),
                "u_map": place,
            }
            kind = SpringKind.SHEAR if name == "diagonal" else SpringKind.STRUCTURAL
            lines, length = (grid.rows, grid.columns) if number == ROW_ORDER else (grid.columns, grid.rows)
            segments = -(-length // self._segment)
            count, together = padded_count(lines * segments), SEGMENTS[segments > SEGMENTS[0]]
            sizes = count, count, together, padded_count(lines * -(-segments // together)), segments
            made.append(_Family(kind, longest, factors[name], number, *sizes, {"FAMILY": number}, uniforms))
        return made

    def _mesh_families(self) -> list[_Family]:
        """Of paths behind each other, and the particles that are on none."""
        made, count = [], padded_count(-(-self._model.particle_count // self._segment))
        for one, tables in zip(self._mesh, self._mesh_tables, strict=True):
            segments = -(-len(one.particles) // self._segment)
            sizes = count, padded_count(segments), SEGMENTS[1], padded_count(-(-segments // SEGMENTS[1])), segments
            factor = float(one.factors.max())
            made.append(_Family(SpringKind.STRUCTURAL, one.longest, factor, 0, *sizes, {}, tables=tables))
        return made

    def _family_tables(self) -> list[dict[str, TexelBuffer]]:
        context, made = self._library.context, []
        for places in self._place_records(None):
            order = np.zeros((self._padded, 4), np.float32)
            order[places[: self._model.particle_count, 0].astype(np.intp), 0] = np.arange(self._model.particle_count)
            made.append(
                {
                    "u_places": self.owns(TexelBuffer(context, places.ravel(), label="cloth places")),
                    "u_order": self.owns(TexelBuffer(context, order.ravel(), label="cloth order")),
                }
            )
        return made

    def _place_records(self, stretch: Float64 | None) -> list[npt.NDArray[np.float32]]:
        """A texel for each place of each family; `stretch` are factors of the particles."""
        count, made = self._model.particle_count, []
        former = np.arange(count)  # Place of each particle in the family before, at first in natural order
        size = self._segment * padded_count(-(-count // self._segment))
        for family in self._mesh:
            alone = np.setdiff1d(np.arange(count), family.particles)
            particles, on_lines = np.concatenate([family.particles, alone]), len(family.particles)
            places = np.zeros((size, 4), np.float32)
            places[:count, 0], places[:count, 1] = particles, former[particles]
            places[:on_lines, 2], places[:on_lines, 3] = family.rest, family.factors
            if stretch is not None:
                places[: count - 1, 3] *= 0.5 * (stretch[particles[:-1]] + stretch[particles[1:]])
            former = np.empty(count, np.intp)
            former[particles] = np.arange(count)
            made.append(places)
        return made

    # --- bending --------------------------------------------------------------------------------------

    def _bend_kernels(self, settings: ClothSettings, count: int) -> list[Kernel]:
        """Kernels of so many passes, of a sheet with many after the one of the aims."""
        if count == 0:
            return []
        if self._bend_rows is None:
            base: dict[str, object] = {"SEGMENT": self._segment, "AIMED": count >= AIMED}
            base |= {"BEND_MAP": True} if settings.maps and settings.maps[0].bend else {}
            variants = [{"ORDER": NATURAL_ORDER, "AIM": True, "AIMED": False}] if count >= AIMED else []
            variants += [{"ORDER": NATURAL_ORDER}, *[{"ORDER": ROW_ORDER}] * (count - 1)]
            return [self._kernel("line_bend_rows", POINTS[self._segment], base | variant) for variant in variants]
        if not self._entries:
            texels = TexelBuffer(self._library.context, self._bend_records(self._bend_rows), label="cloth bending")
            self._entries = {"u_entries": self.owns(texels)}
        first = self._kernel("line_bend", (POINT, AIM), {"NEAR": self._near, "FIRST": True})
        return [first, *[self._kernel("line_bend", POINT, {"NEAR": self._near})] * (count - 1)]

    def _bend_records(self, bending: BendRows) -> npt.NDArray[np.float32]:
        """Texels of two entries; `_near` becomes the even number of entries of a particle."""
        counts = np.bincount(bending.rows, minlength=self._padded)
        self._near = max(2, int(counts.max(initial=0)) + 1 & ~1)
        slots = np.arange(len(bending.rows)) - (np.cumsum(counts) - counts)[bending.rows]
        entries = np.zeros((self._padded, self._near, 2), np.float32)
        entries[..., 0] = np.arange(self._padded)[:, None]
        entries[bending.rows, slots, 0], entries[bending.rows, slots, 1] = bending.columns, bending.weights
        return entries.ravel()

    def _bend_steps(self, settings: ClothSettings) -> list[float]:
        """Steps of the passes of bending, none without stiffness."""
        model, (_, bend, mass) = self._model, extremes(settings.maps)
        scale = settings.bend_stiffness * settings.substep_time**2 / (self._constants.mass_scale * mass)
        if scale == 0.0:
            return []
        if model.grid is not None:
            scale *= bend
            largest = 16.0 * sum(grid_bending(model.grid)) / float(model.shares.max())
        else:
            assert self._bend_rows is not None
            # The diagonal is minus the sum of a row
            weights = np.abs(self._bend_rows.weights) - self._bend_rows.weights
            sums = np.bincount(self._bend_rows.rows, weights, minlength=model.particle_count)
            largest = float((sums / model.shares).max(initial=0.0))
        return chebyshev_steps(1.0 + scale * largest)

    # --- kernels --------------------------------------------------------------------------------------

    def _kernel(
        self, name: str, output: Record | tuple[Record, ...], defines: Mapping[str, object] | None = None
    ) -> Kernel:
        defines = {**self._tables.defines, **(defines or {}), **self._own}
        key = name, tuple(sorted(defines.items(), key=str))
        if key not in self._kernels:
            file = f"cloth/{name}.glsl"
            self._kernels[key] = Kernel(
                self._library, file, output, defines=defines, records=self._model.particle_count
            )
        return self._kernels[key]

    def _texels(self, record: Record, name: str, count: int = 0) -> TexelBuffer:
        zeros = record.zeros(count or self._padded)
        return self.owns(TexelBuffer(self._library.context, zeros, usage="copy", label=f"cloth {name}"))


def chebyshev_steps(high: float) -> list[float]:
    """Steps of Richardson's iteration for eigenvalues from 1 to `high`, in an order that keeps rounding small.

    What is left of a mode is 1 plus a polynomial of Chebyshev, thus never negative: else stiff modes would gain energy.
    """
    # The largest stiffness is beyond the digits of the quotient
    needed = np.arccosh(2.0 / BEND_ERROR - 1.0) / max(np.arccosh((high + 1.0) / max(high - 1.0, 1e-6)), 1e-6)
    count = int(np.clip(np.ceil(needed), 1, BEND_PASSES))
    # All are double, but of an odd number that at the highest eigenvalue
    turns = np.cos(np.pi * (2.0 * np.arange((count + 1) // 2) + 1.0) / count)
    zeros = 0.5 * (high + 1.0) - 0.5 * (high - 1.0) * turns
    # Each as far as possible from those before, and less from 1, which keeps what is left and what follows small
    order, apart = list[int](), np.cbrt(zeros - 1.0)
    while len(order) < len(zeros):
        order.append(int(np.argmax(apart)))
        apart = apart * np.abs(zeros - zeros[order[-1]])
    steps = [float(1.0 / zeros[one]) for one in order]
    return steps + [step for step, one in zip(steps, order, strict=True) if count % 2 == 0 or one < len(zeros) - 1]
