"""Ownership of GL names: creation is recorded, deletion happens only with the context current.

`ObjectRegistry` knows nothing of what the names mean; it knows what is alive and what waits to be deleted.
"""

import ctypes
import itertools
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sim.gl.bootstrap import GL
from sim.gl.errors import GLError
from sim.owner import Owner as Owner

if TYPE_CHECKING:
    from sim.gl.context import Context


def _plural(delete: Callable[[int, np.ndarray], None]) -> Callable[[int], None]:
    return lambda name: delete(1, np.array([name], np.uint32))


DELETERS: dict[str, Callable[[int], None]] = {
    "Buffer": _plural(lambda count, names: GL.glDeleteBuffers(count, names)),
    "Texture": _plural(lambda count, names: GL.glDeleteTextures(count, names)),
    "VertexArray": _plural(lambda count, names: GL.glDeleteVertexArrays(count, names)),
    "Framebuffer": _plural(lambda count, names: GL.glDeleteFramebuffers(count, names)),
    "Renderbuffer": _plural(lambda count, names: GL.glDeleteRenderbuffers(count, names)),
    "Query": _plural(lambda count, names: GL.glDeleteQueries(count, names)),
    "Program": lambda name: GL.glDeleteProgram(name),
    "Sync": lambda name: GL.glDeleteSync(ctypes.cast(ctypes.c_void_p(name), GL.GLsync)),
}


class ObjectRegistry:
    """Labels of the names that exist, and the queue of those whose owner is gone."""

    def __init__(self) -> None:
        self._live: dict[tuple[str, int], str] = {}
        self._queue: deque[tuple[str, int]] = deque()
        self._serial = itertools.count(1)

    def add(self, kind: str, name: int, label: str) -> None:
        self._live[kind, name] = label or f"unnamed-{next(self._serial)}"

    def enqueue(self, kind: str, name: int) -> None:
        """Ask for deletion at the next `collect`; safe from finalisers and other threads."""
        self._queue.append((kind, name))

    def delete(self, kind: str, name: int) -> None:
        """Delete now; the context must be current.  A name that is gone already is left alone."""
        if self._live.pop((kind, name), None) is not None:
            DELETERS[kind](name)

    def collect(self) -> int:
        """Delete everything queued; the context must be current.  Returns the number of names deleted."""
        count = 0
        while self._queue:
            self.delete(*self._queue.popleft())
            count += 1
        return count

    def delete_all(self) -> None:
        """Delete every name that exists; the context must be current."""
        for kind, name in list(self._live):
            self.delete(kind, name)
        self._queue.clear()

    def labels(self) -> list[str]:
        """`kind:label` of every name that exists, in order of creation."""
        return [f"{kind}:{label}" for (kind, _), label in self._live.items()]


class GLObject:
    """Owner of one GL name.

    `release()` deletes at once (context current) and may be called twice.  When the owner is garbage collected
    instead, the name is queued and `Context.collect` deletes it.

    Attributes:
        context: The context the name belongs to.
        label: Text that identifies the object in `Context.live` and in error messages.
    """

    kind = "Buffer"

    def __init__(self, context: "Context", name: int, label: str) -> None:
        self.context = context
        self.label = label
        self._name = int(name)
        self._deleted = False
        context.registry.add(self.kind, self._name, label)
        self._finaliser = weakref.finalize(self, context.registry.enqueue, self.kind, self._name)
        self._finaliser.atexit = False

    @property
    def name(self) -> int:
        """The GL name; GLError after `release`."""
        if self._deleted:
            raise GLError(f"{type(self).__name__} {self.label!r} was used after its release")
        return self._name

    @property
    def released(self) -> bool:
        """Whether the name is gone, by `release` or with its whole context."""
        return self._deleted or self.context.released

    def release(self) -> None:
        if self._finaliser.detach() is not None and not self.context.released:
            self.context.registry.delete(self.kind, self._name)
        self._deleted = True


def new_name(generate: Callable[[int, np.ndarray], object]) -> int:
    """One name from a `glGen*` function."""
    names = np.zeros(1, np.uint32)
    generate(1, names)
    return int(names[0])
