"""PNG files of 16 bits a channel, which Pillow does not write.  Source: PNG specification, third edition."""

import struct
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sinew.sim.maths.arrays import Float64

SIGNATURE = b"\x89PNG\r\n\x1a\n"
LARGEST = 65535
_HEADER = struct.Struct(">2I5B")
_RGB = 2


def write_png16(image: npt.NDArray[np.floating], path: Path) -> None:
    """Writes RGB values from 0 to 1, shape (H, W, 3), row 0 at the top; they are rounded to 1/65535."""
    height, width, _ = image.shape
    values = np.floor(np.clip(image, 0.0, 1.0).astype(np.float64) * LARGEST + 0.5).astype(">u2")
    rows = np.zeros((height, 1 + 6 * width), np.uint8)  # every row begins with its filter, 0 for none
    rows[:, 1:] = values.reshape(height, -1).view(np.uint8)
    header = _HEADER.pack(width, height, 16, _RGB, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    path.write_bytes(SIGNATURE + b"".join(chunks))


def is_png(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(SIGNATURE)) == SIGNATURE


def read_png16(path: Path) -> Float64:
    """Reads a file of `write_png16`; raises ValueError for others."""
    data, place, packed, header = path.read_bytes(), len(SIGNATURE), b"", (0, 0, 0, 0, 0, 0, 0)
    while place < len(data):
        (size,) = struct.unpack_from(">I", data, place)
        kind, content = data[place + 4 : place + 8], data[place + 8 : place + 8 + size]
        if kind == b"IHDR":
            header = _HEADER.unpack(content)
        elif kind == b"IDAT":
            packed += content
        place += 12 + size
    width, height, *form = header
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + 6 * width)
    if form != [16, _RGB, 0, 0, 0] or rows[:, 0].any():
        raise ValueError(f"{path}: is no unfiltered RGB image of 16 bits")
    values = np.ascontiguousarray(rows[:, 1:]).view(">u2").reshape(height, width, 3)
    return values / np.float64(LARGEST)
