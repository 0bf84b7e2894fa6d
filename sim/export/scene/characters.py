"""Characters as skins that a format supports, or as points for every frame if these look different."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.animation.evaluate import assembled
from sinew.sim.assets.model import LocalPose, Targets
from sinew.sim.export.formats import Characters
from sinew.sim.export.scene.recording import JointMotion, SceneRecording, Track

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

TOGETHER = 16
"""Frames that are blended at once."""

BLOCK = 128
"""Vertices that are blended at once; products of this size run on one thread, which is faster than sharing them."""

AsSkin = Callable[[JointMotion], tuple[JointMotion | None, str]]
"""Takes a rig; returns the rig that a format can show, None for no skin, and why; "" if it looks the same."""


class LinearSkin:
    """Linear blend skinning of many frames at once, in blocks of vertices that share few joints.

    Args:
        joints: Palette entries, shape (V, K).
        weights: shape (V, K); each row sums to 1.
    """

    def __init__(self, joints: npt.NDArray[np.integer], weights: Float32) -> None:
        self._blocks: list[tuple[slice, npt.NDArray[np.intp], Float64]] = []
        for start in range(0, len(joints), BLOCK):
            rows = slice(start, min(start + BLOCK, len(joints)))
            entries, columns = np.unique(joints[rows], return_inverse=True)
            dense = np.zeros((rows.stop - start, len(entries)))
            for column, weight in zip(columns.reshape(-1, joints.shape[1]).T, weights[rows].T, strict=True):
                dense[np.arange(len(dense)), column] += weight
            used = dense.any(axis=0)
            self._blocks.append((rows, entries[used].astype(np.intp), dense[:, used]))

    def moved(self, frames: Iterable[tuple[Float64, Float64]]) -> Iterator[Float32]:
        """Skinned positions (V, 3) of each frame, which is rest positions (V, 3) and a palette (P, 4, 4)."""
        # Consecutive frames with the same rest positions are blended by one product of matrices.
        for _, group in itertools.groupby(enumerate(frames), lambda item: (id(item[1][0]), item[0] // TOGETHER)):
            batch = [frame for _, frame in group]
            rest = np.concatenate((batch[0][0], np.ones((len(batch[0][0]), 1))), axis=1)
            transforms = np.stack([palette[:, :3] for _, palette in batch]).transpose(1, 3, 0, 2)  # (P, 4, F, 3)
            skinned = np.empty((len(batch), len(rest), 3), np.float32)
            for rows, entries, weights in self._blocks:
                factors = (weights[:, :, None] * rest[rows, None]).reshape(len(weights), -1)
                product = factors @ transforms[entries].reshape(factors.shape[1], -1)
                skinned[:, rows] = product.reshape(len(weights), -1, 3).swapaxes(0, 1)
            yield from skinned


def as_chosen(recording: SceneRecording, choice: Characters, as_skin: AsSkin) -> tuple[SceneRecording, list[str]]:
    """The recording with characters in the chosen form, and a line for each that deviates from what one expects.

    Positions are those of the written form; characters that are written as points have no rig.
    """
    lines, tracks = list[str](), list[Track]()
    for track in recording.tracks:
        shown, reason = as_skin(track.rig) if track.rig is not None else (None, track.unrigged)
        if choice is Characters.POINTS or not reason:
            tracks.append(track if choice is not Characters.POINTS else replace(track, rig=None))
            continue
        text, changes = f"written as points for every frame: {reason}", dict[str, Any](rig=None)
        if shown is not None:
            apart, frames = 0.0, []
            for drawn, places in zip(track.positions, linear_positions(shown), strict=True):
                apart = max(apart, float(np.linalg.norm(places - drawn, axis=1).max()))
                frames += [places] if choice is Characters.SKIN else []
            text += f"; as a skin (characters=skin), a linear approximation, it is up to {apart:.2g} m away"
            if choice is Characters.SKIN:
                text = f"written as a skin, a linear approximation of {reason}, up to {apart:.2g} m away"
                changes = {"rig": shown, "positions": np.stack(frames)}
        lines.append(f"{track.name}: {text}")
        tracks.append(replace(track, **changes))
    return replace(recording, tracks=tuple(tracks)), lines


def linear_positions(rig: JointMotion) -> Iterator[Float32]:
    """World positions of all vertices by linear blending, shape (V, 3), frame by frame."""
    mesh, skin = rig.model.mesh, rig.model.skin
    assert skin is not None
    rest, targets = mesh.positions.astype(np.float64), mesh.targets
    frames = zip(rig.positions, rig.orientations, rig.scales, rig.weights, rig.world_from_model, strict=True)
    poses = ((assembled(rig.model, LocalPose(*local)), world) for *local, world in frames)
    yield from LinearSkin(skin.joints, skin.weights).moved(
        (_morphed(rest, targets, pose.local.weights), world @ pose.palette) for pose, world in poses
    )


def _morphed(places: Float64, targets: Targets | None, weights: Float64) -> Float64:
    """Positions with morph targets, shape (V, 3); the same array if all weights are zero."""
    if targets is None or not weights.any():
        return places
    moved = places.copy()
    for run, weight in enumerate(weights[targets.weight_of].tolist()):
        if weight:
            first, count, start = (int(table[run]) for table in (targets.firsts, targets.counts, targets.starts))
            moved[first : first + count] += weight * targets.deltas[start : start + count, 0, :3]
    return moved
