"""Registry of GL names; every one is registered, and is deleted only while its context is current."""

import ctypes
import itertools
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.errors import GLError
from sinew.sim.owner import Owner as Owner

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context


DELETERS: dict[str, Callable[[int, np.ndarray], None]] = {
    "Buffer": GL.glDeleteBuffers,
    "Texture": GL.glDeleteTextures,
    "VertexArray": GL.glDeleteVertexArrays,
    "Framebuffer": GL.glDeleteFramebuffers,
    "Renderbuffer": GL.glDeleteRenderbuffers,
    "Query": GL.glDeleteQueries,
}
"""Functions that delete names, by kind; programs and fences are deleted one by one."""


class ObjectRegistry:
    """Labels of all living GL names of a context, and a queue of names to delete."""

    def __init__(self) -> None:
        self._live: dict[tuple[str, int], str] = {}
        self._queue: deque[tuple[str, int]] = deque()
        self._serial = itertools.count(1)

    def add(self, kind: str, name: int, label: str) -> None:
        self._live[kind, name] = label or f"unnamed-{next(self._serial)}"

    def enqueue(self, kind: str, name: int) -> None:
        """Schedules deletion for the next `collect`; safe from finalisers and other threads."""
        self._queue.append((kind, name))

    def delete(self, kind: str, name: int) -> None:
        """Deletes a name unless it is already deleted; the context must be current."""
        if self._live.pop((kind, name), None) is None:
            return
        if kind == "Program":
            GL.glDeleteProgram(name)
        elif kind == "Sync":
            GL.glDeleteSync(ctypes.cast(ctypes.c_void_p(name), GL.GLsync))
        else:
            DELETERS[kind](1, np.array([name], np.uint32))

    def collect(self) -> int:
        """Deletes all queued names and returns their number; the context must be current."""
        count = 0
        while self._queue:
            self.delete(*self._queue.popleft())
            count += 1
        return count

    def delete_all(self) -> None:
        for kind, name in list(self._live):
            self.delete(kind, name)
        self._queue.clear()

    def labels(self) -> list[str]:
        """Returns `kind:label` of all living names, in order of creation."""
        return [f"{kind}:{label}" for (kind, _), label in self._live.items()]


class GLObject:
    """Owner of one GL name; the label identifies it in `Context.live` and in error messages.

    `release()` deletes the name at once (the context must be current) and may be called twice; afterwards reading
    `name` raises GLError.  If the object is garbage collected instead, `Context.collect` deletes the name.
    """

    def __init__(self, context: "Context", kind: str, name: int, label: str) -> None:
        self.context = context
        self.kind = kind
        self.label = label
        self.name = name
        self.released = False
        context.registry.add(kind, name, label)
        self._finaliser = weakref.finalize(self, context.registry.enqueue, kind, name)
        self._finaliser.atexit = False

    def release(self) -> None:
        if self.released:
            return
        if self._finaliser.detach() is not None and not self.context.released:
            self.context.registry.delete(self.kind, self.name)
        self.released = True
        del self.name

    if not TYPE_CHECKING:  # a property would cost a call at every use

        def __getattr__(self, attribute: str) -> object:
            if attribute == "name":
                raise GLError(f"{self.kind} {self.label!r} was used after its release")
            raise AttributeError(f"{type(self).__name__} has no attribute {attribute!r}")


def get_integer(parameter: int) -> int:
    value = np.zeros(4, np.int32)
    GL.glGetIntegerv(parameter, value)
    return int(value[0])


def new_name(generate: Callable[[int, np.ndarray], object]) -> int:
    names = np.zeros(1, np.uint32)
    generate(1, names)
    return int(names[0])
