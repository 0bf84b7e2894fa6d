"""What morph targets and deformers add to skinning, against skinning alone in the same run."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from sim.animation.pose import Pose, Warps
from sim.assets.model import Mesh, Targets
from sim.bench.row import Case, Row, measure
from sim.bench.skinning import VERTICES_PER_MEASUREMENT, random_pose, synthetic_mesh, synthetic_skin
from sim.characters.deformers.settings import DEFORMERS, Deformer, Extent
from sim.characters.skinning import SkinnedMesh
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary

SIZES = (50_000,)
TARGETS = 16
ACTIVE = (0, 1, 4, 8)


def shape_rows(repeat: int, sizes: Sequence[int] = SIZES) -> list[Row]:
    """Times of skinning without targets, with targets of which some act, and with one deformer of each kind.

    Raises:
        ValueError: If `repeat` is not positive.
        GLError: If the machine offers no OpenGL.
    """
    with Context.headless() as context:
        library = ShaderLibrary(context)
        return [row for size in sizes for row in _rows(context, library, size, repeat)]


def _rows(context: Context, library: ShaderLibrary, size: int, repeat: int) -> list[Row]:
    random = np.random.default_rng(1)
    mesh, skin = synthetic_mesh(size, random), synthetic_skin(size, random)
    poses = [random_pose(random), random_pose(random)]
    plain = SkinnedMesh(context, library, mesh, skin)
    morphing = SkinnedMesh(context, library, replace(mesh, targets=full_targets(size, random)), skin)
    cases = [_case(context, plain, "without targets", poses)]
    for count in ACTIVE:
        weights = np.where(np.arange(TARGETS) < count, 0.1, 0.0)
        moved = [
            msgspec.structs.replace(pose, local=msgspec.structs.replace(pose.local, weights=weights)) for pose in poses
        ]
        cases.append(_case(context, morphing, f"{count} of {TARGETS} targets", moved))
    for kind in DEFORMERS:
        if kind.function:
            moved = [msgspec.structs.replace(pose, warps=warps_of([kind()], mesh)) for pose in poses]
            cases.append(_case(context, plain, kind.label.lower(), moved))
    rows = measure(cases, repeat=repeat)
    plain.release()
    morphing.release()
    return rows


def full_targets(vertex_count: int, random: np.random.Generator) -> Targets:
    starts = vertex_count * np.arange(TARGETS, dtype=np.int32)
    counts = np.full(TARGETS, vertex_count, np.int32)
    deltas = np.zeros((TARGETS * vertex_count, 2, 4), np.float32)
    deltas[..., :3] = 0.1 * random.normal(size=(*deltas.shape[:2], 3))
    names = tuple(f"target {number}" for number in range(TARGETS))
    return Targets(0 * starts, counts, starts, np.arange(TARGETS, dtype=np.int32), deltas, names, np.zeros(TARGETS))


def warps_of(deformers: Sequence[Deformer], mesh: Mesh) -> Warps:
    extent = Extent(mesh.bounds, is_z_up=False)
    values = np.array([deformer.values(extent, 0.0) for deformer in deformers])
    return Warps(tuple(deformer.function for deformer in deformers), values, (-1,) * len(deformers), np.zeros(3))


def _case(context: Context, skinned: SkinnedMesh, variant: str, poses: Sequence[Pose]) -> Case:
    turns = itertools.cycle(poses)
    return Case(
        system="shape",
        variant=variant,
        size=skinned.vertex_count,
        unit="vertices",
        step=lambda: skinned.skin(next(turns)),
        steps=max(1, VERTICES_PER_MEASUREMENT // skinned.vertex_count),
        finish=context.finish,
        timers=context.timers,
    )
