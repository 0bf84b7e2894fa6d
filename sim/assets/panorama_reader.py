"""Readers of panoramas: Radiance `.hdr`, and OpenEXR `.exr` with an optional package.

Source: G. Ward 1991, "Real Pixels", Graphics Gems II; the format as in Radiance's `color.c`.
"""

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sinew.sim.assets.environment import Panorama, panorama
from sinew.sim.assets.images import ImageError
from sinew.sim.assets.load import read_bytes
from sinew.sim.assets.raw import ModelError
from sinew.sim.maths.arrays import Float32, UInt8

SIDE_MAX = 8192
"""Longest side of a panorama [pixels]."""

PIXEL_MAX = 1 << 25

BRIGHTEST = 1e8

_RESOLUTION = re.compile(rb"([+-])Y (\d{1,9}) \+X (\d{1,9})")
_HEADER_MAX = 1 << 16
_PACKED = range(8, 1 << 15)
"""Widths whose rows may have their channels packed separately."""


def load_panorama(path: Path) -> Panorama:
    """Reads a panorama; raises ImageError with one line if the file cannot be used."""
    try:
        data = read_bytes(path)
    except ModelError as error:
        raise ImageError(path, error.reason) from None
    light = _exr(path) if data.startswith(b"v/1\x01") else _radiance(data, path)
    return panorama(np.clip(np.nan_to_num(light, posinf=BRIGHTEST), 0.0, BRIGHTEST))


def _check_size(path: Path, width: int, height: int) -> None:
    if not min(width, height) >= 1 or max(width, height) > SIDE_MAX or width * height > PIXEL_MAX:
        raise ImageError(path, f"has {width} x {height} pixels; allowed: 1 to {SIDE_MAX} a side, {PIXEL_MAX} in all")


def _radiance(data: bytes, path: Path) -> Float32:
    """Returns linear RGB, (H, W, 3), row 0 at the top."""
    if not data.startswith((b"#?RADIANCE", b"#?RGBE")):
        raise ImageError(path, "is neither a Radiance file (#?RADIANCE) nor OpenEXR")
    end = data.find(b"\n\n", 0, _HEADER_MAX)
    last = data.find(b"\n", end + 2, end + 80)
    if end < 0 or last < 0:
        raise ImageError(path, "the header does not end")
    for line in data[:end].split(b"\n"):
        name, _, value = line.partition(b"=")
        if name == b"FORMAT" and value.strip() != b"32-bit_rle_rgbe":
            raise ImageError(path, f"FORMAT: {value.decode('ascii', 'replace')[:40]!r} is not 32-bit_rle_rgbe")
    found = _RESOLUTION.fullmatch(data[end + 2 : last])
    if found is None:
        raise ImageError(path, "resolution: only rows from left to right are read, such as -Y 512 +X 1024")
    height, width = int(found[2]), int(found[3])
    _check_size(path, width, height)
    # Even the shortest code of a row has a byte for each 127 texels of a channel, or for 255 equal texels.
    if (len(data) - last) * 255 < width * height:
        raise ImageError(path, f"ends too early for {width} x {height} pixels")
    texels = _texels(data, last + 1, width, height, path)
    scale = np.where(texels[..., 3:] > 0, np.ldexp(np.float32(1.0), texels[..., 3:].astype(np.int32) - 136), 0.0)
    light = texels[..., :3].astype(np.float32) * scale.astype(np.float32)
    return light if found[1] == b"-" else light[::-1]


def _texels(data: bytes, place: int, width: int, height: int, path: Path) -> UInt8:
    """Returns mantissas and exponent, (H, W, 4)."""
    texels = np.empty((height, width, 4), np.uint8)
    for row in range(height):
        if width in _PACKED and data[place : place + 2] == b"\2\2" and len(data) > place + 3 and data[place + 2] < 128:
            length = data[place + 2] << 8 | data[place + 3]
            if length != width:
                raise ImageError(path, f"row {row}: is {length} pixels wide, not {width}")
            place += 4
            for channel in range(4):
                line, place = _packed(data, place, width)
                if len(line) != width:
                    raise ImageError(path, f"row {row}: {_shortfall(data, place)}")
                texels[row, :, channel] = np.frombuffer(line, np.uint8)
        else:
            line, place = _repeated(data, place, 4 * width)
            if len(line) != 4 * width:
                raise ImageError(path, f"row {row}: {_shortfall(data, place)}")
            texels[row] = np.frombuffer(line, np.uint8).reshape(width, 4)
    return texels


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
    """Returns linear RGB, (H, W, 3), row 0 at the top."""
    if importlib.util.find_spec("OpenEXR") is None:
        raise ImageError(path, "OpenEXR needs a package: pip install 'sinew[exr]'")
    import OpenEXR

    opened: Callable[..., Any] = OpenEXR.File
    try:
        low, high = opened(str(path), header_only=True).header()["dataWindow"]
        width, height = (int(edge) for edge in np.subtract(high, low) + 1)
        _check_size(path, width, height)
        channels = opened(str(path), separate_channels=True).channels()
        names = ("R", "G", "B") if "R" in channels else ("Y", "Y", "Y")
        light: Float32 = np.stack([channels[name].pixels for name in names], axis=-1).astype(np.float32)
    except ImageError:
        raise
    except Exception as error:  # the library fails with any exception on damaged files
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ImageError(path, f"cannot be decoded: {reason}") from error
    if light.shape != (height, width, 3):
        raise ImageError(path, "has channels of several sizes")
    return light
