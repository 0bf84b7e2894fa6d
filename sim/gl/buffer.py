import ctypes
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.errors import GLLimitError
from sinew.sim.gl.objects import GLObject, new_name
from sinew.sim.gl.task import Task

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context

UPLOAD_STEP = 4 << 20
"""Size of an upload step [bytes]; a software driver copies them in one or two milliseconds."""

Usage = Literal["static", "dynamic", "stream", "copy", "read"]

USAGES: dict[str, int] = {
    "static": GL.GL_STATIC_DRAW,
    "dynamic": GL.GL_DYNAMIC_DRAW,
    "stream": GL.GL_STREAM_DRAW,
    "copy": GL.GL_DYNAMIC_COPY,
    "read": GL.GL_STREAM_READ,
}


class Buffer(GLObject):
    """A buffer on the GPU; uploads change no vertex array and no binding of a pass.

    `size` is in bytes, `count` in elements.

    Args:
        data: Initial contents, or a size [byte] for uninitialised storage.
        dtype: Element type of `read` and `count`; by default the type of `data`, or bytes for a size.
        usage: "static" written once, "dynamic" often, "stream" every frame, "copy" written by the GPU, "read" staging.
    """

    def __init__(
        self,
        context: "Context",
        data: npt.NDArray[Any] | int,
        *,
        dtype: npt.DTypeLike | None = None,
        usage: Usage = "static",
        label: str = "",
    ) -> None:
        super().__init__(context, "Buffer", new_name(GL.glGenBuffers), label)
        self.usage: Usage = usage
        if dtype is None:
            dtype = data.dtype if isinstance(data, np.ndarray) else np.uint8
        self.dtype = np.dtype(dtype)
        self.size = self.count = 0
        self.orphan(data)

    def write(self, data: npt.NDArray[Any], offset: int = 0) -> None:
        """Replaces the bytes from `offset` [byte] on; raises GLLimitError if the data exceeds the buffer."""
        data = np.ascontiguousarray(data)
        self._check_range(offset, data.nbytes)
        if data.nbytes:
            GL.glBindBuffer(GL.GL_COPY_WRITE_BUFFER, self.name)
            GL.glBufferSubData(GL.GL_COPY_WRITE_BUFFER, offset, data.nbytes, ctypes.c_void_p(data.ctypes.data))

    def fill(self, data: npt.NDArray[Any]) -> None:
        """Fills the buffer with repeated data, mostly on the GPU; raises GLLimitError if it is empty or too large."""
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
        """Replaces the storage by data or a size [byte]; pending draws keep the old one, so nothing waits."""
        pointer = None
        if isinstance(data, np.ndarray):
            data = np.ascontiguousarray(data)
            self.size = data.nbytes
            pointer = ctypes.c_void_p(data.ctypes.data) if data.nbytes else None
        elif data is not None:
            self.size = int(data)
        self.count = self.size // self.dtype.itemsize
        GL.glBindBuffer(GL.GL_COPY_WRITE_BUFFER, self.name)
        GL.glBufferData(GL.GL_COPY_WRITE_BUFFER, self.size, pointer, USAGES[self.usage])

    def read(
        self, dtype: npt.DTypeLike | None = None, *, offset: int = 0, count: int | None = None
    ) -> npt.NDArray[Any]:
        """Returns a new array of elements from byte `offset` on, by default all; waits for the GPU."""
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
        """Copies bytes to another buffer on the GPU, without waiting."""
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
        GL.glBindBufferBase(target, index, self.name)

    def _check_range(self, offset: int, length: int) -> None:
        if offset < 0 or length < 0 or offset + length > self.size:
            raise GLLimitError(f"buffer {self.label!r}: bytes {offset} to {offset + length} of {self.size}")


def upload_buffer(
    context: "Context", data: npt.NDArray[Any], *, usage: Usage = "static", label: str = ""
) -> Task[Buffer]:
    """Makes a buffer; writes `UPLOAD_STEP` bytes in each step."""
    buffer = Buffer(context, data.nbytes, dtype=data.dtype, usage=usage, label=label)
    raw = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    for offset in range(0, len(raw), UPLOAD_STEP):
        buffer.write(raw[offset : offset + UPLOAD_STEP], offset)
        yield
    return buffer


def copy_buffer(source: Buffer, *, label: str = "") -> Task[Buffer]:
    """Copies a buffer on the GPU in steps of `UPLOAD_STEP` bytes."""
    buffer = Buffer(source.context, source.size, dtype=source.dtype, usage="copy", label=label)
    for offset in range(0, source.size, UPLOAD_STEP):
        size = min(UPLOAD_STEP, source.size - offset)
        source.copy_to(buffer, size, source_offset=offset, target_offset=offset)
        yield
    return buffer
