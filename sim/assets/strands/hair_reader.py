"""Reads HAIR files: strands of any number of points, with thickness and colour; little-endian.

Source: C. Yuksel, "HAIR file format", the header of 128 bytes and the five arrays after it.
"""

import struct

import numpy as np

from sim.assets.faults import ElementFault
from sim.assets.strands.strand_set import StrandSet, checked_set

_HEADER = struct.Struct("<4s4I5f88s")
_SEGMENTS, _POINTS, _THICKNESS, _TRANSPARENCY, _COLOURS = 1, 2, 4, 8, 16


def read_hair(data: bytes) -> StrandSet:
    """The strands of a file.

    Raises:
        ElementFault: If it cannot be used.
    """
    if len(data) < _HEADER.size:
        raise ElementFault("header", f"has {len(data)} bytes, {_HEADER.size} are needed")
    magic, strands, points, flags, segments, *_ = _HEADER.unpack_from(data)
    if magic != b"HAIR":
        raise ElementFault("header", "does not begin with HAIR")
    if strands == 0:
        raise ElementFault("header", "has 0 strands")
    if not flags & _POINTS:
        raise ElementFault("header", "says that there are no points")
    sizes = {
        "segments": 2 * strands * bool(flags & _SEGMENTS), "points": 12 * points,
        "thickness": 4 * points * bool(flags & _THICKNESS),
        "transparency": 4 * points * bool(flags & _TRANSPARENCY), "colours": 12 * points * bool(flags & _COLOURS),
    }  # fmt: skip
    begins, end = {}, _HEADER.size
    for name, size in sizes.items():
        begins[name], end = end, end + size
        if end > len(data):
            raise ElementFault(name, f"{strands} strands of {points} points need {end} bytes, there are {len(data)}")
    if not sizes["segments"] and strands * (segments + 1) != points:
        raise ElementFault("header", f"{strands} strands of {segments} segments do not have {points} points")
    many = np.full(strands, segments, np.intp)
    if sizes["segments"]:
        many = np.frombuffer(data, "<u2", strands, begins["segments"]).astype(np.intp)
    starts = np.concatenate([np.zeros(1, np.intp), np.cumsum(many + 1)])
    if starts[-1] != points:
        raise ElementFault("segments", f"are those of {starts[-1]} points, there are {points}")
    read = {
        name: np.frombuffer(data, "<f4", sizes[name] // 4, begins[name]) if sizes[name] else None
        for name in ("points", "thickness", "colours")
    }
    places, colours = read["points"], read["colours"]
    assert places is not None
    tinted = None if colours is None else colours.reshape(-1, 3)
    return checked_set(starts, places.reshape(-1, 3), read["thickness"], tinted)
