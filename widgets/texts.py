"""Text from files for labels, menus and tips (see `sinew.sim.printable`), and filters of file dialogs."""

import html
from collections.abc import Iterable

from sinew.sim.printable import printable

_TEXT_MAX = 300


def label_text(text: str) -> str:
    """Returns a text as one line without control characters."""
    return printable(text, _TEXT_MAX)


def menu_text(text: str) -> str:
    """Returns a line for a menu, with ampersands escaped."""
    return label_text(text).replace("&", "&&")


def tip_text(text: str) -> str:
    """Returns a text for a tooltip, with markup escaped."""
    lines = [label_text(line) for line in text.split("\n")]
    return "\n".join(lines) if "<" not in text else f"<qt>{'<br>'.join(map(html.escape, lines))}</qt>"


ALL_FILES = "All files (*)"


def file_filter(title: str, suffixes: Iterable[str]) -> str:
    """Returns a filter such as "Models (*.ezm *.obj)"."""
    return f"{title} ({' '.join('*' + suffix for suffix in suffixes)})"
