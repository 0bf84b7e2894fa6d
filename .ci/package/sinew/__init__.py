"""Sinew: an editor for skinned characters and the cloth, hair, fur and particles that live on them.

In a checkout the subpackages (`sinew.app`, `sinew.sim`, ...) are the folders in its root; in a wheel they stand here.
"""

from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]

if (_ROOT / "pyproject.toml").is_file() and (_ROOT / ".ci/package/sinew/__init__.py").samefile(__file__):
    __path__.append(str(_ROOT))


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version  # takes 30 ms

        return version("sinew")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
