"""Vertices a second of the skinning pass as the viewport runs it, against numpy on the same data in the same run.

A step of the pass packs and uploads the palette of a pose and deforms positions and normals; the numpy baselines
deform positions only.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.animation.pose import Pose
from sim.assets.model import Bounds, LocalPose, Mesh, Skin
from sim.bench.row import Case, Row, measure
from sim.characters.settings import SkinningMethod
from sim.characters.skinning import SkinnedMesh
from sim.gl.back_end import TITLES, BackEndChoice
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.maths import quaternion
from sim.maths.transform import compose

SIZES = (10_000, 100_000, 200_000, 1_000_000)

JOINTS = 100
INFLUENCES = 4

VERTICES_PER_MEASUREMENT = 100_000
"""Small meshes are skinned several times between two readings of the clock."""


def skinning_rows(repeat: int, sizes: Sequence[int] = SIZES, *, backend: BackEndChoice = BackEndChoice.TF) -> list[Row]:
    """Times of numpy and of every skinning method, for synthetic meshes of these vertex counts.

    Raises:
        ValueError: If `repeat` is not positive.
        GLError: If the machine offers no OpenGL.
    """
    with Context.headless() as context:
        context.back_ends.choice = backend
        library = ShaderLibrary(context)
        return [row for size in sizes for row in _rows(context, library, size, repeat)]


def _rows(context: Context, library: ShaderLibrary, size: int, repeat: int) -> list[Row]:
    random = np.random.default_rng(1)
    mesh, skin = synthetic_mesh(size, random), synthetic_skin(size, random)
    poses = [random_pose(random), random_pose(random)]
    skinned = SkinnedMesh(context, library, mesh, skin)
    cases = [*numpy_cases(mesh, skin, poses[0]), *gpu_cases(context, skinned, poses)]
    rows = measure(cases, repeat=repeat)
    skinned.release()
    return rows


def numpy_cases(mesh: Mesh, skin: Skin, pose: Pose) -> list[Case]:
    """The plain one-line einsum, and the faster form that blends the matrices first."""
    palette = pose.palette.astype(np.float32)
    points = np.concatenate([mesh.positions, np.ones((mesh.vertex_count, 1), np.float32)], axis=1)

    def plain() -> npt.NDArray[np.float32]:
        positions: npt.NDArray[np.float32] = np.einsum("vk,vkij,vj->vi", skin.weights, palette[skin.joints], points)
        return positions

    def two_steps() -> npt.NDArray[np.float32]:
        blended = np.einsum("vk,vkij->vij", skin.weights, palette[skin.joints])
        positions: npt.NDArray[np.float32] = np.einsum("vij,vj->vi", blended, points)
        return positions

    count = mesh.vertex_count
    return [
        Case(system="skinning", variant="numpy einsum", size=count, unit="vertices", step=plain),
        Case(system="skinning", variant="numpy einsum, two steps", size=count, unit="vertices", step=two_steps),
    ]


def gpu_cases(context: Context, skinned: SkinnedMesh, poses: Sequence[Pose]) -> list[Case]:
    """One case for each method; poses take turns, because a mesh in the very same pose is not skinned again."""
    return [_gpu_case(context, skinned, poses, method) for method in SkinningMethod]


def _gpu_case(context: Context, skinned: SkinnedMesh, poses: Sequence[Pose], method: SkinningMethod) -> Case:
    turns = itertools.cycle(poses)
    return Case(
        system="skinning",
        variant=f"{TITLES[context.back_ends.choice].lower()} {method.value}",
        size=skinned.vertex_count,
        unit="vertices",
        step=lambda: skinned.skin(next(turns), method),
        steps=max(1, VERTICES_PER_MEASUREMENT // skinned.vertex_count),
        finish=context.finish,
        timers=context.timers,
    )


def synthetic_mesh(vertex_count: int, random: np.random.Generator) -> Mesh:
    """Random points with unit normals and no triangles."""
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
    """Four random joints a vertex, strongest first."""
    weights = np.sort(random.dirichlet(np.ones(INFLUENCES), vertex_count), axis=1)[:, ::-1].astype(np.float32)
    joints = random.integers(0, JOINTS, (vertex_count, INFLUENCES)).astype(np.uint16)
    return Skin(joints, np.ascontiguousarray(weights), INFLUENCES)


def random_pose(random: np.random.Generator, joint_count: int = JOINTS) -> Pose:
    """Joints turned and moved at random, without scale."""
    positions = random.normal(size=(joint_count, 3))
    orientations = quaternion.normalised(random.normal(size=(joint_count, 4)))
    scales = np.ones((joint_count, 3))
    matrices = compose(positions, orientations, scales)
    return Pose(LocalPose(positions, orientations, scales), matrices, matrices, np.zeros((joint_count, 3)))
