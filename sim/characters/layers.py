"""Blends poses on top of each other: poses that replace those below, and differences that are added to them.

Joints that a mask leaves out keep the bits of the pose below.
Source: the blending of ozz-animation, https://guillaumeblanc.github.io/ozz-animation/samples/additive/.
"""

import functools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sinew.sim.animation.pose import Pose
from sinew.sim.assets.humanoid import bones_of
from sinew.sim.assets.model import CharacterModel, LocalPose
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Bool, Float64
from sinew.sim.scene.strips import GROUP

GROUPS: Mapping[str, tuple[str, ...]] = {
    "upper body": ("spine",),
    "lower body": (),
    "head": ("neck", "head"),
    "arms": ("leftShoulder", "rightShoulder", "leftUpperArm", "rightUpperArm"),
    "left arm": ("leftShoulder", "leftUpperArm"),
    "right arm": ("rightShoulder", "rightUpperArm"),
    "hands": ("leftHand", "rightHand"),
    "legs": ("leftUpperLeg", "rightUpperLeg"),
    "left leg": ("leftUpperLeg",),
    "right leg": ("rightUpperLeg",),
}
"""Bones at the top of each group; the lower body is everything but the upper body."""


class Layer(NamedTuple):
    """A pose over those below.

    Attributes:
        weight: 0 to 1; ignored for the lowest layer.
        mask: Joints that it moves, shape (B,); None for all, and then morph targets too.
        reference: The pose whose difference from `pose` is added; None replaces the pose below.
    """

    pose: Pose
    weight: float
    mask: Bool | None = None
    reference: LocalPose | None = None


def layered(below: LocalPose, layer: Layer) -> LocalPose:
    """Returns the pose with a layer: `below` itself at weight 0, the pose of the layer if it replaces everything."""
    if layer.weight <= 0.0:
        return below
    own, mask = layer.pose.local, layer.mask
    if layer.reference is not None:
        result = added(below, own, layer.reference, layer.weight)
    else:
        result = mixed(below, own, layer.weight)
    if mask is None:
        return result
    chosen = mask[:, None]
    return LocalPose(
        np.where(chosen, result.positions, below.positions),
        np.where(chosen, result.orientations, below.orientations),
        np.where(chosen, result.scales, below.scales),
        below.weights,
    )


def mixed(one: LocalPose, other: LocalPose, weight: float) -> LocalPose:
    """Interpolates translation, scale and morph weights linearly, rotations by normalised linear interpolation."""
    if weight <= 0.0 or weight >= 1.0:
        return other if weight >= 1.0 else one
    near = quaternion.aligned(other.orientations, one.orientations)
    return LocalPose(
        _lerp(one.positions, other.positions, weight),
        quaternion.normalised(_lerp(one.orientations, near, weight)),
        _lerp(one.scales, other.scales, weight),
        _lerp(one.weights, other.weights, weight) if len(one.weights) == len(other.weights) else other.weights,
    )


def _lerp(one: Float64, other: Float64, weight: float) -> Float64:
    return one + weight * (other - one)


def added(base: LocalPose, pose: LocalPose, reference: LocalPose, weight: float) -> LocalPose:
    """Adds the difference of a pose from its reference; scales of 0 in the reference add none."""
    turn = quaternion.multiply(quaternion.conjugate(reference.orientations), pose.orientations)
    turn = np.where(turn[:, 3:] < 0.0, -turn, turn)
    part = np.concatenate([weight * turn[:, :3], 1.0 + weight * (turn[:, 3:] - 1.0)], axis=1)
    is_flat = reference.scales == 0.0
    ratio = np.where(is_flat, 1.0, pose.scales / np.where(is_flat, 1.0, reference.scales))
    weights = base.weights
    if len(weights) == len(pose.weights):
        weights = weights + weight * (pose.weights - reference.weights)
    return LocalPose(
        base.positions + weight * (pose.positions - reference.positions),
        quaternion.multiply(base.orientations, quaternion.normalised(part)),
        base.scales * (1.0 + weight * (ratio - 1.0)),
        weights,
    )


# --- masks ----------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=64)
def mask_joints(model: CharacterModel, mask: str, humanoid: tuple[tuple[str, str], ...] = ()) -> Bool | None:
    """Returns the joints of a mask, shape (B,): None for "" or without a skeleton, no joint for unknown names.

    Args:
        humanoid: Changes of the bones, see `sinew.sim.assets.humanoid.bones_of`.
    """
    skeleton = model.skeleton
    if not mask or skeleton is None:
        return None
    group = mask.removeprefix(GROUP)
    if not mask.startswith(GROUP):
        joint = skeleton.find(mask)
        found = skeleton.below([joint] if joint is not None else [])
    elif group == "lower body":
        upper = mask_joints(model, f"{GROUP}upper body", humanoid)
        found = ~upper if upper is not None and upper.any() else np.zeros(skeleton.joint_count, bool)
    else:
        bones = bones_of(model, humanoid)
        found = skeleton.below([bones[bone] for bone in GROUPS.get(group, ()) if bone in bones])
        if group == "upper body":  # of some skeletons the legs are below the spine
            found &= ~skeleton.below([bones[bone] for bone in GROUPS["legs"] if bone in bones])
    return found
