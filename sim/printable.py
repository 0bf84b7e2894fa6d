import re

# Control characters (line breaks among them), marks that turn the direction of writing, separators of lines and
# paragraphs, and halves of surrogate pairs, which no stream takes.
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_NUMBER = re.compile(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?(?:[ ,]+[-+]?[\d.]+(?:[eE][-+]?\d+)?)*")
_SMALL = frozenset(("a", "of", "on"))


def printable(text: str, limit: int | None = None) -> str:
    """Returns `text` on one line, with escapes such as `\x1b` for control characters; only for texts of the interface.

    Args:
        limit: Longest result [characters]; longer text ends in "…".
    """
    if limit is not None and len(text) > limit:
        text = text[: limit - 1] + "…"
    shown = _UNSHOWN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
    return shown if limit is None or len(shown) <= limit else shown[: limit - 1] + "…"


VALUE_MAX = 80
"""Longest value that a message quotes [characters]."""


def shortened(text: str) -> str:
    """Returns the text of a value as a message quotes it: on one line, and not longer than `VALUE_MAX`."""
    return printable(text, VALUE_MAX)


def titled(name: str) -> str:
    """Returns a name in title case, such as "Springs on a Head"."""
    return " ".join(word.capitalize() if word.islower() and word not in _SMALL else word for word in name.split(" "))


def numbered(name: str, taken: set[str], separator: str = " ") -> str:
    """Returns the name, with a number from 2 on if it is taken, and adds it to the taken ones.

    It is the smallest free number up to 100, else one whose predecessor is taken: many equal names take no square of
    their number.
    """
    if name not in taken:
        taken.add(name)
        return name
    free = next((number for number in range(2, 101) if f"{name}{separator}{number}" not in taken), 0)
    if not free:
        low, free = 100, 200
        while f"{name}{separator}{free}" in taken:
            low, free = free, 2 * free
        while free - low > 1:
            middle = (low + free) // 2
            low, free = (middle, free) if f"{name}{separator}{middle}" in taken else (low, middle)
    unique = f"{name}{separator}{free}"
    taken.add(unique)
    return unique


def cell_text(text: str) -> str:
    """Returns the text of a spreadsheet cell; text that would be a formula begins with an apostrophe."""
    return f"'{text}" if _is_formula(text) else text


def text_of_cell(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and _is_formula(cell) else cell


def _is_formula(text: str) -> bool:
    return text.lstrip("'")[:1] in tuple("=+-@\t\r") and not _NUMBER.fullmatch(text)


def counted(count: int, singular: str, plural: str = "") -> str:
    """Returns a number and its noun, such as "1 vertex" or "2,000 vertices"."""
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"


def size_text(size: int) -> str:
    """Returns a size as text, such as "1.8 MiB"."""
    exponent = min(max(size.bit_length() - 1, 0) // 10, 4)
    return f"{size / 2 ** (10 * exponent):.1f} {'KMGT'[exponent - 1]}iB" if exponent else f"{size} bytes"


def printable_json(text: str) -> str:
    """Escapes control characters in JSON text of several lines."""
    rows = text.split("\n")
    return "\n".join(_UNSHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", row) for row in rows)
