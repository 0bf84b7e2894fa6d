"""Vertices per second of the skinning pass against numpy.

A step of the pass packs and uploads the palette of a pose and deforms positions and normals; the numpy baselines
deform positions only.
"""

import itertools
from collections.abc import Sequence
from functools import partial

import numpy as np

from sinew.sim.animation.pose import Pose
from sinew.sim.assets.model import Bounds, LocalPose, Mesh, Skin
from sinew.sim.bench.runner import Case, GpuBench, Row, measure
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.characters.skinning import SkinnedMesh
from sinew.sim.gl.back_end import TITLES
from sinew.sim.gl.context import Context
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float32
from sinew.sim.maths.transform import compose

JOINTS, INFLUENCES = 100, 4

VERTICES_PER_MEASUREMENT = 100_000


def skinning_rows(bench: GpuBench, size: int) -> list[Row]:
    random = np.random.default_rng(1)
    mesh, skin = synthetic_mesh(size, random), synthetic_skin(size, random)
    poses = [random_pose(random), random_pose(random)]
    skinned = bench.owns(SkinnedMesh(bench.context, bench.library, mesh, skin))
    cases = [*numpy_cases(mesh, skin, poses[0]), *gpu_cases(bench.context, skinned, poses)]
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
    alternating, title = itertools.cycle(poses), TITLES[context.back_ends.choice].lower()
    case = partial(
        Case, system="skinning", size=skinned.vertex_count, unit="vertices", finish=context.finish,
        steps=max(1, VERTICES_PER_MEASUREMENT // skinned.vertex_count), timers=context.timers,
    )  # fmt: skip

    def step(method: SkinningMethod) -> None:
        skinned.skin(next(alternating), method)

    return [case(variant=f"{title} {one.value}", step=partial(step, one)) for one in SkinningMethod]


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
