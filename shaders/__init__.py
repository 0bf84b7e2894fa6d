"""Shader sources, addressed by paths relative to `ROOT`; imports nothing of ours."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent

ROOTS: dict[str, Path] = {}
"""Folders of plug-ins; the key is the first folder in the names of their files."""


def path_of(name: str, root: Path = ROOT) -> Path:
    first, _, rest = name.partition("/")
    return ROOTS[first] / rest if first in ROOTS else root / name


def files() -> dict[Path, str]:
    """Returns the names of all shader files."""
    found = {}
    for first, root in {"": ROOT, **ROOTS}.items():
        for folder, _, names in os.walk(root):
            inner = Path(folder)
            before = "".join(f"{part}/" for part in (first, *inner.relative_to(root).parts) if part)
            for name in names:
                if os.path.splitext(name)[1] not in ("", ".py", ".pyc"):
                    found[inner / name] = before + name
    return found
