"""Arrays of a page in one compressed text, which `resources/page/data.js` unpacks.

The text is base64 of zlib of: length of the JSON text (uint32), the JSON text, the arrays, each at a multiple of 4.
A reference in the JSON text names an array: "at", its first byte; "n", its number of elements; "t", its type in NumPy's
short form; "c", its coding; and of a coded one "w", elements in a row.
"""

import base64
import json
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

Reference = dict[str, Any]
Words = npt.NDArray[Any]

TYPES = frozenset({"f4", "u4", "i4", "u2", "i2", "u1", "i1"})

ORDERS = {"rows": 1, "zigzag": 1, "zigzag2": 2}
"""Order of the differences between rows in each coding; "zigzag" suits small differences of either sign."""


class Pack:
    def __init__(self) -> None:
        self._bytes = bytearray()
        self._known: dict[tuple[bytes, str, tuple[int, ...]], Reference] = {}

    def compressed_size(self) -> int:
        """Returns the bytes that the arrays take about."""
        return len(zlib.compress(self._bytes, 1))

    def once(self, array: npt.NDArray[Any], coding: str = "") -> Reference:
        """Appends an array unless an equal one was added by this method."""
        key = array.tobytes(), array.dtype.str + coding, array.shape
        if key not in self._known:
            self._known[key] = self.add(array, coding)
        return self._known[key]

    def add(self, array: npt.ArrayLike, coding: str = "") -> Reference:
        """Appends an array.

        Args:
            array: Of a type of `TYPES`; the first axis are the rows of a coded one.
            coding: "" for the bytes; "rows", "zigzag" or "zigzag2" for byte planes of differences between rows. All
                are exact.
        """
        values = np.ascontiguousarray(array)
        values = values.astype(values.dtype.newbyteorder("<"), copy=False)
        kind = values.dtype.str[1:]
        if kind not in TYPES:
            raise ValueError(f"a page holds no arrays of {values.dtype}")
        made: Reference = {"at": len(self._bytes), "n": values.size, "t": kind}
        if coding and values.size:
            made |= {"c": coding, "w": values.size // len(values)}
            self._bytes += _coded(_words(values).reshape(len(values), -1), coding)
        else:
            self._bytes += values.tobytes()
        self._bytes += bytes(-len(self._bytes) % 4)
        return made

    def html(self, scene: dict[str, Any]) -> bytes:
        """Returns the text of the page's data; raises ValueError if the scene holds a number that is not finite."""
        text = json.dumps(scene, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        return base64.b64encode(zlib.compress(len(text).to_bytes(4, "little") + text + self._bytes, 9))


class Unpacked:
    """Scene and arrays of the text that `Pack.html` returns."""

    def __init__(self, html: bytes | str) -> None:
        data = zlib.decompress(base64.b64decode(html))
        length = int.from_bytes(data[:4], "little")
        self.scene: dict[str, Any] = json.loads(data[4 : 4 + length])
        self._bytes = data[4 + length :]

    def array(self, reference: Reference) -> npt.NDArray[Any]:
        """Returns an array; a coded one has its rows as first of two axes."""
        kind, at, count = np.dtype("<" + reference["t"]), reference["at"], reference["n"]
        if "c" not in reference:
            return np.frombuffer(self._bytes, kind, count, at)
        size, width = kind.itemsize, reference["w"]
        planes = np.frombuffer(self._bytes, np.uint8, count * size, at).reshape(size, width, -1)
        words = np.ascontiguousarray(planes.transpose(2, 1, 0)).view(f"<u{size}")[..., 0]
        if reference["c"] != "rows":
            words = (words >> 1) ^ (np.zeros_like(words) - (words & 1))
        for _ in range(ORDERS[reference["c"]]):
            words = np.cumsum(words, axis=0, dtype=words.dtype)
        return words.view(kind)


def _words(values: npt.NDArray[Any]) -> Words:
    return values.view(f"<u{values.dtype.itemsize}")


def _coded(words: Words, coding: str) -> bytes:
    for _ in range(ORDERS[coding]):
        words = np.diff(words, axis=0, prepend=np.zeros_like(words[:1]))
    if coding != "rows":
        sign = words >> (8 * words.itemsize - 1)
        words = (words << 1) ^ (np.zeros_like(words) - sign)
    return np.ascontiguousarray(words).view(np.uint8).reshape(*words.shape, -1).transpose(2, 1, 0).tobytes()
