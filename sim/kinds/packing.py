"""The state of a system as bytes: a few numbers and texts, then arrays."""

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt


def packed_state(head: Mapping[str, Any], *arrays: npt.NDArray[Any]) -> bytes:
    """A few numbers and texts, then arrays, as bytes; see `unpacked_state`."""
    return msgspec.msgpack.encode((dict(head), [(_described(a.dtype), a.shape, a.tobytes()) for a in arrays]))


def unpacked_state(state: bytes) -> tuple[dict[str, Any], list[npt.NDArray[Any]]]:
    """What `packed_state` was given."""
    head, packed = msgspec.msgpack.decode(state)
    return head, [np.frombuffer(data, _dtype(described)).reshape(shape) for described, shape, data in packed]


def _described(dtype: np.dtype[Any]) -> Any:
    return dtype.descr if dtype.names else dtype.str


def _dtype(described: Any) -> np.dtype[Any]:
    if isinstance(described, str):
        return np.dtype(described)
    return np.dtype([(name, form, *map(tuple, shape)) for name, form, *shape in described])
