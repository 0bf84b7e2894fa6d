from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt


class State:
    """A state of a system to pack; `unpacked_state` is the inverse.

    Args:
        head: Numbers and texts by name; nested states become bytes.
        parts: Arrays, copied now, and `BufferSpan`s, to be read or copied before they change.
    """

    __slots__ = ("_head", "_parts")

    def __init__(self, head: Mapping[str, Any], *parts: Any) -> None:
        self._head = dict(head)
        self._parts = [_packed(part) if isinstance(part, np.ndarray) else part for part in parts]

    def spans(self) -> Iterator[Any]:
        """Yields the spans of all buffers, nested states first."""
        for value in self._head.values():
            if isinstance(value, State):
                yield from value.spans()
        yield from (part for part in self._parts if not isinstance(part, tuple))

    def packed(self, contents: Iterable[npt.NDArray[Any]] | None = None) -> bytes:
        """Returns the state as bytes; `contents` belong to `spans`, None reads them now and waits for the GPU."""
        read = iter(contents) if contents is not None else (span.read() for span in self.spans())
        head = {k: value.packed(read) if isinstance(value, State) else value for k, value in self._head.items()}
        parts = [part if isinstance(part, tuple) else _packed(next(read), copied=False) for part in self._parts]
        return msgspec.msgpack.encode((head, parts))


def blended(one: npt.NDArray[np.float32], other: npt.NDArray[np.float32], share: float) -> npt.NDArray[np.float32]:
    return one + np.float32(share) * (other - one)


_DECODER = msgspec.msgpack.Decoder(tuple[dict[str, Any], list[tuple[Any, tuple[int, ...], bytearray]]])
"""Decoder of arrays into writable memory of their own."""


def unpacked_state(state: bytes) -> tuple[dict[str, Any], list[npt.NDArray[Any]]]:
    """Returns the head and writable copies of the arrays."""
    head, packed = _DECODER.decode(state)
    return head, [np.frombuffer(data, _dtype(described)).reshape(shape) for described, shape, data in packed]


def _packed(array: npt.NDArray[Any], *, copied: bool = True) -> tuple[Any, tuple[int, ...], bytes | memoryview]:
    content = array.tobytes() if copied else np.ascontiguousarray(array).view(np.uint8).data
    return (array.dtype.descr if array.dtype.names else array.dtype.str), array.shape, content


def _dtype(described: Any) -> np.dtype[Any]:
    if isinstance(described, str):
        return np.dtype(described)
    return np.dtype([(name, form, *map(tuple, shape)) for name, form, *shape in described])
