"""Biovision motion capture files (BVH); the format has no unit of length.

Source: M. Meredith and S. Maddock, "Motion Capture File Formats Explained", 2001.
"""

import codecs
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sinew.sim.assets.faults import MAX_JOINTS, ElementFault, check_magnitude, quoted
from sinew.sim.assets.raw import LoadWatch, RawBone, RawClip, RawModel, RawSkeleton, RawTrack
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.quaternion import multiply
from sinew.sim.printable import numbered

AXES = {"X": 0, "Y": 1, "Z": 2}
CHANNELS_MAX = 6
FRAME_TIMES = 1e-6, 1e3
"""Smallest and largest time of a frame [s]."""

_BLANK = re.compile(r"\s")

VALUES_MAX = 60_000_000
POSES_MAX = 12_000_000
"""Maximum number of poses of all joints; each takes about 300 bytes."""

FREE_POSES = 1_000_000
BYTES_OF_POSE = 4
"""Least size of the text for each pose above `FREE_POSES`: three numbers and their blanks, and joints without."""

NAME_MAX = 1000
_KEY_MAX = 20
_BLOCK = 1 << 20
"""Number of characters that are parsed at a time, between questions whether the load was cancelled."""


@dataclass(slots=True)
class _Joint:
    name: str
    parent: int
    offset: Float64 = field(default_factory=lambda: np.zeros(3))
    channels: list[tuple[str, int]] = field(default_factory=list)  # "position" or "rotation", and the axis
    first: int = 0  # Column of its first channel
    is_end: bool = False  # Whether it is an End Site


def is_bvh(start: bytes) -> bool:
    return _text(start).lstrip("\ufeff \t\r\n").upper().startswith("HIERARCHY")


def read_bvh(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    """Reads a BVH file; End Sites become joints without keys, errors name the line."""
    text = _text(data)
    model = RawModel(path, "bvh", None, asset_name=path.name, up_axis="Y")
    head, *motion = re.split(r"^[ \t]*MOTION[ \t\r]*$", text, maxsplit=1, flags=re.IGNORECASE | re.MULTILINE)
    joints = _joints(head, watch)
    if not joints:
        raise ElementFault("HIERARCHY", "has no ROOT")
    taken: set[str] = set()
    names = [numbered(joint.name, taken) for joint in joints]
    bones = [
        RawBone(name, joint.parent, joint.offset, np.array([0.0, 0.0, 0.0, 1.0]), np.ones(3))
        for name, joint in zip(names, joints, strict=True)
    ]
    model.skeletons.append(RawSkeleton(path.stem, bones))
    if not motion:
        model.warnings.append("The file has no MOTION.")
        return model
    columns = sum(len(joint.channels) for joint in joints)
    frame_time, declared, values = _motion(motion[0], head.count("\n"), watch)
    whole = len(values) // columns if columns else 0
    count = min(declared, whole)
    if declared > whole:
        model.warnings.append(f"MOTION has {whole} whole frames, {declared} are declared.")
    elif len(values) != declared * columns:
        model.warnings.append(f"MOTION has more values than its {declared} frames need; they are ignored.")
    if count:
        poses, limit = count * len(joints), min(max(FREE_POSES, len(data) // BYTES_OF_POSE), POSES_MAX)
        if poses > limit:
            reason = f"has {poses:,} poses ({count:,} frames of {len(joints):,} joints)"
            raise ElementFault("MOTION", f"{reason}; a file of this size may have {limit:,}")
        table = values[: count * columns].reshape(count, columns)
        check_magnitude("MOTION", "frame", table)
        model.clips.append(
            RawClip(path.stem, count, (count - 1) * frame_time, frame_time, _tracks(joints, names, table, watch))
        )
    watch.finish()
    return model


def _text(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _joints(head: str, watch: LoadWatch) -> list[_Joint]:
    joints: list[_Joint] = []
    opened: list[int] = []
    is_pending = False  # a joint was named and its brace has not been read yet
    columns = 0
    for number, line in enumerate(head.splitlines(), start=1):
        watch.advance()
        place = f"line {number}"
        for part in re.finditer(r"[{}]|[^{}]+", line.replace("\ufeff", "")):
            words, at = part[0].split(), 0
            while at < len(words):
                word = words[at]
                key, at = word[:_KEY_MAX].upper(), at + 1
                if key == "HIERARCHY":
                    continue
                if is_pending != (key == "{"):
                    reason = f"'{{' is missing after {quoted(joints[-1].name)}" if is_pending else "'{' without a joint"
                    raise ElementFault(place, reason)
                if key == "{":
                    opened.append(len(joints) - 1)
                    is_pending = False
                elif key == "}" and opened:
                    opened.pop()
                elif key in ("ROOT", "JOINT", "END"):
                    if len(joints) >= MAX_JOINTS:
                        raise ElementFault(place, f"there are more than {MAX_JOINTS} joints")
                    if (key == "ROOT") == bool(opened):
                        raise ElementFault(place, f"{word} {'inside' if opened else 'outside'} of a joint")
                    parent = opened[-1] if opened else -1
                    if key == "END" and joints[parent].is_end:
                        raise ElementFault(place, "End Site inside of an End Site")
                    name = f"{joints[parent].name} end" if key == "END" else " ".join(words[at:])
                    if len(name) > NAME_MAX:
                        raise ElementFault(place, f"a name has {len(name):,} characters, more than {NAME_MAX:,}")
                    joints.append(_Joint(name or f"joint {len(joints)}", parent, is_end=key == "END"))
                    is_pending, at = True, len(words)
                elif key == "OFFSET" and opened:
                    offset = joints[opened[-1]].offset = _numbers(place, word, words[at : at + 3], 3)
                    check_magnitude(place, "OFFSET", offset)
                    at += 3
                elif key == "CHANNELS" and opened:
                    joint = joints[opened[-1]]
                    if joint.channels:
                        raise ElementFault(place, f"{quoted(joint.name)} has CHANNELS twice")
                    joint.channels = _channels(place, words[at : at + 1 + CHANNELS_MAX])
                    joint.first = columns
                    columns += len(joint.channels)
                    at += 1 + len(joint.channels)
                else:
                    raise ElementFault(place, "'}' without '{'" if key == "}" else f"unknown keyword {quoted(word)}")
    if opened or is_pending:
        raise ElementFault("HIERARCHY", f"{quoted(joints[opened[-1] if opened else -1].name)} is not closed")
    return joints


def _numbers(place: str, what: str, words: list[str], count: int) -> Float64:
    try:
        values = np.array([float(word) for word in words])
    except ValueError:
        values = np.zeros(0)
    if len(values) != count:
        raise ElementFault(place, f"{what} is not made of {count} numbers")
    return values


def _channels(place: str, words: list[str]) -> list[tuple[str, int]]:
    """Parses a number of channels and their names."""
    is_number = bool(words) and words[0].isascii() and words[0].isdigit() and len(words[0]) < 4
    count = int(words[0]) if is_number else -1
    if not 0 <= count <= CHANNELS_MAX or len(words) <= count:
        raise ElementFault(place, f"CHANNELS needs a number from 0 to {CHANNELS_MAX} and as many names")
    channels = []
    for name in words[1 : count + 1]:
        axis, kind = name[:1].upper(), name[1:].lower()
        if axis not in AXES or kind not in ("position", "rotation"):
            raise ElementFault(place, f"unknown channel {quoted(name)}")
        channels.append((kind, AXES[axis]))
    if len(set(channels)) != count:
        raise ElementFault(place, "a channel is there twice")
    return channels


def _motion(text: str, before: int, watch: LoadWatch) -> tuple[float, int, Float64]:
    """Parses the motion: time of a frame [s], declared number of frames, and all values."""
    lines = text.split("\n", 16)
    declared, frame_time, at = -1, 0.0, 0
    for number, line in enumerate(lines[:16]):
        key, colon, value = line.partition(":")
        words = key.upper().split()
        if not colon and words:
            break
        place = f"line {before + number + 1}"
        at += len(line) + 1
        if words == ["FRAMES"]:
            if not (value.strip().isascii() and value.strip().isdigit()) or len(value.strip()) > 9:
                raise ElementFault(place, "the number of frames is not a whole number")
            declared = int(value)
        elif words == ["FRAME", "TIME"]:
            (frame_time,) = _numbers(place, "the frame time", value.split()[:1], 1)
            if not FRAME_TIMES[0] <= frame_time <= FRAME_TIMES[1]:
                raise ElementFault(
                    place, f"a frame takes {frame_time:.9g} s, {FRAME_TIMES[0]} to {FRAME_TIMES[1]} are read"
                )
        elif words:
            raise ElementFault(place, f"unknown keyword {quoted(key)}")
    if declared < 0 or not frame_time:
        raise ElementFault("MOTION", "the number of frames or the frame time is missing")
    blocks, count = [np.zeros(0)], 0
    while at < len(text):
        watch.advance()
        blank = _BLANK.search(text, at + _BLOCK)
        end = blank.start() if blank else len(text)
        blocks.append(_values(text[at:end]))
        at, count = end, count + len(blocks[-1])
        if count > VALUES_MAX:
            raise ElementFault("MOTION", f"has more than {VALUES_MAX:,} values")
    values: Float64 = np.concatenate(blocks)
    return float(frame_time), declared, values


def _values(text: str) -> Float64:
    if text.isspace():
        return np.zeros(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            values: Float64 = np.fromstring(text, np.float64, sep=" ")
        except (DeprecationWarning, ValueError):
            raise ElementFault("MOTION", _bad_value(text)) from None
    return values


def _bad_value(text: str) -> str:
    for word in text.split():
        try:
            float(word)
        except ValueError:
            return f"{quoted(word)} is not a number"
    return "has values that are no numbers"


def _tracks(joints: list[_Joint], names: list[str], table: Float64, watch: LoadWatch) -> list[RawTrack]:
    """Returns the tracks; a position replaces the offset, rotations apply from the last to the first."""
    tracks = []
    watch.total = len(joints)
    for name, joint in zip(names, joints, strict=True):
        watch.advance(1)
        if not joint.channels:
            continue
        count = len(table)
        positions = np.repeat(joint.offset[None], count, axis=0)
        orientations = np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))
        for column, (kind, axis) in enumerate(joint.channels, start=joint.first):
            if kind == "position":
                positions[:, axis] = table[:, column]
                continue
            half = np.radians(table[:, column]) / 2.0
            turn = np.zeros((count, 4))
            turn[:, axis], turn[:, 3] = np.sin(half), np.cos(half)
            orientations = multiply(orientations, turn)
        tracks.append(RawTrack(name, positions, orientations, None))
    return tracks
