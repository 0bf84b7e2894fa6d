"""The pose that chains swing about, as the kernel reads it."""

from dataclasses import dataclass

import numpy as np

from sinew.sim.assets.model import Skeleton
from sinew.sim.assets.rig import SpringColliderShape
from sinew.sim.characters.character import Character
from sinew.sim.characters.joint_turns import JointTurns
from sinew.sim.kinds.springs.chains import Chains
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float32, Float64
from sinew.sim.scene.world_transforms import rigid_frames

_EVEN = 1e-6
"""Shear and difference of scales, relative to the scale, that counts as rounding of the file."""
_TINY = np.finfo(float).tiny


@dataclass(frozen=True, slots=True, eq=False)
class ChainPose:
    """J simulated joints, F frames in the world that they hang on or do not feel, and K colliders of the file."""

    joints: Float32  # Orientation | head, length | direction of the tip, relative to the joint above, shape (J, 3, 4)
    frames: Float64  # Orientation | position [m], metres per unit of the joints, shape (F, 2, 4); first the model
    solids: Float64  # One end [m], radius [m] | other end or normal, form, shape (K, 2, 4)
    scale: float  # Metres per unit of the file
    time: float | None  # Scene time [s]
    in_model: Float64  # Model matrices of frames and colliders, shape (F + K, 4, 4)
    local: Float64  # Local positions, orientations and scales of the joints below the frames, shape (N, 10)

    def has_moved(self, before: "ChainPose") -> bool:
        """Returns True if any joint is elsewhere in the model."""
        return not (np.array_equal(self.in_model, before.in_model) and np.array_equal(self.local, before.local))


class ChainPoses:
    """Computes the poses of chains.

    The texels of a joint are relative to the simulated joint above it, or to the joint above in the skeleton, a frame.
    If scales are even they depend on local transforms only, so that they stay the same while joints above move.

    Attributes:
        first: Number of the frame above the first joint of each path, shape (J,).
        centers: Number of the frame that each joint does not feel, or -1, shape (J,).
        frame_count: The first frame is the model's.
        is_plane: Of each collider, shape (K,).
    """

    def __init__(self, skeleton: Skeleton, chains: Chains, turns: JointTurns) -> None:
        self._chains, self._turns = chains, turns
        above_first = skeleton.parents[chains.joints[[path[0] for path in turns.paths]]]
        frames = np.unique([-1, *above_first, *chains.centers])
        self.first = np.searchsorted(frames, above_first)
        self.centers = np.where(chains.centers >= 0, np.searchsorted(frames, chains.centers), -1)
        self.frame_count, solids = len(frames), chains.colliders
        self._placed = np.array([*np.maximum(frames, 0), *(solid.joint for solid in solids)], np.intp)
        self.is_plane = np.array([solid.shape is SpringColliderShape.PLANE for solid in solids], bool)
        is_capsule = np.array([solid.shape is SpringColliderShape.CAPSULE for solid in solids], bool)
        self._starts = np.array([solid.offset for solid in solids], np.float64).reshape(-1, 3)
        self._ends = np.array([solid.tail for solid in solids], np.float64).reshape(-1, 3)
        self._ends = np.where((is_capsule | self.is_plane)[:, None], self._ends, self._starts)
        self._radii = np.array([solid.radius for solid in solids])
        self._forms = np.where(self.is_plane, 2.0, [float(solid.is_inside) for solid in solids])
        self._known: tuple[Float64, Float32 | None] | None = None
        # The joints below the frames, parents first: simulated ones, those between them, and tips.
        needed = set(chains.joints.tolist())
        parents = skeleton.parents.tolist()
        for joint in [*skeleton.parents[chains.joints[chains.parents >= 0]].tolist(), *chains.tails.tolist()]:
            while joint >= 0 and joint not in needed:
                needed.add(joint)
                joint = parents[joint]
        self._joints = np.array([joint for joint in skeleton.hierarchy.order.tolist() if joint in needed], np.intp)
        numbers = {joint: number for number, joint in enumerate(self._joints.tolist())}
        self._above = np.array([numbers.get(parents[joint], -1) for joint in self._joints.tolist()], np.intp)
        self._own = np.array([numbers[joint] for joint in chains.joints.tolist()], np.intp)
        self._tails = np.array([numbers.get(tail, -1) for tail in chains.tails.tolist()], np.intp)
        is_own = np.isin(self._joints, chains.joints)
        depths, carriers = list[int](), list[int]()  # The carrier is the simulated joint above.
        for above in self._above.tolist():
            depths.append(depths[above] + 1 if above >= 0 else 0)
            carriers.append(above if above < 0 or is_own[above] else carriers[above])
        self._levels = [np.flatnonzero(np.array(depths) == depth) for depth in range(1, max(depths) + 1)]
        indirect = (self._above >= 0) & ~is_own[self._above]
        self._indirect = [level[indirect[level]] for level in self._levels if indirect[level].any()]
        has_tail = self._tails >= 0
        self._is_connected = np.array_equal(np.array(carriers)[self._tails[has_tail]], self._own[has_tail])

    def now(self, character: Character) -> ChainPose:
        """Returns the pose of a character with the turns of other nodes before these."""
        world = character.world_from_model
        pose = character.pose_with(np.concatenate([self._placed, self._joints]), self._turns)
        in_model = pose.model_from_joint.take(self._placed, 0)
        matrices = world @ in_model
        matrices[0] = world
        frames, solids = np.split(matrices, [self.frame_count])
        arrays = (pose.local.positions, pose.local.orientations, pose.local.scales)
        local = np.concatenate([array.take(self._joints, 0) for array in arrays], axis=1)
        placed = np.zeros((len(frames), 2, 4))
        placed[:, 1, :3] = frames[:, :3, 3]
        scales, joints = _even_scales(frames), self._from_local(local)
        if scales is not None and joints is not None:
            placed[:, 0] = quaternion.from_matrix(frames[:, :3, :3] / scales[:, None, None])
            placed[:, 1, 3] = scales
        else:
            placed[:, 0] = quaternion.from_matrix(rigid_frames(frames)[:, :3, :3])
            placed[:, 1, 3] = 1.0
            joints = self._from_world(world @ pose.model_from_joint, placed)
        scale = abs(float(np.linalg.det(world[:3, :3]))) ** (1.0 / 3.0)
        return ChainPose(joints, placed, self._colliders(solids, scale), scale, character.time, in_model, local)

    def _from_local(self, local: Float64) -> Float32 | None:
        """Returns texels of the joints in units of their frames; None if scales or tips do not allow it."""
        if self._known is None or not np.array_equal(local, self._known[0]):
            scales = local[:, 7:]
            spread, least = np.ptp(scales, axis=1), scales.min(axis=1)
            is_even = self._is_connected and bool(((least > 0.0) & (spread <= _EVEN * least)).all())
            self._known = local, self._relative(local) if is_even else None
        return self._known[1]

    def _relative(self, local: Float64) -> Float32:
        arms, turns, scales = local[:, :3].copy(), local[:, 3:7].copy(), local[:, 7:].mean(axis=1)
        for level in self._levels:
            arms[level] *= scales[self._above[level], None]
            scales[level] *= scales[self._above[level]]
        for level in self._indirect:
            above = self._above[level]
            arms[level] = arms[above] + quaternion.rotate(turns[above], arms[level])
            turns[level] = quaternion.multiply(turns[above], turns[level])
        bones = np.where((self._tails < 0)[:, None], self._chains.offsets * scales[self._own, None], arms[self._tails])
        return _texels(turns[self._own], arms[self._own], bones)

    def _from_world(self, matrices: Float64, frames: Float64) -> Float32:
        """Returns texels of the joints [m] from the world matrices of all."""
        chains = self._chains
        own, is_first = matrices[chains.joints], (chains.parents < 0)[:, None]
        turns, heads = quaternion.from_matrix(rigid_frames(own)[:, :3, :3]), own[:, :3, 3]
        tips = np.where((chains.tails < 0)[:, None], _transformed(own, chains.offsets), matrices[chains.tails, :3, 3])
        above = np.where(is_first, frames[self.first, 0], turns[chains.parents])
        below = heads - np.where(is_first, frames[self.first, 1, :3], heads[chains.parents])
        inverse = quaternion.conjugate(above)
        bones = quaternion.rotate(quaternion.conjugate(turns), tips - heads)
        return _texels(quaternion.multiply(inverse, turns), quaternion.rotate(inverse, below), bones)

    def _colliders(self, matrices: Float64, scale: float) -> Float64:
        solids = np.zeros((len(matrices), 2, 4))
        if len(matrices):
            solids[:, 0, :3], solids[:, 0, 3] = _transformed(matrices, self._starts), self._radii * scale
            solids[:, 1, :3], solids[:, 1, 3] = _transformed(matrices, self._ends), self._forms
        planes = self.is_plane
        if planes.any():
            normals = (rigid_frames(matrices[planes])[:, :3, :3] @ self._ends[planes, :, None])[..., 0]
            solids[planes, 1, :3] = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), _TINY)
        return solids


def _texels(turns: Float64, arms: Float64, bones: Float64) -> Float32:
    lengths = np.linalg.norm(bones, axis=1)
    texels = np.zeros((len(turns), 3, 4), np.float32)
    texels[:, 0], texels[:, 1, :3], texels[:, 1, 3] = turns, arms, lengths
    texels[:, 2, :3] = bones / np.maximum(lengths, _TINY)[:, None]
    return texels


def _transformed(matrices: Float64, points: Float64) -> Float64:
    """Transforms each point (K, 3) by its own matrix (K, 4, 4)."""
    moved: Float64 = (matrices[:, :3, :3] @ points[:, :, None])[..., 0] + matrices[:, :3, 3]
    return moved


def _even_scales(matrices: Float64) -> Float64 | None:
    """Returns scales of affine matrices (F, 4, 4); None if one is sheared, mirrored, flat or scaled unevenly."""
    linear = matrices[:, :3, :3]
    products = np.swapaxes(linear, 1, 2) @ linear
    squares = products[:, 0, 0]
    apart = np.abs(products - squares[:, None, None] * np.eye(3)).max(axis=(1, 2))
    is_even = (apart <= 2.0 * _EVEN * squares) & (np.linalg.det(linear) > 0.0)
    return np.sqrt(squares) if is_even.all() else None
