"""Skeletons and animations of EZMesh text."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sim.assets.ezm_vertices import checked_count, parse_count
from sim.assets.ezm_xml import Element, attributes, children, payload
from sim.assets.faults import MAX_JOINTS, MAX_MAGNITUDE, MAX_TRACKS, ElementFault, PartCounter, check_magnitude, quoted
from sim.assets.hierarchy import parents_by_name, unit_quaternions
from sim.assets.load_watch import LoadWatch
from sim.assets.number_text import NumberFault, parse_numbers, split_tokens, token_values
from sim.assets.raw import RawBone, RawClip, RawSkeleton, RawTrack

Float64 = npt.NDArray[np.float64]

_TRUE = ("true", "1", "yes")


def read_skeleton(element: Element, parts: PartCounter, warnings: list[str]) -> RawSkeleton:
    """The joints of a `Skeleton` element, in file order.

    Raises:
        ElementFault: For transforms that are not numbers or not usable, or too many joints.
    """
    skeleton = attributes(element).get("name", "")
    described = []
    for child in children(element, "bone"):
        parts.add("Bone", MAX_JOINTS)
        described.append(attributes(child))
    names = [bone.get("name", "") for bone in described]
    parents, notes = parents_by_name(names, [bone.get("parent") for bone in described])
    warnings.extend(notes)
    values = np.array([_transform(bone, warnings) for bone in described]).reshape(-1, 10)
    for joint in np.flatnonzero(~(np.abs(values) <= MAX_MAGNITUDE).all(axis=1)).tolist():
        check_magnitude(f"Bone {quoted(names[joint])}", "its transform", values[joint])
    orientations = unit_quaternions(values[:, 3:7])
    bones = [
        RawBone(name, parent, transform[:3], orientation, transform[7:])
        for name, parent, transform, orientation in zip(names, parents, values, orientations, strict=True)
    ]
    return RawSkeleton(skeleton, bones)


def read_clip(element: Element, watch: LoadWatch, parts: PartCounter, warnings: list[str]) -> RawClip:
    """The tracks of an `Animation` element.

    Raises:
        ElementFault: For payloads that are short, not numbers or not usable.
    """
    attribute = attributes(element)
    name = attribute.get("name", "")
    title = f"animation {quoted(name)}"
    stored = []
    for child in children(element, "animtrack"):
        parts.add("AnimTrack", MAX_TRACKS)
        stored.append(_read_poses(child, title, watch, warnings))
    tracks = _tracks(stored, title)
    frames = max((len(track.positions) for track in tracks), default=0)
    try:
        frames = frames or parse_count(title, "framecount", attribute) or 0
    except ElementFault:
        warnings.append(f"The framecount of {title} is not a number.")
    return RawClip(name, frames, _seconds(attribute, "duration"), _seconds(attribute, "dtime"), tracks)


def _transform(bone: dict[str, str], warnings: list[str]) -> list[float]:
    """Position, orientation and scale of a bone in ten numbers, as stored; what is absent does not move."""
    title = f"Bone {quoted(bone.get('name', ''))}"
    values: list[float] = []
    for what, default in (("position", (0.0,) * 3), ("orientation", (0.0, 0.0, 0.0, 1.0)), ("scale", (1.0,) * 3)):
        values.extend(_vector(title, what, bone, default, warnings))
    return values


def _vector(
    element: str, what: str, attribute: dict[str, str], default: tuple[float, ...], warnings: list[str]
) -> Sequence[float]:
    text = attribute.get(what)
    if text is None:
        return default
    try:
        values = token_values(split_tokens(text))
    except NumberFault as fault:
        raise ElementFault(element, f"{what}: {fault}") from None
    if len(values) < len(default):
        raise ElementFault(element, f"{what} has {len(values)} numbers, needs {len(default)}")
    if len(values) > len(default):
        warnings.append(f"{element}: surplus numbers in {what} are ignored.")
    return values[: len(default)]


def _read_poses(element: Element, clip: str, watch: LoadWatch, warnings: list[str]) -> tuple[str, Float64]:
    """Name and poses of a track, shape (count, 7) or, with scales, (count, 10)."""
    attribute = attributes(element)
    name = attribute.get("name", "")
    title = f"AnimTrack {quoted(name)} of {clip}"
    try:
        values = parse_numbers(payload(element), watch)
    except NumberFault as fault:
        raise ElementFault(title, str(fault)) from None
    stride = 10 if attribute.get("has_scale", "").strip().lower() in _TRUE else 7
    count = parse_count(title, "count", attribute)
    if count is None:
        count = len(values) // stride
    elif len(values) != count * stride and len(values) == count * (17 - stride):
        stride = 17 - stride
    count = checked_count(title, len(values), count, stride, "pose", warnings)
    return name, values[: count * stride].reshape(count, stride)


def _tracks(stored: list[tuple[str, Float64]], clip: str) -> list[RawTrack]:
    """Tracks in order; all poses are checked and brought to unit quaternions together, which is much faster."""
    orientations = np.concatenate([np.empty((0, 4)), *(poses[:, 3:7] for _, poses in stored)])
    rest = np.concatenate([np.empty(0), *(poses.ravel() for _, poses in stored)])
    if not (np.abs(rest) <= MAX_MAGNITUDE).all():
        for name, poses in stored:
            check_magnitude(f"AnimTrack {quoted(name)} of {clip}", "pose", poses)
    orientations = unit_quaternions(orientations)
    tracks = []
    start = 0
    for name, poses in stored:
        end = start + len(poses)
        scales = poses[:, 7:] if poses.shape[1] == 10 else None
        tracks.append(RawTrack(name, poses[:, :3], orientations[start:end], scales))
        start = end
    return tracks


def _seconds(attribute: dict[str, str], name: str) -> float:
    """A duration as stored, or 0 where it is absent or no number; the timing rule judges it later."""
    try:
        values = token_values(split_tokens(attribute.get(name, "")))
    except NumberFault:
        return 0.0
    return values[0] if values and math.isfinite(values[0]) else 0.0
