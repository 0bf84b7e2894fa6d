"""Shapes and lengths of combed and cut guides in settings and project files.

Shapes have the root positions of their guides in the space of the surface: other guides interpolate the nearest ones.
Lengths are factors of the settings.
"""

import base64
import binascii
import functools
from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.maths.arrays import Float64

GUIDES, SEGMENTS_MIN, SEGMENTS_MAX = 100_000, 2, 15
FACTOR_MAX = 64.0

_UNIT = 32767.0
"""Inverse of the unit in which components of unit vectors are stored as whole numbers."""


class GroomEdits(msgspec.Struct, frozen=True, kw_only=True):
    """Edited guides, packed.

    Attributes:
        guides: Number of all guides at the time of the edit.
        edited: Number of edited guides.
        segments: Of each edited guide.
        data: Base64 of, little endian: root position of every guide, 3 × float32; numbers of the edited ones, uint32,
            ascending; factors of their lengths, float32; unit edges, 3 × int16 for each of their segments.

    Raises:
        ValueError: If the data has the wrong size, or its values make no strands.
    """

    guides: Annotated[int, msgspec.Meta(ge=1, le=GUIDES)]
    edited: Annotated[int, msgspec.Meta(ge=1, le=GUIDES)]
    segments: Annotated[int, msgspec.Meta(ge=SEGMENTS_MIN, le=SEGMENTS_MAX)]
    data: str

    def __post_init__(self) -> None:
        size = packed_size(self.guides, self.edited, self.segments)
        if len(self.data) != -(-size // 3) * 4:
            raise ValueError(
                f"data: {len(self.data)} letters, not the {-(-size // 3) * 4} of {self.edited} of {self.guides} guides"
            )
        unpacked(self)

    def __str__(self) -> str:
        return f"{self.edited} of {self.guides} guides"


@dataclass(frozen=True, slots=True, eq=False)
class EditedGuides:
    places: Float64  # Roots of all guides in the space of the surface [m], shape (G, 3)
    numbers: npt.NDArray[np.intp]  # Of the edited guides, shape (E,)
    factors: Float64  # Of their lengths, shape (E,)
    edges: Float64  # Unit edges in the space of the surface, shape (E, n, 3)


def packed_size(guides: int, edited: int, segments: int) -> int:
    return 12 * guides + (8 + 6 * segments) * edited


def packed(edited: EditedGuides) -> GroomEdits:
    edges = np.round(edited.edges * _UNIT).astype("<i2")
    parts = (edited.places.astype("<f4"), edited.numbers.astype("<u4"), edited.factors.astype("<f4"), edges)
    text = base64.b64encode(b"".join(part.tobytes() for part in parts)).decode("ascii")
    count, segments = edges.shape[:2]
    return GroomEdits(guides=len(edited.places), edited=count, segments=segments, data=text)


@functools.lru_cache(maxsize=8)
def unpacked(edits: GroomEdits) -> EditedGuides:
    """Unpacks edits; raises ValueError, one line, if the data makes no strands."""
    try:
        data = base64.b64decode(edits.data, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("data: not base64") from None
    guides, count, n = edits.guides, edits.edited, edits.segments
    if len(data) != packed_size(guides, count, n):
        raise ValueError(f"data: {len(data)} bytes, not {packed_size(guides, count, n)}")
    ends = np.cumsum([12 * guides, 4 * count, 4 * count]).tolist()
    places = np.frombuffer(data, "<f4", 3 * guides).reshape(-1, 3).astype(np.float64)
    numbers = np.frombuffer(data, "<u4", count, ends[0]).astype(np.intp)
    factors = np.frombuffer(data, "<f4", count, ends[1]).astype(np.float64)
    edges = np.frombuffer(data, "<i2", 3 * n * count, ends[2]).reshape(count, n, 3).astype(np.float64) / _UNIT
    sizes = np.linalg.norm(edges, axis=2, keepdims=True)
    if not np.isfinite(places).all():
        raise ValueError("data: a root has no place")
    if numbers[-1] >= guides or (np.diff(numbers) <= 0).any():
        raise ValueError(f"data: numbers of guides do not rise from 0 to {guides - 1}")
    if not ((factors > 0.0) & (factors <= FACTOR_MAX)).all():
        raise ValueError(f"data: a factor of a length is not between 0 and {FACTOR_MAX:g}")
    if (sizes < 0.5).any():
        raise ValueError("data: an edge has no direction")
    return EditedGuides(places, numbers, factors, edges / sizes)
