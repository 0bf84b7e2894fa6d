"""Readers of panoramas: Radiance `.hdr`, and OpenEXR `.exr` with an optional package.

Source: G. Ward 1991, "Real Pixels", Graphics Gems II; the format as in Radiance's `color.c`.
"""

import importlib.util
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.apart import read_apart
from sinew.sim.assets.environment import PANORAMA_MAX, Panorama, panorama, reduced_bands
from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.images import ImageError
from sinew.sim.assets.load import read_bytes
from sinew.sim.assets.raw import ModelError, reading
from sinew.sim.maths.arrays import Bool, Float32, Int32, UInt8
from sinew.sim.printable import size_text

SIDE_MAX = 8192
"""Longest side of a panorama [pixels]."""

PIXEL_MAX = 1 << 25

BRIGHTEST = 1e8

DECODED_MAX = 3 << 30
"""Maximum size of all channels of an OpenEXR file [bytes]: rows are decompressed with all their channels."""

_RESOLUTION = re.compile(rb"([+-])Y (\d{1,9}) \+X (\d{1,9})")
_HEADER_MAX = 1 << 16
_PACKED = range(8, 1 << 15)
"""Widths whose rows may have their channels packed separately."""

_ROWS = 512
"""Number of rows that are unpacked together, and the least number for which that is faster than one by one."""
_ROWS_MIN = 16


def load_panorama(path: Path) -> Panorama:
    """Reads a panorama, the largest in some seconds; raises ImageError with one line if the file cannot be used."""
    with reading(lambda element, reason: ImageError(path, f"{element}: {reason}" if element else reason)):
        try:
            data = read_bytes(path)
        except ModelError as error:
            raise ImageError(path, error.reason) from None
        return panorama(_exr(path) if data.startswith(b"v/1\x01") else _radiance(data))


def _check_size(place: str, width: int, height: int) -> None:
    if not min(width, height) >= 1 or max(width, height) > SIDE_MAX or width * height > PIXEL_MAX:
        reason = f"has {width} x {height} pixels; allowed: 1 to {SIDE_MAX} a side, {PIXEL_MAX} in all"
        raise ElementFault(place, reason)


def _usable(light: Float32) -> Float32:
    return np.clip(np.nan_to_num(light, posinf=BRIGHTEST), 0.0, BRIGHTEST)


def _radiance(data: bytes) -> Float32:
    """Returns linear RGB, (H, W, 3), at most PANORAMA_MAX, row 0 at the top."""
    if not data.startswith((b"#?RADIANCE", b"#?RGBE")):
        raise ElementFault("", "is neither a Radiance file (#?RADIANCE) nor OpenEXR")
    end = data.find(b"\n\n", 0, _HEADER_MAX)
    last = data.find(b"\n", end + 2, end + 80)
    if end < 0 or last < 0:
        raise ElementFault("", "the header does not end")
    for line in data[:end].split(b"\n"):
        name, _, value = line.partition(b"=")
        if name == b"FORMAT" and value.strip() != b"32-bit_rle_rgbe":
            raise ElementFault("FORMAT", f"{value.decode('ascii', 'replace')[:40]!r} is not 32-bit_rle_rgbe")
    found = _RESOLUTION.fullmatch(data[end + 2 : last])
    if found is None:
        raise ElementFault("resolution", "only rows from left to right are read, such as -Y 512 +X 1024")
    height, width = int(found[2]), int(found[3])
    _check_size("", width, height)
    # Even the shortest code of a row has a byte for each 127 texels of a channel, or for 255 equal texels.
    if (len(data) - last) * 255 < width * height:
        raise ElementFault("", f"ends too early for {width} x {height} pixels")
    texels = _texels(data, last + 1, width, height)
    texels = texels if found[1] == b"-" else texels[::-1]
    scales = np.append(np.float32(0.0), np.ldexp(np.float32(1.0), np.arange(1, 256) - 136)).astype(np.float32)

    def light_of(begin: int, end: int) -> Float32:
        band = texels[begin:end]
        light: Float32 = band[..., :3] * scales[band[..., 3]][..., None]
        return _usable(light)

    return reduced_bands(light_of, (height, width), PANORAMA_MAX)


def _texels(data: bytes, place: int, width: int, height: int) -> UInt8:
    """Returns mantissas and exponent, (H, W, 4)."""
    texels = np.empty((height, width, 4), np.uint8)
    row, together = 0, _ROWS if width in _PACKED else 0
    while row < height:
        if together >= _ROWS_MIN and height - row >= _ROWS_MIN:
            starts = _marked(data, place, width, min(together, height - row))
            rows, place = _unpacked(data, starts, place, width)
            texels[row : row + len(rows)] = rows
            row += len(rows)
            # The mark of a row may also be a part of its texels.
            together = together if 2 * len(rows) >= len(starts) > 0 else together // 4
            if len(rows):
                continue
        if width in _PACKED and data[place : place + 2] == b"\2\2" and len(data) > place + 3 and data[place + 2] < 128:
            length = data[place + 2] << 8 | data[place + 3]
            if length != width:
                raise ElementFault(f"row {row}", f"is {length} pixels wide, not {width}")
            place += 4
            for channel in range(4):
                line, place = _packed(data, place, width)
                if len(line) != width:
                    raise ElementFault(f"row {row}", _shortfall(data, place))
                texels[row, :, channel] = np.frombuffer(line, np.uint8)
        else:
            line, place = _repeated(data, place, 4 * width)
            if len(line) != 4 * width:
                raise ElementFault(f"row {row}", _shortfall(data, place))
            texels[row] = np.frombuffer(line, np.uint8).reshape(width, 4)
        row += 1
    return texels


def _marked(data: bytes, place: int, width: int, count: int) -> list[int]:
    """Returns the places of up to `count` marks of rows, the first one at `place` itself; none without that."""
    mark, starts = bytes((2, 2, width >> 8, width & 255)), list[int]()
    if data.startswith(mark, place):
        while len(starts) < count and place >= 0:
            starts.append(place)
            place = data.find(mark, place + 4)
    return starts


def _unpacked(data: bytes, starts: list[int], place: int, width: int) -> tuple[UInt8, int]:
    """Unpacks successive rows together, each run of all of them in one step.

    Args:
        starts: Places where rows may begin, the first one at `place`.

    Returns:
        Rows up to the first that is damaged or begins elsewhere, (N, W, 4), and the place behind them.
    """
    length, stored = 4 * width, np.frombuffer(data, np.uint8)
    at = np.array(starts, np.int32) + np.int32(4)
    filled, is_usable = np.zeros(len(starts), np.int32), np.ones(len(starts), bool)
    begins, counts, repeats = list[Int32](), list[Int32](), list[Bool]()
    while (active := is_usable & (filled < length)).any():
        code: Int32 = stored.take(at, mode="clip").astype(np.int32)
        is_run: Bool = code > 128
        count: Int32 = np.where(is_run, code - 128, code)
        # A run ends within its channel, and its texels within the file.
        after = at + 1 + np.where(is_run, 1, count)
        active &= (count > 0) & (filled % width + count <= width) & (after <= len(data))
        is_usable &= active | (filled >= length)
        count[~active] = 0
        begins.append(at + 1)
        counts.append(count)
        repeats.append(is_run)
        filled += count
        at = np.where(active, after, at)
    known, wanted = dict(zip(starts, range(len(starts)), strict=True)), list[int]()
    while (number := known.get(place)) is not None and is_usable[number]:
        wanted.append(number)
        place = int(at[number])
    if not wanted:
        return np.empty((0, width, 4), np.uint8), place
    all_begins, all_counts, all_repeats = np.stack(begins), np.stack(counts), np.stack(repeats)
    texels = np.empty((len(wanted), 4, width), np.uint8)
    for row in range(0, len(wanted), _ROWS_MIN):
        chosen = wanted[row : row + _ROWS_MIN]
        used = all_counts[:, chosen].T > 0
        begin, count = all_begins[:, chosen].T[used], all_counts[:, chosen].T[used]
        is_run = all_repeats[:, chosen].T[used]
        # Steps from the place of a texel to the next place: 0 within a run, 1 within literals.
        steps = np.repeat(~is_run, count).astype(np.int32)
        last = np.where(is_run, begin, begin + count - 1)
        steps[np.cumsum(count) - count] = begin - np.append(0, last[:-1])
        texels[row : row + len(chosen)] = stored[np.cumsum(steps)].reshape(-1, 4, width)
    return texels.transpose(0, 2, 1), place


def _shortfall(data: bytes, place: int) -> str:
    return "ends too early" if place >= len(data) else "has more pixels than the row"


def _packed(data: bytes, place: int, length: int) -> tuple[bytearray, int]:
    """Unpacks a channel of a row; returns another length if the data are damaged."""
    line = bytearray()
    while len(line) < length and place + 1 < len(data):
        count = data[place]
        if count > 128:
            line += data[place + 1 : place + 2] * (count - 128)
            place += 2
        else:
            line += data[place + 1 : place + 1 + count]
            place += 1 + count if count else len(data)
    return line, place


def _repeated(data: bytes, place: int, length: int) -> tuple[bytearray, int]:
    """Reads a row of whole texels, of which 1, 1, 1, n repeats the one before; returns another length if damaged."""
    line, shift = bytearray(), 0
    while len(line) < length and place + 4 <= len(data):
        texel = data[place : place + 4]
        place += 4
        if texel[:3] != b"\1\1\1":
            line += texel
            shift = 0
        elif line and shift < 24 and (texel[3] << shift) * 4 <= length - len(line):
            line += line[-4:] * (texel[3] << shift)
            shift += 8
        else:
            return bytearray(length + 1), place
    return line, place


def _exr(path: Path) -> Float32:
    """Returns linear RGB, (H, W, 3), at most PANORAMA_MAX, row 0 at the top."""
    if importlib.util.find_spec("OpenEXR") is None:
        raise ElementFault("", "OpenEXR needs a package: pip install 'sinew[exr]'")
    light: Float32 = read_apart(f"{__name__}:exr_content", os.fsencode(os.path.abspath(path)))["colours"]
    return light


def exr_content(path: bytes) -> dict[str, npt.NDArray[Any]]:
    """Reads colours of the first part, band by band; for `read_apart`, as the library prints and may crash."""
    import OpenEXR

    name: Any = os.fsdecode(path)
    opened: Any = OpenEXR.File
    for number, part in enumerate(opened(name, header_only=True).parts):
        low, high = part.header["dataWindow"]
        _check_size(f"part {number}", *(int(edge) for edge in np.subtract(high, low) + 1))
    file: Any = OpenEXR.InputFile(name)
    header = file.header()
    window, channels = header["dataWindow"], header["channels"]
    width, height = window.max.x - window.min.x + 1, window.max.y - window.min.y + 1
    names = [one for one in ("R", "G", "B") if one in channels]
    if len(names) != 3:
        names = ["Y"] if "Y" in channels else []
    if not names:
        raise ElementFault("", "has neither the channels R, G and B nor Y")
    if any((channels[one].xSampling, channels[one].ySampling) != (1, 1) for one in names):
        raise ElementFault("", "has channels of several sizes")
    types: Any = type(channels[names[0]].type)
    half = types(types.HALF)
    size = width * height * sum(2 if channel.type == half else 4 for channel in channels.values())
    if size > DECODED_MAX:
        reason = f"has {len(channels)} channels with {size_text(size)} in all, more than {size_text(DECODED_MAX)}"
        raise ElementFault("", f"{reason}; keep {', '.join(names)} alone")

    def light_of(begin: int, end: int) -> Float32:
        read = file.channels(names, types(types.FLOAT), window.min.y + begin, window.min.y + end - 1)
        bands = [np.frombuffer(band, np.float32).reshape(end - begin, width) for band in read]
        return _usable(np.stack(bands * (3 // len(bands)), axis=-1))

    return {"colours": reduced_bands(light_of, (height, width), PANORAMA_MAX)}
