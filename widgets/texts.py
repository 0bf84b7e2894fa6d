"""Text from files for labels, menus and tips (see `sim.printable`), and filters of file dialogs."""

import html
from collections.abc import Iterable

from sim.printable import printable

_TEXT_MAX = 300


def label_text(text: str) -> str:
    """One line for a label, a cell or a title; Qt would give line breaks and marks of direction their way."""
    return printable(text, _TEXT_MAX)


def menu_text(text: str) -> str:
    """The same for entries of menus and for buttons, where an ampersand would make a key."""
    return label_text(text).replace("&", "&&")


def tip_text(text: str) -> str:
    """Lines of a tip; what looks like markup stays what it is."""
    lines = [label_text(line) for line in text.split("\n")]
    return "\n".join(lines) if "<" not in text else f"<qt>{'<br>'.join(map(html.escape, lines))}</qt>"


ALL_FILES = "All files (*)"


def file_filter(title: str, suffixes: Iterable[str]) -> str:
    """An entry, such as "Models (*.ezm *.obj)"."""
    return f"{title} ({' '.join('*' + suffix for suffix in suffixes)})"
