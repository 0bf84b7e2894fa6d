"""What registries of file formats are made of: names, suffixes, options, and functions that are loaded when needed."""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec


@dataclass(frozen=True, kw_only=True)
class Format:
    """A kind of file.

    Attributes:
        name: What people call it.
        suffixes: Endings of its files in lower case, such as ".png"; the first one is given to new files.
        options: Settings class of what can be chosen; None where nothing can be.
        module, package, extra: Library that it needs: as imported, as published, and the extra that installs it.
    """

    name: str
    suffixes: tuple[str, ...]
    options: type[msgspec.Struct] | None = None
    module: str = ""
    package: str = ""
    extra: str = ""

    def has_suffix(self, path: Path) -> bool:
        return path.suffix.lower() in self.suffixes

    def chosen(self, options: msgspec.Struct | None) -> tuple[msgspec.Struct, ...]:
        """Last argument of a function that takes options, the defaults for None; nothing where there are none.

        Raises:
            TypeError: If the options are those of another format.
        """
        if options is not None and (self.options is None or not isinstance(options, self.options)):
            raise TypeError(f"{type(options).__name__} are no options of {self.name}")
        return () if self.options is None else (options or self.options(),)


F = TypeVar("F", bound=Format)


class Formats(Generic[F]):
    """Formats for one purpose, in the order in which they are tried and offered."""

    def __init__(self, *known: F) -> None:
        self._known = list(known)

    def __iter__(self) -> Iterator[F]:
        return iter(self._known)

    def register(self, added: F) -> None:
        """Makes a format known everywhere.

        Raises:
            ValueError: If one of its suffixes is that of another.
        """
        if taken := set(added.suffixes) & set(self.suffixes()):
            raise ValueError(f"{', '.join(sorted(taken))} is taken already")
        self._known.append(added)

    def unregister(self, removed: F) -> None:
        self._known.remove(removed)

    def suffixes(self) -> tuple[str, ...]:
        return tuple(suffix for known in self._known for suffix in known.suffixes)

    def typed(self, path: Path, chosen: F) -> tuple[Path, F]:
        """File and format for a name that was typed while a format was chosen: a known ending names its own format."""
        if path.suffix.lower() in self.suffixes():
            return path, self.of(path)
        return path.with_name(path.name + chosen.suffixes[0]), chosen

    def of(self, path: Path) -> F:
        """The format that the suffix of a path names.

        Raises:
            ValueError: If it names none; the text lists what there is.
        """
        for known in self._known:
            if known.has_suffix(path):
                return known
        raise ValueError(f"{str(path)!r} does not end in {' or '.join(self.suffixes())}")


def resolved(function: Callable[..., Any] | str) -> Callable[..., Any]:
    """A function, or the one that "package.module:name" names, whose module is imported now."""
    if not isinstance(function, str):
        return function
    module, _, name = function.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found
