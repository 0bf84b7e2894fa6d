"""Clips on the joints of the runtime skeleton: matched by name, equally long, correctly timed."""

import numpy as np
import numpy.typing as npt

from sim.assets.build_skeleton import Joints, unique_names
from sim.assets.build_targets import weight_starts_of
from sim.assets.clip import UniformClip
from sim.assets.curve_clip import CurveClip
from sim.assets.faults import ElementFault, quoted
from sim.assets.frames.frame_clip import FrameClip
from sim.assets.model import Clip, Targets
from sim.assets.raw import RawClip, RawModel, RawTrack
from sim.assets.timing import frame_step

Float64 = npt.NDArray[np.float64]

# A file may name many joints and give one of them many poses: filling in the rest must not exhaust memory.
FREE_POSES = 1_000_000
MAX_GROWTH = 8


def build_clips(raw: RawModel, joints: Joints | None, targets: Targets | None, warnings: list[str]) -> tuple[Clip, ...]:
    """The playable clips.

    Raises:
        ElementFault: If filling in joints without a track would take unreasonable memory.
    """
    clips = raw.clips
    if targets is not None and targets.are_frames:
        names = unique_names([clip.name for clip in clips], "clip", warnings)
        count = 1 + len(targets.names)
        return tuple(
            FrameClip(name, clip.frame_times, clip.frames, count) for name, clip in zip(names, clips, strict=True)
        )
    if joints is None:
        if clips:
            warnings.append("Animations without a skeleton are ignored.")
        return ()
    _check_growth(clips, joints.skeleton.joint_count)
    names = unique_names([clip.name for clip in clips], "clip", warnings)
    built: list[Clip] = []
    weight_starts = weight_starts_of(raw)
    for name, clip in zip(names, clips, strict=True):
        if clip.channels:
            built.append(CurveClip(name, clip.channels, joints.skeleton, targets, weight_starts))
        elif clip.frame_count and any(len(track.positions) for track in clip.tracks):
            built.append(_build_clip(name, clip, joints, warnings))
        else:
            warnings.append(f"Animation {quoted(name)} has no poses and is ignored.")
    return tuple(built)


def _check_growth(clips: list[RawClip], joint_count: int) -> None:
    """Refuse clips that need far more memory than the file holds poses."""
    stored = sum(len(track.positions) for clip in clips for track in clip.tracks)
    needed = sum(clip.frame_count for clip in clips if clip.tracks) * joint_count
    if needed > max(FREE_POSES, MAX_GROWTH * stored):
        raise ElementFault("Animations", f"need {needed} poses for {joint_count} joints, the file holds {stored}")


def _build_clip(name: str, clip: RawClip, joints: Joints, warnings: list[str]) -> UniformClip:
    frames = clip.frame_count
    step, note = frame_step(frames, clip.duration, clip.frame_step)
    if note:
        warnings.append(f"Animation {quoted(name)} {note}.")
    bind = joints.skeleton
    positions = np.repeat(bind.bind_positions[None], frames, axis=0)
    orientations = np.repeat(bind.bind_orientations[None], frames, axis=0)
    scales = np.repeat(bind.bind_scales[None], frames, axis=0)
    for track, joint in _matched(name, clip.tracks, joints, warnings):
        count = len(track.positions)
        if count < frames:
            warnings.append(
                f"Animation {quoted(name)}: the track of {quoted(track.name)} is short; its last pose holds."
            )
        for target, source in ((positions, track.positions), (orientations, track.orientations)):
            target[:count, joint], target[count:, joint] = source, source[-1]
        scales[:count, joint] = 1.0 if track.scales is None else track.scales
        scales[count:, joint] = scales[count - 1, joint]
    return UniformClip(name, step, positions, orientations, scales)


def _matched(clip: str, tracks: list[RawTrack], joints: Joints, warnings: list[str]) -> list[tuple[RawTrack, int]]:
    """Tracks with poses and the joint each drives; the first track of a joint counts."""
    matched: dict[str, RawTrack] = {}
    for track in tracks:
        if track.name not in joints.of_name:
            warnings.append(f"Animation {quoted(clip)}: no joint is called {quoted(track.name)}; its track is ignored.")
        elif track.name in matched:
            warnings.append(f"Animation {quoted(clip)}: a second track for {quoted(track.name)} is ignored.")
        elif len(track.positions):
            matched[track.name] = track
    return [(track, joint) for name, track in matched.items() for joint in joints.of_name[name]]
