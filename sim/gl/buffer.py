"""Buffer: bytes in memory of the GPU.  It does not know what the bytes mean, beyond an optional element type."""

import ctypes
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from sim.gl.bootstrap import GL
from sim.gl.errors import GLLimitError
from sim.gl.objects import GLObject, new_name

if TYPE_CHECKING:
    from sim.gl.context import Context

Usage = Literal["static", "dynamic", "stream", "copy", "read"]

USAGES: dict[str, int] = {
    "static": GL.GL_STATIC_DRAW,
    "dynamic": GL.GL_DYNAMIC_DRAW,
    "stream": GL.GL_STREAM_DRAW,
    "copy": GL.GL_DYNAMIC_COPY,
    "read": GL.GL_STREAM_READ,
}


class Buffer(GLObject):
    """A buffer object.

    Data moves through the copy targets, so no vertex array or binding point of a pass is disturbed.

    Args:
        context: Where it lives.
        data: Initial contents, or a size [byte] for uninitialised storage.
        dtype: Element type of `read` and `count`; that of `data` by default, bytes for a size.
        usage: "static" written once, "dynamic" often, "stream" every frame, "copy" written by the GPU, "read" staging.
        label: Name in `Context.live`.
    """

    kind = "Buffer"

    def __init__(
        self,
        context: "Context",
        data: npt.NDArray[Any] | int,
        *,
        dtype: npt.DTypeLike | None = None,
        usage: Usage = "static",
        label: str = "",
    ) -> None:
        super().__init__(context, new_name(GL.glGenBuffers), label)
        self.usage: Usage = usage
        if isinstance(data, np.ndarray):
            self.dtype = np.dtype(data.dtype if dtype is None else dtype)
            self.size = data.nbytes
            self._allocate(np.ascontiguousarray(data))
        else:
            self.dtype = np.dtype(np.uint8 if dtype is None else dtype)
            self.size = int(data)
            self._allocate(None)

    @property
    def count(self) -> int:
        return self.size // self.dtype.itemsize

    def write(self, data: npt.NDArray[Any], offset: int = 0) -> None:
        """Replace the bytes from `offset` [byte] on.

        Raises:
            GLLimitError: If the data reaches beyond the end.
        """
        data = np.ascontiguousarray(data)
        self._check_range(offset, data.nbytes)
        if data.nbytes:
            GL.glBindBuffer(GL.GL_COPY_WRITE_BUFFER, self.name)
            GL.glBufferSubData(GL.GL_COPY_WRITE_BUFFER, offset, data.nbytes, ctypes.c_void_p(data.ctypes.data))

    def fill(self, data: npt.NDArray[Any]) -> None:
        """Repeat the data from the first byte to the last; the GPU does most of it.

        Raises:
            GLLimitError: If it is larger than the buffer, or empty.
        """
        data = np.ascontiguousarray(data)
        if not data.nbytes:
            raise GLLimitError(f"buffer {self.label!r}: nothing to fill it with")
        self.write(data)
        done = data.nbytes
        while done < self.size:
            length = min(done, self.size - done)
            self.copy_to(self, length, target_offset=done)
            done += length

    def orphan(self, data: npt.NDArray[Any] | int | None = None) -> None:
        """Replace the storage, so that pending draws keep the old one and the driver need not wait.

        Args:
            data: New contents, a new size [byte], or None to keep the size with undefined contents.
        """
        if isinstance(data, np.ndarray):
            self.size = data.nbytes
            self._allocate(np.ascontiguousarray(data))
        else:
            self.size = self.size if data is None else int(data)
            self._allocate(None)

    def read(
        self, dtype: npt.DTypeLike | None = None, *, offset: int = 0, count: int | None = None
    ) -> npt.NDArray[Any]:
        """Contents as a new array; waits for the GPU.

        Args:
            dtype: Element type, that of the buffer by default.
            offset: First byte.
            count: Number of elements, all that follow by default.
        """
        element = self.dtype if dtype is None else np.dtype(dtype)
        length = (self.size - offset) // element.itemsize if count is None else count
        self._check_range(offset, length * element.itemsize)
        out = np.empty(length, element)
        if out.nbytes:
            GL.glBindBuffer(GL.GL_COPY_READ_BUFFER, self.name)
            GL.glGetBufferSubData(GL.GL_COPY_READ_BUFFER, offset, out.nbytes, ctypes.c_void_p(out.ctypes.data))
        return out

    def copy_to(
        self, target: "Buffer", size: int | None = None, *, source_offset: int = 0, target_offset: int = 0
    ) -> None:
        """Copy bytes on the GPU, without waiting."""
        length = self.size - source_offset if size is None else size
        self._check_range(source_offset, length)
        target._check_range(target_offset, length)
        if length:
            GL.glBindBuffer(GL.GL_COPY_READ_BUFFER, self.name)
            GL.glBindBuffer(GL.GL_COPY_WRITE_BUFFER, target.name)
            GL.glCopyBufferSubData(
                GL.GL_COPY_READ_BUFFER, GL.GL_COPY_WRITE_BUFFER, source_offset, target_offset, length
            )

    def bind_base(self, target: int, index: int) -> None:
        """Bind the whole buffer to an indexed target (uniform block or transform feedback)."""
        GL.glBindBufferBase(target, index, self.name)

    def _allocate(self, data: npt.NDArray[Any] | None) -> None:
        pointer = None if data is None or not data.nbytes else ctypes.c_void_p(data.ctypes.data)
        GL.glBindBuffer(GL.GL_COPY_WRITE_BUFFER, self.name)
        GL.glBufferData(GL.GL_COPY_WRITE_BUFFER, self.size, pointer, USAGES[self.usage])

    def _check_range(self, offset: int, length: int) -> None:
        if offset < 0 or length < 0 or offset + length > self.size:
            raise GLLimitError(f"buffer {self.label!r}: bytes {offset} to {offset + length} of {self.size}")
