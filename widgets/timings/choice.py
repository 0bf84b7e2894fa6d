"""What of the frames is shown, as one value, and which passes a stack is made of."""

import enum
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sim.profile.history import Quantity
from sim.profile.sample import SEPARATOR


class Level(enum.Enum):
    """How far groups of passes are taken apart: parts of a path that are told apart."""

    GROUPS = 1
    KINDS = 2
    PASSES = 64

    @property
    def label(self) -> str:
        return self.name.capitalize()


@dataclass(frozen=True, slots=True)
class Band:
    """One area of the stack: the times of some passes less those of others."""

    path: str  # What it stands for
    plus: tuple[str, ...]  # Passes whose times with all their parts it holds
    minus: tuple[str, ...] = ()  # Parts of these that are bands of their own

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


class PlottedTimes(enum.Enum):
    """Which times are plotted."""

    GPU = "GPU"
    CPU = "CPU"
    BOTH = "Both"

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        return {PlottedTimes.GPU: (Quantity.GPU,), PlottedTimes.CPU: (Quantity.CPU,)}.get(
            self, (Quantity.GPU, Quantity.CPU)
        )


class Unit(enum.Enum):
    """Of the vertical axis."""

    MILLISECONDS = "ms"
    SHARE = "share"


@dataclass(frozen=True, slots=True)
class TimingsOptions:
    """What the user wants to see."""

    shown: PlottedTimes = PlottedTimes.GPU  # Which times
    unit: Unit = Unit.MILLISECONDS  # In milliseconds or in percent of the frame
    level: Level = Level.KINDS  # How far groups are taken apart
    hidden: frozenset[str] = field(default=frozenset())  # Paths of bands that are left out
    solo: str = ""  # Path of the only band that is shown, or ""

    def shows(self, path: str) -> bool:
        return path == self.solo if self.solo else path not in self.hidden

    def visible(self, bands: tuple[Band, ...]) -> tuple[Band, ...]:
        """Those that are drawn; a solo that is not there hides nothing."""
        if self.solo and all(band.path != self.solo for band in bands):
            return replace(self, solo="").visible(bands)
        return tuple(band for band in bands if self.shows(band.path))

    def toggled(self, path: str) -> "TimingsOptions":
        """With a band shown that was not, or the reverse; a solo ends."""
        if self.solo:
            return replace(self, solo="" if path == self.solo else path)
        return replace(self, hidden=self.hidden ^ {path})

    def soloed(self, path: str) -> "TimingsOptions":
        """With one band alone, or with all as before if it was alone."""
        return replace(self, solo="" if self.solo == path else path)

    @property
    def quantity(self) -> Quantity:
        return self.shown.quantities[0]

    def state(self) -> dict[str, str]:
        """What is kept between sessions; what is hidden belongs to one scene and is not."""
        return {"shown": self.shown.name, "unit": self.unit.name, "level": self.level.name}

    def restored(self, state: Mapping[str, str]) -> "TimingsOptions":
        """With what `state` gave; what is missing or unknown stays as it is."""
        shown = PlottedTimes.__members__.get(state.get("shown", ""), self.shown)
        unit = Unit.__members__.get(state.get("unit", ""), self.unit)
        level = Level.__members__.get(state.get("level", ""), self.level)
        return replace(self, shown=shown, unit=unit, level=level)
