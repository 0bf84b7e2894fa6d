"""A small character with chains, built in code."""

from pathlib import Path

import numpy as np

from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.clip import UniformClip
from sinew.sim.assets.model import Bounds, CharacterModel, Mesh
from sinew.sim.assets.rig import Rig, Spring, SpringCollider, SpringColliderShape, SpringJoint
from sinew.sim.maths import quaternion
from tests.gl.skinning_cases import random_skin

NAMES = ("body", "head", "tail_1", "tail_2", "tail_3", "tail_4", "fin_1", "fin_2", "hair_1", "knot", "hair_2")
PARENTS = (-1, 0, 0, 2, 3, 4, 3, 6, 1, 8, 9)
POSITIONS = np.array([
    [0.0, 1.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, -0.1], [0.0, 0.05, -0.2], [0.02, 0.0, -0.2], [0.0, 0.0, -0.15],
    [0.1, 0.1, 0.0], [0.0, 0.12, 0.0], [0.0, 0.1, -0.05], [0.0, 0.0, -0.08], [0.0, -0.02, -0.1],
])  # fmt: skip
FRAMES = 301


def joint(number: int, tail: int, **values: object) -> SpringJoint:
    """With values that make every term count."""
    settings = {"stiffness": 0.6, "gravity": (0.05, -0.3, 0.0), "drag": 0.3, "radius": 0.03} | values
    return SpringJoint(number, tail, **settings)


COLLIDERS = (
    SpringCollider(0, SpringColliderShape.SPHERE, offset=(0.0, -0.15, -0.35), radius=0.12),
    SpringCollider(0, SpringColliderShape.CAPSULE, offset=(-0.2, -0.1, -0.5), tail=(0.2, -0.1, -0.5), radius=0.08),
    SpringCollider(0, SpringColliderShape.PLANE, offset=(0.0, -0.25, 0.0), tail=(0.0, 1.0, 0.0)),
    SpringCollider(1, SpringColliderShape.SPHERE, offset=(0.0, 0.1, -0.1), radius=0.25, is_inside=True),
    SpringCollider(1, SpringColliderShape.CAPSULE, offset=(0.0, -0.2, -0.1), tail=(0.0, 0.3, -0.1), radius=0.3,
                   is_inside=True),
)  # fmt: skip
SPRINGS = (
    Spring("tail", (joint(2, 3), joint(3, 4, stiffness=0.3), joint(4, 5), joint(5, -1, tail_offset=(0.0, 0.0, -0.1)),
                    joint(6, 7), joint(7, -1, tail_offset=(0.0, 0.07, 0.0))), colliders=(0, 1, 2)),
    Spring("hair", (joint(8, 10, drag=0.6), joint(10, -1, tail_offset=(0.0, 0.0, -0.08))), colliders=(3, 4), center=1),
)  # fmt: skip


def tailed(vertex_count: int = 300, *, scale: float = 1.0, seed: int = 3, turns: bool = True) -> CharacterModel:
    """A body with a tail that branches and hair that skips a joint; its clip moves the body about and turns it."""
    random = np.random.default_rng(seed)
    count = len(NAMES)
    orientations = quaternion.normalised(quaternion.IDENTITY + 0.1 * random.normal(size=(count, 4)))
    scales = np.ones((count, 3))
    scales[0] = scale
    times = np.arange(FRAMES) / 60.0
    positions = np.tile(POSITIONS, (FRAMES, 1, 1))
    positions[:, 0, 0] += 0.5 * np.sin(4.0 * times)
    turned = np.tile(orientations, (FRAMES, 1, 1))
    if turns:
        turned[:, 0] = quaternion.multiply(
            quaternion.from_axis_angle([0.2, 1.0, 0.1], 1.5 * np.sin(3.0 * times)), turned[:, 0]
        )
        turned[:, 1] = quaternion.multiply(
            turned[:, 1], quaternion.from_axis_angle([1.0, 0.0, 0.0], np.sin(5.0 * times))
        )
        turned[:, 3] = quaternion.multiply(
            turned[:, 3], quaternion.from_axis_angle([1.0, 0.3, 0.0], 0.4 * np.sin(7.0 * times))
        )
    clip = UniformClip("sway", 1.0 / 60.0, positions, turned, np.tile(scales, (FRAMES, 1, 1)))
    points = random.normal([0.0, 1.2, -0.2], 0.3, size=(vertex_count, 3)).astype(np.float32)
    normals = quaternion.normalised(random.normal(size=(vertex_count, 3))).astype(np.float32)
    mesh = Mesh(
        points, normals, None, np.zeros((vertex_count, 2), np.float32), None,
        random.permutation(vertex_count - vertex_count % 3).reshape(-1, 3).astype(np.uint32), (),
        Bounds(points.min(axis=0).astype(float), points.max(axis=0).astype(float)),
    )  # fmt: skip
    skeleton = build_skeleton(NAMES, PARENTS, POSITIONS, orientations, scales)
    return CharacterModel(
        path=Path("tailed"), format="code", dialect=None, asset_name="", mesh=mesh, skeleton=skeleton,
        skin=random_skin(vertex_count, count, 4, random), clips=(clip,), materials=(), default_up_axis="Y",
        default_texture_origin="top", warnings=(), rig=Rig(springs=SPRINGS, colliders=COLLIDERS),
    )  # fmt: skip
