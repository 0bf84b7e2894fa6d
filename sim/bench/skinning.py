"""Vertices per second of the skinning pass against numpy, and the cost of morph targets and deformers.

A step of the pass packs and uploads the palette of a pose and deforms positions and normals; the numpy baselines
deform positions only.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import msgspec
import numpy as np

from sinew.sim.animation.pose import Pose, Warps
from sinew.sim.assets.model import Bounds, LocalPose, Mesh, Skin, Targets
from sinew.sim.bench.runner import Case, GpuBench, Row, measure
from sinew.sim.characters.deformers.settings import DEFORMERS, Deformer, Extent
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.characters.skinning import SkinnedMesh
from sinew.sim.gl.back_end import TITLES
from sinew.sim.gl.context import Context
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float32
from sinew.sim.maths.transform import compose

JOINTS, INFLUENCES = 100, 4
TARGETS = 16
ACTIVE = (0, 1, 4, 8)

VERTICES_PER_MEASUREMENT = 100_000


def skinning_rows(bench: GpuBench, size: int) -> list[Row]:
    random = np.random.default_rng(1)
    mesh, skin = synthetic_mesh(size, random), synthetic_skin(size, random)
    poses = [random_pose(random), random_pose(random)]
    skinned = bench.owns(SkinnedMesh(bench.context, bench.library, mesh, skin))
    cases = [*numpy_cases(mesh, skin, poses[0]), *gpu_cases(bench.context, skinned, poses)]
    return measure(cases, repeat=bench.repeat)


def shape_rows(bench: GpuBench, size: int) -> list[Row]:
    random = np.random.default_rng(1)
    mesh, skin = synthetic_mesh(size, random), synthetic_skin(size, random)
    poses = [random_pose(random), random_pose(random)]
    plain = bench.owns(SkinnedMesh(bench.context, bench.library, mesh, skin))
    targets = replace(mesh, targets=full_targets(size, random))
    morphing = bench.owns(SkinnedMesh(bench.context, bench.library, targets, skin))
    case = partial(_case, bench.context, "shape")
    cases = [case(plain, "without targets", poses)]
    for count in ACTIVE:
        weights = np.where(np.arange(TARGETS) < count, 0.1, 0.0)
        locals_ = [msgspec.structs.replace(pose.local, weights=weights) for pose in poses]
        moved = [msgspec.structs.replace(pose, local=local) for pose, local in zip(poses, locals_, strict=True)]
        cases.append(case(morphing, f"{count} of {TARGETS} targets", moved))
    for kind in DEFORMERS:
        if kind.function:
            moved = [msgspec.structs.replace(pose, warps=warps_of([kind()], mesh)) for pose in poses]
            cases.append(case(plain, kind.label.lower(), moved))
    return measure(cases, repeat=bench.repeat)


def numpy_cases(mesh: Mesh, skin: Skin, pose: Pose) -> list[Case]:
    """Returns a case of a one-line einsum, and of the faster form that blends the matrices first."""
    palette = pose.palette.astype(np.float32)
    points = np.concatenate([mesh.positions, np.ones((mesh.vertex_count, 1), np.float32)], axis=1)

    def plain() -> Float32:
        positions: Float32 = np.einsum("vk,vkij,vj->vi", skin.weights, palette[skin.joints], points)
        return positions

    def two_steps() -> Float32:
        blended = np.einsum("vk,vkij->vij", skin.weights, palette[skin.joints])
        positions: Float32 = np.einsum("vij,vj->vi", blended, points)
        return positions

    case = partial(Case, system="skinning", size=mesh.vertex_count, unit="vertices")
    return [case(variant="numpy einsum", step=plain), case(variant="numpy einsum, two steps", step=two_steps)]


def gpu_cases(context: Context, skinned: SkinnedMesh, poses: Sequence[Pose]) -> list[Case]:
    """Returns cases whose poses alternate, because an unchanged pose is not skinned again."""
    title = TITLES[context.back_ends.choice].lower()
    return [_case(context, "skinning", skinned, f"{title} {method.value}", poses, method) for method in SkinningMethod]


def _case(
    context: Context, system: str, skinned: SkinnedMesh, variant: str, poses: Sequence[Pose],
    method: SkinningMethod = SkinningMethod.LBS,
) -> Case:  # fmt: skip
    alternating = itertools.cycle(poses)
    return Case(
        system=system,
        variant=variant,
        size=skinned.vertex_count,
        unit="vertices",
        step=lambda: skinned.skin(next(alternating), method),
        steps=max(1, VERTICES_PER_MEASUREMENT // skinned.vertex_count),
        finish=context.finish,
        timers=context.timers,
    )


def full_targets(vertex_count: int, random: np.random.Generator) -> Targets:
    starts = vertex_count * np.arange(TARGETS, dtype=np.int32)
    counts = np.full(TARGETS, vertex_count, np.int32)
    deltas = np.zeros((TARGETS * vertex_count, 2, 4), np.float32)
    deltas[..., :3] = 0.1 * random.normal(size=(*deltas.shape[:2], 3))
    names = tuple(f"target {number}" for number in range(TARGETS))
    return Targets(
        0 * starts,
        counts,
        starts,
        np.arange(TARGETS, dtype=np.int32),
        deltas,
        names,
        np.zeros(TARGETS),
        np.zeros(TARGETS, bool),
    )


def warps_of(deformers: Sequence[Deformer], mesh: Mesh) -> Warps:
    extent = Extent(mesh.bounds, is_z_up=False)
    values = np.array([deformer.values(extent, 0.0) for deformer in deformers])
    return Warps(tuple(deformer.function for deformer in deformers), values, (-1,) * len(deformers), np.zeros(3))


def synthetic_mesh(vertex_count: int, random: np.random.Generator) -> Mesh:
    positions = random.normal(size=(vertex_count, 3)).astype(np.float32)
    normals = random.normal(size=(vertex_count, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return Mesh(
        positions=positions,
        normals=normals.astype(np.float32),
        tangents=None,
        texcoords=np.zeros((vertex_count, 2), np.float32),
        colours=None,
        triangles=np.zeros((0, 3), np.uint32),
        sections=(),
        bounds=Bounds(positions.min(axis=0).astype(np.float64), positions.max(axis=0).astype(np.float64)),
    )


def synthetic_skin(vertex_count: int, random: np.random.Generator) -> Skin:
    weights = np.sort(random.dirichlet(np.ones(INFLUENCES), vertex_count), axis=1)[:, ::-1].astype(np.float32)
    joints = random.integers(0, JOINTS, (vertex_count, INFLUENCES)).astype(np.uint16)
    return Skin(joints, np.ascontiguousarray(weights), INFLUENCES)


def random_pose(random: np.random.Generator, joint_count: int = JOINTS) -> Pose:
    """Returns a pose with random rotations and translations, without scale."""
    positions = random.normal(size=(joint_count, 3))
    orientations = quaternion.normalised(random.normal(size=(joint_count, 4)))
    scales = np.ones((joint_count, 3))
    matrices = compose(positions, orientations, scales)
    return Pose(LocalPose(positions, orientations, scales), matrices, matrices, np.zeros((joint_count, 3)))
