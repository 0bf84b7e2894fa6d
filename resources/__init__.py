"""Shipped data files and the path helper for them; imports nothing of ours."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent


def path(name: str) -> Path:
    """Absolute path of the shipped file `name`, given relative to this folder."""
    return ROOT / name
