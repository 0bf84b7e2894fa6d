"""Differences between two states of a system, in words."""

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.kinds.packing import unpacked_state

Arrays = Mapping[str, npt.NDArray[Any]]


def state_fields(state: bytes, prefix: str = "") -> dict[str, npt.NDArray[Any]]:
    """Returns the values of a packed state by name: the fields of its records, its numbers, and nested states."""
    head, arrays = unpacked_state(state)
    found: dict[str, npt.NDArray[Any]] = {}
    for name, value in head.items():
        if isinstance(value, bytes):
            try:
                found |= state_fields(value, f"{prefix}{name}.")
                continue
            except (msgspec.DecodeError, ValueError, TypeError):
                value = np.frombuffer(value, np.uint8)
        found[prefix + name] = np.atleast_1d(np.asarray(value))
    for number, array in enumerate(arrays):
        names = array.dtype.names
        found |= {f"{prefix}{name}": array[name] for name in names} if names else {f"{prefix}array {number}": array}
    return found


def differing(here: Arrays, there: Arrays) -> tuple[str, ...]:
    """Returns the names of arrays whose bits differ, or which the second ones lack."""
    pairs = ((name, array, there.get(name)) for name, array in here.items())
    return tuple(
        name
        for name, a, b in pairs
        if b is None or (a.shape, a.dtype) != (b.shape, b.dtype) or a.tobytes() != b.tobytes()
    )


def difference_text(name: str, here: npt.NDArray[Any], there: npt.NDArray[Any] | None) -> str:
    """Returns the element of two arrays with different bits that differs most, both values, and their distance."""
    if there is None or (here.shape, here.dtype) != (there.shape, there.dtype):
        other = "is missing" if there is None else f"is {there.dtype}{list(there.shape)}"
        return f"{name} is {here.dtype}{list(here.shape)}, the other {other}"
    first, second = (np.ascontiguousarray(array).reshape(-1) for array in (here, there))
    if here.dtype.kind not in "fiub":
        place = int(np.flatnonzero(first != second)[0])
        return f"{_element(name, here, place)} is {first[place]!s} instead of {second[place]!s}"
    bits = f"u{here.dtype.itemsize}"
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(first.astype(np.float64) - second.astype(np.float64))
    apart = np.where(np.isnan(apart), np.inf, apart)
    place = int(np.where(first.view(bits) != second.view(bits), apart, -1.0).argmax())
    both = f"{first[place]:.9g} instead of {second[place]:.9g}"
    if apart[place] == 0.0:
        amount = ", which differ in the sign of 0 only"
    else:
        amount = f", {apart[place]:.3g} apart" if np.isfinite(apart[place]) else ""
    return f"{_element(name, here, place)} is {both}{amount}"


def _element(name: str, array: npt.NDArray[Any], place: int) -> str:
    return f"{name}{[int(index) for index in np.unravel_index(place, array.shape)]}"
