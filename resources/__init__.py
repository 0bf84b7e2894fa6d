"""Imports nothing of the package."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent


def path(name: str) -> Path:
    """`name` is relative to this folder."""
    return ROOT / name
