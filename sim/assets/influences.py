import dataclasses
import itertools
from dataclasses import dataclass

import numpy as np

from sinew.sim.assets.model import CharacterModel, Mesh, Palette, Skeleton, Skin
from sinew.sim.maths.arrays import Bool, Float64, Int64, Intp

INFLUENCES_MAX = 8

SAME_BINDING = 1e-5
"""Tolerance of inverse bind matrices that count as equal, relative to the largest entry."""


@dataclass(frozen=True, slots=True, eq=False)
class Influences:
    """Joints and weights of each vertex, (V, K) each; each row of weights sums to 1."""

    joints: Intp  # Of the skeleton
    weights: Float64


def weighted_vertex_counts(skin: Skin | None, joint_count: int) -> Int64:
    """Returns vertices with weight on each joint, shape (joint_count,); zeros without a skin."""
    if skin is None:
        return np.zeros(joint_count, dtype=np.int64)
    counted, joints = skin.weights > 0.0, skin.joints_of(skin.joints)
    # A file may name one joint twice for a vertex; the vertex counts once.
    for slot, earlier in itertools.combinations(range(counted.shape[1]), 2):
        repeated = counted[:, slot] & (joints[:, slot] == joints[:, earlier])
        counted[:, earlier] &= ~repeated
    return np.bincount(joints[counted], minlength=joint_count)


def joint_boxes(mesh: Mesh, skin: Skin, among: Bool | None = None) -> tuple[Intp, Float64]:
    """Returns boxes of the vertices with weight on each palette entry, in bind space.

    A linearly blended vertex is a convex combination of its images by its joints, so the box of all transformed corners
    contains the posed mesh, if weights of morph targets are between 0 and 1.

    Args:
        among: Mask of the vertices that count, shape (V,), at least one; None for all.

    Returns:
        Entries with vertices, shape (J,), and the corners of their boxes, shape (J, 8, 3).
    """
    counted = skin.weights > 0.0
    vertices, slots = np.nonzero(counted if among is None else counted & among[:, None])
    joints = skin.joints[vertices, slots]
    # Numbers of 16 bits are sorted by radix, several times faster than longer ones.
    order = np.argsort(joints.astype(np.min_scalar_type(joints.max(initial=0))), kind="stable")
    used, starts = np.unique(joints[order], return_index=True)
    lowest, highest = (ends[vertices[order]] for ends in reach_of(mesh))
    lo, hi = np.minimum.reduceat(lowest, starts), np.maximum.reduceat(highest, starts)
    choice = (np.arange(8)[:, None] >> np.arange(3)) & 1
    return used.astype(np.intp), np.where(choice[None], hi[:, None, :], lo[:, None, :])


def reach_of(mesh: Mesh) -> tuple[Float64, Float64]:
    """Returns lowest and highest positions of every vertex before skinning, both (V, 3)."""
    lowest = mesh.positions.astype(np.float64)
    highest, targets = lowest, mesh.targets
    if targets is not None:
        highest = lowest.copy()
        are_frames = targets.is_frame[targets.weight_of].tolist()
        for first, count, start, is_frame in zip(
            targets.firsts, targets.counts, targets.starts, are_frames, strict=True
        ):
            moves, own = targets.deltas[start : start + count, 0, :3], slice(first, first + count)
            if is_frame:  # frames replace each other, targets add up
                np.minimum(lowest[own], mesh.positions[own] + moves, out=lowest[own])
                np.maximum(highest[own], mesh.positions[own] + moves, out=highest[own])
            else:
                lowest[own] += np.minimum(moves, 0.0)
                highest[own] += np.maximum(moves, 0.0)
    return lowest, highest


def influences_in(model: CharacterModel) -> Influences | None:
    """Returns joints and weights of a model; None without a skin."""
    skin = model.skin
    if skin is None:
        return None
    weights = skin.weights.astype(np.float64)
    return Influences(skin.joints_of(skin.joints).astype(np.intp), weights / weights.sum(axis=1, keepdims=True))


def merged(found: Influences) -> tuple[Intp, Float64]:
    """Returns joints and weights, strongest first; a joint occurs once in each row."""
    joints, weights = found.joints, found.weights.copy()
    for slot in range(1, joints.shape[1]):
        for earlier in range(slot):
            same = joints[:, slot] == joints[:, earlier]
            weights[:, earlier] += np.where(same, weights[:, slot], 0.0)
            weights[same, slot] = 0.0
    order = np.argsort(-weights, axis=1, kind="stable")[:, :INFLUENCES_MAX]
    return np.take_along_axis(joints, order, 1), np.take_along_axis(weights, order, 1)


def with_influences(model: CharacterModel, found: Influences) -> CharacterModel:
    """Returns a model whose skin has these weights; raises ValueError if its parts are bound in different ways."""
    assert model.skeleton is not None
    entries = entries_of(model)
    if entries is None:
        raise ValueError("parts of the model are bound to the same bones in different ways")
    entry_of, palette = entries
    joints, weights = merged(found)
    count = max(int((weights > 0.0).sum(axis=1).max(initial=1)), 1)
    width = 4 if count <= 4 else INFLUENCES_MAX
    shape = len(joints), width
    made_joints, made_weights = np.zeros(shape, np.uint16), np.zeros(shape, np.float32)
    used = min(width, joints.shape[1])
    made_joints[:, :used] = np.where(weights > 0.0, entry_of[joints], 0)[:, :used]
    made_weights[:, :used] = weights[:, :used]
    return dataclasses.replace(model, skin=Skin(made_joints, made_weights, count, palette))


def entries_of(model: CharacterModel) -> tuple[Intp, Palette | None] | None:
    """Returns the palette entry of each joint, shape (B,), and the palette; None if a joint is bound in two ways."""
    skeleton, palette = model.skeleton, model.skin.palette if model.skin is not None else None
    assert skeleton is not None
    if palette is None:
        return np.arange(skeleton.joint_count), None
    return _completed(skeleton, palette)


def _completed(skeleton: Skeleton, palette: Palette) -> tuple[Intp, Palette] | None:
    entry_of = np.full(skeleton.joint_count, -1, np.intp)
    entry_of[palette.entry_joints[::-1]] = np.arange(len(palette.entry_joints))[::-1]
    own = palette.bind_from_mesh
    apart = np.abs(own - own[entry_of[palette.entry_joints]]).max(initial=0.0)
    if apart > SAME_BINDING * np.abs(own).max(initial=1.0):
        return None
    others = np.flatnonzero(entry_of < 0)
    if not len(others):
        return entry_of, palette
    first = palette.entry_joints[0]
    model_from_mesh = skeleton.model_from_bind[first] @ own[0]
    entry_of[others] = len(own) + np.arange(len(others))
    return entry_of, Palette(
        np.concatenate([palette.entry_joints, others]),
        np.concatenate([own, skeleton.bind_from_model[others] @ model_from_mesh]),
        np.concatenate([palette.centres, skeleton.model_from_bind[others, :3, 3]]),
    )
