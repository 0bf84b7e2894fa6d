"""The same kernels by transform feedback and by compute, in turn on the same buffers: the second row of each pair has
the ratio.

A step of the cloth is one of its substeps, the sheet of the cookbooks over floor and ellipsoid, and so is one of the
hair, rods of 11 knots on a head; the emitter is always full, over a floor; the mesh is skinned by both methods.
"""

import itertools
from collections.abc import Callable, Sequence
from math import isqrt

import numpy as np

from sim.bench.cloth import SUBSTEPS, SolverCloth, bench_settings, of_a_substep, raised
from sim.bench.hair import SUBSTEPS as HAIR_SUBSTEPS
from sim.bench.hair import BenchHair, variants
from sim.bench.particles import BenchEmitter, floor, fountain_settings
from sim.bench.row import Case, Row, measure
from sim.bench.skinning import random_pose, synthetic_mesh, synthetic_skin
from sim.characters.settings import SkinningMethod
from sim.characters.skinning import SkinnedMesh
from sim.gl.back_end import TITLES, BackEndChoice
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.kinds.cloth.model import build_cloth

SIZES = (500, 16_384, 65_536, 262_144)
ELEMENTS_PER_MEASUREMENT = 400_000
"""Few elements take several steps between two readings of the clock."""

KNOTS = 11
"""Of a strand."""


def backends_rows(repeat: int, sizes: Sequence[int] = SIZES) -> list[Row]:
    """Two rows for each simulation and size; transform feedback alone where there is no compute.

    Raises:
        ValueError: If `repeat` is not positive.
        GLError: If the machine offers no OpenGL.
    """
    with Context.headless() as context:
        library = ShaderLibrary(context)
        return [row for size in sizes for row in _rows(context, library, size, repeat)]


def _rows(context: Context, library: ShaderLibrary, size: int, repeat: int) -> list[Row]:
    random = np.random.default_rng(1)
    settings = bench_settings(max(isqrt(size), 2))
    cloth = SolverCloth(context, library, build_cloth(settings, None, raised()), settings, collide=True)
    emitter = BenchEmitter(context, library, fountain_settings(size), [floor()])
    skinned = SkinnedMesh(context, library, synthetic_mesh(size, random), synthetic_skin(size, random))
    poses = itertools.cycle([random_pose(random), random_pose(random)])
    found = _pair(context, "cloth", isqrt(size) ** 2, "particles", cloth.step, SUBSTEPS, repeat)
    rows = [of_a_substep(row) for row in found]
    strands = max(size // KNOTS, 1)
    hair = BenchHair(context, library, variants(strands)["rod with the head"])
    found = _pair(context, "hair", strands * KNOTS, "knots", hair.step, HAIR_SUBSTEPS, repeat)
    rows += [of_a_substep(row, HAIR_SUBSTEPS) for row in found]
    rows += _pair(context, "emitter", size, "particles", emitter.step, 1, repeat)
    for method in (SkinningMethod.LBS, SkinningMethod.DQS):

        def skin(method: SkinningMethod = method) -> None:
            skinned.skin(next(poses), method)

        rows += _pair(context, f"skinning {method.value}", size, "vertices", skin, 1, repeat)
    for owned in (cloth, hair, emitter, skinned):
        owned.release()
    return rows


def _pair(
    context: Context, name: str, size: int, unit: str, step: Callable[[], None], substeps: int, repeat: int
) -> list[Row]:
    choices = [BackEndChoice.TF, BackEndChoice.COMPUTE][: 1 + context.back_ends.has_compute]
    cases = []
    for choice in choices:

        def on_it(choice: BackEndChoice = choice) -> None:
            context.back_ends.choice = choice
            step()

        cases.append(
            Case(
                system=f"back ends: {name}",
                variant=TITLES[choice].lower(),
                size=size,
                unit=unit,
                steps=max(1, ELEMENTS_PER_MEASUREMENT // (substeps * size)),
                step=on_it,
                finish=context.finish,
                timers=context.timers,
            )
        )
    return measure(cases, repeat=repeat)
