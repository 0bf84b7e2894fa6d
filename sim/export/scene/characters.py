"""Characters as skins that a format can show, or as points for every frame where these differ."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.animation.evaluate import assembled
from sim.animation.pose import Pose
from sim.assets.model import LocalPose, Targets
from sim.export.formats import Characters
from sim.export.scene.recording import JointMotion, SceneRecording, Track

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

TOGETHER = 16
"""Most moments of the same places that are blended at once."""

AsSkin = Callable[[JointMotion], tuple[JointMotion | None, str]]
"""Takes a rig; gives the one that a format shows instead, None for no skin at all, and why; "" where it is the same."""


class LinearSkin:
    """Vertices with influences, blended linearly.

    Args:
        joints: Entries of a palette, shape (V, K).
        weights: Those of a row sum to 1, shape (V, K).
    """

    def __init__(self, joints: npt.NDArray[np.integer], weights: Float32) -> None:
        self._parts: list[tuple[int, npt.NDArray[np.intp], Float64]] = []
        for entries, shares in zip(joints.T, weights.T, strict=True):
            for entry in np.unique(entries[shares > 0.0]).tolist():
                vertices = np.flatnonzero((entries == entry) & (shares > 0.0))
                self._parts.append((entry, vertices, shares[vertices, None].astype(np.float64)))

    def moved(self, moments: Iterable[tuple[Float64, Float64]]) -> Iterator[Float64]:
        """Where places (V, 3) are moved to by a palette (P, 4, 4), for each moment."""
        for _, some in itertools.groupby(enumerate(moments), lambda one: (id(one[1][0]), one[0] // TOGETHER)):
            together = [moment for _, moment in some]
            places = np.concatenate((together[0][0], np.ones((len(together[0][0]), 1))), axis=1)
            palettes = np.stack([palette[:, :3] for _, palette in together], axis=1)
            found = np.zeros((len(places), 3 * len(together)))
            for entry, vertices, weights in self._parts:
                found[vertices] += weights * (places[vertices] @ palettes[entry].reshape(-1, 4).T)
            yield from found.reshape(len(places), -1, 3).swapaxes(0, 1)


def as_chosen(recording: SceneRecording, choice: Characters, as_skin: AsSkin) -> tuple[SceneRecording, list[str]]:
    """The recording with characters as they are written, and a line for each that is not what one would expect.

    Positions are those that the format shows; characters that are written as points have no rig.
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
    """Where linear blending has all vertices in the world, shape (V, 3), frame by frame."""
    mesh, skin = rig.model.mesh, rig.model.skin
    assert skin is not None
    blend, rest = LinearSkin(skin.joints, skin.weights), mesh.positions.astype(np.float64)
    moved = blend.moved((_morphed(rest, mesh.targets, pose.local.weights), pose.palette) for pose in _poses(rig))
    for places, world in zip(moved, rig.world_from_model, strict=True):
        yield (places @ world[:3, :3].T + world[:3, 3]).astype(np.float32)


def _poses(rig: JointMotion) -> Iterator[Pose]:
    for local in zip(rig.positions, rig.orientations, rig.scales, rig.weights, strict=True):
        yield assembled(rig.model, LocalPose(*local))


def _morphed(places: Float64, targets: Targets | None, weights: Float64) -> Float64:
    """Vertices moved by morph targets, shape (V, 3); the same array where none has a weight."""
    if targets is None or not weights.any():
        return places
    moved = places.copy()
    for run, weight in enumerate(weights[targets.weight_of].tolist()):
        if weight:
            first, count, start = (int(table[run]) for table in (targets.firsts, targets.counts, targets.starts))
            moved[first : first + count] += weight * targets.deltas[start : start + count, 0, :3]
    return moved
