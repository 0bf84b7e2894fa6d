"""Reads TressFX files: strands of one number of points, with thickness and colour; little-endian.

Source: AMD TressFX 4, `TressFXFileFormat.h`.
"""

import struct

import numpy as np

from sim.assets.faults import ElementFault
from sim.assets.strands.strand_set import Float32, StrandSet, checked_set

_HEADER = struct.Struct("<f7I")
_POINTS_MIN, _POINTS_MAX = 4, 64


def read_tfx(data: bytes) -> StrandSet:
    """The strands of a file.

    Raises:
        ElementFault: If it cannot be used.
    """
    if len(data) < _HEADER.size:
        raise ElementFault("header", f"has {len(data)} bytes, {_HEADER.size} are needed")
    version, strands, points, places, _, _, thickness, colours = _HEADER.unpack_from(data)
    if not 1.0 <= version <= 100.0:
        raise ElementFault("header", f"has the version {version:.6g}")
    if strands == 0:
        raise ElementFault("header", "has 0 strands")
    if not _POINTS_MIN <= points <= _POINTS_MAX:
        raise ElementFault("header", f"has {points} points a strand, {_POINTS_MIN} to {_POINTS_MAX} are read")
    found = _array(data, "points", places, strands * points, 4)
    widths = _array(data, "thickness", thickness, strands, 1) if thickness else None
    tints = _array(data, "colours", colours, strands * points, 4) if colours else None
    starts = np.arange(strands + 1, dtype=np.intp) * points
    return checked_set(
        starts, found[:, :3], None if widths is None else widths[:, 0], None if tints is None else tints[:, :3]
    )


def _array(data: bytes, name: str, start: int, count: int, width: int) -> Float32:
    """Rows of numbers at a place of the file, shape (count, width)."""
    end = start + 4 * width * count
    if start < _HEADER.size or end > len(data):
        raise ElementFault(name, f"lie at bytes {start} to {end}, the file has {len(data)}")
    return np.frombuffer(data, "<f4", width * count, start).reshape(count, width)
