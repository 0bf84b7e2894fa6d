"""Substeps of a sheet, without and with collisions, and of lines against springs.

A folded sheet with self-collision is compared with the same one without, two sheets that lie on one another with the
same two that ignore each other, and lines with springs for a sheet and for the mesh of a skirt.
"""

from collections.abc import Mapping
from functools import partial
from math import isqrt

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.bench.runner import GpuBench, Row
from sinew.sim.colliders.pack import arranged, pack_colliders
from sinew.sim.colliders.scene_colliders import Colliders
from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.buffer_ring import PingPong
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.kinds.cloth.buffers import ClothTables, rest_records
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.group import ClothGroup, ClothInStep
from sinew.sim.kinds.cloth.line_solver import LineSolver
from sinew.sim.kinds.cloth.model import ClothModel, build_cloth
from sinew.sim.kinds.cloth.settings import (
    ClothMode,
    ClothPlacement,
    ClothSettings,
    ClothSolving,
    ClothSource,
    PinPreset,
)
from sinew.sim.kinds.cloth.solver import ClothInputs, ClothSolver
from sinew.sim.kinds.cloth.stability import stability
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.maths.arrays import Float32, Float64

PARTICLES_PER_MEASUREMENT = 400_000

SUBSTEPS = 10

STIFFNESSES = ("structural_stiffness", "shear_stiffness_spring", "bend_stiffness_spring")
DAMPINGS = ("structural_damping", "shear_damping", "bend_damping")

LINE_COST = 4
"""About as many substeps of springs take as long as one of lines."""

LINE_SUBSTEPS = 16
"""As a sheet of lines needs; each step also finds the loads, which takes about as long as a substep."""

TURN = np.radians(45.0)
ELLIPSOID = np.array(
    [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, np.cos(TURN), -np.sin(TURN), 2.0],
        [0.0, np.sin(TURN), np.cos(TURN), 0.0],
        [0, 0, 0, 1],
    ]
)
"""World transform of the ellipsoid: 2 m above the floor, turned by 45 degrees about x."""
SEMI_AXES = np.array([1.0, 1.0, 0.5])


def bench_settings(side: int) -> ClothSettings:
    """Returns settings of a sheet of 4 x 4 m, 484 kg, as stiff as the substeps allow."""
    settings = ClothSettings(
        columns=side, rows=side, width=4.0, height=4.0, placement=ClothPlacement.FLAT, mode=ClothMode.SPRINGS,
        particle_mass=484.0 / side**2, structural_damping=0.0, shear_damping=0.0, bend_damping=0.0, air_drag=0.05,
        normal_drag=0.0, tangent_drag=0.0, thickness=0.0, pins=PinPreset.NONE, substeps=SUBSTEPS,
    )  # fmt: skip
    ratio = stability(build_cloth(settings), settings).ratio
    stiffness = {name: getattr(settings, name) * (0.7 / ratio) ** 2 for name in STIFFNESSES}
    damping = {name: 1e-4 * stiffness[spring] for name, spring in zip(DAMPINGS, STIFFNESSES, strict=True)}
    return msgspec.structs.replace(settings, **stiffness, **damping)


def cloth_rows(bench: GpuBench, size: int) -> list[Row]:
    """Measures a square sheet; the particle count is rounded down."""
    side = max(isqrt(size), 2)
    settings = bench_settings(side)
    model = build_cloth(settings, None, raised())
    steps = max(1, PARTICLES_PER_MEASUREMENT // (SUBSTEPS * side * side))
    context, library = bench.context, bench.library
    steps_of = {
        "without collisions": bench.owns(SolverCloth(context, library, model, settings, collide=False)).step,
        "with an ellipsoid and a floor": bench.owns(SolverCloth(context, library, model, settings, collide=True)).step,
    }
    rows = bench.rows(steps_of, system="cloth", size=side * side, unit="particles", steps=steps, substeps=SUBSTEPS)
    alone = msgspec.structs.replace(settings, thickness=4.0 / (side - 1))
    model = build_cloth(alone, None, raised())
    touching = msgspec.structs.replace(alone, self_collision=True)
    sheets = {"solver": alone, "with self-collision": touching}
    records = folded_records(model, alone.thickness)
    rows += _sheet_rows(bench, "cloth self-collision", model, sheets, records, steps)
    return rows + _line_rows(bench, side, steps) + _pair_rows(bench, side)


def _sheet_rows(
    bench: GpuBench, system: str, model: ClothModel, sheets: Mapping[str, ClothSettings],
    records: npt.NDArray[np.void], steps: int, substeps: int = SUBSTEPS,
) -> list[Row]:  # fmt: skip
    """Measures sheets that start from the same records in every step, by variant."""
    start = bench.owns(Buffer(bench.context, records, label="bench sheet"))
    made = {
        variant: partial(
            bench.owns(SolverCloth(bench.context, bench.library, model, settings, collide=False)).step_from, start
        )
        for variant, settings in sheets.items()
    }
    size = model.particle_count
    return bench.rows(made, system=system, size=size, unit="particles", steps=steps, substeps=substeps)


def _line_rows(bench: GpuBench, side: int, steps: int) -> list[Row]:
    """Measures a substep of both solvers with a sheet and a garment of cotton; springs would need many more."""
    cotton = ClothSettings(
        columns=side, rows=side, placement=ClothPlacement.FLAT, density=0.12, stretch_stiffness=1e4,
        shear_stiffness=40.0, bend_stiffness=1e-5, pins=PinPreset.NONE, substeps=LINE_SUBSTEPS,
    )  # fmt: skip
    both = {
        solver.value: msgspec.structs.replace(cotton, solver=solver)
        for solver in (ClothSolving.SPRINGS, ClothSolving.LINES)
    }
    rows, steps = list[Row](), max(1, steps // LINE_COST)
    for system, source in (("cloth lines", ClothSource.GRID), ("garment lines", ClothSource.MESH)):
        model = build_cloth(msgspec.structs.replace(cotton, source=source), skirt(side), raised())
        rows += _sheet_rows(bench, system, model, both, rest_records(model), steps, LINE_SUBSTEPS)
    return rows


def _pair_rows(bench: GpuBench, side: int) -> list[Row]:
    """Measures two sheets of `side` times `side` particles each."""
    settings = bench_settings(side)
    settings = msgspec.structs.replace(settings, thickness=1.0 / (side - 1), gravity=(0.0, 0.0, 0.0))
    above = np.eye(4)
    above[1, 3] = settings.thickness
    context, library = bench.context, bench.library
    cloths = [bench.owns(Cloth(context, library, settings, None, placement)) for placement in (np.eye(4), above)]
    models = {str(number): one.model for number, one in enumerate(cloths)}
    group = bench.owns(ClothGroup(context, library, models, [("0", "1")]))
    steps = max(1, PARTICLES_PER_MEASUREMENT // (2 * SUBSTEPS * side * side))

    def apart() -> None:
        for cloth in cloths:
            cloth.step()

    def together() -> None:
        group.step([ClothInStep(cloth, ClothInputs()) for cloth in cloths], SUBSTEPS)

    variants = {"solver": apart, "with contact": together}
    return bench.rows(
        variants, system="cloth on cloth", size=side * side, unit="particles", steps=steps, substeps=SUBSTEPS
    )


def skirt(side: int) -> ClothSurface:
    """Returns a garment as a mesh, narrow at the top, of `side` rings with as many vertices."""
    rows, columns = np.divmod(np.arange(side * side), side)
    turn, radius = 2.0 * np.pi * (columns + 0.5 * (rows % 2)) / side, 0.15 + 0.3 * rows / (side - 1)
    positions = np.stack([radius * np.sin(turn), -0.8 * rows / (side - 1), radius * np.cos(turn)], axis=1)
    first = np.arange(side * (side - 1))
    ring, column = np.divmod(first, side)
    following = ring * side + (column + 1) % side
    # Rings are half a column apart
    upper, lower = first + side, following + side
    is_even = (ring % 2 == 0)[:, None]
    one = np.where(is_even, np.stack([first, upper, following], 1), np.stack([first, upper, lower], 1))
    other = np.where(is_even, np.stack([following, upper, lower], 1), np.stack([first, lower, following], 1))
    texcoords = (np.stack([columns, rows], axis=1) / side).astype(np.float32)
    return ClothSurface(positions, texcoords, np.concatenate([one, other]).astype(np.uint32))


def folded_records(model: ClothModel, distance: float) -> npt.NDArray[np.void]:
    """Returns one half of a flat sheet above the other at a distance [m], at rest."""
    records = rest_records(model)
    positions = records["position"][: model.particle_count]
    positions[:, 1] += np.where(positions[:, 0] > 0.0, distance, 0.0)
    positions[:, 0] = -np.abs(positions[:, 0])
    return records


class SolverCloth(Owner):
    def __init__(
        self, context: Context, library: ShaderLibrary, model: ClothModel, settings: ClothSettings, *, collide: bool
    ) -> None:
        self._settings = settings
        states, layout = arranged(
            [
                ColliderState(ColliderShape.PLANE, np.zeros(3)),
                ColliderState(ColliderShape.ELLIPSOID, SEMI_AXES, ELLIPSOID, ELLIPSOID),
            ]
        )
        packed = pack_colliders(states, settings.step_time).ravel()
        colliders = self.owns(TexelBuffer(context, packed, label="bench colliders"))
        self._inputs = ClothInputs(Colliders(colliders, len(states), layout)) if collide else ClothInputs()
        self._state = self.owns(PingPong(context, rest_records(model), label="cloth"))
        tables = self.owns(ClothTables(context, model))
        solver = LineSolver if settings.has_lines else ClothSolver
        self._solver: LineSolver | ClothSolver = self.owns(solver(library, model, tables))

    def step(self) -> None:
        self._solver.step(self._state, self._settings, self._inputs)

    def step_from(self, start: Buffer) -> None:
        """Steps from the same state each time: springs would unfold the sheet."""
        self._state.copy_from(start)
        self.step()

    def positions(self) -> Float32:
        """Returns positions [m]; waits for the GPU."""
        positions: Float32 = self._state.newest.read()["position"][:, :3]
        return positions


def raised() -> Float64:
    """Returns the world transform of the sheet, above all colliders, shape (4, 4)."""
    transform = np.eye(4)
    transform[1, 3] = 3.2
    return transform
