"""A strip of six vertices on two joints, small enough to check on paper.

At frame 1 (0.5 s) the joint `tip` is turned by the quaternion (0, 0, 0.6, 0.8), whose cosine is 0.28 and whose sine is
0.96; at frame 2 (1 s) `root` has moved by (1, 0, 0) and `tip` is back.
"""

from pathlib import Path

import numpy as np

from sinew.sim.assets.raw import RawBone, RawClip, RawMesh, RawModel, RawSection, RawSkeleton, RawTrack, RawVertices
from sinew.sim.maths import quaternion

POSITIONS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 2, 0), (1, 2, 0))
TIP_WEIGHTS = (0.0, 0.0, 0.5, 0.5, 1.0, 1.0)
TRIANGLES = ((0, 1, 3), (0, 3, 2), (2, 3, 5), (2, 5, 4))

FRAME_1_LBS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0.64, 1.48, 0), (-0.96, 1.28, 0), (-0.68, 2.24, 0))
FRAME_1_DQS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0.8, 1.6, 0), (-0.96, 1.28, 0), (-0.68, 2.24, 0))
"""Skinned positions at frame 1 by linear blending and by dual quaternions.

For vertex 3 at (1, 1, 0), which both joints move equally: `root` leaves it, `tip` turns (1, 0) about (0, 1) to (0.28,
1.96).  The mean is (0.64, 1.48).  Dual quaternions turn by half the angle, whose cosine is 0.8 and whose sine is 0.6,
to (0.8, 1.6).
"""

NOTE = """
  Six vertices on two joints, to check by hand.  At frame 1 the tip turns by cos 0.28, sin 0.96 about (0, 1, 0):

    vertex   bind       frame 1, linear   frame 1, dual quaternion   frame 2
    0        0 0 0      0     0           0     0                    1 0
    1        1 0 0      1     0           1     0                    2 0
    2        0 1 0      0     1           0     1                    1 1
    3        1 1 0      0.64  1.48        0.8   1.6                  2 1
    4        0 2 0      -0.96 1.28        -0.96 1.28                 1 2
    5        1 2 0      -0.68 2.24        -0.68 2.24                 2 2
"""


def build_tiny(path: Path) -> RawModel:
    model = RawModel(path, "ezm", "MeshSystem", asset_name="tiny", asset_info="two joints, six vertices")
    root, tip = np.zeros(3), np.array([0.0, 1.0, 0.0])
    still = quaternion.IDENTITY
    model.skeletons.append(
        RawSkeleton("tiny", [RawBone("root", -1, root, still, np.ones(3)), RawBone("tip", 0, tip, still, np.ones(3))])
    )
    turned = np.array([0.0, 0.0, 0.6, 0.8])
    tracks = [
        RawTrack("root", np.array([root, root, [1.0, 0.0, 0.0]]), np.array([still, still, still]), None),
        RawTrack("tip", np.array([tip, tip, tip]), np.array([still, turned, still]), None),
    ]
    model.clips.append(RawClip("nod", 3, 1.0, 0.5, tracks))
    model.meshes.append(_mesh())
    return model


def _mesh() -> RawMesh:
    tip = np.array(TIP_WEIGHTS)
    first = tip > 0.5
    zeros = np.zeros_like(tip)
    weights = np.stack([np.maximum(tip, 1.0 - tip), np.minimum(tip, 1.0 - tip), zeros, zeros], axis=1)
    joints = np.stack([first * 1, (tip == 0.5) * 1, zeros, zeros], axis=1)
    vertices = RawVertices(
        len(tip),
        {
            "position": np.array(POSITIONS, dtype=np.float32),
            "normal": np.tile(np.array([0, 0, 1], dtype=np.float32), (len(tip), 1)),
            "blendweights": weights.astype(np.float32),
            "blendindices": joints.astype(np.uint16),
        },
    )
    return RawMesh("tiny", "tiny", [vertices], [RawSection("", "", 0, np.array(TRIANGLES, dtype=np.uint32))])
