"""Errors of elements, and limits; a file beyond the limits is damaged or hostile, not large."""

from collections import Counter

import numpy as np
import numpy.typing as npt

MAX_FILE_BYTES = 1 << 29
MAX_JOINTS = 8192
MAX_PARTS = 8192
"""Maximum number of meshes, vertex buffers, sections, materials, skeletons or animations of one file, each."""

MAX_TRACKS = 1 << 17
MAX_MARKUP = 1 << 20
"""Maximum number of tags, and equals signs of attributes, of one text; each takes some hundred bytes of a tree."""

MAX_VERTICES = 1 << 22
"""Maximum number of vertices that a reader collects one by one."""

# Largest coordinate; products along a chain of joints must stay finite.
MAX_MAGNITUDE = 1e12


class ElementFault(ValueError):
    """An element that cannot be used; the reader's entry point adds the path and raises `ModelError`.

    Attributes:
        element: Description such as "vertexbuffer of mesh 'body' (mesh 1)", or "".
        reason: Without a full stop.
    """

    def __init__(self, element: str, reason: str) -> None:
        super().__init__(f"{element}: {reason}" if element else reason)
        self.element = element
        self.reason = reason


def quoted(name: str, limit: int = 60) -> str:
    """Returns a name as one line, unprintable characters escaped, shortened to `limit`."""
    return repr(name if len(name) <= limit else name[: limit - 1] + "…")


class PartCounter:
    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, kind: str, limit: int = MAX_PARTS, count: int = 1) -> None:
        self._counts[kind] += count
        if self._counts[kind] > limit:
            raise ElementFault(kind, f"there are more than {limit}")


def check_magnitude(element: str, what: str, values: npt.NDArray[np.floating]) -> None:
    """Checks that `values` can be coordinates; the first of several dimensions counts the items of `element`."""
    usable = np.abs(values) <= MAX_MAGNITUDE
    if usable.all():
        return
    place = np.argwhere(~usable)[0]
    item = f"{what} {place[0]}" if values.ndim > 1 else what
    raise ElementFault(element, f"{item} has the unusable value {values[tuple(place)]:.9g}")
