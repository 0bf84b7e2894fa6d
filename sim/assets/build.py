"""Builds the runtime model from the content of a file: one mesh, one skeleton, one list of clips."""

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.build_mesh import build_mesh, weight_starts_of
from sinew.sim.assets.build_skeleton import Joints, build_joints, unique_names
from sinew.sim.assets.build_skin import build_skin, rebased
from sinew.sim.assets.clip import CurveClip, FrameClip, UniformClip, frame_step
from sinew.sim.assets.faults import ElementFault, quoted
from sinew.sim.assets.materials import build_materials
from sinew.sim.assets.model import Bounds, CharacterModel, Clip, Targets
from sinew.sim.assets.raw import ModelError, RawClip, RawModel, RawTrack

Float64 = npt.NDArray[np.float64]

# A file may name many joints and give one of them many poses: the poses of all other joints must not exhaust memory.
FREE_POSES = 1_000_000
MAX_GROWTH = 8


def build_clips(raw: RawModel, joints: Joints | None, targets: Targets | None, warnings: list[str]) -> tuple[Clip, ...]:
    """The playable clips."""
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
    """Tracks with poses and the joint of each; later tracks of a joint are ignored."""
    matched: dict[str, RawTrack] = {}
    for track in tracks:
        if track.name not in joints.of_name:
            warnings.append(f"Animation {quoted(clip)}: no joint is called {quoted(track.name)}; its track is ignored.")
        elif track.name in matched:
            warnings.append(f"Animation {quoted(clip)}: a second track for {quoted(track.name)} is ignored.")
        elif len(track.positions):
            matched[track.name] = track
    return [(track, joint) for name, track in matched.items() for joint in joints.of_name[name]]


def build_model(raw: RawModel) -> CharacterModel:
    """The runtime model of `raw`; vertices, triangles and joints keep the order of the file.

    Raises:
        ModelError: If the content cannot be drawn or posed.
    """
    try:
        # Values come from a file: the checks of the result find overflows.
        with np.errstate(all="ignore"):
            return _built(raw)
    except ElementFault as fault:
        raise ModelError(raw.path, fault.element, fault.reason) from None


def default_up_axis(bounds: Bounds) -> str:
    """ "Y", or "Z" if the box touches the floor in z and not in y."""
    size = bounds.size
    touches_in_z = abs(bounds.lo[2]) < 0.05 * size[2]
    return "Z" if touches_in_z and abs(bounds.lo[1]) > 0.20 * size[1] else "Y"


def default_texture_origin(asset_name: str) -> str:
    """Row of the image at v = 0: "bottom" for files converted from FBX, else "top"."""
    return "bottom" if asset_name.strip().lower().endswith(".fbx") else "top"


def _built(raw: RawModel) -> CharacterModel:
    notes = raw.warnings.copy()
    materials, material_of = build_materials(raw)
    mesh = build_mesh(raw, material_of, notes)
    joints = build_joints(raw.skeletons, notes, may_be_flat=bool(raw.skins))
    skin = build_skin(raw, joints, mesh.vertex_count, notes) if joints else None
    if raw.skins and skin is not None and joints is not None:
        mesh, skin = rebased(mesh, skin, joints.skeleton, raw)
    return CharacterModel(
        path=raw.path,
        format=raw.format,
        dialect=raw.dialect,
        asset_name=raw.asset_name,
        mesh=mesh,
        skeleton=joints.skeleton if joints else None,
        skin=skin,
        clips=build_clips(raw, joints, mesh.targets, notes),
        materials=materials,
        default_up_axis=raw.up_axis or default_up_axis(mesh.bounds),
        default_texture_origin=raw.texture_origin or default_texture_origin(raw.asset_name),
        warnings=tuple(notes),
        files=tuple(raw.files),
    )
