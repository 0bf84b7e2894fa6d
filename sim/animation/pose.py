from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec
import numpy as np

from sinew.sim.assets.model import LocalPose, Skeleton
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.transform import compose


@dataclass(frozen=True, slots=True, eq=False)
class Warps:
    """Deformers at one moment, which act on the bind pose before the joints move it."""

    functions: tuple[str, ...]  # Names of D functions, in order
    values: Float64  # Their arguments, shape (D, 12)
    bones: tuple[int, ...]  # Joint whose weights limit each function, or -1; length D
    light: Float64  # Emission of the surface, linear RGB, shape (3,)

    def same(self, other: "Warps") -> bool:
        names = (self.functions, self.bones) == (other.functions, other.bones)
        values = np.array_equal(self.values, other.values) and np.array_equal(self.light, other.light)
        return names and values


class Pose(msgspec.Struct, frozen=True, eq=False):
    """All joints at one moment, in file space, and the deformation of the bind pose before they move it.

    A msgspec struct is created eight times as fast as a frozen dataclass, and there are thousands of poses.
    """

    local: LocalPose
    model_from_joint: Float64  # Shape (B, 4, 4)
    palette: Float64  # `model_from_joint @ bind_from_model` of each palette entry, usually one a joint, shape (P, 4, 4)
    centres: Float64  # Bind positions of their joints, shape (P, 3), about which scales act
    warps: Warps | None = None

    def same_shape(self, other: "Pose") -> bool:
        mine, theirs = self.warps, other.warps
        alike = mine is theirs or (mine is not None and theirs is not None and mine.same(theirs))
        return alike and np.array_equal(self.local.weights, other.local.weights)


Vector = tuple[float, float, float]


class Offset(Protocol):
    """An offset of one joint on top of a pose: a translation, a rotation and a scale in the frame of the joint.

    With the local transform T(p) R(q) S(s) of a joint and its offset (d, r, f) the result is T(p + q d) R(q r) S(s f),
    so the clip below stays visible.
    """

    @property
    def bone(self) -> str:
        """Name of the joint."""

    @property
    def position(self) -> Vector:
        """Translation along the axes of the joint, in units of the file."""

    @property
    def rotation(self) -> Vector:
        """Rotation about x, then y, then z of the joint [°]."""

    @property
    def scale(self) -> Vector:
        """Scale along the axes of the joint."""


def with_offsets(skeleton: Skeleton, local: LocalPose, offsets: Sequence[Offset]) -> LocalPose:
    """Returns the pose with offsets; ignores joints that the skeleton does not have."""
    known = [(joint, offset) for offset in offsets if (joint := skeleton.find(offset.bone)) is not None]
    if not known:
        return local
    joints = np.array([joint for joint, _ in known])
    moves, scales = (np.array([getattr(offset, name) for _, offset in known]) for name in ("position", "scale"))
    turns = quaternion.from_euler_degrees(np.array([offset.rotation for _, offset in known]))
    positions, orientations, sizes = local.positions.copy(), local.orientations.copy(), local.scales.copy()
    positions[joints] += quaternion.rotate(local.orientations[joints], moves)
    orientations[joints] = quaternion.multiply(local.orientations[joints], turns)
    sizes[joints] *= scales
    return msgspec.structs.replace(local, positions=positions, orientations=orientations, scales=sizes)


def frame_below(skeleton: Skeleton, pose: Pose, offset: Offset) -> Float64 | None:
    """Returns the model-space frame of an offset, shape (4, 4); None if the joint does not exist."""
    joint = skeleton.find(offset.bone)
    if joint is None:
        return None
    turn = quaternion.from_euler_degrees(offset.rotation)
    orientation = quaternion.multiply(pose.local.orientations[joint], quaternion.conjugate(turn))
    position = pose.local.positions[joint] - quaternion.rotate(orientation, np.asarray(offset.position))
    own = compose(position, orientation, np.ones(3))
    parent = int(skeleton.parents[joint])
    return own if parent < 0 else pose.model_from_joint[parent] @ own
