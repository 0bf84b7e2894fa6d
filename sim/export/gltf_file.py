"""The binary chunk of a glTF file: arrays as accessors of one buffer, and the file around them.

Source: glTF 2.0 specification, sections 3.6 and 4.4.
"""

import base64
import json
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.gltf.document import BINARY_CHUNK, COMPONENT_TYPES, JSON_CHUNK, MAGIC, TYPE_LENGTHS, VERSION

_COMPONENTS = {np.dtype(kind): number for number, kind in COMPONENT_TYPES.items()}
_TYPES = {length: name for name, length in TYPE_LENGTHS.items() if name != "MAT2"}

VERTEX_DATA, INDEX_DATA = 34962, 34963
"""Targets of buffer views."""


class GlbChunk:
    """Arrays in the binary chunk, one after the other, and their accessors."""

    def __init__(self) -> None:
        self._data: list[bytes] = []
        self._size = 0
        self._views: list[dict[str, Any]] = []
        self._known: dict[tuple[bytes, str, int | None], int] = {}
        self.accessors: list[dict[str, Any]] = []

    def view(self, data: bytes, **more: Any) -> int:
        """Adds bytes; returns the index of their buffer view."""
        self._views.append({"buffer": 0, "byteOffset": self._size, "byteLength": len(data), **more})
        self._data.append(data + b"\0" * (-len(data) % 4))
        self._size += len(self._data[-1])
        return len(self._views) - 1

    def add(self, values: npt.NDArray[Any], **more: Any) -> int:
        """Adds rows (n, k); returns the index of their accessor."""
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
        """Index of the accessor of rows (n, k); equal rows are stored once.

        Args:
            values: Of a component type of glTF; rows of vertices must be multiples of 4 bytes.
            target: `VERTEX_DATA`, `INDEX_DATA` or None.
            bounded: Adds minimum and maximum, as positions and times require.
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
        """Like `once`, as a sparse accessor if that is smaller."""
        rows = np.flatnonzero(values.any(axis=1)).astype(np.uint32)
        if 2 * len(rows) > len(values):
            return self.once(values, target, bounded=bounded)
        part: dict[str, Any] = {"componentType": _COMPONENTS[values.dtype], "count": len(values)}
        part["type"] = _TYPES[values.shape[1]]
        if bounded:
            part |= {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
        if len(rows):
            places, replaced = self.view(rows.tobytes()), self.view(np.ascontiguousarray(values[rows]).tobytes())
            indices = {"bufferView": places, "componentType": _COMPONENTS[rows.dtype]}
            part["sparse"] = {"count": len(rows), "indices": indices, "values": {"bufferView": replaced}}
        self.accessors.append(part)
        return len(self.accessors) - 1

    def file(self, document: dict[str, Any]) -> bytes:
        """The complete binary file."""
        data = b"".join(self._data)
        text = self._text(document, {"byteLength": len(data)})
        text += b" " * (-len(text) % 4)
        binary = struct.pack("<2I", len(data), BINARY_CHUNK) + data if data else b""
        head = struct.pack("<4s4I", MAGIC, VERSION, 20 + len(text) + len(binary), len(text), JSON_CHUNK)
        return head + text + binary

    def text_file(self, document: dict[str, Any]) -> bytes:
        """The same as glTF text with an embedded buffer."""
        data = b"".join(self._data)
        uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        return self._text(document, {"byteLength": len(data), "uri": uri})

    def _text(self, document: dict[str, Any], buffer: dict[str, Any]) -> bytes:
        buffers = [buffer] if self._data else []
        parts = {"buffers": buffers, "bufferViews": self._views, "accessors": self.accessors}
        held = {key: part for key, part in parts.items() if part}  # glTF does not allow empty lists
        return json.dumps(held | document, ensure_ascii=False, allow_nan=False).encode()
