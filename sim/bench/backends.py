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
from sinew.sim.bench.runner import Case, Row, measure
from sinew.sim.bench.skinning import random_pose, synthetic_mesh, synthetic_skin
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.characters.skinning import SkinnedMesh
from sinew.sim.gl.back_end import TITLES, BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.cloth.model import build_cloth

ELEMENTS_PER_MEASUREMENT = 400_000
KNOTS = 11


def back_end_rows(context: Context, library: ShaderLibrary, size: int, repeat: int) -> list[Row]:
    random = np.random.default_rng(1)
    settings = bench_settings(max(isqrt(size), 2))
    strands = max(size // KNOTS, 1)
    cloth = SolverCloth(context, library, build_cloth(settings, None, raised()), settings, collide=True)
    hair = BenchHair(context, library, variants(strands)["rod with the head"])
    emitter = BenchEmitter(context, library, fountain_settings(size), [floor()])
    skinned = SkinnedMesh(context, library, synthetic_mesh(size, random), synthetic_skin(size, random))
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
        cases = []
        for choice in [BackEndChoice.TF, BackEndChoice.COMPUTE][: 1 + context.back_ends.has_compute]:

            def step_on(choice: BackEndChoice = choice, step: Callable[[], object] = step) -> None:
                context.back_ends.choice = choice
                step()

            steps = max(1, ELEMENTS_PER_MEASUREMENT // (substeps * count))
            cases.append(
                Case(
                    system=f"back ends: {name}", variant=TITLES[choice].lower(), size=count, unit=unit, step=step_on,
                    steps=steps, substeps=substeps, finish=context.finish, timers=context.timers,
                )
            )  # fmt: skip
        rows += measure(cases, repeat=repeat)
    for owned in (cloth, hair, emitter, skinned):
        owned.release()
    return rows
