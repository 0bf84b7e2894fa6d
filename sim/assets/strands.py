"""Strands, polylines from roots to tips, and their files: HAIR and TressFX, both little-endian.

Sources: C. Yuksel, "HAIR file format"; AMD TressFX 4, `TressFXFileFormat.h`.
"""

import struct
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from sinew.sim.assets.faults import ElementFault, check_magnitude
from sinew.sim.assets.formats import STRAND_FORMATS, StrandFormat, resolved
from sinew.sim.assets.load import read_bytes
from sinew.sim.assets.raw import ModelError, reading
from sinew.sim.maths.arrays import Bool, Float32, Float64, Intp

POINTS_MAX = 128
"""Maximum number of points of a strand that are used; longer strands are thinned out evenly."""

_HALVINGS = 34


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class StrandSet:
    """Strands in the units and axes of their file.

    Attributes:
        starts: First point of each strand, and the total number of points; shape (N + 1,).
        points: shape (P, 3).
        thickness: Of each point, shape (P,), or of each strand, shape (N,); or None.
        colours: Of each point, 0 to 1 as stored, shape (P, 3); or None.
        unit: Usual unit of the format [m].
        is_z_up: Whether z is the usual up axis of the format, else y.
    """

    starts: Intp
    points: Float32
    thickness: Float32 | None = None
    colours: Float32 | None = None
    unit: float = 1.0
    is_z_up: bool = False

    @property
    def count(self) -> int:
        return len(self.starts) - 1

    def points_of(self, numbers: Intp) -> Float64:
        """Returns at most `POINTS_MAX` points per strand, shape (n, M, 3); shorter strands repeat their last point."""
        first, many = self.starts[numbers], np.diff(self.starts)[numbers]
        most = int(min(many.max(initial=1), POINTS_MAX))
        rank = np.arange(most)
        spread = np.rint(rank * ((many[:, None] - 1) / max(most - 1, 1))).astype(np.intp)
        places = first[:, None] + np.where(many[:, None] > most, spread, np.minimum(rank, many[:, None] - 1))
        return self.points[places].astype(np.float64)


def checked_set(starts: Intp, points: Float32, thickness: Float32 | None, colours: Float32 | None) -> StrandSet:
    """Checks strands and makes the set; errors name the strand."""
    many = np.diff(starts)
    if not (many >= 2).any():
        raise ElementFault("", "no strand has a segment")
    for what, values in (("point", points), ("thickness", thickness), ("colour", colours)):
        if values is None or bool(np.isfinite(values).all()):
            continue
        row = int(np.argwhere(~np.isfinite(values))[0, 0])
        strand = int(np.searchsorted(starts, row, side="right")) - 1 if len(values) == starts[-1] else row
        raise ElementFault(f"strand {strand}", f"its {what} {row - int(starts[strand])} is not finite")
    check_magnitude("strands", "point", points)
    return StrandSet(starts, points, thickness, colours)


def resampled(lines: Float64, segments: int) -> tuple[Float64, Float64]:
    """Returns points on polylines (N, M, 3) at equal straight-line distances, with the same roots and tips.

    Bisection finds the distance: with a longer one the tip is passed before the last point.

    Args:
        lines: The polylines, whose last points may be repeated.
        segments: Segments of each result.

    Returns:
        Points, shape (N, segments + 1, 3), and segment lengths, shape (N,); 0 for a polyline of zero length.
    """
    reach = np.linalg.norm(lines[:, -1] - lines[:, 0], axis=1)
    arc = np.linalg.norm(np.diff(lines, axis=1), axis=2).sum(axis=1)
    low, high = reach / segments, np.maximum(arc, reach) / segments * (1.0 + 1e-9)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        too_long = _walk(lines, middle, segments)[1]
        low, high = np.where(too_long, low, middle), np.where(too_long, middle, high)
    knots, _ = _walk(lines, low, segments)
    knots[:, -1] = lines[:, -1]
    return knots, 0.5 * (low + high)


def _walk(lines: Float64, chord: Float64, segments: int) -> tuple[Float64, Bool]:
    """Returns points (N, segments + 1, 3) at distances (N,), and True where the tip was passed too early."""
    count, last = len(lines), lines.shape[1] - 1
    rows, at = np.arange(count), np.zeros(count, np.intp)
    knots = np.empty((count, segments + 1, 3))
    knots[:, 0] = lines[:, 0]
    passed = np.zeros(count, bool)
    for number in range(1, segments + 1):
        knot = knots[:, number - 1]
        open_rows = rows
        while len(open_rows):
            # The first point that is farther away than the chord ends the segment that the next knot is in.
            beyond = lines[open_rows, np.minimum(at[open_rows] + 1, last)] - knot[open_rows]
            near = np.einsum("nx,nx->n", beyond, beyond) < chord[open_rows] ** 2
            open_rows = open_rows[near & (at[open_rows] < last)]
            at[open_rows] += 1
        begin, end = lines[rows, np.minimum(at, last)], lines[rows, np.minimum(at + 1, last)]
        along, off = end - begin, begin - knot
        square = np.einsum("nx,nx->n", along, along)
        half = np.einsum("nx,nx->n", along, off)
        rest = np.einsum("nx,nx->n", off, off) - chord**2
        root = np.sqrt(np.maximum(half**2 - square * rest, 0.0))
        share = np.clip((root - half) / np.maximum(square, 1e-300), 0.0, 1.0)
        ended = at >= last
        passed |= ended
        knots[:, number] = np.where(ended[:, None], lines[:, -1], begin + share[:, None] * along)
    return knots, passed


_HAIR_HEADER = struct.Struct("<4s4I5f88s")
_SEGMENTS, _POINTS, _THICKNESS, _TRANSPARENCY, _COLOURS = 1, 2, 4, 8, 16


def read_hair(data: bytes) -> StrandSet:
    """Reads a HAIR file; the number of points may differ between strands."""
    if len(data) < _HAIR_HEADER.size:
        raise ElementFault("header", f"has {len(data)} bytes, {_HAIR_HEADER.size} are needed")
    magic, strands, points, flags, segments, *_ = _HAIR_HEADER.unpack_from(data)
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
    begins, end = {}, _HAIR_HEADER.size
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
        raise ElementFault("segments", f"have {starts[-1]} points, there are {points}")
    read = {
        name: np.frombuffer(data, "<f4", sizes[name] // 4, begins[name]) if sizes[name] else None
        for name in ("points", "thickness", "colours")
    }
    places, colours = read["points"], read["colours"]
    assert places is not None
    tinted = None if colours is None else colours.reshape(-1, 3)
    return checked_set(starts, places.reshape(-1, 3), read["thickness"], tinted)


_TFX_HEADER = struct.Struct("<f7I")
_POINTS_MIN, _POINTS_MAX = 4, 64


def read_tfx(data: bytes) -> StrandSet:
    if len(data) < _TFX_HEADER.size:
        raise ElementFault("header", f"has {len(data)} bytes, {_TFX_HEADER.size} are needed")
    version, strands, points, places, _, _, thickness, colours = _TFX_HEADER.unpack_from(data)
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
    end = start + 4 * width * count
    if start < _TFX_HEADER.size or end > len(data):
        raise ElementFault(name, f"are at bytes {start} to {end}, the file has {len(data)}")
    return np.frombuffer(data, "<f4", width * count, start).reshape(count, width)


def load_strands(path: Path | str) -> StrandSet:
    """Loads strands; raises ModelError, one line with file, element and reason, if the file cannot be used."""
    path = Path(path)
    data = read_bytes(path)
    with reading(partial(ModelError, path)):
        known = _format_of(data, path)
        known.check_library()
        found: StrandSet = resolved(known.reader)(path if known.by_path else data)
        return found if known.by_path else replace(found, unit=known.unit, is_z_up=known.is_z_up)


def _format_of(data: bytes, path: Path) -> StrandFormat:
    if not data:
        raise ElementFault("", "the file is empty")
    for known in STRAND_FORMATS:
        if known.magic and data.startswith(known.magic):
            return known
    for known in STRAND_FORMATS:
        if not known.magic and known.has_suffix(path):
            return known
    raise ElementFault("", f"this is neither {' nor '.join(known.name for known in STRAND_FORMATS)}")
