"""Influences of all vertices: matched to a skeleton, cleaned, strongest first."""

from itertools import accumulate

import numpy as np
import numpy.typing as npt

from sim.assets.build_skeleton import Joints
from sim.assets.faults import ElementFault
from sim.assets.model import Skin
from sim.assets.raw import RawModel, RawSkin, RawVertices
from sim.printable import counted

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

SUM_TOLERANCE = 1e-4
ENTRIES_MAX = 1 << 16


def build_skin(raw: RawModel, joints: Joints, vertex_count: int, warnings: list[str]) -> Skin:
    """Influences of all vertices; what carries no weight follows the first joint of its skeleton or skin.

    Where the model has skins, they name the joints of one skin after the other.

    Raises:
        ElementFault: If these are too many.
    """
    width = 8 if _widest(raw) > 4 else 4
    indices = np.zeros((vertex_count, width), dtype=np.uint16)
    weights = np.zeros((vertex_count, width), dtype=np.float32)
    starts, counts = joints.starts, joints.counts
    if raw.skins:
        starts, counts = skin_starts(raw.skins), tuple(len(skin.joints) for skin in raw.skins)
    start = 0
    for mesh in raw.meshes:
        number = mesh.skin if raw.skins else joints.match(mesh.skeleton)
        for buffer in mesh.buffers:
            own = slice(start, start + buffer.count)
            indices[own], weights[own] = _influences(buffer, width, counts[number], warnings)
            indices[own] += np.uint16(starts[number])
            start += buffer.count
    indices[weights == 0.0] = 0
    return Skin(indices, weights, int((weights > 0.0).sum(axis=1).max(initial=0)))


def skin_starts(skins: list[RawSkin]) -> tuple[int, ...]:
    """Number of the first joint of each skin, where those of all are counted through.

    Raises:
        ElementFault: If they are too many.
    """
    *starts, total = accumulate((len(skin.joints) for skin in skins), initial=0)
    if total > ENTRIES_MAX:
        raise ElementFault("skins", f"have {total} joints in all, more than {ENTRIES_MAX}")
    return tuple(starts)


def _widest(raw: RawModel) -> int:
    widths = [
        buffer.attributes["blendweights"].shape[1]
        for mesh in raw.meshes
        for buffer in mesh.buffers
        if "blendweights" in buffer.attributes
    ]
    return max(widths, default=4)


def _influences(
    buffer: RawVertices, width: int, joint_count: int, warnings: list[str]
) -> tuple[npt.NDArray[np.uint16], Float32]:
    """Joint numbers within the skeleton and weights of one buffer, both (V, width)."""
    joints, weights = _stored(buffer, width)
    bad = ~np.isfinite(weights) | (weights < 0.0)
    if bad.any():
        warnings.append(f"{counted(int(bad.sum()), 'weight is', 'weights are')} negative or not finite and taken as 0.")
        weights = np.where(bad, np.float32(0.0), weights)
    outside = (joints >= joint_count) & (weights > 0.0)
    if outside.any():
        warnings.append(
            f"{counted(int(outside.sum()), 'influence names', 'influences name')} joints that do not exist: left out."
        )
        weights = np.where(outside, np.float32(0.0), weights)
    if (weights[:, 1:] > weights[:, :-1]).any():
        order = np.argsort(-weights, axis=1, kind="stable")
        joints, weights = np.take_along_axis(joints, order, axis=1), np.take_along_axis(weights, order, axis=1)
    weights = _normalised(weights, warnings)
    alone = weights[:, 0] == 0.0
    if alone.any():
        who = counted(int(alone.sum()), "vertex has no weight and follows", "vertices have no weight and follow")
        warnings.append(f"{who} the first joint.")
        joints, weights = joints.copy(), weights.copy()
        joints[alone, 0], weights[alone, 0] = 0, 1.0
    return np.where(weights > 0.0, joints, 0).astype(np.uint16), weights


def _stored(buffer: RawVertices, width: int) -> tuple[npt.NDArray[np.uint16], Float32]:
    """Influences as stored, padded; a missing half means weight 1 first, or the first joint."""
    joints = np.zeros((buffer.count, width), dtype=np.uint16)
    weights = np.zeros((buffer.count, width), dtype=np.float32)
    stored_weights = buffer.attributes.get("blendweights")
    stored_joints = buffer.attributes.get("blendindices")
    if stored_weights is None:
        weights[:, 0] = 1.0
    else:
        weights[:, : stored_weights.shape[1]] = stored_weights[:, :width]
    if stored_joints is not None:
        joints[:, : stored_joints.shape[1]] = stored_joints[:, :width]
    return joints, weights


def _normalised(weights: Float32, warnings: list[str]) -> Float32:
    """Rows that sum to 1; only sums that are clearly off are worth a warning."""
    total = weights.sum(axis=1, dtype=np.float64)
    off = (np.abs(total - 1.0) > SUM_TOLERANCE) & (total > 0.0)
    if off.any():
        whose = counted(int(off.sum()), "vertex", "vertices")
        warnings.append(f"The weights of {whose} did not sum to 1 and were scaled.")
    return (weights / np.where(total > 0.0, total, 1.0)[:, None]).astype(np.float32)
