"""OpenGL calls that do nothing, so that the rest of a frame can be measured without them."""

from collections.abc import Iterator
from contextlib import contextmanager

from sim.gl.bootstrap import GL


@contextmanager
def silent_gl() -> Iterator[None]:
    """Makes every OpenGL function return None at once, for measurements only.

    Nothing may be created or read meanwhile.  What is drawn afterwards with the same objects can be wrong, since they
    take for sent what never was.
    """
    originals = {name: value for name, value in vars(GL).items() if _is_function(name, value)}
    for name in originals:
        setattr(GL, name, _nothing)
    try:
        yield
    finally:
        for name, function in originals.items():
            setattr(GL, name, function)


def _nothing(*_arguments: object) -> None:
    return None


def _is_function(name: str, value: object) -> bool:
    return name.startswith("gl") and name[2:3].isupper() and callable(value)
