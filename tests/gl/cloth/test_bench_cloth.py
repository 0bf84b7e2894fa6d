"""The cloth benchmark measures what it says: the same sheet by the plain kernel, by the solver and by numpy."""

import msgspec
import numpy as np
import pytest

from sinew.sim.bench.cloth import SUBSTEPS, SolverCloth, bench_settings, folded_records
from sinew.sim.bench.plain import NumpyCloth, PlainCloth
from sinew.sim.bench.runner import rows_of
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.stability import stability


@pytest.mark.parametrize("side", [8, 60])
def test_all_variants_move_the_sheet_alike(context: Context, library: ShaderLibrary, side: int) -> None:
    settings = bench_settings(side)
    placed = np.eye(4)
    placed[1, 3] = 2.0
    model = build_cloth(settings, None, placed)
    crumple = model.positions + np.random.default_rng(1).normal(scale=1e-3, size=model.positions.shape)
    model.positions[:] = crumple
    plain = PlainCloth(context, library, model, settings)
    solver = SolverCloth(context, library, model, settings, collide=False)
    arrays = NumpyCloth(model, settings)
    for _ in range(3):
        solver.step()
        for _ in range(SUBSTEPS):
            plain.step()
            arrays.step()
    assert np.abs(plain.positions() - crumple).max() > 1e-3
    count = model.particle_count
    np.testing.assert_allclose(solver.positions()[:count], arrays.position.reshape(-1, 3), atol=2e-5)
    np.testing.assert_allclose(plain.positions(), arrays.position.reshape(-1, 3), atol=5e-4)
    plain.release()
    solver.release()


def test_the_sheet_of_the_benchmark_is_stable() -> None:
    settings = bench_settings(32)
    assert 0.5 < stability(build_cloth(settings), settings).ratio < 0.9


def test_rows_begin_with_what_the_others_compare_with() -> None:
    rows = rows_of("cloth", 1, (64, 150))
    variants = ["plain kernel", "solver", "numpy", "plain kernel", "solver", "solver", "with self-collision"]
    assert [row.variant for row in rows] == variants * 2
    assert [row.size for row in rows] == [64] * 7 + [144] * 7
    assert {row.system for row in rows} == {"cloth", "cloth collisions", "cloth self-collision"}
    assert all(row.elements_per_second > 0.0 and row.unit == "particles" for row in rows)


def test_nearly_every_particle_of_the_folded_sheet_touches_one(context: Context, library: ShaderLibrary) -> None:
    settings = msgspec.structs.replace(bench_settings(20), thickness=4.0 / 19, self_collision=True)
    model = build_cloth(settings)
    start = Buffer(context, folded_records(model, 0.99 * settings.thickness))
    moved = []
    for touching in (True, False):
        cloth = msgspec.structs.replace(settings, self_collision=touching)
        solver = SolverCloth(context, library, model, cloth, collide=False)
        for _ in range(2):
            solver.step_from(start)
        moved.append(solver.positions()[: model.particle_count])
        solver.release()
    assert (np.abs(moved[0] - moved[1]).max(axis=1) > 1e-4).mean() > 0.85
    start.release()
