"""The pose of a character at a scene time: its strips, their blends, and the pre-roll before the start."""

import functools
from collections.abc import Sequence
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from sinew.sim.animation.evaluate import assembled, bind_pose, evaluate_pose, evaluate_poses
from sinew.sim.animation.pose import Offset, Pose
from sinew.sim.assets.model import CharacterModel, Clip, Interpolation, LocalPose
from sinew.sim.characters.placement import active_clip, up_axis
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.maths import quaternion
from sinew.sim.scene.strips import Strip, StripSample, last_end, parts_at, smooth

SETTLING = 0.5
"""Part of the pre-roll in which the first pose is held, so that cloth and hair come to rest."""

RunUp = tuple[float, float]
"""Start of the scene [s], and length of the pre-roll before it [s]."""


def strips_of(settings: ModelSettings, model: CharacterModel) -> tuple[Strip, ...]:
    """The strips of a character; the active clip, looping, without any; nothing in the bind pose."""
    clip = active_clip(settings, model)
    if clip is None:
        return ()
    return settings.strips or (Strip(clip=clip.name),)


def clip_of(model: CharacterModel, name: str) -> Clip:
    """A clip by its name; a name that the file does not have falls back to the first."""
    for clip in model.clips:
        if clip.name == name:
            return clip
    return model.clips[0]


def parts_of(settings: ModelSettings, model: CharacterModel, time: float) -> tuple[StripSample, ...]:
    """The clip samples that the pose at a scene time [s] is blended from; nothing in the bind pose."""
    return parts_at(strips_of(settings, model), lambda name: clip_of(model, name).duration, time)


def playing_time(settings: ModelSettings, model: CharacterModel) -> float:
    """End of the last strip of a character [s]; 0 without strips."""
    return last_end(strips_of(settings, model), lambda name: clip_of(model, name).duration)


def pose_of(model: CharacterModel, settings: ModelSettings, time: float, run_up: RunUp) -> Pose:
    """Pose at a scene time [s]; in the pre-roll the bind pose, blended into the pose at the start."""
    start, length = run_up
    if not length or time >= start:
        return blended(model, _played(model, settings, time), settings.pose)
    weight = smooth((time - start + length) / (length * (1.0 - SETTLING)))
    first = blended(model, _played(model, settings, start))
    return blended(model, [(bind_pose(model), 1.0), (first, weight)], settings.pose)


def poses_of(model: CharacterModel, settings: ModelSettings, times: Sequence[float], run_up: RunUp) -> list[Pose]:
    """The poses of `pose_of` at many scene times [s], bit-identical, evaluated clip by clip."""
    start, length = run_up
    playing = [parts_of(settings, model, time) if not length or time >= start else () for time in times]
    times_of: dict[str, dict[float, None]] = {}
    for part in (part for parts in playing for part in parts):
        times_of.setdefault(part.clip, {})[part.time] = None
    poses = {
        (name, time): pose
        for name, moments in times_of.items()
        for time, pose in zip(
            moments,
            evaluate_poses(model, clip_of(model, name), list(moments), **_reading(model, settings)),
            strict=True,
        )
    }
    return [
        blended(model, [(poses[part.clip, part.time], part.weight) for part in parts], settings.pose)
        if parts
        else pose_of(model, settings, time, run_up)
        for time, parts in zip(times, playing, strict=True)
    ]


def _played(model: CharacterModel, settings: ModelSettings, time: float) -> list[tuple[Pose, float]]:
    """The poses of the strips at a scene time [s], the lowest first, each with its weight."""
    reading = _reading(model, settings)
    parts = parts_of(settings, model, time)
    return [(evaluate_pose(model, clip_of(model, part.clip), part.time, **reading), part.weight) for part in parts] or [
        (bind_pose(model), 1.0)
    ]


class _ClipReading(TypedDict):
    interpolation: Interpolation
    lock_root: bool
    up_axis: str


def _reading(model: CharacterModel, settings: ModelSettings) -> _ClipReading:
    return {
        "interpolation": settings.interpolation,
        "lock_root": settings.lock_root,
        "up_axis": up_axis(settings, model),
    }


def blended(model: CharacterModel, poses: Sequence[tuple[Pose, float]], offsets: Sequence[Offset] = ()) -> Pose:
    """Blends poses on top of each other, each with a weight of 0 to 1; the weight of the first is ignored.

    Translation, scale and morph weights are interpolated linearly, rotations by normalised linear
    interpolation.  Offsets of joints come on top.
    """
    pose = poses[0][0]
    local = functools.reduce(lambda one, other: _mixed(one, other[0].local, other[1]), poses[1:], pose.local)
    last = next((pose for pose, _ in poses if pose.local is local), None)
    return last if last is not None and not offsets else assembled(model, local, offsets)


def _mixed(one: LocalPose, other: LocalPose, weight: float) -> LocalPose:
    if weight <= 0.0 or weight >= 1.0:
        return other if weight >= 1.0 else one
    near = quaternion.aligned(other.orientations, one.orientations)
    return LocalPose(
        _lerp(one.positions, other.positions, weight),
        quaternion.normalised(_lerp(one.orientations, near, weight)),
        _lerp(one.scales, other.scales, weight),
        _lerp(one.weights, other.weights, weight) if len(one.weights) == len(other.weights) else other.weights,
    )


def _lerp(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64], weight: float) -> npt.NDArray[np.float64]:
    return one + weight * (other - one)
