"""Accessors as arrays: strides, sparse elements, normalised and quantised numbers, and compressed views."""

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.gltf.container import Buffers
from sinew.sim.assets.gltf.document import COMPONENT_TYPES, TYPE_LENGTHS, Accessor, GltfDocument, Meshopt, part_of
from sinew.sim.printable import size_text

Array = npt.NDArray[np.generic]
Float32 = npt.NDArray[np.float32]
UInt32 = npt.NDArray[np.uint32]

FREE_BYTES = 1 << 27
MAX_GROWTH = 64
"""A file may decode to `FREE_BYTES` plus this many times its own size."""


class Budget:
    """Memory that a file may allocate."""

    def __init__(self) -> None:
        self._left = self._all = FREE_BYTES

    def stored(self, size: int) -> None:
        """Adds bytes that the file really holds."""
        self._left += MAX_GROWTH * size
        self._all += MAX_GROWTH * size

    def take(self, size: int, place: str) -> None:
        """Reserves bytes before they are allocated; fails if the file asks for far more than it holds."""
        self._left -= size
        if self._left < 0:
            reason = f"a file of this size may take {size_text(self._all)} in all"
            raise ElementFault(place, f"needs {size_text(self._all - self._left)} with all before it; {reason}")


def optional_package(name: str, extension: str) -> ModuleType:
    """A package that is not always installed, needed by an extension."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ElementFault("extensionsRequired", f"{extension} needs the package {name}") from None


class Accessors:
    """Reads the accessors of a file, each once."""

    def __init__(self, document: GltfDocument, buffers: Buffers, budget: Budget) -> None:
        self._document, self._buffers, self._budget = document, buffers, budget
        self._views: dict[int, memoryview] = {}
        self._stored: dict[int, Array] = {}
        self._floats: dict[int, Float32] = {}

    def part(self, index: int, place: str) -> Accessor:
        accessor: Accessor = part_of(self._document.accessors, index, place, "accessors")
        return accessor

    def stored(self, index: int, place: str, types: tuple[str, ...]) -> Array:
        """Elements as stored, shape (count, length of the type), read-only.

        Args:
            place: The referring element, for messages.
            types: Allowed types, such as "VEC3".
        """
        part = self.part(index, place)
        if part.type not in types:
            raise ElementFault(place, f"accessors[{index}] is {part.type}, {' or '.join(types)} is needed")
        if index not in self._stored:
            values = self._read(part, f"accessors[{index}]")
            values.flags.writeable = False
            self._stored[index] = values
        return self._stored[index]

    def floats(self, index: int, place: str, types: tuple[str, ...]) -> Float32:
        """Elements as finite float32, normalised where the accessor says so."""
        stored = self.stored(index, place, types)
        if index not in self._floats:
            values = normalised(stored) if self.part(index, place).normalized else stored.astype(np.float32, copy=False)
            if not np.isfinite(values).all():
                element = int(np.argmin(np.isfinite(values).all(axis=1)))
                raise ElementFault(f"accessors[{index}]", f"element {element} is not finite")
            values.flags.writeable = False
            self._floats[index] = values
        return self._floats[index]

    def numbers(self, index: int, place: str, types: tuple[str, ...]) -> UInt32:
        """Elements of unsigned integer accessors as uint32, shape (count, length of the type)."""
        stored = self.stored(index, place, types)
        if stored.dtype.kind != "u":
            raise ElementFault(place, f"accessors[{index}] does not hold unsigned integers")
        return stored.astype(np.uint32, copy=False)

    def view(self, index: int, place: str) -> memoryview:
        """Bytes of a buffer view, decompressed."""
        if index not in self._views:
            part = part_of(self._document.buffer_views, index, place, "bufferViews")
            own = f"bufferViews[{index}]"
            packed = part.extensions.meshopt or part.extensions.meshopt_khr
            if packed is not None:
                self._views[index] = self._unpacked(packed, own)
            else:
                self._views[index] = self._buffers.bytes_of(part.buffer, part.byte_offset, part.byte_length, own)
        return self._views[index]

    def _read(self, part: Accessor, place: str) -> Array:
        dtype, length = np.dtype(COMPONENT_TYPES[part.component_type]), TYPE_LENGTHS[part.type]
        self._budget.take(part.count * length * dtype.itemsize, place)
        if part.buffer_view is None:
            values: Array = np.zeros((part.count, length), dtype)
        else:
            values = self._elements(part.buffer_view, part.byte_offset, part.count, length, dtype, place).copy()
        if part.sparse is not None:
            self._replace(values, part, place)
        return values

    def _elements(self, view: int, offset: int, count: int, length: int, dtype: np.dtype[Any], place: str) -> Array:
        """Elements of a view without a copy, shape (count, length)."""
        data = self.view(view, place)
        part = self._document.buffer_views[view]
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
        self._budget.take(packed.count * packed.byte_stride, place)
        data = self._buffers.bytes_of(packed.buffer, packed.byte_offset, packed.byte_length, place)
        package = optional_package("meshopt", "EXT_meshopt_compression")
        kind = None if packed.filter == "NONE" else packed.filter
        try:
            values = package.decode_gltf_buffer(bytes(data), packed.count, packed.byte_stride, packed.mode, kind)
        except (ValueError, TypeError, RuntimeError) as error:
            raise ElementFault(place, f"cannot be decoded: {error}") from None
        return memoryview(np.ascontiguousarray(values).tobytes())


def normalised(values: Array) -> Float32:
    """Integers of 8 or 16 bits as 0 to 1, or as -1 to 1 if signed; other types unchanged."""
    if values.dtype.kind == "f" or values.dtype.itemsize > 2:
        return values.astype(np.float32, copy=False)
    bits = 8 * values.dtype.itemsize - (values.dtype.kind == "i")
    scaled: Float32 = values.astype(np.float32) / np.float32((1 << bits) - 1)
    return np.maximum(scaled, np.float32(-1.0)) if values.dtype.kind == "i" else scaled
