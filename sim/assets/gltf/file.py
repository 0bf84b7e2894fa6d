import base64
import binascii
import importlib
import os
import stat
import struct
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote_to_bytes

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.faults import MAX_FILE_BYTES, ElementFault
from sinew.sim.assets.formats import UTF8_MARK
from sinew.sim.assets.gltf.document import (
    BINARY_CHUNK,
    COMPONENT_TYPES,
    JSON_CHUNK,
    MAGIC,
    TYPE_LENGTHS,
    VERSION,
    Accessor,
    GltfBuffer,
    GltfDocument,
    Meshopt,
    part_of,
)
from sinew.sim.maths.arrays import Float32, UInt32
from sinew.sim.printable import size_text

Array = npt.NDArray[np.generic]

FREE_BYTES = 1 << 27
MAX_GROWTH = 64
"""Maximum growth: a file may decode to `FREE_BYTES` plus this many times its own size."""

_SHOWN = 60


def split_file(data: bytes) -> tuple[bytes, memoryview | None]:
    """Returns the JSON of a file, and the binary chunk of a GLB, or None."""
    if not data.startswith(MAGIC):
        return data.removeprefix(UTF8_MARK), None
    if len(data) < 12:
        raise ElementFault("header", f"has {len(data)} bytes, 12 are needed")
    version, length = struct.unpack_from("<2I", data, 4)
    if version != VERSION:
        raise ElementFault("header", f"version is {version}, version {VERSION} is read")
    if length > len(data):
        raise ElementFault("header", f"the file should have {length} bytes, it has {len(data)}")
    chunks = _chunks(memoryview(data)[:length])
    if not chunks or chunks[0][0] != JSON_CHUNK:
        raise ElementFault("chunk 0", "is not JSON")
    # Unknown chunks may be anywhere but first.
    binary = next((content for kind, content in chunks[1:] if kind == BINARY_CHUNK), None)
    return bytes(chunks[0][1]), binary


def _chunks(data: memoryview) -> list[tuple[int, memoryview]]:
    found: list[tuple[int, memoryview]] = []
    start = 12
    while start + 8 <= len(data):
        size, kind = struct.unpack_from("<2I", data, start)
        if start + 8 + size > len(data):
            raise ElementFault(f"chunk {len(found)}", f"has {size} bytes, {len(data) - start - 8} are left")
        found.append((kind, data[start + 8 : start + 8 + size]))
        start += 8 + size + -size % 4
    return found


def is_data_uri(uri: str) -> bool:
    return uri[:5].lower() == "data:"


def data_of_uri(uri: str, place: str) -> bytes:
    head, comma, content = uri.partition(",")
    if not comma or not head.lower().endswith(";base64"):
        raise ElementFault(place, "the data is not base64")
    try:
        return base64.b64decode(unquote_to_bytes(content) if "%" in content else content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ElementFault(place, f"the data is not base64: {str(error).lower()}") from None


def optional_package(name: str, extension: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ElementFault("extensionsRequired", f"{extension} needs the package {name}") from None


class GltfFile:
    """Buffers, views and accessors of a file, read at their first use; no file outside its folder is read.

    Args:
        binary: Binary chunk of a GLB.
        size: Size of the file [bytes].
    """

    def __init__(self, path: Path, document: GltfDocument, binary: memoryview | None, size: int) -> None:
        self.document = document
        self.files: list[Path] = []
        self._folder, self._binary = path.parent, binary
        self._left = self._limit = FREE_BYTES + MAX_GROWTH * size
        self._folder_bytes = 0
        self._buffers: dict[int, memoryview] = {}
        self._views: dict[int, memoryview] = {}
        self._stored: dict[int, Array] = {}
        self._floats: dict[int, Float32] = {}

    def take(self, size: int, place: str) -> None:
        """Reserves bytes before they are allocated; fails if the file asks for far more than it holds."""
        self._left -= size
        if self._left < 0:
            reason = f"a file of this size may take {size_text(self._limit)} in all"
            raise ElementFault(place, f"needs {size_text(self._limit - self._left)} with all before it; {reason}")

    def resolved(self, uri: str, place: str) -> Path:
        """Returns the path of a file; fails if it is outside the folder."""
        name = unquote_to_bytes(uri).decode("utf-8", "replace")
        if ":" in uri.partition("/")[0] or "\0" in name or not name:
            raise ElementFault(place, f"{name[:_SHOWN]!r} is no file of the model's folder")
        try:
            root = self._folder.resolve()
            path = (root / name.replace("\\", "/")).resolve()
        except (OSError, RuntimeError) as error:
            raise ElementFault(place, f"{name[:_SHOWN]!r} cannot be found: {error.__class__.__name__}") from None
        if not path.is_relative_to(root):
            raise ElementFault(place, f"{name[:_SHOWN]!r} lies outside the model's folder")
        return path

    def _read_beside(self, uri: str, size: int, place: str) -> bytes:
        """Reads a file next to the model; fails if it is too short, or if all files together are too large."""
        path = self.resolved(uri, place)
        self._folder_bytes += size
        if self._folder_bytes > MAX_FILE_BYTES:
            raise ElementFault(place, f"files next to the model need more than {MAX_FILE_BYTES >> 20} MiB")
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise ElementFault(place, f"{path.name[:_SHOWN]!r} is not a regular file")
            with path.open("rb") as file:
                data = file.read(size)
        except OSError as error:
            raise ElementFault(place, f"{path.name[:_SHOWN]!r}: {(error.strerror or str(error)).lower()}") from None
        self.files.append(path)
        if len(data) < size:
            raise ElementFault(place, f"needs {size} bytes, {path.name[:_SHOWN]!r} has {len(data)}")
        return data

    def _bytes_of(self, index: int, offset: int, size: int, place: str) -> memoryview:
        part = part_of(self.document.buffers, index, place, "buffers")
        if offset + size > part.byte_length:
            raise ElementFault(place, f"needs {offset + size} bytes, buffers[{index}] has {part.byte_length}")
        if index not in self._buffers:
            self._buffers[index] = self._buffer(index, part)
        return self._buffers[index][offset : offset + size]

    def _buffer(self, index: int, part: GltfBuffer) -> memoryview:
        place, size = f"buffers[{index}]", part.byte_length
        if part.uri is not None and not is_data_uri(part.uri):
            self._left += MAX_GROWTH * size
            self._limit += MAX_GROWTH * size
            return memoryview(self._read_beside(part.uri, size, f"{place}.uri"))
        if part.uri is not None:
            data, what = memoryview(data_of_uri(part.uri, f"{place}.uri")), "the data"
        elif index == 0 and self._binary is not None:
            data, what = self._binary, "the binary chunk"
        else:
            raise ElementFault(place, "has no uri, and the file no binary chunk for it")
        if len(data) < size:
            raise ElementFault(place, f"needs {size} bytes, {what} has {len(data)}")
        return data[:size]

    def accessor(self, index: int, place: str) -> Accessor:
        return part_of(self.document.accessors, index, place, "accessors")

    def stored(self, index: int, place: str, types: tuple[str, ...]) -> Array:
        """Returns stored values, read-only, (count, length of the type); `types` are allowed, such as "VEC3"."""
        part = self.accessor(index, place)
        if part.type not in types:
            raise ElementFault(place, f"accessors[{index}] is {part.type}, {' or '.join(types)} is needed")
        if index not in self._stored:
            values = self._elements_of(part, f"accessors[{index}]")
            values.flags.writeable = False
            self._stored[index] = values
        return self._stored[index]

    def floats(self, index: int, place: str, types: tuple[str, ...]) -> Float32:
        """Returns finite values, normalised where the accessor says so."""
        stored = self.stored(index, place, types)
        if index not in self._floats:
            values = (
                normalised(stored) if self.accessor(index, place).normalized else stored.astype(np.float32, copy=False)
            )
            if not np.isfinite(values).all():
                element = int(np.argmin(np.isfinite(values).all(axis=1)))
                raise ElementFault(f"accessors[{index}]", f"element {element} is not finite")
            values.flags.writeable = False
            self._floats[index] = values
        return self._floats[index]

    def numbers(self, index: int, place: str, types: tuple[str, ...]) -> UInt32:
        """Returns elements of unsigned integer accessors, shape (count, length of the type)."""
        stored = self.stored(index, place, types)
        if stored.dtype.kind != "u":
            raise ElementFault(place, f"accessors[{index}] does not hold unsigned integers")
        return stored.astype(np.uint32, copy=False)

    def view(self, index: int, place: str) -> memoryview:
        """Returns the bytes of a buffer view, decompressed if needed."""
        if index not in self._views:
            part = part_of(self.document.buffer_views, index, place, "bufferViews")
            own = f"bufferViews[{index}]"
            packed = part.extensions.meshopt or part.extensions.meshopt_khr
            if packed is not None:
                self._views[index] = self._unpacked(packed, own)
            else:
                self._views[index] = self._bytes_of(part.buffer, part.byte_offset, part.byte_length, own)
        return self._views[index]

    def _elements_of(self, part: Accessor, place: str) -> Array:
        dtype, length = np.dtype(COMPONENT_TYPES[part.component_type]), TYPE_LENGTHS[part.type]
        self.take(part.count * length * dtype.itemsize, place)
        if part.buffer_view is None:
            values: Array = np.zeros((part.count, length), dtype)
        else:
            values = self._elements(part.buffer_view, part.byte_offset, part.count, length, dtype, place).copy()
        if part.sparse is not None:
            self._replace(values, part, place)
        return values

    def _elements(self, view: int, offset: int, count: int, length: int, dtype: np.dtype[Any], place: str) -> Array:
        """Returns elements of a view without a copy, shape (count, length)."""
        data = self.view(view, place)
        part = self.document.buffer_views[view]
        packed = part.extensions.meshopt or part.extensions.meshopt_khr
        tight = length * dtype.itemsize
        stride = (packed.byte_stride if packed is not None else part.byte_stride) or tight
        needed = offset + (count - 1) * stride + tight if count else 0
        if needed > len(data):
            raise ElementFault(place, f"{count} elements need {needed} bytes, bufferViews[{view}] has {len(data)}")
        if not count:
            return np.zeros((0, length), dtype)
        return np.ndarray((count, length), dtype, data, offset, (stride, dtype.itemsize))

    def _replace(self, values: Array, part: Accessor, place: str) -> None:
        sparse = part.sparse
        assert sparse is not None
        if sparse.count > len(values):
            raise ElementFault(f"{place}.sparse", f"replaces {sparse.count} elements of {len(values)}")
        where, what = sparse.indices, sparse.values
        kind = np.dtype(COMPONENT_TYPES[where.component_type])
        rows = self._elements(where.buffer_view, where.byte_offset, sparse.count, 1, kind, f"{place}.sparse.indices")
        if len(rows) and int(rows.max()) >= len(values):
            raise ElementFault(f"{place}.sparse.indices", f"name element {int(rows.max())} of {len(values)}")
        values[rows[:, 0]] = self._elements(
            what.buffer_view, what.byte_offset, sparse.count, values.shape[1], values.dtype, f"{place}.sparse.values"
        )

    def _unpacked(self, packed: Meshopt, place: str) -> memoryview:
        self.take(packed.count * packed.byte_stride, place)
        data = self._bytes_of(packed.buffer, packed.byte_offset, packed.byte_length, place)
        package = optional_package("meshopt", "EXT_meshopt_compression")
        kind = None if packed.filter == "NONE" else packed.filter
        try:
            values = package.decode_gltf_buffer(bytes(data), packed.count, packed.byte_stride, packed.mode, kind)
        except (ValueError, TypeError, RuntimeError) as error:
            raise ElementFault(place, f"cannot be decoded: {error}") from None
        return memoryview(np.ascontiguousarray(values).tobytes())


def normalised(values: Array) -> Float32:
    """Normalises integers of 8 or 16 bits to 0 to 1, or -1 to 1 if signed; other types are unchanged."""
    if values.dtype.kind == "f" or values.dtype.itemsize > 2:
        return values.astype(np.float32, copy=False)
    bits = 8 * values.dtype.itemsize - (values.dtype.kind == "i")
    scaled: Float32 = values.astype(np.float32) / np.float32((1 << bits) - 1)
    return np.maximum(scaled, np.float32(-1.0)) if values.dtype.kind == "i" else scaled
