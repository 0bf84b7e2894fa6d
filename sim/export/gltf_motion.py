"""Clips as animations of a glTF file: curves as they are, equally spaced keys and weights of morph targets as lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.assets.build_targets import weight_starts_of
from sim.assets.model import CharacterModel, Clip, Interpolation, LocalPose
from sim.assets.raw import RawChannel, RawClip, RawModel
from sim.export.gltf_file import GlbChunk
from sim.maths import quaternion

Float64 = npt.NDArray[np.float64]

_UNMOVED = 1e-7
"""Largest deviation from the rest, relative to the largest value, of a property that needs no channel."""


@dataclass(frozen=True, slots=True)
class MorphNode:
    """A node with morph targets.

    Attributes:
        node: Its number.
        weights: Which weights of the model its targets have, length N.
    """

    node: int
    weights: Sequence[int]


class _Animation:
    """One animation in the making."""

    def __init__(self, name: str, chunk: GlbChunk) -> None:
        self._name, self._chunk = name, chunk
        self._samplers: list[dict[str, Any]] = []
        self._channels: list[dict[str, Any]] = []

    def add(self, node: int, path: str, mode: str, times: Float64, values: Float64) -> None:
        """A channel; keys (F, n), or (F, 3, n) for splines."""
        keys = times.astype(np.float32)
        # Times must rise, also in single precision.
        cached = np.append(True, np.diff(keys) > 0.0)
        width = 1 if path == "weights" else values.shape[-1]
        rows = values[cached].astype(np.float32).reshape(-1, width)
        sampler: dict[str, Any] = {"input": self._chunk.once(keys[cached][:, None], bounded=True)}
        sampler["output"] = self._chunk.once(rows)
        if mode != "LINEAR":
            sampler["interpolation"] = mode
        self._channels.append({"sampler": len(self._samplers), "target": {"node": node, "path": path}})
        self._samplers.append(sampler)

    def written(self) -> dict[str, Any] | None:
        """What the document says of it; None for one without a channel."""
        if not self._channels:
            return None
        return {"name": self._name, "channels": self._channels, "samplers": self._samplers}


def animations(
    model: CharacterModel, raw: RawModel | None, nodes: Sequence[int], weighted: Sequence[MorphNode], chunk: GlbChunk
) -> list[dict[str, Any]]:
    """Animations of all clips of a model.

    Args:
        model: The model.
        raw: What it was made of, so that curves stay what they are; None for keys at the times of frames.
        nodes: Node of each joint, length B.
        weighted: Nodes with morph targets.
        chunk: Where keys go.
    """
    written = []
    of_name = {clip.name: clip for clip in raw.clips} if raw is not None else {}
    starts = weight_starts_of(raw) if raw is not None else {}
    for clip in model.clips:
        stored = of_name.get(clip.name)
        made = _Animation(clip.name, chunk)
        if stored is not None and stored.channels:
            _add_curves(made, stored, nodes)
            _add_weights(made, clip, stored, weighted, starts)
        else:
            poses = [clip.sample(float(time), Interpolation.LINEAR) for time in clip.key_times]
            _add_poses(made, model, clip.key_times, poses, nodes)
            for owner in weighted:
                keys = np.array([pose.weights[list(owner.weights)] for pose in poses])
                made.add(owner.node, "weights", "LINEAR", clip.key_times, keys)
        part = made.written()
        if part is not None:
            written.append(part)
    return written


def _add_curves(made: _Animation, stored: RawClip, nodes: Sequence[int]) -> None:
    for channel in stored.channels:
        if channel.path == "weights":
            continue
        values = channel.values
        if channel.path == "rotation" and channel.mode != "CUBICSPLINE":
            values = quaternion.normalised(values)
        made.add(nodes[channel.joint], channel.path, channel.mode, channel.times, values)


def _add_weights(
    made: _Animation, clip: Clip, stored: RawClip, weighted: Sequence[MorphNode], starts: Mapping[int, int]
) -> None:
    """Weights as they are stored where one channel drives all of a node, else at the keys of the clip."""
    driving = [channel for channel in stored.channels if channel.path == "weights" and channel.joint in starts]
    for owner in weighted:
        own = [channel for channel in driving if _drives(channel, starts, owner.weights)]
        if not own:
            continue
        (channel, *others), first = own, starts[own[0].joint]
        columns = [weight - first for weight in owner.weights]
        if not others and min(columns) >= 0 and max(columns) < channel.values.shape[-1]:
            made.add(owner.node, "weights", channel.mode, channel.times, channel.values[..., columns])
            continue
        keys = [clip.sample(float(time), Interpolation.LINEAR).weights[list(owner.weights)] for time in clip.key_times]
        made.add(owner.node, "weights", "LINEAR", clip.key_times, np.array(keys))


def _drives(channel: RawChannel, starts: Mapping[int, int], weights: Sequence[int]) -> bool:
    first = starts[channel.joint]
    return any(first <= weight < first + channel.values.shape[-1] for weight in weights)


def _add_poses(
    made: _Animation, model: CharacterModel, times: Float64, poses: Sequence[LocalPose], nodes: Sequence[int]
) -> None:
    """Channels of what differs from the rest; one at least, so that the length is kept."""
    rest = model.skeleton
    if rest is None:
        return
    moving = {
        "translation": (np.array([pose.positions for pose in poses]), rest.bind_positions),
        "rotation": (np.array([pose.orientations for pose in poses]), rest.bind_orientations),
        "scale": (np.array([pose.scales for pose in poses]), rest.bind_scales),
    }
    for path, (keys, still) in moving.items():
        room = _UNMOVED * max(float(np.abs(still).max(initial=0.0)), 1.0)
        moved = np.abs(keys - still).max(axis=(0, 2)) > room
        if path == "translation" and not moved.any():
            moved[0] = True
        for joint in np.flatnonzero(moved).tolist():
            made.add(nodes[joint], path, "LINEAR", times, keys[:, joint])
