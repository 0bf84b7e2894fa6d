"""The container of a glTF file: the chunks of a GLB, buffers, and files in the model's folder."""

import base64
import binascii
import os
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote_to_bytes

from sinew.sim.assets.faults import MAX_FILE_BYTES, ElementFault
from sinew.sim.assets.formats import UTF8_MARK
from sinew.sim.assets.gltf.document import BINARY_CHUNK, JSON_CHUNK, MAGIC, VERSION, GltfBuffer, GltfDocument

_SHOWN = 60


def split_file(data: bytes) -> tuple[bytes, memoryview | None]:
    """The JSON of a file, and the binary chunk of a GLB, or None."""
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


class ModelFolder:
    """Files next to a model; nothing outside its folder is ever opened."""

    def __init__(self, path: Path) -> None:
        self._folder = path.parent
        self._read = 0
        self.files: list[Path] = []

    def resolved(self, uri: str, place: str) -> Path:
        """The file for a relative URI; fails if it is outside the folder."""
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

    def read(self, uri: str, size: int, place: str) -> bytes:
        """The first `size` bytes of a file; fails if it is shorter, or if all files together are too large."""
        path = self.resolved(uri, place)
        self._read += size
        if self._read > MAX_FILE_BYTES:
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


def is_data_uri(uri: str) -> bool:
    return uri[:5].lower() == "data:"


def data_of_uri(uri: str, place: str) -> bytes:
    """The bytes of a base64 data URI."""
    head, comma, content = uri.partition(",")
    if not comma or not head.lower().endswith(";base64"):
        raise ElementFault(place, "the data is not base64")
    try:
        return base64.b64decode(unquote_to_bytes(content) if "%" in content else content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ElementFault(place, f"the data is not base64: {str(error).lower()}") from None


class Buffers:
    """The buffers of a file, each read at its first use.

    Args:
        binary: Binary chunk of a GLB.
        on_read: Called with the size of each buffer in a file of its own.
    """

    def __init__(
        self, document: GltfDocument, binary: memoryview | None, folder: ModelFolder, on_read: Callable[[int], None]
    ) -> None:
        self._parts, self._binary, self._folder, self._on_read = document.buffers, binary, folder, on_read
        self._read: dict[int, memoryview] = {}

    def bytes_of(self, index: int, offset: int, size: int, place: str) -> memoryview:
        """A range of a buffer; fails if it is outside."""
        if index >= len(self._parts):
            raise ElementFault(place, f"buffers[{index}] does not exist, there are {len(self._parts)}")
        if offset + size > self._parts[index].byte_length:
            has = self._parts[index].byte_length
            raise ElementFault(place, f"needs {offset + size} bytes, buffers[{index}] has {has}")
        if index not in self._read:
            self._read[index] = self._content(index, self._parts[index])
        return self._read[index][offset : offset + size]

    def _content(self, index: int, part: GltfBuffer) -> memoryview:
        place, size = f"buffers[{index}]", part.byte_length
        if part.uri is not None and not is_data_uri(part.uri):
            self._on_read(size)
            return memoryview(self._folder.read(part.uri, size, f"{place}.uri"))
        if part.uri is not None:
            data, what = memoryview(data_of_uri(part.uri, f"{place}.uri")), "the data"
        elif index == 0 and self._binary is not None:
            data, what = self._binary, "the binary chunk"
        else:
            raise ElementFault(place, "has no uri, and the file no binary chunk for it")
        if len(data) < size:
            raise ElementFault(place, f"needs {size} bytes, {what} has {len(data)}")
        return data[:size]
