"""A glTF file in the making: arrays as accessors of one buffer, and the file around them.

Source: glTF 2.0 specification, sections 3.6 and 4.4.
"""

import base64
import json
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

_COMPONENTS = {
    np.dtype(kind): number for number, kind in enumerate((np.int8, np.uint8, np.int16, np.uint16), start=5120)
} | {np.dtype(np.uint32): 5125, np.dtype(np.float32): 5126}
_TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}

VERTEX_DATA, INDEX_DATA = 34962, 34963
"""What a view is bound to."""

_JSON, _BIN = 0x4E4F534A, 0x004E4942


class GlbChunk:
    """Arrays that lie behind each other in the binary chunk.

    Attributes:
        accessors: What the file says of each of them.
    """

    def __init__(self) -> None:
        self._data: list[bytes] = []
        self._size = 0
        self._views: list[dict[str, Any]] = []
        self._known: dict[tuple[bytes, str, int | None], int] = {}
        self.accessors: list[dict[str, Any]] = []

    def view(self, data: bytes, **more: Any) -> int:
        """Number of the buffer view of some bytes, which may say more of them."""
        self._views.append({"buffer": 0, "byteOffset": self._size, "byteLength": len(data), **more})
        self._data.append(data + b"\0" * (-len(data) % 4))
        self._size += len(self._data[-1])
        return len(self._views) - 1

    def add(self, values: npt.NDArray[Any], **more: Any) -> int:
        """Number of the accessor of rows (n, k), which may say more of them."""
        self.accessors.append(
            {
                "bufferView": self.view(values.tobytes()),
                "componentType": _COMPONENTS[values.dtype],
                "count": len(values),
                "type": _TYPES[values.shape[1]],
                **more,
            }
        )
        return len(self.accessors) - 1

    def once(self, values: npt.NDArray[Any], target: int | None = None, *, bounded: bool = False) -> int:
        """Number of the accessor of rows (n, k); equal ones are stored once.

        Args:
            values: Of a type that the format has; rows of vertices must be whole words.
            target: What the view is bound to, or None.
            bounded: Whether the least and the largest values are told, as places and times need it.
        """
        values = np.ascontiguousarray(values)
        key = values.tobytes(), f"{values.dtype}{values.shape}{bounded}", target
        if key not in self._known:
            more: dict[str, Any] = {}
            if bounded:
                more = {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
            self._known[key] = self.add(values, **more)
            if target is not None:
                self._views[-1]["target"] = target
        return self._known[key]

    def sparse(self, values: npt.NDArray[Any], target: int | None = None, *, bounded: bool = False) -> int:
        """The same as `once` where rows are not zero, and nothing where they are, if that is smaller."""
        rows = np.flatnonzero(values.any(axis=1)).astype(np.uint32)
        if 2 * len(rows) > len(values):
            return self.once(values, target, bounded=bounded)
        part: dict[str, Any] = {"componentType": _COMPONENTS[values.dtype], "count": len(values)}
        part["type"] = _TYPES[values.shape[1]]
        if bounded:
            part |= {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
        if len(rows):
            places, cached = self.view(rows.tobytes()), self.view(np.ascontiguousarray(values[rows]).tobytes())
            indices = {"bufferView": places, "componentType": _COMPONENTS[rows.dtype]}
            part["sparse"] = {"count": len(rows), "indices": indices, "values": {"bufferView": cached}}
        self.accessors.append(part)
        return len(self.accessors) - 1

    def file(self, document: dict[str, Any]) -> bytes:
        """The whole binary file; what the document says of buffers, views and accessors counts."""
        data = b"".join(self._data)
        text = self._text(document, {"byteLength": len(data)})
        text += b" " * (-len(text) % 4)
        binary = struct.pack("<2I", len(data), _BIN) + data if data else b""
        head = struct.pack("<4s4I", b"glTF", 2, 20 + len(text) + len(binary), len(text), _JSON)
        return head + text + binary

    def text_file(self, document: dict[str, Any]) -> bytes:
        """The same as text, which holds its buffer."""
        data = b"".join(self._data)
        uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        return self._text(document, {"byteLength": len(data), "uri": uri})

    def _text(self, document: dict[str, Any], buffer: dict[str, Any]) -> bytes:
        buffers = [buffer] if self._data else []
        parts = {"buffers": buffers, "bufferViews": self._views, "accessors": self.accessors}
        held = {key: part for key, part in parts.items() if part}  # the format has no empty lists
        return json.dumps(held | document, ensure_ascii=False, allow_nan=False).encode()
