import struct
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.strands import StrandSet

Float64 = npt.NDArray[np.float64]


def hair_bytes(
    strands: Sequence[npt.ArrayLike],
    *,
    thickness: npt.ArrayLike | None = None,
    colours: npt.ArrayLike | None = None,
    segments: int = 0,
) -> bytes:
    """A HAIR file of polylines (M, 3); `segments` are those of all strands, which are not told one by one then."""
    lines = [np.asarray(line, "<f4") for line in strands]
    arrays = [] if segments else [np.array([len(line) - 1 for line in lines], "<u2")]
    arrays.append(np.concatenate(lines))
    flags = 2 | (0 if segments else 1)
    for flag, values in ((4, thickness), (16, colours)):
        if values is not None:
            flags |= flag
            arrays.append(np.asarray(values, "<f4"))
    count = sum(map(len, lines))
    head = struct.pack(
        "<4s4I5f88s", b"HAIR", len(lines), count, flags, segments, 1.0, 0.0, 0.5, 0.4, 0.3, b"made by hand"
    )
    return head + b"".join(array.tobytes() for array in arrays)


def tfx_bytes(strands: npt.ArrayLike, *, thickness: npt.ArrayLike | None = None) -> bytes:
    """A TressFX file of polylines, shape (N, M, 3)."""
    lines = np.asarray(strands, "<f4")
    count, points, _ = lines.shape
    places = np.ones((count, points, 4), "<f4")
    places[..., :3] = lines
    widths = b"" if thickness is None else np.asarray(thickness, "<f4").tobytes()
    after = 160 + places.nbytes if widths else 0
    head = struct.pack("<f7I128s", 4.0, count, points, 160, 0, 0, after, 0, b"")
    return head + places.tobytes() + widths


def strand_set(lines: npt.ArrayLike) -> StrandSet:
    """Polylines (N, M, 3) as a file has them [m]."""
    found = np.asarray(lines, np.float32)
    return StrandSet(np.arange(len(found) + 1) * found.shape[1], found.reshape(-1, 3))


def arcs(count: int = 5, points: int = 9) -> Float64:
    """Arcs of different sizes from places along x, in metres and y up; shape (count, points, 3)."""
    turn = np.linspace(0.0, 2.0, points)
    size = 0.1 + 0.02 * np.arange(count)[:, None]
    x = np.repeat(0.01 * np.arange(count)[:, None], points, axis=1)
    return np.stack([x, size * np.sin(turn), size * (1.0 - np.cos(turn))], axis=2)
