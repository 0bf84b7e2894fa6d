"""Skeletons and animations of EZMesh text."""

import math

import numpy as np
import numpy.typing as npt

from sim.assets.ezm_vertices import checked_count, parse_count
from sim.assets.ezm_xml import Element, attributes, children, payload
from sim.assets.faults import ElementFault, quoted
from sim.assets.hierarchy import parents_by_name
from sim.assets.load_watch import LoadWatch
from sim.assets.number_text import NumberFault, parse_numbers, parse_tokens, split_tokens
from sim.assets.quaternions import unit_quaternions
from sim.assets.raw import RawBone, RawClip, RawSkeleton, RawTrack

Float64 = npt.NDArray[np.float64]

MAX_JOINTS = 16384
# Values beyond this are no coordinates; products along a chain of joints must stay finite.
MAX_MAGNITUDE = 1e12

_TRUE = ("true", "1", "yes")


def read_skeleton(element: Element, warnings: list[str]) -> RawSkeleton:
    """The joints of a `Skeleton` element, in file order.

    Raises:
        ElementFault: For transforms that are not numbers or not usable, or too many joints.
    """
    name = attributes(element).get("name", "")
    described = [attributes(child) for child in children(element, "bone")]
    if len(described) > MAX_JOINTS:
        raise ElementFault(f"Skeleton {quoted(name)}", f"has {len(described)} bones, more than {MAX_JOINTS}")
    names = [bone.get("name", "") for bone in described]
    parents, notes = parents_by_name(names, [bone.get("parent") for bone in described])
    warnings.extend(notes)
    bones = []
    for index, bone in enumerate(described):
        title = f"Bone {quoted(names[index])}"
        position = _vector(title, "position", bone, (0.0, 0.0, 0.0), warnings)
        orientation = _vector(title, "orientation", bone, (0.0, 0.0, 0.0, 1.0), warnings)
        scale = _vector(title, "scale", bone, (1.0, 1.0, 1.0), warnings)
        bones.append(RawBone(names[index], parents[index], position, unit_quaternions(orientation), scale))
    return RawSkeleton(name, bones)


def read_clip(element: Element, watch: LoadWatch, warnings: list[str]) -> RawClip:
    """The tracks of an `Animation` element.

    Raises:
        ElementFault: For payloads that are short, not numbers or not usable.
    """
    attribute = attributes(element)
    name = attribute.get("name", "")
    tracks = [_read_track(child, name, watch, warnings) for child in children(element, "animtrack")]
    title = f"Animation {quoted(name)}"
    frames = max((len(track.positions) for track in tracks), default=0)
    try:
        frames = frames or parse_count(title, "framecount", attribute) or 0
    except ElementFault:
        warnings.append(f"{title}: framecount {quoted(attribute['framecount'])} is not a number.")
    return RawClip(name, frames, _seconds(attribute, "duration"), _seconds(attribute, "dtime"), tracks)


def check_transforms(element: str, what: str, values: Float64) -> None:
    """Refuse values that cannot be coordinates.

    Raises:
        ElementFault: If a value is not finite or far too large.
    """
    magnitude = np.abs(values)
    if not (magnitude <= MAX_MAGNITUDE).all():
        value = values[~(magnitude <= MAX_MAGNITUDE)][0]
        raise ElementFault(element, f"{what} has the unusable value {value:.9g}")


def _vector(
    element: str, what: str, attribute: dict[str, str], default: tuple[float, ...], warnings: list[str]
) -> Float64:
    text = attribute.get(what)
    if text is None:
        return np.array(default)
    try:
        values = parse_tokens(split_tokens(text))
    except NumberFault as fault:
        raise ElementFault(element, f"{what}: {fault}") from None
    if len(values) < len(default):
        raise ElementFault(element, f"{what} has {len(values)} numbers, needs {len(default)}")
    if len(values) > len(default):
        warnings.append(f"{element}: surplus numbers in {what} are ignored.")
    values = values[: len(default)]
    check_transforms(element, what, values)
    return values


def _read_track(element: Element, clip: str, watch: LoadWatch, warnings: list[str]) -> RawTrack:
    attribute = attributes(element)
    name = attribute.get("name", "")
    title = f"AnimTrack {quoted(name)} of animation {quoted(clip)}"
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
    poses = values[: count * stride].reshape(count, stride)
    check_transforms(title, "a pose", poses)
    scales = poses[:, 7:].copy() if stride == 10 else None
    return RawTrack(name, poses[:, :3].copy(), unit_quaternions(poses[:, 3:7]), scales)


def _seconds(attribute: dict[str, str], name: str) -> float:
    """A duration as stored, or 0 where it is absent or no number; the timing rule judges it later."""
    try:
        values = parse_tokens(split_tokens(attribute.get(name, "")))
    except NumberFault:
        return 0.0
    return float(values[0]) if len(values) and math.isfinite(values[0]) else 0.0
