"""Offsets of single joints on top of a pose: a turn, a move and a scale in the frame that the clip gives the joint.

With the local transform T(p) R(q) S(s) of a joint and its offset (d, r, f) it stands at T(p + q d) R(q r) S(s f): the
offset acts in the frame of the joint, and whatever clip runs is seen below it.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from sim.animation.pose import Pose
from sim.assets.model import LocalPose, Skeleton
from sim.maths import quaternion
from sim.maths.transform import compose

Float64 = npt.NDArray[np.float64]
Vector = tuple[float, float, float]


class Offset(Protocol):
    """What is done to one joint on top of a pose."""

    @property
    def bone(self) -> str:
        """Name of the joint."""

    @property
    def position(self) -> Vector:
        """A move along the axes of the joint, in units of the file."""

    @property
    def rotation(self) -> Vector:
        """A turn about x, then y, then z of the joint [°]."""

    @property
    def scale(self) -> Vector:
        """A scale along the axes of the joint."""


def with_offsets(skeleton: Skeleton, local: LocalPose, offsets: Sequence[Offset]) -> LocalPose:
    """Local transforms with offsets; those of joints that the skeleton does not have are left out."""
    found = [(joint, offset) for offset in offsets if (joint := skeleton.find(offset.bone)) is not None]
    if not found:
        return local
    joints = np.array([joint for joint, _ in found])
    moves, scales = (np.array([getattr(offset, name) for _, offset in found]) for name in ("position", "scale"))
    turns = quaternion.from_euler_degrees(np.array([offset.rotation for _, offset in found]))
    positions, orientations, sizes = local.positions.copy(), local.orientations.copy(), local.scales.copy()
    positions[joints] += quaternion.rotate(local.orientations[joints], moves)
    orientations[joints] = quaternion.multiply(local.orientations[joints], turns)
    sizes[joints] *= scales
    return msgspec.structs.replace(local, positions=positions, orientations=orientations, scales=sizes)


def frame_below(skeleton: Skeleton, pose: Pose, offset: Offset) -> Float64 | None:
    """Frame of the model that an offset which a pose has is relative to, shape (4, 4); None for a joint not there."""
    joint = skeleton.find(offset.bone)
    if joint is None:
        return None
    turn = quaternion.from_euler_degrees(offset.rotation)
    orientation = quaternion.multiply(pose.local.orientations[joint], quaternion.conjugate(turn))
    position = pose.local.positions[joint] - quaternion.rotate(orientation, np.asarray(offset.position))
    own = compose(position, orientation, np.ones(3))
    parent = int(skeleton.parents[joint])
    return own if parent < 0 else pose.model_from_joint[parent] @ own
