import enum
import hashlib
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec
import numpy as np

from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.rig import Rig

Update = Callable[[bytes | memoryview], object]
_Plain = str | bytes | int | float | enum.Enum | np.generic | None

_FORMER_NAMES = {"_KeyGrids": "_Grids", "_SlerpTracks": "_Turns"}
"""Class names in checksums, as files of earlier versions have them."""

_DERIVED = {"Skeleton": {"model_from_bind", "bind_from_model"}}
"""Fields by class that follow from others; their last bits depend on the processor."""

_known: dict[tuple[int, bool], tuple[weakref.ref[Any], str]] = {}
"""Checksums by `id` and whether it is a former one, as long as the object is alive."""


def content_sum(content: Any, *, is_former: bool = False) -> str:
    """Returns the SHA-256 of a model, a mesh, strands or pixels, with all arrays; computed once for each object.

    Of a model, its path does not count, of its materials only the names, and of its skeleton nothing that follows from
    the rest, except in the sum of former versions.
    """
    place = id(content), is_former
    known = _known.get(place)
    if known is not None and known[0]() is content:
        return known[1]
    sums = hashlib.sha256()
    if isinstance(content, CharacterModel):
        names = tuple(material.name for material in content.materials)
        axes = content.default_up_axis, content.default_texture_origin
        acting: Any = content.mesh, content.skeleton, content.skin, content.clips, names, axes
        if content.rig != Rig():
            acting = *acting, content.rig
    else:
        acting = content
    _add(acting, sums.update, {}, {} if is_former else _DERIVED)
    _known[place] = weakref.ref(content, lambda _: _known.pop(place, None)), sums.hexdigest()
    return _known[place][1]


def _add(value: Any, update: Update, seen: dict[int, tuple[int, Any]], left_out: Mapping[str, Collection[str]]) -> None:
    """Adds a value to the sum; an object that occurs again, such as a shared array, adds only its number."""
    if isinstance(value, _Plain) or (isinstance(value, tuple | list) and all(isinstance(v, _Plain) for v in value)):
        update(f"{value!r};".encode())
        return
    if id(value) in seen:
        update(f"again {seen[id(value)][0]};".encode())
        return
    seen[id(value)] = len(seen), value  # keeps the object alive, so that its id stays unique
    if isinstance(value, np.ndarray):
        update(f"{value.dtype.descr if value.dtype.names else value.dtype.str} {value.shape};".encode())
        update(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
    else:
        name = type(value).__name__
        parts = [(key, part) for key, part in _parts(value) if key not in left_out.get(name, ())]
        update(f"{_FORMER_NAMES.get(name, name)} {len(parts)};".encode())
        for key, part in parts:
            update(f"{key}:".encode())
            _add(part, update, seen, left_out)


def _parts(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, tuple | list):
        yield from enumerate(value)
    elif isinstance(value, slice):
        yield from (("start", value.start), ("stop", value.stop), ("step", value.step))
    elif isinstance(value, msgspec.Struct):
        yield from ((name, getattr(value, name)) for name in value.__struct_fields__)
    elif is_dataclass(value):
        yield from ((item.name, getattr(value, item.name)) for item in fields(value))
    else:
        yield from sorted(vars(value).items())
