"""The result of evaluating a clip: what skinning, drawing and picking read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from sim.assets.model import LocalPose, Skeleton
from sim.maths import quaternion
from sim.maths.transform import compose

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Warps:
    """What deformers do to the bind pose at one moment, before joints move it.

    Attributes:
        functions: Names of D functions, in order.
        values: What each takes, shape (D, 12).
        bones: Joint whose weights say where each acts, or -1 for everywhere; length D.
        light: What the surface gives off by itself, linear RGB, shape (3,).
    """

    functions: tuple[str, ...]
    values: Float64
    bones: tuple[int, ...]
    light: Float64

    def same(self, other: "Warps") -> bool:
        names = (self.functions, self.bones) == (other.functions, other.bones)
        values = np.array_equal(self.values, other.values) and np.array_equal(self.light, other.light)
        return names and values


class Pose(msgspec.Struct, frozen=True, eq=False):
    """All joints at one moment, in file space, and how the bind pose is deformed before they move it.

    A record of msgspec is made eight times as fast as a frozen dataclass, and poses are made by the thousand.

    Attributes:
        local: Local transforms of the joints.
        model_from_joint: Where each joint is, shape (B, 4, 4).
        palette: What each entry of the skin's palette, as a rule each joint, does to a vertex of the bind pose,
            `model_from_joint @ bind_from_model`, shape (P, 4, 4).
        centres: Where their joints were in the bind pose, shape (P, 3): the points that their scale keeps.
        warps: What deformers do; None where there are none.
    """

    local: LocalPose
    model_from_joint: Float64
    palette: Float64
    centres: Float64
    warps: Warps | None = None

    def same_shape(self, other: "Pose") -> bool:
        """Whether morph targets and deformers act alike in both."""
        mine, theirs = self.warps, other.warps
        alike = mine is theirs or (mine is not None and theirs is not None and mine.same(theirs))
        return alike and np.array_equal(self.local.weights, other.local.weights)


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
