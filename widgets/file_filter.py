"""Entries of the list of kinds in a file dialog."""

from collections.abc import Iterable

ALL_FILES = "All files (*)"


def file_filter(title: str, suffixes: Iterable[str]) -> str:
    """An entry, such as "Models (*.ezm *.obj)"."""
    return f"{title} ({' '.join('*' + suffix for suffix in suffixes)})"
