"""Characters as skins that a format can show, or as points for every frame where these differ."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.assets.model import LocalPose
from sim.export.options import Characters
from sim.export.scene.recording import Recording, Rig, Track
from sim.jobs.evaluate import assembled

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

AsSkin = Callable[[Rig], tuple[Rig | None, str]]
"""Takes a rig; gives the one that a format shows instead, None for no skin at all, and why; "" where it is the same."""


class LinearSkin:
    """Vertices with influences, blended linearly.

    Args:
        joints: Entries of a palette, shape (V, K).
        weights: Those of a row sum to 1, shape (V, K).
    """

    def __init__(self, joints: npt.NDArray[np.integer], weights: Float32) -> None:
        self._vertices, columns = np.nonzero(weights)
        self._entries = joints[self._vertices, columns]
        self._weights = weights[self._vertices, columns].astype(np.float64)
        self._firsts = np.searchsorted(self._vertices, np.arange(len(weights)))

    def moved(self, places: Float64, palette: Float64) -> Float64:
        """Where places (V, 3) are moved to by the matrices of a palette (P, 4, 4)."""
        matrices = palette[self._entries]
        each = np.einsum("nij,nj->ni", matrices[:, :3, :3], places[self._vertices]) + matrices[:, :3, 3]
        found: Float64 = np.add.reduceat(self._weights[:, None] * each, self._firsts)
        return found


def as_chosen(recording: Recording, choice: Characters, as_skin: AsSkin) -> tuple[Recording, list[str]]:
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


def linear_positions(rig: Rig) -> Iterator[Float32]:
    """Where linear blending has all vertices in the world, shape (V, 3), frame by frame."""
    mesh, skin = rig.model.mesh, rig.model.skin
    assert skin is not None
    blend, targets = LinearSkin(skin.joints, skin.weights), mesh.targets
    for frame, local in enumerate(zip(rig.positions, rig.orientations, rig.scales, rig.weights, strict=True)):
        places = mesh.positions.astype(np.float64)
        if targets is not None:
            for run, weight in enumerate(local[3][targets.weight_of].tolist()):
                if weight:
                    first, count, start = (
                        int(table[run]) for table in (targets.firsts, targets.counts, targets.starts)
                    )
                    places[first : first + count] += weight * targets.deltas[start : start + count, 0, :3]
        world = rig.world_from_model[frame]
        moved = blend.moved(places, assembled(rig.model, LocalPose(*local)).palette)
        yield (moved @ world[:3, :3].T + world[:3, 3]).astype(np.float32)
