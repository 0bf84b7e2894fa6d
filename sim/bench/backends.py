"""The same kernels by transform feedback and by compute, in turns on the same buffers.

Cloth and hair steps are substeps; the emitter is always full and above a floor; the mesh is skinned by both methods.
"""

import itertools
from collections.abc import Callable
from math import isqrt

import numpy as np

from sinew.sim.bench.cloth import SUBSTEPS, SolverCloth, bench_settings, raised
from sinew.sim.bench.hair import SUBSTEPS as HAIR_SUBSTEPS
from sinew.sim.bench.hair import BenchHair, variants
from sinew.sim.bench.particles import BenchEmitter, floor, fountain_settings
from sinew.sim.bench.runner import GpuBench, Row
from sinew.sim.bench.skinning import random_pose, synthetic_mesh, synthetic_skin
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.characters.skinning import SkinnedMesh
from sinew.sim.gl.back_end import TITLES, BackEndChoice
from sinew.sim.kinds.cloth.model import build_cloth

ELEMENTS_PER_MEASUREMENT = 400_000
KNOTS = 11


def back_end_rows(bench: GpuBench, size: int) -> list[Row]:
    context, library = bench.context, bench.library
    random = np.random.default_rng(1)
    settings = bench_settings(max(isqrt(size), 2))
    strands = max(size // KNOTS, 1)
    model = build_cloth(settings, None, raised())
    cloth = bench.owns(SolverCloth(context, library, model, settings, collide=True))
    hair = bench.owns(BenchHair(context, library, variants(strands)["rod with the head"]))
    emitter = bench.owns(BenchEmitter(context, library, fountain_settings(size), [floor()]))
    mesh, skin_of_mesh = synthetic_mesh(size, random), synthetic_skin(size, random)
    skinned = bench.owns(SkinnedMesh(context, library, mesh, skin_of_mesh))
    poses = itertools.cycle([random_pose(random), random_pose(random)])
    table: list[tuple[str, int, str, Callable[[], object], int]] = [
        ("cloth", isqrt(size) ** 2, "particles", cloth.step, SUBSTEPS),
        ("hair", strands * KNOTS, "knots", hair.step, HAIR_SUBSTEPS),
        ("emitter", size, "particles", emitter.step, 1),
    ]
    for method in (SkinningMethod.LBS, SkinningMethod.DQS):

        def skin(method: SkinningMethod = method) -> None:
            skinned.skin(next(poses), method)

        table.append((f"skinning {method.value}", size, "vertices", skin, 1))
    rows = []
    for name, count, unit, step, substeps in table:
        steps = {}
        for choice in [BackEndChoice.TF, BackEndChoice.COMPUTE][: 1 + context.back_ends.has_compute]:

            def step_on(choice: BackEndChoice = choice, step: Callable[[], object] = step) -> None:
                context.back_ends.choice = choice
                step()

            steps[TITLES[choice].lower()] = step_on
        rows += bench.rows(
            steps, system=f"back ends: {name}", size=count, unit=unit, substeps=substeps,
            steps=max(1, ELEMENTS_PER_MEASUREMENT // (substeps * count)),
        )  # fmt: skip
    return rows
