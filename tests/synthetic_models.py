"""Models that are made from numbers: a tree of joints with a clip, and a skinned tube as a file holds it."""

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.clip import UniformClip
from sinew.sim.assets.model import Bounds, CharacterModel, Mesh
from sinew.sim.assets.raw import RawBone, RawClip, RawMesh, RawModel, RawSection, RawSkeleton, RawTrack, RawVertices
from sinew.sim.maths import quaternion

_DEPTH = 15
"""Levels of the hierarchy, as in typical human skeletons."""
_FRAMES = 61

JOINTS, CHAINS, FRAMES = 60, 5, 61
TUBE_RADIUS, TUBE_HEIGHT, INFLUENCES = 0.2, 1.8, 4
"""Size of the tube [m], and influences of a vertex."""
SWAY = 0.05
"""Random deviation of the joint rotations of the tube, in quaternion components."""


def synthetic_character(joint_count: int, seed: int = 1) -> CharacterModel:
    """Makes a tree of joints, 15 levels deep, with a random clip of 61 keys at 50 Hz; no geometry."""
    random = np.random.default_rng(seed)
    parents, above = [-1], np.array([0])
    for level in np.array_split(np.arange(1, joint_count), _DEPTH - 1):
        parents.extend(random.choice(above, size=len(level)).tolist())
        above = level if len(level) else above
    positions = random.normal(size=(joint_count, 3))
    orientations = quaternion.normalised(random.normal(size=(joint_count, 4)))
    scales = np.ones((joint_count, 3))
    turns = quaternion.normalised(random.normal(scale=0.1, size=(_FRAMES, joint_count, 4)) + quaternion.IDENTITY)
    clip = UniformClip(
        "clip",
        0.02,
        np.broadcast_to(positions, (_FRAMES, joint_count, 3)),
        quaternion.multiply(orientations, turns),
        np.broadcast_to(scales, (_FRAMES, joint_count, 3)),
    )
    names = [f"joint {index}" for index in range(joint_count)]
    no_points, no_triangles = np.zeros((0, 3), np.float32), np.zeros((0, 3), np.uint32)
    mesh = Mesh(
        no_points, no_points, None, np.zeros((0, 2), np.float32), None, no_triangles, (),
        Bounds(np.zeros(3), np.zeros(3)),
    )  # fmt: skip
    return CharacterModel(
        path=Path("synthetic"), format="synthetic", dialect=None, asset_name="", mesh=mesh,
        skeleton=build_skeleton(names, parents, positions, orientations, scales), skin=None, clips=(clip,),
        materials=(), default_up_axis="Y", default_texture_origin="top", warnings=(),
    )  # fmt: skip


def synthetic_tube(vertex_count: int, seed: int = 1, *, joints: int = JOINTS, frames: int = FRAMES) -> RawModel:
    """Makes a tube with four influences per vertex, a skeleton of five chains, and a clip."""
    random = np.random.default_rng(seed)
    columns = max(2, math.isqrt(vertex_count))
    corner = np.arange(max(0, vertex_count - columns - 1), dtype=np.uint32)
    lower = np.column_stack([corner, corner + 1, corner + columns])
    upper = np.column_stack([corner + 1, corner + columns + 1, corner + columns])
    angle = np.arange(vertex_count) * (2.0 * np.pi / columns)
    height = np.arange(vertex_count) / max(vertex_count, 1)
    around = np.column_stack([np.cos(angle), np.zeros(vertex_count), np.sin(angle)])
    positions = TUBE_RADIUS * around + TUBE_HEIGHT * height[:, None] * np.array([0.0, 1.0, 0.0])
    nearest = (height * (joints - INFLUENCES + 1)).astype(np.uint16)[:, None] + np.arange(INFLUENCES, dtype=np.uint16)
    weights = np.sort(random.dirichlet(np.ones(INFLUENCES), vertex_count), axis=1)[:, ::-1]
    vertices: dict[str, npt.NDArray[np.generic]] = {
        "position": positions.astype(np.float32),
        "normal": around.astype(np.float32),
        "texcoord1": random.random((vertex_count, 2), dtype=np.float32),
        "blendweights": weights.astype(np.float32),
        "blendindices": nearest,
    }
    section = RawSection("", "", 0, np.concatenate([lower, upper]))
    up, identity = np.array((0.0, 0.1, 0.0)), np.array((0.0, 0.0, 0.0, 1.0))
    bones, tracks = [], []
    for index in range(joints):
        name, parent = f"joint {index}", max(index - CHAINS, 0) if index else -1
        bones.append(RawBone(name, parent, up, identity, np.ones(3)))
        # Small deviations from rest, so that the mesh stays a tube.
        orientations = identity + random.normal(scale=SWAY, size=(frames, 4))
        orientations /= np.linalg.norm(orientations, axis=1, keepdims=True)
        moves = up + random.normal(scale=0.1 * SWAY, size=(frames, 3))
        tracks.append(RawTrack(name, moves, orientations, np.ones((frames, 3))))
    return RawModel(
        Path("synthetic"),
        "ezm",
        "MeshSystem",
        skeletons=[RawSkeleton("body", bones)],
        clips=[RawClip("clip", frames, 0.02 * (frames - 1), 0.02, tracks)],
        meshes=[RawMesh("body", "", [RawVertices(vertex_count, vertices)], [section])],
    )
