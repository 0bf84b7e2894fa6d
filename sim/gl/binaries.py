"""Linked programs kept on the disk, so that the next start need not compile them."""

import contextlib
import hashlib
import logging
import os
import struct
import tempfile
from pathlib import Path

import numpy as np

from sim.gl.bootstrap import GL
from sim.gl.program_build import ProgramSources

ROOM = 64 << 20
"""Bytes that all files together may take; those used longest ago go first."""

_HEAD = struct.Struct("<8sI32s")
_MAGIC = b"sinewpb1"
_log = logging.getLogger(__name__)


class ProgramBinaries:
    """A folder of program binaries of one driver; what cannot be read, written or used is as if it were not there.

    Args:
        folder: Where they are; made with the first.
        driver: What binaries depend on beside the sources.
        room: Most bytes that the folder holds.

    Attributes:
        loaded: How many programs came from here and were not compiled.
        refused: How many files were removed, as they were damaged or the driver did not take them.
        failed: How many could not be written.
    """

    def __init__(self, folder: Path, driver: tuple[str, ...], room: int = ROOM) -> None:
        self._folder, self._driver, self._room = folder, "\0".join(driver), room
        self._used: int | None = None
        self.loaded = self.refused = self.failed = 0

    def load(self, sources: ProgramSources) -> int | None:
        """The linked program of some sources; None where it is to be compiled."""
        path = self._path(_text(sources))
        found = self._read(path)
        if found is None:
            return None
        binary_format, data = found
        program = int(GL.glCreateProgram())
        GL.glProgramBinary(program, binary_format, np.frombuffer(data, np.uint8), len(data))
        if GL.glGetProgramiv(program, GL.GL_LINK_STATUS):
            self.loaded += 1
            return program
        GL.glDeleteProgram(program)
        self._refuse(path)
        return None

    def keep(self, sources: ProgramSources, program: int) -> None:
        size = int(GL.glGetProgramiv(program, GL.GL_PROGRAM_BINARY_LENGTH))
        if size <= 0:
            return
        data, length, binary_format = np.zeros(size, np.uint8), GL.GLsizei(), GL.GLenum()
        GL.glGetProgramBinary(program, size, length, binary_format, data)
        self._write(self._path(_text(sources)), int(binary_format.value), data[: length.value].tobytes())

    def knows(self, fact: str) -> bool:
        """Whether something was noted about this driver and never dropped for lack of room."""
        return self._read(self._path(fact)) is not None

    def note(self, fact: str) -> None:
        """Notes something about this driver."""
        self._write(self._path(fact), 0, b"")

    def _path(self, text: str) -> Path:
        return self._folder / hashlib.sha256(f"{self._driver}\0{text}".encode()).hexdigest()

    def _read(self, path: Path) -> tuple[int, bytes] | None:
        try:
            content = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        if len(content) >= _HEAD.size:
            magic, binary_format, digest = _HEAD.unpack_from(content)
            data = content[_HEAD.size :]
            if magic == _MAGIC and hashlib.sha256(data).digest() == digest:
                return binary_format, data
        self._refuse(path)
        return None

    def _refuse(self, path: Path) -> None:
        self.refused += 1
        _log.info("program binary %s is of no use", path)
        with contextlib.suppress(OSError):
            path.unlink()

    def _write(self, path: Path, binary_format: int, data: bytes) -> None:
        content = _HEAD.pack(_MAGIC, binary_format, hashlib.sha256(data).digest()) + data
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                os.replace(temporary, path)
            except OSError:
                os.unlink(temporary)
                raise
            self._make_room(len(content))
        except OSError as error:
            self.failed += 1
            _log.info("program binary", exc_info=error)

    def _make_room(self, added: int) -> None:
        """Removes the files used longest ago, where there are too many, down to three quarters."""
        self._used = None if self._used is None else self._used + added
        if self._used is not None and self._used <= self._room:
            return
        files = sorted((one.stat().st_mtime_ns, one.stat().st_size, one.path) for one in os.scandir(self._folder))
        self._used = sum(size for _, size, _ in files)
        least = self._room if self._used <= self._room else self._room * 3 // 4
        for _, size, path in files:
            if self._used <= least:
                break
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                os.unlink(path)
            self._used -= size


def _text(sources: ProgramSources) -> str:
    return repr((*((stage, one.text) for stage, one in sources.stages.items()), sources.captures, sources.separate))
