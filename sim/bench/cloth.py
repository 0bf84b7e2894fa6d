"""Substeps of a sheet: the solver against the plain kernel of the cookbooks and numpy, in the same process.

Sizes are the particles of square sheets; a number that is no square is rounded down to one.  The rows without
collisions and those with floor and ellipsoid compare with the plain kernel of their own kind; a folded sheet that
touches itself compares with the same one that does not.
"""

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from math import isqrt

import msgspec
import numpy as np
import numpy.typing as npt

from sim.bench.plain_cloth import NumpyCloth, PlainCloth
from sim.bench.row import Case, Row, measure
from sim.colliders.pack import arranged, pack_colliders
from sim.colliders.scene_colliders import Colliders
from sim.colliders.state import ColliderShape, ColliderState
from sim.gl.back_end import BackEndChoice
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.ping_pong import PingPong
from sim.gl.texture import BufferTexture
from sim.kinds.cloth.buffers import ClothTables, rest_records
from sim.kinds.cloth.model import ClothModel, build_cloth
from sim.kinds.cloth.settings import ClothMode, ClothPlacement, ClothSettings, PinPreset
from sim.kinds.cloth.solver import ClothInputs, ClothSolver
from sim.kinds.cloth.stability import stability

SIZES = tuple(side * side for side in (32, 64, 128, 256, 512))

PARTICLES_PER_MEASUREMENT = 400_000
"""Small sheets take several steps between two readings of the clock."""

SUBSTEPS = 10
"""Substeps of a step, as the cookbooks take them."""

STIFFNESSES = ("structural_stiffness", "shear_stiffness_spring", "bend_stiffness_spring")
DAMPINGS = ("structural_damping", "shear_damping", "bend_damping")

NUMPY_LARGEST = 256 * 256
"""numpy is left out above this: it would take most of the time."""

TURN = np.radians(45.0)
ELLIPSOID = np.array(
    [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, np.cos(TURN), -np.sin(TURN), 2.0],
        [0.0, np.sin(TURN), np.cos(TURN), 0.0],
        [0, 0, 0, 1],
    ]
)
"""Two units above the floor, turned by 45 degrees about x."""
SEMI_AXES = np.array([1.0, 1.0, 0.5])


def cloth_rows(repeat: int, sizes: Sequence[int] = SIZES, *, backend: BackEndChoice = BackEndChoice.TF) -> list[Row]:
    """Times of a substep for sheets of these numbers of particles: without and with collisions, and with themselves.

    Raises:
        ValueError: If `repeat` is not positive.
        GLError: If the machine offers no OpenGL.
    """
    with Context.headless() as context:
        context.back_ends.choice = backend
        library = ShaderLibrary(context)
        rows = []
        for size in sizes:
            rows += sheet_rows(context, library, max(isqrt(size), 2), repeat, collide=False)
            rows += sheet_rows(context, library, max(isqrt(size), 2), repeat, collide=True)
            rows += folded_rows(context, library, max(isqrt(size), 2), repeat)
        return rows


def bench_settings(side: int) -> ClothSettings:
    """The sheet of the cookbooks, 4 by 4 metres of a kilogram for each of 22 by 22 particles, as stiff as it can be."""
    settings = ClothSettings(
        columns=side,
        rows=side,
        width=4.0,
        height=4.0,
        placement=ClothPlacement.FLAT,
        mode=ClothMode.SPRINGS,
        particle_mass=484.0 / side**2,
        structural_damping=0.0,
        shear_damping=0.0,
        bend_damping=0.0,
        air_drag=0.05,
        normal_drag=0.0,
        tangent_drag=0.0,
        thickness=0.0,
        pins=PinPreset.NONE,
        substeps=SUBSTEPS,
    )
    ratio = stability(build_cloth(settings), settings).ratio
    stiffness = {name: getattr(settings, name) * (0.7 / ratio) ** 2 for name in STIFFNESSES}
    damping = {name: 1e-4 * stiffness[spring] for name, spring in zip(DAMPINGS, STIFFNESSES, strict=True)}
    return msgspec.structs.replace(settings, **stiffness, **damping)


def sheet_rows(context: Context, library: ShaderLibrary, side: int, repeat: int, *, collide: bool) -> list[Row]:
    """Rows of one sheet; the first is the plain kernel."""
    settings = bench_settings(side)
    model = build_cloth(settings, None, raised())
    plain = PlainCloth(context, library, model, settings, _ellipsoid() if collide else None)
    solver = SolverCloth(context, library, model, settings, collide=collide)
    name = "cloth collisions" if collide else "cloth"
    substeps = SUBSTEPS * max(1, PARTICLES_PER_MEASUREMENT // (SUBSTEPS * side * side))
    cases = [
        _case(name, "plain kernel", side, substeps, plain.step, context),
        _case(name, "solver", side, substeps // SUBSTEPS, solver.step, context),
    ]
    if not collide and side * side <= NUMPY_LARGEST:
        cases.append(_case(name, "numpy", side, 1, NumpyCloth(model, settings).step, context))
    rows = [of_a_substep(row) if row.variant == "solver" else row for row in measure(cases, repeat=repeat)]
    plain.release()
    solver.release()
    return rows


def folded_rows(context: Context, library: ShaderLibrary, side: int, repeat: int) -> list[Row]:
    """Rows of a sheet in two layers, each particle of which has one to touch; what finds it is in the time."""
    alone = msgspec.structs.replace(bench_settings(side), thickness=4.0 / (side - 1))
    model = build_cloth(alone, None, raised())
    start = Buffer(context, folded_records(model, alone.thickness), label="bench folded")
    touching = msgspec.structs.replace(alone, self_collision=True)
    sheets = {
        variant: SolverCloth(context, library, model, settings, collide=False)
        for variant, settings in (("solver", alone), ("with self-collision", touching))
    }
    steps = max(1, PARTICLES_PER_MEASUREMENT // (SUBSTEPS * side * side))
    cases = [
        _case("cloth self-collision", variant, side, steps, partial(sheet.step_from, start), context)
        for variant, sheet in sheets.items()
    ]
    rows = [of_a_substep(row) for row in measure(cases, repeat=repeat)]
    for sheet in sheets.values():
        sheet.release()
    start.release()
    return rows


def folded_records(model: ClothModel, distance: float) -> npt.NDArray[np.void]:
    """One half of a flat sheet over the other, so far apart [m], at rest."""
    records = rest_records(model)
    places = records["position"][: model.particle_count]
    places[:, 1] += np.where(places[:, 0] > 0.0, distance, 0.0)
    places[:, 0] = -np.abs(places[:, 0])
    return records


class SolverCloth:
    """The solver alone, as a step of the viewport runs it."""

    def __init__(
        self, context: Context, library: ShaderLibrary, model: ClothModel, settings: ClothSettings, *, collide: bool
    ) -> None:
        self._tables = ClothTables(context, model)
        self._state = PingPong(context, rest_records(model), label="cloth")
        self._solver = ClothSolver(library, model, self._tables)
        self._settings = settings
        states, layout = arranged(
            [
                ColliderState(ColliderShape.PLANE, np.zeros(3)),
                ColliderState(ColliderShape.ELLIPSOID, SEMI_AXES, ELLIPSOID, ELLIPSOID),
            ]
        )
        packed = pack_colliders(states, settings.step_time).ravel()
        self._buffer = Buffer(context, packed, label="bench colliders")
        self._colliders = BufferTexture(context, self._buffer, "rgba32f")
        self._inputs = ClothInputs(Colliders(self._colliders, len(states), layout)) if collide else ClothInputs()

    def step(self) -> None:
        """One step of `SUBSTEPS`."""
        self._solver.step(self._state, self._settings, self._inputs, time=0.0)

    def step_from(self, start: Buffer) -> None:
        """One step from this state, on and on: springs would unfold what is folded."""
        self._state.copy_from(start)
        self.step()

    def positions(self) -> npt.NDArray[np.float32]:
        """Places of the particles [m]; waits."""
        places: npt.NDArray[np.float32] = self._state.newest.read()["position"][:, :3]
        return places

    def release(self) -> None:
        for owned in (self._solver, self._tables, self._state, self._colliders, self._buffer):
            owned.release()


def _case(name: str, variant: str, side: int, steps: int, step: Callable[[], object], context: Context) -> Case:
    return Case(
        system=name,
        variant=variant,
        size=side * side,
        unit="particles",
        steps=max(steps, 1),
        step=step,
        finish=context.finish,
        timers=context.timers,
    )


def of_a_substep(row: Row, substeps: int = SUBSTEPS) -> Row:
    return dataclasses.replace(
        row,
        steps=row.steps * substeps,
        ms_per_step_min=row.ms_per_step_min / substeps,
        ms_per_step_median=row.ms_per_step_median / substeps,
        ms_per_step_max=row.ms_per_step_max / substeps,
        elements_per_second=row.elements_per_second * substeps,
        gpu_ms_median=None if row.gpu_ms_median is None else row.gpu_ms_median / substeps,
    )


def raised() -> npt.NDArray[np.float64]:
    """Where the sheet begins, above everything, shape (4, 4)."""
    placement = np.eye(4)
    placement[1, 3] = 3.2
    return placement


def _ellipsoid() -> npt.NDArray[np.float64]:
    return ELLIPSOID @ np.diag([*SEMI_AXES, 1.0])
