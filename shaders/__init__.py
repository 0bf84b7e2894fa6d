"""Shader sources, addressed by paths relative to `ROOT`; imports nothing of ours."""

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
        for path in root.rglob("*"):
            if path.suffix not in ("", ".py", ".pyc"):
                found[path] = "/".join(filter(None, (first, path.relative_to(root).as_posix())))
    return found
