"""Motions: clips of other files that a character plays beside its own."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from sinew.sim.assets.build_mesh import weight_starts_of
from sinew.sim.assets.model import CharacterModel, Clip, ClipSource, Interpolation, LocalPose
from sinew.sim.assets.raw import RawChannel, RawClip, RawModel, RawTrack
from sinew.sim.characters.playing import up_axis
from sinew.sim.characters.retarget import RetargetError, retargeted_clip
from sinew.sim.characters.settings import ModelSettings, MotionFile
from sinew.sim.maths.arrays import Float64
from sinew.sim.printable import numbered


def animated_model(
    model: CharacterModel, settings: ModelSettings, sources: Mapping[Path, CharacterModel]
) -> tuple[CharacterModel, list[tuple[str, str]]]:
    """Returns a model with the clips of its motions after its own; and path and reason of each unusable motion.

    Args:
        sources: Files that were read; motions of others are left out.
    """
    clips, origins = list(model.clips), dict[str, ClipSource]()
    faults: list[tuple[str, str]] = []
    for motion, titles in zip(settings.motions, motion_titles(model, settings.motions, sources), strict=True):
        source = sources.get(Path(motion.path))
        if source is None:
            continue
        try:
            if not source.clips:
                raise RetargetError(f"{source.path.name} has no clips")
            with np.errstate(all="ignore"):  # the clips check their keys
                clips += [
                    retargeted_clip(
                        clip, source, model, name=title, source_edits=motion.humanoid, target_edits=settings.humanoid,
                        up_axis=up_axis(settings, model),
                    )
                    for clip, title in zip(source.clips, titles, strict=True)
                ]  # fmt: skip
            played = zip(titles, source.clips, strict=True)
            origins |= {title: ClipSource(clip, source, motion.humanoid) for title, clip in played}
        except ValueError as error:
            faults.append((motion.path, str(error)))
    return dataclasses.replace(model, clips=tuple(clips), sources=origins), faults


def motion_titles(
    model: CharacterModel, motions: Sequence[MotionFile], sources: Mapping[Path, CharacterModel]
) -> list[list[str]]:
    """Returns unique names of the clips of each motion: its file, and the name of the clip if there are several.

    The name of a motion does not depend on whether others can be read.
    """
    taken = {clip.name for clip in model.clips}
    found = []
    for motion in motions:
        title = numbered(Path(motion.path).stem, taken)
        source = sources.get(Path(motion.path))
        names = [clip.name for clip in source.clips] if source is not None else []
        found.append([title] if len(names) == 1 else [f"{title}: {name}" for name in names])
    return found


def add_clips(raw: RawModel, clips: Iterable[Clip]) -> None:
    """Adds clips to the content of the file of a model, frame by frame, for writers of model files."""
    bones = [bone for skeleton in raw.skeletons for bone in skeleton.bones]
    for clip in clips:
        times = clip.frame_times
        poses = clip.sample_many(times.tolist(), Interpolation.LINEAR)
        step = float(times[1]) if len(times) > 1 else 0.0
        added = RawClip(clip.name, len(times), clip.duration, step, [])
        if np.ptp(poses.weights, axis=0).any():  # tracks hold no weights
            added.channels = _channels(raw, times, poses)
        else:
            added.tracks = [
                RawTrack(bone.name, poses.positions[:, joint], poses.orientations[:, joint], poses.scales[:, joint])
                for joint, bone in enumerate(bones)
            ]
        raw.clips.append(added)


def _channels(raw: RawModel, times: Float64, poses: LocalPose) -> list[RawChannel]:
    paths = ("translation", poses.positions), ("rotation", poses.orientations), ("scale", poses.scales)
    channels = [
        RawChannel(joint, path, "LINEAR", times, values[:, joint])
        for path, values in paths
        for joint in range(values.shape[1])
    ]
    starts = weight_starts_of(raw)
    for joint, first in starts.items():
        last = min((other for other in starts.values() if other > first), default=poses.weights.shape[1])
        channels.append(RawChannel(joint, "weights", "LINEAR", times, poses.weights[:, first:last]))
    return channels
