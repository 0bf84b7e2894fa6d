"""Biovision motion capture files (BVH); the format has no unit of length.

Source: M. Meredith and S. Maddock, "Motion Capture File Formats Explained", 2001.
"""

import codecs
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.faults import MAX_JOINTS, ElementFault, check_magnitude, quoted
from sinew.sim.assets.raw import LoadWatch, RawBone, RawClip, RawModel, RawSkeleton, RawTrack
from sinew.sim.maths.quaternion import multiply

Float64 = npt.NDArray[np.float64]

AXES = {"X": 0, "Y": 1, "Z": 2}
CHANNELS_MAX = 6
FRAME_TIMES = 1e-6, 1e3
"""Smallest and largest time of a frame [s]."""

VALUES_MAX = 60_000_000
STEP_FRAMES = 4096
"""Number of frames that are converted between two checks for cancelling."""


@dataclass(slots=True)
class _Joint:
    name: str
    parent: int
    line: int
    offset: Float64 = field(default_factory=lambda: np.zeros(3))
    channels: list[tuple[str, int]] = field(default_factory=list)  # "position" or "rotation", and the axis
    first: int = 0  # Column of its first channel


def is_bvh(start: bytes) -> bool:
    return _text(start).lstrip("\ufeff \t\r\n").upper().startswith("HIERARCHY")


def read_bvh(data: bytes, path: Path, watch: LoadWatch) -> RawModel:
    """Reads a BVH file; End Sites become joints without keys, errors name the line."""
    text = _text(data)
    model = RawModel(path, "bvh", None, asset_name=path.name, up_axis="Y")
    head, mark, motion = _parted(text)
    joints = _joints(head)
    if not joints:
        raise ElementFault("HIERARCHY", "has no ROOT")
    names = _unique_names(joints)
    bones = [
        RawBone(name, joint.parent, joint.offset, np.array([0.0, 0.0, 0.0, 1.0]), np.ones(3))
        for name, joint in zip(names, joints, strict=True)
    ]
    model.skeletons.append(RawSkeleton(path.stem, bones))
    if not mark:
        model.warnings.append("The file has no MOTION.")
        return model
    columns = sum(len(joint.channels) for joint in joints)
    frame_time, declared, values = _motion(motion, head.count("\n") + 1)
    whole = len(values) // columns if columns else 0
    count = min(declared, whole)
    if declared > whole:
        model.warnings.append(f"MOTION has {whole} whole frames, {declared} are declared.")
    elif len(values) != declared * columns:
        model.warnings.append(f"MOTION has more values than its {declared} frames need; they are ignored.")
    if count:
        table = values[: count * columns].reshape(count, columns)
        check_magnitude("MOTION", "frame", table)
        model.clips.append(
            RawClip(path.stem, count, (count - 1) * frame_time, frame_time, _tracks(joints, names, table, watch))
        )
    watch.finish()
    return model


def _text(data: bytes) -> str:
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _parted(text: str) -> tuple[str, str, str]:
    position = 0
    for line in text.splitlines(keepends=True):
        if line.strip().upper() == "MOTION":
            return text[:position], line, text[position + len(line) :]
        position += len(line)
    return text, "", ""


def _joints(head: str) -> list[_Joint]:
    joints: list[_Joint] = []
    opened: list[int] = []
    is_pending = False  # a joint was named and its brace has not been read yet
    columns = 0
    for number, line in enumerate(head.splitlines(), start=1):
        rest = line.replace("\ufeff", "").strip()
        while rest:
            place = f"line {number}"
            word, _, after = rest.partition(" ") if " " in rest else rest.partition("\t")
            key, rest_of_line = word.upper(), after.strip()
            if rest[0] in "{}":
                if rest[0] == "{":
                    if not is_pending:
                        raise ElementFault(place, "'{' without a joint")
                    opened.append(len(joints) - 1)
                    is_pending = False
                elif not opened:
                    raise ElementFault(place, "'}' without '{'")
                else:
                    opened.pop()
                rest = rest[1:].strip()
                continue
            if key == "HIERARCHY":
                rest = rest_of_line
                continue
            if is_pending:
                raise ElementFault(place, f"'{{' is missing after {quoted(joints[-1].name)}")
            if key in ("ROOT", "JOINT", "END"):
                if len(joints) >= MAX_JOINTS:
                    raise ElementFault(place, f"there are more than {MAX_JOINTS} joints")
                if (key == "ROOT") == bool(opened):
                    raise ElementFault(place, f"{word} {'inside' if opened else 'outside'} of a joint")
                name, brace, _ = rest_of_line.partition("{")
                parent = opened[-1] if opened else -1
                if key == "END":
                    name = f"{joints[parent].name} end"
                joints.append(_Joint(name.strip() or f"joint {len(joints)}", parent, number))
                is_pending = True
                rest = brace + rest_of_line.partition("{")[2]
            elif key == "OFFSET" and opened:
                numbers, rest = _numbers(place, word, rest_of_line, 3)
                joints[opened[-1]].offset = numbers
                check_magnitude(place, "OFFSET", numbers)
            elif key == "CHANNELS" and opened:
                joint = joints[opened[-1]]
                joint.channels, rest = _channels(place, rest_of_line)
                joint.first = columns
                columns += len(joint.channels)
            else:
                raise ElementFault(place, f"unknown keyword {quoted(word)}")
    if opened or is_pending:
        raise ElementFault("HIERARCHY", f"{quoted(joints[opened[-1] if opened else -1].name)} is not closed")
    return joints


def _numbers(place: str, word: str, text: str, count: int) -> tuple[Float64, str]:
    words = text.replace("}", " } ").split()
    try:
        values = np.array([float(number) for number in words[:count]])
    except ValueError:
        raise ElementFault(place, f"{word} is not made of {count} numbers") from None
    if len(values) != count:
        raise ElementFault(place, f"{word} is not made of {count} numbers")
    return values, " ".join(words[count:])


def _channels(place: str, text: str) -> tuple[list[tuple[str, int]], str]:
    """Parses the channels after their number; returns them and the text that follows."""
    words = text.replace("{", " { ").replace("}", " } ").split()
    is_number = bool(words) and words[0].isascii() and words[0].isdigit() and len(words[0]) < 4
    count = int(words[0]) if is_number else -1
    if not 0 <= count <= CHANNELS_MAX or len(words) <= count:
        raise ElementFault(place, f"CHANNELS needs a number from 0 to {CHANNELS_MAX} and as many names")
    channels = [_channel(place, name) for name in words[1 : count + 1]]
    if len(set(channels)) != count:
        raise ElementFault(place, "a channel is there twice")
    return channels, " ".join(words[count + 1 :])


def _channel(place: str, name: str) -> tuple[str, int]:
    axis, kind = name[:1].upper(), name[1:].lower()
    if axis not in AXES or kind not in ("position", "rotation"):
        raise ElementFault(place, f"unknown channel {quoted(name)}")
    return kind, AXES[axis]


def _unique_names(joints: list[_Joint]) -> list[str]:
    taken: set[str] = set()
    names = []
    for joint in joints:
        name, number = joint.name, 1
        while name in taken:
            number += 1
            name = f"{joint.name} {number}"
        taken.add(name)
        names.append(name)
    return names


def _motion(text: str, before: int) -> tuple[float, int, Float64]:
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
            (frame_time,), _ = _numbers(place, "the frame time", value, 1)
            if not FRAME_TIMES[0] <= frame_time <= FRAME_TIMES[1]:
                raise ElementFault(
                    place, f"a frame takes {frame_time:.9g} s, {FRAME_TIMES[0]} to {FRAME_TIMES[1]} are read"
                )
        elif words:
            raise ElementFault(place, f"unknown keyword {quoted(key)}")
    if declared < 0 or not frame_time:
        raise ElementFault("MOTION", "the number of frames or the frame time is missing")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            values: Float64 = np.fromstring(text[at:], np.float64, sep=" ")
        except (DeprecationWarning, ValueError):
            raise ElementFault("MOTION", _bad_value(text[at:])) from None
    if len(values) > VALUES_MAX:
        raise ElementFault("MOTION", f"has more than {VALUES_MAX:,} values")
    return float(frame_time), declared, values


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
