"""Which passes a stack is made of, so that its height is the total of the frame."""

import enum
import functools
from dataclasses import dataclass

from sim.profile.sample import SEPARATOR


class Level(enum.Enum):
    """How far groups of passes are taken apart: parts of a path that are told apart."""

    GROUPS = 1
    KINDS = 2
    PASSES = 64

    @property
    def label(self) -> str:
        """What the user reads."""
        return self.name.capitalize()


@dataclass(frozen=True, slots=True)
class Band:
    """One area of the stack: the times of some passes less those of others.

    Attributes:
        path: What it stands for.
        plus: Passes whose times with all their parts it holds.
        minus: Parts of these that are bands of their own.
    """

    path: str
    plus: tuple[str, ...]
    minus: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Name in legends; where parts are bands of their own it is only the rest."""
        return f"{self.path} (rest)" if self.minus else self.path


@functools.lru_cache(maxsize=256)
def bands_of(paths: tuple[str, ...], level: Level) -> tuple[Band, ...]:
    """The bands from the bottom of the stack to its top, a group before its parts.

    Args:
        paths: Every pass; one may be there without the group it belongs to.
        level: How far groups are taken apart.
    """
    roots = _children(paths)
    found: dict[str, tuple[list[str], list[str]]] = {}
    for path in paths:
        key = _cut(path, level)
        plus, minus = found.setdefault(key, ([], []))
        above = _ancestor(path, paths)
        if above is None or _cut(above, level) != key:
            plus.append(path)
        minus += [child for child in roots.get(path, ()) if _cut(child, level) != key]
    return tuple(Band(key, *map(tuple, found[key])) for key in _in_order(tuple(found)))


@functools.lru_cache(maxsize=256)
def roots_of(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Passes that are part of no other one."""
    return tuple(path for path in paths if _ancestor(path, paths) is None)


def _cut(path: str, level: Level) -> str:
    return SEPARATOR.join(path.split(SEPARATOR)[: level.value])


def _ancestor(path: str, paths: tuple[str, ...]) -> str | None:
    """The innermost pass that it is a part of."""
    while path := path.rpartition(SEPARATOR)[0]:
        if path in paths:
            return path
    return None


def _children(paths: tuple[str, ...]) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for path in paths:
        above = _ancestor(path, paths)
        if above is not None:
            children.setdefault(above, []).append(path)
    return children


def _in_order(keys: tuple[str, ...]) -> list[str]:
    """Groups in the order of their first pass, and within each its parts likewise."""
    first: dict[str, int] = {}
    for number, key in enumerate(keys):
        parts = key.split(SEPARATOR)
        for depth in range(1, len(parts) + 1):
            first.setdefault(SEPARATOR.join(parts[:depth]), number)

    def rank(key: str) -> list[int]:
        parts = key.split(SEPARATOR)
        return [first[SEPARATOR.join(parts[:depth])] for depth in range(1, len(parts) + 1)]

    return sorted(keys, key=rank)
