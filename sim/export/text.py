"""Plain text files."""

from typing import BinaryIO


def write_text(text: str, file: BinaryIO) -> None:
    """Writes text as UTF-8."""
    file.write(text.encode())
