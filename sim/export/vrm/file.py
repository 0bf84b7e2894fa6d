"""A GLB file whose JSON changes in a few places; all other bytes stay."""

import json
import struct
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.gltf.document import BINARY_CHUNK, JSON_CHUNK, MAGIC, VERSION, GltfDocument, decode_document
from sinew.sim.assets.gltf.file import GltfFile, split_file
from sinew.sim.export.gltf_parts import COMPONENTS, TYPES
from sinew.sim.maths.arrays import Float32

Json = dict[str, Any]
Members = dict[str, msgspec.Raw]

_MEMBERS = msgspec.json.Decoder(Members)
_PARTS = msgspec.json.Decoder(list[msgspec.Raw])
_HEAD = 20
"""Bytes before the JSON."""


class GlbFile:
    """The JSON of a GLB file, of which members that no method sets are written as stored.

    Raises:
        ElementFault: If the file is no GLB, a key is there twice, or a value has another type.

    Attributes:
        document: The JSON as stored.
    """

    def __init__(self, data: bytes) -> None:
        if not data.startswith(MAGIC):
            raise ElementFault("", "is no binary glTF file")
        text, self._binary = split_file(data)
        size, total = struct.unpack_from("<I", data, 12)[0], struct.unpack_from("<I", data, 8)[0]
        self._data, self._rest = data, data[_HEAD + size + -size % 4 : total]
        self.document: GltfDocument = decode_document(text, [])
        _require_unique_keys(text)
        self._stored = _MEMBERS.decode(text)
        self._members = dict(self._stored)

    def member(self, name: str) -> Any:
        return msgspec.json.decode(self._members[name]) if name in self._members else None

    def extension(self, name: str) -> Json:
        """Returns an extension of the whole file; empty if there is none."""
        found: Json = (self.member("extensions") or {}).get(name, {})
        return found

    def floats(self, accessor: int, kind: str) -> Float32:
        """Returns the values of an accessor as the file was read, shape (count, n)."""
        file = GltfFile(Path(), self.document, self._binary, len(self._data))
        return file.floats(accessor, f"accessors[{accessor}]", (kind,))

    def set_member(self, name: str, value: Any) -> None:
        """Sets a member of the JSON; an equal one stays as stored, None removes it."""
        if value is None:
            self._members.pop(name, None)
        elif value != self.member(name):
            self._members[name] = _raw(value)

    def set_extension(self, name: str, value: Json | None, part: str = "") -> None:
        """Sets an extension of the whole file, or a member of it; an equal one stays as stored, None removes it."""
        stored = self.extension(name)
        if (stored.get(part) if part else stored or None) == value:
            return
        extensions = _MEMBERS.decode(self._members.get("extensions", msgspec.Raw(b"{}")))
        if part:
            extensions[name] = _raw({**_MEMBERS.decode(extensions[name]), part: _raw(value)})
        elif value is not None:
            extensions[name] = _raw(value)
        else:
            del extensions[name]
        self._members["extensions"] = _raw(extensions)
        if value is not None:
            self.use_extension(name)
            return
        for member in ("extensionsUsed", "extensionsRequired"):
            self.set_member(member, [one for one in self.member(member) or () if one != name] or None)
        if not extensions:
            del self._members["extensions"]

    def use_extension(self, name: str) -> None:
        """Lists an extension of the file, or of a part of it."""
        used: list[str] = self.member("extensionsUsed") or []
        if name not in used:
            self.set_member("extensionsUsed", [*used, name])

    def append(self, name: str, value: Json) -> int:
        """Adds an entry to a list of the JSON, such as "nodes"; returns its number."""
        parts = _PARTS.decode(self._members.get(name, msgspec.Raw(b"[]")))
        self._members[name] = _raw([*parts, _raw(value)])
        return len(parts)

    def change(self, name: str, number: int, **values: Any) -> None:
        """Sets members of an entry of a list."""
        parts = _PARTS.decode(self._members[name])
        entry = _MEMBERS.decode(parts[number])
        parts[number] = _raw({**entry, **{key: _raw(value) for key, value in values.items()}})
        self._members[name] = _raw(parts)

    def add_child(self, parent: int, node: Json) -> int:
        """Adds a node below another one; returns its number."""
        number = self.append("nodes", node)
        children: list[int] = self.member("nodes")[parent].get("children", [])
        self.change("nodes", parent, children=[*children, number])
        return number

    def add_rows(self, values: npt.NDArray[Any], **more: Any) -> int:
        """Appends rows (n, k) to the binary chunk; returns the index of their accessor.

        Raises:
            ElementFault: If the file keeps its data in other files.
        """
        buffers = self.member("buffers") or [{"byteLength": 0}]
        size, kind = struct.unpack_from("<2I", self._rest) if self._rest else (0, BINARY_CHUNK)
        if "uri" in buffers[0] or kind != BINARY_CHUNK:
            raise ElementFault("buffers[0]", "is not in the file itself")
        data = self._rest[8 : 8 + size] + b"\0" * (-size % 4)
        start, new = len(data), np.ascontiguousarray(values).tobytes()
        data += new + b"\0" * (-len(new) % 4)
        self._rest = struct.pack("<2I", len(data), BINARY_CHUNK) + data + self._rest[8 + size + -size % 4 :]
        if self.member("buffers") is None:
            self.append("buffers", {})
        self.change("buffers", 0, byteLength=start + len(new))
        view: Json = {"buffer": 0, "byteOffset": start, "byteLength": len(new)}
        if "target" in more:
            view["target"] = more.pop("target")
        accessor: Json = {
            "bufferView": self.append("bufferViews", view), "componentType": COMPONENTS[values.dtype],
            "count": len(values), "type": TYPES[values.shape[1]], **more,
        }  # fmt: skip
        return self.append("accessors", accessor)

    def written(self) -> bytes:
        """Returns the bytes of the file; the same ones if nothing was changed."""
        if self._members == self._stored:
            return self._data
        text = msgspec.json.encode(self._members)
        text += b" " * (-len(text) % 4)
        head = struct.pack("<4s4I", MAGIC, VERSION, _HEAD + len(text) + len(self._rest), len(text), JSON_CHUNK)
        return head + text + self._rest


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def _require_unique_keys(text: bytes) -> None:
    def members(pairs: list[tuple[str, Any]]) -> Json:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise ElementFault("JSON", f"the key {twice[:40]!r} is there twice in one object")
        return made

    try:
        json.loads(text, object_pairs_hook=members)
    except RecursionError:
        raise ElementFault("JSON", "is nested too deeply") from None
